"""What rods carry: forces, moments and stresses of their sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.body import _rod_kernels as kernels
from pliant.body.body import Array
from pliant.body.fields import Fields
from pliant.body.section import Section

if TYPE_CHECKING:
    from pliant.body.rods import RodBody


@dataclass(frozen=True, eq=False)
class SectionForces:
    """What the rod beyond a section exerts on the rod before it, at both ends of every element: force (m, 2, 3) [N] and moment
    (m, 2, 3) [N m] about the section's centre, along its axes x (tension, torque), y and z."""

    force: Array
    moment: Array

    def fibre_stress(self, sections: Sequence[Section]) -> Array:
        """Largest normal stress without sign in each element (m,) [Pa], with its section (m,)."""
        pairs = zip(sections, self.force, self.moment, strict=True)
        return np.array([one.fibre_stress(force, moment).max() for one, force, moment in pairs])


def section_forces(rod: RodBody, x: Array) -> SectionForces:
    """From the forces of each element alone on the nodes of its two sections, which are in balance."""
    nodes = np.arange(8 * len(rod.elements)).reshape(-1, 8)
    apart, force = np.ascontiguousarray(x[rod.element_nodes.ravel()]), np.zeros((nodes.size, 3))
    slots, blocks = np.zeros((len(nodes), 36), np.int64), np.empty((0, 3, 3))
    own = nodes, slots, rod.size, rod.section_stiffness, rod.unstrained
    kernels.assemble_rods(*own, apart, 0.0, 0.0, force, blocks, np.empty((0, 6)), force)
    places, forces = apart.reshape(-1, 2, 4, 3), force.reshape(-1, 2, 4, 3)
    moments = np.cross(places - places[:, :, :1], forces).sum(axis=2)
    sides = np.array([-1.0, 1.0])[:, None]  # at its beginning an element holds what comes before
    frames = rod.frames(x)[rod.elements]
    return SectionForces(
        np.einsum("meij,mei->mej", frames, sides * forces.sum(axis=2)),
        np.einsum("meij,mei->mej", frames, sides * moments),
    )


def rod_fields(rod: RodBody, x: Array) -> Fields:
    """Of every section the stress along the rod of the outermost fibre and the largest shear stress of torsion, the largest of
    the elements around it, as a tensor in space at its four nodes; energies of the elements."""
    found = rod.section_forces(x)
    normal, shear = np.zeros(len(rod.rest) // 4), np.zeros(len(rod.rest) // 4)
    for k, one in enumerate(rod.layout.middles):
        np.maximum.at(normal, rod.elements[k], one.fibre_stress(found.force[k], found.moment[k]))
        np.maximum.at(shear, rod.elements[k], np.abs(found.moment[k, :, 0]) / one.torsion_modulus)
    local = np.zeros((len(normal), 3, 3))
    local[:, 0, 0], local[:, 0, 1], local[:, 1, 0] = normal, shear, shear
    frames = rod.frames(x)
    stress = np.einsum("fij,fjk,flk->fil", frames, local, frames)
    return Fields(np.repeat(stress, 4, axis=0), rod.energies(x))
