"""Shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from pliant.view import Figure, print_figures, write_figures

try:
    import fcntl
except ImportError:  # where there are no such locks, run tests one after the other
    fcntl = None


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest tests/validation --figures FILE` prints what was found beside the references, and writes it as JSON."""
    parser.addoption("--figures", type=Path, help="write the figures of all tests to this file, and print them")


def pytest_configure(config: pytest.Config) -> None:
    """Collect figures where they are wanted: in the process that has the reports of all others."""
    file = config.getoption("--figures")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Figures(file.absolute()))


class Figures:
    """The figures of all tests that passed, by name."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: dict[str, Figure] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Reports come from other processes too, and bring their figures along as properties."""
        if report.when == "call" and report.passed:
            for kind, record in report.user_properties:
                if kind == "figure":
                    assert record["name"] not in self.found, f"two figures have the name {record['name']}"
                    self.found[record["name"]] = Figure(**record)

    def pytest_terminal_summary(self) -> None:
        """The same records, printed and written."""
        figures = [self.found[name] for name in sorted(self.found)]
        print_figures(figures, "figures")
        write_figures(figures, self.file)


@pytest.fixture
def figure(record_property) -> Callable[..., None]:
    """figure(name, value, unit, reference, source): what a test has found, for `--figures`."""

    def found(name: str, value: float, unit: str = "x", reference: float | None = None, source: str = "") -> None:
        against = None if reference is None else float(reference)  # plain numbers can go to another process
        record_property("figure", Figure(name, float(value), unit, against, source).record())

    return found


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
