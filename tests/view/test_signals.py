"""What a recording shows of itself."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.device import Log, Track
from pliant.view import print_signals
from pliant.view.signals import _panels, draw_signals, tracking_errors


def track(**others):
    """Two effectors' worth of rows: one followed at a distance of 5 mm, one gap; the first record has no measurement."""
    target = np.tile([0.1, 0.2, 0.3, 1.5], (4, 1))
    measured = target + np.array([0.003, 0.0, -0.004, 0.1])
    measured[0] = 0.0
    fields = {"time": 0.01 * np.arange(4), "target": target, "measured": measured, **others}
    names = ("tip.x", "tip.y", "tip.z", "gap")
    return Track("control", fields, {"target": "m"}, {"target": names, "measured": names}, {})


def test_every_row_has_its_line_with_its_unit(capsys):
    """Coordinates are not mixed in one line, units are told where they are known, and how well targets were followed."""
    print_signals(Log({"control": track()}, {}, True, {}))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("│")[3:6] for line in lines if "target tip.z" in line] == [["      0.3 ", "     0.3 ", " m    "]]
    assert sum("control.measured tip." in line for line in lines) == 3
    assert "tip: |target - measured| 0.005 m on average, 0.005 m at most" in lines


def test_errors_are_distances_of_effectors():
    """Coordinates of one effector together, other rows by themselves, records without a measurement not at all."""
    errors = tracking_errors(track())
    assert errors["tip"] == pytest.approx([0.005] * 3)
    assert errors["gap"] == pytest.approx([0.1] * 3)
    bare = track()
    assert tracking_errors(Track("x", {"time": bare.time}, {}, {}, {})) == {}


def test_a_channel_without_records_is_shown(capsys):
    """A table without ranges, not an error."""
    empty = Track("control", {"time": np.empty(0), "target": np.empty((0, 3))}, {}, {}, {})
    print_signals(Log({"control": empty}, {}, True, {}))
    assert "control.target" in capsys.readouterr().out


def drawn(tmp_path, fields):
    """The size in pixels of a picture of so many fields of three rows."""
    time = 0.01 * np.arange(200)
    many = {f"signal{k}": np.sin(time[:, None] + np.arange(3) + k) for k in range(fields)}
    names = dict.fromkeys(many, ("x", "y", "z"))
    one = Track("control", {"time": time, "lost": np.zeros(200, int), **many}, {}, names, {})
    draw_signals(Log({"control": one}, {}, True, {}), tmp_path / "signals.png", title="run.mcap")
    with open(tmp_path / "signals.png", "rb") as stream:
        head = stream.read(24)
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


@pytest.mark.parametrize("fields", [0, 1, 5, 8, 22, 80])
def test_a_picture_fits_a_screen(tmp_path, fields):
    """However many signals there are: columns, not metres."""
    wide, high = drawn(tmp_path, fields)
    assert wide <= 1920
    assert high <= 1080
    assert fields > 5 or wide == 1100


def test_counts_that_stayed_zero_are_told_not_drawn(tmp_path):
    """A panel less; its name is in the title."""
    panels, silent = _panels(Log({"control": track(lost=np.zeros(4, int), late=np.arange(4))}, {}, True, {}))
    assert [field for _, field in panels] == ["target", "measured", "late"]
    assert silent == ["control.lost"]
