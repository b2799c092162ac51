"""How far a mesh is from the solid it stands for: four-node against ten-node tets."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.sparse import Cholesky
from pliant.body.assembly import Assembly
from pliant.errors import PliantError, PliantWarning

if TYPE_CHECKING:
    from pliant.body.tets import TetBody

Array = NDArray[np.float64]

LOCKING = 0.45
"""Poisson's ratio above which plain four-node tets are not to be trusted."""
QUICK = 3000
"""Nodes up to which the factor is measured unasked."""


@dataclass(frozen=True)
class DiscretizationError:
    """Compliance of ten-node over four-node tets on the same mesh, under its own weight along x, y and z, [3].

    1 means that four-node tets are as good as ten-node ones here; 1.5 that they give only two thirds of the deflection. For
    a body of ten-node tets it tells what order 2 has won.
    """

    softening: Array

    @property
    def worst(self) -> float:
        """Largest of the three ratios."""
        return float(self.softening.max())

    def __str__(self) -> str:
        x, y, z = self.softening
        return f"ten-node tets are softer by x{x:.3f}, y{y:.3f}, z{z:.3f} than four-node tets on this mesh"


def discretization_error(body: TetBody) -> DiscretizationError:
    """Solve K0 u = m e_i for the unit accelerations e_x, e_y, e_z at order 1 and 2; the ratio of the works m e_i . u."""
    first, second = (_works(body.with_order(order)) for order in (1, 2))  # type: ignore[arg-type]
    return DiscretizationError(second / first)


def warn_of_locking(body: TetBody) -> None:
    """Tell of four-node tets that are nearly incompressible, and how much too stiff that makes this body.

    The factor is measured where that takes no longer than building the body; it needs supports.
    """
    nu = max(law.nu for law in body.laws)
    if body.order != 1 or body.volume != "elements" or nu <= LOCKING:
        return
    factor = ""
    if body.node_count <= QUICK:
        with contextlib.suppress(PliantError):
            factor = f": on this mesh they deflect {discretization_error(body).worst:.2f} times less than ten-node tets"
    warnings.warn(
        f"four-node tets lock at nu = {nu:g}{factor}; give volume='patches' or order=2, or nu = {LOCKING:g} or less"
        + ("" if factor else " (body.discretization_error() measures it)"),
        PliantWarning,
        stacklevel=4,
    )


def _works(body: TetBody) -> Array:
    assembly = Assembly([body])
    assembly.require_supported()
    values = np.zeros((assembly.block_count, 3, 3))
    pose = assembly.rest()
    body.accumulate(pose.x, np.zeros_like(pose.x), values[assembly.body_slices[0]], exact=1.0)
    T = assembly.slope(pose)
    assembly.pull_back(T, values, None)
    cholesky = Cholesky(assembly.pattern)
    cholesky.factor(values).require()
    loads = [assembly.force_on_coordinates(T, np.outer(body.load_masses, axis)).reshape(-1) for axis in np.eye(3)]
    return np.array([load @ cholesky.solve(load) for load in loads])
