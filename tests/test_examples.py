"""Every example runs, headless and in a folder of its own, and its own checks hold."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    """They are found where they are looked for, and numbered."""
    assert len(EXAMPLES) >= 3
    assert [path.name[:2] for path in EXAMPLES] == [f"{k:02d}" for k in range(1, len(EXAMPLES) + 1)]


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs_and_checks_itself(path, tmp_path, monkeypatch, capsys):
    """It ends without an error (its asserts hold), says something, fits in 80 lines and leaves no file outside."""
    before = set(path.parent.glob("*.*"))
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(path), run_name="__main__")
    assert names["__doc__"].count("\n") >= 4
    assert capsys.readouterr().out
    assert len(path.read_text().splitlines()) < 80
    assert {file for file in path.parent.iterdir() if file.suffix != ""} == {
        file for file in before if file.suffix != ""
    }
