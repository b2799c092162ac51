"""The compliance W of unlike ports together, against the nonlinear equilibrium that it is the slope of."""

from __future__ import annotations

import numpy as np
import pytest

from hollow import hollow_box
from pliant import (
    Cable,
    Cavity,
    Dynamics,
    Force,
    Frame,
    Hinge,
    NeoHookean,
    Point,
    Robot,
    Statics,
    Stiffness,
    TetBody,
    make,
    solids,
)

MESH = make.box((0.08, 0.02, 0.02), (8, 2, 2))
CHAMBER = solids.box((0.04, 0.01, 0.005), at=(0.02, 0.005, 0.005))
HOLLOW = hollow_box((0.08, 0.02, 0.02), (8, 4, 4), CHAMBER)
STATES = {
    "bent up": {"tendon": 1.2, "air": 4e3, "push": 0.1, "jam": 40e3},
    "bent down": {"tendon": 0.4, "air": 9e3, "push": -0.2, "jam": -40e3},
    "aside": {"tendon": 2.0, "air": -2e3, "push": 0.35, "jam": 15e3},
}
CHANGES = {"tendon": 1e-3, "air": 10.0, "push": 1e-3, "jam": 200.0}
"""For differences of second order with extrapolation: large against rounding, small against the curvature."""


def robot(efforts, order=1, damping=(0.0, 0.0)):
    """A soft arm under its weight with a tendon, a chamber, a force at its side and a region of changeable modulus."""
    region = HOLLOW.nodes[HOLLOW.tets].mean(axis=1)[:, 0] < 0.04
    body = TetBody(HOLLOW, NeoHookean(E=100e3, nu=0.4), order=order, fixed=HOLLOW.where(x_below=0), damping=damping)
    out = Robot(body, gravity=(0, 0, -9.81))
    points = [(x, 0.01, 0.018) for x in (0.01, 0.03, 0.055, 0.078)]
    out.impose("tendon", Cable(points, pull=(-0.02, 0.01, 0.02)), effort=efforts["tendon"])
    out.impose("air", Cavity(CHAMBER), effort=efforts["air"])
    out.impose("push", Force((0.07, 0.018, 0.012), direction=(0, 1, 0.3)), effort=efforts["push"])
    out.impose("jam", Stiffness(region), effort=efforts["jam"])
    return out


def displacements(arm, there, near):
    """delta of all rows at a state, rotations being those from another one."""
    attachments = [mounted.attachment for mounted in arm.ports.values()]
    return np.concatenate([a.at(there.x, a.faced(near.x).reference).displacement for a in attachments])


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("order", [1, 2])
def test_the_whole_block_is_the_slope_of_the_equilibrium(state, order, figure):
    """Every entry of W, cable, cavity, force and stiffness by each other, within 1e-4 of central differences of the
    converged statics; symmetric to 1e-10. The warped tangent's error is a figure beside."""
    arm = robot(STATES[state], order)
    statics = Statics(arm, tolerance=1e-12)
    here = statics.solve().require().state
    assert np.linalg.norm(here.x - arm.rest().x, axis=1).max() > 0.005
    W = arm.linearize(here).model.W
    scale = np.sqrt(np.outer(np.diag(W), np.diag(W)))
    assert np.abs((W - W.T) / scale).max() < 1e-10

    def moved(name, change):
        arm.set_effort(name, STATES[state][name] + change)
        there = statics.solve(here).require().state
        return np.concatenate([arm.displacement(there, name) for name in arm.ports])

    slopes = np.empty_like(W)
    for column, (name, h) in enumerate(CHANGES.items()):
        near, far = (moved(name, k * h) - moved(name, -k * h) for k in (1, 2))
        slopes[:, column] = (8 * near - far) / (12 * h)
        arm.set_effort(name, STATES[state][name])
    error = np.abs(W / slopes - 1)
    warped = np.abs(arm.linearize(here, tangent="warped").model.W / slopes - 1)
    name, source = f"compliance.{state.replace(' ', '_')}_order{order}", "differences of the equilibrium"
    figure(f"{name}_exact", error.max(), "", 0, source)
    figure(f"{name}_warped", warped.max(), "", 0, source)
    figure(f"{name}_warped_diagonal", np.diag(warped).max(), "", 0, source)
    assert error.max() < 1e-4


@pytest.mark.parametrize("rigid", [True, False])
def test_frames_and_hinges_belong_to_it(rigid):
    """A plate pulled by a force through its frame and turned by a torque: all rows of W, rotations included, within 1e-4."""
    end = MESH.where(x_above=0.08)
    body = TetBody(
        MESH, NeoHookean(E=100e3, nu=0.4), fixed=MESH.where(x_below=0), rigid={"plate": end} if rigid else {}
    )
    arm = Robot(body, gravity=(0, 0, -9.81))
    efforts = {"plate": np.array([0.3, -0.1, 0.15, 0, 0, 0]), "hinge": np.array([2e-3])}
    arm.impose("plate", Frame("plate" if rigid else end), effort=efforts["plate"])
    arm.impose("hinge", Hinge(MESH.where(x_above=0.06), point=(0.01, 0.01, 0.01), axis=(0, 1, 0.2)), effort=2e-3)
    statics = Statics(arm, tolerance=1e-12)
    here = statics.solve().require().state
    W = arm.linearize(here).model.W
    scale = np.sqrt(np.outer(np.diag(W), np.diag(W)))
    assert np.abs((W - W.T) / scale).max() < 1e-10
    changes = {"plate": [1e-3] * 3 + [1e-5] * 3, "hinge": [1e-5]}
    columns = []
    for name, sizes in changes.items():
        for row, h in enumerate(sizes):
            ends = []
            for sign in (1, -1):
                arm.set_effort(name, efforts[name] + sign * h * np.eye(len(sizes))[row])
                there = statics.solve(here).require().state
                ends.append(displacements(arm, there, here))
            arm.set_effort(name, efforts[name])
            columns.append((ends[0] - ends[1]) / (2 * h))
    assert np.abs((np.array(columns).T - W) / scale).max() < 1e-4


@pytest.mark.parametrize("state", ["bent up", "bent down"])
def test_the_answer_at_rest_does_not_depend_on_the_time_step(state):
    """Damped dynamics of 1, 5 and 20 ms come to rest at the static equilibrium, with the same static W."""
    arm = robot(STATES[state], damping=(60.0, 0.02))
    arm.sense("tip", Point(near=(0.08, 0.01, 0.01)))
    still = Statics(arm, tolerance=1e-11).solve().require().state
    W = arm.linearize(still).model.W
    scale = np.sqrt(np.outer(np.diag(W), np.diag(W)))
    for h in (1e-3, 5e-3, 20e-3):
        motion, now = Dynamics(arm, h), arm.rest().at_rest()
        for _ in range(6000):
            now = motion.step(now).require().state
            if np.abs(now.v).max() < 1e-9:
                break
        assert np.abs(now.x - still.x).max() < 1e-8
        assert np.abs((arm.linearize(now).model.W - W) / scale).max() < 1e-6
