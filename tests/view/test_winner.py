"""The best robot of a population on the page, in one line."""

from __future__ import annotations

import urllib.request

import numpy as np
import pytest

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.errors import InputError
from pliant.motion.explicit import Explicit, Material, Population, Sine, Springs
from pliant.shape import Lattice
from pliant.view import MotionPage, Moving
from pliant.view.moving import Running
from pliant.view.page.motion_page import ground_height
from waiting import until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),
]


def crowd(**more):
    """Robots of a few cells, some of them missing, that breathe on the ground."""
    lattice = Lattice.block((4, 2, 2), size=0.01, origin=(0.0, 0.0, 0.02))
    ids = np.random.default_rng(1).choice([-1, 0, 3], (6, len(lattice.cells)))
    ids[:, :4] = 0
    palette = {0: Material(1e5), 3: Material(5e4, strain=Sine(0.15, 5.0))}
    ground = Plane(friction=0.6, offset=0.02)
    return Population(lattice, palette, ids, gravity=(0, 0, -9.81), damping=2.0, ground=ground, noise=0.02, **more)


def test_the_winner_is_shown_in_one_line():
    """`MotionPage.of(crowd.single(best))` opens, moves it as the population did, tells its materials, stands it on its ground,
    and Reset brings it back to its start."""
    population = crowd()
    run = population.run(0.2, fitness=lambda run: run.middle[:, 0])
    best = int(run.fitness.argmax())
    with MotionPage.of(population.single(best), title="the best") as page:
        address = page.open(port=8920)
        assert urllib.request.urlopen(address, timeout=30).status == 200
        until(lambda: page.session.moment.time > 0.2)
        page.session.pause()
        assert page._floor.position[2] == pytest.approx(0.02)
        materials = np.unique(population.materials[best][population.materials[best] >= 0])
        assert len(page._meshes) == len(materials)
        page.session.reset()
        until(lambda: page.session.moment.time == 0)
        alone = population.single(best)
        np.testing.assert_array_equal(page.session.moving.engine.v, alone.v)
    engine = MotionPage.of(population.single(best)).session.moving.engine
    engine.run(0.2)
    np.testing.assert_allclose(engine.x, run.x[best], atol=1e-6)


def test_only_cells_that_are_there_are_drawn_and_weighed():
    """The hull is that of the robot's own cells; its middle is the population's; nodes without a cell count for nothing."""
    population = crowd(precision="double")
    run = population.run(0.1)
    for robot in range(len(population)):
        alone = Running(population.single(robot))
        there = population.masses([robot])[0] > 0
        corners = np.unique(np.concatenate(list(alone.surfaces().values())))
        assert there[corners].all()
        assert set(alone.surfaces()) <= {0, 3}
        np.testing.assert_allclose(alone.middle(run.x[robot]), run.middle[robot], atol=1e-12)
        volume = sum(
            np.einsum("ij,ij->i", x[:, 0], np.cross(x[:, 1], x[:, 2])).sum() / 6
            for x in (alone.rest[triangles] for triangles in alone.surfaces().values())
        )
        cells = int((population.materials[robot] >= 0).sum())
        assert volume == pytest.approx(cells * 1e-6), "the hull is closed and looks outwards"


def test_an_engine_of_a_body_is_shown_too():
    """What `run_many` ran is shown in the same way, from where it is now; bodies look as they do in `Moving`."""
    body = SpringBody(Lattice.block((3, 2, 2), 0.01), 5e4)
    engine = Explicit(body, gravity=(0, 0, -9.81), ground=Plane(), damping=5.0, threads=1)
    engine.run(0.1)
    page = MotionPage.of(engine)
    assert page.session.moment.time == engine.time == pytest.approx(0.1, rel=1e-2)
    assert page.session.moment.distance == pytest.approx([0, 0, 0])
    pair, alone = Moving(body, engine), Running(engine)
    assert pair.length == alone.length == pytest.approx(0.03)
    np.testing.assert_array_equal(pair.surfaces()[0], alone.surfaces()[0])
    np.testing.assert_array_equal(pair.surfaces()[0], body.lattice.boundary_triangles())
    np.testing.assert_allclose(pair.masses, body.masses)


def test_what_has_no_surface_is_refused():
    """Springs from arrays have nothing to draw, and what is no engine is named; both with the remedy."""
    springs = Springs(np.eye(3), np.array([[0, 1], [1, 2]]), np.ones(2), np.ones(2), np.ones(3))
    with pytest.raises(InputError, match="SpringBody"):
        MotionPage.of(Explicit(springs, step=1e-3))
    with pytest.raises(InputError, match="give an Explicit"):
        MotionPage.of(crowd())


def test_the_floor_is_where_the_ground_is():
    """A horizontal plane is the floor; without one it is at zero, or below a robot that is below zero."""
    x = np.array([[0.0, 0, 0], [1.0, 0, 0.5]])
    assert ground_height([Plane(normal=(0, 0, 2.0), offset=0.4)], x) == pytest.approx(0.2)
    assert ground_height([Plane(normal=(1.0, 0, 0), offset=0.4)], x) == 0.0
    assert ground_height([], x - [0, 0, 1.0]) == pytest.approx(-1.3)
