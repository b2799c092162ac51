"""Shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator: a test that fails, fails again."""
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def outside_data() -> Path:
    """Folder of meshes and measurements from elsewhere, not part of the project; tests that need it are skipped without."""
    folder = Path(os.environ.get("PLIANT_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("outside data not found; set PLIANT_DATA to the folder that has meshes/ and truth_cylinder/")
    return folder


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    """A uniformly random rotation matrix."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)
