"""What happens to a block of nodes once the forces of its springs are known.

A block is the range p .. p + n of places; `work` [3 + obstacles, places of a block] has its forces in the rows 0 to 2 and the
normal force of obstacle o in row 3 + o.
"""

from __future__ import annotations

import math
from typing import Any, Final

from pliant.algebra.compiled import kernel

PLANE: Final = 0
OUTSIDE: Final = 1
KEEP, PUSH, DRIFT, DAMPING, STEP, TWO, SIXTH = 0, 1, 2, 3, 4, 5, 6
"""Entries of `Rule.numbers`."""


@kernel
def kick(v: Any, f: Any, inverse_mass: Any, mobile: Any, gravity: float, keep: float, push: float) -> None:
    """v <- keep v + push (f / m + g), one coordinate."""
    for i in range(v.size):
        v[i] = keep * v[i] + push * (f[i] * inverse_mass[i] + gravity * mobile[i])


@kernel
def drift(x: Any, v: Any, out: Any, time: float) -> None:
    """out = x + time v, one coordinate."""
    for i in range(x.size):
        out[i] = x[i] + time * v[i]


@kernel
def lag_behind(x: Any, v: Any, f: Any, inverse_mass: Any, mobile: Any, gravity: float, c: Any, out: Any) -> None:
    """Forward Euler: x moves with the old velocity, one coordinate."""
    for i in range(x.size):
        out[i] = x[i] + c[DRIFT] * v[i]
    kick(v, f, inverse_mass, mobile, gravity, c[KEEP], c[PUSH])


@kernel
def runge_kutta(
    stage: int, x: Any, v: Any, f: Any, inverse_mass: Any, mobile: Any, g: float, c: Any, s: Any, out: Any
) -> None:
    """One stage of the classical method of fourth order, one coordinate.

    s [4, n]: x and v at the start of the step, and the sums of their slopes.
    """
    h, half, damping = c[STEP], c[PUSH], c[DAMPING]
    two, sixth = c[TWO], c[SIXTH]
    for i in range(x.size):
        a = f[i] * inverse_mass[i] + g * mobile[i] - damping * v[i]
        if stage == 0:
            s[0, i], s[1, i] = x[i], v[i]
            s[2, i], s[3, i] = v[i], a
        elif stage < 3:
            s[2, i] += two * v[i]
            s[3, i] += two * a
        if stage < 2:
            out[i] = s[0, i] + half * v[i]
            v[i] = s[1, i] + half * a
        elif stage == 2:
            out[i] = s[0, i] + h * v[i]
            v[i] = s[1, i] + h * a
        else:
            out[i] = s[0, i] + sixth * (s[2, i] + v[i])
            v[i] = s[1, i] + sixth * (s[3, i] + a)


@kernel
def penetration(x: Any, p: int, n: int, kind: int, shape: Any, like: float) -> float:
    """Sum of how deep the nodes p .. p + n are inside an obstacle [m]: zero when none is. like: any number of type T."""
    zero = like - like
    a, b, c, d = shape[0], shape[1], shape[2], shape[3]
    X, Y, Z = x[0, p : p + n], x[1, p : p + n], x[2, p : p + n]
    total = zero
    if kind == PLANE:
        for i in range(n):
            depth = d - (a * X[i] + b * Y[i] + c * Z[i])
            total += depth if depth > zero else zero
        return total
    for i in range(n):
        dx, dy, dz = X[i] - a, Y[i] - b, Z[i] - c
        depth = d - math.sqrt(dx * dx + dy * dy + dz * dz)
        depth = depth if kind == OUTSIDE else -depth
        total += depth if depth > zero else zero
    return total


@kernel
def normal_at(x: Any, q: int, kind: int, shape: Any) -> tuple[float, float, float, float]:
    """How deep place q is inside an obstacle [m] (negative: outside) and the normal that leads out of it."""
    if kind == PLANE:
        depth = shape[3] - (shape[0] * x[0, q] + shape[1] * x[1, q] + shape[2] * x[2, q])
        return depth, shape[0], shape[1], shape[2]
    dx, dy, dz = x[0, q] - shape[0], x[1, q] - shape[1], x[2, q] - shape[2]
    r = math.sqrt(dx * dx + dy * dy + dz * dz)
    if r == 0:
        return (shape[3], dx, dy, shape[3] / shape[3]) if kind == OUTSIDE else (-shape[3], dx, dy, dz)
    if kind == OUTSIDE:
        return shape[3] - r, dx / r, dy / r, dz / r
    return r - shape[3], -dx / r, -dy / r, -dz / r


@kernel
def press(nodes: Any, x: Any, p: int, n: int, world: Any, o: int, work: Any) -> None:
    """Add the normal forces of obstacle o, stiffness times depth minus damping times speed, never pulling."""
    v, zero = nodes.v, work[0, 0] - work[0, 0]
    ratio, given = world.touch[o, 1], world.touch[o, 2]
    for i in range(n):
        q = p + i
        depth, a, b, c = normal_at(x, q, world.kind[o], world.shape[o])
        work[3 + o, i] = zero
        if depth > zero and nodes.inverse_mass[q] > zero:
            k = given if given > zero else world.stiffness[q]
            away = a * v[0, q] + b * v[1, q] + c * v[2, q]
            rate = ratio * math.sqrt(k / nodes.inverse_mass[q])
            force = max(k * depth - (rate + rate) * away, zero)
            work[3 + o, i] = force
            work[0, i] += force * a
            work[1, i] += force * b
            work[2, i] += force * c


@kernel
def rub(nodes: Any, x: Any, p: int, n: int, world: Any, o: int, work: Any, push: float) -> None:
    """Coulomb: friction takes away the tangential velocity (stick), but at most mu N push / m of it (slip)."""
    v, mu, zero = nodes.v, world.touch[o, 0], work[0, 0] - work[0, 0]
    for i in range(n):
        if work[3 + o, i] > zero:
            q = p + i
            _, a, b, c = normal_at(x, q, world.kind[o], world.shape[o])
            away = a * v[0, q] + b * v[1, q] + c * v[2, q]
            tx, ty, tz = v[0, q] - away * a, v[1, q] - away * b, v[2, q] - away * c
            speed = math.sqrt(tx * tx + ty * ty + tz * tz)
            most = mu * work[3 + o, i] * push * nodes.inverse_mass[q]
            share = most / speed if speed > most else nodes.mobile[q]
            v[0, q] -= share * tx
            v[1, q] -= share * ty
            v[2, q] -= share * tz


@kernel
def cling(nodes: Any, x: Any, p: int, n: int, world: Any, o: int, work: Any, stage: int, c: Any) -> None:
    """Add Coulomb's friction to the forces of a stage of Runge-Kutta.

    It is the force that brings the tangential velocity of the step's start to zero within the step (stick), at most mu N
    (slip): a node at rest has no slope in any stage and stays where it is.
    """
    mu, h, damping, zero = world.touch[o, 0], c[STEP], c[DAMPING], work[0, 0] - work[0, 0]
    for i in range(n):
        if work[3 + o, i] > zero:
            q = p + i
            _, a, b, d = normal_at(x, q, world.kind[o], world.shape[o])
            m, g, now = nodes.inverse_mass[q], world.gravity, nodes.v
            begin = nodes.v if stage == 0 else nodes.stage[1]
            ux = begin[0, q] + h * (work[0, i] * m + g[0] - damping * now[0, q])
            uy = begin[1, q] + h * (work[1, i] * m + g[1] - damping * now[1, q])
            uz = begin[2, q] + h * (work[2, i] * m + g[2] - damping * now[2, q])
            away = a * ux + b * uy + d * uz
            tx, ty, tz = ux - away * a, uy - away * b, uz - away * d
            speed = math.sqrt(tx * tx + ty * ty + tz * tz)
            most = mu * work[3 + o, i] * h * m
            share = (most / speed if speed > most else nodes.mobile[q]) / (h * m)
            work[0, i] -= share * tx
            work[1, i] -= share * ty
            work[2, i] -= share * tz


@kernel
def hold(v: Any, holds: Any, first: int, last: int) -> None:
    """Velocities of nodes that move in a plane or along a line."""
    for e in range(first, last):
        q, P = holds.node[e], holds.projector[e]
        a, b, c = v[0, q], v[1, q], v[2, q]
        v[0, q] = P[0] * a + P[3] * b + P[5] * c
        v[1, q] = P[3] * a + P[1] * b + P[4] * c
        v[2, q] = P[5] * a + P[4] * b + P[2] * c


@kernel
def place(x: Any, out: Any, v: Any, given: Any, first: int, last: int, values: Any, step: float) -> None:
    """Nodes whose place is given by signals, and their mean velocity over the pass."""
    for e in range(first, last):
        q, signal = given.node[e], given.signal[e]
        for a in range(3):
            out[a, q] = given.rest[e, a] + given.direction[e, a] * values[signal]
            v[a, q] = (out[a, q] - x[a, q]) / step


@kernel
def load(f: Any, p: int, loads: Any, first: int, last: int, values: Any) -> None:
    """Add given forces."""
    for e in range(first, last):
        factor = values[loads.signal[e]] if loads.signal[e] >= 0 else 1.0
        for a in range(3):
            f[a, loads.node[e] - p] += factor * loads.force[e, a]


@kernel
def pull(f: Any, p: int, x: Any, odd: Any, first: int, last: int, factors: Any) -> None:
    """Add the forces of springs with laws of their own, linear between the entries of their tables and beyond."""
    for e in range(first, last):
        i, j = odd.node[e], odd.other[e]
        dx, dy, dz = x[0, j] - x[0, i], x[1, j] - x[1, i], x[2, j] - x[2, i]
        l = math.sqrt(dx * dx + dy * dy + dz * dz)
        rest = odd.length[e] * (factors[odd.mix[e]] if odd.mix[e] >= 0 else 1.0)
        if l > 0.0:
            begin, end = odd.law_start[odd.law[e]], odd.law_start[odd.law[e] + 1]
            tension = odd.k[e] * rest * looked_up(odd.strain[begin:end], odd.tension[begin:end], l / rest - 1.0)
            f[0, i - p] += tension * dx / l
            f[1, i - p] += tension * dy / l
            f[2, i - p] += tension * dz / l


@kernel
def looked_up(at: Any, values: Any, where: float) -> Any:
    """Linear between entries, and along the first and last slope beyond them."""
    low, high = 0, at.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if at[middle] <= where:
            low = middle
        else:
            high = middle
    return values[low] + (where - at[low]) * (values[high] - values[low]) / (at[high] - at[low])
