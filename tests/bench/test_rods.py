"""The benchmark of rods and rigid parts on short bars: the figures that it promises, no judgement of speed."""

from __future__ import annotations

from pliant.bench import rods


def test_parts_are_measured(monkeypatch):
    """Times of both bars, and their ratio with its bound; models of the device; iterations and errors within their bounds."""
    plain = rods.smallest_times
    monkeypatch.setattr(rods, "smallest_times", lambda actions, *, seconds: plain(actions, seconds=0.0))
    monkeypatch.setattr(rods, "PARTS", 20)
    monkeypatch.setattr(rods, "ELEMENTS", 6)
    figures = {figure.name: figure for figure in rods.measure()}
    assert all(figure.value > 0 for figure in figures.values())
    assert figures["rods.parts_1000_over_blocks"].reference == 2.0
    assert figures["rods.model_hz"].reference == 500.0
    assert figures["rods.elastica_error"].value < 1e-3
    assert figures["rods.newton_iterations_500"].value <= 13
