"""What can go wrong, each with its evidence and its remedy.

Every error that pliant raises on purpose is a `PliantError`. Its message names the offender (which node, which
element, which value) and ends with the remedy. The evidence is also there as attributes, for programs:

>>> try:
...     raise InvertedElementError("tet 812 has volume -3.1e-9 m^3", remedy="reorient it with mesh.oriented()", tet=812)
... except PliantError as error:
...     print(error, "|", error.evidence["tet"])
tet 812 has volume -3.1e-9 m^3; reorient it with mesh.oriented() | 812
"""

from __future__ import annotations

from typing import Any


class PliantError(Exception):
    """Base of all errors of pliant: what happened, what to do about it, and the evidence."""

    def __init__(self, what: str, *, remedy: str, **evidence: Any) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy
        self.evidence = evidence

    def __reduce__(self) -> tuple[Any, ...]:
        """An error of a worker comes whole to the process that waits for it."""
        return _again, (type(self), self.what, self.remedy, self.evidence)


def _again(kind: type[PliantError], what: str, remedy: str, evidence: dict[str, Any]) -> PliantError:
    return kind(what, remedy=remedy, **evidence)


class InputError(PliantError, ValueError):
    """An argument of a public call is not usable (wrong shape, not a number, out of range)."""


class FileError(PliantError):
    """A file cannot be read or written, or does not hold what its name promises."""


class MissingExtraError(PliantError, ImportError):
    """A feature needs an optional package that is not installed."""


class MeshError(PliantError):
    """A volume mesh is not a valid body shape."""


class EmptyMeshError(MeshError):
    """There is nothing to mesh or to simulate."""


class InvertedElementError(MeshError):
    """An element is inside out or flat."""


class DisconnectedMeshError(MeshError):
    """Nodes that belong to no element, or parts that do not hang together where they must."""


class SurfaceError(PliantError):
    """A surface is not usable as the boundary of a solid."""


class OpenSurfaceError(SurfaceError):
    """A surface that must enclose a volume has holes."""


class SelfIntersectionError(SurfaceError):
    """A surface passes through itself."""


class MaterialError(PliantError, ValueError):
    """A material constant is outside the range in which the law means anything."""


class SupportError(PliantError):
    """A body, or a part of one, is free to move where a static answer was asked for."""


class NotPositiveDefiniteError(PliantError, ArithmeticError):
    """A matrix that must be positive definite is not: a free motion, buckling, or an inverted element."""


class NotConvergedError(PliantError):
    """An iteration stopped before it met its tolerance; raised by `require()` only."""


class PageError(PliantError):
    """A page cannot be served, or not safely."""


class PliantWarning(UserWarning):
    """Something is suspicious but usable; the text says what and why."""
