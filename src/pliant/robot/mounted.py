"""A port on a robot: what it is, where it is, and what it is for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers
from pliant.errors import InputError, PliantError
from pliant.port import Attachment, Port
from pliant.robot.roles import Limits, Role

Array = NDArray[np.float64]


@contextmanager
def errors_about(what: str) -> Iterator[None]:
    """An error from within becomes an InputError that names what it is about."""
    try:
        yield
    except PliantError as error:
        raise InputError(f"{what}: {error.what}", remedy=error.remedy, **error.evidence) from error


@dataclass(frozen=True, eq=False)
class Mounted:
    """One port of a robot. A change (`Robot.set_effort` and its like) puts another record in its place.

    name, port       as they were given
    attachment       the port as the body sees it, and the nodes that carry its points
    body             the name of the body that it is on, one per point, or None on a joint
    role             what the robot uses it for
    rows             where its rows are among those of all ports
    effort           given to its rows (rows,); for a given displacement a first guess
    limits           of effort and displacement: as given, or what the port can do at all
    displacement     given, as a target of the port; empty for other roles
    weight           of effectors, per row (rows,); empty for other roles
    compliance       of what holds a given displacement, per row (rows,), displacement per effort; empty for other roles
    """

    name: str
    port: Port
    attachment: Attachment
    body: str | tuple[str, ...] | None
    role: Role
    rows: slice
    effort: Array
    limits: Limits
    displacement: Array = field(default_factory=lambda: np.empty(0))
    weight: Array = field(default_factory=lambda: np.empty(0))
    compliance: Array = field(default_factory=lambda: np.empty(0))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its rows: "tip.x", or "tendon" for a scalar."""
        return self.port.labels(self.name)

    @property
    def able(self) -> Array:
        """Efforts that its given rows can have, (rows, 2) (low, high)."""
        return self.limits.effort

    def with_effort(self, effort: ArrayLike) -> Mounted:
        """The same with a finite effort per given row, one that the port can have."""
        port, rows = self.attachment.port, self.port.given_rows
        value = as_numbers(effort)
        if value.shape not in ((), (1,), (rows,)) or not np.isfinite(value).all():
            raise InputError(
                f"effort of {self.name!r} is {effort!r}", remedy=f"give {rows} finite value(s) [{port.effort_unit}]"
            )
        out = np.zeros(len(port.row_names))
        out[:rows] = value
        with errors_about(f"port {self.name!r}"):
            port.check_efforts(out, out)
        return replace(self, effort=out)

    def with_displacement(self, displacement: ArrayLike) -> Mounted:
        """The same with a finite displacement, said as a target of the port."""
        what = f"displacement of {self.name!r}"
        with errors_about(what):
            value = self.port.as_target(displacement)
        if not np.isfinite(value).all():
            raise InputError(f"{what} is {displacement}", remedy=f"give finite values [{self.port.displacement_unit}]")
        return replace(self, displacement=value)

    def with_compliance(self, compliance: ArrayLike) -> Mounted:
        """The same, held by springs: how far each given row gives way per effort, not negative."""
        value, rows = as_numbers(compliance), self.port.given_rows
        if value.shape not in ((), (1,), (rows,)) or not (np.isfinite(value).all() and (value >= 0).all()):
            raise InputError(
                f"compliance of {self.name!r} is {compliance!r}",
                remedy=f"give {rows} finite value(s) >= 0 [{self.port.displacement_unit} per {self.port.effort_unit}]",
            )
        return replace(self, compliance=np.broadcast_to(value, (rows,)).copy())


class Ports(dict[str, Mounted]):
    """The ports of a robot by name, in the order in which they were added; asking for another one raises an InputError."""

    def __getitem__(self, name: str) -> Mounted:
        if not isinstance(name, str) or name not in self:
            raise InputError(f"there is no port {name!r}", remedy=f"choose one of {', '.join(self) or 'none yet'}")
        return super().__getitem__(name)
