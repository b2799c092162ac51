"""The inverse with frames, hinges and moduli as what is driven or drives."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import (
    Cable,
    Corotational,
    Force,
    Frame,
    Hinge,
    Inverse,
    NeoHookean,
    Point,
    Robot,
    Statics,
    Stiffness,
    TetBody,
    make,
)
from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.control import DecisionStatus
from pliant.errors import InputError

MESH = make.box((0.06, 0.03, 0.03), (6, 3, 3))
PUSHES = {
    "a": ((0.06, 0.0, 0.0), (0, 1, 0)),
    "b": ((0.06, 0.0, 0.0), (0, 0, 1)),
    "c": ((0.06, 0.03, 0.0), (1, 0, 0)),
    "d": ((0.06, 0.03, 0.03), (0, 0, 1)),
    "e": ((0.06, 0.0, 0.03), (1, 0, 0)),
    "f": ((0.06, 0.03, 0.03), (1, 1, 0)),
}


def block(rigid, rows="x y z rx ry rz"):
    """A block with a plate at its end, six forces on the plate and the plate's frame as effector."""
    end = MESH.where(x_above=0.06)
    body = TetBody(
        MESH, Corotational(E=1e5, nu=0.4), fixed=MESH.where(x_below=0), rigid={"plate": end} if rigid else {}
    )
    robot = Robot(body, gravity=(0, 0, -9.81))
    for name, (place, direction) in PUSHES.items():
        robot.actuate(name, Force(place, direction=direction), effort=(-10, 10))
    robot.effect("plate", Frame("plate" if rigid else end, rows=rows))
    return robot


def posed(robot, efforts):
    """The equilibrium under these efforts; the robot's own are zero afterwards."""
    for name, effort in zip(PUSHES, efforts, strict=True):
        robot.set_effort(name, effort)
    state = Statics(robot, tolerance=1e-11).solve().require().state
    for name in PUSHES:
        robot.set_effort(name, 0.0)
    return state


@pytest.mark.parametrize("rigid", [True, False])
def test_position_and_orientation_are_reached_together(rigid, rng):
    """Poses made by hidden forces are found again to 1e-8 m and 1e-8 rad, and so are the forces."""
    robot = block(rigid)
    for _ in range(2):
        efforts = rng.uniform(-0.5, 0.5, 6)
        there = posed(robot, efforts)
        target = robot.displacement(there, "plate", as_target=True)
        assert np.linalg.norm(logarithm(from_quaternion(target[3:]))) > 0.05
        step = Inverse(robot).solve_pose(plate=target).require()
        reached = robot.displacement(step.state, "plate", as_target=True)
        assert reached[:3] == pytest.approx(target[:3], abs=1e-8)
        assert np.abs(from_quaternion(reached[3:]) - from_quaternion(target[3:])).max() < 1e-8
        assert [float(step.efforts[name][0]) for name in PUSHES] == pytest.approx(efforts, abs=1e-4)


def turned_errors(kind, most):
    """Steps towards a slowly turning orientation, up to an angle [rad]: of each step, what it was, and by how much place [m]
    and orientation [rad] are off."""
    robot = block(rigid=True)
    inverse, state = Inverse(robot, kind=kind), posed(robot, np.zeros(6))
    home = robot.displacement(state, "plate", as_target=True)
    R = from_quaternion(home[3:])
    for angle in np.linspace(0, most, 31)[1:]:
        target = np.concatenate([home[:3], to_quaternion(exponential([0.5 * angle, 0, angle]) @ R)])
        step = inverse.step(state, plate=target).require()
        state = step.state
        now = robot.displacement(state, "plate", as_target=True)
        turn = logarithm(from_quaternion(now[3:]) @ from_quaternion(target[3:]).T)
        yield step, np.linalg.norm(now[:3] - target[:3]), np.linalg.norm(turn)


def test_real_time_steps_turn_the_plate():
    """After every step the error of the pose is below 1 mrad and 10 um."""
    for _, place, turn in turned_errors("effort", 0.18):
        assert place < 1e-5
        assert turn < 1e-3


def test_beyond_buckling_motors_that_hold_displacements_go_on():
    """Forces that keep their direction buckle the block at about 0.2 rad: told efforts, it stops there and says why; told
    displacements, it goes through, past the limit point, where the tangent has a negative eigenvalue."""
    steps, places, _ = zip(*turned_errors("effort", 0.3), strict=True)
    assert steps[-1].status in (DecisionStatus.SLOWED, DecisionStatus.LIMITED)
    assert min(step.margin for step in steps) < 0.1
    assert places[-1] > 1e-4
    steps, places, turns = zip(*turned_errors("displacement", 0.3), strict=True)
    assert max(places) < 5e-5
    assert max(turns) < 2e-3
    assert block(rigid=True).linearize(steps[-1].state, signed=True).model.negatives == 1


def test_orientation_alone():
    """Rows choose: with rotations about y and z only, two of six numbers are driven."""
    robot = block(rigid=False, rows="ry rz")
    target = np.array([0, 0, 0, *to_quaternion(exponential([0, 0.1, -0.05]))])
    step = Inverse(robot).solve_pose(plate=target).require()
    assert robot.displacement(step.state, "plate") == pytest.approx(
        logarithm(from_quaternion(robot.displacement(step.state, "plate", as_target=True)[3:]))[1:]
    )
    assert step.distance < 1e-8


def test_bad_orientations_hold_or_raise():
    """A quaternion that is none: held in a running loop, refused by solve_pose; a wrong count raises."""
    robot = block(rigid=True)
    state = robot.rest()
    for bad in ([0, 0, 0, 0, 0, 0, 0], [0, 0, 0, np.nan, 0, 0, 0], [np.inf, 0, 0, 1, 0, 0, 0]):
        held = Inverse(robot).step(state, plate=bad)
        assert held.status is DecisionStatus.HELD
        assert held.state is state
        with pytest.raises(InputError, match="target of 'plate'"):
            Inverse(robot).solve_pose(plate=bad)
    with pytest.raises(InputError, match="effector 'plate': a target has 6 values"):
        Inverse(robot).step(state, plate=np.zeros(6))


def test_a_tendon_turns_a_hinge():
    """The tip's angle about the base is driven to 0.2 rad by one tendon."""
    mesh = make.box((0.1, 0.016, 0.016), (10, 2, 2))
    body = TetBody(mesh, Corotational(E=300e3, nu=0.4), fixed=mesh.where(x_below=0))
    robot = Robot(body)
    points = [(x, 0.008, 0.014) for x in np.linspace(0.005, 0.095, 5)]
    robot.actuate("tendon", Cable(points, pull=(-0.02, 0.008, 0.014)), effort=(0, 20))
    robot.effect("angle", Hinge(mesh.where(x_above=0.1), point=(0, 0.008, 0.008), axis=(0, -1, 0)))
    step = Inverse(robot).solve_pose(angle=0.2).require()
    assert step.distance < 1e-8
    assert float(step.efforts["tendon"][0]) > 0.5


def soft_arm(bounds=(-150e3, 2e6)):
    """An arm under its weight whose middle third can be stiffened."""
    mesh = make.box((0.1, 0.016, 0.016), (10, 2, 2))
    middle = mesh.nodes[mesh.tets].mean(axis=1)[:, 0]
    body = TetBody(mesh, NeoHookean(E=200e3, nu=0.4), fixed=mesh.where(x_below=0))
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.actuate("jam", Stiffness(middle < 0.05), effort=bounds)
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    return robot


def test_a_modulus_is_found_from_the_tip():
    """The change of modulus that gives a sag is found again, and no step changes the modulus by more than 30 %."""
    robot = soft_arm()
    for change in (600e3, -120e3):
        robot.set_effort("jam", change)
        target = robot.displacement(Statics(robot, tolerance=1e-11).solve().require().state, "tip")
        robot.set_effort("jam", 0.0)
        state = Statics(robot).solve().require().state
        step = Inverse(robot).solve_pose(state, tip=target).require()
        assert float(step.efforts["jam"][0]) == pytest.approx(change, rel=1e-5)
        assert robot.effort(robot.rest(), "jam") == 0.0  # looking for a pose changes nothing
    robot.set_effort("jam", -120e3)
    inverse, state = Inverse(robot, largest_move=1.0), Statics(robot).solve().require().state
    modulus = 200e3 + float(robot.effort(state, "jam")[0])
    for _ in range(6):
        step = inverse.step(state, tip=0.008).require()
        state = step.state
        new = 200e3 + float(step.efforts["jam"][0])
        assert 0.7 * modulus - 1e-6 <= new <= 1.3 * modulus + 1e-6
        modulus = new
    assert modulus == pytest.approx(80e3 * 1.3**6)


def test_a_modulus_does_nothing_without_strain():
    """At rest without weight the modulus has no effect: the decision keeps it, and says so by a finite answer."""
    robot = soft_arm()
    robot.set_gravity((0, 0, 0))
    step = Inverse(robot).step(robot.rest(), tip=0.02).require()
    assert step.efforts["jam"] == pytest.approx([0.0])
    assert np.isfinite(step.state.x).all()


def test_moduli_need_bounds():
    """No bounds, an open end or a modulus below zero: refused, naming port and remedy."""
    for bounds in (None, (-1e3, None), (-200e3, 0), (-300e3, 1e3)):
        with pytest.raises(InputError, match=r"port 'jam': .*E = 200000 Pa.*low > -E"):
            soft_arm(bounds)
    robot = soft_arm()
    with pytest.raises(InputError, match="'jam'"):
        robot.set_effort("jam", -200e3)


def mixed(given, limits=None):
    """An arm with a tendon to decide and one whose length is given."""
    mesh = make.box((0.1, 0.016, 0.016), (10, 2, 2))
    body = TetBody(mesh, Corotational(E=300e3, nu=0.4), fixed=mesh.where(x_below=0))
    robot = Robot(body, gravity=(0, 0, -9.81))
    for name, (y, z) in {"up": (0.008, 0.014), "left": (0.014, 0.008)}.items():
        cable = Cable([(x, y, z) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, y, z))
        if name == "up":
            robot.actuate(name, cable, effort=(0, 20))
        else:
            robot.impose(name, cable, displacement=given, effort_limits=limits)
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    return robot


def test_given_lengths_and_decided_tensions_in_one_solve():
    """One tendon is shortened by 4 mm, the other decided: target reached, length held, equilibrium of the two tensions."""
    robot = mixed(0.004)
    step = Inverse(robot).solve_pose(tip=0.02).require()
    assert step.distance < 1e-8
    assert robot.displacement(step.state, "left") == pytest.approx([0.004], abs=1e-9)
    tension = robot.effort(step.state, "left")
    assert tension[0] > 0.5
    other = mixed(0.0)
    robot = Robot(other.bodies[0], gravity=(0, 0, -9.81))
    for name in ("up", "left"):
        robot.impose(name, other.ports[name].port, effort=robot_effort(step, other, name))
    state = Statics(robot, tolerance=1e-11).solve().require().state
    assert np.abs(state.x - step.state.x).max() < 1e-7


def robot_effort(step, robot, name):
    return step.state.efforts[robot.ports[name].rows]


def test_real_time_steps_with_a_given_length():
    """Steps: the target is approached, the length held as the model predicts it, and a slack tendon stays without tension."""
    robot = mixed(0.003)
    inverse, state = Inverse(robot), Statics(robot).solve().require().state
    for _ in range(8):
        step = inverse.step(state, tip=0.015).require()
        state = step.state
    assert robot.displacement(state, "tip") == pytest.approx([0.015], abs=1e-6)
    assert robot.displacement(state, "left") == pytest.approx([0.003], abs=1e-6)
    robot.set_displacement("left", -0.02)
    for _ in range(8):
        step = inverse.step(state, tip=0.015).require()
        state = step.state
    assert robot.effort(state, "left") == pytest.approx([0.0])
    assert robot.displacement(state, "left")[0] > -0.02
    assert robot.displacement(state, "tip") == pytest.approx([0.015], abs=1e-6)


def test_a_given_length_beyond_its_strength_gives_way():
    """With at most 1 N the length is not reached; the decided tendon still brings the tip to its target."""
    robot = mixed(0.02, (0, 1.0))
    step = Inverse(robot).solve_pose(tip=0.015).require()
    assert robot.effort(step.state, "left") == pytest.approx([1.0])
    assert robot.displacement(step.state, "left")[0] < 0.02
    assert step.distance < 1e-8


def test_dynamic_steps_hold_a_given_length():
    """With a time step: the given length is held along the way or the cable slack, and the target is reached at rest."""
    plain = mixed(0.003)
    body = TetBody(
        plain.bodies[0].mesh,
        Corotational(E=300e3, nu=0.4),
        fixed=plain.bodies[0].mesh.where(x_below=0),
        damping=(20.0, 0.02),
    )
    robot = Robot(body)
    robot.actuate("up", plain.ports["up"].port, effort=(0, 20))
    robot.impose("left", plain.ports["left"].port, displacement=0.0)
    robot.effect("tip", plain.ports["tip"].port)
    inverse, state = Inverse(robot, h=0.01, energy=1e-6), robot.rest()
    for k in range(80):
        robot.set_displacement("left", 0.003 * min(1.0, (k + 1) / 20))
        state = inverse.step(state, tip=0.008 + 0.004 * min(1.0, (k + 1) / 20)).require().state
        short = float((robot.displacement(state, "left") - robot.ports["left"].displacement)[0])
        taut = robot.effort(state, "left")[0] > 0
        assert -5e-5 < short < (5e-5 if taut else np.inf)
    assert taut
    assert robot.displacement(state, "tip") == pytest.approx([0.012], abs=2e-5)
    assert robot.effort(state, "left")[0] > 0.5
