"""Robots of joined bodies: balance, reactions, W, ports on joints and across bodies, states, plants."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.errors import InputError

G = 9.81
LAW = pl.NeoHookean(E=2e5, nu=0.4)


def rod(begin, end, mass=0.1, thick=0.01):
    """A slender rigid body between two points, with the inertia of a line and a little about it."""
    a, b = np.asarray(begin, float), np.asarray(end, float)
    length = np.linalg.norm(b - a)
    d = (b - a) / length
    inertia = mass * length**2 / 12 * (np.eye(3) - np.outer(d, d)) + mass * thick**2 * np.eye(3)
    return pl.RigidBody(mass=mass, center=(a + b) / 2, inertia=inertia)


def beam(length=0.06, cells=(6, 2, 2), **held):
    """A soft bar along x."""
    mesh = pl.make.box((length, 0.02, 0.02), cells)
    return mesh, pl.TetBody(mesh, LAW, density=1100, **held)


def test_a_spring_holds_a_hanging_arm():
    """k theta = m g (L / 2) cos(theta): the angle of an arm that a spring in its hinge holds, and the reactions there."""
    k, mass, length = 0.4, 0.1, 0.3
    arm = rod((0, 0, 0), (length, 0, 0), mass)
    hinge = pl.Revolute("arm", point=(0, 0, 0), axis=(0, 1, 0), stiffness=k)
    robot = pl.Robot({"arm": arm}, joints={"shoulder": hinge}, gravity=(0, 0, -G))
    robot.sense("angle", pl.Hinge.on("shoulder"))
    state = pl.Statics(robot).solve().require().state
    (theta,) = robot.displacement(state, "angle")
    assert k * theta == pytest.approx(mass * G * length / 2 * np.cos(theta), rel=1e-8)
    held = robot.wrench(state, "shoulder")
    assert held.force == pytest.approx([0, 0, mass * G])
    assert held.point == pytest.approx([0, 0, 0], abs=1e-15)
    assert held.moment == pytest.approx([0, -k * theta, 0], abs=1e-8)


def test_reactions_of_a_chain_are_those_of_statics():
    """A clamped soft bar with two arms hinged to its end: every joint carries what hangs beyond it, force and moment."""
    mesh, soft = beam(fixed=pl.make.box((0.06, 0.02, 0.02), (6, 2, 2)).where(x_below=0))
    one, two = rod((0.06, 0.01, 0.01), (0.16, 0.01, 0.01), 0.02), rod((0.16, 0.01, 0.01), (0.16, 0.11, 0.01), 0.03)
    joints = {
        "wrist": pl.Revolute(
            "one", ("soft", mesh.where(x_above=0.06)), point=(0.06, 0.01, 0.01), axis=(0, 1, 0), stiffness=5.0
        ),
        "knee": pl.Ball("two", "one", point=(0.16, 0.01, 0.01), stiffness=1.0),
    }
    robot = pl.Robot({"soft": soft, "one": one, "two": two}, joints=joints, gravity=(0, 0, -G))
    state = pl.Statics(robot).solve().require().state
    masses = robot.equations.masses
    weight = {name: masses[robot.nodes_of(name)].sum() for name in ("soft", "one", "two")}
    knee, wrist, clamp = (robot.wrench(state, name) for name in ("knee", "wrist", "soft"))
    assert knee.force == pytest.approx([0, 0, 0.03 * G], abs=1e-8)
    assert wrist.force == pytest.approx([0, 0, 0.05 * G], abs=1e-8)
    assert clamp.force == pytest.approx([0, 0, sum(weight.values()) * G], abs=1e-8)

    def moment(names, point):
        nodes = np.concatenate([np.arange(len(masses))[robot.nodes_of(name)] for name in names])
        loads = np.outer(masses[nodes], [0, 0, -G])
        return -np.cross(state.x[nodes] - point, loads).sum(axis=0)

    assert clamp.moment == pytest.approx(moment(("soft", "one", "two"), clamp.point), abs=1e-8)
    assert wrist.moment == pytest.approx(moment(("one", "two"), wrist.point), abs=1e-8)
    assert knee.moment == pytest.approx(moment(("two",), knee.point), abs=1e-8)
    assert np.abs(knee.moment).max() > 1e-3


@pytest.mark.parametrize("kind", ["hinge", "frame", "slider", "across"])
def test_compliance_is_that_of_full_statics(kind):
    """W at equilibrium equals central differences of the nonlinear statics within 1e-6: hinges, frames, slides and cables
    through several bodies of a soft and rigid chain."""
    mesh, soft = beam(fixed=pl.make.box((0.06, 0.02, 0.02), (6, 2, 2)).where(x_below=0))
    end = ("soft", mesh.where(x_above=0.06))
    bodies = {"soft": soft, "hand": rod((0.06, 0.01, 0.01), (0.12, 0.01, 0.01), 0.02)}
    if kind == "slider":
        joint = pl.Slide("hand", end, direction=(1, 0, 0.5), point=(0.06, 0.01, 0.01), stiffness=40.0)
        port = pl.Slider("wrist")
    else:
        joint = pl.Revolute("hand", end, point=(0.06, 0.01, 0.01), axis=(0, 1, 0.3), stiffness=0.05)
        port = pl.Hinge.on("wrist")
    robot = pl.Robot(bodies, joints={"wrist": joint}, gravity=(0, 0, -G))
    robot.impose("motor", port, effort=2e-3 if kind != "slider" else 0.1)
    if kind == "frame":
        robot.impose("load", pl.Frame("whole"), effort=(0.01, 0.02, -0.01, 0, 0, 0), body="hand")
    if kind == "across":
        cable = pl.Cable([(0.03, 0.01, 0.018), (0.1, 0.01, 0.015)], pull=(-0.02, 0.01, 0.018))
        robot.impose("tendon", cable, effort=0.05, body=("soft", "hand"))
    robot.sense("tip", pl.Point(near=(0.12, 0.01, 0.01)), body="hand")
    statics = pl.Statics(robot, tolerance=1e-12)
    state = statics.solve().require().state
    W = robot.linearize(state).model.W
    largest = np.abs(W).max()
    for row, name in enumerate(robot.row_names):
        if name.startswith("tip") or name in ("load.rx", "load.ry", "load.rz"):
            continue
        step = 1e-4 * (1e-2 if kind != "slider" and name == "motor" else 1.0)
        found = []
        for sign in (1, -1):
            efforts = state.efforts.copy()
            efforts[row] += sign * step
            there = statics.solve(state, efforts=efforts).require().state
            found.append(np.concatenate([robot.displacement(there, port) for port in robot.ports]))
        slope = (found[0] - found[1]) / (2 * step)
        straight = [k for k, n in enumerate(robot.row_names) if not n.startswith("load.r")]
        assert slope[straight] == pytest.approx(W[straight, row], rel=1e-6, abs=2e-7 * largest)


def double_pendulum(time, angles):
    """Two rods in a plane, by Lagrange's equations and scipy: angles (2,) of the rods about y at a time."""
    mass, one, two = 0.1, 0.2, 0.3
    inertias = [mass * length**2 / 12 + mass * 0.01**2 for length in (one, two)]

    def slope(_, y):
        q, w = y[:2], y[2:]
        d, p = np.array([np.cos(q), -np.sin(q)]).T, np.array([-np.sin(q), -np.cos(q)]).T  # along x, -z and across
        coupling = mass * one * two / 2 * p[0] @ p[1]
        M = np.array([[inertias[0] + mass * one**2 * 1.25, coupling], [coupling, inertias[1] + mass * two**2 / 4]])
        pull = np.array([0, -G]) + one * d[0] * w[0] ** 2 + two / 2 * d[1] * w[1] ** 2
        loads = [mass * (np.array([0, -G]) @ p[0]) * one / 2 + mass * pull @ p[0] * one, mass * pull @ p[1] * two / 2]
        return [*w, *np.linalg.solve(M, loads)]

    return solve_ivp(slope, (0, time), [*angles, 0, 0], rtol=1e-11, atol=1e-12).y[:2, -1]


def pendulum_error(h, time=0.2, method="newton"):
    """Error of the tips of a double pendulum of rigid bodies after a time, over its length."""
    bodies = {"upper": rod((0, 0, 0), (0.2, 0, 0)), "lower": rod((0.2, 0, 0), (0.5, 0, 0))}
    joints = {
        "shoulder": pl.Revolute("upper", point=(0, 0, 0), axis=(0, 1, 0)),
        "elbow": pl.Revolute("lower", "upper", point=(0.2, 0, 0), axis=(0, 1, 0)),
    }
    robot = pl.Robot(bodies, joints=joints, gravity=(0, 0, -G))
    robot.sense("tip", pl.Point(near=(0.5, 0, 0)), body="lower")
    dynamics, state = pl.Dynamics(robot, h, method=method), robot.rest()
    for _ in range(round(time / h)):
        state = dynamics.step(state).require().state
    one, two = double_pendulum(time, (0.0, 0.0))
    tip = 0.2 * np.array([np.cos(one), 0, -np.sin(one)]) + 0.3 * np.array([np.cos(two), 0, -np.sin(two)])
    return float(np.linalg.norm(robot.displacement(state, "tip") - tip)) / 0.5


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_double_pendulum_swings_as_lagrange_says(method):
    """The tip against an independent integration: within 1e-4 of its length after 0.2 s, and second order in the step."""
    errors = [pendulum_error(h, method=method) for h in (4e-3, 2e-3)]
    assert errors[1] < 1e-4
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


@pytest.mark.thorough
def test_a_double_pendulum_swings_for_two_seconds_as_lagrange_says():
    """Within 1e-4 of its length."""
    assert pendulum_error(2.5e-4, 2.0) < 1e-4


def test_a_tie_of_matching_meshes_is_the_whole_beam():
    """Two halves with the same nodes at their interface bend like one beam, to 1e-9 of its deflection; at both orders."""
    for order in (1, 2):
        mesh, _ = beam(0.08, (8, 2, 2))
        whole = pl.TetBody(mesh, LAW, density=1100, order=order, fixed=mesh.where(x_below=0))
        halves = [_half(mesh, side) for side in (False, True)]
        one, two = (pl.TetBody(half, LAW, density=1100, order=order, **held) for half, held in _held(halves))
        tie = pl.Tie(("two", halves[1].where(x_below=0.04)), "one")
        results = []
        for robot, last in ((pl.Robot(whole, gravity=(0, 0, -G)), None), (_robot(one, two, tie), "two")):
            robot.sense("tip", pl.Point(near=(0.08, 0.01, 0.01)), body=last)
            state = pl.Statics(robot, tolerance=1e-12).solve().require().state
            results.append(robot.displacement(state, "tip"))
        deflection = np.linalg.norm(results[0] - (0.08, 0.01, 0.01))
        assert deflection > 1e-3
        assert np.linalg.norm(results[0] - results[1]) < 1e-9 * deflection


def _half(mesh, right):
    """The tets of one side of x = 0.04."""
    chosen = mesh.tets[(mesh.nodes[mesh.tets].mean(axis=1)[:, 0] > 0.04) == right]
    used, tets = np.unique(chosen, return_inverse=True)
    return pl.TetMesh(mesh.nodes[used], tets.reshape(-1, 4))


def _held(halves):
    return zip(halves, ({"fixed": halves[0].where(x_below=0)}, {}), strict=True)


def _robot(one, two, tie):
    return pl.Robot({"one": one, "two": two}, joints=[tie], gravity=(0, 0, -G))


def test_a_tie_of_meshes_that_do_not_match_is_close():
    """The finer half embedded in the coarser one: the tip within 2 % of the whole beam of the coarse mesh's size."""
    mesh, _ = beam(0.08, (8, 2, 2))
    whole = pl.TetBody(mesh, LAW, density=1100, order=2, fixed=mesh.where(x_below=0))
    coarse, fine = pl.make.box((0.04, 0.02, 0.02), (4, 2, 2)), pl.make.box((0.04, 0.02, 0.02), (5, 3, 3))
    fine = fine.translated((0.04, 0, 0))
    one = pl.TetBody(coarse, LAW, density=1100, order=2, fixed=coarse.where(x_below=0))
    two = pl.TetBody(fine, LAW, density=1100, order=2)
    tied = _robot(one, two, pl.Tie(("two", fine.where(x_below=0.04)), "one"))
    results = []
    for robot, last in ((pl.Robot(whole, gravity=(0, 0, -G)), None), (tied, "two")):
        robot.sense("tip", pl.Point(near=(0.08, 0.01, 0.01)), body=last)
        results.append(robot.displacement(pl.Statics(robot).solve().require().state, "tip") - (0.08, 0.01, 0.01))
    assert np.linalg.norm(results[1] - results[0]) < 0.02 * np.linalg.norm(results[0])


def test_a_weld_is_a_rigid_part():
    """A rigid body welded to the end of a bar and loaded there moves as the bar whose end is a rigid part does."""
    mesh, _ = beam()
    left, right = mesh.where(x_below=0), mesh.where(x_above=0.06)
    alone = pl.Robot(pl.TetBody(mesh, LAW, fixed=left, rigid={"tip": right}))
    alone.impose("push", pl.Frame("tip"), effort=(0.02, 0.05, -0.1, 0, 0, 0))
    soft = pl.TetBody(mesh, LAW, fixed=left)
    hand = pl.RigidBody(pl.solids.box((0.02, 0.02, 0.02)).translated((0.06, 0, 0)), 1000.0)
    welded = pl.Robot({"soft": soft, "hand": hand}, joints=[pl.Weld("hand", ("soft", right))])
    place = mesh.nodes[right].mean(axis=0)
    for k, axis in enumerate(np.eye(3)):
        welded.impose("xyz"[k], pl.Force(place, direction=axis), effort=(0.02, 0.05, -0.1)[k], body="hand")
    one, two = (pl.Statics(robot, tolerance=1e-12).solve().require().state for robot in (alone, welded))
    assert two.x[welded.nodes_of("soft")] == pytest.approx(one.x, abs=1e-11)


def test_rigid_motion_of_joined_bodies_costs_nothing(rng):
    """Turned and shifted as a whole, soft bodies with welds, ties and joints feel no force but rounding."""
    from conftest import random_rotation

    mesh, soft = beam()
    hand = rod((0.06, 0.01, 0.01), (0.12, 0.01, 0.01))
    end = ("soft", mesh.where(x_above=0.06))
    joint = pl.Revolute("hand", end, point=(0.06, 0.01, 0.01), axis=(0, 1, 0), stiffness=3.0)
    robot = pl.Robot({"soft": soft, "hand": hand}, joints=[joint])
    R, t = random_rotation(rng), rng.normal(size=3)
    rest = robot.rest()
    energy, force = 0.0, np.zeros_like(rest.x)
    for k, body in enumerate(robot.equations.assembly.bodies):
        own = robot.equations._part(k)
        energy += body.accumulate((rest.x @ R.T + t)[own], force[own], np.empty((0, 3, 3)))
    assert np.abs(force).max() < 1e-10 * 2e5 * 0.02**2
    assert energy < 1e-12


def test_ports_on_joints_turn_and_shift_them():
    """An imposed angle is reached by the torque that the spring asks for; a slide likewise; the inverse runs on them."""
    arm = rod((0, 0, 0), (0.3, 0, 0))
    hinge = pl.Revolute("arm", point=(0, 0, 0), axis=(0, 0, 1), stiffness=2.0)
    robot = pl.Robot({"arm": arm}, joints={"shoulder": hinge})
    robot.impose("servo", pl.Hinge.on("shoulder"), displacement=0.7)
    robot.sense("tip", pl.Point(near=(0.3, 0, 0)))
    state = pl.Statics(robot).solve().require().state
    assert robot.effort(state, "servo") == pytest.approx([1.4], rel=1e-8)
    assert robot.displacement(state, "tip") == pytest.approx([0.3 * np.cos(0.7), 0.3 * np.sin(0.7), 0], abs=1e-9)
    slide = pl.Robot({"arm": arm}, joints={"rail": pl.Slide("arm", direction=(0, 1, 1), stiffness=50.0)})
    slide.actuate("motor", pl.Slider("rail"))
    slide.effect("tip", pl.Point(near=(0.3, 0, 0), axes="y"))
    inverse, state = pl.Inverse(slide), slide.rest()
    for _ in range(10):
        state = inverse.step(state, tip=0.02).require().state
    assert slide.displacement(state, "motor") == pytest.approx([0.02 * np.sqrt(2)], rel=1e-6)
    assert slide.effort(state, "motor") == pytest.approx([1.0 * np.sqrt(2)], rel=1e-6)


def test_stops_hold_a_joint():
    """An arm that falls onto its stop at 0.2 rad rests on it: stop (theta - 0.2) = m g (L / 2) cos(theta)."""
    arm = rod((0, 0, 0), (0.3, 0, 0))
    hinge = pl.Revolute(
        "arm", point=(0, 0, 0), axis=(0, 1, 0), limits=(-0.5, 0.2), stop=20.0, stiffness=1e-3, damping=0.1
    )
    robot = pl.Robot({"arm": arm}, joints={"shoulder": hinge}, gravity=(0, 0, -G))
    robot.sense("angle", pl.Hinge.on("shoulder"))
    dynamics, state = pl.Dynamics(robot, 5e-3, method="newton"), robot.rest()
    for _ in range(200):
        state = dynamics.step(state).require().state
    (theta,) = robot.displacement(state, "angle")
    assert 20.0 * (theta - 0.2) + 1e-3 * theta == pytest.approx(0.1 * G * 0.15 * np.cos(theta), rel=1e-4)


def test_states_of_joined_robots_are_saved_and_fit(tmp_path):
    """What is saved is read back and goes on; a robot without the joint refuses it."""
    bodies = {"upper": rod((0, 0, 0), (0.2, 0, 0)), "lower": rod((0.2, 0, 0), (0.5, 0, 0))}
    joints = [pl.Revolute("upper", point=(0, 0, 0), axis=(0, 1, 0)), pl.Ball("lower", "upper", point=(0.2, 0, 0))]
    robot = pl.Robot(bodies, joints=joints, gravity=(0, 0, -G))
    dynamics, state = pl.Dynamics(robot, 1e-2), robot.rest()
    for _ in range(5):
        state = dynamics.step(state).require().state
    state.save(tmp_path / "state")
    again = pl.State.load(tmp_path / "state")
    one, two = (dynamics.step(begin).require().state for begin in (state, again))
    assert np.array_equal(one.x, two.x)
    with pytest.raises(InputError, match="the state has"):
        pl.Robot(bodies).require_fits(again)


def test_ports_across_bodies_say_what_they_miss():
    """A wrong count of bodies, a joint that is none, a port for another kind of joint: named."""
    bodies = {"a": rod((0, 0, 0), (0.2, 0, 0)), "b": rod((0.2, 0, 0), (0.5, 0, 0))}
    robot = pl.Robot(bodies, joints={"elbow": pl.Ball("b", "a", point=(0.2, 0, 0))})
    between = pl.Force((0, 0, 0), towards=(0.5, 0, 0))
    robot.impose("pull", between, effort=0.1, body=("a", "b"))
    with pytest.raises(InputError, match="2 points is on 3 bodies"):
        robot.impose("more", between, effort=0.1, body=("a", "b", "a"))
    with pytest.raises(InputError, match="a Frame, which is on one body"):
        robot.sense("frame", pl.Frame([0, 1, 2]), body=("a", "b"))
    with pytest.raises(InputError, match="'knee'"):
        robot.sense("angle", pl.Hinge.on("knee"))
    with pytest.raises(InputError, match="is a Ball"):
        robot.sense("angle", pl.Hinge.on("elbow"))
    with pytest.raises(InputError, match="no joint 'elbow'"):
        pl.check_port(pl.Slider("elbow"), bodies["a"])


def test_a_loop_is_closed_by_a_port():
    """Four bars, the last on a fixed base: three joints make the tree, and a port pins rocker and base together, as the error
    about loops says."""
    corners = np.array([[0, 0, 0], [0, 0, 0.2], [0.3, 0, 0.2], [0.3, 0, 0]], float)
    bodies = {name: rod(corners[k], corners[k + 1]) for k, name in enumerate(("crank", "coupler", "rocker"))}
    bodies["base"] = pl.RigidBody(mass=1.0, center=(0.15, 0, 0), inertia=(1, 1, 1), fixed=True)
    hinge = {"axis": (0, 1, 0)}
    joints = [
        pl.Revolute("crank", "base", point=corners[0], stiffness=0.05, **hinge),
        pl.Revolute("coupler", "crank", point=corners[1], stiffness=0.05, **hinge),
        pl.Revolute("rocker", "coupler", point=corners[2], stiffness=0.05, **hinge),
    ]
    robot = pl.Robot(bodies, joints=joints)
    pin = pl.Point(near=corners[3], axes="xz", against=corners[3])
    robot.impose("pin", pin, displacement=(0, 0), body=("rocker", "base"))
    robot.impose("turn", pl.Hinge.on("joint 0"), displacement=0.3)
    robot.sense("corner", pl.Point(near=corners[1]), body="crank")
    robot.sense("other", pl.Point(near=corners[2]), body="coupler")
    state = pl.Statics(robot, load_steps=4).solve().require().state
    one, two = (robot.displacement(state, name) for name in ("corner", "other"))
    assert one == pytest.approx([0.2 * np.sin(0.3), 0, 0.2 * np.cos(0.3)], abs=1e-8)
    assert np.linalg.norm(two - one) == pytest.approx(0.3, abs=1e-9)
    assert np.linalg.norm(two - corners[3]) == pytest.approx(0.2, abs=1e-7)


def mixture():
    """Tets, springs and rigid bodies in one tree: a weld, a hinge, a ball, a slide and a tie, with loads on their ports."""
    mesh, soft = beam(fixed=pl.make.box((0.06, 0.02, 0.02), (6, 2, 2)).where(x_below=0))
    block = pl.solids.box((0.03, 0.02, 0.02)).translated((0.1, 0, 0))
    lattice = pl.Lattice.voxels(block, 0.01)
    springs = pl.SpringBody(lattice, 1e5)
    pad_mesh = pl.make.box((0.02, 0.02, 0.02), (2, 2, 2)).translated((0.13, 0, 0))
    bodies = {
        "soft": soft,
        "hand": rod((0.06, 0.01, 0.01), (0.1, 0.01, 0.01), 0.02),
        "lattice": springs,
        "pad": pl.TetBody(pad_mesh, LAW),
        "finger": rod((0.08, 0.01, 0.01), (0.08, 0.06, 0.01), 0.01),
        "stage": rod((0.08, 0.06, 0.01), (0.08, 0.06, 0.05), 0.01),
    }
    first = np.flatnonzero(springs.rest[:, 0] < 0.105)
    joints = {
        "wrist": pl.Revolute(
            "hand", ("soft", mesh.where(x_above=0.06)), point=(0.06, 0.01, 0.01), axis=(0, 1, 1), stiffness=0.5
        ),
        "glue": pl.Weld(("lattice", first), "hand"),
        "skin": pl.Tie(("pad", pad_mesh.where(x_below=0.13)), "lattice"),
        "knuckle": pl.Ball("finger", "hand", point=(0.08, 0.01, 0.01), stiffness=0.2),
        "rail": pl.Slide("stage", "finger", direction=(1, 0, 2), stiffness=30.0),
    }
    robot = pl.Robot(bodies, joints=joints, gravity=(0, 0, -G))
    robot.impose("motor", pl.Hinge.on("wrist"), effort=0.01)
    robot.impose("slider", pl.Slider("rail"), effort=0.2)
    tendon = pl.Cable([(0.03, 0.01, 0.018), (0.08, 0.01, 0.02), (0.14, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018))
    robot.impose("tendon", tendon, effort=0.1, body=("soft", "hand", "pad"))
    robot.impose(
        "between", pl.Force((0.08, 0.06, 0.04), towards=(0.14, 0.01, 0.01)), effort=0.05, body=("stage", "pad")
    )
    return robot


def random_joint(rng, a, b):
    """A joint of any kind with random places, axes and springs."""
    kind = rng.integers(4)
    point, axis, stiffness = rng.uniform(0.05, 0.1, 3) * (1, 0.1, 0.1), rng.normal(size=3), float(rng.uniform(0.1, 1.0))
    if kind == 0:
        return pl.Weld(a, b)
    if kind == 1:
        return pl.Ball(a, b, point=point, stiffness=stiffness)
    if kind == 2:
        return pl.Slide(a, b, direction=axis, stiffness=50 * stiffness, limits=(-1e-4, 1e-4), stop=200.0)
    return pl.Revolute(a, b, point=point, axis=axis, stiffness=stiffness, rest=0.1, limits=(-0.05, 0.02), stop=3.0)


def random_tree(seed):
    """Tets, springs and rigid bodies, soft nodes and whole bodies, hung on each other at random; a cable runs through them."""
    rng = np.random.default_rng(seed)
    mesh, soft = beam()
    block = pl.solids.box((0.03, 0.02, 0.02)).translated((0.1, 0, 0))
    springs = pl.SpringBody(pl.Lattice.voxels(block, 0.01), 1e5)
    bodies = {"soft": soft, "springs": springs}
    places = [("soft", mesh.where(x_above=0.06)), ("springs", np.flatnonzero(springs.rest[:, 0] < 0.105))]
    for k in range(4):
        bodies[f"rigid {k}"] = rod(rng.uniform(0, 0.1, 3), rng.uniform(0, 0.1, 3), 0.02)
        places.append(f"rigid {k}")
    order = rng.permutation(len(places))
    joints = {}
    for k, own in enumerate(order[1:], 1):
        joints[f"joint {own}"] = random_joint(rng, places[own], places[order[rng.integers(k)]])
    ground = ("soft", mesh.where(x_below=0)) if rng.integers(2) else None
    if ground is not None:
        joints["ground"] = random_joint(rng, ground, None)
    robot = pl.Robot(bodies, joints=joints, gravity=(0, 0, -G))
    cable = pl.Cable([(0.03, 0.01, 0.018), (0.05, 0.02, 0.02), (0.12, 0.01, 0.018)])
    robot.impose("cable", cable, effort=0.1, body=("soft", "rigid 0", "springs"))
    for name, joint in joints.items():
        if isinstance(joint, pl.Revolute | pl.Slide):
            port = pl.Hinge.on(name) if isinstance(joint, pl.Revolute) else pl.Slider(name)
            robot.impose(f"motor of {name}", port, effort=0.02)
    return robot


@pytest.mark.parametrize("make", [mixture, *(partial(random_tree, seed) for seed in range(6))])
@pytest.mark.filterwarnings("ignore:joint .* welds parts")
def test_tangent_of_a_tree_of_bodies_is_the_second_slope_of_its_potential(make, rng):
    """K on the coordinates of a tree of every kind of body and joint equals second differences of the potential, far from
    balance; and the gradient its first differences."""
    robot = make()
    equations = robot.equations
    assembly, loads = equations.assembly, robot.loads(robot.rest().efforts)
    pose = assembly.rest()
    parts = assembly.parts

    def motion(size):
        d = size * rng.normal(size=(assembly.coordinate_count, 3))
        d[assembly.coordinate_count - parts.coordinate_count :] *= parts.free
        turning = parts.numbers[:, 1]
        d[turning[turning >= 0]] *= 100.0
        return d

    pose = assembly.moved(pose, motion(1e-3))
    at = equations.factor(pose, loads, signed=True)
    K, gradient = at.matrix(), at.on_coordinates(at.here.gradient)

    def potential(step):
        return equations.evaluate(assembly.moved(pose, step), loads, at.placed).potential

    for _ in range(4):
        u, v, h = motion(1.0), motion(1.0), 1e-6
        slope = (potential(0.1 * h * u) - potential(-0.1 * h * u)) / (0.2 * h)
        assert slope == pytest.approx(np.vdot(gradient, u), rel=1e-6)
        ahead = potential(h * (u + v)) + potential(-h * (u + v))
        second = (ahead - potential(h * (u - v)) - potential(h * (v - u))) / (4 * h * h)
        expected = u.ravel() @ (K @ v.ravel())
        scale = np.sqrt(abs(u.ravel() @ (K @ u.ravel())) * abs(v.ravel() @ (K @ v.ravel())))
        assert second == pytest.approx(expected, rel=1e-5, abs=1e-6 * scale)


def test_a_mixture_comes_to_rest_and_is_drawn(tmp_path):
    """Statics of every kind of body and joint converges, the picture shows all of it, and a plant keeps the joints."""
    from pliant.view import draw_bodies
    from pliant.view.page.skin import skins_of

    robot = mixture()
    state = pl.Statics(robot, load_steps=2).solve().require().state
    draw_bodies(robot, state, tmp_path / "mixture.png")
    assert (tmp_path / "mixture.png").stat().st_size > 5000
    assert len(skins_of(robot)) == 3  # rods without a surface are not drawn
    plant = robot.with_roles({"tendon": None})
    assert tuple(plant.joints) == tuple(robot.joints)
    assert plant.equations.assembly.coordinate_count == robot.equations.assembly.coordinate_count


def test_what_is_welded_to_the_ground_tells_what_holds_it():
    """A bar whose end is welded to the ground is one whose end is fixed; the weld carries its weight, and a weld of two bodies
    tells nothing."""
    mesh, soft = beam()
    left, right = mesh.where(x_below=0), mesh.where(x_above=0.06)
    hand = pl.RigidBody(pl.solids.box((0.02, 0.02, 0.02)).translated((0.06, 0, 0)), 1000.0)
    joints = {"clamp": pl.Weld(("soft", left)), "glue": pl.Weld("hand", ("soft", right))}
    robot = pl.Robot({"soft": soft, "hand": hand}, joints=joints, gravity=(0, 0, -G))
    state = pl.Statics(robot).solve().require().state
    assert np.array_equal(state.x[left], mesh.nodes[left])
    clamp = robot.wrench(state, "clamp")
    assert clamp.force == pytest.approx([0, 0, robot.equations.masses.sum() * G], abs=1e-8)
    assert clamp.moment[1] < -1e-3
    with pytest.raises(InputError, match="'glue' makes one part of two"):
        robot.wrench(state, "glue")


def test_a_hinge_measures_one_body_against_another():
    """Two arms on one axis, turned by 0.3 and -0.2: regions of two bodies have the angle 0.5 between them."""
    axis = {"point": (0, 0, 0), "axis": (0, 0, 1)}
    bodies = {"a": rod((0, 0, 0), (0.2, 0, 0)), "b": rod((0, 0, 0.01), (0.2, 0, 0.01))}
    robot = pl.Robot(bodies, joints={name: pl.Revolute(name, stiffness=1.0, **axis) for name in bodies})
    for name, angle in (("a", 0.3), ("b", -0.2)):
        robot.impose(f"servo {name}", pl.Hinge.on(name), displacement=angle)
    robot.sense("between", pl.Hinge("whole", against="whole", **axis), body=("a", "b"))
    state = pl.Statics(robot).solve().require().state
    assert robot.displacement(state, "between") == pytest.approx([0.5], abs=1e-8)
    with pytest.raises(InputError, match="2 regions is on 3 bodies"):
        robot.sense("more", pl.Hinge("whole", against="whole", **axis), body=("a", "b", "a"))


def test_which_side_is_a_changes_signs_only():
    """The arm held by the base, or the base by the arm: the same balance; the angle and the wrench change their signs."""
    arm = rod((0, 0, 0), (0.3, 0, 0))
    base = pl.RigidBody(mass=1.0, center=(0, 0, 0), inertia=(1, 1, 1), fixed=True)
    found = []
    for sides in (("arm", "base"), ("base", "arm")):
        hinge = pl.Revolute(*sides, point=(0, 0, 0), axis=(0, 1, 0.2), stiffness=0.4)
        robot = pl.Robot({"arm": arm, "base": base}, joints={"shoulder": hinge}, gravity=(0, 0, -G))
        robot.sense("angle", pl.Hinge.on("shoulder"))
        state = pl.Statics(robot, tolerance=1e-12).solve().require().state
        held = robot.wrench(state, "shoulder")
        found.append((robot.nodes(state, "arm"), robot.displacement(state, "angle"), held.force, held.moment))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-12)
    for one, other in zip(found[0][1:], found[1][1:], strict=True):
        assert one == pytest.approx(-other, abs=1e-10)
    assert found[0][1][0] > 0.1
