"""Compiled kernels: where they are kept, and what a user is told while they are made."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

import pliant
from pliant.algebra import compile_progress, kernel_cache
from pliant.algebra.compile_progress import CompileProgress, kernel_name
from pliant.errors import PliantWarning
from pliant.gallery import all_robots

pytestmark = pytest.mark.thorough

ROOT = Path(pliant.__file__).parent
USE = """
import numpy as np
from pliant.algebra.sparse._symbolic_kernels import postorder
print(postorder(np.array([1, 2, -1]), np.array([1, 1, 1]))[0])
print(postorder.stats.cache_path)
"""


@pytest.fixture
def unwritable(tmp_path):
    """(run, folder for temporary files): runs code with a copy of pliant beside which nobody can keep anything, root neither,
    for a user whose home is no folder."""
    copy, temporary = tmp_path / "site" / "pliant", tmp_path / "temporary"
    temporary.mkdir()
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_text("not a folder")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(copy.parent),
        "HOME": "/dev/null/home",
        "TMPDIR": str(temporary),
    }

    def run(code: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)

    return run, temporary


def test_kernels_go_to_a_private_folder_where_nothing_else_can_be_written(unwritable):
    """`import pliant` works, warns once with the remedy, and keeps kernels where only this user can write; the next process
    finds them there."""
    run, temporary = unwritable
    done = run(USE)
    assert done.returncode == 0, done.stderr
    folder = temporary / f"pliant-kernels-{os.geteuid()}"
    assert done.stdout.splitlines()[-1].startswith(str(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.nbc"))
    assert done.stderr.count("PliantWarning") == 1
    assert "set NUMBA_CACHE_DIR to a folder of yours" in done.stderr
    assert "compiling" in done.stderr
    assert "compiling" not in run(USE).stderr


@pytest.mark.parametrize("trap", ["open to others", "a link", "a file"])
def test_a_folder_that_others_could_write_to_is_not_trusted(unwritable, trap):
    """Whatever already has that name and is not ours alone is left alone: a folder of this process is taken, and removed."""
    run, temporary = unwritable
    place = temporary / f"pliant-kernels-{os.geteuid()}"
    if trap == "open to others":
        place.mkdir()
        place.chmod(0o777)
    elif trap == "a link":
        (temporary / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(temporary / "elsewhere")
    else:
        place.write_text("")
    done = run(USE)
    assert done.returncode == 0, done.stderr
    used = Path(done.stdout.splitlines()[-1])
    assert used.parent.parent == temporary
    assert used.parent != place
    assert "for this process only" in done.stderr
    assert not used.exists()
    assert not list(temporary.rglob("*.nbi"))


def test_without_any_folder_kernels_are_not_kept(monkeypatch):
    """No place at all: a warning, and a kernel that works without a cache."""

    def nowhere():
        raise FileNotFoundError("no usable temporary directory found")

    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(kernel_cache.tempfile, "mkdtemp", lambda **_: nowhere())
    kernel_cache.private_folder.cache_clear()
    with pytest.warns(PliantWarning, match="are not kept"):
        assert kernel_cache.private_folder() is None
    kernel_cache.private_folder.cache_clear()


def test_a_folder_that_others_could_replace_is_not_private(tmp_path):
    """Ours, but in a folder where anybody may rename it: not private, unless that has the sticky bit."""
    tmp_path.chmod(0o777)
    folder = tmp_path / "own"
    folder.mkdir(mode=0o700)
    assert not kernel_cache.is_private(folder)
    tmp_path.chmod(0o1777)
    assert kernel_cache.is_private(folder)


def begin(progress: CompileProgress, name: str) -> SimpleNamespace:
    """A kernel of this name is compiled from now on."""
    module, _, function = name.partition("#")[0].rpartition(".")
    named = SimpleNamespace(__module__=f"pliant.{module}", __qualname__=function, __name__=function)
    compiled = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=named), "args": ()})
    progress.on_start(compiled)
    return compiled


def one(name: str) -> str:
    """As it is counted, without arguments."""
    module, _, function = name.rpartition(".")
    return kernel_name(SimpleNamespace(__module__=module, __qualname__=function), ())


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """A job of four kernels of which none is in the cache, and a clock that can be set."""
    names = [one(f"room.kernel{k}") for k in range(4)]
    table = {"kernels": dict(zip(names, (10.0, 20.0, 30.0, 0.0), strict=True)), "jobs": {"run robot": [0, 1, 2, 3]}}
    (tmp_path / "kernels.json").write_text(json.dumps(table))
    monkeypatch.setattr(compile_progress, "COUNTED", tmp_path / "kernels.json")
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(compile_progress.time, "perf_counter", lambda: clock.now)
    return clock


def test_in_a_pipe_a_line_every_few_seconds_tells_how_far_it_is(counted):
    """The number of all kernels from the start, the time left by the speed of this machine, an end; nested ones count once."""
    stream = io.StringIO()
    progress = CompileProgress(stream)
    progress.job = "run robot"
    for k, seconds in enumerate((20.0, 40.0, 60.0)):  # half as fast as where it was counted
        kernel = begin(progress, f"room.kernel{k}")
        counted.now += seconds
        if k == 2:
            inner = begin(progress, "room.kernel3")
            progress.on_end(inner)
        progress.on_end(kernel)
    assert stream.getvalue().splitlines() == [
        "pliant: compiling 4 kernels for this machine (about 60 s, each only once) ...",
        "pliant: kernel 1 of 4, about 60 s left",
        "pliant: kernel 2 of 4, about 100 s left",
        "pliant: kernel 3 of 4, about 60 s left",
        "pliant: 4 kernels compiled in 120 s",
    ]


def test_the_count_never_exceeds_the_number(counted):
    """A kernel that nobody counted makes the number larger, at once; one spelled otherwise is taken for its name."""
    stream = io.StringIO()
    progress = CompileProgress(stream)
    progress.job = "run robot"
    for name in ("room.kernel0", "other.kernel", "room.kernel1", "room.kernel2", "room.kernel3"):
        counted.now += 10.0
        kernel = begin(progress, name)
        assert progress.count <= progress.total
        progress.on_end(kernel)
    counts = re.findall(r"kernel (\d+) of (\d+)", stream.getvalue())
    assert counts == [("1", "4"), ("2", "5"), ("3", "5"), ("4", "5"), ("5", "5")]
    assert stream.getvalue().endswith("5 kernels compiled in 40 s\n")


def test_a_program_that_nobody_counted_is_told_what_is_known(counted):
    """A script of one's own: the kernels so far, and no number that could be wrong."""
    stream = io.StringIO()
    progress = CompileProgress(stream)
    progress.on_end(begin(progress, "room.kernel0"))
    assert stream.getvalue() == (
        "pliant: compiling kernels for this machine (each only once) ...\npliant: kernel 1, 0 s so far\n"
    )
    assert progress.total is None


def test_on_a_terminal_one_line_is_written_again_and_again(counted):
    """It ends clean."""
    stream = io.StringIO()
    stream.isatty = lambda: True
    progress = CompileProgress(stream)
    progress.job = "run robot"
    for k in range(4):
        progress.on_end(begin(progress, f"room.kernel{k}"))
    assert stream.getvalue().count("\n") == 2
    assert "\r  kernel 4 of 4, about 0 s left: kernel3" in stream.getvalue()


def test_the_first_run_of_a_job_counts_to_its_number(tmp_path):
    """`pliant mesh --fill` from an empty cache, in a pipe: every kernel that was counted is compiled, and no other."""
    pliant.solids.box((0.04, 0.02, 0.02)).write(tmp_path / "part.stl")
    command = [sys.executable, "-m", "pliant.cli", "mesh", "part.stl", "--fill", "0.005"]
    cache = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=cache, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    number = len(compile_progress.counted_kernels("mesh --fill"))
    assert f"compiling {number} kernels" in done.stderr
    assert f"kernel 1 of {number}, about" in done.stderr
    assert f"pliant: {number} kernels compiled in" in done.stderr


def test_what_was_counted_of_the_main_job_still_holds():
    """kernels.json has what `pliant run diamond` needs now; if not: python benchmarks/count_kernels.py."""
    script = Path(__file__).parents[2] / "benchmarks" / "count_kernels.py"
    done = subprocess.run([sys.executable, script, "--check", "run diamond"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_job_of_the_command_line_names_what_was_counted():
    """The names that the command line uses are those of the table."""
    for name in all_robots:
        assert compile_progress.counted_kernels(f"run {name}")
        assert compile_progress.counted_kernels(f"run {name} --headless")


def test_import_warns_of_nothing_where_all_is_well():
    """Kernels have their place here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert subprocess.run([sys.executable, "-W", "error", "-c", "import pliant"]).returncode == 0
