"""The equations of a robot at one pose, factorized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.sparse import Report, multiply
from pliant.body import Pose, Slope
from pliant.errors import InputError
from pliant.port import PlacedPort
from pliant.robot.rows import CompressedRows

if TYPE_CHECKING:
    from pliant.robot.equations import Equations, Evaluation, Loads

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class Factored:
    """A = K_t, or A = M + h D + h^2 K_t with a time step h [s], at one pose and under some loads.

    here: potential, gradient and largest load there; placed: the ports there; T: how nodes follow the coordinates there;
    report: how the factorization went; definite: whether it is that of the tangent that was asked for. It stands on memory
    of the equations: once that holds another factorization, `solve` and the others raise an InputError.
    """

    equations: Equations
    pose: Pose
    loads: Loads
    here: Evaluation
    placed: Sequence[PlacedPort]
    T: Slope
    h: float | None
    report: Report
    definite: bool

    def __post_init__(self) -> None:
        self.scale = 1.0 if self.h is None else self.h * self.h
        """A is this times the Hessian of what is minimized."""
        self._stamp = self.equations.stamp

    def require_current(self, stamp: int | None = None) -> None:
        """Raise an InputError where the memory that this, or what was made of it by then, stands on holds something else."""
        if self.equations.stamp != (self._stamp if stamp is None else stamp):
            raise InputError(
                "this linearization is of the past: the robot has been linearized or condensed elsewhere since",
                remedy="linearize the state again, right before it is used",
            )

    def solve(self, force: Array) -> Array:
        """A^-1 f: the step of the coordinates (nc, 3) that forces on the nodes (n, 3) cause."""
        self.require_current()
        flat = self.on_coordinates(force).reshape(-1)
        return self.equations.cholesky.solve_into(flat, flat).reshape(-1, 3)

    def condense(self, rows: CompressedRows, force: Array) -> Compliance:
        """W = H A^-1 H^T and H A^-1 f of some rows, and what it takes to go on from there."""
        self.require_current()
        self.equations.stamp += 1  # what another one has kept is overwritten; this factorization stands
        self._stamp = self.equations.stamp
        W, shift = np.empty((len(rows), len(rows))), np.empty(len(rows))
        self.equations.cholesky.condense_into(*rows, self.on_coordinates(force).reshape(-1), W, shift)
        return Compliance(W, shift, self, self._stamp)

    def on_coordinates(self, force: Array) -> Array:
        """Forces on the nodes (n, 3) as those on the free coordinates (nc, 3): [N], and [N m] for rotations."""
        return self.equations.assembly.force_on_coordinates(self.T, force)

    def moved(self, step: Array, prescribed: Array | None = None) -> Pose:
        """The pose after a step of the coordinates (nc, 3); prescribed (k, 3): where those nodes go."""
        return self.equations.assembly.moved(self.pose, step, prescribed)

    def way_of(self, step: Array) -> float:
        """How far a step of the coordinates moves a node at most, along x, y or z [m]."""
        return float(np.abs(self.equations.assembly.motion_of_nodes(self.T, step)).max())

    def is_rounding(self, step: Array) -> bool:
        """Whether a step of the coordinates moves the nodes by no more than their positions are rounded anyway."""
        return bool(self.way_of(step) <= 16 * np.finfo(float).eps * np.abs(self.pose.x).max())

    def force_of_prescribed(self, shift: Array) -> Array:
        """A dx (n, 3) of moving the prescribed nodes by shift (k, 3)."""
        self.require_current()
        assembly = self.equations.assembly
        motion, out = np.zeros((assembly.node_count, 3)), np.zeros((assembly.node_count, 3))
        motion[assembly.prescribed] = shift
        multiply(assembly.node_rows, assembly.node_cols, self.equations.values, motion.reshape(-1), out.reshape(-1))
        return out

    def largest_force(self) -> float:
        """Largest force at work [N]: a load, an effort on a node or a reaction."""
        held = self.equations.assembly.held
        return max(self.here.largest_load, float(np.abs(self.here.gradient[held]).max(initial=0.0)))

    def force_rounding(self) -> Array:
        """What rounding of the positions does to the forces on each coordinate (nc, 1) [N]: eps |K| |x|. Soft parts beside
        stiff ones have their own."""
        self.require_current()
        stiffness = self.equations.assembly.largest_entries(self.equations.values)[:, None] / self.scale
        return np.asarray(4 * np.finfo(float).eps * np.abs(self.pose.x).max() * stiffness)

    def imbalance(self, gradient: Array, allowed: Array) -> float:
        """The largest force out of balance over what counts as none (nc, 1) [N]: balanced where this is at most 1. For moments
        that is what such a force makes on the longest lever."""
        most = np.maximum(allowed, 1e-300) * self.equations.assembly.reaches
        return float((np.abs(self.on_coordinates(gradient)) / most).max())

    def matrix(self) -> Any:
        """A as a scipy matrix in compressed columns, for looking at it."""
        self.require_current()
        return self.equations.assembly.pattern.to_csc(self.equations.values)


@dataclass(frozen=True, eq=False, repr=False)
class Compliance:
    """W = H A^-1 H^T (m, m) and shift = H A^-1 f (m,) of some rows under a force f."""

    W: Array
    shift: Array
    _at: Factored
    _stamp: int

    def resume(self, efforts: Array) -> Array:
        """A^-1 (f + H^T lambda): the step of the coordinates (nc, 3) with these efforts (m,) besides, by half a solve."""
        self._at.require_current(self._stamp)
        equations = self._at.equations
        out = np.empty(3 * equations.assembly.coordinate_count)
        return equations.cholesky.resume_into(efforts, out).reshape(-1, 3)
