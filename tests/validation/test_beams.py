"""Beams of ten-node tets against Timoshenko and the elastica; four-node tets converge to the same."""

from __future__ import annotations

import numpy as np
import pytest
from theory import Beam, beam_root, fitted_slope, traction_points

from pliant.body import TetBody
from pliant.material import Corotational, Linear
from pliant.motion import Statics, natural_modes
from pliant.port import Force, Point
from pliant.robot import Robot


def tip_deflection(beam: Beam, through: int, order: int, *, glued: bool = False) -> float:
    """Mean deflection of the end over Timoshenko's, under a shear force on the end small enough to be linear."""
    mesh = beam.mesh(round(beam.length / beam.height * through), through)
    held = {"fixed": mesh.where(x_below=0)} if glued else {"sliding": beam_root(mesh)}
    robot = Robot(TetBody(mesh, Linear(E=beam.E, nu=beam.nu), order=order, **held))
    end = traction_points(mesh, lambda p: np.isclose(p[:, 0], beam.length), order)
    robot.impose("load", Force(end, direction=(0, 0, -1)), effort=1e-4)
    state = Statics(robot).solve().require().state
    return float(robot.displacement(state, "load")[0]) / beam.tip_deflection(1e-4)


@pytest.mark.parametrize("nu", [0.3, 0.45])
def test_two_ten_node_tets_through_the_height_bend_like_a_beam(nu, figure):
    """Within 1 % of Timoshenko when the root is held as in beam theory; a glued root is stiffer."""
    beam = Beam(0.08, 0.01, 0.01, E=1e5, nu=nu)
    held, glued = tip_deflection(beam, 2, 2), tip_deflection(beam, 2, 2, glued=True)
    figure(f"beam.order2_nu_{nu}", held, reference=1, source="Timoshenko")
    figure(f"beam.order2_glued_nu_{nu}", glued, reference=1, source="Timoshenko, whose root is not glued")
    assert held == pytest.approx(1, abs=0.01)
    assert glued < held


def test_four_node_tets_converge_to_the_beam(figure):
    """At 2, 4 and 8 elements through the height the error falls with the square of the size."""
    beam, through = Beam(0.06, 0.01, 0.01, E=1e5, nu=0.3), np.array([2, 4, 8])
    reference = tip_deflection(beam, 4, 2)
    errors = [reference - tip_deflection(beam, int(n), 1) for n in through]
    slope = fitted_slope(1 / through[1:], errors[1:])
    for n, error in zip(through, errors, strict=True):
        figure(f"beam.order1_{n}_through", reference - error, reference=1, source="Timoshenko")
    figure("beam.order1_slope", slope, "", 2, "theory")
    assert reference == pytest.approx(1, abs=0.005)
    assert errors[0] > errors[1] > errors[2] > 0
    assert 1.5 < slope < 2.5


@pytest.mark.parametrize("load", ["tip", "weight", "both"])
def test_large_deflection_follows_the_elastica(load, figure):
    """Reach, drop and rotation of the tip of a slender beam bent by more than 45 degrees are within 1 % of the elastica."""
    beam = Beam(0.2, 0.01, 0.008, E=2e5, nu=0.3, density=1000.0)
    scale = beam.bending / beam.length**2
    force = {"tip": 2.5, "weight": 0.0, "both": 1.3}[load] * scale
    weight = {"tip": 0.0, "weight": 8.0, "both": 4.0}[load] * scale / beam.length
    mesh = beam.mesh(40, 2)
    robot = Robot(
        TetBody(mesh, Corotational(E=beam.E, nu=beam.nu), density=beam.density, order=2, sliding=beam_root(mesh)),
        gravity=(0, 0, -weight / (beam.density * beam.area)),
    )
    end = traction_points(mesh, lambda p: np.isclose(p[:, 0], beam.length), 2)
    robot.impose("load", Force(end, direction=(0, 0, -1)), effort=force)
    robot.sense("tip", Point(near=(beam.length, 0, 0)))
    robot.sense("edges", Point(near=[(beam.length, 0, -beam.height / 2), (beam.length, 0, beam.height / 2)]))
    state = Statics(robot, load_steps=4).solve().require().state
    x, _, z = robot.displacement(state, "tip")
    low, high = robot.displacement(state, "edges").reshape(2, 3)
    rotation = np.arctan2(high[0] - low[0], high[2] - low[2])
    reach, drop, angle = beam.elastica(force, weight)
    figure(f"elastica.{load}_reach", x / reach, reference=1, source="elastica")
    figure(f"elastica.{load}_drop", -z / drop, reference=1, source="elastica")
    figure(f"elastica.{load}_rotation_deg", np.degrees(rotation), "deg", np.degrees(angle), "elastica")
    assert angle > np.radians(45)
    assert x == pytest.approx(reach, rel=0.01)
    assert -z == pytest.approx(drop, rel=0.01)
    assert rotation == pytest.approx(angle, rel=0.01)


def test_natural_frequencies_of_a_cantilever(figure):
    """The first four bending frequencies, two in each plane, are within 1 % of Timoshenko's beam."""
    beam = Beam(0.12, 0.012, 0.008, E=2e5, nu=0.3, density=1100.0)
    mesh = beam.mesh(24, 2)
    law = Corotational(E=beam.E, nu=beam.nu)
    robot = Robot(TetBody(mesh, law, density=beam.density, order=2, sliding=beam_root(mesh)))
    expected = np.sort(np.concatenate([beam.frequencies(2), beam.turned().frequencies(2)]))
    found = natural_modes(robot, 4).frequencies
    for k, ratio in enumerate(found / expected):
        figure(f"modes.frequency_{k + 1}", ratio, reference=1, source="Timoshenko")
    assert found == pytest.approx(expected, rel=0.01)


def test_the_frequency_equation_itself():
    """For a very slender beam it gives Euler and Bernoulli's 1.8751, 4.6941, 7.8548 (Blevins)."""
    beam = Beam(1.0, 0.001, 0.001, E=1e5, nu=0.3)
    factor = np.sqrt(beam.bending / (beam.density * beam.area)) / (2 * np.pi)
    assert beam.frequencies(3) == pytest.approx(factor * np.array([1.87510407, 4.69409113, 7.85475744]) ** 2, rel=1e-4)
