"""Long runs tell how far they are, where somebody looks."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.errors import InputError
from pliant.motion.explicit import Explicit, Material, Population, Sine, run_many
from pliant.shape import Lattice

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]


def crowd(count=40):
    lattice = Lattice.block((3, 2, 2), size=0.01)
    ids = np.random.default_rng(0).integers(-1, 2, (count, len(lattice.cells)))
    ids[:, 0] = 0
    palette = {0: Material(1e5), 1: Material(5e4, strain=Sine(0.1, 5.0))}
    return Population(lattice, palette, ids, gravity=(0, 0, -9.81), ground=Plane(), damping=1.0, precision="double")


def herd(count=3):
    bodies = [SpringBody(Lattice.block((2, 1, 1), size=0.01), 1e5) for _ in range(count)]
    return [Explicit(body, gravity=(0, 0, -9.81), ground=Plane(), threads=1) for body in bodies]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("run", [lambda **o: crowd().run(0.05, **o), lambda **o: run_many(herd(), 0.05, **o)])
def test_the_time_left_is_shown_on_a_terminal_and_nowhere_else(run, monkeypatch, capsys):
    """On a terminal, or when asked, there is a bar that ends at 100 % with the time left; in a pipe there is nothing."""
    run()
    assert capsys.readouterr().err == ""
    run(progress=True)
    assert "100%" in capsys.readouterr().err
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    run()
    assert "simulating" in screen.getvalue()
    assert "0:00:0" in screen.getvalue(), "the time left"
    screen.truncate(0)
    run(progress=False)
    assert "simulating" not in screen.getvalue()


@pytest.mark.parametrize(
    "run",
    [
        lambda tell: crowd().run(0.1, progress=tell),
        lambda tell: crowd().run(0.1, stop=lambda robots, *_: robots % 2 == 0, stop_every=0.02, progress=tell),
        lambda tell: crowd().run(0.1, stop=lambda robots, *_: robots >= 0, stop_every=0.02, progress=tell),
        lambda tell: run_many(herd(), 0.1, progress=tell),
        lambda tell: run_many(herd(), 0.1, stop=lambda robot: True, stop_every=0.02, progress=tell),
        lambda tell: herd(1)[0].run(0.1, progress=tell),
    ],
)
def test_a_function_is_told_the_share_done(run):
    """It rises from 0 to 1, also where robots end early."""
    shares = []
    run(shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= 1
    assert shares[-1] == pytest.approx(1.0)


def test_a_robot_that_is_not_there_is_named():
    """A number beyond the last robot is refused with the choice."""
    population = crowd(3)
    with pytest.raises(InputError, match="0 to 2"):
        population.single(3)
    assert population.single(-1).cells.labels.tolist() == [k for k in population.materials[-1].tolist() if k >= 0]
