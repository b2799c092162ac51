"""The house itself: rooms import only rooms above them, nothing is loaded that is not needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pliant

ROOT = Path(pliant.__file__).parent
ROOMS = [
    "errors",
    "checks",
    "algebra",
    "exchange",
    "shape",
    "material",
    "body",
    "port",
    "contact",
    "robot",
    "motion",
    "device",
    "control",
    "analysis",
    "view",
    "gallery",
    "bench",
    "paper",
    "doctor",
    "cli",
]
"""From the ground up: a room may import those before it."""


def imports(path: Path) -> set[str]:
    """Names of the rooms that a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("pliant.")}
    return found


def test_rooms_import_only_rooms_above_them():
    """The import graph of the rooms has no edge downwards."""
    wrong = []
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        assert room in ROOMS, f"{path} is in no known room"
        allowed = set(ROOMS[: ROOMS.index(room) + 1]) | {"__file__"}
        wrong += [f"{path.relative_to(ROOT)} imports {name}" for name in imports(path) - allowed]
    assert not wrong


def test_import_loads_no_heavy_package():
    """`import pliant` brings numpy, scipy and numba, but no plotting, meshing or command-line package."""
    heavy = [
        "matplotlib",
        "meshio",
        "manifold3d",
        "rich",
        "typer",
        "gmsh",
        "pytetwild",
        "pyvista",
        "viser",
        "mcap",
        "can",
        "serial",
        "warp",
        "distributed",
    ]
    code = f"import pliant, sys; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", pliant.__all__)
def test_public_names_have_docstrings(name):
    """Everything a user sees says what it is."""
    assert (getattr(pliant, name).__doc__ or "").strip()
