"""Error against mesh size on a smooth problem with a known solution."""

from __future__ import annotations

import numpy as np
import pytest
from skfem.quadrature import get_quadrature
from skfem.refdom import RefTet
from theory import fitted_slope

from pliant.body import TetBody
from pliant.material import Linear
from pliant.motion import Statics
from pliant.robot import Robot
from pliant.shape import make

SIDE = 0.1


def harmonic_field(points):
    """u = grad phi with phi = exp(5x) cos(3y) cos(4z), lengths in SIDE: div u = 0 and Laplace(u) = 0, so that Navier's
    equation (lambda + mu) grad div u + mu Laplace(u) = 0 holds for every material; largest displacement about 1 mm."""
    x, y, z = points.T / SIDE
    e = 2e-6 * np.exp(5 * x)
    return np.stack(
        [
            5 * e * np.cos(3 * y) * np.cos(4 * z),
            -3 * e * np.sin(3 * y) * np.cos(4 * z),
            -4 * e * np.cos(3 * y) * np.sin(4 * z),
        ],
        axis=1,
    )


def relative_error(cells: int, order: int) -> float:
    """The L2 norm of the displacement error over that of the displacement, by a rule of degree 6 in every tet."""
    mesh = make.box((SIDE, SIDE, SIDE), cells)
    body = TetBody(mesh, Linear(E=1e5, nu=0.3), order=order, prescribed=mesh.boundary_nodes)
    robot = Robot(body)
    held = robot.equations.assembly.prescribed
    goal = body.rest[held] + harmonic_field(body.rest[held])
    u = Statics(robot).solve(prescribed=goal).require().state.x - body.rest
    local, weights = get_quadrature(RefTet, 6)
    corners = mesh.nodes[mesh.tets]
    barycentric = np.concatenate([1 - local.sum(axis=0, keepdims=True), local])
    points = np.einsum("kq,eki->eqi", barycentric, corners).reshape(-1, 3)
    scale = np.outer(mesh.volumes, 6 * weights).ravel()
    nodes, shares = body.embed(points)
    found, exact = np.einsum("pa,pai->pi", shares, u[nodes]), harmonic_field(points)
    return np.sqrt(scale @ ((found - exact) ** 2).sum(axis=1) / (scale @ (exact**2).sum(axis=1)))


@pytest.mark.parametrize(("order", "low", "high"), [(1, 1.7, 2.5), (2, 2.7, 3.8)])
def test_displacement_error_falls_with_the_power_of_the_order(order, low, high, figure):
    """Halving the size divides the error by about 4 with four-node and by 8 with ten-node tets."""
    cells = np.array([3, 6, 12]) if order == 1 else np.array([2, 4, 8])
    errors = [relative_error(int(n), order) for n in cells]
    slope = fitted_slope(1 / cells, errors)
    figure(f"refinement.order{order}_slope", slope, "", order + 1, "theory")
    assert low < slope < high
