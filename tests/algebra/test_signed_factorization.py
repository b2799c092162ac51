"""Indefinite matrices: A = L S L^T against dense NumPy, and the count of negative eigenvalues against LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_cases import Case, grid_case, random_case

from pliant.algebra.sparse import BlockPattern, Cholesky
from pliant.errors import NotPositiveDefiniteError

CASES = {
    "one node": random_case(0, 1, 0),
    "sparse": random_case(4, 60, 120),
    "dense": random_case(5, 30, 900),
    "shuffled source": random_case(6, 50, 130, shuffled_source=True),
    "rod": grid_case((12, 3, 3)),
    "block": grid_case((6, 6, 6)),
}


def shifted(pattern: BlockPattern, values: np.ndarray, shift: float) -> np.ndarray:
    """The blocks of A - shift I."""
    own = np.flatnonzero(pattern.rows == pattern.cols)
    own = own[np.unique(pattern.rows[own], return_index=True)[1]]
    out = values.copy()
    out[pattern.source[own]] -= shift * np.eye(3)
    return out


def shifts(eigenvalues: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Somewhere between two neighbouring eigenvalues, from below the lowest to above the highest."""
    places = rng.integers(0, len(eigenvalues) - 1, count)
    places[:2] = 0, len(eigenvalues) - 2
    return eigenvalues[places] + rng.uniform(0.2, 0.8, count) * (eigenvalues[places + 1] - eigenvalues[places])


@pytest.fixture(params=CASES, name="case")
def case_(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.mark.parametrize("threads", [1, 2])
def test_counts_and_solves(case: Case, threads: int, rng: np.random.Generator) -> None:
    """From one negative eigenvalue to all of them: the count is right, A^-1 b and H A^-1 H^T are those of dense algebra."""
    eigenvalues = np.linalg.eigvalsh(case.dense)
    n = len(case.dense)
    cholesky = Cholesky(case.pattern, threads)
    for shift in [*shifts(eigenvalues, 5, rng), 2 * eigenvalues[-1]]:
        dense = case.dense - shift * np.eye(n)
        report = cholesky.factor(shifted(case.pattern, case.values, shift))
        assert report.usable
        if not report.smallest_ratio > 1e-9:
            continue
        assert report.is_trusted
        assert report.negatives == (eigenvalues < shift).sum() > 0
        assert not report.ok
        exact = np.linalg.inv(dense)
        tolerance = 1e-13 * np.abs(exact).max() / min(1.0, report.smallest_ratio)
        b = rng.normal(size=(n, 3))
        assert np.abs(cholesky.solve(b) - exact @ b).max() < 30 * n * tolerance
        H = sp.csr_matrix(rng.normal(size=(9, n)) * (rng.random((9, n)) < 0.3))
        W, move = np.empty((9, 9)), np.empty(9)
        rows = H.indptr.astype(np.int64), H.indices.astype(np.int64), H.data
        cholesky.condense_into(*rows, np.ascontiguousarray(b[:, 0]), W, move)
        assert np.abs(W - H @ exact @ H.T).max() < n * n * tolerance
        assert np.abs(move - H @ (exact @ b[:, 0])).max() < n * n * tolerance
        efforts = rng.normal(size=9)
        resumed = cholesky.resume_into(efforts, np.empty(n))
        assert np.abs(resumed - exact @ (b[:, 0] + H.T @ efforts)).max() < n * n * tolerance


def test_descents_are_conjugate_directions_of_negative_curvature(case: Case, rng: np.random.Generator) -> None:
    """As many as there are negative eigenvalues, u^T A u = -1 each, u^T A v = 0 between any two."""
    eigenvalues = np.linalg.eigvalsh(case.dense)
    cholesky = Cholesky(case.pattern)
    for shift in shifts(eigenvalues, 5, rng):
        report = cholesky.factor(shifted(case.pattern, case.values, shift))
        if report.smallest_ratio > 1e-6:
            U = cholesky.descents()
            assert U.shape == (report.negatives, len(case.dense))
            curvature = U @ (case.dense - shift * np.eye(len(case.dense))) @ U.T
            assert np.abs(curvature + np.eye(len(U))).max() < 1e-8 / report.smallest_ratio


def test_a_definite_matrix_has_no_descents(case: Case) -> None:
    cholesky = Cholesky(case.pattern)
    assert cholesky.factor(case.values).require().negatives == 0
    assert cholesky.descents().shape == (0, len(case.dense))


def test_signs_of_one_matrix_are_not_those_of_the_next() -> None:
    """After an indefinite matrix a definite one, and back."""
    case = CASES["block"]
    cholesky = Cholesky(case.pattern)
    shift = np.linalg.eigvalsh(case.dense)[4:6].mean()
    b = np.arange(float(len(case.dense)))
    for values, dense in 2 * [
        (shifted(case.pattern, case.values, shift), case.dense - shift * np.eye(len(case.dense))),
        (case.values, case.dense),
    ]:
        cholesky.factor(values)
        assert np.abs(dense @ cholesky.solve(b) - b).max() < 1e-6 * b.max()


def test_an_indefinite_matrix_names_its_first_negative_pivot() -> None:
    """Whoever asks for a definite one is told where it is not; a sign that rounding may have given is not trusted."""
    rows = np.arange(4)
    values = np.stack([np.eye(3)] * 4)
    values[2, 1, 1] = -3.0
    report = Cholesky(BlockPattern(4, rows, rows)).factor(values)
    assert (report.usable, report.negatives, report.index, report.axis) == (True, 1, 2, 1)
    with pytest.raises(NotPositiveDefiniteError, match="unknown 2, direction y"):
        report.require()
    chain = BlockPattern(2, [0, 1, 1], [0, 1, 0])
    values = np.stack([np.eye(3), np.diag([1 - 1e-13, 2.0, 2.0]), -np.eye(3)])
    report = Cholesky(chain).factor(values)
    assert report.usable
    assert not report.is_trusted


@pytest.mark.thorough
def test_counts_on_stiffness_matrices_of_the_gallery(rng: np.random.Generator) -> None:
    """On shifted tangents of the gallery's robots: the count is that of LAPACK, and after one refinement the residual is at
    most ten times that of a factorization with pivoting."""
    from scipy.sparse.linalg import splu

    from pliant.gallery import cantilever, diamond, finger
    from pliant.motion import Statics

    counted = 0
    for build in (cantilever.build, diamond.build, finger.build):
        robot = build()
        state = Statics(robot).solve().require().state
        here = robot.linearize(state)
        A, pattern, values = (
            here.matrix().tocsc(),
            here._at.equations.assembly.pattern,
            here._at.equations.values.copy(),
        )
        size = A.shape[0]
        eigenvalues = np.linalg.eigvalsh(A.toarray())
        cholesky = Cholesky(pattern)
        for k, shift in enumerate(shifts(eigenvalues, 80, rng)):
            report = cholesky.factor(shifted(pattern, values, shift))
            if not report.smallest_ratio > 1e-9:
                continue
            counted += 1
            assert report.negatives == (eigenvalues < shift).sum(), (build.__module__, shift)
            if k % 10 == 0:
                there = (A - shift * sp.eye(size)).tocsc()
                b = rng.normal(size=size)
                x = cholesky.solve(b)
                x += cholesky.solve(b - there @ x)
                reference = splu(there)
                y = reference.solve(b)
                y += reference.solve(b - there @ y)
                assert np.abs(b - there @ x).max() <= 10 * max(np.abs(b - there @ y).max(), np.finfo(float).eps * size)
    assert counted >= 200
