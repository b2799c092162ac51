"""The inverse model: targets reached, limits kept, least work, the closest point, bad targets."""

from __future__ import annotations

import numpy as np
import pytest

from hollow import hollow_box
from pliant import (
    Cable,
    Cavity,
    Corotational,
    Force,
    Inverse,
    Lattice,
    NeoHookean,
    Point,
    Robot,
    SpringBody,
    Statics,
    TetBody,
    make,
    solids,
)
from pliant.control import DecisionStatus
from pliant.errors import InputError

MESH = make.box((0.1, 0.016, 0.016), (10, 2, 2))
TENDONS = {"up": (0.008, 0.014), "down": (0.008, 0.002), "left": (0.014, 0.008), "right": (0.002, 0.008)}


def solid(kind):
    """The arm's body: tets of order 1 or 2, or a voxel or best-candidate lattice of springs."""
    if isinstance(kind, int):
        law = Corotational(E=300e3, nu=0.4)
        return TetBody(MESH, law, density=1100, order=kind, fixed=MESH.where(x_below=0))
    lattice = Lattice.voxels(MESH, 0.004) if kind == "voxels" else Lattice.scattered(MESH, 0.004)
    return SpringBody(lattice, 300e3, 1100, fixed=lattice.where(x_below=0))


def arm(names=("up", "down", "left", "right"), effort=(0, 20), axes="xyz", kind=1, **limits):
    """A silicone arm with tendons along it."""
    body = solid(kind)
    robot = Robot(body, gravity=(0, 0, -9.81))
    for name in names:
        y, z = TENDONS[name]
        points = [(x, y, z) for x in np.linspace(0.005, 0.095, 5)]
        robot.actuate(name, Cable(points, pull=(-0.02, y, z)), effort=effort, **limits)
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes=axes))
    return robot


tets_and_springs = pytest.mark.parametrize("kind", [1, "voxels"], ids=["tets", "springs"])


def tip(robot, state):
    return robot.displacement(state, "tip")


def converged(robot):
    return Statics(robot, tolerance=1e-11).solve().require().state


@pytest.mark.parametrize("kind", [1, 2, "voxels", "scattered"])
def test_reachable_poses_are_found_again(kind):
    """Tips made by forward runs at hidden tensions are reached to 1e-8 m, and the tensions found where they are unique."""
    robot = arm(names=("up", "left"), axes="yz", kind=kind)
    inverse = Inverse(robot)
    for tensions in ((1.0, 0.5), (0.3, 1.5)):
        robot.set_effort("up", tensions[0])
        robot.set_effort("left", tensions[1])
        target = tip(robot, converged(robot))
        robot.set_effort("up", 0.0)
        robot.set_effort("left", 0.0)
        step = inverse.solve_pose(tip=target).require()
        assert step.distance < 1e-8
        assert [float(step.efforts["up"][0]), float(step.efforts["left"][0])] == pytest.approx(tensions, rel=1e-4)
        assert not step.active


@tets_and_springs
def test_real_time_steps_follow_a_slow_circle(kind):
    """One linearization per step at 0.5 mm per step stays within 0.1 mm of the nonlinear equilibrium, within limits."""
    robot = arm(effort=(0, 4), kind=kind)
    inverse, state = Inverse(robot), converged(robot)
    home = tip(robot, state)
    for k in range(1, 101):
        angle = 2 * np.pi * k / 100
        target = home + np.array([-0.0005, 0.008 * np.sin(angle), 0.008 * (1 - np.cos(angle))])
        step = inverse.step(state, tip=target).require()
        state = step.state
        assert all(0 <= float(e[0]) <= 4 for e in step.efforts.values())
        assert step.solution.dual < 1e-8
    still = Statics(robot, tolerance=1e-10)
    for name, effort in step.efforts.items():
        robot.set_effort(name, effort)
    assert np.linalg.norm(tip(robot, still.solve(state).require().state) - tip(robot, state)) < 1e-4


@tets_and_springs
def test_unreachable_targets_end_at_the_closest_point(kind):
    """A target out of reach: scipy's optimizer on the same nonlinear equilibria finds no closer tip, to 1e-6 m."""
    from scipy.optimize import minimize

    robot = arm(names=("up", "left"), effort=(0, 1.5), kind=kind)
    target = np.array([0.12, 0.05, 0.06])
    step = Inverse(robot).solve_pose(tip=target)
    assert step.ok
    assert step.active
    start = step.state

    def distance(tensions):
        robot.set_effort("up", tensions[0])
        robot.set_effort("left", tensions[1])
        return float(np.linalg.norm(tip(robot, Statics(robot, tolerance=1e-11).solve(start).require().state) - target))

    best = minimize(
        distance, [1.0, 1.0], bounds=[(0, 1.5)] * 2, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10}
    )
    assert step.distance <= best.fun + 1e-6
    assert step.distance == pytest.approx(distance([float(step.efforts[n][0]) for n in ("up", "left")]), abs=1e-9)


def test_far_targets_are_approached_in_parts(rng):
    """Targets half a robot away, thrown about: no node ever moves by more than a twentieth of the robot in a step, nothing
    turns inside out, and back home the robot hangs as before. Without the limit the first such step throws it out."""
    robot = arm(effort=(0, 4))
    inverse, rest = Inverse(robot), converged(robot)
    state, seen = rest, set()
    for _ in range(6):
        target = tip(robot, rest) + 0.05 * rng.normal(size=3)
        for _ in range(25):
            step = inverse.step(state, tip=target).require()
            assert np.abs(step.state.x - state.x).max() <= 0.05 * 0.1 * (1 + 1e-9)
            assert step.share == 1 or step.status is DecisionStatus.SLOWED
            assert step.unbalanced <= 0.01 or step.status is DecisionStatus.SLOWED
            assert all(0 <= float(e[0]) <= 4 for e in step.efforts.values())
            state = step.state
            seen.add(step.status)
        assert not len(robot.bodies[0].inverted_elements(robot.nodes(state)))
    assert DecisionStatus.SLOWED in seen
    for _ in range(80):
        state = inverse.step(state, tip=tip(robot, rest)).require().state
    assert np.linalg.norm(tip(robot, state) - tip(robot, rest)) < 1e-6
    target = tip(robot, rest) + np.array([0.0, 0.05, 0.05])
    thrown = Inverse(robot, largest_move=np.inf).step(rest, tip=target).state
    assert np.abs(thrown.x - rest.x).max() > 0.02


@tets_and_springs
def test_redundant_actuators_do_the_least_work(kind):
    """With four tendons for two directions, no other tensions with the same tip need less energy: opposite tendons do not
    pull against each other, and the answer does not depend on where it started."""
    robot = arm(axes="yz", kind=kind)
    inverse = Inverse(robot)
    target = tip(robot, converged(robot)) + np.array([0.004, 0.006])
    steps = [inverse.solve_pose(tip=target).require()]
    for name in TENDONS:
        robot.set_effort(name, 0.7)
    steps.append(inverse.solve_pose(converged(robot), tip=target).require())
    for step in steps:
        assert step.distance < 1e-7
        assert min(float(step.efforts["up"][0]), float(step.efforts["down"][0])) < 1e-3
        assert min(float(step.efforts["left"][0]), float(step.efforts["right"][0])) < 1e-3
    for name in TENDONS:
        assert steps[0].efforts[name] == pytest.approx(steps[1].efforts[name], abs=1e-4)


@tets_and_springs
def test_commands_do_not_jump_when_actuators_are_redundant(kind):
    """Along a smooth path the tensions change by little per step, also where tendons come and go."""
    robot = arm(axes="yz", kind=kind)
    inverse, state = Inverse(robot), converged(robot)
    home, commands = tip(robot, state), []
    for k in range(80):
        angle = 2 * np.pi * k / 80
        step = inverse.step(state, tip=home + 0.006 * np.array([np.cos(angle) - 1, np.sin(angle)])).require()
        state = step.state
        commands.append([float(e[0]) for e in step.efforts.values()])
    changes = np.abs(np.diff(commands, axis=0)).max(axis=1)[2:]
    assert changes.max() < 4 * np.median(changes)


def test_courses_and_rates_are_kept():
    """Displacement limits hold in the model's prediction, and rates bound every change, also towards a far target."""
    robot = arm(names=("up", "left"), displacement=(-0.01, 0.004), effort_rate=2.0)
    inverse, state = Inverse(robot), converged(robot)
    last = np.zeros(2)
    for _ in range(25):
        step = inverse.step(state, interval=0.05, tip=(0.08, 0.06, 0.06)).require()
        efforts = np.array([float(e[0]) for e in step.efforts.values()])
        assert np.abs(efforts - last).max() <= 2.0 * 0.05 + 1e-9
        taken_in = np.array([float(robot.displacement(step.state, name)[0]) for name in ("up", "left")])
        assert taken_in.max() < 0.004 + 2e-4
        last, state = efforts, step.state
    assert any("displacement" in name for name in step.active)


def test_contradicting_limits_are_relaxed_for_the_actuators_that_they_are_of():
    """The arm falls, and no tension in range keeps the upper tendon as slow as it must be; the left one it does. What was
    dropped is named, and the effort limits still hold."""
    robot = arm(names=("up", "left"), effort=(0, 1e-3), displacement_rate=1e-3)
    step = Inverse(robot, largest_move=np.inf).step(robot.rest(), interval=0.01, tip=(0.1, 0.008, 0.02))
    assert step.status is DecisionStatus.RELAXED
    assert step.relaxed == ("up displacement rate",)
    assert abs(float(step.displacements["left"][0])) <= 1e-5 * (1 + 1e-6)
    assert abs(float(step.displacements["up"][0])) > 1e-4
    for name in ("up", "left"):
        assert 0 <= float(step.efforts[name][0]) <= 1e-3


def test_what_was_dropped_once_counts_again():
    """After a decision without a limit that contradicted, the next one keeps it."""
    robot = arm(names=("up", "left"), effort=(0, 5), displacement_rate=1e-3)
    inverse, state = Inverse(robot), converged(robot)
    fallen = Inverse(arm(names=("up", "left"), effort=(0, 1e-3), displacement_rate=1e-3))
    assert fallen.step(fallen.robot.rest(), interval=0.01, tip=(0.1, 0.008, 0.02)).status is DecisionStatus.RELAXED
    lying = converged(fallen.robot)
    again = fallen.step(lying, interval=0.01, tip=tip(fallen.robot, lying))
    assert (again.status, again.relaxed) == (DecisionStatus.REACHED, ())
    assert inverse.step(robot.rest(), interval=1e-6, tip=tip(robot, state)).status is DecisionStatus.RELAXED
    before = float(robot.displacement(state, "up")[0])
    step = inverse.step(state, interval=0.01, tip=tip(robot, state) + np.array([0, 0, 0.01]))
    assert step.status is DecisionStatus.SOLVED
    assert step.relaxed == ()
    assert float(step.displacements["up"][0]) == pytest.approx(before + 1e-5, abs=1e-9)


def test_a_limit_that_the_robot_was_pushed_past_does_not_throw_it_back():
    """Where a cable is out of its range already, that is no contradiction: it may stay there, and need not jump back."""
    robot = arm(names=("up",), effort=(0, 0.5), displacement=(0.02, 0.03))
    state = converged(robot)
    before = float(robot.displacement(state, "up")[0])
    step = Inverse(robot).step(state, tip=tip(robot, state))
    assert step.status is DecisionStatus.REACHED
    assert float(step.displacements["up"][0]) == pytest.approx(before, abs=1e-6)
    higher = Inverse(robot).step(state, tip=tip(robot, state) + np.array([0, 0, 0.002]))
    assert higher.ok
    assert before < float(higher.displacements["up"][0]) < 0.02
    lower = Inverse(robot).step(higher.state, tip=tip(robot, state))
    assert float(lower.displacements["up"][0]) >= float(robot.displacement(higher.state, "up")[0]) - 1e-9, (
        "not farther out"
    )


def test_imposed_and_decided_efforts_mix():
    """A given load and tendons in one solve: the tendon makes up for the load."""
    robot = arm(names=("up", "down"), axes="z")
    robot.impose("load", Force((0.1, 0.008, 0.008), direction=(0, 0, -1)), effort=0.0)
    inverse = Inverse(robot)
    target = tip(robot, converged(robot)) + 0.003
    without = inverse.solve_pose(tip=target).require()
    robot.set_effort("load", 0.05)
    loaded = inverse.solve_pose(tip=target).require()
    assert loaded.distance < 1e-8
    assert float(loaded.efforts["up"][0]) > float(without.efforts["up"][0]) + 0.1


def test_pressure_is_recovered():
    """A pneumatic finger: hidden pressures are found from the tip, to 0.1 %."""
    chamber = solids.box((0.06, 0.008, 0.004), at=(0.02, 0.004, 0.008))
    mesh = hollow_box((0.1, 0.016, 0.016), (10, 4, 4), chamber)
    body = TetBody(mesh, NeoHookean(E=200e3, nu=0.4), fixed=mesh.where(x_below=0))
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.actuate("air", Cavity(chamber), effort=(0, 60e3))
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008)))
    for pressure in (5e3, 25e3):
        robot.set_effort("air", pressure)
        target = tip(robot, converged(robot))
        robot.set_effort("air", 0.0)
        step = Inverse(robot).solve_pose(tip=target).require()
        assert float(step.efforts["air"][0]) == pytest.approx(pressure, rel=1e-3)
        assert step.distance < 1e-5


def test_dynamic_steps_arrive_at_the_static_answer():
    """Stepping with time steps of 5 and 20 ms and damping ends at the tensions of the static inverse."""
    ends = []
    for h in (0.005, 0.02):
        body = TetBody(MESH, Corotational(E=300e3, nu=0.4), fixed=MESH.where(x_below=0), damping=(20.0, 0.02))
        robot = Robot(body)
        for name in ("up", "left"):
            y, z = TENDONS[name]
            robot.actuate(name, Cable([(0.05, y, z), (0.095, y, z)], pull=(-0.02, y, z)), effort=(0, 20))
        robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="yz"))
        inverse, state = Inverse(robot, h=h, energy=1e-6), robot.rest()
        for _ in range(round(0.8 / h)):
            step = inverse.step(state, tip=(0.011, 0.012)).require()
            state = step.state
        static = Inverse(robot).solve_pose(tip=(0.011, 0.012)).require()
        ends.append([float(step.efforts[n][0]) for n in ("up", "left")])
        assert ends[-1] == pytest.approx([float(static.efforts[n][0]) for n in ("up", "left")], rel=2e-2)


def test_a_target_that_is_no_number_holds_the_last_command():
    """NaN and infinite targets are refused: state and efforts stay as they were."""
    robot = arm()
    inverse = Inverse(robot)
    before = inverse.step(converged(robot), tip=(0.1, 0.01, 0.005)).require()
    for bad in (np.nan, np.inf):
        held = inverse.step(before.state, tip=(0.1, bad, 0.0))
        assert held.status is DecisionStatus.HELD
        assert held.state is before.state
        assert all(np.array_equal(held.efforts[name], before.efforts[name]) for name in TENDONS)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda r: Inverse(Robot(r.bodies[0])), "has no actuator"),
        (lambda r: Inverse(r, energy=0.0), "energy is 0.0"),
        (lambda r: Inverse(r).step(r.rest(), tp=(0, 0, 0)), "no effector 'tp'"),
        (lambda r: Inverse(r).step(r.rest()), "'tip' has no target"),
        (lambda r: Inverse(r).step(r.rest(), tip=(0, 0)), "has 2 values"),
        (lambda r: r.actuate("x", Cable([(0, 0, 0), (0.1, 0, 0)]), effort=(3, 1)), "contradict: 3.0 > 1.0"),
        (lambda r: r.actuate("x", Cable([(0, 0, 0), (0.1, 0, 0)]), effort_rate=0.0), "effort_rate of 'x'"),
        (lambda r: r.effect("x", Point(near=(0, 0, 0)), weight=-1), "weight of 'x'"),
        (lambda r: r.set_effort("tip", 1.0), "is a effector|is an effector"),
    ],
)
def test_bad_input_is_named(action, message):
    """Each mistake raises an InputError that names it, before anything runs."""
    with pytest.raises(InputError, match=message):
        action(arm())


@pytest.mark.parametrize("interval", [-0.02, np.nan, np.inf, -np.inf])
def test_an_interval_that_is_none_holds_the_efforts(interval):
    """A clock that was set back, or is no number, neither lets cables push nor drops the limits of rates."""
    robot = Robot(TetBody(MESH, Corotational(E=300e3, nu=0.4), fixed=MESH.where(x_below=0)))
    robot.actuate(
        "up", Cable([(0.01, 0.008, 0.014), (0.09, 0.008, 0.014)], pull=(-0.02, 0.008, 0.014)), effort_rate=2.0
    )
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008)))
    inverse, state = Inverse(robot), robot.rest()
    target = robot.displacement(state, "tip") + np.array([0, 0, 0.01])
    state = inverse.step(state, tip=target, interval=0.1).require().state
    assert robot.effort(state, "up") == pytest.approx([0.2])
    step = inverse.step(state, tip=target, interval=interval)
    assert step.status is DecisionStatus.HELD
    assert step.state is state
    assert step.efforts["up"] == pytest.approx([0.2])
    with pytest.raises(InputError, match="interval is"):
        step.require()
    assert robot.effort(inverse.step(state, tip=target, interval=0.0).require().state, "up") == pytest.approx([0.2])
    with pytest.raises(InputError, match="interval is 'soon'"):
        inverse.step(state, tip=target, interval="soon")


def test_a_dynamic_step_that_would_tear_the_robot_is_not_taken():
    """With absurd limits and a time step, elements stay whole, or the step fails and holds."""
    robot = Robot(TetBody(MESH, Corotational(E=300e3, nu=0.4), fixed=MESH.where(x_below=0)))
    robot.actuate("push", Force((0.1, 0.008, 0.008), direction=(-1, 0, 0.1)), effort=(-1e5, 1e5))
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008)))
    inverse, state = Inverse(robot, h=0.01), robot.rest()
    words = set()
    for _ in range(5):
        step = inverse.step(state, tip=(-2.0, 0.008, 3.0))
        words.add(step.status)
        state = step.state
        assert not len(robot.bodies[0].inverted_elements(state.x))
    assert words <= {DecisionStatus.SLOWED, DecisionStatus.FAILED}
