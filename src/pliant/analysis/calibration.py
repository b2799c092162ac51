"""From what sensors of bending said to what they feel (koehler2023, section VI).

A device goes through all corners of its motors' angles in random order, and what its sensors say is written down beside the
angles. A model of it goes to the same angles; rotations alpha of sections under a sensor, about the motor's axis and as seen
from the base, are candidates for what the sensor feels:

    v = c_0 + sum c_i alpha_i,    at most three coefficients, c_0 among them

Which ones is found exactly, by all subsets (`best_subset`), or by the paper's square-root lasso with refit (`l1_path`, eq. 14
with c_0 left free). The residual is what the sensor is to be believed to: its standard deviation weighs it in an `Observer`.

Table in, model file out: columns are the model's actuators [rad, m ...] and the sensors, in whatever unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.qp import QuadraticProgram, solve_qp
from pliant.analysis.table import Table
from pliant.checks import as_numbers, number, one_of, whole
from pliant.errors import FileError, InputError, NotConvergedError
from pliant.motion import Statics
from pliant.port import Flex
from pliant.robot import Robot, Role

Array = NDArray[np.float64]
Method = Literal["best", "l1"]

MOST = 3
"""Coefficients, the constant counted."""
DOUBT = 1.3
"""How much more sensors err in use than on the course that they were calibrated on: hands bend rods otherwise than motors do,
and hysteresis is there to stay. Measured on the simulated haptic device."""
GAMMAS = 30
"""Weights of the path of the lasso."""


@dataclass(frozen=True)
class Candidates:
    """What a sensor may feel: rotations of sections (names of parts) of a body about an axis (3,), as seen from a base."""

    sections: tuple[str, ...]
    axis: tuple[float, float, float]
    base: str | None
    body: str | None = None


class Fit(NamedTuple):
    """Coefficients (n,), zero where a candidate is not used, the constant, and residuals (m,) predicted - said."""

    coefficients: Array
    offset: float
    residuals: Array

    @property
    def used(self) -> tuple[int, ...]:
        """Numbers of the candidates that are used."""
        return tuple(np.flatnonzero(self.coefficients).tolist())


@dataclass(frozen=True)
class Strip:
    """A calibrated sensor: coefficients by section [unit/rad] and the constant [unit]; its axis, base and body; error: mean
    absolute residual, and deviation: their root mean square, in its unit; span: of what it said in the calibration."""

    parts: dict[str, float]
    offset: float
    axis: tuple[float, float, float]
    base: str | None
    body: str | None
    error: float
    deviation: float
    span: float
    unit: str = ""

    @property
    def share(self) -> float:
        """The mean absolute residual as a share of the sensor's range."""
        return self.error / self.span

    def port(self) -> Flex:
        """The sensor as a port for the model that it was calibrated with."""
        return Flex(self.parts, axis=self.axis, base=self.base, offset=self.offset, unit=self.unit)


@dataclass(frozen=True)
class Calibration:
    """Calibrated sensors by name."""

    strips: dict[str, Strip]

    def ports(self) -> dict[str, Flex]:
        """All of them, for `robot.sense`."""
        return {name: strip.port() for name, strip in self.strips.items()}

    def deviations(self, doubt: float = DOUBT) -> dict[str, float]:
        """Standard deviations of what they say, by name, in their units: what calibration left, and more by a factor
        `doubt`."""
        return {name: doubt * strip.deviation for name, strip in self.strips.items()}

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a model file (JSON)."""
        file = Path(path)
        told = {name: asdict(strip) for name, strip in self.strips.items()}
        file.write_text(json.dumps({"pliant": "calibration", "sensors": told}, indent=1) + "\n")
        return file

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Calibration:
        """Read what `save` wrote."""
        file = Path(path)
        if not file.is_file():
            raise FileError(f"there is no model file {file}", remedy="make one: pliant calibrate", path=file)
        try:
            told = json.loads(file.read_text())["sensors"]
            strips = {str(name): Strip(**own | {"axis": tuple(own["axis"])}) for name, own in told.items()}
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FileError(
                f"{file} is no calibration ({error})", remedy="make one: pliant calibrate", path=file
            ) from error
        return cls(strips)


def corners(low: ArrayLike, high: ArrayLike, *, speed: float, seed: int = 0) -> tuple[Array, Array]:
    """Times (k,) [s] and places (k, n) of a course through every combination of low and high (n,) in random order, from the
    middle, straight in between; speed: of the motor that has the longest way, per second."""
    lower, upper = np.broadcast_arrays(as_numbers(low), as_numbers(high))
    if lower.ndim != 1 or not (lower < upper).all() or not np.isfinite(upper - lower).all():
        raise InputError(f"low is {low}, high is {high}", remedy="give finite numbers, low < high, one per motor")
    if len(lower) > 16:
        raise InputError(f"{len(lower)} motors have 2^{len(lower)} corners", remedy="give those of at most 16")
    speed = number(speed, "speed", above=0.0)
    bits = (np.arange(2 ** len(lower))[:, None] >> np.arange(len(lower))) & 1
    np.random.default_rng(whole(seed, "seed", least=0)).shuffle(bits)
    places = np.vstack([0.5 * (lower + upper), np.where(bits == 1, upper, lower)])
    ways = np.abs(np.diff(places, axis=0)).max(axis=1) / speed
    return np.concatenate([[0.0], np.cumsum(ways)]), places


def predicted_rotations(robot: Robot, table: Table, candidates: Mapping[str, Candidates]) -> dict[str, Array]:
    """Rotations (m, n) [rad] of every sensor's candidates in the model, with its motors where the rows of the table say."""
    motors = robot.named(Role.ACTUATOR)
    roles: dict[str, Role | None] = dict.fromkeys(robot.named(Role.SENSOR))
    model = robot.with_roles(roles | dict.fromkeys(motors, Role.HELD))
    for name, own in candidates.items():
        for section in own.sections:
            model.sense(f"{name}:{section}", Flex({section: 1.0}, axis=own.axis, base=own.base), body=own.body)
    statics, state = Statics(model), None
    out = {name: np.empty((len(table), len(own.sections))) for name, own in candidates.items()}
    for k in range(len(table)):
        for motor in motors:
            model.set_displacement(motor, table[motor][k])
        found = statics.solve(state)
        if not found.ok:
            raise NotConvergedError(
                f"row {k} of the table has no equilibrium in the model", remedy="look at its angles"
            )
        state = found.state
        for name, own in candidates.items():
            out[name][k] = [model.displacement(state, f"{name}:{section}")[0] for section in own.sections]
    return out


def calibrate(
    robot: Robot,
    table: Table,
    candidates: Mapping[str, Candidates],
    *,
    method: Method = "best",
    most: int = MOST,
    unit: str = "",
    rotations: Mapping[str, Array] | None = None,
) -> Calibration:
    """Every sensor's coefficients from recorded data of a device.

    robot: a model of it; table: columns of its actuators' displacements and of what the sensors said; candidates: by sensor;
    method: "best" subset or the paper's "l1" path; most: coefficients at most; unit: of the sensors; rotations: those of
    `predicted_rotations`, where they are known already."""
    fit = {"best": best_subset, "l1": l1_path}[one_of(method, "method", ("best", "l1"))]
    known = predicted_rotations(robot, table, candidates) if rotations is None else rotations
    strips = {}
    for name, own in candidates.items():
        said = table[name]
        span = float(np.ptp(said)) if len(said) else 0.0
        if not (np.isfinite(said).all() and span > 0):
            raise InputError(f"{name!r} says nothing, or no numbers", remedy="look at its column in the table")
        found = fit(known[name], said, most)
        parts = {own.sections[k]: float(found.coefficients[k]) for k in found.used}
        if not parts:
            raise InputError(f"no section explains {name!r}", remedy="look at where it sits, or at its wires")
        error, deviation = np.abs(found.residuals).mean(), np.sqrt((found.residuals**2).mean())
        strips[name] = Strip(
            parts, found.offset, own.axis, own.base, own.body, float(error), float(deviation), span, unit
        )
    return Calibration(strips)


def best_subset(A: Array, v: Array, most: int = MOST) -> Fit:
    """The least squares of v (m,) on at most `most` columns of A (m, n) and a constant, which counts: by all subsets.

    >>> alpha = np.random.default_rng(0).normal(size=(50, 4))
    >>> best_subset(alpha, 3.0 * alpha[:, 2] - alpha[:, 0] + 5.0).used
    (0, 2)
    """
    full = np.column_stack([np.ones(len(A)), A])
    best: tuple[int, ...] = (0,)
    least = np.inf
    for columns in _subsets(full.shape[1], most):
        rest = _squares_left(full[:, columns], v)
        if rest < least * (1 - 1e-12):
            best, least = columns, rest
    return _refit(full, v, best)


def _subsets(count: int, most: int) -> Iterator[tuple[int, ...]]:
    """All subsets of so many columns, small ones first."""
    for size in range(1, min(most, count) + 1):
        yield from combinations(range(count), size)


def _squares_left(X: Array, v: Array) -> float:
    c, *_ = np.linalg.lstsq(X, v, rcond=None)
    return float(((X @ c - v) ** 2).sum())


def _refit(full: Array, v: Array, columns: Sequence[int]) -> Fit:
    """Least squares on some of the columns, the first of which is the constant (koehler2023, eq. 15)."""
    c = np.zeros(full.shape[1])
    c[list(columns)] = np.linalg.lstsq(full[:, list(columns)], v, rcond=None)[0]
    return Fit(c[1:], float(c[0]), full @ c - v)


def l1_path(A: Array, v: Array, most: int = MOST) -> Fit:
    """The paper's way: min |A c + c_0 - v| + gamma |c|_1 over a range of gamma says which columns count, least squares on these
    what they are; of all with at most `most` coefficients the best."""
    full = np.column_stack([np.ones(len(A)), A])
    best = _refit(full, v, (0,))
    top = _gamma_of_nothing(A, v)
    for gamma in np.geomspace(top, 1e-4 * top, GAMMAS):
        c = square_root_lasso(A, v, float(gamma))
        used = np.flatnonzero(np.abs(c) > 1e-6 * np.abs(c).max(initial=1e-300))
        if 1 <= len(used) < most:
            found = _refit(full, v, (0, *(used + 1)))
            if (found.residuals**2).sum() < (best.residuals**2).sum():
                best = found
    return best


def _gamma_of_nothing(A: Array, v: Array) -> float:
    """The weight from which on no column counts."""
    a, b = A - A.mean(axis=0), v - v.mean()
    return float(np.abs(a.T @ b).max() / max(np.linalg.norm(b), 1e-300))


def square_root_lasso(A: Array, v: Array, gamma: float, *, rounds: int = 60) -> Array:
    """c (n,) of min |a c - b| + gamma |c|_1, a and b without their means (which is c_0 left free): koehler2023, eq. 14.

    |r| = min over s of |r|^2 / (2 s) + s / 2, so lassos 1/2 |a c - b|^2 + gamma s |c|_1 with s = |a c - b| in turns; each is
    a QP in c = p - m, p and m not negative."""
    a, b = A - A.mean(axis=0), v - v.mean()
    G, t, n = a.T @ a, a.T @ b, A.shape[1]
    scale = max(float(np.trace(G)) / n, 1e-300)
    P = np.block([[G, -G], [-G, G]]) / scale + 1e-10 * np.eye(2 * n)
    zero, endless = np.zeros(2 * n), np.full(2 * n, np.inf)
    c, size = np.zeros(n), float(np.linalg.norm(b))
    for _ in range(rounds):
        q = (np.concatenate([-t, t]) + gamma * size) / scale
        found = solve_qp(QuadraticProgram(P, q, zero, endless))
        if not found.ok:
            raise NotConvergedError("the lasso has no answer", remedy="use method='best'")
        c = found.x[:n] - found.x[n:]
        last, size = size, float(np.linalg.norm(a @ c - b))
        if abs(size - last) <= 1e-9 * max(last, 1e-300):
            break
    return np.asarray(c)
