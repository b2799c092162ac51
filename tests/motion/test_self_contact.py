"""A body that touches itself: as two bodies do, in pieces that are far apart along the material, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.body import RigidBody, RodBody, Section, TetBody
from pliant.errors import InputError
from pliant.material import Corotational
from pliant.motion import Dynamics, Statics, Status
from pliant.port import Force
from pliant.robot import Robot
from pliant.shape import Curve, TetMesh, make, solids

LAW, SETTINGS = Corotational(E=200e3, nu=0.4), {"density": 1000.0, "damping": (1.0, 0.004)}
TIPS = {"left": (0.005, 0.0075, 0.06), "right": (0.021, 0.0075, 0.06)}
WAYS = {"left": (1.0, 0.0, 0.0), "right": (-1.0, 0.0, 0.0)}


def legs():
    """Two legs beside each other, with other meshes, 6 mm apart."""
    return {
        "left": make.box((0.01, 0.015, 0.06), (2, 3, 10)),
        "right": make.box((0.01, 0.015, 0.06), (2, 2, 9)).translated((0.016, 0, 0)),
    }


def of_two(order):
    """Each leg a body."""
    meshes = legs()
    robot = Robot({
        name: TetBody(mesh, LAW, fixed=mesh.where(z_below=0), order=order, **SETTINGS) for name, mesh in meshes.items()
    })  # fmt: skip
    robot.touch("legs", "right", body="left", friction=0.3)
    return robot, {name: name for name in meshes}


def of_one(order):
    """Both legs one body."""
    left, right = legs().values()
    mesh = TetMesh(np.concatenate([left.nodes, right.nodes]), np.concatenate([left.tets, right.tets + len(left.nodes)]))
    robot = Robot({"both": TetBody(mesh, LAW, fixed=mesh.where(z_below=0), order=order, **SETTINGS)})
    robot.touch("legs", "both", body="both", friction=0.3)
    return robot, dict.fromkeys(legs(), "both")


def pressed(robot, bodies, force=0.4, steps=160):
    """The legs pulled together at their tips."""
    for name, body in bodies.items():
        robot.impose(name, Force(TIPS[name], direction=WAYS[name]), effort=0.0, body=body)
    motion, state = Dynamics(robot, 0.01), robot.rest()
    for k in range(steps):
        for name in bodies:
            robot.set_effort(name, force * min(1.0, 2 * (k + 1) / steps))
        result = motion.step(state)
        assert result.status in (Status.STEPPED, Status.WARPED), result.status
        state = result.state
    return state


def tip(robot, state, name):
    return state.x[np.linalg.norm(robot.rest().x - TIPS[name], axis=1).argmin()]


@pytest.mark.parametrize("order", [1, 2])
def test_two_legs_of_one_body_touch_as_two_bodies_do(order):
    """Tips within 3 % of their way, normal forces within 2 %."""
    apart, together = of_two(order), of_one(order)
    states = [pressed(*own) for own in (apart, together)]
    forces = [own[0].contacts(state, "legs").normal_forces.sum() for own, state in zip((apart, together), states)]  # noqa: B905
    assert forces[0] > 0.2
    assert forces[1] == pytest.approx(forces[0], rel=0.02)
    edge = together[0].touches["legs"].edge
    for name in TIPS:
        places = [tip(own[0], state, name) for own, state in zip((apart, together), states)]  # noqa: B905
        way = np.linalg.norm(places[0] - np.array(TIPS[name]))
        assert np.linalg.norm(places[1] - places[0]) < 0.03 * way
        assert way > 0.3 * edge


def test_statics_knows_it():
    """The equilibrium under the same forces, in load steps of a fraction of an edge."""
    robot, bodies = of_one(1)
    moved = pressed(robot, bodies, steps=240)
    found = Statics(robot, load_steps=16).solve().require()
    assert robot.contacts(found.state, "legs").normal_forces.sum() == pytest.approx(
        robot.contacts(moved, "legs").normal_forces.sum(), rel=0.03
    )
    assert np.abs(found.state.x - moved.x).max() < 0.05 * robot.touches["legs"].edge


def ring(count=(28, 2, 2), radius=0.03, open_by=0.5):
    """A bar bent to a ring that is open by an angle [rad] at the bottom (-y)."""
    bar = make.box((1.0, 0.008, 0.012), count)
    angle = -0.5 * np.pi + 0.5 * open_by + (2 * np.pi - open_by) * bar.nodes[:, 0]
    far = radius + bar.nodes[:, 1]
    return TetMesh(
        np.column_stack([far * np.cos(angle), far * np.sin(angle), bar.nodes[:, 2]]), bar.tets[:, [0, 2, 1, 3]]
    )


def test_the_ends_of_a_ring_meet_and_momentum_is_kept():
    """A free ring that springs shut: its ends touch and do not pass; what they do to each other adds up to nothing."""
    mesh = ring()
    robot = Robot({"ring": TetBody(mesh, LAW, density=1000.0, damping=(0.0, 0.01))})
    robot.touch("ends", "ring", body="ring", friction=0.2)
    state = robot.rest()
    ends = np.flatnonzero(mesh.nodes[:, 1] < -0.027)
    left, right = ends[mesh.nodes[ends, 0] < 0], ends[mesh.nodes[ends, 0] > 0]
    v = np.zeros_like(state.x)
    v[left, 0], v[right, 0] = 1.2, -1.2
    masses = robot.bodies[0].load_masses
    v -= masses @ v / masses.sum()
    state, motion = replace(state, v=v), Dynamics(robot, 0.002)
    touched = 0
    for _ in range(60):
        result = motion.step(state)
        assert result.status in (Status.STEPPED, Status.WARPED), result.status
        state = result.state
        touched += len(robot.contacts(state, "ends")) > 0
        assert state.x[left, 0].max() < state.x[right, 0].min() + 0.01 * robot.touches["ends"].edge
    assert touched >= 2
    assert state.x[right, 0].min() - state.x[left, 0].max() > 0.0
    assert state.v[right, 0].mean() > state.v[left, 0].mean()
    assert np.abs(masses @ state.v).max() < 1e-9 * masses.sum()


def test_what_is_thin_does_not_touch_its_other_face():
    """A sheet thinner than half an edge, bent by a right angle and more: no contact anywhere."""
    mesh = make.box((0.08, 0.02, 0.001), (16, 4, 1))
    robot = Robot({"sheet": TetBody(mesh, Corotational(E=2e6, nu=0.3), fixed=mesh.where(x_below=0), **SETTINGS)})
    robot.touch("itself", "sheet", body="sheet")
    robot.impose("pull", Force((0.08, 0.01, 0.0005), direction=(0.0, 0.0, 1.0)), effort=0.0)
    motion, state = Dynamics(robot, 0.01), robot.rest()
    for k in range(60):
        robot.set_effort("pull", 0.02 * (k + 1) / 60)
        result = motion.step(state)
        assert result.ok
        state = result.state
        assert len(robot.contacts(state, "itself")) == 0
    assert state.x[:, 2].max() > 0.03


def test_a_rod_that_crosses_itself():
    """A rod bent to a loop whose ends cross, one above the other: the upper one comes to rest on the lower."""
    turn = np.linspace(-0.15 * np.pi, 2.15 * np.pi, 33)
    high = 0.012 * (turn - turn[0]) / np.ptp(turn)
    line = Curve.spline(np.column_stack([0.05 * np.cos(turn), 0.05 * np.sin(turn), high]))
    rod = RodBody(line, Section.circle(0.006), 3e5, 0.45, 1000.0, count=24, damping=(4.0, 0.01))
    robot = Robot({"rod": rod}, gravity=(0.0, 0.0, -9.81))
    robot.touch("itself", "rod", body="rod", friction=0.3)
    assert robot.touches["itself"].seen(robot.rest().x).gaps.size == 0


def test_faults():
    """A rigid body has nothing to touch itself with."""
    robot = Robot({"box": RigidBody(solids.box((0.01, 0.01, 0.01)), 1000.0)})
    with pytest.raises(InputError, match="with itself, which is rigid"):
        robot.touch("itself", "box", body="box")
