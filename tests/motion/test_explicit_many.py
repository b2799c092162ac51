"""Robots of different lattices in one call."""

import numpy as np
import pytest

from pliant import Lattice, SpringBody
from pliant.contact import Plane
from pliant.errors import InputError
from pliant.motion.explicit import Explicit, Sine, run_many

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]


def robot(shape, E=1e5, **options):
    lattice = Lattice.block(shape, size=0.01)
    settings = {"gravity": (0, 0, -9.81), "ground": Plane(offset=-0.001), "threads": 1} | options
    return Explicit(SpringBody(lattice, E=E), **settings)


def herd():
    """A cube, a beam that pulsates, a softer plate."""
    return [robot((2, 2, 2)), robot((5, 1, 2), actuation={0: Sine(0.1, 10.0)}), robot((3, 3, 1), E=3e4)]


def test_each_robot_runs_as_it_does_alone():
    """The same bits as its own run, whoever runs beside it; the fitness is that of its run."""
    many = run_many(herd(), 0.05, record=lambda one: [0], every=10, fitness=lambda run: float(run.x[:, 0].max()))
    for found, single in zip(many.runs, herd(), strict=True):
        expected = single.run(0.05, record=[0], every=10)
        np.testing.assert_array_equal(found.x, expected.x)
        np.testing.assert_array_equal(found.positions, expected.positions)
    assert not many.failed.any()
    assert many.fitness == pytest.approx([run.x[:, 0].max() for run in many.runs])
    assert many.springs_per_second > 0
    assert len(many) == 3
    assert many[1] is many.runs[1]
    assert repr(many) == "ManyRuns(3 runs, 0 failed, 0 stopped)"


def test_one_that_fails_or_stops_does_not_touch_the_others():
    """A robot that diverges has no fitness, one that is stopped ends early, the third is as ever."""
    with pytest.warns(UserWarning, match="step"):
        wild = robot((2, 2, 2), step=0.001, E=1e6, precision="single")
    robots = [wild, *herd()[1:]]
    many = run_many(
        robots, 0.05, fitness=lambda run: 1.0, stop=lambda one: one is robots[1] and one.time > 0.025, stop_every=0.01
    )
    assert many.failed.tolist() == [True, False, False]
    assert many.stopped.tolist() == [False, True, False]
    assert many.fitness.tolist() == [-np.inf, 1.0, 1.0]
    assert many.runs[1].time == pytest.approx(0.03, abs=2e-3)
    np.testing.assert_array_equal(many.runs[2].x, herd()[2].run(0.05).x)


def test_a_robot_cannot_run_twice_at_once():
    """The same one twice, none, or something else."""
    one = herd()[0]
    with pytest.raises(InputError, match="there twice"):
        run_many([one, one], 0.01)
    with pytest.raises(InputError, match="robot 1 is a int"):
        run_many([one, 1], 0.01)
    with pytest.raises(InputError, match="no robots"):
        run_many([], 0.01)
