"""The largest force, and moment, that an effector can give in every direction (koehler2023, section V-A).

With the effector held where it is, changes of the actuators' efforts z (n,) give the wrench T z on whoever holds it, and leave
the actuators displacements C z (koehler2023, eqs. 9-11):

    T = W_ee^-1 W_ea,    C = W_aa - W_ae W_ee^-1 W_ea,    effort and displacement limits:  A z <= b

Wrenches that can be given are a polytope. In the strong sense the other kind of rows is zero (forces without moments: a slice),
in the weak sense it may be anything (a projection). The largest isotropic force is the radius of the largest ball around zero
in it: the least distance of its facets. Slices are taken first; variables that then do not show in the wrench are eliminated,
one exactly by Fourier and Motzkin's pairs of rows, several by the vertices that qhull finds.

It is a linearization: far from zero the polytope bends as the robot does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection

from pliant.algebra.condensed import Condensed
from pliant.checks import one_of
from pliant.errors import InputError
from pliant.robot import Robot, Role

Array = NDArray[np.float64]
Sense = Literal["strong", "weak"]

LEVEL = 1e-9
"""What counts as zero, relative to the largest of its kind."""


@dataclass(frozen=True)
class Isotropic:
    """Largest isotropic force [N] and torque [N m], strong and weak sense; NaN where the effector has no such rows."""

    force: float
    torque: float
    force_weak: float
    torque_weak: float


def strength(robot: Robot, model: Condensed) -> Isotropic:
    """Of all effectors of a robot together, at the point of a condensed model.

    Rows in metres are forces, rows in radians moments; other rows are held, and zero in the strong sense."""
    T, A, b = wrench_polytope(robot, model)
    units = np.concatenate([robot.ports[name].port.displacement_units for name in robot.named(Role.EFFECTOR)])
    found = []
    for sense in ("strong", "weak"):
        for unit in ("m", "rad"):
            own = units == unit
            found.append(largest_isotropic(T[own], T[~own], A, b, sense=sense) if own.any() else np.nan)
    return Isotropic(found[0], found[1], found[2], found[3])


def wrench_polytope(robot: Robot, model: Condensed) -> tuple[Array, Array, Array]:
    """T (e, n), A (k, n) and b (k,) above: wrenches T z of the effectors with A z <= b, z: changes of actuators' efforts."""
    actuators, effectors = robot.named(Role.ACTUATOR), robot.named(Role.EFFECTOR)
    if not actuators or not effectors:
        raise InputError(
            f"the robot has no {'actuator' if not actuators else 'effector'}",
            remedy="add one with robot.actuate(...) or robot.effect(...)",
        )
    a, e = model.rows(*actuators), model.rows(*effectors)
    given = [model.rows(name) for name in robot.named(Role.HELD)]
    W = model.W
    if given:  # what is held by a given displacement does not yield
        h = np.concatenate(given)
        springs = np.concatenate([robot.ports[name].compliance for name in robot.named(Role.HELD)])
        W = W - W[:, h] @ np.linalg.solve(W[np.ix_(h, h)] + np.diag(springs), W[h])
    held = np.linalg.solve(W[np.ix_(e, e)], W[np.ix_(e, a)])
    C = W[np.ix_(a, a)] - W[np.ix_(a, e)] @ held
    limits = [robot.ports[name].limits for name in actuators]
    effort, course = (np.concatenate([getattr(one, kind) for one in limits]) for kind in ("effort", "displacement"))
    rows, room = [], []
    for matrix, bounds, now in ((np.eye(len(a)), effort, model.efforts[a]), (C, course, model.delta[a])):
        for sign, side in ((-1.0, 0), (1.0, 1)):
            known = np.isfinite(bounds[:, side])
            rows.append(sign * matrix[known])
            room.append(sign * (bounds[known, side] - now[known]))
    # an actuator at its limit, or past it by a hair of the decision's, has no room left
    return np.asarray(held, float), np.concatenate(rows), np.asarray(np.maximum(np.concatenate(room), 0.0))


def largest_isotropic(T: Array, others: Array, A: Array, b: Array, *, sense: Sense = "strong") -> float:
    """The radius of the largest ball around zero in {T z : A z <= b}, with others z = 0 in the strong sense.

    T (f, n), others (m, n): rows of the wrench that count and of the rest; A (k, n), b (k,) >= 0. Zero where some direction
    cannot be pushed at all; infinite where nothing limits any.

    >>> square = np.vstack([np.eye(2), -np.eye(2)]), np.array([1.0, 2.0, 3.0, 4.0])
    >>> largest_isotropic(np.eye(2), np.empty((0, 2)), *square)
    1.0
    """
    one_of(sense, "sense", ("strong", "weak"))
    if b.min(initial=0.0) < 0:
        raise InputError(
            "zero is not among the efforts that are allowed", remedy="give b >= 0: begin within all limits"
        )
    if sense == "strong" and len(others):
        kept = null_space(others, rcond=LEVEL)
        T, A = T @ kept, A @ kept
    shown, sizes, turned = np.linalg.svd(T)
    if T.shape[1] < len(T) or sizes[-1] <= LEVEL * sizes[0]:
        return 0.0
    known = turned[: len(T)].T @ np.diag(1 / sizes) @ shown.T
    if not len(A):
        return float(np.inf)
    G, K = A @ known, A @ turned[len(T) :].T
    if K.shape[1] == 0:
        return _nearest(G, b)
    if K.shape[1] == 1:
        return _nearest(*_without_one(G, K[:, 0], b))
    return _nearest(*_without_several(G, K, b))


def _nearest(G: Array, b: Array) -> float:
    """Distance of zero from the nearest of the planes G f = b."""
    sizes = np.linalg.norm(G, axis=1)
    facing = sizes > LEVEL * sizes.max(initial=1e-300)
    return float(np.min(b[facing] / sizes[facing], initial=np.inf))


def _without_one(G: Array, k: Array, b: Array) -> tuple[Array, Array]:
    """{f : there is w with G f + k w <= b} as rows of their own (Fourier, Motzkin): every upper limit of w with every lower."""
    level = LEVEL * np.abs(k).max(initial=1e-300)
    up, down, free = k > level, k < -level, np.abs(k) <= level
    high, low = (np.c_[G, b][side] / np.abs(k[side, None]) for side in (up, down))
    pairs = (high[:, None] + low[None]).reshape(-1, G.shape[1] + 1)
    rows = np.concatenate([np.c_[G, b][free], pairs])
    return rows[:, :-1], rows[:, -1]


def _without_several(G: Array, K: Array, b: Array) -> tuple[Array, Array]:
    """The same with several variables: the hull of the vertices, seen along them."""
    rows = np.c_[G, K]
    sizes = np.linalg.norm(rows, axis=1)
    used = sizes > LEVEL * sizes.max(initial=1e-300)
    rows, room = rows[used] / sizes[used, None], b[used] / sizes[used]
    scale = room.max(initial=0.0)
    if scale == 0.0:
        return np.eye(G.shape[1]), np.zeros(G.shape[1])
    middle = _middle(rows, room / scale)
    if middle is None:
        return np.empty((0, G.shape[1])), np.empty(0)
    if middle[-1] <= LEVEL:  # no inside: actuators at opposite limits leave nothing to give in some direction
        return np.eye(G.shape[1]), np.zeros(G.shape[1])
    corners = HalfspaceIntersection(np.c_[rows, -room / scale], middle[:-1]).intersections[:, : G.shape[1]]
    hull = ConvexHull(corners * scale, qhull_options="QJ" if G.shape[1] > 4 else "Qt") if G.shape[1] > 1 else None
    if hull is None:
        return np.array([[1.0], [-1.0]]), scale * np.array([corners.max(), -corners.min()])
    return hull.equations[:, :-1], np.maximum(-hull.equations[:, -1], 0.0)


def _middle(rows: Array, room: Array) -> Array | None:
    """The middle of the largest ball in {y : rows y <= room}, and its radius (d + 1,); None where the region has no end."""
    d = rows.shape[1]
    ends = np.vstack([np.eye(d), -np.eye(d)])
    for way in ends:
        if linprog(-way, A_ub=rows, b_ub=room, bounds=(None, None)).status == 3:
            return None
    found = linprog(-np.eye(d + 1)[-1], A_ub=np.c_[rows, np.ones(len(rows))], b_ub=room, bounds=(None, None))
    return np.asarray(found.x) if found.status == 0 else None
