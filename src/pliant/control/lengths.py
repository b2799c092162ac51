"""Decisions about motors that hold displacements, where efforts would not do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.limited import scaled

Array = NDArray[np.float64]

SOFT = 10.0
"""How much softer than at the beginning the motors may find the robot, for decisions."""


def softest_of(model: Condensed, rows: NDArray[np.integer]) -> Array:
    """Units (n,) in which directions of the motors' rows with a compliance above 1 are too soft to decide by, from a model of a
    stable beginning."""
    P, scale = scaled(model.W[np.ix_(rows, rows)])
    return np.asarray(np.sqrt(SOFT * np.linalg.eigvalsh(P)[-1]) / scale)


def decided_by_length(model: Condensed, rows: NDArray[np.integer], efforts: Array, softest: Array) -> Condensed:
    """The same model with efforts that stand for the displacements of some rows.

    Past a limit point W_aa is indefinite, and next to it there is no end to it, though the effectors follow the motors as ever:
    W_ea W_aa^-1 is what it was. So W_aa is taken without the directions that are too soft (`softest_of`), or curved downwards:
    they are as soft as may be instead, and W_ea W_aa^-1 is kept. efforts (m,): those that hold the rows where they are.
    """
    own = model.W[np.ix_(rows, rows)]
    values, vectors = np.linalg.eigh(own / np.outer(softest, softest))
    if values[0] > 0.0 and values[-1] <= 1.0:
        return model
    W = model.W.copy()
    inside = np.where((values > 0.0) & (values <= 1.0), values, 1.0)
    soft = np.outer(softest, softest) * ((vectors * inside) @ vectors.T)
    W[:, rows] = model.W[:, rows] @ np.linalg.solve(own, soft)
    W[rows] = W[:, rows].T
    return replace(model, W=W, efforts=efforts, delta_free=model.predicted(efforts) - W @ efforts)


def largest_yield(model: Condensed, rows: NDArray[np.integer], weights: Array, held: NDArray[np.integer]) -> float:
    """How far the effectors' rows (e,) give way at most under a unit load on them, all weighted, while other rows are held:
    the largest eigenvalue of S (W_ee - W_eh W_hh^-1 W_he) S. It grows beyond all bounds where the robot loses its stability
    with what is held, whatever the tangent does without."""
    W = model.W
    own = W[np.ix_(rows, rows)]
    if len(held):
        own = own - W[np.ix_(rows, held)] @ np.linalg.solve(W[np.ix_(held, held)], W[np.ix_(held, rows)])
    return float(np.linalg.eigvalsh(weights[:, None] * own * weights)[-1])
