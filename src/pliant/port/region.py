"""Where a port on a region is: nodes, a rigid part, or material points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pliant.body import Body
from pliant.checks import as_array
from pliant.errors import InputError
from pliant.port.port import Array, Ids, as_points

Where: TypeAlias = "ArrayLike | str"


def as_where(where: Where, name: str) -> str | Array | Ids:
    """The name of a rigid part, node indices [k] or material points [k, 3] at rest, or an InputError."""
    if isinstance(where, str):
        return where
    array = as_array(where)
    if array.dtype == bool:
        array = np.flatnonzero(array)
    if array.ndim == 1 and array.size and np.issubdtype(array.dtype, np.integer):
        return np.asarray(array, np.int64)
    if array.ndim == 2 and np.issubdtype(array.dtype, np.floating):
        return as_points(array, name)
    raise InputError(
        f"{name} is {where!r}",
        remedy="give node indices, as mesh.where(...) does, the name of a rigid part, or points [k, 3] in metres",
    )


def located(where: str | Array | Ids, body: Body, name: str) -> tuple[Array, Ids | None]:
    """Points at rest [k, 3] of a region of this body, and its node indices [k] where they are nodes."""
    if isinstance(where, str):
        where = body.part_nodes(where, name)
    if where.ndim == 2:
        return np.asarray(where, float), None
    bad = where[(where < 0) | (where >= body.node_count)]
    if len(bad):
        raise InputError(f"{name}: node {bad[0]} does not exist", remedy=f"the body has 0 to {body.node_count - 1}")
    nodes = where.astype(np.int64)
    return body.rest[nodes], nodes


def located_together(
    regions: Sequence[str | Array | Ids], body: Body, name: str
) -> tuple[Array, Ids | None, list[slice]]:
    """The same of several regions, in a row or one on each of several bodies (`Several`), and which points are whose."""
    places = []
    for region, (own, first) in zip(regions, body.parts(len(regions)), strict=True):
        points, nodes = located(region, own, name)
        if nodes is None and own is not body:
            raise InputError(f"{name} of points on several bodies", remedy="give nodes, or names of rigid parts")
        places.append((points, nodes if nodes is None else first + nodes))
    numbered = [nodes for _, nodes in places if nodes is not None]
    if 0 < len(numbered) < len(places):
        raise InputError(f"{name} between nodes and points", remedy="give all regions in the same way")
    ends = np.cumsum([len(points) for points, _ in places]).tolist()
    own_points = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
    return np.concatenate([p for p, _ in places]), np.concatenate(numbered) if numbered else None, own_points


def all_pairs(count: int, first: int = 0) -> Ids:
    """Every pair (a, b), a >= b, of `count` points numbered from `first`, [count (count + 1) / 2, 2]."""
    a, b = np.tril_indices(count)
    return first + np.stack([a, b], axis=1).astype(np.int64)
