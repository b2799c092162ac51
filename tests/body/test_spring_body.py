"""Spring bodies: derivatives, invariances, masses, materials per region, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_rotation
from pliant.body import SpringBody, all_bodies
from pliant.errors import InputError, MaterialError
from pliant.shape import Lattice, solids

BLOCK = Lattice.block((4, 2, 3), 0.01)
every_body = pytest.mark.parametrize(
    "body", [SpringBody(BLOCK, 1e5), SpringBody(Lattice.block((3, 2, 2), 0.01, body_diagonals=0.0), 1e5)]
)


def deformed(body, rng, size=1.5e-3):
    """Random displacements and a rotation."""
    return (body.rest + size * rng.uniform(-1, 1, body.rest.shape)) @ random_rotation(rng).T


def test_it_is_one_of_the_bodies():
    """The registry has it."""
    assert SpringBody in all_bodies


@every_body
def test_force_is_the_slope_of_the_energy(body, rng):
    """f = dE/dx by central differences along random directions at a deformed state."""
    x, h = deformed(body, rng), 1e-7
    f = body.force(x)
    for _ in range(5):
        d = rng.normal(size=x.shape)
        slope = (body.energy(x + h * d) - body.energy(x - h * d)) / (2 * h)
        assert slope == pytest.approx(np.vdot(f, d), rel=1e-6, abs=1e-7 * np.abs(f).max())


@every_body
def test_exact_stiffness_is_the_slope_of_the_force(body, rng):
    """K = df/dx by central differences, symmetric."""
    x, h = deformed(body, rng), 1e-7
    K = body.stiffness(x)
    for _ in range(5):
        d = rng.normal(size=x.shape)
        slope = (body.force(x + h * d) - body.force(x - h * d)).ravel() / (2 * h)
        assert np.abs(slope - K @ d.ravel()).max() < 1e-6 * np.abs(slope).max()
    assert abs(K - K.T).max() < 1e-12 * abs(K).max()


def test_the_kernel_is_what_numpy_says(rng):
    """Energy, force and both tangents against a plain loop over springs."""
    body = SpringBody(BLOCK, 1e5)
    x = deformed(body, rng)
    energy, force = 0.0, np.zeros_like(x)
    n3 = 3 * body.node_count
    exact, warped = np.zeros((n3, n3)), np.zeros((n3, n3))
    for (i, j), k, rest in zip(body.springs, body.spring_constants, body.lengths, strict=True):
        length = np.linalg.norm(x[j] - x[i])
        n = (x[j] - x[i]) / length
        tension = k * (length - rest)
        energy += 0.5 * k * (length - rest) ** 2
        force[j] += tension * n
        force[i] -= tension * n
        along = k * np.outer(n, n)
        for matrix, block in ((warped, along), (exact, along + tension / length * (np.eye(3) - np.outer(n, n)))):
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    assert body.energy(x) == pytest.approx(energy, rel=1e-12)
    assert body.force(x) == pytest.approx(force, abs=1e-12 * np.abs(force).max())
    assert np.abs(body.stiffness(x).toarray() - exact).max() < 1e-12 * np.abs(exact).max()
    assert np.abs(body.stiffness(x, "warped").toarray() - warped).max() < 1e-12 * np.abs(warped).max()


@every_body
def test_warped_tangent_turns_with_the_body_and_is_never_negative(body, rng):
    """At a rotated rest shape it is R K0 R^T; under strong compression it stays positive semidefinite, the exact one not."""
    R = random_rotation(rng)
    turn = np.kron(np.eye(body.node_count), R)
    K0 = body.stiffness(body.rest).toarray()
    warped = body.stiffness(body.rest @ R.T, "warped").toarray()
    assert np.abs(warped - turn @ K0 @ turn.T).max() < 1e-12 * np.abs(K0).max()
    pressed = 0.7 * body.rest
    assert np.linalg.eigvalsh(body.stiffness(pressed, "warped").toarray())[0] > -1e-9 * np.abs(K0).max()
    assert np.linalg.eigvalsh(body.stiffness(pressed).toarray())[0] < -1e-3 * np.abs(K0).max()


@every_body
def test_rigid_motion_costs_nothing_and_forces_balance(body, rng):
    """No force after a rigid motion; forces and moments of any state sum to zero."""
    moved = body.rest @ random_rotation(rng).T + [0.1, -0.2, 0.3]
    assert np.abs(body.force(moved)).max() < 1e-10 * 1e5 * 0.03**2
    x = deformed(body, rng)
    f = body.force(x)
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * np.abs(f).sum()
    assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * np.abs(f).sum() * np.abs(x).max()


def test_there_are_no_soft_motions_but_rigid_ones():
    """A block of cells, and each single cell, has six free motions and no more."""
    for lattice in (BLOCK, Lattice.block((1, 1, 1), 0.01), Lattice.block((1, 1, 1), 0.01, body_diagonals=0.0)):
        values = np.linalg.eigvalsh(SpringBody(lattice, 1e5).stiffness(lattice.points).toarray())
        assert (values < 1e-9 * values[-1]).sum() == 6


def test_masses_and_weights():
    """Lumped masses have the density's total, also with equal masses, and carry gravity."""
    for kind in ("cells", "uniform"):
        body = SpringBody(BLOCK, 1e5, 1200.0, mass=kind)
        assert body.masses.sum() == pytest.approx(1200.0 * BLOCK.volume)
        assert body.mass().diagonal().reshape(-1, 3) == pytest.approx(np.repeat(body.masses[:, None], 3, axis=1))
        assert np.array_equal(body.load_masses, body.masses)
    assert np.ptp(body.masses) == 0


def test_materials_per_region_cell_and_place():
    """A number per label, per cell or a function of place give the same springs, from rubber to stiff; a spring between
    two regions has part of each."""
    lattice = BLOCK.labelled(lambda middle: middle[:, 0] > 0.02)
    by_label = SpringBody(lattice, {0: 1e5, 1: 1e9}, {0: 1000.0, 1: 7800.0})
    by_cell = SpringBody(
        lattice, np.where(lattice.labels == 1, 1e9, 1e5), np.where(lattice.labels == 1, 7800.0, 1000.0)
    )
    by_place = SpringBody(
        lattice, lambda p: np.where(p[:, 0] > 0.02, 1e9, 1e5), lambda p: np.where(p[:, 0] > 0.02, 7800.0, 1000.0)
    )
    assert by_label.masses.sum() == pytest.approx(lattice.volume * 4400.0)
    for other in (by_cell, by_place):
        assert np.array_equal(by_label.spring_constants, other.spring_constants)
        assert np.array_equal(by_label.masses, other.masses)
    soft, stiff = SpringBody(BLOCK, 1e5).spring_constants, SpringBody(BLOCK, 1e9).spring_constants
    x = BLOCK.points[BLOCK.springs][:, :, 0]
    between = (np.abs(x - 0.02) < 1e-9).all(axis=1)
    assert by_label.spring_constants[between] == pytest.approx((soft + stiff)[between] / 2)
    assert np.array_equal(by_label.spring_constants[(x > 0.021).any(axis=1)], stiff[(x > 0.021).any(axis=1)])


def test_given_constants_and_lengths(rng):
    """Springs of other constants and rest lengths: a lattice that wants to be twice as large is at rest there."""
    body = SpringBody(BLOCK, 1e5, constants=rng.uniform(1, 2, len(BLOCK.springs)), lengths=2 * BLOCK.lengths)
    assert np.abs(body.force(2 * body.rest)).max() < 1e-12
    assert body.energy(body.rest) == pytest.approx(0.5 * np.sum(body.spring_constants * BLOCK.lengths**2))


def test_inverted_cells_are_found():
    """A mirrored cell is inside out, and named."""
    body = SpringBody(BLOCK, 1e5)
    x = body.rest.copy()
    ids = BLOCK.where(x_above=0.04)
    x[ids, 0] = 0.02
    inverted = body.inverted_elements(x)
    assert set(inverted) == set(np.flatnonzero(BLOCK.centers[:, 0] > 0.03))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"E": -1.0}, r"E of cell 0 at .* is -1.0 Pa"),
        ({"E": lambda p: np.where(p[:, 0] > 0.03, 0.0, 1e5)}, r"E of cell 18 at .* is 0.0 Pa \(6 such cells\)"),
        ({"E": {1: 1e5}}, "label 0 have no E"),
        ({"E": np.ones(3)}, r"E has shape \(3,\)"),
        ({"E": "soft"}, "E is 'soft'"),
        ({"density": 0.0}, "density of cell 0"),
        ({"density": float("nan")}, "density of cell 0"),
        ({"mass": "some"}, "mass is 'some'"),
        ({"constants": -np.ones(len(BLOCK.springs))}, "spring 0 between points 0 and 1 has the stiffness -1.0 N/m"),
        ({"constants": np.ones(3)}, r"stiffness has shape \(3,\)"),
        ({"lengths": np.full(len(BLOCK.springs), np.nan)}, "spring 0 between points 0 and 1 has the length nan m"),
        ({"fixed": [99999]}, "fixed node 99999 does not exist"),
        ({"fixed": [0, 1], "prescribed": [1]}, "node 1 is in fixed and in prescribed"),
        ({"damping": (-1.0, 0.0)}, "damping is"),
        ({"rigid": {"tip": [0, 1]}}, "rigid part 'tip' has 2 nodes, all on one line"),
    ],
)
def test_bad_arguments_are_named(change, message):
    """Each unusable argument raises pliant's own error that names it."""
    with pytest.raises((InputError, MaterialError), match=message):
        SpringBody(BLOCK, **({"E": 1e5} | change))


def test_a_surface_is_not_a_lattice():
    """A SpringBody refuses a surface and says how to make a lattice."""
    with pytest.raises(InputError, match=r"Lattice\.voxels"):
        SpringBody(solids.box((0.01, 0.01, 0.01)), 1e5)
