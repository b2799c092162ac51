"""Material laws: the triple energy, stress, stiffness, for every law in the registry."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_rotation
from pliant.errors import MaterialError
from pliant.material import Linear, MooneyRivlin, NeoHookean, all_laws, lame_constants
from pliant.material._lanes import LANES, ROWS
from pliant.material._polar_kernels import rotate, rotation_by_eigenvector

every_law = pytest.mark.parametrize("law", [law(E=2e5, nu=0.4) for law in all_laws], ids=lambda law: type(law).__name__)


def stretched(rng, count=40, size=0.3):
    """Random gradients, rotated and stretched, with positive determinants."""
    out = []
    while len(out) < count:
        F = random_rotation(rng) @ (np.eye(3) + size * rng.uniform(-1, 1, (3, 3)))
        if np.linalg.det(F) > 0.2:
            out.append(F)
    return np.array(out)


@every_law
def test_stress_is_the_slope_of_the_energy(law, rng):
    """P = dPsi/dF by central differences at strongly deformed states."""
    F, h = stretched(rng), 1e-6
    P = law.stress(F)
    for i in range(3):
        for j in range(3):
            d = np.zeros((3, 3))
            d[i, j] = h
            slope = (law.energy(F + d) - law.energy(F - d)) / (2 * h)
            assert np.abs(slope - P[:, i, j]).max() < 1e-6 * np.abs(P).max()


@every_law
def test_stiffness_is_the_slope_of_the_stress(law, rng):
    """C = dP/dF by central differences, and C has the symmetry of a second derivative."""
    F, h = stretched(rng), 1e-6
    C = law.stiffness(F)
    for k in range(3):
        for m in range(3):
            d = np.zeros((3, 3))
            d[k, m] = h
            slope = (law.stress(F + d) - law.stress(F - d)) / (2 * h)
            assert np.abs(slope - C[..., k, m]).max() < 1e-6 * np.abs(C).max()
    assert np.abs(C - C.transpose(0, 3, 4, 1, 2)).max() < 1e-12 * np.abs(C).max()


@every_law
def test_small_strains_see_hookes_law(law):
    """At F = I there is no stress, and the stiffness is Hooke's with the Lamé constants of E and nu."""
    lam, mu = lame_constants(law.E, law.nu)
    I = np.eye(3)
    hooke = lam * np.einsum("ij,kl->ijkl", I, I) + mu * (
        np.einsum("ik,jl->ijkl", I, I) + np.einsum("il,jk->ijkl", I, I)
    )
    assert np.abs(law.stress(I)).max() < 1e-12 * law.E
    assert np.abs(law.stiffness(I) - hooke).max() < 1e-12 * law.E


@every_law
def test_rotation_costs_nothing_except_for_the_linear_law(law, rng):
    """A rigid rotation gives no energy and no stress; Linear says in its docs that it does."""
    R = random_rotation(rng)
    quiet = abs(law.energy(R)) < 1e-12 * law.E and np.abs(law.stress(R)).max() < 1e-12 * law.E
    assert quiet != law.feels_rotation
    assert law.feels_rotation == isinstance(law, Linear)


@every_law
def test_laws_do_not_depend_on_the_observer(law, rng):
    """Psi(Q F) = Psi(F) and P(Q F) = Q P(F) for rotations Q, but for the linear law."""
    F, Q = stretched(rng, 8), random_rotation(rng)
    same = np.allclose(law.energy(Q @ F), law.energy(F), rtol=1e-11)
    same = same and np.allclose(law.stress(Q @ F), Q @ law.stress(F), rtol=1e-9, atol=1e-9 * law.E)
    assert same != law.feels_rotation


def test_inversion_is_survived_or_infinitely_expensive(rng):
    """NeoHookean and Corotational are finite for inverted points; MooneyRivlin has infinite energy there."""
    F = np.diag([1.0, 1.0, -0.5])
    for law in all_laws:
        energy = law(E=1e5, nu=0.4).energy(F)
        assert np.isinf(energy) if law is MooneyRivlin else np.isfinite(energy)


def test_mooney_rivlin_constants_of_a_data_sheet():
    """from_constants keeps C10, C01 and K."""
    law = MooneyRivlin.from_constants(C10=3e4, C01=1e4, K=1e6)
    assert law.parameters()[2:] == pytest.approx([1e6, 3e4, 1e4])


def test_neo_hookean_uniaxial_stress_matches_the_closed_form():
    """Uniaxial tension: with lateral stretch b from P_yy = 0, P_xx follows from the energy by hand."""
    from scipy.optimize import brentq

    law = NeoHookean(E=1e5, nu=0.45)
    _, mu, k, _, _ = law.parameters()
    for a in (0.6, 0.9, 1.3, 2.0):
        b = brentq(lambda b: mu * b + (k * (a * b * b - 1) - mu) * a * b, 0.2, 3.0, xtol=1e-15)  # noqa: B023
        by_hand = mu * a + (k * (a * b * b - 1) - mu) * b * b
        P = law.stress(np.diag([a, b, b]))
        assert P[0, 0] == pytest.approx(by_hand, rel=1e-10)
        assert abs(P[1, 1]) < 1e-8 * law.E


def polar_by_svd(F):
    """What the kernel means: the rotation closest to F."""
    U, _, Vt = np.linalg.svd(F)
    D = np.diag([1.0, 1.0, np.linalg.det(U @ Vt)])
    return U @ D @ Vt


@pytest.mark.parametrize("size", [0.05, 0.5, 3.0])
def test_polar_rotation_is_the_nearest_one(rng, size):
    """Newton and eigenvector agree with the SVD, from small strains to inverted and nearly flat gradients."""
    F = np.array([random_rotation(rng) @ (np.eye(3) + size * rng.uniform(-1, 1, (3, 3))) for _ in range(LANES)])
    F[0] = random_rotation(rng) @ np.diag([1.0, 1.0, 1e-9])
    F[1] = random_rotation(rng) @ np.diag([2.0, 1.0, -0.3])
    work = np.zeros((ROWS, LANES))
    work[:9] = F.reshape(LANES, 9).T
    flat = work.reshape(-1)
    rotate(flat, LANES)
    for lane in range(LANES):
        R = work[105:114, lane].reshape(3, 3)
        alone = np.empty(9)
        rotation_by_eigenvector(F[lane].ravel().copy(), alone)
        s = np.linalg.svd(F[lane])[1] * [1, 1, np.sign(np.linalg.det(F[lane]))]
        if s[1] + s[2] > 1e-3:  # below, the nearest rotation jumps
            assert np.abs(R - polar_by_svd(F[lane])).max() < 1e-10
            assert np.abs(alone.reshape(3, 3) - R).max() < 1e-10


@pytest.mark.parametrize(
    "constants",
    [
        {"E": 0.0, "nu": 0.3},
        {"E": -1e5, "nu": 0.3},
        {"E": float("nan"), "nu": 0.3},
        {"E": 1e5, "nu": 0.5},
        {"E": 1e5, "nu": -1},
    ],
)
@pytest.mark.parametrize("law", all_laws)
def test_impossible_constants_are_refused(law, constants):
    """E <= 0, NaN and nu outside (-1, 0.5) raise a MaterialError that names the value."""
    with pytest.raises(MaterialError, match=r"Young's modulus is|Poisson's ratio is"):
        law(**constants)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_impossible_mooney_shares_are_refused(share):
    """second_share must lie in [0, 1]."""
    with pytest.raises(MaterialError, match="second_share"):
        MooneyRivlin(E=1e5, nu=0.4, second_share=share)
