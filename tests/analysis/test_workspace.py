"""Workspaces: the same table whoever computes it, nothing reachable missed, and the paper's findings."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pliant.analysis import Grid, Table, workspace
from pliant.analysis.workspace import explore
from pliant.control import DecisionStatus, Inverse
from pliant.errors import InputError
from pliant.gallery import tripods
from pliant.motion import Statics

DEVICE = "pliant.gallery.tripods:build"
UPRIGHT = (0, 0, 0, 1, 0, 0, 0)


def serially(grid, **options):
    """Without any other process."""
    with ThreadPoolExecutor(1) as one:
        return workspace(DEVICE, grid, options=options, executor=one, show=False)


def test_a_grid_is_a_tree():
    """Every place has a parent one step closer to the middle, and a slab has all that it needs, parents first."""
    grid = Grid("pose", {"y": (-1.0, 0.0, 1.0, 2.0), "x": (-0.5, 0.0, 0.5)})
    assert grid.middle == (1, 1)
    assert grid.parent((1, 1)) is None
    assert grid.parent((3, 0)) == (3, 1)
    for index in range(4):
        places = grid.slab(index)
        assert {place for place in places if place[0] == index} == {(index, k) for k in range(3)}
        for k, place in enumerate(places):
            assert grid.parent(place) is None or grid.parent(place) in places[:k]


def test_what_can_be_reached_is_found():
    """Of 27 places, those that `solve_pose` reaches from where the device hangs and those of the walk are the same, and motors
    are where it says."""
    grid = Grid.around("pose", {"y": 0.02, "x": 0.03, "z": 0.03}, 3, home=UPRIGHT)
    table = serially(grid)
    assert len(table) == 27
    robot = tripods.build()
    inverse, hanging = Inverse(robot), Statics(robot).solve().require().state
    for k in range(len(table)):
        target = tripods.pose([table[name][k] for name in "xyz"])
        pose = inverse.solve_pose(hanging, pose=target, tolerance=1e-7, max_iterations=60)
        there = pose.status is DecisionStatus.REACHED or pose.distance < 1e-4
        assert there == (table["reached"][k] == 1), target
        if pose.status is DecisionStatus.REACHED:
            told = [table[f"{name} displacement"][k] for name in tripods.MOTORS]
            assert np.abs(np.array(told) - [pose.displacements[name][0] for name in tripods.MOTORS]).max() < 0.02
    assert 5 < (table["reached"] == 1).sum() < 27


def test_the_way_up_and_down_is_whole():
    """Places 27 mm below and above where the handle hangs, which `solve_pose` reaches, are reached, and all between."""
    robot = tripods.build()
    inverse, hanging = Inverse(robot), Statics(robot).solve().require().state
    home = robot.displacement(hanging, "pose")[:3]
    for y in (-0.027, 0.027):
        assert (
            inverse.solve_pose(hanging, pose=tripods.pose(home + np.array([0, y, 0]))).status is DecisionStatus.REACHED
        )
    line = serially(Grid("pose", {"y": tuple(np.linspace(-0.027, 0.027, 9).tolist())}))
    assert (line["reached"] == 1).all()


@pytest.mark.thorough
def test_the_papers_findings():
    """koehler2023, section V-B: without limits of torque the stiffer device gives more force, and the softer one's workspace is
    lower by its weight; limits of torque shrink the stiffer device's workspace more."""
    grid = Grid.around("pose", {"y": 0.03, "x": 0.03}, 7, home=UPRIGHT)
    found = {
        (modulus, torque): serially(grid, modulus=modulus * tripods.E, torque=torque)
        for modulus in (1.0, 0.2)
        for torque in (1e3, 0.04)
    }
    counts = {key: int((table["reached"] == 1).sum()) for key, table in found.items()}
    force = {key: float(table["force"][table["reached"] == 1].max()) for key, table in found.items()}
    height = {key: float(table["y"][table["reached"] == 1].mean()) for key, table in found.items()}
    assert force[1.0, 1e3] > 2 * force[0.2, 1e3]
    assert counts[1.0, 0.04] / counts[1.0, 1e3] < 0.6 < counts[0.2, 0.04] / counts[0.2, 1e3]
    assert height[0.2, 1e3] < height[1.0, 1e3] - 5e-4
    assert force[1.0, 0.04] < force[1.0, 1e3]


def test_processes_give_the_same_table(tmp_path):
    """To the last bit with one process and with two, once their kernels are on disk, and again from a journal that was cut off
    in the middle of a line. This process has compiled or loaded its kernels in another order: the same to rounding, which the
    motors, near a singular place, show more of."""
    grid, journal = Grid.around("pose", {"y": 0.01, "x": 0.01}, 3, home=UPRIGHT), tmp_path / "journal.jsonl"
    workspace(DEVICE, grid, workers=1, show=False)  # kernels that were not on disk are, from here on
    alone, here = workspace(DEVICE, grid, workers=1, show=False), serially(grid)
    assert list(here.columns) == list(alone.columns)
    assert (here["reached"] == alone["reached"]).all()
    assert (here["steps"] == alone["steps"]).all()
    for name in here.columns:
        assert np.allclose(here[name], alone[name], rtol=1e-6, atol=1e-7), name
    assert workspace(DEVICE, grid, workers=2, journal=journal, show=False) == alone
    lines = journal.read_text().splitlines(keepends=True)
    assert len(lines) == 4
    journal.write_text("".join(lines[:2]) + lines[2][:40])
    assert workspace(DEVICE, grid, workers=1, journal=journal, resume=True, show=False) == alone
    with pytest.raises(InputError, match="no row 'ry'"):
        explore(DEVICE, {}, {"effector": "pose", "rows": {"ry": [0.0]}, "home": None}, 1e-4, -1)


def test_rotations_and_lines():
    """Tilts about two axes at the middle; a line is one job; tables go to files and come back whole."""
    table = serially(Grid.around("pose", {"rx": 0.3, "rz": 0.3}, 3, home=UPRIGHT))
    assert (table["reached"] == 1).sum() >= 5
    assert np.nanmax(table["torque"]) > 0.05
    line = serially(Grid("pose", {"x": (-0.08, -0.06, -0.04, -0.01, 0.0, 0.01)}))
    reached = dict(zip(line["x"], line["reached"], strict=True))
    assert reached[0.01] == reached[0.0] == reached[-0.01] == 1
    assert reached[-0.08] == reached[-0.06] == 0


def test_tables_come_back(tmp_path):
    """From npz and CSV, with every digit and what is not known."""
    table = Table.of_rows([{"a": 1 / 3, "b": 2.0}, {"a": -1e-300}])
    npz, text = table.write(tmp_path / "table")
    assert Table.read(npz) == Table.read(text) == table
    assert np.isnan(table["b"][1])
    with pytest.raises(InputError, match="choose among a, b"):
        table["c"]
