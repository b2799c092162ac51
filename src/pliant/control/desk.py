"""All numbers of a decision on one desk: two arrays that compiled code is handed at once.

A kernel takes microseconds to be handed each of its arrays; here it is handed three: the numbers, the whole numbers, and where
everything lies. What lies there is said in `_desk_kernels`; `lay_out` picks it up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.control._desk_kernels import PARTS, WHOLE, lay_out
from pliant.control.question import Question

Array = NDArray[np.float64]


class Desk:
    """The desk of one question: `numbers`, `whole` numbers and `places` (fields, 3) (begin, rows, columns) for kernels; and the
    same as arrays by name."""

    def __init__(self, question: Question) -> None:
        bounded = np.isfinite(question.course).any(axis=1) | np.isfinite(question.displacement_rate)
        limited = np.flatnonzero(bounded)
        n, e, k, m = len(question.sought), len(question.wanted.rows), len(limited), len(question.row_names)
        t, u, h, g = (len(some) for some in (
            question.wanted.labels, question.wanted.turns, question.given.rows, question.given.labels
        ))  # fmt: skip
        shapes: tuple[tuple[int, ...], ...] = (
            *((n,), (e,), (e,), (k,), (e, 3), (u,)),  # Asked
            *((n, 2), (n, 2), (n,), (n,), (n, 3)),  # Reach
            *((t,), (t,), (e,), (n,), (n,), (n,), (n + k,), (1,)),  # Course
            *((n, n), (n,), (k, n), (n + k,), (n + k,), (n,), (2,), (m,), (e, n)),  # Problem
            *((h,), (g,), (h,), (h, 2), (h,), (h,), (h, 3), (h, h), (m, h), (m, m), (m,), (m,)),  # Holding
            *((n + k,), (n, n), (k, k), (3, n + k)),  # ActiveSetWork
        )
        names = [name for part in PARTS for name in part._fields]
        self.places = np.zeros((len(shapes), 3), np.int64)
        used = {True: 0, False: 0}
        for place, name, shape in zip(self.places, names, shapes, strict=True):
            kind = name in WHOLE
            place[:] = used[kind], shape[0], shape[1] if len(shape) > 1 else 1
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
