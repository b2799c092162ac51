"""Targets on a page that are more or less than a place: poses, chosen axes, given displacements; no browser."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.control.trajectory import Line
from pliant.errors import InputError
from pliant.view import Page
from pliant.view.page.bars import actuator_bars
from pliant.view.page.grips import Grasp, active_axes, grasps_of
from pliant.view.page.loads import given_range, load_ranges
from pliant.view.page.poses import between, row_value, with_position, with_row_value
from pliant.view.page.session import Session
from pliant.view.page.status import status_text

PUSHES = {
    "a": ((0.06, 0.0, 0.0), (0, 1, 0)),
    "b": ((0.06, 0.0, 0.0), (0, 0, 1)),
    "c": ((0.06, 0.03, 0.0), (1, 0, 0)),
    "d": ((0.06, 0.03, 0.03), (0, 0, 1)),
    "e": ((0.06, 0.0, 0.03), (1, 0, 0)),
    "f": ((0.06, 0.03, 0.03), (1, 1, 0)),
}


def block(rows="x y z rx ry rz"):
    """A block with a rigid plate at its end, six forces on the plate, and the plate's frame as effector."""
    mesh = pl.make.box((0.06, 0.03, 0.03), (6, 3, 3))
    end = mesh.where(x_above=0.06)
    body = pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.4), fixed=mesh.where(x_below=0), rigid={"plate": end})
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    for name, (place, direction) in PUSHES.items():
        robot.actuate(name, pl.Force(place, direction=direction), effort=(-10, 10))
    robot.effect("plate", pl.Frame("plate", rows=rows))
    return robot


def arm(*, effector=True, axes="z", given=0.004):
    """An arm along x with a tendon above its axis to decide, and one beside it whose length is given."""
    mesh = pl.make.box((0.1, 0.016, 0.016), (10, 2, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1000, fixed=mesh.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    for name, (y, z) in {"up": (0.008, 0.014), "left": (0.014, 0.008)}.items():
        cable = pl.Cable([(x, y, z) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, y, z))
        if name == "up":
            robot.actuate(name, cable, effort=(0, 20))
        else:
            robot.impose(name, cable, displacement=given)
    if effector:
        robot.effect("tip", pl.Point(near=(0.1, 0.008, 0.008), axes=axes))
    return robot


def test_a_pose_where_the_robot_would_not_stay_is_not_taken():
    """Forces that keep their direction let the block snap at about 0.2 rad: it rests before, and stability is named."""
    session = Session(block())
    home = session.snapshot.wish.targets["plate"]
    turn = exponential([0.1, 0.0, 0.3]) @ from_quaternion(home[3:])
    session.aim("plate", np.array([*(home[:3] + np.array([0, 0.002, 0])), *to_quaternion(turn)]))
    for _ in range(150):
        snapshot = session.advance()
    assert (snapshot.outcome.word, snapshot.outcome.active) == ("LIMITED", ("stability",))
    assert 0.05 < snapshot.errors["plate angle"] < 0.2
    assert session.robot.unbalanced(snapshot.state) < 1e-6
    assert 0.0 < snapshot.outcome.margin < 0.1
    text = status_text(session.measures, snapshot, size=session.size, rate=50.0, wanted=50.0, spent=0.0)
    assert f"{100 * snapshot.outcome.margin:.0f} % of stability left" in text
    assert "held back by: stability" in text


def test_a_plate_follows_position_and_orientation():
    """A pose 2 mm and 0.15 rad away is approached in steps that turn by no more than 2 rad per second, and is reached; the
    distance and the angle are told apart."""
    session = Session(block())
    home = session.snapshot.wish.targets["plate"]
    assert home.shape == (7,)
    turn = exponential([0.05, 0.0, 0.15]) @ from_quaternion(home[3:])
    target = np.array([*(home[:3] + np.array([0, 0.002, 0])), *to_quaternion(turn)])
    session.aim("plate", target)
    angle = session.snapshot.errors["plate angle"]
    assert angle == pytest.approx(np.hypot(0.05, 0.15))
    assert session.snapshot.errors["plate"] == pytest.approx(0.002)
    for _ in range(60):
        snapshot = session.advance()
        assert angle - snapshot.errors["plate angle"] < 1.2 * 2.0 / session.rate
        angle = snapshot.errors["plate angle"]
    assert snapshot.outcome.word == "REACHED"
    assert snapshot.errors["plate"] < 1e-6
    assert angle < 1e-5
    reached = session.robot.displacement(snapshot.state, "plate", as_target=True)
    assert np.abs(from_quaternion(reached[3:]) - turn).max() < 1e-5
    text = status_text(session.measures, snapshot, size=session.size, rate=50.0, wanted=50.0, spent=0.0)
    assert "</b> mm and " in text
    assert "</b> ° from its target" in text


def test_a_pose_keeps_its_orientation_on_a_path():
    """A path of positions moves a frame and does not turn it."""
    robot = block()
    home = robot.displacement(pl.Statics(robot).solve().require().state, "plate", as_target=True)
    session = Session(robot, {"up": {"plate": Line(home[:3], home[:3] + np.array([0, 0, 0.002]), 0.005)}})
    session.follow("up")
    for _ in range(15):
        snapshot = session.advance()
    assert snapshot.wish.targets["plate"][2] > home[2] + 5e-4
    assert snapshot.wish.targets["plate"][3:] == pytest.approx(home[3:])
    assert snapshot.errors["plate"] < 1e-4
    assert snapshot.errors["plate angle"] < 1e-3


def test_a_quaternion_that_is_none_holds_the_robot():
    """A bad orientation is a status, a wrong count or name an error that tells what is wanted."""
    session = Session(block())
    before = session.advance().state
    session.aim("plate", [0.06, 0.015, 0.015, 0, 0, 0, 0])
    snapshot = session.advance()
    assert snapshot.outcome.word == "HELD"
    assert np.array_equal(snapshot.state.x, before.x)
    with pytest.raises(InputError, match="give 7"):
        session.aim("plate", np.zeros(6))
    with pytest.raises(InputError, match="choose one of: plate"):
        session.aim("plaet", np.zeros(7))


def test_grips_know_what_counts():
    """Chosen axes, weights and rotations decide what a grip has; lengths and angles have none."""
    ones = np.ones
    assert grasps_of(pl.Point(near=(0, 0, 0)), "p", ones(3)) == [Grasp("p", 0, (0, 1, 2))]
    assert grasps_of(pl.Point(near=(0, 0, 0), axes="zx"), "p", ones(2)) == [Grasp("p", 0, (1, -1, 0))]
    assert grasps_of(pl.Point(near=[(0, 0, 0), (1, 0, 0)], axes="xz"), "p", ones(4)) == [
        Grasp("p", 0, (0, -1, 1)),
        Grasp("p", 1, (2, -1, 3)),
    ]
    assert grasps_of(pl.Center(), "c", np.array([1.0, 0.0, 1.0])) == [Grasp("c", None, (0, -1, 2))]
    assert grasps_of(pl.Frame([0, 1, 2], rows="z rx"), "f", ones(2)) == [
        Grasp("f", None, (-1, -1, 2), (True, False, False))
    ]
    assert grasps_of(pl.Frame([0, 1, 2], rows="x z"), "f", ones(2)) == [Grasp("f", None, (0, -1, 1))]
    assert grasps_of(pl.Cable([(0, 0, 0), (1, 0, 0)]), "t", ones(1)) == []
    assert grasps_of(pl.Hinge([0, 1, 2], point=(0, 0, 0), axis=(0, 0, 1)), "h", ones(1)) == []


def test_gizmos_show_the_axes_that_count():
    """Arrows of coordinates that count; a single ring where one rotation counts; all where they cannot be chosen apart."""
    no = (False, False, False)
    assert active_axes(Grasp("p", 0, (0, -1, 1), no)) == (True, False, True)
    assert active_axes(Grasp("f", None, (-1, -1, -1), (False, False, True))) == (True, True, False)
    assert active_axes(Grasp("f", None, (0, -1, -1), (False, False, True))) == (True, True, True)


def test_axes_that_do_not_count_do_nothing():
    """Dragging along an axis, or about one, that does not count leaves the target as it was; the others move it."""
    grasp = Grasp("p", 0, (0, -1, 1))
    assert grasp.dragged(np.array([1.0, 3.0]), np.array([1.5, 9.0, 3.0]), np.array([1.0, 0, 0, 0])).tolist() == [1.5, 3]
    grasp = Grasp("f", None, (0, 1, -1), (False, False, True))
    target = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    after = grasp.dragged(target, np.array([0.1, 0.2, 0.3]), to_quaternion(exponential([0.4, 0, 0])))
    assert after == pytest.approx([0.1, 0.2, 0.0, 1, 0, 0, 0])
    after = grasp.dragged(target, np.zeros(3), 1.001 * to_quaternion(exponential([0, 0, 0.4])))
    assert logarithm(from_quaternion(after[3:])) == pytest.approx([0, 0, 0.4])


def test_a_tip_that_counts_its_height_only():
    """With axes="z" the target is one number, the gizmo goes along with the robot in x and y, and the height is reached."""
    session = Session(arm(given=0.0))
    session.aim("tip", session.snapshot.wish.targets["tip"] + 0.005)
    for _ in range(40):
        snapshot = session.advance()
    assert snapshot.errors["tip"] < 1e-6
    grasp = grasps_of(session.robot.ports["tip"].port, "tip", session.robot.ports["tip"].weight)[0]
    shown, turned = grasp.shown(session.robot, snapshot.state, snapshot.wish.targets["tip"])
    assert shown == pytest.approx(grasp.place(session.robot, snapshot.state), abs=2e-6)
    assert turned.tolist() == [1, 0, 0, 0]


def test_paths_give_what_an_effector_takes():
    """Three coordinates move a height by their third; two points want six numbers."""
    height = pl.Point(near=(0, 0, 0), axes="z")
    assert with_position(height, np.array([5.0]), np.array([1.0, 2.0, 3.0])) == pytest.approx([3.0])
    pair = pl.Point(near=[(0, 0, 0), (1, 0, 0)])
    with pytest.raises(InputError, match="a path of 3 numbers for a target of 6"):
        with_position(pair, np.zeros(6), np.zeros(3))
    robot = block("rx")
    with pytest.raises(InputError, match="path 'up' of 'plate'"):
        Session(robot, {"up": {"plate": Pair()}})


class Pair(Line):
    """A path of two numbers."""

    def __init__(self) -> None:
        super().__init__((0, 0, 0), (1, 0, 0), 1.0)

    def position(self, time):
        return super().position(time)[:2]


def test_half_way_between_poses_is_half_the_turn():
    """A share of the way to a pose is that share of the turn about one axis, and a unit quaternion."""
    frame = pl.Frame([0, 1, 2])
    start = np.array([0, 0, 0, *to_quaternion(exponential([0, 0, 0.2]))])
    end = np.array([1, 0, 0, *to_quaternion(exponential([0, 0, 1.2]))])
    middle = between(frame, start, end, 0.5)
    assert middle[:3] == pytest.approx([0.5, 0, 0])
    assert logarithm(from_quaternion(middle[3:])) == pytest.approx([0, 0, 0.7])


def test_rows_of_a_pose_can_be_set_one_by_one():
    """What a slider sets in one row is read there again, and other rows stay."""
    frame, pose = pl.Frame([0, 1, 2]), np.array([1.0, 2, 3, 1, 0, 0, 0])
    turned = with_row_value(frame, with_row_value(frame, pose, 4, 0.3), 2, 5.0)
    assert [row_value(frame, turned, row) for row in range(6)] == pytest.approx([1, 2, 5, 0, 0.3, 0])


def test_units_are_those_of_rows():
    """A frame has metres and radians, newtons and newton metres; a cavity has pascals in all its rows."""
    frame = pl.Frame([0, 1, 2], rows="z rx")
    assert frame.displacement_units == ("m", "rad")
    assert frame.effort_units == ("N", "N m")
    assert pl.Cable([(0, 0, 0), (1, 0, 0)]).effort_units == ("N",)


def test_a_load_on_a_frame_has_a_range_per_row():
    """The force and the moment on a frame have ranges of their own, by the compliance of their rows."""
    mesh = pl.make.box((0.06, 0.03, 0.03), (4, 2, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.4), fixed=mesh.where(x_below=0))
    robot = pl.Robot(body)
    robot.impose("hand", pl.Frame(mesh.where(x_above=0.06)), effort=np.zeros(6))
    ranges = load_ranges(Session(robot))
    assert set(ranges) == {f"hand.{row}" for row in ("x", "y", "z", "rx", "ry", "rz")}
    assert ranges["hand.rx"][1] < 0.2 * ranges["hand.z"][1]
    assert load_ranges(Session(robot), {"hand": (-1, 1)})["hand.ry"] == (-1.0, 1.0)


@pytest.mark.parametrize("effector", [True, False])
def test_a_driven_cable_has_the_length_that_is_given(effector):
    """Beside the inverse and without one: the length taken in goes to what is asked, and back at a reset."""
    session = Session(arm(effector=effector))
    assert session.follows is effector
    robot = session.robot
    assert robot.displacement(session.hanging, "left") == pytest.approx([0.004], abs=1e-6)
    low, high = given_range(session, "left", 0)
    assert low < 0.004 < high
    session.advance()
    session.give("left", 0.009)
    assert session._needs_step()
    first = session.advance()
    if effector:
        assert 0.004 < robot.ports["left"].displacement[0] < 0.007, "not in one go"
    for _ in range(20):
        snapshot = session.advance()
    assert first.outcome.ok
    assert robot.displacement(snapshot.state, "left") == pytest.approx([0.009], abs=1e-6)
    assert session.follows or not session._needs_step()
    assert "left" in actuator_bars(robot, snapshot)
    session.reset()
    assert robot.ports["left"].displacement == pytest.approx([0.004])
    with pytest.raises(InputError, match="choose one of: left"):
        session.give("up", 0.01)
    with pytest.raises(InputError, match="finite"):
        session.give("left", np.nan)


def test_a_cable_with_friction_has_one_slider():
    """The frictions of a Capstan are not given: one effort, one range, and the balance under it."""
    mesh = pl.make.box((0.1, 0.016, 0.016), (10, 2, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), fixed=mesh.where(x_below=0))
    robot = pl.Robot(body)
    points = [(x, 0.008, 0.014) for x in np.linspace(0.005, 0.095, 5)]
    robot.impose("tendon", pl.Capstan(points, pull=(-0.02, 0.008, 0.014), friction=0.2), effort=0.0)
    session = Session(robot)
    assert list(load_ranges(session)) == ["tendon"]
    session.advance()
    session.load("tendon", 1.0)
    snapshot = session.advance()
    assert snapshot.outcome.ok, snapshot.outcome.remedy
    assert robot.effort(snapshot.state, "tendon")[0] == 1.0
    assert not session._needs_step()


def test_a_modulus_is_not_softened_to_nothing():
    """The range of a modulus ends above zero, so that no slider gives what the port refuses."""
    mesh = pl.make.box((0.1, 0.016, 0.016), (10, 2, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=200e3, nu=0.4), fixed=mesh.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    robot.impose("jam", pl.Stiffness(), effort=0.0)
    low, high = load_ranges(Session(robot))["jam"]
    assert -200e3 < low < 0 < high


def test_the_gizmo_is_turned_like_the_target():
    """On an open page the grip of a frame has the target's pose, and the mark at the plate the plate's own."""
    with Page(block()) as page:
        page.open(port=8795)
        session, grip = page.session, page._scene.grips[0]
        session.pause()
        home = session.robot.displacement(session.snapshot.state, "plate", as_target=True)
        target = np.array([*home[:3], *to_quaternion(exponential([0.2, 0, 0.3]))])
        session.aim("plate", target)
        grip.draw(session.snapshot, session.robot)
        assert np.array(grip.gizmo.wxyz) == pytest.approx(target[3:])
        assert np.array(grip.gizmo.position) == pytest.approx(target[:3])
        assert np.array(grip._tip.wxyz) == pytest.approx(home[3:])
