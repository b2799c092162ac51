"""Efforts within limits and Coulomb's cones: projections, Newton's matrix, and sweeps of Gauss-Seidel contact by contact."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra.compiled import kernel

FIXED, FREE, SLIDING = 0, 1, 2
"""What a projection does to a row: puts it somewhere, leaves it, or puts it, a tangent, on the edge of its disc."""
TURNS = 100
"""How often the direction of sliding of one contact is corrected, at most."""


@kernel
def project(y, limits, mu, out, pieces):
    """y [k] put within limits [p, 2] and then, three rows each, within the cones of contacts with coefficients mu [c]: out [k],
    and what was done to each row, pieces [k]."""
    plain = limits.shape[0]
    for i in range(plain):
        out[i] = min(max(y[i], limits[i, 0]), limits[i, 1])
        pieces[i] = FREE if out[i] == y[i] else FIXED
    for c in range(mu.shape[0]):
        i = plain + 3 * c
        out[i], out[i + 1], out[i + 2] = y[i], y[i + 1], y[i + 2]
        pieces[i], pieces[i + 1], pieces[i + 2] = FREE, FREE, FREE
        if not y[i] > 0.0:
            out[i], out[i + 1], out[i + 2] = 0.0, 0.0, 0.0
            pieces[i], pieces[i + 1], pieces[i + 2] = FIXED, FIXED, FIXED
            continue
        length, most = math.hypot(y[i + 1], y[i + 2]), mu[c] * y[i]
        if length > most:
            out[i + 1], out[i + 2] = y[i + 1] * most / length, y[i + 2] * most / length
            pieces[i + 1] = pieces[i + 2] = SLIDING if mu[c] > 0.0 else FIXED


@kernel
def lay_out(y, efforts, rho, mu, pieces, known, rows, columns, extra, right):
    """The unknowns of a Newton step, and what is known of it; returns how many unknowns there are.

    Unknown are the changes of the rows that are left as they are, and of every contact that slides that of its effort across
    the direction e of sliding: along e it is mu lambda_n. rows: (index [m, 2], weight [m, 2]) of what row of W each has;
    columns: (index [m, 3], weight [m, 3]) of which efforts it changes; extra [m]: what is added to the diagonal; right [m]:
    what remains there, or NaN where that is the row's own displacement; known [k] holds what is known of the change, and gets
    that along e.
    """
    (at, share), (of, by) = rows, columns
    plain, m = pieces.shape[0] - 3 * mu.shape[0], 0
    for i in range(pieces.shape[0]):
        if pieces[i] == FIXED or (pieces[i] == SLIDING and (i - plain) % 3 == 2):
            continue
        at[m, 0], at[m, 1], share[m, 0], share[m, 1] = i, i, 1.0, 0.0
        of[m, 0], of[m, 1], of[m, 2], by[m, 0], by[m, 1], by[m, 2] = i, i, i, 1.0, 0.0, 0.0
        extra[m], right[m] = 0.0, math.nan
        is_normal = i >= plain and (i - plain) % 3 == 0
        if is_normal and pieces[i + 1] == SLIDING:
            c, length = (i - plain) // 3, math.hypot(y[i + 1], y[i + 2])
            u, v = y[i + 1] / length, y[i + 2] / length
            of[m, 1], of[m, 2], by[m, 1], by[m, 2] = i + 1, i + 2, mu[c] * u, mu[c] * v
            missing = mu[c] * efforts[i] - (u * efforts[i + 1] + v * efforts[i + 2])
            known[i + 1], known[i + 2] = missing * u, missing * v
        elif pieces[i] == SLIDING:
            n = i - 1
            length = math.hypot(y[i], y[i + 1])
            u, v = -y[i + 1] / length, y[i] / length
            turning = mu[(n - plain) // 3] * y[n] / length
            at[m, 1], share[m, 0], share[m, 1] = i + 1, u, v
            of[m, 1], by[m, 0], by[m, 1] = i + 1, u, v
            extra[m] = (1.0 - turning) / (turning * rho[i])
            right[m] = -(u * efforts[i] + v * efforts[i + 1]) / (turning * rho[i])
        m += 1
    return m


@kernel
def newton_system(W, r, known, rows, columns, extra, right, J):
    """Fill J [m, m + 1] with rows W columns + diag(extra) and then the right side, less what the known change does; r [k]:
    displacements."""
    (at, share), (of, by) = rows, columns
    count = J.shape[0]
    for a in range(count):
        i, j, s, t = at[a, 0], at[a, 1], share[a, 0], share[a, 1]
        for b in range(count):
            o = of[b, 0]
            value = by[b, 0] * (s * W[i, o] + t * W[j, o])
            for q in range(1, 3):
                if by[b, q] != 0.0:
                    o = of[b, q]
                    value += by[b, q] * (s * W[i, o] + t * W[j, o])
            J[a, b] = value
        J[a, a] += extra[a]
        left = -(s * r[i] + t * r[j]) if math.isnan(right[a]) else right[a]
        for o in range(known.shape[0]):
            left -= (s * W[i, o] + t * W[j, o]) * known[o]
        J[a, count] = left


@kernel
def displaced(W, efforts, b, r):
    """r [k] = W lambda + b."""
    for i in range(r.shape[0]):
        value = 0.0
        for j in range(r.shape[0]):
            value += W[i, j] * efforts[j]
        r[i] = value + b[i]


@kernel
def spread(solved, columns, known):
    """The whole change: what is known of it [k], and in place the changes [m] of the unknowns."""
    of, by = columns
    for a in range(solved.shape[0]):
        for q in range(3):
            if by[a, q] != 0.0:
                known[of[a, q]] += by[a, q] * solved[a]


@kernel
def independent_part(W, smallest, L):
    """Cholesky with pivots, W = L L^T with L [k, r], as far as pivots are above `smallest`; fills L [k, k], returns the rank r.

    W [k, k] is left as it is.
    """
    k = W.shape[0]
    left = L[:, k - 1]  # the diagonal that is left, in the last column as long as that is not needed
    for i in range(k):
        left[i] = W[i, i]
    for r in range(k):
        p = 0
        for i in range(k):
            if left[i] > left[p]:
                p = i
        pivot = left[p]
        if not pivot > smallest:
            return r
        root = math.sqrt(pivot)
        if r == k - 1:
            for i in range(k):
                left[i] = 0.0
            left[p] = root
            return k
        for i in range(k):
            value = W[i, p]
            for q in range(r):
                value -= L[i, q] * L[p, q]
            L[i, r] = value / root
        for i in range(k):
            left[i] -= L[i, r] * L[i, r]
        left[p] = 0.0
    return k


@kernel
def sweeps(W, r, efforts, limits, mu, count):
    """So many sweeps over all rows in place, fewer where nothing changes any more: rows with limits first, then the contacts,
    three rows each (normal, two tangents). r [k] = W lambda + b is kept up to date."""
    for _ in range(count):
        if _sweep(W, r, efforts, limits, mu) == 0.0:
            break


@kernel
def _sweep(W, r, efforts, limits, mu):
    """One sweep; returns the largest change of an effort times its own compliance."""
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
