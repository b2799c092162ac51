"""Every example runs, headless and in a folder of its own, and its own checks hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    """They are found where they are looked for, and numbered."""
    assert len(EXAMPLES) >= 6
    assert [path.name[:2] for path in EXAMPLES] == [f"{k:02d}" for k in range(1, len(EXAMPLES) + 1)]


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.alone] if "TwoRates" in path.read_text() else []) for path in EXAMPLES],
    ids=[path.stem for path in EXAMPLES],
)
def test_an_example_runs_and_checks_itself(path, tmp_path):
    """It ends without an error (its asserts hold), says something, fits in 80 lines and leaves no file outside."""
    before = set(path.parent.glob("*.*"))
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    text = path.read_text()
    assert text.split('"""')[1].count("\n") >= 4
    assert len(text.splitlines()) < 80
    assert set(path.parent.glob("*.*")) == before
