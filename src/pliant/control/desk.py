"""All numbers of a decision on one desk: two arrays that compiled code is handed at once.

A kernel takes microseconds to be handed each of its arrays; here it is handed three: the numbers, the whole numbers, and where
everything lies. What lies there is said in `_desk_kernels`, its sizes in `fields_of`; `lay_out` picks it up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._qp_kernels import ActiveSetWork
from pliant.control._desk_kernels import PARTS, WHOLE, Asked, Course, Holding, Problem, Reach, lay_out
from pliant.control.question import Question

Array = NDArray[np.float64]


def fields_of(question: Question) -> tuple[dict[tuple[str, str], tuple[int, ...]], NDArray[np.int64]]:
    """The shape of every field by part and name, and which displacements have limits."""
    bounded = np.isfinite(question.course).any(axis=1) | np.isfinite(question.displacement_rate)
    limited = np.flatnonzero(bounded)
    n, e, k, m = len(question.sought), len(question.wanted.rows), len(limited), len(question.row_names)
    t, u, h = len(question.wanted.labels), len(question.wanted.turns), len(question.given.rows)
    g = len(question.given.labels)
    shapes: dict[type, tuple[tuple[int, ...], ...]] = {
        Asked: ((n,), (e,), (e,), (k,), (e, 3), (u,)),
        Reach: ((n, 2), (n, 2), (n,), (n,), (n, 3)),
        Course: ((t,), (t,), (e,), (n,), (n,), (n,), (n + k,)),
        Problem: ((n, n), (n,), (k, n), (n + k,), (n + k,), (n,), (2,), (m,), (e, n)),
        Holding: ((h,), (g,), (h,), (h, 2), (h,), (h,), (h, 3), (h, h), (m, h), (m, m), (m,), (m,)),
        ActiveSetWork: ((n + k,), (n, n), (k, k), (3, n + k)),
    }
    named = {
        (part.__name__, name): shape
        for part in PARTS
        for name, shape in zip(part._fields, shapes[part], strict=True)  # type: ignore[attr-defined]
    }
    return named, limited


class Desk:
    """The desk of one question: `numbers`, `whole` numbers and `places` (fields, 3) (begin, rows, columns) for kernels; and the
    same as arrays by name."""

    def __init__(self, question: Question) -> None:
        shapes, limited = fields_of(question)
        self.places = np.zeros((len(shapes), 3), np.int64)
        used = {True: 0, False: 0}
        for k, ((_, name), shape) in enumerate(shapes.items()):
            kind = name in WHOLE
            self.places[k] = used[kind], shape[0], shape[1] if len(shape) > 1 else 1
            used[kind] += int(np.prod(shape))
        self.numbers, self.whole = np.zeros(used[False]), np.zeros(used[True], np.int64)
        self.parts = lay_out(*self.arrays)
        self.asked, self.reach, self.course, self.problem, self.holding, self.work = self.parts
        for there, here in (
            (self.asked.a, question.sought),
            (self.asked.e, question.wanted.rows),
            (self.asked.S, question.weights),
            (self.asked.limited, limited),
            (self.asked.sources, question.wanted.sources),
            (self.asked.turns, question.wanted.turns),
            (self.reach.limits, question.effort),
            (self.reach.course, question.course),
            (self.reach.effort_rate, question.effort_rate),
            (self.reach.displacement_rate, question.displacement_rate),
            (self.holding.rows, question.given.rows),
            (self.holding.limits, question.given_limits),
            (self.holding.sources, question.given.sources),
        ):
            there[...] = here

    @property
    def arrays(self) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
        """What a kernel is handed."""
        return self.numbers, self.whole, self.places
