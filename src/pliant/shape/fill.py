"""Filling a closed surface with tetrahedra.

`surface.filled(size)` stuffs the solid with a lattice (`stuffing`) and draws its boundary onto the surface, sharp edges
included (`conform`): about a second for 10,000 nodes, dihedral angles of 14 degrees and more, cavities kept. Walls and
gaps must be at least about 1.2 times `size` thick; finer features are rounded. The result is compared with the surface,
and a size that is too coarse for it is reported. `method="gmsh"` and `method="tetwild"` use those packages, if
installed, for surfaces that need more than that.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.checks import number
from pliant.errors import InputError, MeshError, PliantWarning, SelfIntersectionError, SurfaceError
from pliant.shape.manifold import fans, without_hinges
from pliant.shape.surface import SurfaceMesh
from pliant.shape.tetmesh import TetMesh

MOST_NODES = 100_000
"""Nodes that a fill makes without being told to: more take long to make, and minutes per step of statics."""

VOLUME_TOLERANCE = 0.05
"""Relative error of the volume from which a fill is called too coarse."""


def filled(
    surface: SurfaceMesh, size: float, method: str = "stuffing", *, most_nodes: int = MOST_NODES, **options: Any
) -> TetMesh:
    """The solid inside a closed surface as tets with edges of about `size` [m].

    A fill that would have more than `most_nodes` nodes is refused: mostly the part was read with the wrong unit.

    `method` is "stuffing" (built in), "tetwild" (pip install 'pliant[tetwild]': slow, accepts dirty surfaces) or
    "gmsh" (pip install 'pliant[gmsh]': keeps every facet). Options go to the method; stuffing takes `rounds`, how many
    times the boundary is drawn to the surface and the tets are smoothed (default 10).

    Raises when the surface is open, inside out or passes through itself, and when the result has lost or gained a part
    or a cavity; warns when its volume is off by more than 5 % or a hole was closed.
    """
    methods: dict[str, Callable[..., TetMesh]] = {"stuffing": _stuffed, "tetwild": _wild, "gmsh": _gmsh}
    if not isinstance(method, str) or method not in methods:
        raise InputError(f"method is {method!r}", remedy=f"use one of {', '.join(methods)}")
    size = number(size, "size", least=1e-9, most=1e6, remedy="give an edge length in metres, such as 4e-3")
    _require_few(surface, size, most_nodes)
    _require_solid(surface)
    mesh = methods[method](surface, size, **options)
    _compare(surface, mesh, size)
    return mesh


def _require_few(surface: SurfaceMesh, size: float, most_nodes: int) -> None:
    """Refuse what would take long. A body-centred lattice has 1.57 points per cube of its mean edge, a thin wall more."""
    nodes = 1.6 * abs(surface.volume) / size**3 + 0.6 * surface.area / size**2
    lattice = 2.0 * float(np.prod(surface.size / size + 3.0))
    if nodes > most_nodes or lattice > 50.0 * most_nodes:
        width = float(surface.size.max())
        raise InputError(
            f"size {size:.3g} m in a part {width:.3g} m wide asks for about {nodes:.2g} nodes and a lattice of {lattice:.2g}",
            remedy="check the unit of the part, give a larger size, or allow it with most_nodes= (--most-nodes)",
        )


def _require_solid(surface: SurfaceMesh) -> None:
    surface.require_closed()
    if surface.volume <= 0.0:
        raise SurfaceError(
            f"the surface encloses {surface.volume:.3g} m^3: it is inside out", remedy="turn it with oriented()"
        )
    surface.require_simple()
    _require_one_layer(surface)


def _require_one_layer(surface: SurfaceMesh) -> None:
    """Every triangle must have exactly one layer of solid behind it and nothing in front.

    This finds what crossing edges do not show: parts that overlap with coplanar faces, parts that only touch, and
    cavities that look outward.
    """
    middle = surface.nodes[surface.triangles].mean(axis=1)
    step = 1e-6 * surface.diameter * surface.normals
    behind, front = surface.tree.winding(middle - step), surface.tree.winding(middle + step)
    wrong = np.flatnonzero((np.abs(behind - 1.0) > 0.5) | (np.abs(front) > 0.5))
    if len(wrong):
        raise SelfIntersectionError(
            f"triangle {wrong[0]} at {np.round(middle[wrong[0]], 6).tolist()} m lies inside or against another part of "
            f"the solid ({len(wrong)} such triangles)",
            remedy="join parts with union(*surface.parts()), or turn cavities inward with oriented()",
            triangles=wrong,
        )


def _stuffed(surface: SurfaceMesh, size: float, *, rounds: int = 10) -> TetMesh:
    from pliant.shape.conform import conformed
    from pliant.shape.stuffing import stuffed

    nodes, tets = stuffed(surface, size)
    if len(tets) == 0:
        raise MeshError(
            f"no lattice point lies inside the part at size {size:.3g} m", remedy="give a smaller size, below its walls"
        )
    nodes, tets = without_hinges(nodes, tets)
    return TetMesh(conformed(surface, nodes, tets, size, rounds), tets)


def _wild(surface: SurfaceMesh, size: float, **options: Any) -> TetMesh:
    from pliant.shape.external import tetwild_fill

    return tetwild_fill(surface, size, **options)


def _gmsh(surface: SurfaceMesh, size: float, **options: Any) -> TetMesh:
    from pliant.shape.external import gmsh_fill

    return gmsh_fill(surface, size, **options)


def _compare(surface: SurfaceMesh, mesh: TetMesh, size: float) -> None:
    """Hold the filled mesh against the surface it came from."""
    remedy = f"give a size smaller than {size:.3g} m (below the thinnest wall or gap)"
    wanted, got = _shells(surface), _shells(mesh.surface())
    if wanted != got:
        raise MeshError(
            f"at size {size:.3g} m the part has {got[0]} solid pieces and {got[1]} cavities instead of {wanted[0]} and "
            f"{wanted[1]}",
            remedy=remedy,
            wanted=wanted,
            got=got,
        )
    error = mesh.volume / surface.volume - 1.0
    if abs(error) > VOLUME_TOLERANCE:
        warnings.warn(f"the filled volume is off by {100 * error:+.1f} %; {remedy}", PliantWarning, stacklevel=4)
    elif _euler(surface) != _euler(mesh.surface()):
        warnings.warn(
            f"a hole was closed or a gap was bridged at size {size:.3g} m; {remedy}", PliantWarning, stacklevel=4
        )


def _shells(surface: SurfaceMesh) -> tuple[int, int]:
    """How many closed shells look outward (solid pieces) and inward (cavities)."""
    volumes = [part.volume for part in surface.parts()]
    return sum(v > 0 for v in volumes), sum(v < 0 for v in volumes)


def _euler(surface: SurfaceMesh) -> int:
    """Euler characteristic, nodes - edges + triangles: 2 per shell, minus 2 per through hole.

    A node where the surface touches itself counts once per fan, as if it were pulled apart there.
    """
    return int(fans(surface.triangles).max()) + 1 - len(surface.edges()) + len(surface.triangles)
