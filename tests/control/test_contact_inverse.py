"""The inverse of robots that touch something: contacts, held ports and efforts decided together, and what gives way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.algebra.qpcc import QpccStatus
from pliant.contact import Plane
from pliant.control import DecisionStatus, Question
from pliant.control.releases import Releases
from pliant.errors import InputError
from pliant.motion import Dynamics
from pliant.robot.roles import Role

H = 0.01
BOX = (0.04, 0.03, 0.02)
G = 9.81


def foot() -> pl.SurfaceMesh:
    """Four points under the middle of the block."""
    corners = np.array([(0.01, 0.01, 0.0), (0.03, 0.01, 0.0), (0.03, 0.02, 0.0), (0.01, 0.02, 0.0)])
    return pl.SurfaceMesh(corners, np.array([(0, 2, 1), (0, 3, 2)]))


def block(*, mu: float = 0.6, above: float = 0.0, ground: bool = True, strength: float = 5.0) -> pl.Robot:
    """A soft block that stands on the ground on four points and that two forces push: along x from its left, and down on its
    top."""
    mesh = pl.make.box(BOX, (3, 2, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=50e3, nu=0.3), density=1000, damping=(1.0, 0.01))
    robot = pl.Robot(body, gravity=(0, 0, -G))
    robot.actuate("push", pl.Force((0.0, 0.015, 0.01), direction=(1, 0, 0)), effort=(-strength, strength))
    robot.actuate("press", pl.Force((0.02, 0.015, 0.02), direction=(0, 0, -1)), effort=(0, strength))
    robot.effect("center", pl.Point(near=(0.02, 0.015, 0.01), axes="xz"))
    if ground:
        robot.touch("ground", Plane(offset=-above, friction=mu), surface=foot())
    return robot


def weight(robot: pl.Robot) -> float:
    return G * float(sum(body.load_masses.sum() for body in robot.bodies))


def settled(inverse: pl.Inverse, steps: int = 40, **targets):
    """The last of so many steps from rest on, with the targets where the effectors were at first."""
    robot, state = inverse.robot, inverse.robot.rest()
    here = {name: robot.displacement(state, name, as_target=True) for name in robot.named(Role.EFFECTOR)}
    for _ in range(steps):
        step = inverse.step(state, **(here | targets)).require()
        state = step.state
    return step


def test_what_touches_or_is_loose_needs_a_time_step():
    """Without one there is no equilibrium to step to; the error says how to give it."""
    with pytest.raises(InputError, match=r"touches something \('ground'\).*h=0.01"):
        pl.Inverse(block())
    with pytest.raises(InputError, match=r"nothing holds the robot.*h=0.01"):
        pl.Inverse(block(ground=False))
    assert pl.Inverse(block(ground=False), h=H).h == H


def test_two_rates_and_poses_do_not_know_contact():
    """They refuse, with what to do instead."""
    with pytest.raises(InputError, match=r"two rates does not know contact.*one rate"):
        Question(block())
    with pytest.raises(InputError, match=r"solve_pose does not know contact.*step"):
        pl.Inverse(block(), h=H).solve_pose(center=(0.02, 0.01))


def test_what_is_asked_of_forces_is_checked():
    """Touches that are not there, and limits that contradict, are named."""
    with pytest.raises(InputError, match=r"no touch 'hand'.*ground"):
        pl.Inverse(block(), h=H, grip={"hand": 1.0})
    with pytest.raises(InputError, match="2 N at least and 1 N at most"):
        pl.Inverse(block(), h=H, grip={"ground": 2.0}, most_force={"ground": 1.0})
    with pytest.raises(InputError, match="touches nothing to grip"):
        pl.Inverse(block(ground=False), h=H, grip={"ground": 1.0})
    with pytest.raises(InputError, match="friction"):
        pl.Inverse(block(), h=H, friction="glue")
    with pytest.raises(InputError, match="search"):
        pl.Inverse(block(), h=H, search="luck")
    with pytest.raises(InputError, match="touches nothing to grip"):
        pl.Inverse(block(ground=False), h=H).estimate_grip(block(ground=False).rest())


def test_far_from_the_ground_it_decides_as_without_it():
    """Where nothing is near, efforts and states are those of the inverse of a robot that touches nothing."""
    near, free = block(above=1.0), block(ground=False)
    ours, theirs = pl.Inverse(near, h=H), pl.Inverse(free, h=H)
    a, b = near.rest(), free.rest()
    for k in range(5):
        target = (0.02 + 2e-4 * k, 0.0101)
        one, two = ours.step(a, center=target), theirs.step(b, center=target)
        for name in one.efforts:
            assert one.efforts[name] == pytest.approx(two.efforts[name], rel=1e-4, abs=1e-6)
        a, b = one.state, two.state
        assert a.x == pytest.approx(b.x, abs=1e-8)
    assert one.contact.open == {"ground": pytest.approx([])}
    assert two.contact is None


@pytest.mark.parametrize("scheme", ["euler", "generalized-alpha"])
@pytest.mark.parametrize("friction", ["cone", "none"])
def test_the_state_that_follows_is_the_one_that_dynamics_takes(scheme, friction):
    """Under the efforts that were decided, forward steps by Coulomb's law lead to the same nodes, velocities and contacts:
    what the inverse takes to stick does."""
    robot = block(mu=5.0 if friction == "cone" else 0.0)
    inverse, state = pl.Inverse(robot, h=H, scheme=scheme, friction=friction), robot.rest()
    forward = Dynamics(robot, H, scheme=scheme)
    for k in range(25):
        _, z = robot.displacement(state, "center")
        step = inverse.step(state, center=(0.02 + (2e-5 if friction == "cone" else 1e-4) * k, z - 1e-5))
        assert step.status in (DecisionStatus.SOLVED, DecisionStatus.REACHED)
        for name, effort in step.efforts.items():
            robot.set_effort(name, effort)
        other = forward.step(state).require().state
        assert step.state.x == pytest.approx(other.x, abs=2e-8)
        assert step.state.v == pytest.approx(other.v, abs=2e-6)
        ours, theirs = step.state.contacts["ground"], other.contacts["ground"]
        assert ours.ids.tolist() == theirs.ids.tolist()
        assert ours.forces.sum(axis=0) == pytest.approx(theirs.forces.sum(axis=0), abs=1e-4)
        state = step.state
    assert len(step.state.contacts["ground"].ids) == 4
    assert step.contact.penetration <= 1e-9


def test_contacts_are_used():
    """A block that sticks is sheared by a push against its contacts; one without friction is pushed along."""
    moved = {}
    for friction in ("stick", "cone", "none"):
        robot = block(strength=0.1)
        step = settled(pl.Inverse(robot, h=H, friction=friction), 60, center=(0.05, 0.01))
        moved[friction] = step.state.x[:, 0].min()
    assert moved["stick"] < 1e-3
    assert moved["cone"] < 1e-3
    assert moved["none"] > 0.02


def ratio(robot: pl.Robot, state: pl.State) -> float:
    """The largest friction over normal force of all contacts."""
    found = robot.contacts(state, "ground")
    return float((np.linalg.norm(found.friction_forces, axis=1) / found.normal_forces).max())


def test_glue_is_outside_the_cone():
    """Sheared by more than its own weight lets it, the block sticks to the ground where that does not matter; with cones it
    does not: named, where it is without one, and within it where it slides."""
    shear, seen = {}, {}
    for friction, sliding in (("stick", False), ("cone", False), ("cone", True)):
        robot = block(mu=0.3)
        inverse = pl.Inverse(robot, h=H, friction=friction, sliding=sliding)
        step = settled(inverse, 30, center=(0.0215, 0.0095))
        seen[friction, sliding] = ratio(robot, step.state)
        shear[friction, sliding] = step
    assert seen["stick", False] > 0.35
    assert not shear["stick", False].relaxed
    assert (seen["cone", False] > 0.3 + 1e-6) == ("friction cones" in shear["cone", False].relaxed)
    assert seen["cone", True] <= 0.3 + 1e-5
    assert not shear["cone", True].relaxed


def test_a_grip_is_met_and_one_that_is_impossible_gives_what_there_is():
    """Normal forces add up to what was asked; where the motors are too weak it is named, the motor gives all that it can, and
    the next step goes on."""
    robot = block(strength=1.0)
    own = weight(robot)
    met = settled(pl.Inverse(robot, h=H, grip={"ground": own + 0.5}))
    assert met.contact.grip["ground"] >= own + 0.5 - 1e-6
    assert not met.relaxed
    weak = settled(pl.Inverse(robot, h=H, grip={"ground": 50.0}))
    assert weak.status is DecisionStatus.RELAXED
    assert weak.relaxed == ("ground force",)
    assert weak.efforts["press"] == pytest.approx([1.0], abs=1e-6)
    assert weak.contact.grip["ground"] == pytest.approx(own + 1.0, rel=0.05)
    assert np.isfinite(weak.state.x).all()
    at_most = settled(pl.Inverse(robot, h=H, most_force={"ground": own + 0.1}), center=(0.02, 0.0))
    assert at_most.contact.grip["ground"] <= own + 0.1 + 1e-6


def test_the_grip_is_estimated_by_holding():
    """At rest on the ground the normal forces add up to the weight and what presses."""
    robot = block()
    inverse = pl.Inverse(robot, h=H)
    state = settled(inverse, 60).state
    least, most = inverse.estimate_grip(state, 0.2, center=robot.displacement(state, "center"))["ground"]
    assert least <= most
    assert least == pytest.approx(weight(robot) + robot.effort(state, "press")[0], rel=0.05)


def test_given_displacements_are_blocks_of_the_same_problem():
    """A port with a given displacement is held beside the contacts, and let go at the limit of what it can bear."""
    for limit, let_go in ((50.0, ()), (0.05, ("lift",))):
        robot = block()
        here = pl.Force((0.04, 0.015, 0.02), direction=(0, 0, 1))
        robot.impose("lift", here, displacement=0.0, effort_limits=(-limit, limit))
        inverse, state = pl.Inverse(robot, h=H), robot.rest()
        for k in range(40):
            robot.set_displacement("lift", 5e-5 * k)
            step = inverse.step(state, center=(0.02, 0.0098)).require()
            state = step.state
        assert step.contact.let_go == let_go
        reached = robot.displacement(state, "lift")[0]
        assert (abs(reached - 5e-5 * 39) < 1e-6) == (not let_go)
        assert abs(robot.effort(state, "lift")[0]) <= limit + 1e-9


def squeezed(rate: float) -> tuple[pl.Robot, pl.Inverse]:
    """A block that a cable through it pulls together, under a ceiling that comes down faster than the motor winds up."""
    mesh = pl.make.box(BOX, (3, 2, 2))
    robot = pl.Robot(
        pl.TetBody(mesh, pl.Corotational(E=50e3, nu=0.3), density=1000, damping=(1.0, 0.01)), gravity=(0, 0, -G)
    )
    cable = pl.Cable([(0.02, 0.015, 0.02), (0.02, 0.015, 0.0)])
    robot.actuate("cable", cable, effort=(0, 20), displacement=(-0.002, 0.01), displacement_rate=rate)
    robot.effect("center", pl.Point(near=(0.02, 0.015, 0.01), axes="z"))
    robot.touch("ground", Plane(friction=0.6))
    robot.touch("ceiling", Plane(normal=(0, 0, -1), offset=-0.0205, friction=0.6))
    return robot, pl.Inverse(robot, h=H)


def test_a_cable_that_contact_outruns_hangs_slack_until_its_motor_has_caught_up():
    """Its limit is dropped and named, it pulls with nothing meanwhile, and it is back when the motor is."""
    robot, inverse = squeezed(rate=0.01)
    state, seen = robot.rest(), []
    for k in range(60):
        robot.move_obstacle("ceiling", (0, 0, -3e-4 * min(k, 12)))
        step = inverse.step(state, center=0.0098).require()
        state = step.state
        seen.append((step.relaxed, step.efforts["cable"][0]))
        assert np.isfinite(state.x).all()
    dropped = [effort for relaxed, effort in seen if relaxed]
    assert {relaxed for relaxed, _ in seen if relaxed} == {("cable displacement rate",)}
    assert max(dropped) < 1e-9  # slack
    assert 12 < len(dropped) < 50
    assert not seen[0][0]
    assert not any(relaxed for relaxed, _ in seen[-10:])


def test_limits_that_cross_under_contact_let_it_come_back():
    """Past a limit the reach is between where it is and as far as the motor goes towards the limit; never empty."""
    rng = np.random.default_rng(0)
    low, high = np.sort(rng.normal(size=(2, 200)), axis=0)
    now, rate = 2 * rng.normal(size=200), rng.uniform(0.01, 2.0, 200)
    own = Releases(np.stack([low, high], axis=1), rate)
    reach = own.reach(now, 1.0)
    assert (reach[:, 0] <= now).all()
    assert (reach[:, 1] >= now).all()
    assert reach[:, 0] == pytest.approx(np.minimum(np.maximum(low, now - rate), now))
    assert reach[:, 1] == pytest.approx(np.maximum(np.minimum(high, now + rate), now))
    assert np.isinf(Releases(np.full((3, 2), (-np.inf, np.inf)), np.full(3, np.inf)).reach(np.zeros(3), None)).all()


def test_a_motor_follows_what_was_released_at_its_own_rate():
    """It is released for as long as the motor takes for the way, and no longer."""
    own = Releases(np.array([[0.0, 10.0]]), np.array([1.0]))
    now, steps = np.array([2.0]), 0
    own.release(0, now)
    while own.released.any():
        reach = own.reach(np.array([5.5]), 1.0)
        own.hold(own.motors.copy(), np.array([5.5]), reach)
        steps += 1
    assert steps == 4
    assert own.missed(np.array([11.0]), np.array([[1.0, 3.0]])) == ("displacement",)
    assert own.missed(np.array([4.0]), np.array([[1.0, 3.0]])) == ("displacement rate",)
    assert own.missed(np.array([2.0]), np.array([[1.0, 3.0]])) == (None,)


def test_targets_out_of_reach_are_told():
    """Far away, and no number: status and remedy, the last efforts or the best ones, and the next step goes on."""
    robot = block(strength=0.3)
    inverse = pl.Inverse(robot, h=H)
    far = settled(inverse, 200, center=(0.5, 0.01))
    assert far.status is DecisionStatus.LIMITED
    assert "push effort" in far.active
    held = inverse.step(far.state, center=(np.nan, 0.01))
    assert held.status is DecisionStatus.HELD
    assert held.efforts["push"] == far.efforts["push"]
    assert inverse.step(held.state, center=(0.0201, 0.01)).ok


def test_every_search_meets_the_conditions_and_none_is_worse_than_its_start():
    """And the exact one is not beaten."""
    values = {}
    for search in ("flips", "paper", "exact"):
        robot = block()
        inverse, state, values[search] = pl.Inverse(robot, h=H, search=search), robot.rest(), []
        for _ in range(6):
            step = inverse.step(state, center=(0.0205, 0.0098)).require()
            contact, state = step.contact, step.state
            assert contact.violation < 1e-8
            assert contact.value <= contact.start
            values[search].append(contact.value)
        assert contact.search is (QpccStatus.LOCAL if search == "paper" else QpccStatus.EXACT)
    assert values["exact"][0] <= min(values["flips"][0], values["paper"][0]) * (1 + 1e-9)


def test_another_state_is_a_new_beginning():
    """Where motors of released actuators are belongs to a course of steps; a state of another time forgets it."""
    robot, inverse = squeezed(rate=1e-4)
    state, motors = inverse.step(robot.rest(), center=0.01).require().state, inverse._contact.decider.releases.motors
    motors[:] = -0.005
    inverse.step(state, center=0.01)
    assert motors == pytest.approx([-0.005], abs=1e-5)
    inverse.step(replace(robot.rest(), time=100.0), center=0.01)
    assert np.isnan(motors).all() or abs(motors[0]) < 1e-4
