"""Dense equations by elimination, in the caller's thread: threads of a LAPACK wait for each other where cores are busy."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np

from pliant.algebra.compiled import kernel

BLOCK = 32
"""Rows that are eliminated from the others at once."""


@kernel
def solve_symmetric(J):
    """Solve the symmetric positive definite equations J [m, m + 1], the right side last, by Cholesky (J = U^T U).

    Only the upper triangle is read. The answer replaces the last column; returns the smallest pivot, or 0 where J is not
    positive definite.
    """
    count, width, smallest = J.shape[0], J.shape[1], math.inf
    upper = np.empty((BLOCK, width))
    shares = np.empty((2, BLOCK))
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        for k in range(first, last):
            for q in range(first, k):
                _subtract(J[k], J[q, k], J[q], k)
            pivot = J[k, k]
            if not pivot > 0.0:
                return 0.0
            smallest = min(smallest, pivot)
            for j in range(k, width):
                J[k, j] *= 1.0 / math.sqrt(pivot)
        depth = last - first
        upper[:depth, first:] = J[first:last, first:]
        for i in range(last, count, 2):
            for q in range(depth):
                shares[0, q], shares[1, q] = upper[q, i], upper[q, min(i + 1, count - 1)]
            _subtract_block(J, i, min(i + 2, count), shares, upper, depth, i)
    _substitute_back(J)
    return smallest


@kernel
def solve_square(J):
    """Solve the equations J [m, m + 1], the right side last, by Gauss's elimination with row pivots.

    The answer replaces the last column; returns the smallest pivot without sign, 0 where J is singular.
    """
    count, width, smallest = J.shape[0], J.shape[1], math.inf
    upper = np.empty((BLOCK, width))
    shares = np.empty((2, BLOCK))
    for first in range(0, count, BLOCK):
        last = min(first + BLOCK, count)
        for k in range(first, last):
            best = k
            for i in range(k + 1, count):
                if abs(J[i, k]) > abs(J[best, k]):
                    best = i
            if not abs(J[best, k]) > 0.0:
                return 0.0
            smallest = min(smallest, abs(J[best, k]))
            if best != k:
                for j in range(width):
                    J[k, j], J[best, j] = J[best, j], J[k, j]
            for i in range(k + 1, count):
                J[i, k] /= J[k, k]
                for j in range(k + 1, last):
                    J[i, j] -= J[i, k] * J[k, j]
        for k in range(first + 1, last):
            for q in range(first, k):
                _subtract(J[k], J[k, q], J[q], last)
        depth = last - first
        upper[:depth, last:] = J[first:last, last:]
        for i in range(last, count, 2):
            for q in range(depth):
                shares[0, q], shares[1, q] = J[i, first + q], J[min(i + 1, count - 1), first + q]
            _subtract_block(J, i, min(i + 2, count), shares, upper, depth, last)
    _substitute_back(J)
    return smallest


@kernel
def _subtract(row, share, other, first):
    """row -= share other, from entry `first` on."""
    for j in range(first, row.shape[0]):
        row[j] -= share * other[j]


@kernel
def _subtract_block(J, i, end, shares, upper, depth, first):
    """Rows i to end (one or two) of J, less shares [2, depth] of the rows `upper` [depth, m + 1], from entry `first` on; four
    rows at a time, so that what is read is used often."""
    a, b = J[i], J[end - 1]
    twice = end - i == 2
    q = 0
    while q + 4 <= depth:
        s, t, u, v = shares[0, q], shares[0, q + 1], shares[0, q + 2], shares[0, q + 3]
        k, l, m, n = shares[1, q], shares[1, q + 1], shares[1, q + 2], shares[1, q + 3]
        w, x, y, z = upper[q], upper[q + 1], upper[q + 2], upper[q + 3]
        if twice:
            for j in range(first, a.shape[0]):
                a[j] -= (s * w[j] + t * x[j]) + (u * y[j] + v * z[j])
                b[j] -= (k * w[j] + l * x[j]) + (m * y[j] + n * z[j])
        else:
            for j in range(first, a.shape[0]):
                a[j] -= (s * w[j] + t * x[j]) + (u * y[j] + v * z[j])
        q += 4
    while q < depth:
        _subtract(a, shares[0, q], upper[q], first)
        if twice:
            _subtract(b, shares[1, q], upper[q], first)
        q += 1


@kernel
def _substitute_back(J):
    """The answer in place of the right side, of equations with a triangle."""
    count = J.shape[0]
    for k in range(count - 1, -1, -1):
        value = J[k, count]
        for j in range(k + 1, count):
            value -= J[k, j] * J[j, count]
        J[k, count] = value / J[k, k]
