"""Shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

try:
    import fcntl
except ImportError:  # where there are no such locks, run tests one after the other
    fcntl = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    """A test marked `alone` watches the clock: no other test computes beside it, however many run in parallel."""
    with _machine(item.config, alone=item.get_closest_marker("alone") is not None):
        return (yield)


@contextmanager
def _machine(config: pytest.Config, alone: bool) -> Iterator[None]:
    """The machine, shared with other tests or not. Who waits for it stands in the door: nobody else enters meanwhile."""
    if fcntl is None or not hasattr(config, "workerinput"):
        yield
        return
    folder = Path(config._tmp_path_factory.getbasetemp()).parent
    with open(folder / "door.lock", "w") as door, open(folder / "machine.lock", "w") as machine:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(machine, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield


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
