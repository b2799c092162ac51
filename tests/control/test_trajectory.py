"""Trajectories: speed, corners, ends, files."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.control.trajectory import Circle, Line, Recorded, Square, Waypoints
from pliant.errors import FileError, InputError

PATHS = [
    Line((0, 0, 0), (0.03, 0.04, 0), speed=0.01),
    Square((0.1, 0, 0), 0.02, 0.01, normal=(1, 0, 0)),
    Square((0.1, 0, 0), 0.02, 0.01, corner=0.004),
    Circle((0, 0, 0.1), 0.01, 0.02, normal=(1, 1, 1)),
    Waypoints([(0, 0, 0), (0.01, 0, 0), (0.01, 0.02, 0), (0, 0, 0.03)], 0.01, corner=0.002),
]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: type(path).__name__)
def test_the_target_moves_at_its_speed(path):
    """The distance between samples is speed / rate but in corners, never more, and the ends are kept."""
    speed = 0.02 if isinstance(path, Circle) else 0.01
    points = np.array(list(path.sampled(rate=400)))
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1) * 400
    assert steps.max() < speed * (1 + 1e-6)
    assert np.median(steps) == pytest.approx(speed, rel=1e-4)
    assert path.position(-1.0) == pytest.approx(path.position(0.0))
    assert path.position(path.duration + 1) == pytest.approx(path.position(path.duration))


def test_closed_paths_end_where_they_begin():
    """Squares and circles come back, and lie in their plane."""
    for path, normal in ((PATHS[1], (1, 0, 0)), (PATHS[2], (0, 0, 1)), (PATHS[3], (1, 1, 1))):
        points = np.array(list(path.sampled(rate=200)))
        assert np.linalg.norm(path.position(path.duration) - points[0]) < 1e-12
        assert np.ptp(points @ np.array(normal, float)) < 1e-12
    assert PATHS[1].duration == pytest.approx(8.0)
    assert PATHS[2].duration < 8.0


def test_rounded_corners_turn_gently():
    """With a corner radius the direction changes by little per sample; without, by a right angle at once."""
    turns = []
    for corner in (0.0, 0.004):
        points = np.array(list(Square((0, 0, 0), 0.02, 0.01, corner=corner).sampled(rate=100)))
        d = np.diff(points, axis=0)
        d = d[np.linalg.norm(d, axis=1) > 1e-9]
        d /= np.linalg.norm(d, axis=1)[:, None]
        turns.append(np.degrees(np.arccos(np.clip((d[1:] * d[:-1]).sum(axis=1), -1, 1)).max()))
    assert turns[0] > 40
    assert turns[1] < 12


def test_trajectories_come_from_files(tmp_path):
    """A CSV of time and position, with or without names; anything else is an error that names the file."""
    for head in ("", "time,x,y,z\n"):
        (tmp_path / "path.csv").write_text(head + "1.0,0,0,0\n2.0,0.1,0,0\n4.0,0.1,0.2,0\n")
        path = Recorded.read(tmp_path / "path.csv")
        assert path.duration == pytest.approx(3.0)
        assert path.position(2.0) == pytest.approx([0.1, 0.1, 0.0])
    for text, message in (
        ("hello\n", "bad.csv holds no trajectory: 0 times"),
        ("", "0 times"),
        ("time,x,y,z\n0,0,0,0\n", "1 times"),
        ("time,x,y,z\n0,0,0,0\n1,0,0\n", "line 3 is '1,0,0'"),
        ("time,x,y,z\n0,0,0,0\n1,0,0,up\n", "line 3 is '1,0,0,up'"),
        ("0,0,0,nan\n1,0,0,0\n", "not finite"),
        ("1,0,0,0\n1,0,0,0\n", "time 2 is 1 s and the one before 1 s"),
    ):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(FileError, match=message) as caught:
            Recorded.read(tmp_path / "bad.csv")
        assert "bad.csv" in str(caught.value)
        assert "times rising" in caught.value.remedy
    with pytest.raises(FileError, match=r"none.csv: no such file.*check the path"):
        Recorded.read(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Line((0, 0, 0), (0, 0, 0), 0.1), "equal"),
        (lambda: Line((0, 0, 0), (1, 0, 0), 0.0), "speed is 0.0"),
        (lambda: Circle((0, 0, 0), -1, 0.1), "radius is -1"),
        (lambda: Circle((0, 0, 0), 1, 0.1, normal=(0, 0, 0)), "normal is"),
        (lambda: Waypoints([(0, 0)], 0.1), "waypoints have shape"),
        (lambda: Recorded([0, 0], np.zeros((2, 3))), "time 2 is 0 s"),
        (lambda: list(Circle((0, 0, 0), 1, 0.1).sampled(rate=0)), "rate is 0"),
    ],
)
def test_bad_paths_are_named(make, message):
    """Each mistake raises an InputError that names it."""
    with pytest.raises(InputError, match=message):
        make()
