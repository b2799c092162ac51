"""A rigid sphere on an elastic half-space (Hertz 1881): F = 4/3 E / (1 - nu^2) R^1/2 d^3/2, contact radius a = (R d)^1/2."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

R, E, NU = 0.1, 1e6, 0.3
RADII = R * np.array([0.05, 0.065, 0.08])


def graded(uniform, size, length):
    """Coordinates from 0 to `length`: cells of one size up to `uniform`, and then ever larger ones."""
    near = np.arange(0.0, uniform + 0.5 * size, size)
    cells = size * 1.5 ** np.arange(1, 60)
    far = np.cumsum(cells)[: np.searchsorted(np.cumsum(cells), length - near[-1]) + 1]
    return np.concatenate([near, near[-1] + far * (length - near[-1]) / far[-1]])


@pytest.mark.thorough
def test_hertz_on_a_quarter_block():
    """Eight elements across the smallest contact radius, a / R <= 0.08, without friction; the block is 8 R wide and deep."""
    size, wide = RADII[0] / 8, 8 * R
    across, down = graded(1.06 * RADII[-1], size, wide), -graded(0.5 * RADII[-1], size, wide)[::-1]
    mesh = pl.make.blocks(across, across, down, lambda middles: np.ones(len(middles), bool))
    above = mesh.nodes[:, 2] > -wide + 1e-9
    symmetry = [(np.flatnonzero((mesh.nodes[:, k] < 1e-12) & above), np.eye(3)[k]) for k in (0, 1)]
    block = pl.TetBody(mesh, pl.Corotational(E=E, nu=NU), fixed=mesh.where(z_below=-wide), sliding=symmetry)
    robot = pl.Robot(block, gravity=(0, 0, 0))
    robot.touch("ball", pl.Sphere(radius=R), friction=0.0)
    state, forces, depths = None, [], RADII**2 / R
    for depth, radius in zip(depths, RADII, strict=True):
        robot.move_obstacle("ball", (0, 0, R - depth))
        state = pl.Statics(robot).solve(state).require().state
        contacts = robot.contacts(state, "ball")
        forces.append(-4 * contacts.force[2])
        assert np.linalg.norm(contacts.points[:, :2], axis=1).max() == pytest.approx(radius, abs=size)
    hertz = 4 / 3 * E / (1 - NU**2) * np.sqrt(R) * depths**1.5
    np.testing.assert_allclose(forces, hertz, rtol=0.05)
    assert np.polyfit(np.log(depths), np.log(forces), 1)[0] == pytest.approx(1.5, abs=0.03)
