"""Geometry only: what a robot is made of before it has a material.

The tour, from the outside in:

- `read(path, unit)` gives what a file holds: a `TetMesh` (a solid as tetrahedra) or a `SurfaceMesh` (its skin).
- `make` has exact structured solids (`make.box`, `make.cylinder`, ...) and `solids` closed surfaces to combine with
  `|`, `-` and `&` (`solids.box(...) - solids.cylinder(...)`); `surface.filled(size)` turns those into tetrahedra.
- `mesh.where(...)` selects nodes by place, with keywords or with the regions of `select` (`Box`, `Ball`, ...).
- `Lattice.voxels(surface, size)` and `Lattice.scattered(surface, spacing)` are the same solids as points and springs.
- `Curve` is a line in space with frames: the centreline of a rod.
- `Embedding` attaches points to the tets of a mesh: cables, markers, cavities and drawn surfaces all ride on it.

Meshes are immutable, checked when they are made, in metres, and their methods return new ones:

>>> from pliant.shape import make
>>> beam = make.box((0.1, 0.02, 0.02), (10, 2, 2))
>>> len(beam.where(x_below=0.0)), round(beam.refined().volume * 1e6, 9)
(9, 40.0)
"""

from pliant.shape import make, solids
from pliant.shape.curve import Curve
from pliant.shape.embedding import Embedding
from pliant.shape.files import read, write
from pliant.shape.lattice import Grid, Lattice
from pliant.shape.mesh import Mesh
from pliant.shape.quality import QualityReport
from pliant.shape.select import Ball, Box, HalfSpace, Labelled, Near, OnSurface, Region
from pliant.shape.solids import difference, intersection, union
from pliant.shape.surface import SurfaceMesh
from pliant.shape.tetmesh import TetMesh

__all__ = [
    "Ball",
    "Box",
    "Curve",
    "Embedding",
    "Grid",
    "HalfSpace",
    "Labelled",
    "Lattice",
    "Mesh",
    "Near",
    "OnSurface",
    "QualityReport",
    "Region",
    "SurfaceMesh",
    "TetMesh",
    "difference",
    "intersection",
    "make",
    "read",
    "solids",
    "union",
    "write",
]
