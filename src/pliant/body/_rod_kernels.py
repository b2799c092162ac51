"""Compiled loop over the elements of rods: energy, forces and stiffness blocks (see `rods.py` for the mathematics)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import acos, log, sqrt

import numpy as np

from pliant.algebra.compiled import kernel

TERMS = 24


def _series():
    """Taylor coefficients of phi and psi in 1 - c: (2k + 1) b_k = k b_(k-1) and 2 p_k = p_(k-1) - b_(k+1)."""
    b, p = np.ones(TERMS + 1), np.empty(TERMS)
    for k in range(1, TERMS + 1):
        b[k] = b[k - 1] * k / (2 * k + 1)
    for k in range(TERMS):
        p[k] = 0.5 * ((p[k - 1] if k else 0.0) - b[k + 1])
    return b[:TERMS].copy(), p


PHI, PSI = _series()
NEAR = 0.3
"""Below this 1 - c the series are used; with 24 terms they are exact to rounding there."""
LEAST = -1.0 + 1e-9
"""The smallest cosine: at half a turn the logarithm has a kink, and no slope."""


@kernel
def log_factors(c, f):
    """f [6]: phi = t / sin t and psi = (1 - phi) / sin^2 t with c = cos t, each with two derivatives by c."""
    z = 1.0 - c
    if abs(z) < NEAR:
        for row in range(2):
            coefficients = PHI if row == 0 else PSI
            value, slope, curve = 0.0, 0.0, 0.0
            for k in range(TERMS - 1, -1, -1):
                curve = curve * z + 2.0 * slope
                slope = slope * z + value
                value = value * z + coefficients[k]
            f[3 * row], f[3 * row + 1], f[3 * row + 2] = value, -slope, curve
        return
    c = max(c, LEAST)
    w = (1.0 - c) * (1.0 + c)
    f[0] = acos(c) / sqrt(w) if c < 1.0 else log(c + sqrt(-w)) / sqrt(-w)
    f[1] = (c * f[0] - 1.0) / w
    f[2] = (f[0] + 3.0 * c * f[1]) / w
    f[3] = (1.0 - f[0]) / w
    f[4] = (2.0 * c * f[3] - f[1]) / w
    f[5] = (4.0 * c * f[4] + 2.0 * f[3] - f[2]) / w


@kernel
def find_invariants(x, own, size, y, s):
    """y [7, 3]: the way between the centres of two sections and the axes of both; s [7]: the invariants of that, which are the
    way along the mean axes, the axial vector of the relative rotation, and its cosine."""
    for i in range(3):
        y[0, i] = x[own[4], i] - x[own[0], i]
        for j in range(3):
            y[1 + j, i] = (x[own[1 + j], i] - x[own[0], i]) / size
            y[4 + j, i] = (x[own[5 + j], i] - x[own[4], i]) / size
    c = -1.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        along, axial = 0.0, 0.0
        for d in range(3):
            along += (y[1 + k, d] + y[4 + k, d]) * y[0, d]
            axial += y[1 + j, d] * y[4 + i, d] - y[1 + i, d] * y[4 + j, d]
            c += y[1 + k, d] * y[4 + k, d]
        s[k], s[3 + k] = 0.5 * along, 0.5 * axial
    s[6] = 0.5 * c


@kernel
def strain_of(s, f, out):
    """out [6]: the logarithm of the relative pose, from its invariants [7]; f [6]: see `log_factors`."""
    log_factors(s[6], f)
    across = s[0] * s[3] + s[1] * s[4] + s[2] * s[5]
    for i in range(3):
        out[i] = f[0] * s[i] + f[3] * across * s[3 + i]
        out[3 + i] = f[0] * s[3 + i]


@kernel
def find_strains(nodes, size, x, out):
    """out [m, 7]: of every element the logarithm of the relative pose of its ends, and the cosine of their angle."""
    y, s, f = np.empty((7, 3)), np.empty(7), np.empty(6)
    for e in range(nodes.shape[0]):
        find_invariants(x, nodes[e], size, y, s)
        strain_of(s, f, out[e])
        out[e, 6] = s[6]


@kernel
def slope_of_energy(s, f, P, g):
    """g [7]: slope of the energy by the invariants, with the efforts P [6]."""
    u, a = s[0:3], s[3:6]
    au = a[0] * u[0] + a[1] * u[1] + a[2] * u[2]
    aP = a[0] * P[0] + a[1] * P[1] + a[2] * P[2]
    both = 0.0
    for i in range(3):
        g[i] = f[0] * P[i] + f[3] * aP * a[i]
        g[3 + i] = f[3] * (aP * u[i] + au * P[i]) + f[0] * P[3 + i]
        both += P[i] * u[i] + P[3 + i] * a[i]
    g[6] = f[1] * both + f[4] * au * aP
    return both


@kernel
def slope_of_strain(s, f, J):
    """J [6, 7]: slope of the logarithm by the invariants."""
    u, a = s[0:3], s[3:6]
    au = a[0] * u[0] + a[1] * u[1] + a[2] * u[2]
    for i in range(3):
        for j in range(3):
            same = 1.0 if i == j else 0.0
            J[i, j] = f[0] * same + f[3] * a[i] * a[j]
            J[i, 3 + j] = f[3] * (au * same + a[i] * u[j])
            J[3 + i, j] = 0.0
            J[3 + i, 3 + j] = f[0] * same
        J[i, 6] = f[1] * u[i] + f[4] * au * a[i]
        J[3 + i, 6] = f[1] * a[i]


@kernel
def add_curvature(s, f, P, both, scale, h):
    """Add scale x the efforts P [6] times the second derivatives of the logarithm to h [7, 7]."""
    u, a = s[0:3], s[3:6]
    au = a[0] * u[0] + a[1] * u[1] + a[2] * u[2]
    aP = a[0] * P[0] + a[1] * P[1] + a[2] * P[2]
    for i in range(3):
        for j in range(3):
            mixed = scale * f[3] * (a[i] * P[j] + (aP if i == j else 0.0))
            h[i, 3 + j] += mixed
            h[3 + j, i] += mixed
            h[3 + i, 3 + j] += scale * f[3] * (u[i] * P[j] + P[i] * u[j])
        one = scale * (f[1] * P[i] + f[4] * aP * a[i])
        two = scale * (f[4] * (aP * u[i] + au * P[i]) + f[1] * P[3 + i])
        h[i, 6] += one
        h[6, i] += one
        h[3 + i, 6] += two
        h[6, 3 + i] += two
    h[6, 6] += scale * (f[2] * both + f[5] * au * aP)


@kernel
def slope_of_invariants(y, size, S):
    """S [7, 8, 3]: slope of the invariants by the nodes of both sections."""
    S[:] = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for d in range(3):
            S[k, 1 + k, d] = S[k, 5 + k, d] = 0.5 * y[0, d] / size
            S[3 + k, 1 + j, d] = 0.5 * y[4 + i, d] / size
            S[3 + k, 1 + i, d] = -0.5 * y[4 + j, d] / size
            S[3 + k, 5 + i, d] = 0.5 * y[1 + j, d] / size
            S[3 + k, 5 + j, d] = -0.5 * y[1 + i, d] / size
            S[6, 1 + k, d] = 0.5 * y[4 + k, d] / size
            S[6, 5 + k, d] = 0.5 * y[1 + k, d] / size
    for r in range(7):
        for d in range(3):
            way = 0.5 * (y[1 + r, d] + y[4 + r, d]) if r < 3 else 0.0
            S[r, 0, d] = -way - S[r, 1, d] - S[r, 2, d] - S[r, 3, d]
            S[r, 4, d] = way - S[r, 5, d] - S[r, 6, d] - S[r, 7, d]


@kernel
def curvature_of_invariants(g, size, scale, N):
    """N [8, 8], its lower half: scale x g [7] times the second derivatives of the invariants, N_ab I for nodes a and b."""
    N[:] = 0.0
    for k in range(3):
        along = 0.5 * scale * g[k] / size
        N[0, 0] += 2.0 * along
        N[4, 4] -= 2.0 * along
        N[1 + k, 0] -= along
        N[4, 1 + k] += along
        N[5 + k, 0] -= along
        N[5 + k, 4] += along
        i, j = (k + 1) % 3, (k + 2) % 3
        turn, cosine = 0.5 * scale * g[3 + k] / (size * size), 0.5 * scale * g[6] / (size * size)
        couple_tips(j, i, turn, N)
        couple_tips(i, j, -turn, N)
        couple_tips(k, k, cosine, N)


@kernel
def couple_tips(i, j, value, N):
    """Add value x the second derivatives of (tip i - centre) of the one section . (tip j - centre) of the other."""
    N[5 + j, 1 + i] += value
    N[4, 1 + i] -= value
    N[5 + j, 0] -= value
    N[4, 0] += value


@kernel
def replace_efforts(s, f, S, own, predicted, P, g, change):
    """P [6] <- predicted, and g [7] with them; adds the forces of the change to those of the element's nodes."""
    for n in range(8):
        for d in range(3):
            for r in range(7):
                change[own[n], d] -= g[r] * S[r, n, d]
    for r in range(6):
        P[r] = predicted[r]
    both = slope_of_energy(s, f, P, g)
    for n in range(8):
        for d in range(3):
            for r in range(7):
                change[own[n], d] += g[r] * S[r, n, d]
    return both


@kernel
def predict_efforts(nodes, size, stiffness, strains, x, motion, out):
    """out [m, 6]: the efforts of elements after a motion [n, 3] from x [n, 3], with their strains linear in it."""
    y, s, f, v = np.empty((7, 3)), np.empty(7), np.empty(6), np.empty(6)
    S, J, ds = np.empty((7, 8, 3)), np.empty((6, 7)), np.empty(7)
    for e in range(nodes.shape[0]):
        own = nodes[e]
        find_invariants(x, own, size, y, s)
        strain_of(s, f, v)
        slope_of_invariants(y, size, S)
        slope_of_strain(s, f, J)
        for r in range(7):
            ds[r] = 0.0
            for n in range(8):
                for d in range(3):
                    ds[r] += S[r, n, d] * motion[own[n], d]
        for r in range(6):
            total = v[r] - strains[e, r]
            for q in range(7):
                total += J[r, q] * ds[q]
            out[e, r] = stiffness[e, r] * total


@kernel
def assemble_rods(nodes, slots, size, stiffness, strains, x, exact, warped, force, blocks, predicted, change):
    """Energy [J] of elements between sections, nodes [m, 8]; adds forces [n, 3] and blocks [nb, 3, 3].

    stiffness, strains [m, 6]: along the six strains, and those at rest; slots [m, 36]: coded blocks (`BlockIndex`). predicted
    [m, 6]: efforts that the exact tangent takes in place of those here, where there are any; change [n, 3]: the forces of those
    minus the forces here are added to it.
    """
    y, s, f, v, P, g = np.empty((7, 3)), np.empty(7), np.empty(6), np.empty(6), np.empty(6), np.empty(7)
    S, J, h, N = np.empty((7, 8, 3)), np.empty((6, 7)), np.empty((7, 7)), np.empty((8, 8))
    flat, hS, K = S.reshape(7, 24), np.empty((7, 24)), np.empty((24, 24))
    energy = 0.0
    for e in range(nodes.shape[0]):
        own = nodes[e]
        find_invariants(x, own, size, y, s)
        strain_of(s, f, v)
        for r in range(6):
            P[r] = stiffness[e, r] * (v[r] - strains[e, r])
            energy += 0.5 * P[r] * (v[r] - strains[e, r])
        both = slope_of_energy(s, f, P, g)
        slope_of_invariants(y, size, S)
        for n in range(8):
            for d in range(3):
                total = 0.0
                for r in range(7):
                    total += g[r] * S[r, n, d]
                force[own[n], d] += total
        if exact == 0.0 and warped == 0.0:
            continue
        slope_of_strain(s, f, J)
        if predicted.shape[0] > 0 and exact != 0.0:
            both = replace_efforts(s, f, S, own, predicted[e], P, g, change)
        for i in range(7):
            for j in range(7):
                total = 0.0
                for r in range(6):
                    total += stiffness[e, r] * J[r, i] * J[r, j]
                h[i, j] = (exact + warped) * total
        add_curvature(s, f, P, both, exact, h)
        curvature_of_invariants(g, size, exact, N)
        hS[:] = 0.0
        K[:] = 0.0
        for r in range(7):
            for q in range(7):
                for n in range(24):
                    hS[r, n] += h[r, q] * flat[q, n]
        for r in range(7):
            for n in range(24):
                for m in range(24):
                    K[n, m] += flat[r, n] * hS[r, m]
        add_blocks(K, N, slots[e], blocks)
    return energy


@kernel
def add_blocks(K, N, slots, blocks):
    """Add K [24, 24] + N [8, 8] I of an element to its blocks."""
    pair = 0
    for a in range(8):
        for b in range(a + 1):
            slot = slots[pair]
            pair += 1
            turned, t = slot & 1, slot >> 1
            for i in range(3):
                for j in range(3):
                    value = K[3 * a + i, 3 * b + j] + (N[a, b] if i == j else 0.0)
                    if turned:
                        blocks[t, j, i] += value
                    else:
                        blocks[t, i, j] += value
