"""The equations of a robot at a state: assembled, factorized, condensed to the ports.

potential  Pi(q) = E(q) - sum m g . x - lambda . delta(q),   gradient  r = f - g - H^T lambda   (statics: r = 0)
tangent    K_t = df/dq - sum lambda_i d2 delta_i / dq2                                          ("exact")
           R K0 R^T                                                                            ("warped")
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.sparse import Cholesky, Report, multiply
from pliant.body import Assembly, Body, Pose
from pliant.body._assembly_kernels import add_momentum
from pliant.body.body import Tangent
from pliant.checks import number, one_of
from pliant.errors import InputError, InvertedElementError, NotPositiveDefiniteError, PliantError
from pliant.port import Attachment
from pliant.robot._row_kernels import rows_on_coordinates
from pliant.robot.distortion import SHORTEST, Distortion
from pliant.robot.state import State

Array = NDArray[np.float64]

SINGULAR = 1e-13
"""Smallest ratio of a pivot to its diagonal entry that counts as a stiffness and not as rounding."""


@dataclass
class Times:
    """Seconds spent per stage since this was made."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def mark(self, stage: str) -> None:
        """Book the time since the last mark on a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def require_tangent(tangent: str) -> None:
    """Raise an InputError unless the tangent is one that there is."""
    one_of(tangent, "tangent", ("exact", "warped"))


class System:
    """Assembled equations of bodies and ports, with the memory to do it again and again without allocation.

    Not for two threads at the same time; make one robot per thread (bodies may be shared).
    """

    def __init__(
        self, bodies: Sequence[Body], gravity: Array, attachments: Mapping[str, Attachment], *, threads: int = 1
    ) -> None:
        self.attachments = dict(attachments)
        self.assembly = Assembly(bodies, [(a.rows, a.cols) for a in self.attachments.values()])
        self._relative = [a for a in self.attachments.values() if a.port.relative]
        self.remembering = tuple(name for name, a in self.attachments.items() if a.port.remembers and a.loaded)
        self._name_rows()
        self.load = np.concatenate([body.load_masses for body in bodies])[:, None] * gravity
        self.values = np.zeros((self.assembly.block_count, 3, 3))
        self._gradient = np.empty((self.assembly.node_count, 3))
        self._largest_load = 0.0
        self._threads = threads
        self._cholesky: Cholesky | None = None
        self._lay_out_rows()
        self._known_slopes: dict[str, Array] = {}
        self._factorizations = 0
        self._condensed_at: tuple[int, Pose | None, float | None] = (-1, None, None)
        self.sequence = 0

    @property
    def cholesky(self) -> Cholesky:
        """The factorization; its analysis is done at first use."""
        if self._cholesky is None:
            self._cholesky = Cholesky(self.assembly.pattern, threads=self._threads)
        return self._cholesky

    def _name_rows(self) -> None:
        names: list[str] = []
        self.slices: dict[str, slice] = {}
        for name, attachment in self.attachments.items():
            first = len(names)
            names += [f"{name}.{row}" if row else name for row in attachment.port.row_names]
            self.slices[name] = slice(first, len(names))
        self.row_names = tuple(names)

    def _lay_out_rows(self) -> None:
        """Fixed places of the entries of H: per row, the nodes of its port."""
        assembly = self.assembly
        per_row = [a.entry_nodes for a in self.attachments.values() for _ in range(a.row_count)]
        self._row_nodes = np.concatenate([np.empty(0, np.int64), *per_row])
        self._row_begin = np.concatenate([[0], np.cumsum([len(n) for n in per_row])]).astype(np.int64)
        linked = assembly.links[:, 0]
        self._link_order = np.argsort(linked, kind="stable")
        self._link_begin = np.searchsorted(linked[self._link_order], np.arange(assembly.node_count + 1))
        counts = (assembly.plain >= 0).astype(np.int64) + np.diff(self._link_begin)
        size = 3 * int(counts[self._row_nodes].sum())
        self._indptr = np.zeros(len(per_row) + 1, np.int64)
        self._indices, self._data = np.zeros(size, np.int64), np.zeros(size)

    def require_fits(self, state: State) -> None:
        """Raise an InputError unless the state is one of this robot, as it is now."""
        shapes = (state.x.shape, state.v.shape, state.efforts.shape, state.pose.centers.shape)
        nodes = (self.assembly.node_count, 3)
        if shapes != (nodes, nodes, (len(self.row_names),), (len(self.assembly.rigid_names), 3)):
            raise InputError(
                f"the state has {len(state.x)} nodes, {len(state.efforts)} port rows, {len(state.pose.centers)} rigid parts",
                remedy=f"this robot has {nodes[0]}, {len(self.row_names)} and {len(self.assembly.rigid_names)}: make the "
                "state with robot.rest() after all ports have been added",
            )
        known = {name: state.memory[name].shape for name in state.memory}
        if known != {name: self.attachments[name].port.first_memory().shape for name in self.remembering}:
            raise InputError(
                f"the state has a memory of {', '.join(map(repr, known)) or 'no port'}",
                remedy=f"this robot's ports that remember are {', '.join(map(repr, self.remembering)) or 'none'}: make the "
                "state with robot.rest() after all ports have been added",
            )

    def displacements(self, x: Array) -> Array:
        """delta of all port rows, [m]."""
        return np.concatenate([np.empty(0), *(a.displacement(x) for a in self.attachments.values())])

    def face(self, pose: Pose) -> None:
        """Measure relative ports from this pose on: that of the last linearization, for all that is computed until the next."""
        self._known_slopes.clear()
        for attachment in self._relative:
            attachment.face(pose.x)

    def evaluate(self, pose: Pose, efforts: Array) -> tuple[float, Array]:
        """The potential Pi [J] and its gradient on the nodes [n, 3] [N] (overwritten by the next call)."""
        self.assembly.face(pose)
        self._known_slopes.clear()
        self._gradient[:] = 0.0
        potential = self._add_bodies(pose, 0.0, 0.0, None, None)
        return potential + self._add_loads(pose, efforts, 0.0, 0.0), self._gradient

    def linearize(
        self,
        pose: Pose,
        efforts: Array,
        *,
        exactness: float = 1.0,
        step: float | None = None,
        damping: Array | None = None,
        times: Times | None = None,
    ) -> tuple[float, Array, Report]:
        """Assemble and factorize K_t, or A = M + h D + h^2 K_t for a time step h [s].

        exactness: 1 for the exact tangent, 0 for the warped one, between them a mixture. damping: the blocks of D
        (`damping_blocks`) where they are not to be taken at this pose. Returns the potential, its gradient on the nodes,
        and how the factorization went.
        """
        cholesky, times = self.cholesky, times or Times()
        if step is not None:
            step = number(
                step, "the time step", unit="s", above=0.0, remedy="give a positive step, or None for statics"
            )
        self._factorizations += 1
        self.face(pose)
        scale = 1.0 if step is None else step * step
        exact, warped = exactness * scale, (1 - exactness) * scale
        self.values[: len(self.assembly.node_rows)] = 0.0
        self._gradient[:] = 0.0
        potential = self._add_bodies(pose, exact, warped, step, damping)
        times.mark("assemble")
        potential += self._add_loads(pose, efforts, exact, warped)
        self.assembly.face(pose)
        self.assembly.pull_back(self.values, exact * self._gradient if exact else None)
        times.mark("ports")
        report = cholesky.factor(self.values)
        if report.ok and (report.smallest_ratio < SINGULAR or not np.isfinite(self._gradient).all()):
            report = replace(report, ok=False, index=report.smallest_index, axis=-1)
        times.mark("factor")
        return potential, self._gradient, report

    def linearize_safely(
        self,
        pose: Pose,
        efforts: Array,
        *,
        tangent: Tangent = "exact",
        step: float | None = None,
        damping: Array | None = None,
        times: Times | None = None,
        patience: bool = False,
    ) -> tuple[float, Array, Report, bool]:
        """As `linearize`; where the exact tangent is not positive definite, one made so by mixing in the warped one: by
        halves with `patience` (Newton's iterations, which go on from there), wholly without (single steps). The flag
        tells: False after such a fall back."""
        require_tangent(tangent)
        shares = (1.0, 0.75, 0.5, 0.0) if patience else (1.0, 0.0)
        for exactness in shares if tangent == "exact" else (0.0,):
            potential, gradient, report = self.linearize(
                pose, efforts, exactness=exactness, step=step, damping=damping, times=times
            )
            if report.ok:
                break
        return potential, gradient, report, exactness == 1.0 or tangent == "warped"

    def _add_bodies(self, pose: Pose, exact: float, warped: float, step: float | None, damping: Array | None) -> float:
        """Internal forces, and (with a step) mass and damping; returns the elastic energy."""
        energy = 0.0
        for k, body in enumerate(self.assembly.bodies):
            part, blocks = self._part(k), self.values[self.assembly.body_slices[k]]
            own = step * body.stiffness_damping if step and damping is None else 0.0
            energy += body.accumulate(pose.x[part], self._gradient[part], blocks, exact=exact, warped=warped + own)
            if step:
                inertia = body.mass_weights * (1 + step * body.mass_damping if damping is None else 1.0)
                np.einsum("bii->bi", blocks)[:] += inertia[:, None]
            if step and damping is not None:
                blocks += step * damping[self.assembly.body_slices[k]]
        return energy

    def _part(self, body: int) -> slice:
        """The nodes of a body."""
        return slice(int(self.assembly.begin[body]), int(self.assembly.begin[body + 1]))

    def _add_loads(self, pose: Pose, efforts: Array, exact: float, warped: float) -> float:
        """Subtract gravity and the ports' forces from the gradient, and from the tangent `exact` x their curvature and
        `warped` x what stands for it in the warped one."""
        potential = -float(np.vdot(self.load, pose.x - self.assembly.rest_x))
        self._gradient -= self.load
        self._largest_load = float(np.abs(self.load).max())
        for (name, attachment), place in zip(self.attachments.items(), self.assembly.coupling_slices, strict=True):
            own = efforts[self.slices[name]]
            if not own.any():
                continue
            forces = np.tensordot(own, self._slopes(name, pose), 1)
            self._gradient[attachment.entry_nodes] -= forces
            self._largest_load = max(self._largest_load, float(np.abs(forces).max()))
            potential -= float(own @ attachment.displacement(pose.x))
            if place.stop > place.start:
                self._add_curvature(attachment, place, pose, own, exact, warped)
        return potential

    def _add_curvature(
        self, attachment: Attachment, place: slice, pose: Pose, own: Array, exact: float, warped: float
    ) -> None:
        if exact:
            self.values[place] = -exact * attachment.curvature(pose.x, own)
        if warped:
            blocks = attachment.warped_curvature(pose.x, own)
            if blocks is not None:
                self.values[place] -= warped * blocks

    def _slopes(self, name: str, pose: Pose) -> Array:
        """H of one port on its nodes, computed once per linearization."""
        if name not in self._known_slopes:
            self._known_slopes[name] = self.attachments[name].slopes(pose.x)
        return self._known_slopes[name]

    def port_force(self, pose: Pose, efforts: Array) -> Array:
        """H^T lambda on the nodes [n, 3] [N]."""
        out = np.zeros((self.assembly.node_count, 3))
        for name, attachment in self.attachments.items():
            own = efforts[self.slices[name]]
            if own.any():
                out[attachment.entry_nodes] += np.einsum("r,rei->ei", own, attachment.slopes(pose.x))
        return out

    def solve(self, force: Array) -> Array:
        """The step of the coordinates [nc, 3] that forces on the nodes [n, 3] cause, by the last factorization."""
        rhs = self.assembly.force_on_coordinates(force)
        flat = rhs.reshape(-1)
        self.cholesky.solve_into(flat, flat)
        return rhs

    def residual(self, gradient: Array) -> float:
        """Largest force on a free coordinate that is out of balance [N] (a moment [N m] for rigid parts)."""
        return float(np.abs(self.assembly.force_on_coordinates(gradient)).max())

    def support_force(self, gradient: Array) -> Array:
        """The part of a gradient on the nodes [n, 3] that the supports take: all at held nodes, across the planes at sliding
        ones, nothing at free ones and inside rigid parts."""
        assembly = self.assembly
        out = np.where(assembly.held[:, None], gradient, 0.0)
        for (node, _), projector in zip(assembly.sliding_links, assembly.matrices, strict=False):
            out[node] = gradient[node] - projector @ gradient[node]
        return out

    def largest_force(self) -> float:
        """Largest force at work at the last evaluation [N]: a load, an effort on a node or a reaction."""
        return max(self._largest_load, float(np.abs(self._gradient[self.assembly.held]).max(initial=0.0)))

    def force_rounding(self, pose: Pose) -> Array:
        """What rounding of the positions does to the forces on each coordinate [N], [nc, 1], by the last assembled stiffness:
        eps |K| |x|; with a time step, divide by its square. Soft parts beside stiff ones have their own."""
        stiffness = self.assembly.largest_entries(self.values)
        return np.asarray(4 * np.finfo(float).eps * np.abs(pose.x).max() * stiffness[:, None])

    def imbalance(self, gradient: Array, allowed: Array) -> float:
        """The largest force out of balance over what counts as none [nc, 1] [N]: balanced where this is at most 1."""
        force = np.abs(self.assembly.force_on_coordinates(gradient))
        return float((force / np.maximum(allowed, 1e-300)).max())

    def distortion(self, before: Pose, after: Pose) -> Distortion:
        """What a motion does to the elements."""
        return Distortion.of(self.assembly, before.x, after.x)

    def hardest_port(self, pose: Pose, efforts: Array) -> str:
        """The load that pulls hardest, for messages: "'air' at 2e+05 Pa", or gravity."""
        largest, name = 0.0, ""
        for own, attachment in self.attachments.items():
            forces = np.tensordot(efforts[self.slices[own]], attachment.slopes(pose.x), 1)
            if np.abs(forces).sum() > largest:
                largest, name = float(np.abs(forces).sum()), own
        if not name or largest < np.abs(self.load).sum():
            return "gravity"
        effort = efforts[self.slices[name]]
        return f"{name!r} at {effort[np.abs(effort).argmax()]:.3g} {self.attachments[name].port.effort_unit}"

    def is_rounding(self, pose: Pose, step: Array) -> bool:
        """Whether a step of the coordinates moves the nodes by no more than their positions are rounded anyway."""
        motion = np.abs(self.assembly.motion_of_nodes(step)).max()
        return bool(motion <= 16 * np.finfo(float).eps * np.abs(pose.x).max())

    def force_of_prescribed(self, shift: Array) -> Array:
        """K dx [n, 3] of moving the prescribed nodes by shift [k, 3], by the last assembled matrix."""
        motion, out = np.zeros((self.assembly.node_count, 3)), np.zeros((self.assembly.node_count, 3))
        motion[self.assembly.prescribed] = shift
        assembly = self.assembly
        multiply(assembly.node_rows, assembly.node_cols, self.values, motion.reshape(-1), out.reshape(-1))
        return out

    def damping_blocks(self, pose: Pose) -> Array:
        """The blocks of D = a M + b R K0 R^T of all bodies at this pose, [nb, 3, 3]."""
        assembly = self.assembly
        out = np.zeros((assembly.body_slices[-1].stop, 3, 3))
        for k, body in enumerate(assembly.bodies):
            part, blocks = self._part(k), out[assembly.body_slices[k]]
            if body.stiffness_damping:
                body.accumulate(pose.x[part], np.zeros_like(pose.x[part]), blocks, warped=body.stiffness_damping)
            np.einsum("bii->bi", blocks)[:] += (body.mass_damping * body.mass_weights)[:, None]
        return out

    def times_blocks(self, blocks: Array, v: Array) -> Array:
        """The product of the bodies' blocks [nb, 3, 3] with a vector on the nodes, [n, 3]."""
        out = np.zeros_like(v)
        rows, cols = self.assembly.node_rows[: len(blocks)], self.assembly.node_cols[: len(blocks)]
        multiply(rows, cols, blocks, v.reshape(-1), out.reshape(-1))
        return out

    def momentum(self, v: Array) -> Array:
        """M v [kg m/s], [n, 3]."""
        out = np.zeros_like(v)
        for k, body in enumerate(self.assembly.bodies):
            part = self._part(k)
            add_momentum(body.rows, body.cols, body.mass_weights, v[part], out[part])
        return out

    def rows(self, pose: Pose) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """H on the free coordinates in compressed rows (indptr, indices, data); `face` the pose first."""
        vectors = [self._slopes(name, pose).reshape(-1, 3) for name in self.attachments]
        stacked = np.concatenate(vectors) if vectors else np.empty((0, 3))
        assembly = self.assembly
        rows_on_coordinates(
            self._row_begin, self._row_nodes, stacked, assembly.plain, self._link_order, self._link_begin, assembly.links,
            assembly.matrices, self._indptr, self._indices, self._data
        )  # fmt: skip
        return self._indptr, self._indices, self._data

    def condense(self, state: State, *, tangent: Tangent = "exact", step: float | None = None) -> Condensed:
        """delta = W lambda + delta_free for all port rows, about this state.

        Statics: W = H K^-1 H^T, delta_free = delta + H K^-1 (g - f). A step h of backward Euler, with
        A v+ = M v + h (g - f) + h H^T lambda: W = h^2 H A^-1 H^T, delta_free = delta + h H A^-1 (M v + h (g - f)).
        """
        self.require_fits(state)
        self.cholesky  # noqa: B018 - analysed before the clock starts
        times = Times()
        pose, efforts = state.pose, state.efforts
        _, gradient, report, definite = self.linearize_safely(pose, efforts, tangent=tangent, step=step, times=times)
        if not report.ok:
            raise self.diagnosis(report, pose, moving=step is not None)
        indptr, indices, data = self.rows(pose)
        delta = self.displacements(pose.x)
        times.mark("ports")
        force = -gradient if step is None else step * (self.momentum(state.v) - step * gradient)
        W, shift = np.empty((len(delta), len(delta))), np.empty(len(delta))
        rhs = self.assembly.force_on_coordinates(force).reshape(-1)
        self.cholesky.condense_into(indptr, indices, data, rhs, W, shift)
        if step is not None:
            W *= step * step
        self._condensed_at = self._factorizations, pose, step
        times.mark("condense")
        self.sequence += 1
        return Condensed(
            W, delta + shift - W @ efforts, delta, efforts, self.row_names, self.slices, state.time, self.sequence, definite,
            times.seconds, self.references()
        )  # fmt: skip

    def references(self) -> dict[str, Array]:
        """What the relative ports are measured from now, by name."""
        return {name: a.reference for name, a in self.attachments.items() if a.port.relative}

    def follow(
        self, state: State, model: Condensed, efforts: Array, *, step: float | None = None, largest_move: float = np.inf
    ) -> tuple[State, float]:
        """The state that the condensed model leads to with these total efforts; `model` must be the last one condensed.

        largest_move [m]: where a node would move farther, or the elements would be distorted beyond belief (`Distortion`),
        only a part of the way is gone, and that part of the change of efforts made, since no linear model is good farther out.
        Returns the state and that part, usually 1, and 0 where no part of the way is believed.
        """
        at, pose_then, step_then = self._condensed_at
        if (
            model.sequence != self.sequence
            or at != self._factorizations
            or state.pose is not pose_then
            or step != step_then
        ):
            raise InputError(
                "the model is not the last thing that was computed, at this state and with this step",
                remedy="linearize the state again, right before",
            )
        change = efforts - model.efforts if step is None else step * step * (efforts - model.efforts)
        motion = self.cholesky.resume_into(change, np.empty(3 * self.assembly.coordinate_count)).reshape(-1, 3)
        share = 1.0
        if largest_move < np.inf:
            way = float(np.abs(self.assembly.motion_of_nodes(motion)).max())
            share = min(1.0, largest_move / way) if way > 0 else 1.0
        pose, share = self.moved_believably(state.pose, motion, share)
        if share < 1.0:
            efforts = model.efforts + share * (efforts - model.efforts)
        v = np.zeros_like(state.v) if step is None else (pose.x - state.x) / step
        return replace(state, pose=pose, v=v, efforts=efforts, time=state.time + (step or 0.0)), share

    def moved_believably(self, pose: Pose, motion: Array, share: float = 1.0) -> tuple[Pose, float]:
        """A pose moved by a share of a motion of the coordinates [nc, 3], or by a half, a quarter ... of that where the
        elements would be distorted beyond belief; and the share that was gone, 0 where even the smallest is too much."""
        smallest = share * SHORTEST
        while share >= smallest:
            there = self.assembly.moved(pose, share * motion)
            if self.distortion(pose, there).is_believable:
                return there, share
            share *= 0.5
        return pose, 0.0

    def diagnosis(self, report: Report, pose: Pose, *, moving: bool = False) -> PliantError:
        """The likely cause of a failed factorization, as an error to raise; `moving`: in dynamics, which needs no support."""
        if not np.isfinite(pose.x).all():
            node = int(np.flatnonzero(~np.isfinite(pose.x).all(axis=1))[0])
            return NotPositiveDefiniteError(
                f"node {node} is at {pose.x[node]}", remedy="look where the NaN came from", node=node
            )
        for k, body in enumerate(self.assembly.bodies):
            inverted = body.inverted_elements(pose.x[self.assembly.begin[k] : self.assembly.begin[k + 1]])
            if len(inverted):
                return InvertedElementError(
                    f"{len(inverted)} elements are inside out, the first is tet {inverted[0]}"
                    + (f" of body {k}" if k else ""),
                    remedy="take smaller load steps, a finer mesh there, or NeoHookean, which survives inversion",
                    tets=inverted,
                )
        if not moving:
            try:
                self.assembly.require_supported()
            except PliantError as error:
                return error
        place = self.assembly.describe(report.index)
        return NotPositiveDefiniteError(
            f"the stiffness is not positive definite at {place}"
            + (f", direction {'xyz'[report.axis]}" if report.axis >= 0 else " (zero to rounding)"),
            remedy="the robot buckles or can move freely there: add supports, or use tangent='warped' or dynamics",
            coordinate=report.index,
        )
