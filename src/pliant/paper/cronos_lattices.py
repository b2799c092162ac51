"""Lattices of an irregular closed shape (clay2021, fig. 4).

The paper's shape is a scan of a human femur. Ours is made here: a bone with a shaft that swells to both ends, a head on a
neck to the side, and two condyles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.shape import Lattice, SurfaceMesh, solids

VOXELS = (0.009, 0.006)
"""Edges of the cells [m]."""
SPACINGS = (0.0095, 0.006)
"""Of best-candidate points [m]."""


def bone() -> SurfaceMesh:
    """A closed surface about 0.3 m high, upright along z."""
    z = np.linspace(0.03, 0.25, 12)
    radius = 0.013 + 0.012 * np.abs((z - 0.15) / 0.11) ** 3
    outline = np.concatenate([[(0.0, z[0])], np.stack([radius, z], axis=1), [(0.0, z[-1])]])
    shaft = solids.revolution(outline, segments=24)
    neck = solids.cylinder(0.014, 0.055, axis=(0.75, 0.0, 0.66), at=(0.0, 0.0, 0.225), segments=20)
    return (
        shaft
        | neck
        | solids.sphere(0.023, at=(0.040, 0.0, 0.265), segments=24)
        | solids.sphere(0.022, at=(-0.008, 0.0, 0.250), segments=24)
        | solids.sphere(0.024, at=(-0.016, 0.004, 0.030), segments=24)
        | solids.sphere(0.026, at=(0.017, 0.004, 0.028), segments=24)
    )


@dataclass(frozen=True, eq=False)
class Made:
    """A lattice, what it is, and its volume relative to that of the surface."""

    title: str
    name: str
    lattice: Lattice
    volume: float


def lattices() -> list[Made]:
    """Voxels and best-candidate points in the bone, each coarse and fine."""
    surface = bone()
    made = [("voxels", f"voxels of {1e3 * a:g} mm", Lattice.voxels(surface, a)) for a in VOXELS]
    made += [
        ("best_candidate", f"best candidate, {1e3 * d:g} mm apart", Lattice.scattered(surface, d)) for d in SPACINGS
    ]
    return [
        Made(title, f"{kind}_{detail}", lattice, lattice.volume / surface.volume)
        for (kind, title, lattice), detail in zip(made, ("coarse", "fine") * 2, strict=True)
    ]
