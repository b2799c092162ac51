"""What hangs together, and whether something holds it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Array, Ids
from pliant.body.parts import Parts
from pliant.body.tied import Ties
from pliant.errors import SupportError


def require_supported(rest_x: Array, label: Ids, held: NDArray[np.bool_]) -> None:
    """Raise a SupportError that names a connected piece with nothing to hold it, where there is one.

    label (n + p,): the piece of each node and part (`connected`); held: of each piece, whether something holds it."""
    loose = np.flatnonzero(~held)
    if not len(loose):
        return
    nodes = np.flatnonzero(label[: len(rest_x)] == loose[0])
    center = ", ".join(f"{value:.4g}" for value in rest_x[nodes].mean(axis=0))
    what = "nothing is fixed" if len(held) == 1 else f"a part of {len(nodes)} nodes around ({center}) m has no support"
    raise SupportError(
        what,
        remedy="statics needs every part held: give fixed=mesh.where(...) for it, or use dynamics",
        nodes=nodes,
        parts=len(held),
    )


def held_pieces(label: Ids, holding: NDArray[np.bool_], parts: Parts) -> NDArray[np.bool_]:
    """Of each connected piece, whether a held node (n,) or a joint to the ground holds it."""
    count = len(holding)
    out = np.zeros(label.max() + 1, bool)
    out[label[:count][holding]] = True
    out[label[[count + p for p, part in enumerate(parts.parts) if part.parent < 0 and not part.is_free]]] = True
    return out


def connected(count: int, rows: Ids, cols: Ids, parts: Parts, ties: Ties) -> Ids:
    """The connected piece of each node, and then of each part, (n + p,): through elements, couplings, parts, joints, ties."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    children = np.flatnonzero(parts.parents >= 0)
    i = [rows, parts.seats[:, 0], count + children, np.repeat(ties.tied, np.diff(ties.begin))]
    j = [cols, count + parts.seats[:, 1], count + parts.parents[children], ties.masters]
    a, b = np.concatenate(i), np.concatenate(j)
    size = count + len(parts.parts)
    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
