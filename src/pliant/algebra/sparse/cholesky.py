"""The factorization A = L S L^T of a symmetric block matrix, S the signs of the pivots, and what it is good for."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pliant.algebra.sparse import _compliance_kernels, _dense_kernels, _numeric_kernels, _solve_kernels
from pliant.algebra.sparse._tile import LANES, WIDE
from pliant.algebra.sparse.arrays import FloatArray, IntArray, aligned, rounded_up
from pliant.algebra.sparse.pattern import BlockPattern
from pliant.algebra.sparse.symbolic import Symbolic, analyse
from pliant.errors import InputError, NotPositiveDefiniteError

SIGN_TRUSTED = 1e-10
"""Ratio of a pivot to its diagonal entry below which rounding may have given it its sign."""


@dataclass(frozen=True)
class Report:
    """How a factorization went.

    usable: all pivots are numbers other than zero; only then may the factor be used.
    negatives: how many pivots are negative, which is how many eigenvalues are (Sylvester); believe it if `is_trusted`.
    index, axis: the unknown 3-vector and its component at which it failed, or else of the first negative pivot, or -1.
    smallest_ratio: smallest ratio of a pivot to the diagonal entry of A met, without signs (near 1e-16: singular to
        rounding; nan if it failed at once), and smallest_index, the unknown where.
    """

    usable: bool
    negatives: int
    index: int
    axis: int
    smallest_ratio: float
    smallest_index: int

    @property
    def ok(self) -> bool:
        """Whether the matrix is positive definite."""
        return self.usable and self.negatives == 0

    @property
    def is_trusted(self) -> bool:
        """Whether the signs of all pivots are beyond rounding, so that `negatives` is right."""
        return self.usable and self.smallest_ratio > SIGN_TRUSTED

    def require(self) -> Report:
        """Itself if ok; raises NotPositiveDefiniteError otherwise."""
        if not self.ok:
            raise NotPositiveDefiniteError(
                f"the matrix is not positive definite: bad pivot at unknown {self.index}, direction {'xyz'[self.axis]}",
                remedy="look for a part that is free to move, a buckled state, an inverted element or a NaN there",
                index=self.index,
                axis=self.axis,
            )
        return self


NOTHING: FloatArray = np.empty(0)


class _Condensing(NamedTuple):
    """Work space of `accumulate_compliance`, in the order of its arguments."""

    rank: IntArray
    counts: IntArray
    base: IntArray
    chosen: IntArray
    place: IntArray
    Y: FloatArray
    Z: FloatArray
    V: FloatArray
    triangle: FloatArray


class Cholesky:
    """Factorization of the matrices of one pattern: analysed once, factored again and again.

    Nothing is pivoted. For a positive definite matrix, A = L L^T; for an indefinite one A = L S L^T, which is as accurate
    as its smallest pivot is large (`Report.smallest_ratio`; one step of refinement brings most of it back).

    threads: number of threads that factor independent subtrees; more than one pays from several thousand unknowns on.
    An instance owns its factor and its work space: it must not be used from two threads at the same time.
    """

    def __init__(self, pattern: BlockPattern, threads: int = 1, *, symbolic: Symbolic | None = None) -> None:
        if threads < 1:
            raise InputError(f"threads = {threads}", remedy="give at least 1")
        self.pattern = pattern
        self.symbolic = symbolic = analyse(pattern, threads=threads) if symbolic is None else symbolic
        self.L = aligned(symbolic.factor_size)
        self.inverse_diagonal, self._signs = np.empty(3 * symbolic.size), np.ones(3 * symbolic.size)
        self.signs = NOTHING
        """Of the pivots in elimination order (3 n,); empty where all are positive."""
        self._updates = aligned(symbolic.schedule.stack_size)
        fronts, tasks = symbolic.fronts, symbolic.schedule.tasks
        self._reports = np.zeros((len(tasks), 6))
        self._work = [aligned(_work_size(fronts[task])) for task in tasks]
        self._vectors = np.zeros((2, 3 * symbolic.size))
        longest = rounded_up(max(int(fronts["stride"].max()), 2 * WIDE), LANES)
        self._task_vectors = [aligned(3 * longest).reshape(3, longest) for _ in tasks]
        self._front_vectors = self._task_vectors[-1]
        self._halves = np.zeros((len(tasks), 1, 3 * symbolic.size))
        self._halfway = self._halves[-1]
        """L^-1 b in elimination order, (1, 3 n)."""
        self._half_is_done = False
        self._kept_rows = -1
        self.length = 0.0
        """|L^-1 b| of what `condense_into` was given, and |L^-1 (b + H^T efforts)| after `resume_into`: of a positive definite
        A the energy norm (x^T A x)^1/2 of the answer x."""
        self._usable = False
        self._condensing: _Condensing | None = None
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def factor(self, values: FloatArray, b: FloatArray | None = None) -> Report:
        """Factor the matrix with these blocks, shape [nb, 3, 3]. Does not raise for a bad matrix: see the report.

        b [3 n]: half a solve with it is done along the way, while the factor is at hand, for `condense_into`.
        """
        values = self.pattern.check_values(values)
        if b is not None:
            self._check_size(b)
        self._kept_rows = -1
        report = self._factor_tasks(values, NOTHING if b is None else b)
        self._usable = report.usable
        self._half_is_done = b is not None and report.usable
        self.signs = self._signs if report.negatives else NOTHING
        return report

    def descents(self) -> FloatArray:
        """Directions u of negative curvature, u^T A u = -1, one for each negative pivot j: u = L^-T e_j, shape [count, 3 n].

        Any two are conjugate, u^T A v = 0: A is negative on all of what they span.
        """
        self._check_usable()
        columns = np.flatnonzero(self.signs < 0)
        out = np.empty((len(columns), 3 * self.symbolic.size))
        for column, direction in zip(columns, out, strict=True):
            self._vectors[0] = 0.0
            self._vectors[0, column] = 1.0
            self._back(NOTHING, direction)
        return out

    def _back(self, signs: FloatArray, out: FloatArray) -> None:
        """out <- L^-T S of the first of the work vectors."""
        symbolic = self.symbolic
        _solve_kernels.solve_backward(
            symbolic.fronts, symbolic.order, symbolic.rows, self.L, self.inverse_diagonal, self._vectors, signs,
            self._front_vectors, out[:, None]
        )  # fmt: skip

    def _factor_tasks(self, values: FloatArray, b: FloatArray) -> Report:
        """The subtrees, each in its thread, and then the top of the tree."""
        top = len(self._work) - 1
        if len(b):
            self._halves[:] = 0.0
        if self._pool is not None:
            waiting = [self._pool.submit(self._factor_task, task, values, b) for task in range(1, top)]
            self._factor_task(0, values, b)
            for future in waiting:
                future.result()
            if self._reports[:top, 0].max() >= 0:
                return self._report(top)
            if len(b):
                self._halves[:top].sum(axis=0, out=self._halfway)
        self._factor_task(top, values, b)
        return self._report(top + 1)

    def _factor_task(self, task: int, values: FloatArray, b: FloatArray) -> None:
        symbolic = self.symbolic
        _numeric_kernels.factor_fronts(
            symbolic.schedule.tasks[task],
            symbolic.fronts,
            symbolic.runs,
            symbolic.block_source,
            symbolic.block_place,
            values,
            self.L,
            self._updates,
            self.inverse_diagonal,
            self._signs,
            self._work[task],
            self._reports[task],
            b,
            symbolic.order,
            symbolic.rows,
            self._halves[task],
            self._task_vectors[task],
        )

    def _report(self, tasks: int) -> Report:
        """Summary of the first `tasks` tasks."""
        order = self.symbolic.order
        bad = first_negative = worst_column = -1
        worst, negatives = 0.0, 0
        for column, ratio, ratio_column, count, negative, _ in self._reports[:tasks].tolist():
            if column >= 0 and (bad < 0 or column < bad):
                bad = int(column)
            if count and (first_negative < 0 or negative < first_negative):
                first_negative = int(negative)
            negatives += int(count)
            if not ratio <= worst:
                worst, worst_column = ratio, int(ratio_column)
        usable = bad < 0
        bad = first_negative if usable else bad
        return Report(
            usable=usable,
            negatives=negatives,
            index=int(order[bad // 3]) if bad >= 0 else -1,
            axis=bad % 3 if bad >= 0 else -1,
            smallest_ratio=1 / worst if worst_column >= 0 else float("nan"),
            smallest_index=int(order[worst_column // 3]) if worst_column >= 0 else -1,
        )

    def solve(self, b: FloatArray) -> FloatArray:
        """A^-1 b for b of shape [3 n] or [3 n, m]."""
        b = np.ascontiguousarray(b, np.float64)
        return self.solve_into(b, np.empty(b.shape))

    def solve_into(self, b: FloatArray, out: FloatArray) -> FloatArray:
        """out <- A^-1 b without allocation; both C-contiguous, shape [3 n] or [3 n, m]; `out` may be `b`."""
        self._check_usable()
        rows = 3 * self.symbolic.size
        if b.shape[:1] != (rows,) or b.ndim > 2 or out.shape != b.shape:
            raise InputError(
                f"b has shape {b.shape} and out {out.shape}", remedy=f"give both as ({rows},) or ({rows}, m)"
            )
        _check_plain("b", b)
        _check_plain("out", out)
        symbolic = self.symbolic
        b2, out2 = (b[:, None], out[:, None]) if b.ndim == 1 else (b, out)
        _solve_kernels.solve_all(
            b2,
            symbolic.fronts,
            symbolic.order,
            symbolic.rows,
            self.L,
            self.inverse_diagonal,
            self.signs,
            self._vectors,
            self._front_vectors,
            out2,
        )
        return out

    def compliance(self, H: Any) -> FloatArray:
        """W = H A^-1 H^T, shape [m, m], for a scipy CSR matrix H of shape [m, 3 n]."""
        if H.shape[1] != 3 * self.symbolic.size:
            raise InputError(f"H has shape {H.shape}", remedy=f"give it {3 * self.symbolic.size} columns")
        H = H.tocsr()
        return self.compliance_into(
            H.indptr.astype(np.int64),
            H.indices.astype(np.int64),
            H.data.astype(np.float64),
            np.empty((H.shape[0], H.shape[0])),
        )

    def compliance_into(self, indptr: IntArray, indices: IntArray, data: FloatArray, out: FloatArray) -> FloatArray:
        """out <- H A^-1 H^T for H in compressed rows (int64, float64); allocates only for more rows than before."""
        self._check_usable()
        rows = len(indptr) - 1
        if indptr.dtype != np.int64 or indices.dtype != np.int64 or out.shape != (rows, rows):
            raise InputError(
                f"indptr and indices are {indptr.dtype} and {indices.dtype}, out has shape {out.shape}",
                remedy=f"give int64 and int64, and ({rows}, {rows})",
            )
        _check_plain("data", data)
        _check_plain("out", out)
        self._kept_rows = -1
        if self._condensing is None or rows > len(self._condensing.chosen):
            self._condensing = self._condensing_space(rows)
        symbolic = self.symbolic
        good = _compliance_kernels.accumulate_compliance(
            indptr,
            indices,
            data,
            symbolic.position,
            symbolic.member,
            symbolic.fronts,
            symbolic.rows,
            self.L,
            self.inverse_diagonal,
            self.signs,
            *self._condensing,
            out,
        )
        if not good:
            raise InputError("H has a column outside the system", remedy=f"keep indices below {3 * symbolic.size}")
        return out

    def condense_into(
        self,
        indptr: IntArray,
        indices: IntArray,
        data: FloatArray,
        b: FloatArray | None,
        W: FloatArray,
        shift: FloatArray,
    ) -> None:
        """W <- H A^-1 H^T as `compliance_into`, and shift [m] <- H A^-1 b for b [3 n], by half a solve; b = None: the one that
        `factor` was given.

        Keeps L^-1 H^T and L^-1 b for `resume_into`.
        """
        _check_plain("shift", shift)
        if shift.shape != (len(indptr) - 1,):
            raise InputError(f"shift has shape {shift.shape}", remedy=f"give ({len(indptr) - 1},)")
        symbolic = self.symbolic
        if b is not None:
            self._check_size(b)
        elif not self._half_is_done:
            raise InputError("there is no half of a solve", remedy="give b here, or to factor(values, b) right before")
        self.compliance_into(indptr, indices, data, W)
        space = self._condensing
        assert space is not None
        if b is not None:
            self._half_is_done = False
            _solve_kernels.solve_forward(
                b[:, None], symbolic.fronts, symbolic.order, symbolic.rows, self.L, self.inverse_diagonal,
                self._halfway, self._front_vectors
            )  # fmt: skip
        self._vectors[0] = self._halfway[0]
        _solve_kernels.apply_signs(self.signs, self._vectors, 1)
        _compliance_kernels.project(
            symbolic.fronts, space.rank, space.counts, space.base, space.Y, self._vectors[0], shift
        )
        self._kept_rows = len(indptr) - 1
        self.length = _norm(self._halfway[0])

    def resume_into(self, efforts: FloatArray, out: FloatArray) -> FloatArray:
        """out <- A^-1 (b + H^T efforts) with the b and H of the last `condense_into`, by the other half of a solve."""
        _check_plain("efforts", efforts)
        _check_plain("out", out)
        if self._kept_rows < 0 or efforts.shape != (self._kept_rows,) or out.shape != (3 * self.symbolic.size,):
            raise InputError(
                f"there is nothing kept for {efforts.shape} efforts and out of shape {out.shape}",
                remedy="call condense_into right before, with as many rows, and nothing in between",
            )
        space = self._condensing
        assert space is not None
        self._vectors[0] = self._halfway[0]
        _compliance_kernels.add_expanded(
            self.symbolic.fronts, space.rank, space.counts, space.base, space.Y, efforts, self._vectors[0]
        )
        self.length = _norm(self._vectors[0])
        self._back(self.signs, out)
        return out

    def _check_size(self, b: FloatArray) -> None:
        _check_plain("b", b)
        if b.shape != (3 * self.symbolic.size,):
            raise InputError(f"b has shape {b.shape}", remedy=f"give ({3 * self.symbolic.size},)")

    def _check_usable(self) -> None:
        if not self._usable:
            raise InputError("there is no factor to solve with", remedy="call factor(values) and look at its report")

    def _condensing_space(self, rows: int) -> _Condensing:
        """Work space for an H of so many rows."""
        fronts = self.symbolic.fronts
        padded = rounded_up(rows, LANES)
        return _Condensing(
            rank=np.zeros(len(fronts) * rows, np.int64),
            counts=np.zeros(len(fronts), np.int64),
            base=np.zeros(len(fronts) + 1, np.int64),
            chosen=np.zeros(rows, np.int64),
            place=np.zeros(rows, np.int64),
            Y=aligned(3 * self.symbolic.size * padded + WIDE),
            Z=aligned(max(3 * int(fronts["below"].max()) * padded, WIDE * int(fronts["stride"].max()))),
            V=aligned(rounded_up(rows, WIDE) * padded),
            triangle=aligned(WIDE * WIDE),
        )


def _norm(vector: FloatArray) -> float:
    return math.sqrt(float(vector @ vector))


def _work_size(fronts: Any) -> int:
    """Doubles that `factor_fronts` needs for these fronts: a triangle, and the buffer of the packed product."""
    large = 3 * fronts["width"] * fronts["stride"] > _dense_kernels.SMALL_PANEL
    return WIDE * WIDE + 4 + (_dense_kernels.PACK_SIZE if large.any() else 0)


def _check_plain(name: str, array: FloatArray) -> None:
    """Anything else would make numba compile the kernels once more, in the middle of a running loop."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise InputError(f"{name} is {array.dtype}, or not contiguous", remedy="give a C-contiguous float64 array")
