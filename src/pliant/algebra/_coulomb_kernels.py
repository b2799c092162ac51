"""Gauss-Seidel for efforts within limits and Coulomb's cones, one contact at a time, each solved for itself."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra.compiled import kernel

TURNS = 100
"""How often the direction of sliding of one contact is corrected, at most."""


@kernel
def sweep(W, r, efforts, limits, mu):
    """One sweep over all rows in place: those with limits first, then the contacts, three rows each (normal, two tangents).

    r (k,) = W lambda + b is kept up to date. Returns the largest change of an effort times its own compliance.
    """
    plain, largest = limits.shape[0], 0.0
    for i in range(plain):
        if W[i, i] <= 0.0:
            continue
        new = min(max(efforts[i] - r[i] / W[i, i], limits[i, 0]), limits[i, 1])
        change = new - efforts[i]
        if change != 0.0:
            efforts[i] = new
            _respond(W, r, i, change)
            largest = max(largest, abs(change) * W[i, i])
    for c in range(mu.shape[0]):
        i = plain + 3 * c
        now = efforts[i], efforts[i + 1], efforts[i + 2]
        new = _solve_contact(W, r, i, now, mu[c])
        for d in range(3):
            change = new[d] - now[d]
            if change != 0.0:
                efforts[i + d] = new[d]
                _respond(W, r, i + d, change)
                largest = max(largest, abs(change) * W[i + d, i + d])
    return largest


@kernel
def _respond(W, r, i, change):
    """r += W_i change."""
    for j in range(r.shape[0]):
        r[j] += W[i, j] * change


@kernel
def _solve_contact(W, r, i, now, mu):
    """Efforts (normal, two tangents) of one contact with all others as they are: open, sticking or sliding."""
    a, b, c = W[i, i], W[i, i + 1], W[i, i + 2]
    d, e, f = W[i + 1, i + 1], W[i + 1, i + 2], W[i + 2, i + 2]
    x, y, z = now
    n = r[i] - a * x - b * y - c * z
    s = r[i + 1] - b * x - d * y - e * z
    t = r[i + 2] - c * x - e * y - f * z
    if n >= 0.0 or a <= 0.0:
        return 0.0, 0.0, 0.0
    if mu > 0.0:
        det = a * (d * f - e * e) - b * (b * f - e * c) + c * (b * e - d * c)
        if det > 1e-12 * a * d * f:
            stick = (
                -(n * (d * f - e * e) - b * (s * f - e * t) + c * (s * e - d * t)) / det,
                -(a * (s * f - e * t) - n * (b * f - e * c) + c * (b * t - s * c)) / det,
                -(a * (d * t - s * e) - b * (b * t - s * c) + n * (b * e - d * c)) / det,
            )
            if stick[0] > 0.0 and stick[1] ** 2 + stick[2] ** 2 <= (mu * stick[0]) ** 2:
                return stick
    if mu == 0.0:
        return -n / a, 0.0, 0.0
    return _slide(a, b, c, d, e, f, n, s, t, now, mu)


@kernel
def _slide(a, b, c, d, e, f, n, s, t, now, mu):
    """The force on the cone against the slip: the direction is turned until it is."""
    u, v = now[1], now[2]
    length = math.hypot(u, v)
    if length == 0.0:
        u, v = -s + b * n / a, -t + c * n / a
        length = math.hypot(u, v)
    if length == 0.0:
        return -n / a, 0.0, 0.0
    u, v = u / length, v / length
    normal = -n / a
    stiff = d + f
    for _ in range(TURNS):
        below = a + mu * (b * u + c * v)
        normal = -n / below if below > 1e-3 * a else -n / (1e-3 * a)
        p = s + b * normal + mu * normal * (d * u + e * v)
        q = t + c * normal + mu * normal * (e * u + f * v)
        x, y = mu * normal * u - p / stiff, mu * normal * v - q / stiff
        length = math.hypot(x, y)
        if length == 0.0:
            break
        x, y = x / length, y / length
        turned = abs(x * v - y * u)
        u, v = x, y
        if turned < 1e-14:
            break
    return normal, mu * normal * u, mu * normal * v
