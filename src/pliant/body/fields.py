"""What a picture shows of a deformed body: stress and strain energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pliant.body.springs import SpringBody
    from pliant.body.tets import TetBody

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fields:
    """Cauchy stress [Pa] at the nodes, [n, 3, 3] (average of the elements around, weighted by volume), and the strain
    energy [J] of every element or spring, [m], in the order of the mesh or lattice. With volume="patches" the mean stress
    of the elements is that of their patch."""

    stress: Array
    energy: Array

    @property
    def von_mises(self) -> Array:
        """Equivalent stress sqrt(3/2 s:s) [Pa] with the deviator s of the stress, [n]."""
        deviator = self.stress - np.trace(self.stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
        return np.asarray(np.sqrt(1.5 * np.einsum("nij,nij->n", deviator, deviator)))


def tet_fields(body: TetBody, x: Array) -> Fields:
    """Stress and energy of a tet body at x.

    sigma = P F^T / J at the integration points. To the nodes of an element: the constant for four-node tets, the linear
    extrapolation from the four integration points for ten-node tets (its value at the ends averaged, at the middles).
    """
    F = body.deformation_gradients(x)
    stress, energy = np.empty_like(F), np.zeros(F.shape[:2])
    mesh_order = np.argsort(body.tet_ids)
    number = body.law_numbers[mesh_order]
    theta, shared, slope = np.empty(len(F)), np.empty(len(F)), np.empty((len(F), 3, 3))
    for k, law in enumerate(body.laws):
        own = number == k
        stress[own], energy[own] = law.stress(F[own]), law.energy(F[own])
        if body.volume == "patches":
            theta[own], slope[own] = (value[:, 0] for value in law.dilation(F[own]))
            shared[own] = max(law.parameters()[0], 0.0)
    if body.volume == "patches":
        mean = body.patch_dilations(theta)
        stress[:, 0] += (shared * (mean - theta))[:, None, None] * slope
        energy[:, 0] += 0.5 * shared * (mean**2 - theta**2)
    cauchy = np.einsum("eqij,eqkj->eqik", stress, F) / np.linalg.det(F)[..., None, None]
    volumes = body.volumes[mesh_order]
    weights = volumes[:, None] * body.element.weights
    nodal = np.einsum("aq,eqij->eaij", _to_nodes(body), cauchy)
    ids = body.nodes[mesh_order]
    total, weight = np.zeros((len(x), 3, 3)), np.zeros(len(x))
    np.add.at(total, ids, volumes[:, None, None, None] * nodal)
    np.add.at(weight, ids, np.broadcast_to(volumes[:, None], ids.shape))
    return Fields(total / weight[:, None, None], (weights * energy).sum(axis=1))


def spring_fields(body: SpringBody, x: Array) -> Fields:
    """Stress and energy of a spring body at x.

    A cell that has the part w_s of a spring of tension t along d has the virial stress sigma = 1/(J V) sum w_s t d d^T / |d|,
    with its volume V at rest and its change of volume J.
    """
    lattice = body.lattice
    a, b = body.springs.T
    d = x[b] - x[a]
    length = np.linalg.norm(d, axis=1)
    stretch = length - body.lengths
    tension = body.spring_constants * stretch
    pull = (tension / np.maximum(length, 1e-300))[:, None, None] * d[:, :, None] * d[:, None, :]
    volumes = lattice.volumes * np.linalg.det(lattice.deformation_gradients(x))
    stress = (body.cell_parts().T @ pull.reshape(-1, 9)) / volumes[:, None]
    nodal = (lattice.volume_shares @ stress) / np.asarray(lattice.volume_shares.sum(axis=1)).reshape(-1, 1)
    return Fields(nodal.reshape(-1, 3, 3), 0.5 * tension * stretch)


def _to_nodes(body: TetBody) -> Array:
    """Weights [k, q] that carry values at the integration points to the element's nodes."""
    if body.order == 1:
        return np.ones((4, 1))
    from pliant.body.element import EDGES

    near, far = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
    corners = np.linalg.inv(np.full((4, 4), far) + (near - far) * np.eye(4))
    return np.concatenate([corners, [(corners[a] + corners[b]) / 2 for a, b in EDGES]])
