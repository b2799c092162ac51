"""A region whose modulus is changed: jamming, heating, antagonistic chambers in one number."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.body import Body, TetBody
from pliant.checks import whole
from pliant.errors import InputError
from pliant.material import Law
from pliant.port.port import Array, Ids, Port
from pliant.shape import TetMesh

TRUSTED_SHARE = 0.3
"""By how much of itself a modulus may change in one linear step."""


class Stiffness(Port):
    """Change of Young's modulus [Pa] of a region; delta is minus the energy of the region per modulus [m^3].

    A law's energy is E times a function of the deformation, E_region(x) = E e(x), so that the modulus E + lambda has the energy
    E_region + lambda E_region / E. That is a port with

        delta = -E_region / E,    H = -f_region / E,    curvature -K_region / E

    all by the body's own kernels on the tets of the region. H is zero where the region is not strained: a modulus does nothing
    there. Damping is that of the modulus E. E + lambda must stay positive, so an actuator needs bounds.
    """

    effort_unit: ClassVar[str] = "Pa"
    displacement_unit: ClassVar[str] = "m^3"
    spans: ClassVar[bool] = False

    _region: TetBody

    def __init__(self, tets: ArrayLike | None = None, *, label: int | None = None) -> None:
        """tets: indices of tets of the body's mesh, or a mask; label: all tets with this region label; neither: all tets."""
        if tets is not None and label is not None:
            raise InputError("Stiffness of tets and of a label", remedy="give either tets or label=")
        if label is not None:
            label = whole(label, "label", least=-(2**31))
        array = None if tets is None else np.atleast_1d(np.asarray(tets))
        if array is not None and array.dtype == bool:
            array = np.flatnonzero(array)
        if array is not None and (not array.size or not np.issubdtype(array.dtype, np.integer)):
            raise InputError(f"tets are {tets!r}", remedy="give indices of tets or a mask of at least one")
        self._tets, self._label = array, label
        self.modulus = np.nan

    def seen_by(self, body: Body) -> Stiffness:
        """With the region as a body of its own, of the same law and order."""
        if not isinstance(body, TetBody):
            raise InputError(f"Stiffness of a {type(body).__name__}", remedy="it is for a TetBody")
        if body.volume == "patches":
            raise InputError(
                "Stiffness of a body with volume='patches', whose dilation regions share", remedy="use order=2 instead"
            )
        tets = self._chosen(body.mesh)
        laws = {label: _law_of(body, label) for label in np.unique(body.mesh.labels[tets]).tolist()}
        attached = copy(self)
        attached.modulus = _common_modulus(laws)
        used, compact = np.unique(body.mesh.tets[tets], return_inverse=True)
        mesh = TetMesh(body.mesh.nodes[used], compact.reshape(-1, 4), body.mesh.labels[tets])
        attached._region = region = TetBody(mesh, laws, order=body.order)  # type: ignore[arg-type]
        nodes = np.empty(region.node_count, np.int64)
        own, theirs = np.argsort(region.tet_ids), np.argsort(body.tet_ids)[tets]
        nodes[region.nodes[own]] = body.nodes[theirs]
        attached.nodes, attached.points = nodes, region.rest
        attached.curved_pairs = np.stack([region.rows, region.cols], axis=1)
        return attached

    def _chosen(self, mesh: TetMesh) -> Ids:
        if self._label is not None:
            found = np.flatnonzero(mesh.labels == self._label)
            if not len(found):
                raise InputError(
                    f"Stiffness of label {self._label}, which no tet has",
                    remedy=f"the mesh has labels {np.unique(mesh.labels).tolist()}",
                )
            return found
        ids = np.arange(len(mesh.tets)) if self._tets is None else np.unique(self._tets)
        bad = ids[(ids < 0) | (ids >= len(mesh.tets))]
        if len(bad):
            raise InputError(f"Stiffness of tet {bad[0]}", remedy=f"the mesh has tets 0 to {len(mesh.tets) - 1}")
        return ids.astype(np.int64)

    def check_efforts(self, low: Array, high: Array) -> None:
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low > -self.modulus).all()):
            raise InputError(
                f"the change of modulus may be from {low[0]:g} to {high[0]:g} Pa, where E = {self.modulus:g} Pa",
                remedy="bound the effort by finite (low, high) with low > -E, so that the modulus stays positive",
            )

    def trusted_change(self, efforts: Array) -> Array:
        return TRUSTED_SHARE * (self.modulus + efforts)

    def displacement(self, p: Array) -> Array:
        return np.array([-self._region.energy(p) / self.modulus])

    def slope(self, p: Array) -> Array:
        return np.asarray(self._region.force(p)[None] / -self.modulus)

    def curvature(self, p: Array, efforts: Array) -> Array:
        return self._stiffness(p, exact=-float(efforts[0]) / self.modulus)

    def warped_curvature(self, p: Array, efforts: Array) -> Array:
        """-lambda R K0 R^T / E: with the body's own, (E + lambda) / E R K0 R^T, positive definite."""
        return self._stiffness(p, warped=-float(efforts[0]) / self.modulus)

    def _stiffness(self, p: Array, *, exact: float = 0.0, warped: float = 0.0) -> Array:
        blocks = np.zeros((len(self.curved_pairs), 3, 3))
        self._region.accumulate(np.ascontiguousarray(p), np.zeros_like(p), blocks, exact=exact, warped=warped)
        return blocks


def _law_of(body: TetBody, label: int) -> Law:
    """The law of the tets with this label."""
    first = int(np.flatnonzero(body.mesh.labels == label)[0])
    return body.laws[int(body.law_numbers[np.flatnonzero(body.tet_ids == first)[0]])]


def _common_modulus(laws: dict[int, Law]) -> float:
    """Young's modulus of all laws, or an InputError where they differ or where one does not scale with it."""
    moduli = {label: law.E for label, law in laws.items()}
    if len(set(moduli.values())) > 1:
        raise InputError(
            f"Stiffness of a region with several moduli, by label: {moduli}", remedy="add one Stiffness per label"
        )
    stretched = np.array([[1.1, 0.05, 0.0], [-0.02, 0.95, 0.03], [0.04, 0.0, 1.02]])
    for law in laws.values():
        twice = float(replace(law, E=2 * law.E).energy(stretched))
        if not abs(twice - 2 * float(law.energy(stretched))) <= 1e-9 * abs(twice):
            raise InputError(
                f"the energy of {type(law).__name__} is not proportional to E", remedy="choose another law there"
            )
    return next(iter(moduli.values()))
