"""Joints between parts, and ties: how bodies hang together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pliant.body.body import Array, Body
from pliant.checks import as_numbers, number
from pliant.errors import InputError

Place: TypeAlias = "str | Body | tuple[str | Body, ArrayLike | str]"
"""Where a joint holds: a rigid body, by its name in the robot or itself; or a body and the name of a rigid part of it, or the
indices of nodes, which become one."""


class Joint:
    """How a part `a` is held by a part `b`, or by the ground: exactly, by the coordinates that it leaves free.

    point (3,) [m]: where it holds, at rest; axis (3,): of the free motion; slides, turns (3, 3): projections onto the
    directions in which a may shift as seen from b, and about which it may turn. One that measures its motion (`motion`:
    "angle" or "way") may have a spring, a damper and stops:

        effort of b on a = -stiffness (delta - rest) - damping d delta/dt - stop (delta - limit beyond which it is)
    """

    motion: ClassVar[str] = ""
    unit: ClassVar[str] = ""
    """Of its motion."""

    def __init__(
        self, a: Place, b: Place | None, point: ArrayLike | None, axis: ArrayLike, slides: Array, turns: Array
    ) -> None:
        self.a, self.b = a, b
        self.point = None if point is None else _vector(point, "point")
        self.axis = _direction(axis)
        self.slides, self.turns = slides, turns
        self.stiffness = self.damping = self.rest = self.stop = 0.0
        self.limits = (-np.inf, np.inf)

    def _set_law(
        self, stiffness: float, damping: float, rest: float, limits: Sequence[float] | None, stop: float | None
    ) -> None:
        name = type(self).__name__
        self.stiffness = number(stiffness, f"the stiffness of a {name}", least=0.0)
        self.damping = number(damping, f"the damping of a {name}", least=0.0)
        self.rest = number(rest, f"the rest of a {name}")
        if (limits is None) != (stop is None):
            raise InputError(
                f"a {name} has {'no limits for its' if limits is None else 'limits without a'} stop",
                remedy=f"give both limits=(low, high) [{self.unit}] and stop=, the stiffness of what it runs into",
            )
        if limits is not None and stop is not None:
            pair = as_numbers(limits)
            if pair.shape != (2,) or not pair[0] < pair[1]:
                raise InputError(f"limits of a {name} are {limits!r}", remedy=f"give (low, high) [{self.unit}]")
            self.limits = (float(pair[0]), float(pair[1]))
            self.stop = number(stop, f"the stop of a {name}", above=0.0)

    @property
    def has_law(self) -> bool:
        """Whether it has a spring, a damper or stops."""
        return bool(self.stiffness or self.damping or self.stop)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_said(self.a)}, {'ground' if self.b is None else _said(self.b)})"


class Weld(Joint):
    """Two parts become one; to the ground, a part does not move."""

    def __init__(self, a: Place, b: Place | None = None) -> None:
        """a, b: see `Place`; without b, the ground."""
        super().__init__(a, b, None, (0.0, 0.0, 1.0), np.zeros((3, 3)), np.zeros((3, 3)))


class Revolute(Joint):
    """A hinge: a turns about an axis that is fixed in b. Its motion is the angle [rad], right-handed about the axis."""

    motion = "angle"
    unit = "rad"

    def __init__(
        self,
        a: Place,
        b: Place | None = None,
        *,
        point: ArrayLike,
        axis: ArrayLike,
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest: float = 0.0,
        limits: Sequence[float] | None = None,
        stop: float | None = None,
    ) -> None:
        """point (3,) [m], axis (3,): at rest; stiffness, stop [N m/rad], damping [N m s/rad], rest, limits [rad]: see
        `Joint`."""
        e = _direction(axis)
        super().__init__(a, b, point, e, np.zeros((3, 3)), np.outer(e, e))
        self._set_law(stiffness, damping, rest, limits, stop)


class Ball(Joint):
    """a turns freely about a point of b. Its spring has the energy k (1 - cos angle), and so the torque k sin(angle)."""

    motion = "ball"
    unit = "rad"

    def __init__(
        self, a: Place, b: Place | None = None, *, point: ArrayLike, stiffness: float = 0.0, damping: float = 0.0
    ) -> None:
        """point (3,) [m] at rest; stiffness [N m/rad], damping [N m s/rad]."""
        super().__init__(a, b, point, (0.0, 0.0, 1.0), np.zeros((3, 3)), np.eye(3))
        self._set_law(stiffness, damping, 0.0, None, None)


class Slide(Joint):
    """a shifts along a direction that is fixed in b, and does not turn. Its motion is the way [m]."""

    motion = "way"
    unit = "m"

    def __init__(
        self,
        a: Place,
        b: Place | None = None,
        *,
        direction: ArrayLike,
        point: ArrayLike | None = None,
        stiffness: float = 0.0,
        damping: float = 0.0,
        rest: float = 0.0,
        limits: Sequence[float] | None = None,
        stop: float | None = None,
    ) -> None:
        """direction (3,): at rest; point (3,) [m]: about which its moments are told, by default the middle of a's nodes.
        stiffness, stop [N/m], damping [N s/m], rest, limits [m]: see `Joint`."""
        e = _direction(direction)
        super().__init__(a, b, point, e, np.outer(e, e), np.zeros((3, 3)))
        self._set_law(stiffness, damping, rest, limits, stop)


class Tie:
    """Nodes of one body carried by the elements of another: soft joins soft, with nothing rigid between.

    Where meshes match, nodes are shared; others are embedded, x = sum w x_m. Tie the finer or the softer side.
    """

    def __init__(self, a: tuple[str | Body, ArrayLike], b: str | Body, *, max_distance: float | None = None) -> None:
        """a: a body and the indices of its nodes; b: the body that carries them; max_distance [m]: how far outside of it they
        may be, by default half a cell."""
        if not isinstance(a, tuple) or len(a) != 2:
            raise InputError(f"a Tie of {a!r}", remedy="give (body, nodes), such as ('pad', mesh.where(z_below=0))")
        self.a, self.b = a, b
        self.max_distance = max_distance

    def __repr__(self) -> str:
        return f"Tie({_said(self.a)}, {_said(self.b)})"


def _said(place: Place) -> str:
    body = place[0] if isinstance(place, tuple) else place
    return repr(body) if isinstance(body, str) else type(body).__name__


def _vector(value: ArrayLike, name: str) -> Array:
    vector = as_numbers(value)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"the {name} of a joint is {value!r}", remedy="give three finite numbers")
    return vector


def _direction(value: ArrayLike) -> Array:
    vector = _vector(value, "axis")
    if not (length := float(np.linalg.norm(vector))) > 0:
        raise InputError(f"the axis of a joint is {value!r}", remedy="give three numbers, not all zero")
    return vector / length
