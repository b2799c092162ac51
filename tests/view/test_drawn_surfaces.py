"""Surfaces that a page draws: crisp edges, and bands of stress."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.view import Page
from pliant.view.page.bands import cut_into_bands
from pliant.view.page.bars import actuator_bars
from pliant.view.page.palette import mixed, readable, rounded, stress_colours
from pliant.view.page.session import Session
from pliant.view.page.skin import creased, skins_of
from pliant.view.page.stress import BANDS, legend


def area(points, faces):
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def test_a_box_has_three_vertices_at_each_corner_and_a_ball_one():
    """Vertices are doubled where faces meet at an angle, and only there; the surface is the same."""
    box = pl.make.box((1.0, 1.0, 1.0), (2, 2, 2))
    triangles = box.boundary_triangles()[0].astype(np.int64)
    nodes, faces = creased(box.nodes, triangles)
    corner = np.flatnonzero((box.nodes == 0).all(axis=1))[0]
    assert (nodes == corner).sum() == 3
    assert np.array_equal(nodes[faces], triangles)
    ball = pl.make.sphere(1.0, 0.25)
    triangles = ball.boundary_triangles()[0].astype(np.int64)
    assert len(creased(ball.nodes, triangles)[0]) == len(np.unique(triangles))


def test_a_lattice_is_drawn_by_its_hull():
    """A body of springs has a skin of the hull of its cells, with stress where it is loaded."""
    lattice = pl.Lattice.block((6, 2, 2), 0.01)
    robot = pl.Robot(pl.SpringBody(lattice, 1e5, fixed=lattice.where(x_below=0.0)), gravity=(0, 0, -9.81))
    state = pl.Statics(robot).solve().require().state
    (skin,) = skins_of(robot)
    assert area(skin.vertices(robot.rest().x).astype(float), skin.faces) == pytest.approx(56e-4)
    assert area(skin.vertices(state.x).astype(float), skin.faces) == pytest.approx(56e-4, rel=0.05)
    stress, nodes = skin.stress(state.x), skin.carried.nodes[:, 0]
    assert stress[nodes == 0].mean() > 5 * stress[nodes == lattice.where(x_above=0.06)[0]].mean()


def test_bands_cover_the_surface_once_and_lie_between_their_levels(rng):
    """The bands' areas sum up to the surface's, and in each the value is between its levels; orientation is kept."""
    sphere = pl.make.sphere(1.0, 0.3)
    faces = np.asarray(sphere.boundary_triangles()[0], np.int64)
    x = sphere.nodes
    values = x @ rng.normal(size=3)
    levels = np.linspace(values.min(), values.max(), 8)[1:-1]
    bands = cut_into_bands(values, faces, levels)
    assert len(bands) == len(levels) + 1
    assert sum(area(b.weights @ x, b.faces) for b in bands) == pytest.approx(area(x, faces), rel=1e-12)
    edges = [-np.inf, *levels, np.inf]
    for low, high, band in zip(edges[:-1], edges[1:], bands, strict=True):
        own = band.weights @ values
        assert (own >= low - 1e-12).all()
        assert (own <= high + 1e-12).all()
        points = band.weights @ x
        a, b, c = (points[band.faces[:, k]] for k in range(3))
        assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) > -1e-15).all()


def test_bands_move_with_the_surface():
    """Points of bands are weights of vertices that sum to one, so that a moved surface has moved bands."""
    values, faces = np.array([0.0, 1.0, 2.0]), np.array([[0, 1, 2]])
    for band in cut_into_bands(values, faces, np.array([0.5, 1.5])):
        assert np.allclose(band.weights.sum(axis=1), 1.0)


def test_stress_of_a_skin_is_that_of_the_body():
    """A bar under tension along its axis has the stress F / A at every vertex away from its ends."""
    mesh = pl.make.box((0.1, 0.01, 0.01), (20, 2, 2))
    ends = mesh.where(x_below=0)
    body = pl.TetBody(mesh, pl.Linear(E=1e6, nu=0.0), density=0.001, fixed=ends)
    robot = pl.Robot(body)
    robot.impose("pull", pl.Force(mesh.nodes[mesh.where(x_above=0.1)], direction=(1, 0, 0)), effort=0.1)
    state = pl.Statics(robot).solve().require().state
    skin = skins_of(robot)[0]
    middle = np.abs(body.rest[skin.carried.nodes[:, 0]][:, 0] - 0.05) < 0.02
    assert skin.stress(state.x)[middle] == pytest.approx(1000.0, rel=0.02)
    assert skin.vertices(state.x).dtype == np.float32


def test_bars_mark_limits_that_hold_back():
    """Every actuator has two bars; one at its limit is marked, with the value in readable units."""
    mesh = pl.make.box((0.1, 0.01, 0.02), (10, 1, 2))
    robot = pl.Robot(pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1000, fixed=mesh.where(x_below=0)))
    robot.actuate("upper<", pl.Cable([(0.095, 0.005, 0.018)], pull=(-0.01, 0.005, 0.03)), effort=(0, 0.2))
    robot.effect("tip", pl.Point(near=(0.1, 0.005, 0.01)))
    session = Session(robot)
    assert actuator_bars(robot, session.snapshot).count('class="pliant-bar"') == 2
    session.aim("tip", session.snapshot.wish.targets["tip"] + [0, 0, 0.05])
    for _ in range(20):
        snapshot = session.advance()
    html = actuator_bars(robot, snapshot)
    assert html.count("pliant-bar active") == 1
    assert "0.20 N" in html
    assert "upper&lt;" in html


def test_readable_numbers_and_colours():
    """Units people read; round scales; colours between two; a legend with its top."""
    assert readable("Pa") == (1e-3, "kPa")
    assert readable("furlong") == (1.0, "furlong")
    assert [rounded(v) for v in (0.011, 2.0, 51.0)] == pytest.approx([0.02, 2.0, 100.0])
    assert mixed((0, 0, 0), (100, 200, 50), 0.5) == (50, 100, 25)
    assert len({tuple(c) for c in stress_colours(BANDS)}) == BANDS
    assert "20" in legend(20e3)


def test_rigid_bodies_are_drawn_without_stress(tmp_path):
    """A rigid box has a skin that moves with its frame and no stress; without a surface there is nothing to draw."""
    from pliant.view import draw_bodies

    box = pl.solids.box((0.06, 0.04, 0.02))
    hinge = pl.Revolute("box", point=(0, 0, 0), axis=(0, 1, 0), stiffness=0.1)
    robot = pl.Robot({"box": pl.RigidBody(box, 1000.0)}, joints=[hinge], gravity=(0, 0, -9.81))
    state = pl.Statics(robot).solve().require().state
    (skin,) = skins_of(robot)
    assert area(skin.vertices(state.x).astype(float), skin.faces) == pytest.approx(box.area, rel=1e-5)
    assert np.ptp(skin.vertices(state.x)[:, 2]) > np.ptp(box.nodes[:, 2]) + 1e-3
    assert not skin.stress(state.x).any()
    draw_bodies(robot, state, tmp_path / "box.png")
    assert (tmp_path / "box.png").stat().st_size > 5000
    point = pl.Robot(pl.RigidBody(mass=1.0, center=(0, 0, 0), inertia=(1, 1, 1)))
    with pytest.raises(pl.PliantError, match="no body of this robot has a surface"):
        draw_bodies(point, point.rest(), tmp_path / "point.png")


def test_a_page_shows_a_robot_of_rigid_bodies():
    """The page of a jointed rigid body opens, and takes its size from what is drawn."""
    box = pl.solids.box((0.06, 0.04, 0.02))
    hinge = pl.Revolute("box", point=(0, 0, 0), axis=(0, 1, 0), stiffness=0.1)
    robot = pl.Robot({"box": pl.RigidBody(box, 1000.0)}, joints={"hinge": hinge}, gravity=(0, 0, -9.81))
    robot.impose("motor", pl.Hinge.on("hinge"), effort=0.0)
    with Page(robot) as page:
        page.open(port=8830)
        assert page.session.size == pytest.approx(0.06, rel=0.1)
        assert page._scene.update_stress() == 0.0
