"""Cross-sections of rods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np

from pliant.body.body import Array
from pliant.checks import as_numbers, number
from pliant.errors import InputError

POINTS = 16
"""Of every outline."""

Sectional: TypeAlias = "Section | Sequence[Section] | Callable[[float], Section]"
"""The section of a rod: one; one per element; or a function of the place along the curve, from 0 to 1 (`Section.taper`)."""


@dataclass(frozen=True, eq=False)
class Section:
    """A cross-section of a rod in its plane of y and z: area [m^2]; Iy = int z^2 dA and Iz = int y^2 dA [m^4], about its
    centroid and along its principal axes; the torsion constant J [m^4]; shear: the factors (ky, kz) by which the area carries
    shear along y and z, or a function of Poisson's ratio that gives them (infinite ones: no shear strain).

    outline (16, 2) [m]: for pictures and for the stress of the outermost fibre, by default the rectangle with these radii of
    gyration; torsion_modulus [m^3]: torque over the largest shear stress, by default J over the largest radius of the outline.
    """

    area: float
    Iy: float
    Iz: float
    J: float
    shear: tuple[float, float] | Callable[[float], tuple[float, float]] = (5 / 6, 5 / 6)
    outline: Array = field(default_factory=lambda: np.empty((0, 2)))
    torsion_modulus: float = 0.0

    def __post_init__(self) -> None:
        for name, unit in (("area", "m^2"), ("Iy", "m^4"), ("Iz", "m^4"), ("J", "m^4")):
            value = number(getattr(self, name), f"{name} of a section", unit=unit, above=0.0)
            object.__setattr__(self, name, value)
        outline = as_numbers(self.outline)
        if not outline.size:
            outline = _box(2 * np.sqrt(3 * self.Iz / self.area), 2 * np.sqrt(3 * self.Iy / self.area))
        if outline.shape != (POINTS, 2) or not np.isfinite(outline).all():
            raise InputError(f"outline has shape {outline.shape}", remedy=f"give ({POINTS}, 2) finite numbers [m]")
        object.__setattr__(self, "outline", outline)
        if not self.torsion_modulus > 0:
            object.__setattr__(self, "torsion_modulus", self.J / self.radius)

    @property
    def radius(self) -> float:
        """How far its outline is from the centroid at most [m]."""
        return float(np.linalg.norm(self.outline, axis=1).max())

    @classmethod
    def rectangle(cls, width: float, height: float) -> Section:
        """width along y, height along z [m].

        Torsion by Saint-Venant's series (Timoshenko and Goodier, Theory of Elasticity, art. 109), with a >= b the sides:
        J = a b^3 (1/3 - 64/pi^5 b/a sum tanh(n pi a / 2b) / n^5), n = 1, 3, 5 ... Shear factor 10 (1 + nu) / (12 + 11 nu)
        (Cowper 1966).
        """
        w = number(width, "width of a section", unit="m", above=0.0)
        h = number(height, "height of a section", unit="m", above=0.0)
        a, b = max(w, h), min(w, h)
        n = np.arange(1, 60, 2)
        J = a * b**3 * (1 / 3 - 64 / np.pi**5 * b / a * float((np.tanh(n * np.pi * a / (2 * b)) / n**5).sum()))
        # cosh grows beyond all numbers: there the term is nothing
        steepness = 1 - 8 / np.pi**2 * float((1 / (n**2 * np.cosh(np.minimum(n * np.pi * a / (2 * b), 700.0)))).sum())
        return cls(w * h, w * h**3 / 12, h * w**3 / 12, J, _rectangle_shear, _box(w, h), J / (b * steepness))

    @classmethod
    def circle(cls, diameter: float) -> Section:
        """A disc [m]; shear factor 6 (1 + nu) / (7 + 6 nu) (Cowper 1966)."""
        return cls.tube(diameter, 0.0)

    @classmethod
    def tube(cls, outer: float, inner: float) -> Section:
        """A ring between two diameters [m]; with m = inner / outer the shear factor is (Cowper 1966)

        6 (1 + nu) (1 + m^2)^2 / ((7 + 6 nu) (1 + m^2)^2 + (20 + 12 nu) m^2).
        """
        outer = number(outer, "diameter of a section", unit="m", above=0.0)
        inner = number(inner, "inner diameter of a section", unit="m", least=0.0, below=outer)
        I = np.pi / 64 * (outer**4 - inner**4)
        angles = 2 * np.pi * np.arange(POINTS) / POINTS
        outline = 0.5 * outer * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        shear = partial(_ring_shear, inner / outer)
        return cls(np.pi / 4 * (outer**2 - inner**2), I, I, 2 * I, shear, outline, 4 * I / outer)

    @staticmethod
    def taper(start: Section, end: Section) -> Callable[[float], Section]:
        """Sections that change from one to another along the curve, as a rod takes them: their outlines and the roots of their
        constants change linearly (of similar sections that is exact)."""
        for one in (start, end):
            if not isinstance(one, Section):
                raise InputError(f"a taper between {one!r}", remedy="give two sections")
        return partial(_between, start, end)

    def shear_factors(self, nu: float) -> tuple[float, float]:
        """(ky, kz) at Poisson's ratio nu."""
        ky, kz = self.shear(nu) if callable(self.shear) else self.shear
        one = number(ky, "shear factor ky", above=0.0, endless=True)
        return one, number(kz, "shear factor kz", above=0.0, endless=True)

    def fibre_stress(self, force: Array, moments: Array) -> Array:
        """Largest normal stress (n,) [Pa] without sign on the outline, N/A + My z/Iy - Mz y/Iz, under forces (n, 3) [N] and
        moments (n, 3) [N m] along x, y, z of the section."""
        y, z = self.outline.T
        bending = np.outer(moments[:, 1] / self.Iy, z) - np.outer(moments[:, 2] / self.Iz, y)
        return np.asarray(np.abs(force[:, :1] / self.area + bending).max(axis=1))


def _rectangle_shear(nu: float) -> tuple[float, float]:
    factor = 10 * (1 + nu) / (12 + 11 * nu)
    return factor, factor


def _ring_shear(m: float, nu: float) -> tuple[float, float]:
    round_ = (1 + m * m) ** 2
    factor = 6 * (1 + nu) * round_ / ((7 + 6 * nu) * round_ + (20 + 12 * nu) * m * m)
    return factor, factor


def _mixed_shear(start: Section, end: Section, t: float, nu: float) -> tuple[float, float]:
    a, b = start.shear_factors(nu), end.shear_factors(nu)
    return (1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1]


def _between(start: Section, end: Section, t: float) -> Section:
    """See `Section.taper`."""

    def mixed(name: str, power: int) -> float:
        a, b = (getattr(one, name) ** (1 / power) for one in (start, end))
        return float(((1 - t) * a + t * b) ** power)

    return Section(
        mixed("area", 2),
        mixed("Iy", 4),
        mixed("Iz", 4),
        mixed("J", 4),
        partial(_mixed_shear, start, end, t),
        (1 - t) * start.outline + t * end.outline,
        mixed("torsion_modulus", 3),
    )


def _box(width: float, height: float) -> Array:
    """The outline of a rectangle, right-handed about x, with its corners."""
    side = np.linspace(-0.5, 0.5, POINTS // 4, endpoint=False)
    half = np.full_like(side, 0.5)
    y = np.concatenate([side, half, -side, -half])
    z = np.concatenate([-half, side, half, -side])
    return np.stack([width * y, height * z], axis=1)


def sections_along(given: Sectional, places: Array) -> tuple[list[Section], list[Section]]:
    """Sections at the middles of elements (m,), and at their ends (m + 1,), from what a user gives; places (m + 1,): 0 to 1."""
    count = len(places) - 1
    if isinstance(given, Section):
        return [given] * count, [given] * (count + 1)
    if callable(given):
        middles = [given(float(t)) for t in 0.5 * (places[:-1] + places[1:])]
        ends = [given(float(t)) for t in places]
    else:
        middles = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
        if len(middles) != count:
            raise InputError(
                f"there are {len(middles)} sections for {count} elements", remedy="give one, or one per element"
            )
        ends = [*middles, middles[-1]]
    for one in (*middles, *ends):
        if not isinstance(one, Section):
            raise InputError(f"a section is {one!r}", remedy="give a Section, such as Section.circle(diameter)")
    return middles, ends
