"""Where robots begin: at rest by statics, by damped motion where no supports hold them, or as they were made in free fall."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from pliant import Cable, Corotational, Dynamics, Frame, NeoHookean, Point, Robot, Statics, TetBody, make, settled
from pliant.device import SimulatedPlant
from pliant.errors import NotConvergedError, SupportError
from pliant.motion import Status, beginning
from pliant.view import Page
from pliant.view.page.session import Session

G = 9.81
MESH = make.box((0.1, 0.016, 0.016), (10, 2, 2))
LAW = Corotational(E=300e3, nu=0.4)


def node(*place):
    return int(np.linalg.norm(MESH.nodes - place, axis=1).argmin())


def bar(*, law=LAW, gravity=True, **supports):
    """A bar along x of 28 g."""
    body = TetBody(MESH, law, density=1100, damping=(0.0, 0.02), **supports)
    return Robot(body, gravity=(0, 0, -G if gravity else 0))


def inner_cable():
    """Along the bar, from one end to the other, above its axis: it bends the bar and holds it nowhere."""
    return Cable([(x, 0.008, 0.014) for x in np.linspace(0.005, 0.095, 5)])


def weight(robot):
    return G * robot.equations.masses.sum()


def test_what_supports_hold_settles_by_statics():
    """The same state as that of Statics, to the last digit."""
    robot = bar(fixed=MESH.where(x_below=0))
    robot.impose("rope", inner_cable(), effort=0.5)
    result = settled(robot)
    assert result.status is Status.CONVERGED
    assert np.array_equal(result.state.x, Statics(robot).solve().require().state.x)
    assert np.array_equal(beginning(robot).x, result.state.x)


def test_what_cannot_settle_says_why():
    """A load that no material bears is an error at the beginning, not a state."""
    robot = bar(law=NeoHookean(E=1e3, nu=0.4), fixed=MESH.where(x_below=0))
    robot.impose("pull", Point(near=(0.1, 0.008, 0.008)), effort=(1e4, 0, 0))
    assert not settled(robot).ok
    with pytest.raises(NotConvergedError):
        beginning(robot)


def test_free_fall_has_no_rest():
    """Status LOOSE, and the state is the one that the robot was made in, from which a motion may begin."""
    robot = bar()
    result = settled(robot)
    assert result.status is Status.LOOSE
    assert not result.ok
    assert np.array_equal(result.state.x, robot.rest().x)
    assert not result.state.v.any()
    assert np.array_equal(beginning(robot).x, robot.rest().x)
    with pytest.raises(NotConvergedError, match="out of balance"):
        result.require()
    with pytest.raises(SupportError):
        Statics(robot).solve()


def test_one_part_that_falls_is_enough():
    """Two bodies, of which supports hold only one."""
    far = MESH.translated((0, 0.1, 0))
    held, free = TetBody(MESH, LAW, density=1100, fixed=MESH.where(x_below=0)), TetBody(far, LAW, density=1100)
    robot = Robot({"held": held, "free": free}, gravity=(0, 0, -G))
    assert not robot.is_supported
    assert settled(robot).status is Status.LOOSE
    robot.set_gravity((0, 0, 0))
    assert settled(robot).status is Status.CONVERGED


def test_without_loads_a_free_body_rests_where_it_is():
    """Nothing moves it, so it is at rest at once."""
    robot = bar(gravity=False)
    result = settled(robot)
    assert result.status is Status.CONVERGED
    assert np.abs(result.state.x - robot.rest().x).max() < 1e-15


def test_a_free_body_under_an_inner_effort_takes_the_shape_of_a_held_one():
    """In space a taut inner cable bends the bar; held at six degrees of freedom, where nothing pulls, it has that shape."""
    free = bar(gravity=False)
    free.impose("rope", inner_cable(), effort=2.0)
    result = settled(free)
    assert result.status is Status.CONVERGED
    a, b, c = node(0, 0, 0), node(0.1, 0, 0), node(0, 0.016, 0)
    held = bar(gravity=False, fixed=[a], sliding=[([b], (0, 1, 0)), ([b], (0, 0, 1)), ([c], (0, 0, 1))])
    held.impose("rope", inner_cable(), effort=2.0)
    state = Statics(held, tolerance=1e-11).solve().require().state
    assert np.abs(held.reactions(state)).max() < 1e-8
    assert np.abs(pdist(result.state.x) - pdist(state.x)).max() < 1e-8
    assert np.abs(pdist(result.state.x) - pdist(free.rest().x)).max() > 1e-3
    centre = free.equations.masses @ result.state.x
    assert centre == pytest.approx(free.equations.masses @ free.rest().x, rel=1e-6)


def test_three_points_that_are_held_are_three_points_that_are_fixed():
    """Imposed displacements hold a body without supports as fixed nodes do, and their efforts carry its weight."""
    places = [(0, 0, 0), (0.1, 0, 0), (0, 0.016, 0)]
    robot = bar()
    for k, place in enumerate(places):
        robot.impose(f"held {k}", Point(near=place), displacement=place)
    result = settled(robot)
    assert result.status is Status.CONVERGED
    fixed = Statics(bar(fixed=[node(*place) for place in places])).solve().require().state
    assert np.abs(fixed.x - robot.rest().x).max() > 1e-3
    assert np.abs(result.state.x - fixed.x).max() < 1e-9
    efforts = sum(robot.effort(result.state, f"held {k}") for k in range(3))
    assert efforts == pytest.approx([0, 0, weight(robot)], abs=1e-8)


def test_a_pose_that_is_held_is_a_support():
    """A frame at one end, turned: the wrench carries weight and lever of the bar, and the rest hangs from it."""
    robot = bar()
    half = np.deg2rad(15)
    pose = np.array([0, 0.008, 0.01, np.cos(half), 0, np.sin(half), 0])  # its nose down by 30 degrees
    robot.impose("end", Frame(MESH.where(x_below=0)), displacement=pose)
    state = settled(robot).require().state
    assert robot.displacement(state, "end", as_target=True) == pytest.approx(pose, abs=1e-8)
    wrench = robot.effort(state, "end")
    assert wrench[:3] == pytest.approx([0, 0, weight(robot)], abs=1e-7)
    masses = robot.equations.masses
    lever = masses @ state.x / masses.sum() - robot.displacement(state, "end")[:3]
    assert wrench[3:] == pytest.approx(np.cross(lever, [0, 0, weight(robot)]), abs=1e-7)


def test_hung_by_one_point_it_hangs_below():
    """One point leaves it free to turn: it comes to rest with its middle straight below."""
    robot = bar()
    robot.impose("nail", Point(near=(0, 0.008, 0.008)), displacement=(0, 0.008, 0.008))
    state = settled(robot).require().state
    masses = robot.equations.masses
    middle = masses @ state.x / masses.sum() - (0, 0.008, 0.008)
    assert np.abs(middle[:2]).max() < 1e-6
    assert middle[2] < -0.04
    assert robot.effort(state, "nail") == pytest.approx([0, 0, weight(robot)], abs=1e-7)


def hung_by_cables():
    """By two cables of given length from above, as on a spring: they pull and do not push."""
    robot = bar()
    for k, x in enumerate((0.005, 0.095)):
        robot.impose(f"line {k}", Cable([(x, 0.008, 0.008)], pull=(x, 0.008, 0.1)), displacement=0.0)
    return robot


def test_cables_hold_their_share():
    """Half the weight in each of two lines."""
    robot = hung_by_cables()
    state = settled(robot).require().state
    assert state.efforts == pytest.approx(np.full(2, 0.5 * weight(robot)), rel=1e-7)


def falling(*, follows=True):
    robot = bar()
    robot.actuate("rope", inner_cable(), effort=(0, 5))
    if follows:
        robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    else:
        robot.sense("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    return robot


@pytest.mark.parametrize("h", [0.002, 0.01])
def test_a_plant_falls(h):
    """A plant that nothing holds falls by g: g (t^2 + h^2) / 2, off by what the first step has from backward Euler, whose n
    steps give g h^2 n (n + 1) / 2, off by g t h / 2."""
    steps = 20
    for scheme, way in (("generalized-alpha", steps**2 + 1), ("euler", steps * (steps + 1))):
        plant = SimulatedPlant(falling(), h, scheme=scheme)
        height = plant.truth()[0]
        assert plant.advance(np.zeros(1), steps * h) == steps
        assert plant.failures == 0
        assert plant.truth()[0] - height == pytest.approx(-0.5 * G * h**2 * way, rel=1e-9)
        assert plant.state.v == pytest.approx(np.tile([0, 0, -G * steps * h], (len(plant.state.x), 1)), abs=1e-9)


def test_a_plant_falls_as_far_while_its_cable_pulls():
    """An inner effort bends the bar and does not change how its middle falls."""
    plant = SimulatedPlant(falling(), 0.005, settling=0.0, method="newton")
    masses = plant.robot.equations.masses
    before = masses @ plant.state.x / masses.sum()
    shape = pdist(plant.state.x)
    plant.advance(np.array([3.0]), 0.1)
    after = masses @ plant.state.x / masses.sum()
    assert after - before == pytest.approx([0, 0, -0.5 * G * (0.1**2 + 0.005**2)], abs=1e-7)
    assert np.abs(pdist(plant.state.x) - shape).max() > 1e-3


def test_a_plant_hangs_by_what_is_imposed():
    """Begun at rest on its lines, a plant stays there."""
    robot = hung_by_cables()
    robot.sense("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    robot.actuate("rope", inner_cable(), effort=(0, 5))
    plant = SimulatedPlant(robot, 0.01)
    height = plant.truth()[0]
    plant.advance(np.zeros(1), 0.2)
    assert plant.truth()[0] == pytest.approx(height, abs=1e-9)
    assert plant.robot.effort(plant.state, "line 0") == pytest.approx([0.5 * weight(robot)], rel=1e-6)


@pytest.mark.parametrize("follows", [True, False])
def test_a_page_shows_a_robot_that_falls(follows):
    """Its session begins LOOSE, moves by g from step to step, tells that nothing holds the robot, and Reset brings it back."""
    robot = falling(follows=follows)
    session = Session(robot, rate=100.0)
    first = session.snapshot
    assert first.outcome.word == "LOOSE"
    assert "nothing holds it" in first.outcome.remedy
    masses = robot.equations.masses
    for _ in range(10):
        snapshot = session.advance()
        assert snapshot.outcome.ok
        assert "no supports hold the robot" in snapshot.outcome.remedy
    fallen = masses @ (snapshot.state.x - first.state.x) / masses.sum()
    way = 10 * 11 if follows else 10**2 + 1  # the inverse decides by backward Euler
    assert fallen == pytest.approx([0, 0, -0.5 * G * 0.01**2 * way], abs=1e-7)
    session.reset()
    assert np.array_equal(session.snapshot.state.x, first.state.x)
    session.end()


def test_a_page_shows_a_robot_held_by_what_is_imposed():
    """It begins at rest, stays there, follows a load, and hangs lower when its lines are let out."""
    robot = hung_by_cables()
    robot.sense("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    session = Session(robot)
    first = session.snapshot
    assert first.outcome.word == "READY"
    height = robot.displacement(first.state, "tip")[0]
    for _ in range(5):
        snapshot = session.advance()
        assert snapshot.outcome.word == "MOVING"
    assert robot.displacement(snapshot.state, "tip")[0] == pytest.approx(height, abs=1e-8)
    for k in range(2):
        session.give(f"line {k}", [-0.002])
    for _ in range(60):
        snapshot = session.advance()
    assert snapshot.outcome.ok
    assert robot.displacement(snapshot.state, "tip")[0] == pytest.approx(height - 0.002, abs=1e-5)
    session.end()


def test_effectors_follow_on_a_robot_held_by_what_is_imposed():
    """With a frame held at one end the cable lifts the other end to its target, by dynamics."""
    robot = bar()
    robot.impose("end", Frame(MESH.where(x_below=0)), displacement=(0, 0.008, 0.008, 1, 0, 0, 0))
    robot.actuate("rope", inner_cable(), effort=(0, 8))
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    session = Session(robot)
    assert session.snapshot.outcome.word == "READY"
    goal = session.snapshot.wish.targets["tip"] + 0.003
    session.aim("tip", goal)
    for _ in range(60):
        snapshot = session.advance()
        assert snapshot.outcome.ok
    assert robot.displacement(snapshot.state, "tip") == pytest.approx(goal, abs=1e-5)
    held = robot.displacement(snapshot.state, "end", as_target=True)
    assert held == pytest.approx([0, 0.008, 0.008, 1, 0, 0, 0], abs=1e-5)
    session.end()


def test_a_page_of_a_robot_in_free_fall_opens():
    """The whole page, with its sliders: their ranges come from a short step where there is no statics."""
    with Page(falling(follows=False), title="falls") as page:
        page.open(port=8850)
        assert page.session.snapshot.outcome.ok


def test_dynamics_begin_where_they_settled():
    """From the settled state nothing moves any more, whatever holds it."""
    robot = hung_by_cables()
    state = beginning(robot)
    after = Dynamics(robot, 0.01, method="newton").step(state).require().state
    assert np.abs(after.v).max() < 1e-8
