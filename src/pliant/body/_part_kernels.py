"""The tree of parts: where it goes, how nodes follow, and how that curves (see `parts.py` for the mathematics)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import atan2, sin, sqrt

import numpy as np

from pliant.algebra.compiled import kernel


@kernel
def turn_bases(parents, rotations, bases, out):
    """out [p, 3, 3] = R bases with R the rotation [3, 3] of each part's parent: free directions as they lie in space."""
    for p in range(parents.shape[0]):
        a = parents[p]
        for i in range(3):
            for j in range(3):
                if a < 0:
                    out[p, i, j] = bases[p, i, j]
                    continue
                total = 0.0
                for k in range(3):
                    total += rotations[a, i, k] * bases[p, k, j]
                out[p, i, j] = total


@kernel
def over_angle(square):
    """sin(angle) / angle, of the square of an angle; small ones by the series, exact to rounding and quicker."""
    if square < 0.0625:
        tail = 1.0 - square / 42.0 * (1.0 - square / 72.0 * (1.0 - square / 110.0))
        return 1.0 - square / 6.0 * (1.0 - square / 20.0 * tail)
    angle = sqrt(square)
    return sin(angle) / angle


@kernel
def turn_by(theta, out):
    """out [3, 3]: the rotation by |theta| [rad] about theta [3] (Rodrigues)."""
    x, y, z = theta[0], theta[1], theta[2]
    square = x * x + y * y + z * z
    one, half = over_angle(square), over_angle(0.25 * square)
    two = 0.5 * half * half
    out[0, 0] = 1.0 - two * (y * y + z * z)
    out[1, 1] = 1.0 - two * (x * x + z * z)
    out[2, 2] = 1.0 - two * (x * x + y * y)
    out[0, 1], out[1, 0] = two * x * y - one * z, two * x * y + one * z
    out[0, 2], out[2, 0] = two * x * z + one * y, two * x * z - one * y
    out[1, 2], out[2, 1] = two * y * z - one * x, two * y * z + one * x


@kernel
def straighten(R, S, T):
    """R [3, 3] <- R (3 I - R^T R) / 2: takes out the rounding that products of rotations collect, to first order. S, T [3, 3]:
    memory to work in."""
    for i in range(3):
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += R[k, i] * R[k, j]
            S[i, j] = (1.5 if i == j else 0.0) - 0.5 * total
            T[i, j] = R[i, j]
    for i in range(3):
        for j in range(3):
            R[i, j] = T[i, 0] * S[0, j] + T[i, 1] * S[1, j] + T[i, 2] * S[2, j]


@kernel
def turn_joint(basis, rank, step, Q, theta, E, T):
    """Q [3, 3], the rotation of a part seen from its parent, after a step [3] along its free directions [3, 3]; theta [3],
    E, T [3, 3]: memory to work in.

    About one axis only the angle is kept, so that a hinge stays one however often it moves."""
    if rank == 0:
        return
    for i in range(3):
        theta[i] = basis[i, 0] * step[0] + basis[i, 1] * step[1] + basis[i, 2] * step[2]
    if rank == 1:
        x = basis[0, 0] + basis[0, 1] + basis[0, 2]
        y = basis[1, 0] + basis[1, 1] + basis[1, 2]
        z = basis[2, 0] + basis[2, 1] + basis[2, 2]
        sine = 0.5 * (x * (Q[2, 1] - Q[1, 2]) + y * (Q[0, 2] - Q[2, 0]) + z * (Q[1, 0] - Q[0, 1]))
        angle = atan2(sine, 0.5 * (Q[0, 0] + Q[1, 1] + Q[2, 2] - 1.0))
        theta[0] += angle * x
        theta[1] += angle * y
        theta[2] += angle * z
        turn_by(theta, Q)
        return
    turn_by(theta, E)
    for i in range(3):
        for j in range(3):
            T[i, j] = Q[i, j]
    for i in range(3):
        for j in range(3):
            Q[i, j] = E[i, 0] * T[0, j] + E[i, 1] * T[1, j] + E[i, 2] * T[2, j]


@kernel
def move_parts(parents, offsets, slides, turns, ranks, numbers, step, centers, rotations, new_centers, new_rotations):
    """Centres [p, 3] and rotations [p, 3, 3] after a step of the coordinates [nc, 3].

    offsets [p, 3]: pivots at rest from their parents' pivots; slides, turns [p, 3, 3], ranks [p, 2]: free directions and
    how many there are; numbers [p, 2]: of the two coordinates, -1 where there is none. Parents come before children.
    """
    Q = np.empty((3, 3))
    s = np.empty(3)
    along = np.empty(3)
    theta = np.empty(3)
    E = np.empty((3, 3))
    T = np.empty((3, 3))
    nothing = np.zeros(3)
    for p in range(parents.shape[0]):
        a = parents[p]
        shift = step[numbers[p, 0]] if numbers[p, 0] >= 0 else nothing
        turn = step[numbers[p, 1]] if numbers[p, 1] >= 0 else nothing
        if a < 0 and ranks[p, 0] == 3 and ranks[p, 1] == 3:  # free: most parts are
            turn_by(turn, E)
            for i in range(3):
                new_centers[p, i] = centers[p, i] + shift[i]
                for j in range(3):
                    new_rotations[p, i, j] = (
                        E[i, 0] * rotations[p, 0, j] + E[i, 1] * rotations[p, 1, j] + E[i, 2] * rotations[p, 2, j]
                    )
            straighten(new_rotations[p], E, T)
            continue
        for i in range(3):  # the pivot and the rotation, seen from the parent
            total = 0.0
            for k in range(3):
                total += (rotations[a, k, i] * (centers[p, k] - centers[a, k])) if a >= 0 else 0.0
            s[i] = (total if a >= 0 else centers[p, i]) - offsets[p, i]
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += rotations[a, k, i] * rotations[p, k, j] if a >= 0 else 0.0
                Q[i, j] = total if a >= 0 else rotations[p, i, j]
        if ranks[p, 1] == 0:
            for i in range(3):
                for j in range(3):
                    Q[i, j] = 1.0 if i == j else 0.0
        turn_joint(turns[p], ranks[p, 1], turn, Q, theta, E, T)
        for j in range(3):
            along[j] = shift[j]
            for i in range(3):
                along[j] += slides[p, i, j] * s[i]
        for i in range(3):
            s[i] = offsets[p, i]
            for j in range(3):
                s[i] += slides[p, i, j] * along[j]
        for i in range(3):
            if a < 0:
                new_centers[p, i] = centers[p, i] + shift[i] if ranks[p, 0] == 3 else s[i]
            else:
                new_centers[p, i] = new_centers[a, i]
                for k in range(3):
                    new_centers[p, i] += new_rotations[a, i, k] * s[k]
            for j in range(3):
                if a < 0:
                    new_rotations[p, i, j] = Q[i, j]
                    continue
                total = 0.0
                for k in range(3):
                    total += new_rotations[a, i, k] * Q[k, j]
                new_rotations[p, i, j] = total
        straighten(new_rotations[p], E, T)


@kernel
def place_nodes(seats, arms, centers, rotations, x):
    """x [n, 3] of the nodes on parts: c + R arm, for seats [s, 2] (node, part) and arms [s, 3] at rest."""
    for t in range(seats.shape[0]):
        n, p = seats[t, 0], seats[t, 1]
        for i in range(3):
            total = centers[p, i]
            for j in range(3):
                total += rotations[p, i, j] * arms[t, j]
            x[n, i] = total


@kernel
def find_levers(seats, centers, x, out):
    """out [s, 3]: nodes as seen from the pivots of their parts."""
    for t in range(seats.shape[0]):
        n, p = seats[t, 0], seats[t, 1]
        for i in range(3):
            out[t, i] = x[n, i] - centers[p, i]


@kernel
def fill_links(kinds, slides, turns, centers, out):
    """The matrices [k, 3, 3] by which a part p follows the coordinates of an ancestor b: kinds [k, 3] are (kind, p, b).

    kind 0: its pivot follows the shift, N_b; 1: its pivot follows the turn, -[c_p - c_b] A_b; 2: its spin does, A_b.
    """
    for t in range(kinds.shape[0]):
        kind, p, b = kinds[t, 0], kinds[t, 1], kinds[t, 2]
        for j in range(3):
            if kind == 1:
                x, y, z = centers[p, 0] - centers[b, 0], centers[p, 1] - centers[b, 1], centers[p, 2] - centers[b, 2]
                u, v, w = turns[b, 0, j], turns[b, 1, j], turns[b, 2, j]
                out[t, 0, j], out[t, 1, j], out[t, 2, j] = v * z - w * y, w * x - u * z, u * y - v * x
                continue
            for i in range(3):
                out[t, i, j] = slides[b, i, j] if kind == 0 else turns[b, i, j]


@kernel
def sum_loads(seats, levers, parents, centers, force, forces, moments):
    """What acts on each part and all that hangs on it: F [p, 3] = sum f and C [p, 3, 3] = sum f r^T about its pivot."""
    count = parents.shape[0]
    for p in range(count):
        for i in range(3):
            forces[p, i] = 0.0
            for j in range(3):
                moments[p, i, j] = 0.0
    for t in range(seats.shape[0]):
        n, p = seats[t, 0], seats[t, 1]
        for i in range(3):
            forces[p, i] += force[n, i]
            for j in range(3):
                moments[p, i, j] += force[n, i] * levers[t, j]
    for p in range(count - 1, -1, -1):  # children come after their parents
        a = parents[p]
        if a < 0:
            continue
        for i in range(3):
            forces[a, i] += forces[p, i]
            for j in range(3):
                moments[a, i, j] += moments[p, i, j] + forces[p, i] * (centers[p, j] - centers[a, j])


@kernel
def curve(pairs, slides, turns, forces, moments, out):
    """sum f . d2 Phi as blocks [q, 3, 3] for pairs [q, 3] (i, j, kind): the turn of part i with the turn (kind 0) or the shift
    (kind 1) of part j, which is i itself or hangs on it; forces, moments: see `sum_loads`."""
    B = np.empty((3, 3))
    G = np.empty((3, 3))
    for t in range(pairs.shape[0]):
        i, j, kind = pairs[t, 0], pairs[t, 1], pairs[t, 2]
        if kind == 1:
            x, y, z = forces[j, 0], forces[j, 1], forces[j, 2]
            B[0, 0] = B[1, 1] = B[2, 2] = 0.0
            B[0, 1], B[0, 2], B[1, 2] = z, -y, x
            B[1, 0], B[2, 0], B[2, 1] = -z, y, -x
        else:
            trace = moments[j, 0, 0] + moments[j, 1, 1] + moments[j, 2, 2]
            for a in range(3):
                for b in range(3):
                    C = moments[j, b, a] if i != j else 0.5 * (moments[j, a, b] + moments[j, b, a])
                    B[a, b] = C - (trace if a == b else 0.0)
        right = slides if kind == 1 else turns
        for a in range(3):
            for b in range(3):
                G[a, b] = B[a, 0] * right[j, 0, b] + B[a, 1] * right[j, 1, b] + B[a, 2] * right[j, 2, b]
        for a in range(3):
            for b in range(3):
                out[t, a, b] = turns[i, 0, a] * G[0, b] + turns[i, 1, a] * G[1, b] + turns[i, 2, a] * G[2, b]


@kernel
def find_way(parents, slides, turns, numbers, before, turned, after, turned_after, out):
    """out [nc, 3]: the step of the parts' coordinates that leads from centers and rotations [p, 3], [p, 3, 3] to others;
    slides, turns [p, 3, 3]: free directions as they lie in space before."""
    G, F, E, way, theta = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3)
    for p in range(parents.shape[0]):
        a = parents[p]
        for i in range(3):
            for j in range(3):
                G[i, j] = 1.0 if i == j else 0.0
                if a >= 0:
                    G[i, j] = 0.0
                    for k in range(3):
                        G[i, j] += turned_after[a, i, k] * turned[a, j, k]
        for i in range(3):
            way[i] = (before[a, i] if a >= 0 else 0.0) - before[p, i]
            for k in range(3):
                way[i] += G[k, i] * (after[p, k] - (after[a, k] if a >= 0 else 0.0))
            for j in range(3):
                F[i, j] = 0.0
                for k in range(3):
                    F[i, j] += turned_after[p, i, k] * turned[p, j, k]
        for i in range(3):
            for j in range(3):  # E = G^T R+ R^T
                E[i, j] = G[0, i] * F[0, j] + G[1, i] * F[1, j] + G[2, i] * F[2, j]
        theta[0], theta[1], theta[2] = E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]
        sine = 0.5 * sqrt(theta[0] ** 2 + theta[1] ** 2 + theta[2] ** 2)
        angle = atan2(sine, 0.5 * (E[0, 0] + E[1, 1] + E[2, 2] - 1.0))
        scale = 0.5 * angle / sine if sine > 0.0 else 0.5
        for k in range(2):
            if numbers[p, k] < 0:
                continue
            for j in range(3):
                total = 0.0
                for i in range(3):
                    total += slides[p, i, j] * way[i] if k == 0 else turns[p, i, j] * scale * theta[i]
                out[numbers[p, k], j] = total
