"""Rods as sections and elements: where they are, what they are called, and where curves meet."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.body.body import Array, Ids
from pliant.body.section import Section, Sectional, sections_along
from pliant.errors import InputError
from pliant.shape.curve import Curve

MEET = 1e-6
"""Ends of curves this near to each other, over the length of the longest, are one place."""


@dataclass(frozen=True, eq=False)
class RodLayout:
    """Sections at centers (f, 3) [m] with frames (f, 3, 3), and elements (m, 2) between them of lengths (m,) [m]; the
    cross-section in the middle of each element and at each section; numbers of the first section of each curve, and one past
    the last; groups: of every section, the first one that is in the same place, (f,)."""

    centers: Array
    frames: Array
    elements: Ids
    lengths: Array
    middles: list[Section]
    ends: list[Section]
    first: Ids
    groups: Ids

    @classmethod
    def of(
        cls, curves: Sequence[Curve], section: Sectional, count: Sequence[int | None], spacing: float | None
    ) -> RodLayout:
        """Curves cut into elements, with a section where the end of one meets another."""
        near = MEET * max(curve.length for curve in curves)
        cut = [
            curve.sampled(count=own, spacing=spacing, through=_meeting(curve, curves, near))
            for curve, own in zip(curves, count, strict=True)
        ]
        counts = [len(one.places) for one in cut]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        starts = np.concatenate([np.arange(a, b - 1) for a, b in itertools.pairwise(first)])
        centers = np.concatenate([one.points for one in cut])
        lists = _sections(section, [one.places / one.places[-1] for one in cut])
        return cls(
            centers,
            np.concatenate([one.frames for one in cut]),
            np.stack([starts, starts + 1], axis=1),
            np.concatenate([np.diff(one.places) for one in cut]),
            [own for middles, _ in lists for own in middles],
            [own for _, ends in lists for own in ends],
            first,
            _groups(centers, near),
        )

    def section(self, name: str, who: str) -> int:
        """The number of a section by its name: "0.3" is section 3 of curve 0, "1.end" the last of curve 1; "start" and "end"
        are those of curve 0."""
        curve, _, place = str(name).rpartition(".")
        known = range(len(self.first) - 1)
        if curve in map(str, known) or (not curve and place in ("start", "end")):
            k = int(curve or 0)
            last = int(self.first[k + 1] - self.first[k]) - 1
            if place in ("start", "end"):
                return int(self.first[k]) + (0 if place == "start" else last)
            if place.isdigit() and int(place) <= last:
                return int(self.first[k]) + int(place)
        raise InputError(
            f"{who}: there is no section {name!r}",
            remedy="give 'start', 'end', or curve and section, such as '0.3' or '1.end'; "
            + ", ".join(f"curve {k} has 0 to {self.first[k + 1] - self.first[k] - 1}" for k in known),
        )

    def names(self) -> list[str]:
        """Of all sections, "curve.number"."""
        counts = np.diff(self.first)
        return [f"{k}.{i}" for k, count in enumerate(counts) for i in range(count)]


def _meeting(curve: Curve, curves: Sequence[Curve], near: float) -> list[float]:
    """Places along a curve where the end of another one is."""
    ends = [end for other in curves if other is not curve for end in other.at([0.0, other.length])]
    found = [curve.nearest(end) for end in ends]
    return [place for place, distance in found if distance <= near]


def _groups(centers: Array, near: float) -> Ids:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(centers).query_pairs(2 * near, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs)), pairs.T), shape=(len(centers),) * 2)
    label = connected_components(graph, directed=False)[1]
    _, representative, own = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(representative[own], np.int64)


def _sections(given: Sectional, places: list[Array]) -> list[tuple[list[Section], list[Section]]]:
    """Of each curve, from what a user gives: a list per element goes on from curve to curve."""
    if isinstance(given, Section) or callable(given):
        return [sections_along(given, own) for own in places]
    every = np.concatenate(places)
    middles, _ = sections_along(given, np.arange(len(every) - len(places) + 1.0))
    out, begin = [], 0
    for own in places:
        out.append(sections_along(middles[begin : begin + len(own) - 1], own))
        begin += len(own) - 1
    return out
