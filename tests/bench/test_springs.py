"""The benchmark of springs on a small lattice: the figures that it promises, no judgement of speed."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench import springs

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]


def test_figures_of_the_benchmark_have_their_names(monkeypatch):
    """Both layouts, precisions and numbers of threads, springs per node and the yardstick are there; the triad is one."""
    monkeypatch.setattr(springs, "CELLS", 6)

    def times(actions, **_):
        actions["triad"]()  # the steps of every other one would have to be compiled: 50 s
        return dict.fromkeys(actions, 1e-3)

    monkeypatch.setattr(springs, "smallest_times", times)
    monkeypatch.setattr(springs, "_population", list)
    for part in ("_million", "_scattered", "_starts"):
        monkeypatch.setattr(springs, part, list)
    figures = {figure.name: figure for figure in springs.measure()}
    for layout in ("structured", "general"):
        for kind in ("f32", "f32_1t", "f64", "f64_1t"):
            assert f"springs.{layout}_{kind}_mps" in figures
    cells, nodes = 6, 7**3
    count = 3 * cells * 49 + 6 * cells**2 * 7 + 4 * cells**3
    assert figures["springs.cube_per_node"].value == count / nodes
    assert figures["springs.structured_f32_1t_mps"].value == springs.STEPS * count / 1e-3 / 1e6
    a, b, c = np.zeros(5), np.arange(5.0), np.ones(5)
    springs.triad(a, b, c, 2.0)
    np.testing.assert_array_equal(a, b + 2.0)


def test_a_million_springs_and_scattered_points_are_timed(monkeypatch):
    """Build, memory and steps of a lattice in a process of its own, and best-candidate points, each with its bound."""
    monkeypatch.setattr(springs, "BIG_CELLS", 5)
    monkeypatch.setattr(springs, "BIG_STEPS", 10)
    monkeypatch.setattr(springs, "POINTS", 150)
    figures = {figure.name: figure for figure in springs._million() + springs._scattered()}
    bounds = {"million_build_s": 30.0, "million_memory_gb": 1.0, "million_steps_s": None, "best_candidate_s": 60.0}
    assert {name: figures[f"springs.{name}"].reference for name in bounds} == bounds
    assert all(figure.value > 0 for figure in figures.values())
    assert "1,940 springs" in figures["springs.million_build_s"].source
    assert figures["springs.million_memory_gb"].value > 0.03


def test_the_lattice_of_a_million_springs_has_them():
    """By counting edges, face diagonals and body diagonals of the cube."""
    cells = springs.BIG_CELLS
    assert 3 * cells * (cells + 1) ** 2 + 6 * cells**2 * (cells + 1) + 4 * cells**3 == 1_055_908
    assert springs.POINTS == 50_000
