"""Motors as tables of the compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.motion.explicit import tables
from pliant.motion.explicit.drives import Motor
from pliant.motion.explicit.layouts import Layout
from pliant.motion.explicit.setup import node_ids
from pliant.motion.explicit.springs import Array, Ids, Springs


def motors_table(springs: Springs, layout: Layout, motors: Sequence[Motor]) -> tables.Motors:
    """Hubs and bases of all motors; nodes of a hub are in no other hub and not in their own base."""
    hubs, bases, arms, base_arms = [], [], [], []
    axles, axes, drives, stiffness = np.zeros((len(motors), 3)), np.zeros((len(motors), 3)), [], []
    for m, motor in enumerate(motors):
        hub, base = hub_and_base(springs, m, motor)
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


def hub_and_base(springs: Springs, m: int, motor: Motor) -> tuple[Ids, Ids]:
    """Checked nodes of motor m, each once; the base is empty when its axle is fixed in the world."""
    n = len(springs.points)
    hub = np.unique(node_ids(motor.hub, n, f"the hub of motor {m}"))
    base = np.unique(node_ids([] if motor.base is None else motor.base, n, f"the base of motor {m}"))
    _require_usable(springs, m, hub, base, motor.base is not None)
    return hub, base


@dataclass(frozen=True, eq=False)
class Coupling:
    """What ties a hub to its base about rest: the energy sum of k |u_i - c - w x p_i|^2 / 2.

    c and w are the displacement of the base's middle and its small turn, M c = sum of m u and I w = sum of m r x u.
    """

    hub: Ids
    k: Array
    """Stiffness of the hub's nodes [N/m], [h]."""
    p: Array
    """Hub from the base's middle [m], [h, 3], at the angle at which the base is held most stiffly."""
    base: Ids
    masses: Array
    """Of the base [kg], [b]."""
    r: Array
    """Base from its middle [m], [b, 3]."""
    inertia: Array
    """Of the base about its middle [kg m^2], [3, 3]."""
    rate: float
    """Square of the highest frequency [rad^2/s^2] of the base as one stiff part, the hub being held."""

    @classmethod
    def of(cls, springs: Springs, m: int, motor: Motor) -> Coupling:
        """Of a motor that has a base."""
        hub, base = hub_and_base(springs, m, motor)
        masses, k = springs.masses[base], hub_stiffness(springs, motor, hub)
        middle = masses @ springs.points[base] / masses.sum()
        r = springs.points[base] - middle
        inertia = np.einsum("j,jab->ab", masses, _crosses(r) @ _crosses(r).swapaxes(1, 2))
        axle = np.asarray(motor.point, float)
        turns = (_turned(springs.points[hub] - axle, motor.axis, angle) for angle in ANGLES)
        rates = [(_rate(masses.sum(), inertia, k, axle - middle + arm), axle - middle + arm) for arm in turns]
        rate, p = max(rates, key=lambda found: found[0])
        return cls(hub, k, p, base, masses, r, inertia, rate)

    def add(self, u: Array, out: Array) -> None:
        """out += K u for displacements u [n, 3], without the part k u of the hub itself, which is diagonal."""
        c = self.masses @ u[self.base] / self.masses.sum()
        w = np.linalg.solve(self.inertia, self.masses @ np.cross(self.r, u[self.base]))
        follow = c + np.cross(w, self.p)
        out[self.hub] -= self.k[:, None] * follow
        pull = self.k[:, None] * (u[self.hub] - follow)
        alpha = np.linalg.solve(self.inertia, np.cross(self.p, pull).sum(axis=0))
        out[self.base] -= self.masses[:, None] * (pull.sum(axis=0) / self.masses.sum() + np.cross(alpha, self.r))


ANGLES = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
"""Angles of a hub [rad] among which the one is looked for that holds its base most stiffly."""


def _crosses(p: Array) -> Array:
    """Matrices [n, 3, 3] with [p] v = p x v."""
    x, y, z = p.T
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=1).reshape(-1, 3, 3)


def _turned(arms: Array, axis: ArrayLike, angle: float) -> Array:
    """Arms [h, 3] turned about an axis by an angle [rad]."""
    u = np.asarray(axis, float) / np.linalg.norm(np.asarray(axis, float))
    along = (arms @ u)[:, None] * u
    return np.asarray(along + np.cos(angle) * (arms - along) + np.sin(angle) * np.cross(u, arms))


def _rate(mass: float, inertia: Array, k: Array, p: Array) -> float:
    """Largest eigenvalue of a stiff part with mass and inertia that springs k hold at the places p."""
    from scipy.linalg import eigh

    J = np.concatenate([np.tile(np.eye(3), (len(p), 1, 1)), -_crosses(p)], axis=2)
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = mass * np.eye(3), inertia
    return float(eigh(np.einsum("i,iab,iac->bc", k, J, J), M, eigvals_only=True)[-1])


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
