"""Where a robot's effectors get without load, and how strong they are there (koehler2023, section V).

A grid of places is visited along a fixed tree: from the middle along the first axis, from each of its places along the second,
and so on. Each place is approached from its parent by steps of the inverse, so that a few are enough, and the answer does not
depend on who computes which part: a job is a slab of the grid, which finds its own way along the first axis.

An approach ends early: reached within the tolerance; at rest elsewhere, against limits; or no longer getting closer. Behind a
place that was not reached, the next two in line are tried from where the robot got to last; what lies behind those is not.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, from_quaternion, to_quaternion
from pliant.analysis.campaign import Campaign, Rows
from pliant.analysis.isotropic import strength
from pliant.analysis.table import Table
from pliant.checks import as_numbers, number, whole
from pliant.control import DecisionStatus, Inverse
from pliant.errors import InputError
from pliant.motion import Statics
from pliant.robot import Robot, Role, State

Array = NDArray[np.float64]
Place = tuple[int, ...]

STEPS = 15
"""Of the inverse at most, from a neighbour."""
SLOW = 0.7
"""A step that leaves more than this share of the distance, twice in a row, does not get there."""
BEHIND = 2
"""Places behind one that was not reached which are still tried."""


@dataclass(frozen=True)
class Grid:
    """Places as offsets of rows of an effector from where it is at home: `rows` by name ("x", "y", "z", "rx" ...), each with
    its offsets [m, rad], rising. Rows that are not named stay at home. `home`: a target of the effector, by default where the
    robot hangs."""

    effector: str
    rows: Mapping[str, tuple[float, ...]]
    home: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for name, values in self.rows.items():
            offsets = as_numbers(values)
            if offsets.ndim != 1 or not len(offsets) or not (np.diff(offsets) > 0).all():
                raise InputError(f"offsets of {name!r} are {values}", remedy="give one or more numbers, rising")
        if not self.rows:
            raise InputError("a grid without rows", remedy="give {'x': (-0.01, 0.0, 0.01), ...}")

    @classmethod
    def around(cls, effector: str, half: Mapping[str, float], count: int, home: Any = None) -> Grid:
        """`count` places along each row, from -half to half [m, rad]."""
        count = whole(count, "count", least=1)
        rows = {name: tuple(np.linspace(-size, size, count).tolist()) for name, size in half.items()}
        return cls(effector, rows, None if home is None else tuple(as_numbers(home).tolist()))

    @property
    def shape(self) -> Place:
        """Places along each row."""
        return tuple(len(values) for values in self.rows.values())

    @property
    def middle(self) -> Place:
        """The place where the offsets are smallest: where the tree has its root."""
        return tuple(int(np.abs(values).argmin()) for values in self.rows.values())

    def offsets(self, place: Place) -> dict[str, float]:
        """Of a place, by row."""
        return {name: float(values[k]) for (name, values), k in zip(self.rows.items(), place, strict=True)}

    def parent(self, place: Place) -> Place | None:
        """The neighbour that a place is approached from: one step back along the last row in which it is off the middle."""
        for axis in reversed(range(len(place))):
            off = place[axis] - self.middle[axis]
            if off:
                return (*place[:axis], place[axis] - int(np.sign(off)), *place[axis + 1 :])
        return None

    def slab(self, index: int) -> list[Place]:
        """Places with this index along the first row, and those on the way to them, parents first."""
        inside = [(index, *rest) for rest in np.ndindex(*self.shape[1:])]
        needed = set(inside)
        way = self.parent((index, *self.middle[1:]))
        while way is not None:
            needed.add(way)
            way = self.parent(way)
        return sorted(needed, key=lambda place: (self._depth(place), place))

    def _depth(self, place: Place) -> int:
        return sum(abs(k - m) for k, m in zip(place, self.middle, strict=True))


def workspace(
    builder: str,
    grid: Grid,
    *,
    options: Mapping[str, Any] | None = None,
    tolerance: float = 1e-4,
    name: str = "workspace",
    executor: Executor | None = None,
    workers: int | None = None,
    journal: Path | None = None,
    resume: bool = False,
    show: bool = True,
) -> Table:
    """One row per place of the grid: its offsets, whether it was `reached` (1, 0), how far from it the effector stays
    (`distance`, rotations by the effector's weights), `steps`, the actuators' efforts and displacements, and where it was
    reached the largest isotropic `force` [N] and `torque` [N m], strong and weak.

    builder: "module:function" of what builds the robot, such as "pliant.gallery.tripods:build", with these options (texts,
    numbers, lists); tolerance [m]: of reaching; others as in `Campaign.run`."""
    told = {"effector": grid.effector, "rows": {k: list(v) for k, v in grid.rows.items()}, "home": grid.home}
    common: dict[str, Any] = {"builder": builder, "options": dict(options or {}), "grid": told}
    common["tolerance"] = number(tolerance, "tolerance", unit="m", above=0.0)
    slabs = range(grid.shape[0]) if len(grid.shape) > 1 else [-1]
    jobs = [{**common, "slab": int(k)} for k in slabs]
    found = Campaign(name, explore, jobs).run(
        executor=executor, workers=workers, journal=journal, resume=resume, show=show
    )
    return Table.of_rows(row for rows in found for row in rows)


def explore(builder: str, options: dict[str, Any], grid: dict[str, Any], tolerance: float, slab: int) -> Rows:
    """The rows of one slab; of all places where slab is -1 (a line)."""
    rows = {name: tuple(values) for name, values in grid["rows"].items()}
    own = Grid(grid["effector"], rows, None if grid["home"] is None else tuple(grid["home"]))
    walk = _Walk(built(builder, options), own, tolerance)
    if slab >= 0:
        visited = own.slab(slab)
        return [walk.visit(place) for place in visited if place[0] == slab or walk.visit(place) is None]
    return [walk.visit(place) for place in sorted(np.ndindex(*own.shape), key=lambda p: (own._depth(p), p))]


def built(builder: str, options: Mapping[str, Any]) -> Robot:
    """The robot of "module:function", without what is only looked at."""
    module, _, function = builder.partition(":")
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError(f"there is no {builder!r}", remedy="give 'module:function' of what builds a robot") from error
    robot = make(**options)
    if not isinstance(robot, Robot):
        raise InputError(f"{builder} gives a {type(robot).__name__}", remedy="give a function that builds a Robot")
    return robot.with_roles(dict.fromkeys(robot.named(Role.SENSOR)))


class _Walk:
    """A robot on its way through a grid, and where it was."""

    def __init__(self, robot: Robot, grid: Grid, tolerance: float) -> None:
        self.robot, self.grid, self.tolerance = robot, grid, tolerance
        hanging = Statics(robot).solve().require().state
        self._inverse = Inverse(robot, strict=True)
        if grid.effector not in robot.named(Role.EFFECTOR):
            raise InputError(
                f"there is no effector {grid.effector!r}",
                remedy=f"choose among {', '.join(robot.named(Role.EFFECTOR))}",
            )
        self._port = robot.ports[grid.effector].port
        unknown = sorted(set(grid.rows) - set(self._port.row_names))
        if unknown:
            raise InputError(
                f"{grid.effector!r} has no row {unknown[0]!r}", remedy=f"choose among {', '.join(self._port.row_names)}"
            )
        others = [name for name in robot.named(Role.EFFECTOR) if name != grid.effector]
        self._others = {name: robot.displacement(hanging, name, as_target=True) for name in others}
        own = robot.displacement(hanging, grid.effector, as_target=True)
        self._home = own if grid.home is None else self._port.as_target(grid.home)
        self._weights = robot.ports[grid.effector].weight
        self._states: dict[Place, tuple[State, int]] = {}
        """By place: where the robot got to on the way there, and how many places back that was."""
        self._hanging = hanging

    def target(self, place: Place) -> Array:
        """Of the effector at a place of the grid."""
        offsets = self.grid.offsets(place)
        out: Array = self._home.copy()
        if len(out) == 7 and len(self._port.target_names) == 7:
            turn = np.array([offsets.get(name, 0.0) for name in ("rx", "ry", "rz")])
            out[3:] = to_quaternion(exponential(turn) @ from_quaternion(out[3:]))
            out[:3] += [offsets.get(name, 0.0) for name in ("x", "y", "z")]
            return out
        names = self._port.row_names
        for name, offset in offsets.items():
            out[names.index(name)] += offset
        return out

    def visit(self, place: Place) -> dict[str, float]:
        """Go there, and say how it went."""
        parent = self.grid.parent(place)
        state, behind = (self._hanging, 0) if parent is None else self._states[parent]
        row: dict[str, float] = {**self.grid.offsets(place), "reached": 0.0, "distance": np.nan, "steps": 0.0}
        self._states[place] = (state, behind + 1)
        if behind > BEHIND:
            return row
        arrived, row["distance"], row["steps"] = self._approach(state, self.target(place), 3 if parent is None else 1)
        if arrived is not None:
            self._states[place] = (arrived, 0)
            row["reached"] = 1.0
            row |= self._strength(arrived)
        return row

    def _approach(self, state: State, target: Array, patience: int) -> tuple[State | None, float, float]:
        """Steps towards a target: where it was reached, how far it stays, how many."""
        left, slow = np.inf, 0
        for k in range(STEPS * patience):
            step = self._inverse.step(state, **{self.grid.effector: target}, **self._others)  # type: ignore[arg-type]
            if not step.ok:
                return None, left, k + 1.0
            state = step.state
            off = float(np.linalg.norm(self._weights * step.error[self.grid.effector]))
            if off <= self.tolerance and step.unbalanced <= 1e-3 and self._is_allowed(step.displacements):
                return state, off, k + 1.0
            # at the target, all that is left is to come into balance there
            slow = slow + 1 if off > max(SLOW * left, self.tolerance) else 0
            if slow >= 2 * patience or (step.status.at_rest and step.status is not DecisionStatus.REACHED):
                return None, off, k + 1.0
            left = off
        return None, left, float(STEPS * patience)

    def _is_allowed(self, displacements: Mapping[str, Array]) -> bool:
        """Whether actuators are within their limits, but for a thousandth of their range."""
        for name, value in displacements.items():
            low, high = self.robot.ports[name].limits.displacement.T
            hair = np.where(np.isfinite(high - low), 1e-3 * (high - low), 0.0)
            if not ((value >= low - hair) & (value <= high + hair)).all():
                return False
        return True

    def _strength(self, state: State) -> dict[str, float]:
        model = self.robot.linearize(state).model
        found = strength(self.robot, model)
        out: dict[str, float] = {}
        for name in self.robot.named(Role.ACTUATOR):
            for k, row in enumerate(model.rows(name)):
                label = name if k == 0 else f"{name}.{k}"
                out |= {f"{label} effort": float(model.efforts[row]), f"{label} displacement": float(model.delta[row])}
        return out | {
            "force": found.force, "torque": found.torque,
            "force_weak": found.force_weak, "torque_weak": found.torque_weak,
        }  # fmt: skip
