"""How long models stay away."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.bench import recovery


@pytest.mark.slow
def test_models_come_back_while_commands_go_on():
    """Every fault ends with a fresh model; the figures have the bounds of the real-time controller."""
    figures = {figure.name: figure for figure in recovery.measure(rate=200.0)}
    bounds = {"killed_s": 5.0, "killed_spare_s": 1.0, "pause_s": 1.0}
    for name, bound in bounds.items():
        figure = figures[f"realtime.back_after_{name}"]
        assert (figure.unit, figure.reference) == ("s", bound)
        assert np.isfinite(figure.value)
    assert figures["realtime.commands_in_faults_percent"].value > 0
