"""Robots side by side: the same springs in each, with other stiffnesses, masses and signals. A lane is a robot.

Coordinate a of node i of robot r is entry i * robots + r of row a: every spring is worked on in all robots at once, without
empty places and without lists of neighbours per robot.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.body import Supports
from pliant.motion.explicit import tables
from pliant.motion.explicit._forces import robots_side_by_side
from pliant.motion.explicit.engine import Engine
from pliant.motion.explicit.layouts import Layout
from pliant.motion.explicit.setup import Surroundings
from pliant.motion.explicit.signals import Signal
from pliant.motion.explicit.springs import Array, Ids, Springs


def width(dtype: DTypeLike) -> int:
    """Robots side by side in one batch."""
    return robots_side_by_side(np.dtype(dtype).itemsize)


def batch_engine(
    points: Array,
    springs: NDArray[np.integer],
    constants: Array,
    lengths: Array,
    gains: Sequence[Array],
    masses: Array,
    signals: Sequence[Sequence[Signal]],
    held: NDArray[np.bool_],
    around: Surroundings,
    *,
    step: float,
    integrator: str,
    dtype: DTypeLike,
) -> Engine:
    """An engine for `width(dtype)` robots.

    points [n, 3], springs [m, 2] sorted by their first node, lengths [m] are the same in all; constants [m, robots], masses and
    held (fixed, or not there at all) [n, robots] are their own. gains: for every actuated material the part [N/m] of the
    constants that belongs to it, [m, robots]; signals: for every actuated material one per robot.
    """
    n, robots = masses.shape
    place = np.arange(n * robots).reshape(n, robots).T.ravel()
    table = np.searchsorted(springs[:, 0], np.arange(n + 1)).astype(np.int64)
    k, kl = constants.astype(dtype), (constants * lengths[:, None]).astype(dtype)
    links = tables.Links(tables.LANES, k, kl, springs[:, 1:].astype(np.uint32), table)
    edges = np.array([0, n * robots], np.int64)
    slots = np.arange(k.size).reshape(len(springs), robots).T.reshape(-1, 1)
    layout = Layout(place, n * robots, edges, links, slots)
    ends = springs.astype(np.int64)
    everything = Springs(
        np.tile(points, (robots, 1)),
        np.concatenate([ends + r * n for r in range(robots)]),
        constants.T.ravel(),
        np.tile(lengths, robots),
        masses.T.ravel(),
        Supports(fixed=np.flatnonzero(held.T.ravel())),
    )
    actuation = _actuation(constants, lengths, gains, dtype)
    flat = [signal for row in signals for signal in row]
    return Engine(
        everything,
        layout,
        around,
        step=step,
        integrator=integrator,
        dtype=dtype,
        actuation=actuation,
        signals=flat,
    )


def _actuation(constants: Array, lengths: Array, gains: Sequence[Array], dtype: DTypeLike) -> tables.Actuation:
    """Rows of springs that follow a signal in some robot."""
    parts = np.array(gains).reshape(len(gains), *constants.shape) * lengths[:, None]
    rows: Ids = np.flatnonzero(parts.any(axis=(0, 2))) if len(gains) else np.empty(0, np.int64)
    base = (constants * lengths[:, None])[rows]
    return tables.Actuation(
        rows.astype(np.int64),
        base.astype(dtype),
        np.zeros(0, np.int32),
        np.zeros((0, 0)),
        np.ascontiguousarray(parts[:, rows], dtype=dtype),
        np.array([0, len(rows)], np.int64),
    )
