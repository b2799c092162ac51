"""What the pages say is true: their code runs as it is read, their commands exist, their figures are those measured."""

from __future__ import annotations

import importlib.util
import re
import shlex
import socket
import sys
import urllib.request
from dataclasses import fields
from pathlib import Path

import pytest
from typer.main import get_command

import pliant
from pliant import control, solids
from pliant.cli import app, main
from pliant.gallery import all_robots
from pliant.paper import all_papers
from pliant.view.page import ServedPage

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
CHEAP = ("robots", "doctor", "mesh", "check", "replay", "repair")
"""Commands of pliant that a page's test runs; of the others it is checked that they could be typed like that."""
TESTED_ELSEWHERE = ("python3 -m venv",)
"""Lines of a shell that are not for this test: CI runs them in a clean environment (test_readme.py)."""


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """The blocks of a page in a language, each with its first line's number."""
    text = page.read_text()
    return [(text[: b.start(2)].count("\n"), b[2]) for b in BLOCK.finditer(text) if b[1] == language]


def commands(page: Path) -> list[str]:
    """Every command on a page: lines of its shell blocks, and what stands in a sentence as `pliant ...`."""
    lines = [line for _, block in blocks(page, "bash") for line in block.splitlines()]
    typed = [line.partition("  #")[0].strip() for line in lines if line and not line.startswith("#")]
    prose = BLOCK.sub("", page.read_text())
    return typed + [re.sub(r"\s+", " ", said) for said in re.findall(r"`(pliant [^`]+)`", prose)]


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A folder with the files that pages speak of, in which pages are served until somebody has looked at them once."""
    monkeypatch.chdir(tmp_path)
    solids.box((0.1, 0.02, 0.02)).write("finger.stl", unit="mm")
    Path("path.csv").write_text("time,x,y,z\n0,0.1,0.01,0.01\n1,0.1,0.01,0.012\n")

    def serve_one_visitor(page: ServedPage, **options) -> None:
        """Opened on a free port, looked at once, and closed; that Ctrl-C ends a page is tested in test_cli.py."""
        options.pop("browser", None)
        with page:
            address = page.open(**options | {"port": free_port()})
            with urllib.request.urlopen(address, timeout=60) as answer:
                assert b"<html" in answer.read().lower()

    monkeypatch.setattr(ServedPage, "serve", serve_one_visitor)
    return tmp_path


def free_port() -> int:
    """Free now, and not among those that tests on other cores begin with."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def runs_processes(page: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.alone] if "TwoRates(" in page.read_text() else []


def finger_bends_down(names: dict) -> None:
    """What the README's example should come to: the tip is 3 mm lower, by a pressure within its limits; W is symmetric."""
    step, model = names["step"], names["model"]
    assert names["robot"].displacement(names["state"], "tip") == pytest.approx(names["height"] - 3e-3, abs=1e-6)
    assert 10e3 < step.efforts["air"] < 40e3
    assert model.names == ("air", "tip.z")
    assert abs(model.W - model.W.T).max() <= 1e-10 * abs(model.W).max()


def arm_rises(names: dict) -> None:
    """What the guide should come to: the arm's top goes up by 3 mm, by its upper cable, and what was recorded is there."""
    pose, rise = names["pose"], names["arm"].displacement(names["pose"].state, "top") - names["top"]
    assert rise[2] == pytest.approx(3e-3, abs=2e-4)
    assert pose.efforts["up"] > 0
    assert names["log"]["control"]["command"].shape == (1, 2)
    assert names["run"].models > 0


CHECKS = {"README.md": finger_bends_down, "guide.md": arm_rises}
"""Of what a page's code leaves behind."""


@pytest.mark.parametrize("page", [pytest.param(p, marks=runs_processes(p), id=p.name) for p in PAGES])
def test_a_page_runs_from_top_to_bottom(page, workshop, monkeypatch, capsys):
    """All Python of a page in one namespace, then its cheap commands in the folder that this left."""
    names = {"__name__": "__main__"}
    for line, code in blocks(page, "python"):
        padded = "\n" * line + code  # so that a traceback has the line of the page
        exec(compile(padded, str(page), "exec"), names)
    CHECKS.get(page.name, lambda names: None)(names)
    for command in commands(page):
        words = shlex.split(command)
        if words[0].endswith("pliant") and words[1] in CHEAP and not set(words) & {"FILE", "--page"}:
            monkeypatch.setattr("sys.argv", words)
            with pytest.raises(SystemExit) as end:
                main()
            assert not end.value.code, f"{command}: {capsys.readouterr().err}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_says_to_type_can_be_typed(page):
    """Every command of a page has the options and names that it is given; every file that it starts is there."""
    for command in commands(page):
        if not command.startswith(TESTED_ELSEWHERE):
            check_command(command)


def check_command(command: str) -> None:
    """Refuse what could not run."""
    program, *words = shlex.split(command)
    if program.endswith("pliant"):
        typed = get_command(app).commands[words[0]]
        given = typed.make_context(words[0], words[1:]).params
        if words[0] == "run":
            assert given["robot"] in (*all_robots, "ROBOT"), command
        if words[0] == "paper":
            assert given["name"] in all_papers, command
    elif program == "python":
        assert (ROOT / words[0]).exists(), command
        if words[0].endswith("write_figures.py"):
            assert set(words[1:2]) <= set(writer().SOURCES), command
    elif program.endswith("pytest"):
        assert all((ROOT / word).exists() for word in words if "/" in word), command
    elif program.endswith("pip"):
        extras = re.findall(r"\[(\w+)\]", command)
        assert all(f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text() for extra in extras), command
    else:
        pytest.fail(f"nobody checks {command!r}: teach check_command to")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_code_that_nobody_runs(page):
    """Blocks are Python, shell, or plain text; links go to what there is; lines fit a screen."""
    text = page.read_text()
    assert {language for language, _ in BLOCK.findall(text)} <= {"python", "bash", "text"}
    assert text.count("```") == 2 * len(BLOCK.findall(text))
    assert not re.search(r"^(?: {4}|\t)(?!\s*[-|*\d])", BLOCK.sub("", text), re.M), "an indented block"
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert link.startswith("https://") or (page.parent / link).exists(), link


@pytest.mark.parametrize("name", ["Inverse", "InverseStep"])
def test_the_inverse_explains_itself(name):
    """Its help has an example with a checked number (doctests run in CI), and names all that a step gives."""
    told = getattr(control, name).__doc__
    assert told.count(">>> ") > 5
    if name == "InverseStep":
        for field in fields(control.InverseStep):
            assert re.search(rf"\b{field.name}\b", told), field.name
    else:
        assert "`InverseStep`" in told


def test_type_checkers_take_the_package_at_its_word():
    """The marker is in the package, also in the installed one, as is the table of kernels."""
    folder = Path(pliant.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "algebra" / "kernels.json").is_file()


def writer():
    """docs/write_figures.py, as a module."""
    spec = importlib.util.spec_from_file_location("write_figures", ROOT / "docs" / "write_figures.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_figures_of_the_pages_are_those_that_were_measured():
    """Writing all pages again from docs/figures changes nothing."""
    figures = writer()
    book = figures.Book.read()
    for page in figures.pages():
        assert figures.written(page, book) == page.read_text(), f"python docs/write_figures.py writes {page.name}"


def test_a_figure_stands_on_one_page():
    """No figure is on two pages, every file of figures and every block of text is used, and every file tells its command."""
    figures = writer()
    book = figures.Book.read()
    where: dict[str, str] = {}
    for page in figures.pages():
        for name in figures.used(page, book):
            assert where.setdefault(name, page.name) == page.name, f"{name} stands on {where[name]} and {page.name}"
    shown = {name for page in figures.pages() for name, _ in figures.blocks(page)}
    assert shown == {path.stem for path in figures.FIGURES.glob("*.md")}
    assert set(book.about) == set(figures.SOURCES)
    for name, about in book.about.items():
        assert about["command"].startswith(figures.SOURCES[name].command)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", about["date"])
        assert about["machine"]
