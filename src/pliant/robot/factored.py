"""The equations of a robot at one pose, factorized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.sparse import Report
from pliant.body import Pose, Slope
from pliant.errors import InputError
from pliant.port import PlacedPort
from pliant.robot._load_kernels import largest_of
from pliant.robot.extra import ExtraRows
from pliant.robot.rows import CompressedRows
from pliant.robot.time_step import TimeStep

if TYPE_CHECKING:
    from pliant.robot.equations import Equations, Evaluation, Loads

Array = NDArray[np.float64]


def largest_entry(array: Array) -> float:
    """The largest entry, without sign."""
    return float(largest_of(array.reshape(-1)))


@dataclass(eq=False, repr=False)
class Factored:
    """A = K_t, or A = M + tau D + tau sigma K_t with a step through time (`TimeStep`), at one pose and under some loads.

    here: potential, gradient and largest load there; placed: the ports there; T: how nodes follow the coordinates there;
    report: how the factorization went; definite: whether it is that of the tangent that was asked for; drag: D v (n, 3) [N] of
    a step that begins with the nodes there; lead (n, 3) [m]: rigid parts are taken to be so much farther than the nodes for
    which all this was found, which says how their nodes turn (`begun`). push (nc, 3): the force of the step on the coordinates,
    where it was taken along (`force`). It stands on memory of the equations: once that holds
    another factorization, `solve` and the others raise an InputError.
    """

    equations: Equations
    pose: Pose
    loads: Loads
    here: Evaluation
    placed: Sequence[PlacedPort]
    T: Slope
    step: TimeStep | None
    report: Report
    definite: bool
    drag: Array | None = None
    lead: Array | None = None
    push: Array | None = None

    def __post_init__(self) -> None:
        self.scale = 1.0 if self.step is None else self.step.scale
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

    def condense(self, rows: CompressedRows, force: Array | None = None) -> Compliance:
        """W = H A^-1 H^T and H A^-1 f of some rows, and what it takes to go on from there; by default f is the force of the
        step (`push`)."""
        self.require_current()
        self.equations.stamp += 1  # what another one has kept is overwritten; this factorization stands
        self._stamp = self.equations.stamp
        W, shift = np.empty((len(rows), len(rows))), np.empty(len(rows))
        given = None if force is None else self.on_coordinates(force)
        cholesky, push = self.equations.cholesky, self.push if given is None else given
        cholesky.condense_into(*rows, None if given is None else given.reshape(-1), W, shift)
        assert push is not None  # or there would be no half of a solve
        return Compliance(W, shift, push, cholesky.length, self, self._stamp)

    def on_coordinates(self, force: Array) -> Array:
        """Forces on the nodes (n, 3) as those on the free coordinates (nc, 3): [N], and [N m] for rotations."""
        return self.equations.assembly.force_on_coordinates(self.T, force)

    def moved(self, step: Array, prescribed: Array | None = None) -> Pose:
        """The pose after a step of the coordinates (nc, 3); prescribed (k, 3): where those nodes go."""
        return self.equations.assembly.moved(self.pose, step, prescribed)

    def way_of(self, step: Array) -> float:
        """How far a step of the coordinates moves a node at most, along x, y or z [m]."""
        assembly = self.equations.assembly
        return largest_entry(step if assembly.is_plain else assembly.motion_of_nodes(self.T, step))

    def is_rounding(self, step: Array) -> bool:
        """Whether a step of the coordinates moves the nodes by no more than their positions are rounded anyway."""
        return bool(self.way_of(step) <= 16 * np.finfo(float).eps * np.abs(self.pose.x).max())

    def force_of_prescribed(self, shift: Array) -> Array:
        """A dx (n, 3) of moving the prescribed nodes by shift (k, 3)."""
        motion = np.zeros_like(self.here.gradient)
        motion[self.equations.assembly.prescribed] = shift
        return self.times(motion)

    def times(self, motion: Array) -> Array:
        """A dx (n, 3) of a motion of the nodes dx (n, 3)."""
        self.require_current()
        return self.equations.times(motion)

    def force(self) -> Array:
        """f (n, 3) such that A^-1 f is the step (`Equations.force_of_step`)."""
        self.require_current()
        return self.equations.force_of_step(self.here, self.step, self.found_at, self.drag, self.lead)

    @property
    def found_at(self) -> Array:
        """Where the nodes are for which all this was found, (n, 3) [m]."""
        return self.pose.x if self.lead is None else self.pose.x - self.lead

    def led(
        self, placed: Sequence[PlacedPort], extra: ExtraRows, parts: Sequence[slice] | None = None
    ) -> Array | float:
        """How far rows of ports (those of the parts), and then extra ones, are ahead because rigid parts are, (m + k,)."""
        if self.lead is None:
            return 0.0
        slopes = (
            [p.slopes for p in placed] if parts is None else [p.slopes[k] for p, k in zip(placed, parts, strict=True)]
        )
        of_ports = [
            np.tensordot(s, self.lead[p.attachment.entry_nodes], 2) for s, p in zip(slopes, placed, strict=True)
        ]
        return np.concatenate([*of_ports, np.einsum("kji,kji->k", extra.vectors, self.lead[extra.nodes])])

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
    """W = H A^-1 H^T (m, m) and shift = H A^-1 f (m,) of some rows under a force f, f on the coordinates (nc, 3), and length:
    the energy norm |L^-1 f| of the step that f causes."""

    W: Array
    shift: Array
    force: Array
    length: float
    _at: Factored
    _stamp: int

    def resume(self, efforts: Array) -> Array:
        """A^-1 (f + H^T lambda): the step of the coordinates (nc, 3) with these efforts (m,) besides, by half a solve."""
        return self.resumed(efforts)[0]

    def resumed(self, efforts: Array) -> tuple[Array, float]:
        """The same, and its energy norm."""
        self._at.require_current(self._stamp)
        equations = self._at.equations
        out = np.empty(3 * equations.assembly.coordinate_count)
        return equations.cholesky.resume_into(efforts, out).reshape(-1, 3), equations.cholesky.length
