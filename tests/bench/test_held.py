"""The benchmark of held rows on a small mesh: the figures that it promises, no judgement of speed."""

from __future__ import annotations

from pliant.bench import held
from pliant.shape import make


def test_held_rows_are_measured(monkeypatch):
    """Times of all kinds, ratios with their bounds, and no new analysis however often the rows change."""
    plain = held.smallest_times
    monkeypatch.setattr(held, "smallest_times", lambda actions, *, seconds: plain(actions, seconds=0.0))
    figures = {figure.name: figure for figure in held._measure_one("held", make.box((0.1, 0.03, 0.03), (10, 3, 3)))}
    assert figures["held.nodes"].value == 176
    assert all(figure.value > 0 for name, figure in figures.items() if name.endswith("_ms"))
    assert figures["held.new_analyses"].holds
    assert [figures[f"held.{name}"].reference for name in ("held72_over_none", "changing80_over_fixed")] == [1.5, 1.2]
