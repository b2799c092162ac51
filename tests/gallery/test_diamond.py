"""The diamond robot follows its square."""

from __future__ import annotations

from pliant.gallery import diamond
from pliant.motion import Statics


def test_the_square_is_followed():
    """Converged poses are on the square to 1e-6 m; one decision at a time at 50 Hz and 10 mm/s stays within 0.3 mm, with no
    limit active."""
    robot = diamond.build()
    hanging = Statics(robot).solve().require().state
    report = diamond.report(robot, hanging, diamond.paths(robot, hanging)["square"])
    figures = {figure.name.removeprefix("diamond."): figure.value for figure in report.figures}
    assert 1400 < robot.bodies[0].node_count < 1800
    assert figures["converged_error_mean"] < 1e-3
    assert figures["realtime_error_mean"] < 0.3
    assert figures["realtime_error_max"] < 0.6
    assert figures["active_limits"] == 0
