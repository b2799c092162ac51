"""The heart rate: assemble, factorize, solve and condense a tet body, beside a general sparse solver."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.bench.clock import smallest_times
from pliant.bench.splu import Splu
from pliant.body import TetBody
from pliant.material import Corotational
from pliant.motion import Statics
from pliant.port import Point
from pliant.robot import Robot, State
from pliant.shape import HalfSpace, TetMesh, make, read, solids
from pliant.view import Figure
from pliant.view.figures import bounded

Array = NDArray[np.float64]


def measure(mesh: Path | None = None, *, large: bool = True) -> list[Figure]:
    """All figures: the robot-like mesh, about 5,000 and 20,000 nodes, and the user's own mesh (in millimetres)."""
    figures = _measure_one("fem", four_legs(), seconds=6.0)
    if mesh is not None:
        shape = read(mesh, "mm")
        figures += _measure_one("fem.own", shape if isinstance(shape, TetMesh) else shape.filled(0.006), seconds=6.0)
    if large:
        figures += _measure_one("fem.5k", make.box((0.25, 0.06, 0.035), (50, 12, 7)), seconds=4.0)
        figures += _measure_one("fem.20k", make.box((0.4, 0.12, 0.045), (80, 24, 9)), seconds=4.0)
    return figures


def four_legs() -> TetMesh:
    """A four-legged silicone robot of about 1,600 nodes: a block on bent legs."""
    parts = [solids.box((0.036, 0.036, 0.014), at=(0, 0, 0.06), centered=True)]
    for turn in range(4):
        thigh = solids.box((0.075, 0.013, 0.011), at=(0.045, 0, 0.06), centered=True)
        shin = solids.box((0.011, 0.013, 0.066), at=(0.079, 0, 0.032), centered=True)
        parts += [part.rotated((0, 0, 1), turn * np.pi / 2) for part in (thigh, shin)]
    return solids.union(*parts).filled(0.0058)


def _robot(mesh: TetMesh) -> tuple[Robot, State]:
    """The body held at its lowest 4 %, bent by a part of its weight, with four points (12 rows) to look at."""
    axis = int(np.argmax(mesh.size)) if mesh.size.max() > 2.5 * mesh.size.min() else 2
    held = mesh.where(HalfSpace(mesh.bounds[0] + 0.04 * mesh.size, np.eye(3)[axis]))
    body = TetBody(mesh, Corotational(E=180e3, nu=0.45), fixed=held)
    gravity = 9.81 * np.roll([0.0, 0.6, 0.3], axis)
    robot = Robot(body, gravity=gravity)
    top = np.argsort(mesh.nodes[:, axis])[-40::10]
    robot.sense("points", Point(near=mesh.nodes[top]))
    return robot, Statics(robot, tolerance=1e-6).solve().require().state


def _measure_one(prefix: str, mesh: TetMesh, *, seconds: float) -> list[Figure]:
    robot, state = _robot(mesh)
    equations, loads = robot.equations, robot.loads(state.efforts)
    equations.factor(state.pose, loads).report.require()
    matrix = equations.factor(state.pose, loads).matrix()
    rows = {count: _some_rows(robot, count) for count in (12, 40, 80)}
    reference = Splu(matrix)
    pardiso = _Pardiso.of(matrix)
    body, gradient = robot.bodies[0], np.zeros_like(state.x)
    blocks = np.zeros((len(body.rows), 3, 3))
    two = np.random.default_rng(0).normal(size=(matrix.shape[0], 2))
    out = {count: np.empty((count, count)) for count in rows}

    def assemble() -> None:
        blocks[:] = 0.0
        gradient[:] = 0.0
        body.accumulate(state.x, gradient, blocks, exact=1.0)

    actions: dict[str, Callable[[], object]] = {
        "assemble": assemble,
        "factor": lambda: equations.cholesky.factor(equations.values),
        "solves": lambda: equations.cholesky.solve(two),
        "splu": reference.factor,
        "splu_solves": lambda: reference.lu.solve(two),
        "linearize_condense": lambda: robot.linearize(state),
    }
    for count, (indptr, indices, data, H) in rows.items():
        actions[f"condense{count}"] = _condense(equations.cholesky, indptr, indices, data, out[count])
        actions[f"splu_condense{count}"] = _splu_condense(reference, H)
    if pardiso is not None:
        actions["pardiso"] = pardiso.factor
    times = smallest_times(actions, seconds=seconds, least=2)
    _check_answers(equations, reference, rows[12][3], out[12], two)
    return _figures(prefix, len(mesh.nodes), times)


def _condense(cholesky: Any, indptr: Any, indices: Any, data: Any, out: Array) -> Callable[[], object]:
    return lambda: cholesky.compliance_into(indptr, indices, data, out)


def _splu_condense(reference: Splu, H: Any) -> Callable[[], object]:
    dense = np.ascontiguousarray(H.T.toarray())
    return lambda: H @ reference.lu.solve(dense)


def _figures(prefix: str, nodes: int, times: dict[str, float]) -> list[Figure]:
    source = "bound" if prefix in ("fem", "fem.own") else ""
    milliseconds = {
        "assemble": "fem.assemble_ms", "factor": "factor_ms", "solves": "two_solves_ms", "condense12": "condense12_ms",
        "condense40": "condense40_ms", "condense80": "condense80_ms", "linearize_condense": "linearize_condense_ms",
        "splu": "splu_ms", "splu_condense40": "splu_condense40_ms",
    }  # fmt: skip
    out = [Figure(f"{prefix}.nodes", nodes, "nodes")]
    out += [
        Figure(f"{prefix}.{name.removeprefix('fem.')}", 1e3 * times[key], "ms", better="lower")
        for key, name in milliseconds.items()
    ]
    ratios = [
        ("factor_vs_splu", times["splu"] / times["factor"], 6.0, "higher"),
        ("solves_vs_splu", times["splu_solves"] / times["solves"], None, "higher"),
        ("condense12_vs_splu", times["splu_condense12"] / times["condense12"], None, "higher"),
        ("condense40_vs_splu", times["splu_condense40"] / times["condense40"], 20.0, "higher"),
        ("condense80_vs_splu", times["splu_condense80"] / times["condense80"], None, "higher"),
        ("linearize_condense_over_splu", times["linearize_condense"] / times["splu"], 0.25, "lower"),
    ]
    if "pardiso" in times:
        ratios.append(("factor_over_pardiso", times["factor"] / times["pardiso"], 1.0, "lower"))
    for name, value, bound, better in ratios:
        if source and bound is not None:
            out.append(bounded(f"{prefix}.{name}", value, "x", bound, better, source))  # type: ignore[arg-type]
        else:
            out.append(Figure(f"{prefix}.{name}", value, "x", better=better))  # type: ignore[arg-type]
    out.append(Figure(f"{prefix}.rate", 1 / times["linearize_condense"], "Hz", better="higher"))
    return out


def _some_rows(robot: Robot, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Any]:
    """A sparse H like that of ports: each row on four free nodes next to each other."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(count)
    tets = robot.bodies[0].nodes[:, :4]  # type: ignore[attr-defined]
    plain = robot.equations.assembly.plain[tets]
    free = np.flatnonzero((plain >= 0).all(axis=1))
    chosen = plain[rng.choice(free, count, replace=len(free) < count)]
    indices = (3 * chosen[:, :, None] + np.arange(3)).reshape(-1).astype(np.int64)
    indptr = np.arange(0, 12 * count + 1, 12, dtype=np.int64)
    data = rng.normal(size=12 * count)
    size = 3 * robot.equations.assembly.coordinate_count
    return indptr, indices, data, csr_matrix((data, indices, indptr), shape=(count, size))


def _check_answers(equations: Any, reference: Splu, H: Any, W: Array, b: Array) -> None:
    """A fast wrong answer is not an answer: both solvers must agree before any figure is reported."""
    expected = H @ reference.lu.solve(np.ascontiguousarray(H.T.toarray()))
    if np.abs(W - expected).max() > 1e-6 * np.abs(expected).max():
        raise ArithmeticError("the condensed compliance differs from splu's")
    if (
        np.abs(equations.cholesky.solve(b) - reference.lu.solve(b)).max()
        > 1e-6 * np.abs(b).max() * np.abs(expected).max()
    ):
        raise ArithmeticError("the solutions differ from splu's")


class _Pardiso:
    """MKL Pardiso through pypardiso, where it is installed: the numeric phase alone, one thread."""

    def __init__(self, matrix: Any, module: Any) -> None:
        from scipy.sparse import csr_matrix, triu

        self._upper = csr_matrix(triu(matrix, format="csr"))
        self._solver = module.PyPardisoSolver(mtype=2)
        self._phase(12)

    @classmethod
    def of(cls, matrix: Any) -> _Pardiso | None:
        """The solver, or None without the package."""
        os.environ.setdefault("MKL_NUM_THREADS", "1")  # read when the library is loaded
        try:
            import pypardiso
        except ImportError:
            return None
        return cls(matrix, pypardiso)

    def factor(self) -> None:
        self._phase(22)

    def _phase(self, phase: int) -> None:
        self._solver.set_phase(phase)
        self._solver._call_pardiso(self._upper, np.zeros((self._upper.shape[0], 1)))
