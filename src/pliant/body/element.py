"""The four-node and the ten-node tet: shape functions, integration and mass, in barycentric coordinates.

With the barycentric coordinates L_0 ... L_3 of a straight tet:

    order 1:  N_i = L_i
    order 2:  N_i = L_i (2 L_i - 1) at the corners,  N_ij = 4 L_i L_j at the middles of the edges 01 12 20 03 13 23
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]

EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
"""Ends of the edges, in the order of the middle nodes."""


@dataclass(frozen=True)
class TetElement:
    """The tables of one kind of tet.

    gradients [q, k, 4]: grad N_a at integration point q is sum_i gradients[q, a, i] grad L_i; weights [q] sum to one;
    values [q, k]: N_a there; mass [k, k]: the integral of N_a N_b over a tet of volume one.
    """

    gradients: Array
    weights: Array
    values: Array
    mass: Array

    @property
    def node_count(self) -> int:
        """Nodes per element."""
        return len(self.mass)

    def lumped_shares(self) -> Array:
        """Share of the element's mass that each node gets: the diagonal of the mass, scaled to the whole (Hinton et al.
        1976); row sums would be negative at the corners of ten-node tets."""
        diagonal = np.diag(self.mass)
        return np.asarray(diagonal / diagonal.sum())


@cache
def tet_element(order: int) -> TetElement:
    """The tet with linear (order 1) or quadratic (order 2) displacements."""
    if order == 1:
        points, weights = np.full((1, 4), 0.25), np.ones(1)
    elif order == 2:
        near, far = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
        points, weights = np.full((4, 4), far) + (near - far) * np.eye(4), np.full(4, 0.25)
    else:
        raise InputError(f"order is {order!r}", remedy="choose order=1 (four-node tets) or order=2 (ten-node tets)")
    polynomials = _shape_functions(order)
    values = np.array([[sum(c * np.prod(L**e) for e, c in p.items()) for p in polynomials] for L in points])
    gradients = np.array([[[_slope(p, L, i) for i in range(4)] for p in polynomials] for L in points])
    mass = np.array([[_integral(_product(p, q)) for q in polynomials] for p in polynomials])
    return TetElement(gradients, weights, values, mass)


Exponents = tuple[int, int, int, int]
Polynomial = dict[Exponents, float]


def _power(*corners: int) -> Exponents:
    return tuple(corners.count(i) for i in range(4))  # type: ignore[return-value]


def _shape_functions(order: int) -> list[Polynomial]:
    if order == 1:
        return [{_power(i): 1.0} for i in range(4)]
    corners: list[Polynomial] = [{_power(i, i): 2.0, _power(i): -1.0} for i in range(4)]
    return corners + [{_power(i, j): 4.0} for i, j in EDGES]


def _slope(p: Polynomial, L: Array, i: int) -> float:
    """dp/dL_i at L."""
    total = 0.0
    for exponents, factor in p.items():
        if exponents[i]:
            lower = np.array(exponents)
            lower[i] -= 1
            total += factor * exponents[i] * float(np.prod(L**lower))
    return total


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    out: Polynomial = {}
    for a, u in p.items():
        for b, v in q.items():
            exponents: Exponents = tuple(x + y for x, y in zip(a, b, strict=True))  # type: ignore[assignment]
            out[exponents] = out.get(exponents, 0.0) + u * v
    return out


def _integral(p: Polynomial) -> float:
    """Over a tet of volume one: the integral of L^a is 3! a! / (|a| + 3)!."""
    total = 0.0
    for exponents, factor in p.items():
        numerator = 6 * np.prod([factorial(e) for e in exponents])
        total += factor * float(numerator) / factorial(sum(exponents) + 3)
    return total
