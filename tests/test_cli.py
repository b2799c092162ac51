"""The command line, as a user types it."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pliant.cli import main
from pliant.device import Channel, Recorder
from pliant.gallery import all_robots
from pliant.shape import make, solids


def pliant(*arguments, cwd=None):
    """In a process of its own, as a shell starts it."""
    return subprocess.run(
        [sys.executable, "-m", "pliant.cli", *map(str, arguments)], capture_output=True, text=True, cwd=cwd
    )


@pytest.fixture
def typed(monkeypatch, capsys):
    """The same in this process, without its start: (exit code, what it printed, what it complained about)."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pliant", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


def test_run_cantilever_prints_theory_beside_and_saves_a_picture(tmp_path):
    """The main job: figures within a few per cent of beam theory for ten-node tets, a PNG, the same records as JSON."""
    done = pliant("run", "cantilever", "--json", tmp_path / "figures.json", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Timoshenko" in done.stdout
    assert "elastica" in done.stdout
    assert (tmp_path / "cantilever.png").read_bytes()[:4] == b"\x89PNG"
    figures = {f["name"]: f for f in json.loads((tmp_path / "figures.json").read_text())}
    for name in ("tip_force_order2", "own_weight_drop", "own_weight_reach"):
        f = figures[f"cantilever.{name}"]
        assert f["value"] == pytest.approx(f["reference"], rel=0.015)
    coarse = figures["cantilever.tip_force_order1"]
    assert coarse["value"] < 0.8 * coarse["reference"]


def test_headless_is_the_report_without_a_page(tmp_path):
    """`--headless` prints the figures, saves the picture and ends."""
    done = pliant("run", "cantilever", "--headless", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "elastica" in done.stdout
    assert "http://" not in done.stdout
    assert (tmp_path / "cantilever.png").exists()


def test_run_serves_a_page_on_this_machine_until_interrupted():
    """Without --headless the address of a page is printed with its token, the page answers there and nowhere else, a taken
    port is not the end, and Ctrl-C ends it well."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", "pliant.cli", "run", "cantilever", "--no-open", "--port", str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            line = process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", line)
            assert address, line + process.stderr.read()
            assert int(address.group(1)) != port
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(address.group().partition("?")[0], timeout=30)
            assert b"<html" in urllib.request.urlopen(address.group(), timeout=30).read().lower()
            process.send_signal(signal.SIGINT)
            complaints = process.communicate(timeout=60)[1]
        finally:
            process.kill()
    assert process.returncode == 0, complaints
    assert "Traceback" not in complaints


def test_a_typo_gets_the_choice(typed):
    """An unknown robot, benchmark or file is one line that names the remedy, exit code 2."""
    for arguments, message in (
        (("run", "cantilver"), "choose one of: ball, cantilever, diamond"),
        (("bench", "fme"), "choose: contact, fem, haptics, held, inverse, qp, realtime, rods or springs"),
        (("bench", "qp", "--mesh", "x.vtk"), "qp is not measured on a mesh; leave out --mesh"),
        (("mesh", "nowhere.stl"), "nowhere.stl"),
        (("run", "cantilever", "--json", "nowhere/x.json"), "there is no folder"),
        (("run", "diamond", "--trajectory", "spiral"), "choose one of: square, circle"),
        (("run", "diamond", "--body", "springs"), "not there on springs; leave out --body"),
        (("run", "cantilever", "--headless", "--out", __file__), "check the path"),
        (("run", "cantilever", "--trajectory", "path.csv"), "follows nothing; leave out --trajectory"),
        (("run", "trunk", "--trajectory", "nowhere.csv"), "nowhere.csv: no such file or directory; check the path"),
        (("run", "cantilever", "--port", "99999"), "65535"),
        (("run", "cantilever", "--host", "192.0.2.1"), "no address of this machine"),
        (("run", "diamond", "--headless", "--drive", "foo", "--command", "bananas"), "--drive needs a page"),
        (("run", "diamond", "--json", "x.json", "--drive", "simulated"), "--drive needs a page"),
        (("run", "diamond", "--command", "effort"), "give one with --drive, or leave out --command"),
        (("run", "diamond", "--headless", "--record", "x.mcap"), "give one with --drive, or leave out --record"),
        (("run", "diamond", "--drive", "simulated", "--record", "nowhere/x.mcap"), "there is no folder"),
    ):
        code, _, complaints = typed(*arguments)
        assert code == 2
        assert message in complaints
    done = pliant("run", "cantilver")
    assert done.returncode == 2
    assert "choose one of: ball, cantilever, diamond" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_wrong_is_said_before_the_work(tmp_path, monkeypatch):
    """An ending that no file of meshes has, a folder without the measurements: nothing is computed first. Repeats of the
    real-time benchmark are made."""
    from typer.testing import CliRunner

    from pliant.bench import realtime, recovery
    from pliant.cli import app
    from pliant.errors import FileError
    from pliant.paper import cronos

    def run(*arguments):
        return CliRunner().invoke(app, list(map(str, arguments)))

    def must_not(*arguments):
        raise AssertionError("this is work")

    solids.box((0.04, 0.02, 0.02)).write(tmp_path / "part.stl")
    monkeypatch.setattr("pliant.shape.read", must_not)
    done = run("mesh", tmp_path / "part.stl", "--fill", "0.005", "--out", tmp_path / "x.xyz")
    assert isinstance(done.exception, FileError)
    assert "x.xyz has an unknown ending; use one of .stl" in str(done.exception)
    monkeypatch.setattr(cronos, "_frequencies", must_not)
    done = run("paper", "cronos", "--data", tmp_path, "--out", tmp_path)
    assert isinstance(done.exception, FileError)
    assert str(done.exception).endswith("of the SOFA framework (--data)")
    calls = []
    monkeypatch.setattr(realtime, "measure", lambda seconds: (calls.append(seconds) or [], ["a line"]))
    monkeypatch.setattr(recovery, "measure", list)
    done = run("bench", "realtime", "--repeats", "3", "--seconds", "2")
    assert calls == [2.0] * 3
    assert done.output.count("a line") == 3
    words = " ".join(run("bench", "--help").output.replace("│", " ").split())
    assert "How long realtime runs, in seconds." in words


def test_mesh_inspects_and_fills(tmp_path):
    """A closed STL is described, filled with tets, and written."""
    solids.box((0.04, 0.02, 0.02)).write(tmp_path / "part.stl")
    done = pliant("mesh", tmp_path / "part.stl", "--fill", "0.006", "--out", tmp_path / "part.vtk")
    assert done.returncode == 0, done.stderr
    assert "closed" in pliant("mesh", tmp_path / "part.stl").stdout
    assert "dihedral" in done.stdout
    assert (tmp_path / "part.vtk").stat().st_size > 1000


def test_a_mesh_is_not_overwritten(tmp_path, typed):
    """A file of that name stays as it is, unless it is said that it may go; the part itself cannot be destroyed by a slip."""
    part, out = tmp_path / "part.stl", tmp_path / "part.vtk"
    solids.box((0.04, 0.02, 0.02)).write(part)
    out.write_text("mine")
    for target in (out, part):
        before = target.read_bytes()
        code, _, said = typed("mesh", part, "--fill", "0.006", "--out", target)
        assert code == 2
        assert "already exists; give another name, or --overwrite" in said
        assert target.read_bytes() == before
    assert typed("mesh", part, "--fill", "0.006", "--out", out, "--overwrite")[0] == 0
    assert out.stat().st_size > 1000


def test_what_is_replaced_is_told(tmp_path, typed):
    """Figures and pictures of an earlier run are replaced, and the terminal says so; a file that holds no figures is not."""
    file, out = tmp_path / "figures.json", tmp_path / "out"
    for replaced in ("", " (replaced)"):
        code, said, complaints = typed("run", "cantilever", "--json", file, "--out", out)
        assert code == 0, complaints
        assert f"picture: {out / 'cantilever.png'}{replaced}\n" in said
        assert f"figures: {file}{replaced}\n" in said
    file.write_text('{"mine": 1}')
    code, _, complaints = typed("run", "cantilever", "--json", file, "--out", out)
    assert code == 2
    assert "exists, and holds no figures; give another name" in complaints
    assert file.read_text() == '{"mine": 1}'


def test_a_drive_is_refused_before_anything_is_built(typed, monkeypatch):
    """An address that cannot be one, a robot without actuators, a kind of command without limits: nothing is built or
    compiled."""

    def must_not(*arguments):
        raise AssertionError("this is work")

    for exhibit in all_robots.values():
        monkeypatch.setitem(exhibit.__dict__, "build", must_not)
    for arguments, message in (
        (("diamond", "--drive", "can:foo"), "give can:INTERFACE:CHANNEL, serial:PORT, or simulated"),
        (("diamond", "--drive", "simulated", "--command", "bananas"), "choose 'effort' or 'displacement'"),
        (("cantilever", "--drive", "simulated"), "has no actuators to drive; leave out --drive"),
        (
            ("pneunet", "--drive", "simulated", "--command", "displacement"),
            "give --command effort, or leave out --command",
        ),
        (("multigait", "--drive", "simulated"), "leave out --drive"),
    ):
        code, _, complaints = typed("run", *arguments)
        assert code == 2
        assert message in complaints
        assert complaints.count("\n") == 1


def test_why_a_file_cannot_be_read_is_told(tmp_path, typed):
    """meshio prints its reason and ends the program; here the reason is in the one line."""
    for name, text, reason in (
        ("a.vtk", "# vtk DataFile Version 4.2\nx\nASCII\nDATASET NONSENSE\n", "supported (not NONSENSE)"),
        ("b.vtu", '<VTKFile type="ImageData"></VTKFile>', "Expected type UnstructuredGrid, found ImageData"),
        ("c.ply", "ply\nformat what", "meshio does not say why"),
    ):
        (tmp_path / name).write_text(text)
        code, _, said = typed("mesh", tmp_path / name)
        assert code == 2
        assert reason in said
        assert "SystemExit" not in said


def test_interrupted_is_no_traceback(typed, monkeypatch):
    """Ctrl-C while something is computed ends with the code that shells know."""

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setitem(all_robots["cantilever"].__dict__, "build", interrupted)
    code, _, complaints = typed("run", "cantilever", "--headless")
    assert code == 130
    assert "Traceback" not in complaints


def test_check_tells_the_discretization_error(tmp_path):
    """`pliant check` prints how much softer ten-node tets are."""
    make.box((0.1, 0.01, 0.01), (10, 1, 1)).write(tmp_path / "beam.vtk")
    done = pliant("check", tmp_path / "beam.vtk")
    assert done.returncode == 0, done.stderr
    assert "ten-node tets are softer by" in done.stdout


def test_repair_and_replay(tmp_path, typed):
    """A recording that ends in the middle: shown as it is, with its table and picture; repaired; then whole."""
    dtype = np.dtype([("time", "f8"), ("command", "f8", (2,)), ("flags", "i8")])
    channel = Channel(
        "control", dtype, {"command": "N"}, {"command": ("east", "west")}, words={"flags": {1: "bounded", 2: "stopped"}}
    )
    file = tmp_path / "run.mcap"
    with Recorder(file, [channel], origin=0.0) as recorder:
        ring = recorder.ring("control")
        record = ring.blank()
        for tick in range(500):
            record["time"], record["command"], record["flags"] = 0.001 * tick, (0.01 * tick, -2.5), tick < 7
            ring.push(record)
    file.write_bytes(file.read_bytes()[:-40])
    code, said, complaints = typed("replay", file, "--out", tmp_path)
    assert code == 0, complaints
    assert "never finished" in said
    assert "control.command" in said
    assert "4.99" in said
    assert "-2.5" in said
    assert "bounded 7 times" in said
    assert "stopped" not in said
    assert (tmp_path / "run.png").read_bytes()[:4] == b"\x89PNG"
    assert "500 records, 0.499 s" in typed("repair", file)[1]
    assert "is whole" in typed("repair", file)[1]
    assert "never finished" not in typed("replay", file, "--out", tmp_path)[1]
    data = bytearray(file.read_bytes())
    data[200:250] = bytes(50)
    file.write_bytes(data)
    for command in (("replay", file, "--out", tmp_path), ("repair", file)):
        said = typed(*command)[1]
        assert "1 damaged part of the file skipped" in said
        assert "500 records that were written are missing: control 500" in said
        assert "never finished" not in said
    assert "the original is kept" in said
    assert (tmp_path / "run.mcap.damaged").read_bytes() == data
    code, _, complaints = typed("repair", tmp_path / "run.png")
    assert code == 2
    assert "is no recording" in complaints


def test_version():
    """`pliant --version` prints it."""
    assert pliant("--version").stdout.startswith("pliant 0.")


def test_a_trajectory_in_millimetres_is_refused(tmp_path):
    """A CSV file whose path begins far away is most likely in other units, and is said so before anything runs."""
    file = tmp_path / "path.csv"
    file.write_text("time,x,y,z\n0,0,0,-190\n1,10,0,-185\n")
    done = pliant("run", "trunk", "--headless", "--trajectory", file, "--out", tmp_path)
    assert done.returncode == 2
    assert "give coordinates in metres" in done.stderr


def test_a_trunk_follows_a_csv_file(tmp_path):
    """A path from a file is followed to the end, and the figures are written."""
    path, out = tmp_path / "path.csv", tmp_path / "figures.json"
    path.write_text("time,x,y,z\n0,0.03,0,-0.185\n0.5,0.028,0.01,-0.185\n1,0.024,0.018,-0.185\n")
    done = pliant("run", "trunk", "--headless", "--trajectory", path, "--json", out, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "reference" not in done.stdout, "no empty columns"
    figures = {f["name"]: f["value"] for f in json.loads(out.read_text())}
    assert figures["trunk.realtime_error_max"] < 0.5
    assert figures["trunk.converged_error_max"] < 1e-3


def test_run_a_mover_headless(tmp_path):
    """The expander: a table with bounds that hold, the same records as JSON, stills as a PNG; a wrong gait ends with code 2
    and the choices."""
    out = tmp_path / "figures.json"
    done = pliant("run", "expander", "--headless", "--json", out, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "holds" in done.stdout
    assert "does not hold" not in done.stdout
    figures = {f["name"]: f for f in json.loads(out.read_text())}
    assert figures["expander.growth"]["value"] >= 2.0
    assert figures["expander.growth"]["holds"] is True
    assert (tmp_path / "expander.png").stat().st_size > 10_000
    done = pliant("run", "multigait", "--gait", "fly", "--headless", "--out", tmp_path)
    assert done.returncode == 2
    assert "choose one of: walk, undulate" in done.stderr


def test_all_robots_are_named():
    """The list, the help, the README and the guide's table name every robot of the gallery."""
    listed, told = pliant("robots").stdout, pliant("run", "--help").stdout
    root = Path(__file__).parents[1]
    readme, guide = (" ".join((root / page).read_text().split()) for page in ("README.md", "docs/guide.md"))
    *most, last = all_robots
    assert f"`pliant run ROBOT` with {', '.join(most)} or {last}." in readme
    for name in all_robots:
        assert f"| `{name}` |" in guide
        assert name in listed
        assert name in told


def test_doctor():
    """The doctor tells versions, cores and real-time rights."""
    report = pliant("doctor").stdout
    for word in (
        "numba",
        "cores:",
        "real-time priority:",
        "gmsh",
        "mcap",
        "pliant[hardware]" if find_spec("can") is None else "python-can",
    ):
        assert word in report
