"""The page of a robot that touches something: obstacles to drag, arrows of forces, and a picture that goes along."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import pliant as pl
from pliant.algebra.rotation import exponential, from_quaternion, to_quaternion
from pliant.contact import Plane, Solid, Sphere
from pliant.robot import Role
from pliant.view import Page
from pliant.view.page.along import Along, travels
from pliant.view.page.palette import STICKS, TAUT, hexadecimal
from pliant.view.page.skin import skins_of
from pliant.view.page.touches import touches_text

R, G = 0.02, 9.81


def ball(*, gravity=(0.0, 0.0, -G), mu=0.5):
    """A rigid ball on the ground."""
    body = pl.RigidBody(pl.solids.sphere(R).translated((0, 0, R)), density=1000)
    robot = pl.Robot(body, gravity=gravity)
    robot.touch("ground", Plane(friction=mu), surface=Sphere(center=(0, 0, R), radius=R))
    return robot


def rolled(page, seconds):
    """The page after so many seconds of steps, drawn."""
    for _ in range(round(seconds * page.session.rate)):
        page.session.advance()
    page._scene.draw(page.session.snapshot)
    return page.session.snapshot.state


@pytest.fixture
def downhill():
    """A ball on a slope, on a page that is paused; nobody else draws."""
    page = Page(ball(gravity=(0.5 * G, 0, -G)), rate=100, begin=ball().rest())
    page._works = lambda: ()
    with page:
        page.open(port=8950)
        page.session.pause()
        page.session.reset()
        yield page


def test_what_nothing_holds_travels():
    """Supports, joints to the ground and displacements that are given in space hold a robot; a cable within it does not."""
    block = pl.make.box((0.02, 0.02, 0.02), (1, 1, 1))
    law = pl.Corotational(E=1e5, nu=0.3)

    def built(port=None, body=None):
        robot = pl.Robot(body or pl.TetBody(block, law, density=1000))
        if port is not None:
            robot.actuate("port", port)
            robot = robot.with_roles({"port": Role.HELD})
        return robot

    assert travels(built(), built().rest())
    cable = built(pl.Cable([(0.0, 0.0, 0.0), (0.02, 0.02, 0.02)]))
    assert travels(cable, cable.rest())
    axle = pl.Revolute("wheel", point=(0, 0, 0), axis=(0, 1, 0))
    for robot in (
        built(body=pl.TetBody(block, law, density=1000, fixed=block.where(z_below=0))),
        built(pl.Center()),
        pl.Robot({"wheel": pl.RigidBody(block.surface(), 1000)}, joints={"axle": axle}),
    ):
        assert not travels(robot, robot.rest())


def test_the_picture_goes_along_sideways_and_far_up_and_down():
    """Sideways all the way; what falls or hops by less than the robot's size is seen to do so."""
    robot = ball()
    state, up = robot.rest(), np.array([0.0, 0.0, 1.0])
    along = Along(robot, state, up, 0.04)
    for gone, way in (
        ((0.3, -0.2, 0.0), (0.3, -0.2, 0.0)),
        ((0.3, 0.0, 0.03), (0.3, 0.0, 0.0)),
        ((0.0, 0.0, 0.05), (0.0, 0.0, 0.01)),
        ((0.1, 0.0, -0.5), (0.1, 0.0, -0.46)),
    ):
        there = SimpleNamespace(x=state.x + np.array(gone))
        np.testing.assert_allclose(along.way(there), way, atol=1e-12)


def test_the_world_moves_and_every_view_stays(downhill):
    """Bodies are drawn where they are; the floor moves by whole sections, so its lines stay; who comes later, or asks for the
    first view, looks at the robot where it is now. Without `Go along` all is as at first."""
    page, scene, camera = downhill, downhill._scene, downhill.server.initial_camera
    first, floor = np.array(camera.look_at), np.array(scene._floor.position)
    state = rolled(page, 0.8)
    way = state.x.mean(axis=0) - page.session.hanging.x.mean(axis=0)
    assert way[0] > 10 * R
    body, (skin,) = scene._bodies[0], skins_of(page.session.robot)
    np.testing.assert_allclose(body.vertices + np.array(body.position), skin.vertices(state.x), atol=1e-6)
    np.testing.assert_allclose(np.array(camera.look_at) - first, scene.along.way(state), atol=1e-9)
    turn, section = from_quaternion(np.array(scene._floor.wxyz)), 5 * scene.cell
    moved = turn.T @ (np.array(scene._floor.position) - floor) / section
    np.testing.assert_allclose(moved, np.round(moved), atol=1e-9)
    assert np.abs(moved - turn.T @ scene.along.way(state) / section)[:2].max() <= 1.0
    scene.look = type(scene.look)(along=False)
    scene.draw(page.session.snapshot)
    np.testing.assert_allclose(camera.look_at, first, atol=1e-12)
    np.testing.assert_allclose(body.vertices + np.array(body.position), skin.vertices(state.x), atol=1e-6)


def test_a_robot_that_is_held_stays_still():
    """And there is no switch for it."""
    block = pl.make.box((0.02, 0.02, 0.02), (1, 1, 1))
    robot = pl.Robot(pl.TetBody(block, pl.Corotational(E=1e5, nu=0.3), density=1000, fixed=block.where(z_below=0)))
    with Page(robot) as page:
        page.open(port=8951)
        assert page._scene.along is None
        assert "Go along" not in [handle.label for handle in inputs(page)]
    with Page(ball(), begin=ball().rest()) as page:
        page.open(port=8951)
        assert "Go along" in [handle.label for handle in inputs(page)]


def inputs(page):
    return [one for one in page.server.gui._gui_input_handle_from_uuid.values() if hasattr(one, "label")]


def test_obstacles_are_dragged_by_what_one_sees(downhill):
    """Shifted as the arrows are, turned about where the rings are; a plane's arrows stay in front of a robot that travels."""
    page, (plane,) = downhill, downhill._scene.obstacles
    rolled(page, 0.8)
    place = np.array(plane.gizmo.position)
    assert abs(place[2]) < 1e-12
    assert np.linalg.norm(place - page.session.snapshot.state.x.mean(axis=0)) < 2 * page.session.size

    def drag(shift, turn):
        target = SimpleNamespace(position=tuple(place + shift), wxyz=tuple(to_quaternion(exponential(np.array(turn)))))
        plane._moved(SimpleNamespace(phase="end", target=target))
        return page.session.snapshot.wish.obstacles["ground"]

    np.testing.assert_allclose(drag((0, 0, 0.01), (0, 0, 0)), [0, 0, 0.01, 1, 0, 0, 0], atol=1e-12)
    tilted = drag((0, 0, 0), (0.0, 0.2, 0.0))
    normal = from_quaternion(tilted[3:])[:, 2]
    assert normal @ (place - tilted[:3]) == pytest.approx(0.0, abs=1e-12), "it still goes through where the rings are"


def test_a_solid_is_drawn_where_it_is():
    """With its arrows and rings in its middle."""
    robot = ball()
    robot.touch("step", Solid(pl.solids.box((0.02, 0.02, 0.01), at=(0.05, 0, 0))), surface=Sphere((0, 0, R), R))
    with Page(robot, begin=robot.rest()) as page:
        page.open(port=8952)
        page.session.pause()
        drawn = page._scene.obstacles[1]
        np.testing.assert_allclose(drawn.gizmo.position, (0.06, 0.01, 0.005), atol=1e-12)
        np.testing.assert_allclose(drawn.corners, [(0.05, 0, 0), (0.07, 0.02, 0.01)], atol=1e-12)
        robot.move_obstacle("step", (0.1, 0.0, 0.0))
        page.session.advance()
        page._scene.draw(page.session.snapshot)
        np.testing.assert_allclose(
            drawn.gizmo.position, np.array([0.06, 0.01, 0.005]) + page_pose(robot)[:3], atol=1e-12
        )


def page_pose(robot):
    """Where the second obstacle is by now."""
    return robot.touches["step"].obstacle.pose


@pytest.mark.parametrize(("mu", "colour", "word"), [(0.5, STICKS, "stick"), (0.05, TAUT, "slide")])
def test_forces_are_arrows_in_two_colours(mu, colour, word):
    """From where they act, along the force on the body; the other colour shows nothing. The panel has the resultant."""
    robot = ball(gravity=(0.5 * G, 0, -G), mu=mu)
    page = Page(robot, rate=100, begin=robot.rest())
    page._works = lambda: ()
    with page:
        page.open(port=8953)
        page.session.pause()
        page.session.reset()
        state = rolled(page, 0.2)
        report = robot.contacts(state, "ground")
        arrows = {handle.visible: handle for handle in page._scene._forces._arrows}
        assert set(arrows) == {True, False}
        assert tuple(np.ravel(arrows[True].colors)[:3]) == colour
        begin, end = np.array(arrows[True].points[0], float) + np.array(arrows[True].position)
        np.testing.assert_allclose(begin, report.points[0], atol=1e-6)
        way = (end - begin) / np.linalg.norm(end - begin)
        np.testing.assert_allclose(way, report.force / np.linalg.norm(report.force), atol=1e-4)
        text = touches_text(robot, state)
        assert f"1 {word}" in text
        assert hexadecimal(colour) in text
        assert f"{np.linalg.norm(report.force):.3f}" in text
