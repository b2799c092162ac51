"""Sweeps: killed runs and killed workers lose nothing that was finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pliant.analysis import Campaign, Study, Table, sweep
from pliant.analysis.sweep import best_of
from pliant.errors import FileError, InputError

SMALL = """
variants = {"a": [1.0, 2.0, 3.0], "b": [10.0, 20.0]}
def evaluate(a, b):
    return {"sum": a + b, "ratio": a / b}
"""
DEADLY = """
import os, pathlib, time
variants = [{"k": k} for k in range(6)]
def evaluate(k):
    time.sleep(0.05)
    once = pathlib.Path(__file__).with_suffix(f".{k}")
    if k == 3 and not once.exists():
        once.touch()
        os.kill(os.getpid(), 9)
    return {"square": k * k}
"""
DEVICES = """
from pliant.analysis import Grid
variants = [{"radius": 0.13 + 0.002 * (k % 20), "thickness": 0.003 + 0.0002 * (k // 20)} for k in range(200)]
ROWS = {"y": (-0.01, -0.005, 0.0, 0.005, 0.01), "x": tuple(i * 0.003 for i in range(-5, 5))}
def build(radius, thickness):
    from pliant.gallery import tripods
    return tripods.build(tripods.Design(radius=radius, thickness=thickness), elements=8)
def evaluate(radius, thickness):
    from pliant.analysis.workspace import _Walk
    grid = Grid("pose", ROWS)
    import numpy as np
    walk = _Walk(build(radius, thickness), grid, 1e-4)
    rows = [walk.visit(p) for p in sorted(np.ndindex(*grid.shape), key=lambda p: (grid._depth(p), p))]
    return {"reached": sum(r["reached"] for r in rows), "force": max(r.get("force", 0.0) for r in rows)}
"""


def study(folder: Path, text: str, name: str = "study.py") -> Study:
    """A file with that text."""
    (folder / name).write_text(text)
    return Study(folder / name)


def test_every_combination_once(tmp_path):
    """In order, with parameters and results side by side; and those that no other beats."""
    with ThreadPoolExecutor(2) as two:
        table = sweep(study(tmp_path, SMALL), executor=two, show=False)
    assert table["a"].tolist() == [1, 1, 2, 2, 3, 3]
    assert table["sum"].tolist() == [11, 21, 12, 22, 13, 23]
    assert best_of(table, ("sum", "ratio")) == [4, 5]
    assert best_of(table, ("sum", "a"), costs=("sum",)) == [0, 2, 4]


def test_a_killed_worker_takes_nothing_along(tmp_path):
    """A worker that is killed by its third job once: the table is that of one that was not."""
    table = sweep(study(tmp_path, DEADLY), workers=2, journal=tmp_path / "j.jsonl", show=False)
    assert table["square"].tolist() == [k * k for k in range(6)]
    assert (tmp_path / "study.3").exists()


def test_a_job_that_always_kills_is_named(tmp_path):
    """After three deaths without progress, with what was finished in the journal."""
    text = DEADLY.replace("k == 3 and not once.exists()", "k == 3")
    with pytest.raises(InputError, match=r"died 3 times.*'k': 3"):
        sweep(study(tmp_path, text), workers=1, journal=tmp_path / "j.jsonl", show=False)
    lines = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    assert {0, 1, 2} <= {line["job"] for line in lines[1:]}


def test_errors_of_workers_come_whole(tmp_path):
    """With their words and their remedy, out of another process."""
    text = "variants = [{'a': 1}]\ndef evaluate(a):\n    import pliant as pl\n    return pl.Section.circle(-1.0)\n"
    with pytest.raises(InputError, match=r"radius|diameter"):
        sweep(study(tmp_path, text), workers=1, show=False)


def test_other_work_is_not_resumed(tmp_path):
    """A journal of other variants, a file without evaluate, variants that are no plain data."""
    journal = tmp_path / "j.jsonl"
    with ThreadPoolExecutor(1) as one:
        sweep(study(tmp_path, SMALL), executor=one, journal=journal, show=False)
        with pytest.raises(FileError, match="other work"):
            sweep(study(tmp_path, SMALL.replace("3.0", "4.0")), executor=one, journal=journal, resume=True, show=False)
    with pytest.raises(InputError, match="has no evaluate"):
        study(tmp_path, "variants = []")
    with pytest.raises(InputError, match="variant 0"):
        study(tmp_path, "variants = [{'a': {1, 2}}]\ndef evaluate(a): ...")
    with pytest.raises(FileError, match="cannot be loaded"):
        study(tmp_path, "1 / 0")
    with pytest.raises(InputError, match="not plain"):
        Campaign("bad", test_other_work_is_not_resumed, [{"a": object()}])


def killed_and_resumed(folder: Path, text: str, after: int) -> Table:
    """`pliant sweep` killed once so many jobs are in its journal, then resumed."""
    (folder / "study.py").write_text(text)
    command = [sys.executable, "-m", "pliant.cli", "sweep", str(folder / "study.py"), "--out", str(folder / "out")]
    journal = folder / "out" / "sweep_study.jsonl"
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    while not journal.exists() or journal.read_text().count("\n") < after + 1:
        assert running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    finished = journal.read_text().count("\n") - 1
    subprocess.run([*command, "--resume"], check=True, stdout=subprocess.DEVNULL)
    assert after <= finished < len(Study(folder / "study.py").variants)
    return Table.read(folder / "out" / "sweep_study.npz")


def test_a_killed_run_goes_on(tmp_path):
    """The command and its workers are killed in the middle; with --resume it ends with the table of a run that was not."""
    text = DEADLY.replace("range(6)", "range(40)").replace("k == 3 and not once.exists()", "False")
    table = killed_and_resumed(tmp_path, text, after=5)
    assert table["square"].tolist() == [k * k for k in range(40)]


@pytest.mark.slow
def test_two_hundred_devices_killed_and_resumed(tmp_path):
    """200 designs of the haptic device x 50 places: killed and resumed, the table is that of a run that was not."""
    table = killed_and_resumed(tmp_path, DEVICES, after=20)
    whole = sweep(Study(tmp_path / "study.py"), workers=2, show=False)
    assert table == whole
    assert len(table) == 200
    assert table["reached"].max() > 30


def test_a_cluster_gives_the_same_table(tmp_path):
    """On a local Dask cluster, one of whose workers is killed midway."""
    distributed = pytest.importorskip("distributed")
    text = DEADLY.replace("range(6)", "range(40)")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
        from pliant.analysis.campaign import cluster

        with cluster(local.scheduler_address) as executor:
            table = sweep(study(tmp_path, text), executor=executor, show=False)
    assert table["square"].tolist() == [k * k for k in range(40)]
