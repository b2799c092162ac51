"""QualityReport: how well shaped the tetrahedra of a mesh are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.shape.topology import TET_EDGES, TET_FACES, FloatArray, IntArray

# The two corners that are not on edge k of TET_EDGES: the edge joins the faces opposite to them.
_OPPOSITE = np.array([[2, 3], [0, 3], [1, 3], [1, 2], [0, 2], [0, 1]])


def dihedral_angles(nodes: FloatArray, tets: IntArray) -> FloatArray:
    """Angle between the two faces at each edge [rad], shape (m, 6), edges 01, 12, 20, 03, 13, 23.

    70.53 degrees everywhere in a regular tet. cos = -n_k . n_l of the outward unit normals.
    """
    corners = nodes[tets]
    normals = np.stack([_face_normal(corners, i) for i in range(4)], axis=1)
    unit = normals / np.linalg.norm(normals, axis=2, keepdims=True)
    cosines = -np.einsum("mek,mek->me", unit[:, _OPPOSITE[:, 0]], unit[:, _OPPOSITE[:, 1]])
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)), dtype=np.float64)


def edge_lengths(nodes: FloatArray, tets: IntArray) -> FloatArray:
    """Edge lengths [m] of each tet, shape (m, 6)."""
    corners = nodes[tets]
    return np.asarray(np.linalg.norm(corners[:, TET_EDGES[:, 0]] - corners[:, TET_EDGES[:, 1]], axis=2))


def radius_ratios(nodes: FloatArray, tets: IntArray) -> FloatArray:
    """3 inradius / circumradius, shape (m,): 1 for a regular tet, 0 for a flat one."""
    corners = nodes[tets]
    a, b, c = (corners[:, k] - corners[:, 0] for k in (1, 2, 3))
    six_volumes = np.einsum("ij,ij->i", a, np.cross(b, c))
    areas = sum(np.linalg.norm(_face_normal(corners, i), axis=1) / 2.0 for i in range(4))
    inradius = six_volumes / (2.0 * areas)
    aa, bb, cc = (np.einsum("ij,ij->i", v, v)[:, None] for v in (a, b, c))
    offset = aa * np.cross(b, c) + bb * np.cross(c, a) + cc * np.cross(a, b)
    circumradius = np.linalg.norm(offset, axis=1) / (2.0 * np.abs(six_volumes))
    return np.asarray(3.0 * inradius / circumradius, dtype=np.float64)


def _face_normal(corners: FloatArray, i: int) -> FloatArray:
    p, q, r = TET_FACES[i]
    return np.cross(corners[:, q] - corners[:, p], corners[:, r] - corners[:, p])


@dataclass(frozen=True)
class QualityReport:
    """Shape measures of the tets of a mesh; `print(report)` shows a short table."""

    min_dihedral: float
    """Smallest dihedral angle of all tets [deg]; below about 5 the stiffness becomes badly conditioned."""
    max_dihedral: float
    """Largest dihedral angle of all tets [deg]."""
    median_dihedral: float
    """Median over the tets of their smallest dihedral angle [deg]."""
    min_radius_ratio: float
    """Smallest 3 inradius / circumradius; 1 is a regular tet."""
    median_radius_ratio: float
    max_aspect: float
    """Largest ratio of longest to shortest edge within a tet."""
    edge_quantiles: FloatArray
    """Edge lengths [m] at 0, 5, 50, 95 and 100 percent, shape (5,)."""
    worst: NDArray[np.intp]
    """Ids of the (up to) ten tets with the smallest dihedral angle, worst first."""
    node_count: int
    tet_count: int

    @classmethod
    def of(cls, nodes: FloatArray, tets: IntArray) -> QualityReport:
        """Measure the tets (m, 4) on nodes (n, 3) [m]."""
        angles = np.degrees(dihedral_angles(nodes, tets))
        smallest = angles.min(axis=1)
        ratios = radius_ratios(nodes, tets)
        lengths = edge_lengths(nodes, tets)
        return cls(
            min_dihedral=float(smallest.min()),
            max_dihedral=float(angles.max()),
            median_dihedral=float(np.median(smallest)),
            min_radius_ratio=float(ratios.min()),
            median_radius_ratio=float(np.median(ratios)),
            max_aspect=float((lengths.max(axis=1) / lengths.min(axis=1)).max()),
            edge_quantiles=np.quantile(lengths, [0.0, 0.05, 0.5, 0.95, 1.0]),
            worst=np.argsort(smallest)[:10],
            node_count=len(nodes),
            tet_count=len(tets),
        )

    def __str__(self) -> str:
        edges = " ".join(f"{length:.3g}" for length in self.edge_quantiles * 1e3)
        return "\n".join(
            [
                f"{self.node_count} nodes, {self.tet_count} tets",
                f"dihedral angle  min {self.min_dihedral:.1f}  max {self.max_dihedral:.1f}"
                f"  median of the smallest {self.median_dihedral:.1f} deg",
                f"radius ratio    min {self.min_radius_ratio:.3f}  median {self.median_radius_ratio:.3f} (best 1)",
                f"aspect          max {self.max_aspect:.2f} (longest / shortest edge of a tet)",
                f"edge length     {edges} mm (0, 5, 50, 95, 100 %)",
                f"worst tets      {', '.join(map(str, self.worst[:5]))}",
            ]
        )
