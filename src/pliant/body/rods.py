"""The body of rods: sections in a row that stretch, shear, bend and twist against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import _rod_kernels as kernels
from pliant.body.blocks import BlockIndex, pair_nodes
from pliant.body.body import Array, Body, Ids, Led, Supports, rayleigh_coefficients
from pliant.body.fields import Fields
from pliant.body.rod_embedding import RodEmbedding
from pliant.body.rod_layout import RodLayout
from pliant.body.rod_mass import element_masses
from pliant.body.rod_reading import SectionForces, rod_fields, section_forces
from pliant.body.rod_surface import inside_sections, swept
from pliant.body.section import Sectional
from pliant.body.surface import CarriedSurface
from pliant.checks import as_numbers, number, one_of
from pliant.errors import InputError
from pliant.shape.curve import Curve

NOTHING = np.empty((0, 6))
MOST_BENT = np.deg2rad(150.0)
"""Angle [rad] between the ends of an element beyond which it counts as lost: at half a turn its strain jumps."""


class RodBody(Body):
    """Rods of elements between sections; a section is a rigid part of four nodes, its centre and a tip along each of its axes.

    The energy of an element depends on the pose of one section as seen from the other only, H = (R, u) with R = R_a^T R_b, so a
    motion of the whole costs nothing. Its strain is the logarithm of H, that of the helix between them: with t = |log R|,

        theta = phi a,    v = phi m + psi (a . m) a,    phi = t / sin t,    psi = (1 - phi) / sin^2 t

    where a is the axial vector of R, and m the way between the centres along the mean of both frames' axes. Of these seven
    numbers (and cos t), all quadratic in the nodes, the energy is sum k_r (s_r - s0_r)^2 / 2 with s = (v, theta) and s0 that at
    rest:

        EA/L,  12 E Iz / (L^3 (1 + Py)),  12 E Iy / (L^3 (1 + Pz)),  GJ/L,  E Iy/L,  E Iz/L,    Py = 12 E Iz / (ky G A L^2)

    so that a straight element is Timoshenko's, exact at small strains for any length. The "warped" tangent is without the
    stresses.

    >>> import pliant as pl
    >>> rod = pl.RodBody(pl.Curve([(0, 0, 0), (0.3, 0, 0)]), pl.Section.circle(2e-3), E=70e9, nu=0.33, density=2700, count=10)
    >>> rod.node_count, round(rod.mass_total * 1e3, 4)
    (44, 2.5447)
    """

    predicts: ClassVar[bool] = True
    lost: ClassVar[str] = "bent by more than 150 degrees"

    def __init__(
        self,
        curves: Curve | Sequence[Curve],
        section: Sectional,
        E: float,
        nu: float,
        density: float,
        *,
        count: int | Sequence[int] | None = None,
        spacing: float | None = None,
        fixed: str | Sequence[str] = (),
        mass: Literal["consistent", "lumped"] = "consistent",
        damping: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Curves, one or several, with a cross-section: see `Sectional`. E [Pa], nu, density [kg/m^3].

        count: elements, of all curves or of each; or spacing [m]: their largest length. Where the end of a curve lies on
        another one, the two are one rigid part. fixed: names of sections that never move, "start", "end", or "1.start", "0.3"
        (curve and section). mass: of the elements' own motion, or half at each section; both with rotary inertia. damping: see
        `TetBody`."""
        own = _curves(curves)
        self.layout = layout = RodLayout.of(own, section, _counts(count, len(own)), spacing)
        self.E = number(E, "E", unit="Pa", above=0.0)
        self.nu = number(nu, "nu", above=-1.0, most=0.5)
        self.density = number(density, "density", unit="kg/m^3", above=0.0)
        self.lengths, self.elements = layout.lengths, layout.elements
        self.cell_size = float(self.lengths.mean())
        self.size = min(0.5 * self.cell_size, max(one.radius for one in layout.ends))
        """Distance of a section's tips from its centre [m]."""
        tips = self.size * layout.frames.swapaxes(1, 2)
        self._sections = layout.centers[:, None] + np.concatenate([np.zeros_like(tips[:, :1]), tips], axis=1)
        self.rest = np.ascontiguousarray(self._sections.reshape(-1, 3))
        self.supports = self._held(fixed)
        self._make_blocks()
        self._make_stiffness()
        self._make_mass(one_of(mass, "mass", ("consistent", "lumped")))
        self.mass_damping, self.stiffness_damping = rayleigh_coefficients(damping)
        self._embedding = RodEmbedding(self._sections, self.elements, self.lengths, self.size)

    def _held(self, fixed: str | Sequence[str]) -> Supports:
        names, layout = self.layout.names(), self.layout
        chosen = {
            int(layout.groups[layout.section(name, "fixed")]) for name in ([fixed] if isinstance(fixed, str) else fixed)
        }
        groups: dict[int, list[int]] = {}
        for section, group in enumerate(layout.groups):
            groups.setdefault(int(group), []).append(section)
        nodes = {group: np.concatenate([4 * k + np.arange(4) for k in own]) for group, own in groups.items()}
        return Supports(
            fixed=np.sort(np.concatenate([np.empty(0, np.int64), *(nodes[group] for group in chosen)])).astype(
                np.int64
            ),
            rigid={" + ".join(names[k] for k in own): nodes[g] for g, own in groups.items() if g not in chosen},
        )

    def _make_blocks(self) -> None:
        self.element_nodes = (4 * self.elements[:, :, None] + np.arange(4)).reshape(-1, 8).astype(np.int64)
        i, j = pair_nodes(self.element_nodes)
        index = BlockIndex(len(self.rest), [(i, j)])
        self.rows, self.cols = index.rows, index.cols
        self._slots = index.slots(i, j).astype(np.int64)

    def _make_stiffness(self) -> None:
        L, E, G = self.lengths, self.E, self.E / (2 * (1 + self.nu))
        own = self.layout.middles
        A, Iy, Iz, J = (np.array([getattr(one, name) for one in own]) for name in ("area", "Iy", "Iz", "J"))
        ky, kz = np.array([one.shear_factors(self.nu) for one in own]).T
        Py, Pz = 12 * E * Iz / (ky * G * A * L**2), 12 * E * Iy / (kz * G * A * L**2)
        shears = 12 * E * Iz / (L**3 * (1 + Py)), 12 * E * Iy / (L**3 * (1 + Pz))
        self.section_stiffness = np.stack([E * A / L, *shears, G * J / L, E * Iy / L, E * Iz / L], axis=1)
        """Of every element along its six strains, which are of its whole length, (m, 6) [N/m] and [N m]."""
        self.natural = self._logarithms(self.rest)[:, :6].copy()
        """Those strains with the nodes at rest (m, 6) [m], [rad]: the shape of the curve."""
        self.unstrained = self.natural.copy()

    def _make_mass(self, kind: str) -> None:
        shares = element_masses(self.layout.middles, self.lengths, self.density, self.size, kind)
        a, b = np.tril_indices(8)
        self.mass_weights = np.zeros(len(self.rows))
        np.add.at(self.mass_weights, self._slots >> 1, shares[:, a, b])
        self.load_masses = np.zeros(len(self.rest))
        np.add.at(self.load_masses, self.element_nodes, shares.sum(axis=2))

    @property
    def thinnest(self) -> float:
        """The smallest width of all sections [m]."""
        return min(float(np.ptp(one.outline, axis=0).min()) for one in self.layout.ends)

    @property
    def mass_total(self) -> float:
        """Mass [kg]."""
        return float(self.load_masses.sum())

    @property
    def outline(self) -> Array:
        """See `Body.outline`: of what is drawn."""
        return self.surface().positions(self.rest)

    def part_nodes(self, name: str, who: str) -> Ids:
        """See `Body.part_nodes`: the four nodes of a section, "start", "end", or curve and section, such as "0.3" or
        "1.end"."""
        return np.asarray(4 * self.layout.section(name, who) + np.arange(4), np.int64)

    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """See `Body.accumulate`."""
        return self._assemble(x, force, blocks, exact, warped, NOTHING, force)

    def accumulate_led(
        self, x: Array, led: Led, force: Array, change: Array, blocks: Array, *, exact: float, warped: float
    ) -> float:
        """See `Body.accumulate_led`: efforts that are linear in the step.

        Where sections have turned, the true ones have a tension of second order that no equilibrium has, and that grows with
        EA over EI: with them Newton's method takes the more iterations the more slender a rod is, without them it does not
        (Magisano, Leonetti and Garcea 2017)."""
        predicted = np.empty((len(self.elements), 6))
        kernels.predict_efforts(
            self.element_nodes, self.size, self.section_stiffness, self.unstrained, led.begin, led.motion, predicted
        )
        return self._assemble(x, force, blocks, exact, warped, predicted, change)

    def _assemble(
        self, x: Array, force: Array, blocks: Array, exact: float, warped: float, predicted: Array, change: Array
    ) -> float:
        elements = self.element_nodes, self._slots, self.size, self.section_stiffness, self.unstrained
        energy: float = kernels.assemble_rods(*elements, x, exact, warped, force, blocks, predicted, change)
        return energy

    def _logarithms(self, x: Array) -> Array:
        out = np.empty((len(self.elements), 7))
        kernels.find_strains(self.element_nodes, self.size, x, out)
        return out

    def set_rest_curvature(self, curvature: ArrayLike) -> None:
        """Twist and curvature without load, (3,) or (m, 3) [1/m]: about x, y and z of the sections, of all elements or of each.

        It may change while a robot runs; the nodes' places at rest stay what they were."""
        given = as_numbers(curvature)
        if given.shape not in ((3,), (len(self.elements), 3)) or not np.isfinite(given).all():
            raise InputError(
                f"the curvature at rest has shape {given.shape}",
                remedy=f"give (3,) or ({len(self.elements)}, 3) finite numbers [1/m]",
            )
        self.unstrained[:, 3:] = given * self.lengths[:, None]

    def centreline(self, x: ArrayLike) -> Array:
        """Centres of the sections (f, 3) [m]."""
        return np.array(self._positions(x)[::4])

    def along(self, curve: int = 0) -> tuple[Array, Array]:
        """Points along a curve at rest (k, 3) [m] and the length that each stands for (k,) [m], as `Force` takes them for a
        load per length: two per element, where integrals of cubics are exact."""
        begin, end = self.layout.first[curve], self.layout.first[curve + 1]
        own = np.flatnonzero((self.elements[:, 0] >= begin) & (self.elements[:, 0] < end))
        t = np.tile(0.5 + np.array([-0.5, 0.5]) / np.sqrt(3), len(own))
        own = np.repeat(own, 2)
        return self._embedding.centers(own, t), 0.5 * self.lengths[own]

    def frames(self, x: ArrayLike) -> Array:
        """Axes of the sections (f, 3, 3): columns x (along the rod), y and z."""
        sections = self._positions(x).reshape(-1, 4, 3)
        return np.asarray((sections[:, 1:] - sections[:, :1]).swapaxes(1, 2) / self.size)

    def strains(self, x: ArrayLike) -> Array:
        """Stretch, shear along y and z, twist [1/m] and bending about y and z [1/m] of every element, (m, 6), from its rest."""
        found = self._logarithms(self._positions(x))[:, :6]
        return np.asarray((found - self.unstrained) / self.lengths[:, None])

    def section_forces(self, x: ArrayLike) -> SectionForces:
        """Force and moment that the elements carry at both of their ends, along the axes of the sections there."""
        return section_forces(self, self._positions(x))

    def fibre_stress(self, x: ArrayLike) -> Array:
        """Largest normal stress without sign in each element, (m,) [Pa]."""
        return self.section_forces(x).fibre_stress(self.layout.middles)

    def fields(self, x: ArrayLike) -> Fields:
        """See `Body.fields`; of a section, the largest normal stress and shear stress of torsion; energies of elements,
        (m,)."""
        return rod_fields(self, self._positions(x))

    def energies(self, x: ArrayLike) -> Array:
        """Energy of every element (m,) [J]."""
        found = self._logarithms(self._positions(x))[:, :6] - self.unstrained
        return np.asarray(0.5 * (self.section_stiffness * found**2).sum(axis=1))

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """See `Body.embed`: by the sections before and after a point; up to the rod's own length away from it."""
        p = np.atleast_2d(as_numbers(points))
        if p.ndim != 2 or p.shape[1] != 3 or not np.isfinite(p).all():
            raise InputError(f"points have shape {p.shape}", remedy="give finite points (p, 3) [m]")
        nodes, weights, away = self._embedding.weights(p)
        most = float(self.lengths.sum()) if max_distance is None else max_distance
        if len(away) and away.max() > most:
            worst = int(away.argmax())
            raise InputError(
                f"point {worst} at {p[worst].tolist()} m is {away[worst]:.3g} m from the rod, more than {most:.3g} m",
                remedy="check its unit and place",
            )
        return nodes, weights

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """See `Body.contains`: inside the outline of the sections (a tube counts as full)."""
        return inside_sections(self.layout, self._embedding, np.atleast_2d(points))

    def inverted_elements(self, x: Array) -> Ids:
        """See `Body.inverted_elements`: elements bent or twisted by more than `MOST_BENT`."""
        return np.flatnonzero(self._logarithms(self._positions(x))[:, 6] < np.cos(MOST_BENT))

    def inverted_count(self, x: Array) -> int:
        """See `Body.inverted_count`."""
        return int((self._logarithms(np.ascontiguousarray(x))[:, 6] < np.cos(MOST_BENT)).sum())

    def surface(self) -> CarriedSurface:
        """See `Body.surface`: the sections swept along the rods, closed at their ends."""
        return swept(self.layout, self.size)

    def __repr__(self) -> str:
        return f"RodBody({len(self.layout.first) - 1} curves, {len(self.elements)} elements)"


def _curves(given: Curve | Sequence[Curve]) -> list[Curve]:
    curves = [given] if isinstance(given, Curve) else list(given) if isinstance(given, (list, tuple)) else []
    if not curves or not all(isinstance(one, Curve) for one in curves):
        raise InputError(f"the curves of a rod are {given!r}", remedy="give a Curve, or a list of them")
    return curves


def _counts(count: int | Sequence[int] | None, curves: int) -> list[int | None]:
    """Elements of each curve."""
    if isinstance(count, (list, tuple)):
        if len(count) != curves:
            raise InputError(f"there are {len(count)} counts for {curves} curves", remedy="give one, or one per curve")
        return list(count)
    return [count] * curves  # type: ignore[list-item]
