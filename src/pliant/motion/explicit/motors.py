"""Motors as tables of the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.errors import InputError
from pliant.motion.explicit import tables
from pliant.motion.explicit.drives import Motor
from pliant.motion.explicit.layouts import Layout
from pliant.motion.explicit.setup import node_ids
from pliant.motion.explicit.springs import Array, Ids, Springs


def motors_table(springs: Springs, layout: Layout, motors: Sequence[Motor]) -> tables.Motors:
    """Hubs and bases of all motors; nodes of a hub are in no other hub and not in their own base."""
    n = len(springs.points)
    hubs, bases, arms, base_arms = [], [], [], []
    axles, axes, drives, stiffness = np.zeros((len(motors), 3)), np.zeros((len(motors), 3)), [], []
    for m, motor in enumerate(motors):
        hub = np.unique(node_ids(motor.hub, n, f"the hub of motor {m}"))
        base = np.unique(node_ids([] if motor.base is None else motor.base, n, f"the base of motor {m}"))
        _require_usable(springs, m, hub, base, motor.base is not None)
        middle = np.zeros(3)
        if len(base):
            middle = springs.masses[base] @ springs.points[base] / springs.masses[base].sum()
        point, axis = np.asarray(motor.point, float), np.asarray(motor.axis, float)
        axles[m], axes[m] = point - middle, axis / np.linalg.norm(axis)
        hubs.append(hub)
        bases.append(base)
        arms.append(springs.points[hub] - point)
        base_arms.append(springs.points[base] - middle)
        stiffness.append(hub_stiffness(springs, motor, hub))
        drives.append((motor.speed, motor.phase, motor.start))
    hub, base = _joined(hubs), _joined(bases)
    _require_own_hubs(hub)
    places = layout.place[np.concatenate([hub, base])]
    order = np.argsort(places, kind="stable")
    return tables.Motors(
        layout.place[hub],
        _starts(hubs),
        np.concatenate([np.empty((0, 3)), *arms]),
        np.concatenate([np.empty(0), *stiffness]),
        layout.place[base],
        _starts(bases),
        np.concatenate([np.empty((0, 3)), *base_arms]),
        springs.masses[base],
        axles,
        axes,
        np.array(drives, float).reshape(-1, 3),
        order.astype(np.int64),
        layout.starts(places[order]),
    )


def hub_stiffness(springs: Springs, motor: Motor, hub: Ids) -> Array:
    """Stiffness [N/m] with which each hub node is held."""
    if motor.stiffness is None:
        return springs.node_stiffness[hub]
    if not (np.isfinite(motor.stiffness) and motor.stiffness > 0):
        raise InputError(f"stiffness of a motor is {motor.stiffness} N/m", remedy="give a positive number")
    return np.full(len(hub), float(motor.stiffness))


def _require_usable(springs: Springs, m: int, hub: Ids, base: Ids, wants_base: bool) -> None:
    if len(hub) < 3:
        raise InputError(f"the hub of motor {m} has {len(hub)} nodes", remedy="give at least three")
    both = np.intersect1d(hub, base)
    if len(both):
        raise InputError(f"node {both[0]} is in the hub and in the base of motor {m}", remedy="give it to one of them")
    if wants_base:
        spread = np.linalg.svd(springs.points[base] - springs.points[base].mean(axis=0), compute_uv=False)
        if len(base) < 3 or spread[1] < 1e-6 * spread[0]:
            raise InputError(
                f"the base of motor {m} has {len(base)} nodes, all on one line",
                remedy="give nodes on a surface or in a volume",
            )


def _require_own_hubs(hub: Ids) -> None:
    values, counts = np.unique(hub, return_counts=True)
    if (counts > 1).any():
        raise InputError(f"node {values[counts > 1][0]} is in two hubs", remedy="give each node to one motor")


def _joined(groups: list[Ids]) -> Ids:
    return np.concatenate([np.empty(0, np.int64), *groups])


def _starts(groups: list[Ids]) -> Ids:
    return np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
