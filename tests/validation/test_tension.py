"""Rubber in tension through the whole chain, against the closed form."""

from __future__ import annotations

import numpy as np
import pytest
from theory import traction_points

from pliant.body import TetBody
from pliant.material import NeoHookean, lame_constants
from pliant.motion import Statics
from pliant.port import Force, Point
from pliant.robot import Robot
from pliant.shape import make

SIZE = np.array([0.03, 0.02, 0.01])
KINDS = [(1, "elements"), (1, "patches"), (2, "elements")]


def uniaxial(law: NeoHookean, stretch: float) -> tuple[float, float]:
    """First Piola-Kirchhoff stress [Pa] and lateral stretch of a bar pulled to `stretch`, free at its sides.

    With Psi = mu/2 (I1 - 3) - mu (J - 1) + k/2 (J - 1)^2 and F = diag(l, b, b), J = l b^2, the lateral stress
    mu b + (k (J - 1) - mu) l b vanishes for J = 1 + mu/k (1 - 1/l); the axial one is then mu (l - b^2 / l).
    """
    lam, mu = lame_constants(law.E, law.nu)
    lateral = np.sqrt((1 + mu / (lam + mu) * (1 - 1 / stretch)) / stretch)
    return mu * (stretch - lateral**2 / stretch), lateral


def symmetry_planes(mesh) -> list:
    return [(np.isclose(mesh.nodes[:, axis], 0), np.eye(3)[axis]) for axis in range(3)]


@pytest.mark.parametrize("stretch", [0.9, 1.5, 2.5])
@pytest.mark.parametrize(("order", "volume"), KINDS)
def test_a_bar_under_a_dead_load_takes_the_closed_form(stretch, order, volume):
    """A quarter of a bar between symmetry planes stretches, contracts and is stressed to 1e-8 as the closed form says."""
    law = NeoHookean(E=1e5, nu=0.45)
    stress, lateral = uniaxial(law, stretch)
    mesh = make.box(SIZE, (3, 2, 2))
    body = TetBody(mesh, law, order=order, volume=volume, sliding=symmetry_planes(mesh))
    robot = Robot(body)
    end = traction_points(mesh, lambda p: np.isclose(p[:, 0], SIZE[0]), order)
    robot.impose("pull", Force(end, direction=(1, 0, 0)), effort=stress * SIZE[1] * SIZE[2])
    robot.sense("corner", Point(near=SIZE))
    x = Statics(robot, tolerance=1e-12, load_steps=4).solve().require().state.x
    F = np.diag([stretch, lateral, lateral])
    assert x == pytest.approx(body.rest @ F, abs=1e-8 * SIZE[0])
    cauchy = np.diag([stress / lateral**2, 0, 0])
    assert np.abs(body.fields(x).stress - cauchy).max() < 1e-8 * abs(cauchy[0, 0])


@pytest.mark.parametrize(("order", "volume"), KINDS)
def test_the_force_at_a_prescribed_end_is_the_closed_form(order, volume):
    """With its end carried to the stretch and the width of the closed form, the free sides follow and the reaction is
    stress times area, to 1e-8, at both ends."""
    law, stretch = NeoHookean(E=1e5, nu=0.45), 1.8
    stress, lateral = uniaxial(law, stretch)
    mesh = make.box(SIZE, (3, 2, 2))
    end = np.isclose(mesh.nodes[:, 0], SIZE[0])
    planes = [(ids & ~end, normal) for ids, normal in symmetry_planes(mesh)]
    body = TetBody(mesh, law, order=order, volume=volume, prescribed=end, sliding=planes)
    robot = Robot(body)
    held = robot.equations.assembly.prescribed
    F = np.diag([stretch, lateral, lateral])
    x = Statics(robot, tolerance=1e-12, load_steps=4).solve(prescribed=body.rest[held] @ F).require().state.x
    assert x == pytest.approx(body.rest @ F, abs=1e-8 * SIZE[0])
    reaction = body.force(x)[:, 0]
    force = stress * SIZE[1] * SIZE[2]
    assert reaction[held].sum() == pytest.approx(force, rel=1e-8)
    assert reaction[np.isclose(body.rest[:, 0], 0)].sum() == pytest.approx(-force, rel=1e-8)
