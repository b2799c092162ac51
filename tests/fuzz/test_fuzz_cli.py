"""Hostile arguments of the command line: exit code 2 and one line that ends with a remedy; never a traceback, never a hang.

Everything runs in this process, and whatever would be work is not done: an argument that is refused must be refused before.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant import solids
from pliant.cli import main
from pliant.gallery import all_robots
from pliant.paper import all_papers

pytestmark = pytest.mark.thorough

PATIENCE = 60
"""Seconds after which an argument counts as a hang, on a busy machine too."""
NO_NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1e400", "", "  ", "é", "0x10", "12abc", "１２e", "1,5", "--", "None")
"""What no length, modulus, port or count can be."""
NO_WORDS = ("", " ", "é", "-", "--nonsense", "a b", "DIAMOND", "0", "nan", "\t", "../..", "'; --", "x" * 5000)
"""What no robot, benchmark, paper, unit, gait, body, path or filler is called."""
NO_DRIVES = (
    "",
    "can",
    "can:",
    "can:foo",
    "can::",
    "can::can0",
    "can:x:",
    "serial",
    "serial:",
    "simulated:",
    "CAN:a:b",
    "é",
    ":",
)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A folder with one good part, and much that is not what its name says."""
    folder = tmp_path_factory.mktemp("hostile")
    before = Path.cwd()
    os.chdir(folder)
    noise = np.random.default_rng(0).bytes(600)
    solids.box((0.04, 0.02, 0.02)).write("part.stl")
    for name in ("junk.stl", "junk.vtk", "junk.vtu", "junk.ply", "junk.obj", "junk.msh", "junk.mcap", "junk.csv"):
        Path(name).write_bytes(noise)
    for name in ("empty.stl", "empty.vtk", "empty.msh", "empty.mcap", "empty.csv"):
        Path(name).write_text("")
    for name in ("folder.stl", "folder.mcap", "folder.csv"):
        Path(name).mkdir()
    Path("loop.stl").symlink_to("loop.stl")
    Path("cut.vtk").write_text(
        "# vtk DataFile Version 4.2\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0\n1 0 0\n"
    )
    Path("format.msh").write_text("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n")
    Path("xml.vtu").write_text("<VTKFile>nonsense")
    Path("words.csv").write_text("time,x\nfoo,bar\n")
    Path("nan.csv").write_text("time,x,y,z\n0,nan,0,0\n1,0,0,inf\n")
    if os.geteuid() != 0:  # to root nothing is unreadable; there it is a file that is missing
        Path("locked.stl").write_bytes(Path("part.stl").read_bytes())
        Path("locked.stl").chmod(0)
    yield folder
    os.chdir(before)


NO_MESHES = [
    "nowhere.stl", "junk.stl", "junk.vtk", "junk.vtu", "junk.ply", "junk.obj", "junk.msh", "empty.stl", "empty.vtk",
    "empty.msh", "folder.stl", "loop.stl", "cut.vtk", "format.msh", "xml.vtu", "locked.stl", ".", "/", "/dev/null", "",
    "x" * 300 + ".stl",
    "é\udcff.stl", "part.xyz", "part.stl/x.stl", "~nobody/x.stl", "part", "a\nb.stl",
]  # fmt: skip
NO_RECORDINGS = [
    "nowhere.mcap",
    "junk.mcap",
    "empty.mcap",
    "folder.mcap",
    "part.stl",
    ".",
    "/",
    "",
    "x" * 300,
    "é\udcff.mcap",
]
NO_TRAJECTORIES = [
    "nowhere.csv",
    "junk.csv",
    "empty.csv",
    "folder.csv",
    "words.csv",
    "nan.csv",
    "é.csv",
    "part.stl/x.csv",
]
NO_OUTPUTS = ["nowhere/x.{}", "part.stl/x.{}", ".", "/", "/proc/nowhere/x.{}", "x" * 300 + ".{}"]


@pytest.fixture
def no_work(monkeypatch):
    """Whatever takes long must not be reached by an argument that is refused."""

    def work(*_, **__):
        raise AssertionError("this is work")

    for name in ("fem", "inverse", "qp", "realtime", "recovery", "springs"):
        monkeypatch.setattr(f"pliant.bench.{name}.measure", work)
    monkeypatch.setattr("pliant.view.page.ServedPage.serve", work)


@pytest.fixture
def no_robots(monkeypatch):
    """Nor must a robot be built."""

    def build(*_, **__):
        raise AssertionError("this is work")

    for exhibit in all_robots.values():
        monkeypatch.setitem(exhibit.__dict__, "build", build)


def typed(*arguments: str) -> tuple[int, str, str]:
    """What a shell would get: exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()

    def hang(*_):
        pytest.fail(f"{arguments} hangs")

    before, handler = sys.argv, signal.signal(signal.SIGALRM, hang)
    sys.argv = ["pliant", *arguments]
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def is_refused(*arguments: str) -> None:
    """Exit code 2, one line, a remedy after the last semicolon."""
    code, _, said = typed(*arguments)
    assert code == 2, f"{arguments} gave {code}: {said}"
    lines = said.splitlines()
    assert len(lines) == 1, said
    assert lines[0].startswith("pliant: "), said
    what, _, remedy = lines[0].rpartition("; ")
    assert len(what) > 12, said
    assert len(remedy) > 8, said


def named(part: str | tuple[str, ...]) -> str:
    """The name of a part of a command, for pytest."""
    return repr(part)[:20] if isinstance(part, str) else " ".join(part)


NUMBERS = [
    *((n, ("mesh", "part.stl", "--fill")) for n in NO_NUMBERS),
    *((n, ("check", "part.stl", "--fill")) for n in NO_NUMBERS),
    *((n, ("check", "part.stl", "--fill", "0.005", "--young")) for n in NO_NUMBERS),
    *(
        (n, ("check", "part.stl", "--fill", "0.005", "--nu"))
        for n in (*NO_NUMBERS, "0.5", "0.6", "-1.5")
        if n not in ("0",)
    ),
    *((n, ("run", "cantilever", "--port")) for n in (*NO_NUMBERS, "65536", "8080.5")),
    *((n, ("replay", "junk.mcap", "--page", "--port")) for n in (*NO_NUMBERS, "65536")),
    *((n, ("bench", "qp", "--repeats")) for n in (*NO_NUMBERS, "1.5", "1000000000")),
    *((n, ("bench", "realtime", "--seconds")) for n in (*NO_NUMBERS, "1e300")),
]


@pytest.mark.parametrize(("number", "before"), NUMBERS, ids=named)
def test_numbers_that_are_none(number, before, workshop, no_work):
    """Sizes, moduli, ports, counts and times."""
    is_refused(*before, number)


WORDS = [
    *((w, ("run",), ()) for w in NO_WORDS),
    *((w, (), ()) for w in NO_WORDS),
    *((w, ("bench",), ()) for w in NO_WORDS),
    *((w, ("paper",), ()) for w in NO_WORDS),
    *((w, ("run", "diamond", "--body"), ()) for w in NO_WORDS),
    *((w, ("run", "multigait", "--gait"), ()) for w in NO_WORDS),
    *((w, ("run", "diamond", "--gait"), ()) for w in NO_WORDS),
    *((w, ("mesh", "part.stl", "--unit"), ()) for w in NO_WORDS),
    *((w, ("mesh", "part.stl", "--method"), ("--fill", "0.005")) for w in NO_WORDS),
    *((w, ("run", "diamond", "--command"), ("--drive", "simulated")) for w in NO_WORDS),
    *((w, ("run", "diamond", "--drive"), ()) for w in NO_DRIVES),
    *((w, ("run", "finger", "--drive"), ()) for w in NO_DRIVES),
]


@pytest.mark.parametrize(("word", "before", "after"), WORDS, ids=named)
def test_words_that_nobody_knows(word, before, after, workshop, no_work, no_robots):
    """Robots, benchmarks, papers, bodies, gaits, units, fillers, commands and drives; nothing is built before."""
    is_refused(*before, word, *after)


FILES = [
    *((f, ("mesh",), ()) for f in NO_MESHES),
    *((f, ("check",), ()) for f in NO_MESHES),
    *((f, ("run", "diamond", "--headless", "--mesh"), ()) for f in NO_MESHES),
    *((f, ("bench", "inverse", "--mesh"), ()) for f in NO_MESHES),
    *((f, ("replay",), ()) for f in NO_RECORDINGS),
    *((f, ("repair",), ()) for f in NO_RECORDINGS),
    *((f, ("paper", "cronos", "--data"), ()) for f in ("nowhere", "part.stl", ".", "folder.stl", "")),
    *(
        (f.format("stl"), ("mesh", "part.stl", "--out"), ())
        for f in (*NO_OUTPUTS, "part.stl", "folder.stl", "x.xyz", "x")
    ),
    *(
        (f.format("json"), ("run", "cantilever", "--json"), ())
        for f in (*NO_OUTPUTS, "part.stl", "junk.csv", "empty.csv")
    ),
    *((f.format("json"), ("bench", "qp", "--json"), ()) for f in (*NO_OUTPUTS, "part.stl", "empty.csv")),
    *((f.format("mcap"), ("repair", "junk.mcap", "--out"), ()) for f in (*NO_OUTPUTS, "part.stl")),
    *(
        (f, ("run", "cantilever", "--headless", "--out"), ())
        for f in ("part.stl", "part.stl/x", "/proc/nowhere", "x" * 300)
    ),
    *((f, ("paper", "cronos", "--out"), ()) for f in ("part.stl", "part.stl/x", "/proc/nowhere")),
    *((f.format("mcap"), ("run", "diamond", "--drive", "simulated", "--record"), ()) for f in NO_OUTPUTS),
    *((f, ("run", "finger", "--headless", "--trajectory"), ()) for f in NO_TRAJECTORIES),
]


@pytest.mark.parametrize(("file", "before", "after"), FILES, ids=named)
def test_files_that_are_not_what_they_should_be(file, before, after, workshop, no_work, no_robots):
    """Missing, empty, cut, random, folders, links to themselves, names too long or not text; outputs that cannot be, or that
    would destroy something."""
    kept = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    is_refused(*before, file, *after)
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",), ("mesh",), ("check",), ("replay",), ("repair",), ("bench",), ("paper",), ("run", "diamond", "extra"),
        ("run", "diamond", "--port"), ("mesh", "part.stl", "--fill"), ("run", "--headless=maybe", "diamond"), ("--port", "1"),
        ("robots", "all"), ("doctor", "--fast"), ("run", "diamond", "--headless", "--drive", "simulated"),
        ("run", "diamond", "--command", "effort"), ("run", "diamond", "--record", "x.mcap"),
        ("bench", "springs", "--mesh", "part.stl"), ("mesh", "part.stl", "--overwrite", "--out", "x.xyz"),
        ("run", "cantilever", "--mesh", "part.stl", "--headless"), ("run", "cantilever", "--trajectory", "x", "--headless"),
        ("run", "multigait", "--drive", "simulated"), ("run", "pneunet", "--drive", "simulated", "--command", "displacement"),
        ("run", "cantilever", "--drive", "simulated"), ("check", "part.stl"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_arguments_that_do_not_go_together(arguments, workshop, no_work):
    """Too few, too many, or such that contradict each other."""
    is_refused(*arguments)


TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
COMMANDS = ("run", "mesh", "check", "replay", "repair", "bench", "paper", "robots")
GOOD = (
    "part.stl",
    "0.005",
    "mm",
    "diamond",
    "cantilever",
    "multigait",
    "qp",
    "fem",
    "cronos",
    "simulated",
    "effort",
    "walk",
    "1",
)
OPTIONS = (
    "--fill",
    "--unit",
    "--young",
    "--nu",
    "--port",
    "--json",
    "--out",
    "--mesh",
    "--gait",
    "--drive",
    "--data",
    "--repeats",
)
BAD = (*NO_NUMBERS, *NO_WORDS, *NO_MESHES, *NO_DRIVES)
WORD = st.one_of(st.sampled_from(GOOD), st.sampled_from(OPTIONS), st.sampled_from(BAD), TEXT)


@pytest.fixture
def work_is_done(monkeypatch):
    """Whatever is allowed counts as done well, at once."""

    def done(*_, **__):
        raise SystemExit(0)

    for name in ("fem", "inverse", "qp", "realtime", "recovery", "springs"):
        monkeypatch.setattr(f"pliant.bench.{name}.measure", done)
    for exhibit in all_robots.values():
        monkeypatch.setitem(exhibit.__dict__, "build", done)
        monkeypatch.setitem(exhibit.__dict__, "report", done)
    for paper in all_papers.values():
        monkeypatch.setitem(paper.__dict__, "reproduce", done)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(COMMANDS), st.lists(WORD, max_size=6))
def test_anything_at_all(workshop, work_is_done, command, words):
    """Whatever is typed, good words among bad ones: it works, or it is one line with a remedy."""
    code, _, said = typed(command, *words)
    assert code in (0, 2), said
    assert "Traceback" not in said
    if code == 2:
        is_refused(command, *words)
