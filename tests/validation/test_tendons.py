"""Tendons on a rod: constant curvature, and a Cosserat solution by other means."""

from __future__ import annotations

import numpy as np
import pytest
from cosserat import tendon_rod

from pliant.algebra.rotation import from_quaternion, logarithm
from pliant.gallery import tendon
from pliant.motion import Statics

I = np.pi / 64 * tendon.DIAMETER**4
EI, GJ = tendon.E * I, tendon.E / (2 * (1 + tendon.NU)) * 2 * I


def solved(robot, **efforts):
    for name, effort in efforts.items():
        robot.set_effort(name, effort)
    return Statics(robot).solve().require().state


@pytest.mark.parametrize("tension", [0.5, 3.0])
def test_one_tendon_bends_the_rod_to_an_arc(tension):
    """kappa = T d / (E I) within 1 %, everywhere, with forty discs and no weight; and no twist."""
    robot = tendon.build(discs=20, elements=1, gravity=0.0)
    state = solved(robot, long0=tension)
    strains = robot.bodies[0].strains(robot.nodes(state, "rod"))
    kappa = np.linalg.norm(strains[:, 4:], axis=1)
    assert kappa == pytest.approx(tension * tendon.OFFSET / EI, rel=0.01)
    assert np.abs(strains[:, 3]).max() < 1e-9 * kappa.max()


CASES = [
    ({"long0": 2.0}, -0.05),
    ({"long1": 3.0, "short0": 2.0}, 0.0),
    ({"long0": 3.0, "long1": 1.0, "short1": 2.5, "short0": 0.5}, 0.1),
]
"""Tensions [N] and a load on the tip along x [N]: tendons in one segment and in both, in and out of a plane."""


def differences(tensions, load, discs):
    """Of the tip: in place over the length, and in orientation [rad], from a Cosserat solution, whose tendons run in tubes."""
    robot = tendon.build(discs=discs, elements=1, gravity=0.0)
    state = solved(robot, load=load, **tensions)
    angles = np.array([tendon.TENDONS[name] for name in tensions])
    holes = tendon.OFFSET * np.stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))], axis=1)
    through = [int(name.startswith("long")) for name in tensions]
    force, stiffness = np.array([load, 0.0, 0.0]), np.array([EI, EI, GJ])
    place, R = tendon_rod(tendon.LENGTH, stiffness, holes, np.array(list(tensions.values())), through, force)
    found = robot.bodies[0].centreline(robot.nodes(state, "rod"))[-1]
    turn = from_quaternion(robot.displacement(state, "tip", as_target=True)[3:]) @ R.T
    assert np.linalg.norm(found[:2]) > 0.02  # it is bent
    return np.linalg.norm(found - place) / tendon.LENGTH, np.linalg.norm(logarithm(turn))


@pytest.mark.parametrize(("tensions", "load"), CASES)
def test_the_tip_is_where_a_cosserat_solution_has_it(tensions, load):
    """Within 0.5 % of the length and 0.01 rad with forty discs."""
    place, turn = differences(tensions, load, 20)
    assert place < 0.005
    assert turn < 0.01


def test_discs_are_of_second_order():
    """Between discs a tendon goes straight where the rod bends: with half the gap the tip is off by a quarter."""
    coarse, fine = (np.array(differences(*CASES[2], discs)) for discs in (8, 16))
    assert coarse / fine == pytest.approx(4.0, rel=0.15)
