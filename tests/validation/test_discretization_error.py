"""What `discretization_error()` tells, against two full static solutions."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.body import TetBody
from pliant.material import Linear
from pliant.motion import Statics
from pliant.robot import Robot
from pliant.shape import make


@pytest.mark.parametrize("order", [1, 2])
def test_softening_is_the_ratio_of_works_under_own_weight(order):
    """Along each axis it equals the work of the weight with ten-node over that with four-node tets, and exceeds one."""
    mesh = make.box((0.08, 0.02, 0.015), (8, 2, 2))
    law, held = Linear(E=1e5, nu=0.4), mesh.where(x_below=0)

    def work(order, direction):
        body = TetBody(mesh, law, order=order, fixed=held, density=1200.0)
        robot = Robot(body, gravity=direction)
        u = Statics(robot).solve().require().state.x - body.rest
        return np.vdot(np.outer(body.load_masses, direction), u)

    expected = np.array([work(2, axis) / work(1, axis) for axis in np.eye(3)])
    report = TetBody(mesh, law, order=order, fixed=held, density=1200.0).discretization_error()
    assert report.softening == pytest.approx(expected, rel=1e-8)
    assert report.worst == pytest.approx(expected.max(), rel=1e-8)
    assert (report.softening > 1).all()
    assert f"z{expected[2]:.3f}" in str(report)
