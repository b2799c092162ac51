"""The factorization against dense NumPy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_cases import Case, grid_case, random_case

from pliant.algebra.sparse import BlockPattern, Cholesky
from pliant.errors import InputError, NotPositiveDefiniteError

CASES = {
    "one node": random_case(0, 1, 0),
    "two free nodes": random_case(1, 2, 0),
    "pair": random_case(2, 2, 5),
    "forest": random_case(3, 40, 20),
    "sparse": random_case(4, 60, 120),
    "dense": random_case(5, 30, 900),
    "shuffled source": random_case(6, 50, 130, shuffled_source=True),
    "rod": grid_case((30, 3, 3)),
    "block": grid_case((7, 8, 9)),
}


@pytest.fixture(params=CASES, name="case")
def case_(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def factored(case: Case, threads: int = 1) -> Cholesky:
    cholesky = Cholesky(case.pattern, threads)
    assert cholesky.factor(case.values).ok
    return cholesky


def random_rows(rng: np.random.Generator, rows: int, unknowns: int) -> sp.csr_matrix:
    """A sparse H with one empty row."""
    H = rng.normal(size=(rows, unknowns)) * (rng.random((rows, unknowns)) < 4 / unknowns + 0.01)
    H[rows // 2] = 0.0
    return sp.csr_matrix(H)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("columns", [None, 1, 2, 5])
def test_solves(case: Case, threads: int, columns: int | None) -> None:
    """A solve gives back the vectors that a dense product started from, for any number of threads and columns."""
    n = len(case.dense)
    x = np.random.default_rng(1).normal(size=n if columns is None else (n, columns))
    np.testing.assert_allclose(factored(case, threads).solve(case.dense @ x), x, rtol=0, atol=1e-10)


def test_solves_in_place(case: Case) -> None:
    """The solution may overwrite the right-hand side."""
    b = np.random.default_rng(2).normal(size=len(case.dense))
    x = np.linalg.solve(case.dense, b)
    factored(case).solve_into(b, b)
    np.testing.assert_allclose(b, x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("rows", [1, 3, 8, 17, 40])
def test_compliance(case: Case, rows: int) -> None:
    """The compliance is H A^-1 H^T, symmetric to the last bit, also when its work space is used again."""
    cholesky = factored(case)
    rng = np.random.default_rng(rows)
    for m in (rows, 2 * rows, rows):
        H = random_rows(rng, m, len(case.dense))
        W = cholesky.compliance(H)
        expected = H.toarray() @ np.linalg.solve(case.dense, H.toarray().T)
        np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12 * max(1.0, abs(expected).max()))
        np.testing.assert_array_equal(W, W.T)


@pytest.mark.parametrize("rows", [0, 1, 5, 17])
def test_a_condensed_system_is_resumed(case: Case, rows: int) -> None:
    """H A^-1 b comes with the compliance, and A^-1 (b + H^T efforts) afterwards, for any efforts, again and again."""
    cholesky = factored(case)
    rng = np.random.default_rng(rows)
    cholesky.compliance(random_rows(rng, 2 * rows + 1, len(case.dense)))
    H = random_rows(rng, rows, len(case.dense)) if rows else sp.csr_matrix((0, len(case.dense)))
    b, W, shift = rng.normal(size=len(case.dense)), np.empty((rows, rows)), np.empty(rows)
    cholesky.condense_into(H.indptr.astype(np.int64), H.indices.astype(np.int64), H.data, b, W, shift)
    np.testing.assert_allclose(shift, H @ np.linalg.solve(case.dense, b), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(W, cholesky.compliance(H) if rows else W)
    cholesky.condense_into(H.indptr.astype(np.int64), H.indices.astype(np.int64), H.data, b, W, shift)
    for _ in range(2):
        efforts = rng.normal(size=rows)
        moved = cholesky.resume_into(efforts, np.empty(len(b)))
        np.testing.assert_allclose(moved, np.linalg.solve(case.dense, b + H.T @ efforts), rtol=0, atol=1e-10)


def test_nothing_is_resumed_after_something_else() -> None:
    """What was kept for `resume_into` is gone with the next factorization or compliance, and that is said."""
    case = CASES["pair"]
    cholesky = factored(case)
    H = (np.array([0, 1]), np.array([0]), np.ones(1))
    for disturb in (lambda: cholesky.factor(case.values), lambda: cholesky.compliance_into(*H, np.empty((1, 1)))):
        cholesky.condense_into(*H, np.ones(6), np.empty((1, 1)), np.empty(1))
        disturb()
        with pytest.raises(InputError, match="nothing kept"):
            cholesky.resume_into(np.ones(1), np.empty(6))
    with pytest.raises(InputError, match="b has shape"):
        cholesky.condense_into(*H, np.ones(7), np.empty((1, 1)), np.empty(1))
    with pytest.raises(InputError, match="b has shape"):
        cholesky.factor(case.values, np.ones(7))


@pytest.mark.parametrize("threads", [1, 2])
def test_half_a_solve_is_done_along_with_the_factorization(case: Case, threads: int) -> None:
    """L^-1 b is the same whether b is there at the factorization or comes later; it does not outlive the next one."""
    cholesky, rng = Cholesky(case.pattern, threads), np.random.default_rng(4)
    H = random_rows(rng, 3, len(case.dense))
    rows = H.indptr.astype(np.int64), H.indices.astype(np.int64), H.data
    b = rng.normal(size=len(case.dense))
    W, shift, later, efforts = np.empty((3, 3)), np.empty(3), np.empty(3), rng.normal(size=3)
    assert cholesky.factor(case.values, b).ok
    cholesky.condense_into(*rows, None, W, shift)
    moved, length = cholesky.resume_into(efforts, np.empty(len(b))), cholesky.length
    np.testing.assert_allclose(moved, np.linalg.solve(case.dense, b + H.T @ efforts), rtol=0, atol=1e-10)
    cholesky.condense_into(*rows, b, W, later)
    np.testing.assert_allclose(shift, later, rtol=1e-9, atol=1e-12)
    cholesky.resume_into(efforts, np.empty(len(b)))
    assert cholesky.length == pytest.approx(length, rel=1e-9)
    with pytest.raises(InputError, match="half of a solve"):
        cholesky.condense_into(*rows, None, W, shift)
    assert cholesky.factor(case.values).ok
    with pytest.raises(InputError, match="half of a solve"):
        cholesky.condense_into(*rows, None, W, shift)


def test_factor_is_the_dense_factor(case: Case) -> None:
    """The panels hold the Cholesky factor of the permuted matrix, and zeros where merging added rows."""
    cholesky = factored(case)
    symbolic = cholesky.symbolic
    unknowns = (3 * symbolic.order[:, None] + np.arange(3)).ravel()
    L = np.linalg.cholesky(case.dense[np.ix_(unknowns, unknowns)])
    rebuilt = np.zeros_like(L)
    for front in symbolic.fronts:
        K = 3 * front["width"]
        column = 3 * front["column"]
        below = symbolic.rows[front["rows"] : front["rows"] + front["below"]]
        rows = np.concatenate([column + np.arange(K), (3 * below[:, None] + np.arange(3)).ravel()])
        panel = cholesky.L[front["panel"] : front["panel"] + K * front["stride"]].reshape(K, -1).T[: len(rows)]
        rebuilt[np.ix_(rows, column + np.arange(K))] = np.tril(panel)
    np.testing.assert_allclose(rebuilt, L, rtol=0, atol=1e-11)
    np.testing.assert_allclose(cholesky.inverse_diagonal, 1 / np.diag(L), rtol=1e-11)


def test_large_panels() -> None:
    """Fronts that are packed piece by piece give the dense answer as well."""
    case = random_case(7, 330, 12000)
    x = np.random.default_rng(3).normal(size=990)
    np.testing.assert_allclose(factored(case).solve(case.dense @ x), x, rtol=0, atol=1e-10)


def test_factor_again(case: Case) -> None:
    """A second factorization forgets the first, also a failed one."""
    cholesky = factored(case)
    assert not cholesky.factor(np.full_like(case.values, np.nan)).ok
    assert cholesky.factor(2.0 * case.values).ok
    b = np.ones(len(case.dense))
    np.testing.assert_allclose(cholesky.solve(b), np.linalg.solve(2.0 * case.dense, b), rtol=0, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 45), st.integers(0, 150), st.booleans(), st.integers(1, 3))
def test_any_graph(seed: int, size: int, edges: int, shuffled: bool, threads: int) -> None:
    """Any graph of couplings can be factored."""
    case = random_case(seed, size, edges, shuffled_source=shuffled)
    x = np.random.default_rng(seed).normal(size=3 * size)
    np.testing.assert_allclose(factored(case, threads).solve(case.dense @ x), x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("value", [-5.0, 0.0, np.nan, np.inf])
def test_names_the_bad_unknown(threads: int, axis: int, value: float) -> None:
    """A free node with a bad diagonal entry is named, with its direction, whatever else there is."""
    size, bad = 25, 17
    rows = np.arange(size)
    values = np.stack([4.0 * np.eye(3)] * size)
    values[bad, axis, axis] = value
    report = Cholesky(BlockPattern(size, rows, rows), threads).factor(values)
    assert (report.ok, report.index, report.axis) == (False, bad, axis)
    with pytest.raises(NotPositiveDefiniteError, match=f"unknown {bad}, direction {'xyz'[axis]}") as caught:
        report.require()
    assert caught.value.evidence == {"index": bad, "axis": axis}


def test_indefinite_matrix_is_refused(case: Case) -> None:
    """A shift beyond the smallest eigenvalue is found out, whatever the order of elimination."""
    lowest = np.linalg.eigvalsh(case.dense)[0]
    size = case.pattern.size
    own = np.flatnonzero(case.pattern.rows == case.pattern.cols)
    own = own[np.unique(case.pattern.rows[own], return_index=True)[1]]
    assert len(own) == size
    for factor, ok in ((0.99, True), (1.01, False)):
        values = case.values.copy()
        values[case.pattern.source[own]] -= factor * lowest * np.eye(3)
        assert Cholesky(case.pattern).factor(values).ok is ok


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_never_accepts_what_is_not_a_number(case: Case, poison: float, threads: int) -> None:
    """One bad number anywhere makes the factorization fail instead of hang or pass."""
    cholesky = Cholesky(case.pattern, threads)
    used = case.pattern.source
    for block in used[:: max(1, len(used) // 5)]:
        values = case.values.copy()
        values[block, 1, 1] = poison
        assert not cholesky.factor(values).ok


def test_singular_chain() -> None:
    """A chain held nowhere is singular: refused, or a pivot of the size of rounding is reported."""
    size = 30
    links = np.arange(size - 1)
    rows = np.concatenate([links, links + 1, links + 1])
    cols = np.concatenate([links, links + 1, links])
    values = np.concatenate([np.stack([np.eye(3)] * (2 * size - 2)), np.stack([-np.eye(3)] * (size - 1))])
    report = Cholesky(BlockPattern(size, rows, cols)).factor(values)
    assert not report.ok or report.smallest_ratio < 1e-12


def test_smallest_pivot_ratio() -> None:
    """The reported ratio is the smallest square of diag(L) over diag(A), and its unknown is named."""
    case = CASES["sparse"]
    cholesky = Cholesky(case.pattern)
    report = cholesky.factor(case.values).require()
    unknowns = (3 * cholesky.symbolic.order[:, None] + np.arange(3)).ravel()
    permuted = case.dense[np.ix_(unknowns, unknowns)]
    ratio = np.diag(np.linalg.cholesky(permuted)) ** 2 / np.diag(permuted)
    assert report.smallest_ratio == pytest.approx(ratio.min(), rel=1e-10)
    assert report.smallest_index == unknowns[ratio.argmin()] // 3


def test_running_loop_allocates_nothing() -> None:
    """Factor, solve and condense reuse their work space."""
    case = CASES["block"]
    cholesky = factored(case)
    n = len(case.dense)
    b, out, pair = np.ones(n), np.empty(n), np.ones((n, 2))
    H = random_rows(np.random.default_rng(0), 12, n)
    indptr, indices, W = H.indptr.astype(np.int64), H.indices.astype(np.int64), np.empty((12, 12))

    def step() -> None:
        assert cholesky.factor(case.values).ok
        cholesky.solve_into(b, out)
        cholesky.solve_into(pair, pair)
        cholesky.compliance_into(indptr, indices, H.data, W)

    step()
    tracemalloc.start()
    step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000  # bytes; the smallest work array of a front would be larger


def test_refuses_bad_use() -> None:
    """Wrong shapes, missing factors and foreign columns are refused with a remedy."""
    case = CASES["pair"]
    cholesky = Cholesky(case.pattern)
    with pytest.raises(InputError, match="call factor"):
        cholesky.solve(np.ones(6))
    with pytest.raises(InputError, match="3x3 blocks"):
        cholesky.factor(case.values[:1])
    with pytest.raises(InputError, match="at least 1"):
        Cholesky(case.pattern, threads=0)
    cholesky.factor(case.values).require()
    with pytest.raises(InputError, match="give both as"):
        cholesky.solve(np.ones(7))
    with pytest.raises(InputError, match="contiguous"):
        cholesky.solve_into(np.ones(12)[::2], np.ones(6))
    with pytest.raises(InputError, match="6 columns"):
        cholesky.compliance(sp.csr_matrix(np.ones((1, 7))))
    with pytest.raises(InputError, match="int64"):
        cholesky.compliance_into(np.array([0, 1], np.int32), np.array([0]), np.ones(1), np.ones((1, 1)))
    with pytest.raises(InputError, match="outside the system"):
        cholesky.compliance_into(np.array([0, 1]), np.array([6]), np.ones(1), np.ones((1, 1)))
