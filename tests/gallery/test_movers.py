"""Robots that move by themselves: they get somewhere, by friction only, without cells inside out, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.body import SpringBody
from pliant.errors import InputError
from pliant.gallery import Choices, all_robots, expander, find, flexipod, multigait
from pliant.gallery.mover import Mover
from pliant.gallery.travel import travel
from pliant.motion.explicit import Explicit
from pliant.shape import Lattice

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]

MOVERS = [name for name, exhibit in all_robots.items() if isinstance(exhibit, Mover)]


@pytest.mark.parametrize("name", MOVERS)
def test_every_mover_is_free(name):
    """No node is held or driven from outside: no supports, loads, given motions, lines, or motors fixed in the world; there
    is gravity, and the robot rests on the ground."""
    for gait in find(name).gaits:
        moving = find(name).build(gait, {})
        around, supports = moving.engine.around, moving.body.supports
        assert len(supports.fixed) == len(supports.prescribed) == len(supports.sliding) == 0
        assert len(around.loads) == len(around.motions) == len(around.lines) == 0
        assert all(motor.base is not None for motor in around.motors)
        assert around.gravity.tolist() == [0.0, 0.0, -9.81]
        assert moving.body.rest[:, 2].min() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("module", "gait", "duration", "lengths"),
    [
        (multigait, "walk", 4.0, 0.2),
        (multigait, "undulate", 4.0, 0.3),
        (flexipod, "trot", 2.5, 1.5),
        (flexipod, "bound", 2.5, 1.0),
    ],
)
def test_they_go_forwards_by_friction(module, gait, duration, lengths):
    """In a few seconds by so many body lengths; with mu = 0 the center of mass stays above one place to rounding, while the
    robot moves its limbs as before."""
    gone = travel(module.build(gait), duration, 20)
    slipped = travel(module.build(gait, {"friction": 0.0}), duration, 20)
    assert gone.lengths > lengths
    assert gone.inverted == 0
    assert np.abs(slipped.distance[:2]).max() < 1e-9 * gone.length
    assert np.abs(slipped.places[-1] - slipped.places[0]).max() > 0.01 * gone.length


@pytest.mark.slow
@pytest.mark.parametrize(("module", "gait"), [(m, gait) for m in (multigait, flexipod) for gait in m.GAITS])
def test_a_body_length_in_twenty_seconds(module, gait):
    """Forwards by at least one body length, and without friction by less than a tenth of it; no cell inside out."""
    figures = {figure.name.split(".")[1]: figure for figure in module.report(gait).figures}
    assert figures["body_lengths"].value >= 1.0
    assert figures["frictionless_share"].value < 0.1
    assert all(figure.holds is not False for figure in figures.values())


@pytest.mark.parametrize(("module", "gait"), [(multigait, "walk"), (flexipod, "trot")])
def test_a_run_repeats_bit_for_bit(module, gait):
    """Two runs from rest end at the same numbers."""
    one, two = (module.build(gait).engine.run(0.5, progress=False) for _ in range(2))
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.v, two.v)


def test_the_motors_push_back():
    """Without gravity, ground and drag the running robot keeps its momentum and angular momentum: both stay zero to rounding
    while the legs turn and the body turns against them."""
    moving = flexipod.build("bound")
    body = moving.body
    engine = Explicit(body, motors=flexipod.motors(body.rest, "bound", 2.0), threads=1)
    run = engine.run(1.0, progress=False).require()
    m, v = body.masses[:, None], run.v
    largest = float((m * np.abs(v)).sum())
    assert np.abs((m * v).sum(axis=0)).max() < 1e-10 * largest
    assert np.abs((m * np.cross(run.x, v)).sum(axis=0)).max() < 1e-8 * largest * moving.length
    plate = body.lattice.labels == 0
    spin = np.cross(run.x, m * v)[np.unique(body.lattice.cells[plate])].sum(axis=0)
    assert spin[1] < -1e-4


def test_the_expander_swells_without_inversion():
    """Its actuator grows to twice its volume; at all looks all corners of all cells stay right side out."""
    figures = {figure.name.split(".")[1]: figure for figure in expander.report().figures}
    assert 2.0 < figures["growth"].value < figures["growth_free"].value
    assert figures["smallest_corner"].value > 0.5
    assert figures["inverted_cells"].value == 0


def test_volumes_of_cells():
    """Under a linear map volumes and corners change by its determinant; a corner pushed through its cell is negative."""
    lattice = Lattice.block((2, 2, 1), 0.01)
    F = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, 0.3], [0.2, 0.0, 1.1]])
    x = lattice.points @ F.T
    assert expander.cell_volumes(lattice, x) == pytest.approx(1e-6 * np.linalg.det(F))
    assert expander.corner_volumes(lattice, x) == pytest.approx(np.linalg.det(F))
    x = lattice.points.copy()
    corner = lattice.cells[0, 0]
    x[corner] += 0.021
    assert expander.corner_volumes(lattice, x)[0].min() < 0


def test_five_actuators_of_the_walker_are_alike():
    """Four legs of as many cells each, mirrored; the spine between them; all in the upper half."""
    lattice = multigait.build().body.lattice
    counts = np.bincount(lattice.labels)
    assert len(counts) == 6
    assert len(set(counts[1:5].tolist())) == 1
    middles = [lattice.centers[lattice.labels == label].mean(axis=0) for label in (1, 2, 3, 4)]
    assert middles[0] == pytest.approx(middles[1] * [1, -1, 1], abs=1e-12)
    assert middles[0] == pytest.approx(middles[2] * [-1, 1, 1], abs=1e-12)
    assert lattice.centers[lattice.labels > 0][:, 2].min() > 0.5 * multigait.LAYERS * multigait.SIZE


def test_the_legs_of_the_runner_are_loose_and_soft():
    """Five parts that no spring joins; the body is ten times as stiff as the legs; each leg has a motor."""
    body = flexipod.build().body
    assert isinstance(body, SpringBody)
    assert len(np.unique(body.lattice.connected_parts())) == 5
    assert body.moduli[body.lattice.labels == 0].min() >= 10 * body.moduli[body.lattice.labels == 1].max()


def test_choices_of_a_mover():
    """A gait by name; what such a robot does not have is refused, and followers have no gaits."""
    assert find("multigait").chosen_gait(Choices()) == "walk"
    assert find("multigait").chosen_gait(Choices(gait="undulate")) == "undulate"
    with pytest.raises(InputError, match="no gait 'fly'; choose one of: walk, undulate"):
        find("multigait").show(Choices(gait="fly"))
    with pytest.raises(InputError, match="leave out --trajectory"):
        find("flexipod").page(Choices(trajectory="circle"))
    with pytest.raises(InputError, match="no gaits; leave out --gait"):
        find("trunk").show(Choices(gait="walk"))
