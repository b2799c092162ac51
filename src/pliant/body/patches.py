"""Patches of four-node tets that share one dilation, so that nearly incompressible bodies do not lock.

A four-node tet has one volume to keep and shares its few coordinates with many others: with nu near 1/2 there are more
constraints than freedoms and the mesh locks. Averaging the dilation over patches of elements,
theta_p = sum V_e theta_e / V_p, and charging 1/2 k V_p theta_p^2 once per patch instead of once per element, brings the
count down to about one constraint per three coordinates. It is the F-bar patch method (de Souza Neto, Andrade Pires and
Owen 2005) written as an energy, so that forces are its gradient and the stiffness is symmetric. The modulus k that the
patches take is Lamé's lambda; what a law's own dilation modulus has beyond it stays with the elements, so that these keep
a positive bulk modulus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body.blocks import BlockIndex, Ids, pair_nodes

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Patches:
    """Patches over elements that are sorted by patch.

    begin [p + 1]: first element of each patch; node_begin [p + 1] and nodes: its nodes; local [m, 4]: places of an
    element's nodes among those of its patch; volume, modulus [p]: V_p [m^3] and k [Pa]; slots and slot_begin: the blocks
    of its pairs of nodes.
    """

    begin: Ids
    node_begin: Ids
    nodes: Ids
    local: NDArray[np.int32]
    volume: Array
    modulus: Array

    @property
    def element_patch(self) -> Ids:
        """The patch of every element, [m]."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def pairs(self) -> list[tuple[Ids, Ids]]:
        """All pairs of nodes of each patch."""
        return [
            pair_nodes(self.nodes[a:b][None, :]) for a, b in zip(self.node_begin, self.node_begin[1:], strict=False)
        ]

    def slots(self, index: BlockIndex) -> tuple[NDArray[np.int32], Ids]:
        """Blocks of the pairs of all patches in a row, and where each patch begins there."""
        slots = [index.slots(i, j).ravel() for i, j in self.pairs()]
        begin = np.concatenate([[0], np.cumsum([len(s) for s in slots])])
        return np.concatenate(slots), begin.astype(np.int64)


def choose_patches(tets: Ids, material: Ids) -> Ids:
    """A patch number per tet: around nodes, of tets of one material, none left with fewer than four where avoidable.

    Greedy: the node with the most unassigned tets takes them all, while it has at least six; the rest join the
    neighbouring patch (across a shared face, then a shared node) that has the fewest elements.
    """
    count = len(tets)
    patch = np.full(count, -1, np.int64)
    node_count = int(tets.max()) + 1
    around = np.argsort(tets.ravel(), kind="stable") // 4
    begin = np.searchsorted(np.sort(tets.ravel()), np.arange(node_count + 1))
    sizes: list[int] = []
    for node in np.argsort(-np.diff(begin), kind="stable"):
        star = around[begin[node] : begin[node + 1]]
        free = star[patch[star] < 0]
        for kind in np.unique(material[free]):
            chosen = free[material[free] == kind]
            if len(chosen) >= 6:
                patch[chosen] = len(sizes)
                sizes.append(len(chosen))
    for needed in (3, 2, 1):
        waiting = np.flatnonzero(patch < 0)
        for e in waiting:
            candidates = np.concatenate([around[begin[v] : begin[v + 1]] for v in tets[e]])
            candidates, shared = np.unique(candidates[candidates != e], return_counts=True)
            good = (shared >= needed) & (patch[candidates] >= 0) & (material[candidates] == material[e])
            if good.any():
                best = min(np.unique(patch[candidates[good]]), key=lambda p: sizes[p])
                patch[e] = best
                sizes[best] += 1
    for e in np.flatnonzero(patch < 0):  # a material region too small for any patch keeps its own volume
        patch[e] = len(sizes)
        sizes.append(1)
    return patch


def build_patches(tets: Ids, patch: Ids, volumes: Array, moduli: Array) -> Patches:
    """The patches of elements already sorted by patch number."""
    count = int(patch.max()) + 1
    begin = np.searchsorted(patch, np.arange(count + 1))
    nodes, local = [], np.empty(tets.shape, np.int32)
    for p in range(count):
        unique, inverse = np.unique(tets[begin[p] : begin[p + 1]], return_inverse=True)
        nodes.append(unique)
        local[begin[p] : begin[p + 1]] = inverse.reshape(-1, 4)
    node_begin = np.concatenate([[0], np.cumsum([len(n) for n in nodes])]).astype(np.int64)
    volume = np.add.reduceat(volumes, begin[:-1])
    return Patches(begin, node_begin, np.concatenate(nodes), local, volume, moduli[begin[:-1]])
