"""The loop over steps and blocks of nodes: one call is one thread's part of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.motion.explicit import _node_kernels as node
from pliant.motion.explicit._barrier import meet
from pliant.motion.explicit._forces import batch_forces, batch_lengths, graph_forces, grid_forces
from pliant.motion.explicit._motor_kernels import motor_forces
from pliant.motion.explicit._signal_kernels import evaluate
from pliant.motion.explicit._vectors import LANES as WIDTH
from pliant.motion.explicit.tables import FORWARD, GENERAL, LANES, RUNGE_KUTTA, STRUCTURED

NEAR = 64
"""Nodes that are asked together whether any of them touches an obstacle."""


@kernel
def block_forces(links: Any, x: Any, packed: Any, p: int, n: int, work: Any) -> None:
    """Forces of the linear springs on the places p .. p + n into work[:3, :n]."""
    if links.layout == STRUCTURED:
        grid_forces(x, work, links.k, links.kl, links.table, p, n)
    elif links.layout == GENERAL:
        for first in range(p, p + n, WIDTH):
            row, end = links.table[first // WIDTH], links.table[first // WIDTH + 1]
            graph_forces(packed, x, work, links.k, links.kl, links.others, row, end - row, first, first - p)
    else:
        work[:3] = 0
        for i in range(links.table.size - 1):
            first, last = links.table[i], links.table[i + 1]
            if last > first:
                batch_forces(x, work, links.k, links.kl, links.others, first, last - first, i)


@kernel
def set_lengths(links: Any, actuation: Any, b: int, values: Any, factors: Any) -> None:
    """Rest lengths (times stiffness) of the actuated springs of block b."""
    first, last = actuation.start[b], actuation.start[b + 1]
    if links.layout == LANES:
        if last > first:
            batch_lengths(links.kl, actuation.base, actuation.gain, actuation.place, values, first, last - first)
        return
    flat, base = links.kl.ravel(), actuation.base.ravel()
    for e in range(first, last):
        flat[actuation.place[e]] = base[e] * factors[actuation.mix[e]]


@kernel
def mix_factors(weights: Any, values: Any, factors: Any) -> None:
    """Factors of rest lengths, 1 + weights @ values."""
    for q in range(weights.shape[0]):
        total = 1.0
        for s in range(weights.shape[1]):
            total += weights[q, s] * values[s]
        factors[q] = total


@kernel
def move_block(nodes: Any, world: Any, rule: Any, stage: int, now: int, p: int, n: int, work: Any) -> None:
    """New velocities and places of a block from its forces."""
    x, out, v, c = nodes.x[now], nodes.x[1 - now], nodes.v, rule.numbers
    for o in range(world.kind.size):
        for q in range(0, n, NEAR):
            many = min(NEAR, n - q)
            if node.penetration(x, p + q, many, world.kind[o], world.shape[o], rule.numbers[0]) > 0:
                node.press(nodes, x, p + q, many, world, o, work[:, q : q + many])
    if rule.integrator == RUNGE_KUTTA:
        for o in range(world.kind.size):
            for q in range(0, n, NEAR):
                many = min(NEAR, n - q)
                if node.penetration(x, p + q, many, world.kind[o], world.shape[o], rule.numbers[0]) > 0:
                    node.cling(nodes, x, p + q, many, world, o, work[:, q : q + many], stage, c)
    inverse_mass, mobile = nodes.inverse_mass[p : p + n], nodes.mobile[p : p + n]
    for a in range(3):
        xa, va, oa, fa, g = x[a, p : p + n], v[a, p : p + n], out[a, p : p + n], work[a, :n], world.gravity[a]
        if rule.integrator == RUNGE_KUTTA:
            node.runge_kutta(stage, xa, va, fa, inverse_mass, mobile, g, c, nodes.stage[:, a, p : p + n], oa)
        elif rule.integrator == FORWARD:
            node.lag_behind(xa, va, fa, inverse_mass, mobile, g, c, oa)
        else:
            node.kick(va, fa, inverse_mass, mobile, g, c[0], c[1])
    if rule.integrator == RUNGE_KUTTA:
        return
    for o in range(world.kind.size):
        for q in range(0, n, NEAR):
            many = min(NEAR, n - q)
            if node.penetration(x, p + q, many, world.kind[o], world.shape[o], rule.numbers[0]) > 0:
                node.rub(nodes, x, p + q, many, world, o, work[:, q : q + many], c[1])


@kernel
def pack_block(x: Any, packed: Any, p: int, n: int) -> None:
    """Positions of a block, point after point."""
    for i in range(p, p + n):
        packed[i, 0], packed[i, 1], packed[i, 2] = x[0, i], x[1, i], x[2, i]


@kernel
def write_before(nodes: Any, record: Any, now: int, synchronous: bool, sample: int, first: int, last: int) -> None:
    """Sample of places and velocities before a step; a velocity between two times is half of what follows."""
    for e in range(first, last):
        q, column = record.node[e], record.column[e]
        for a in range(3):
            record.x[sample, column, a] = nodes.x[now, a, q]
            record.v[sample, column, a] = nodes.v[a, q] if synchronous else nodes.v[a, q] / 2


@kernel
def write_after(nodes: Any, record: Any, sample: int, first: int, last: int) -> None:
    """The other half of the velocities of a sample."""
    for e in range(first, last):
        for a in range(3):
            record.v[sample, record.column[e], a] += nodes.v[a, record.node[e]] / 2


@kernel
def advance(
    nodes: Any,
    links: Any,
    actuation: Any,
    signals: Any,
    world: Any,
    holds: Any,
    given: Any,
    loads: Any,
    odd: Any,
    motors: Any,
    record: Any,
    rule: Any,
    now: int,
    steps: int,
    blocks: Any,
    part: int,
    rotations: Any,
    counter: Any,
) -> int:
    """Steps of the blocks blocks[part] .. blocks[part + 1]; all parts run at the same time. Returns the buffer in use.

    rotations [m, 3, 3]: of the motors' bases, one copy per part. counter [1]: of the meetings (see `_barrier`).
    """
    parts, begin, end = blocks.size - 1, blocks[part], blocks[part + 1]
    largest = 0
    for b in range(begin, end):
        largest = max(largest, nodes.edges[b + 1] - nodes.edges[b])
    work = np.zeros((3 + world.kind.size, largest), nodes.v.dtype)
    values, ahead = np.zeros(signals.kind.size), np.zeros(signals.kind.size)
    factors = np.ones(actuation.weights.shape[0], nodes.v.dtype)
    materials = actuation.gain.shape[0]
    robots = signals.kind.size // max(materials, 1)
    lane_values = np.zeros((materials, robots), nodes.v.dtype)
    forces, torques = np.zeros((motors.hub.size + motors.base.size, 3)), np.zeros(motors.axis.shape[0])
    stages = 4 if rule.integrator == RUNGE_KUTTA else 1
    written, drawn = record.start[begin], record.start[end]
    goal = counter[1]
    for s in range(steps):
        number = rule.first + s
        sampled = record.every > 0 and (number - rule.origin) % record.every == 0
        sample = (number - rule.origin) // record.every if sampled else 0
        if sampled:
            write_before(nodes, record, now, rule.synchronous, sample, written, drawn)
        for stage in range(stages):
            share = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            evaluate(signals, (number + share) * rule.step, values)
            mix_factors(actuation.weights, values, factors)
            if actuation.place.size > 0:
                for m in range(materials):
                    lane_values[m] = values[m * robots : (m + 1) * robots]
                for b in range(begin, end):
                    set_lengths(links, actuation, b, lane_values, factors)
                if links.layout == STRUCTURED and parts > 1:
                    goal += parts
                    meet(counter, goal)
            if motors.axis.shape[0] > 0:
                motor_forces(motors, nodes.x[now], (number + share) * rule.step, rotations, forces, torques)
                if sampled and stage == 0 and part == 0:
                    record.torque[sample] = torques
            reached = 0.5 if stages == 4 and stage < 2 else 1.0
            if given.node.size > 0:
                evaluate(signals, (number + reached) * rule.step, ahead)
            for b in range(begin, end):
                p, n = nodes.edges[b], nodes.edges[b + 1] - nodes.edges[b]
                x, out = nodes.x[now], nodes.x[1 - now]
                block_forces(links, x, nodes.packed[now], p, n, work)
                node.pull(work, p, x, odd, odd.start[b], odd.start[b + 1], factors)
                node.load(work, p, loads, loads.start[b], loads.start[b + 1], values)
                for e in range(motors.start[b], motors.start[b + 1]):
                    entry = motors.order[e]
                    place = motors.hub[entry] if entry < motors.hub.size else motors.base[entry - motors.hub.size]
                    for a in range(3):
                        work[a, place - p] += forces[entry, a]
                move_block(nodes, world, rule, stage, now, p, n, work)
                node.hold(nodes.v, holds, holds.start[b], holds.start[b + 1])
                if rule.integrator != RUNGE_KUTTA and rule.integrator != FORWARD:
                    for a in range(3):
                        xa, va = x[a, p : p + n], nodes.v[a, p : p + n]
                        node.drift(xa, va, out[a, p : p + n], rule.numbers[2])
                if rule.numbers[2] > 0:
                    start = nodes.stage[0] if rule.integrator == RUNGE_KUTTA else x
                    node.place(
                        start, out, nodes.v, given, given.start[b], given.start[b + 1], ahead, reached * rule.step
                    )
                if links.layout == GENERAL:
                    pack_block(out, nodes.packed[1 - now], p, n)
            if parts > 1:
                goal += parts
                meet(counter, goal)
            now = 1 - now
        if sampled and not rule.synchronous:
            write_after(nodes, record, sample, written, drawn)
    return now
