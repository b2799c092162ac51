"""Natural frequencies and mode shapes about a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Tangent
from pliant.errors import InputError, NotPositiveDefiniteError
from pliant.robot import Robot, Role, State
from pliant.robot.diagnosis import diagnosis
from pliant.robot.equations import require_tangent
from pliant.robot.factored import Factored
from pliant.robot.time_step import TimeStep

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Modes:
    """Natural frequencies [Hz], ascending, [k], and mode shapes on the nodes, [k, n, 3], with unit modal mass."""

    frequencies: Array
    shapes: Array


def natural_modes(robot: Robot, count: int = 6, state: State | None = None, *, tangent: Tangent = "exact") -> Modes:
    """The lowest undamped modes K_t phi = (2 pi f)^2 M phi about a state (default: at rest, without its loads), by shift and
    invert.

    About a loaded equilibrium the exact tangent includes the stiffening or softening by the load. The mass matrix is the
    bodies' own; with rigid parts it is pulled back to their coordinates like the stiffness. Ports whose displacement is given
    hold it (H phi = 0), unless their effort is at its limit: a taut cable holds its length, a slack one holds nothing.
    What nothing holds has six modes, or fewer, of frequency 0: its free motions.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> beam = pl.TetBody(mesh, pl.Linear(E=300e3, nu=0.3), density=1100, fixed=mesh.where(x_below=0), order=2)
    >>> modes = pl.natural_modes(pl.Robot(beam), 2)
    >>> modes.frequencies.round(1)  # [Hz]; Euler and Bernoulli's beam, which does not shear, has 5.3
    array([5.2, 5.2])
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    state = _unloaded(robot) if state is None else state
    robot.require_fits(state)
    require_tangent(tangent)
    equations = robot.equations
    assembly = equations.assembly
    size = 3 * assembly.coordinate_count
    if not (isinstance(count, (int, np.integer)) and 1 <= count < size - 1):
        raise InputError(f"{count!r} modes of {size} coordinates", remedy=f"ask for 1 to {size - 2}")
    found, shift = _factored_with_shift(robot, state, tangent)

    def times_mass(u: Array) -> Array:
        momentum = equations.momentum(assembly.motion_of_nodes(found.T, u))
        return found.on_coordinates(momentum).reshape(-1)

    M = LinearOperator((size, size), matvec=times_mass, dtype=float)
    K = LinearOperator((size, size), matvec=lambda u: u, dtype=float)  # known by its inverse alone
    inverse = LinearOperator((size, size), matvec=_inverse_that_holds(robot, state, found), dtype=float)
    start = np.random.default_rng(0).normal(size=size)
    squares, vectors = eigsh(K, k=int(count), M=M, sigma=-shift, OPinv=inverse, v0=start)
    if squares.min() < -1e-4 * shift:
        raise _unstable(f"grows by exp({np.sqrt(-squares.min()):.3g} t)")
    shapes = np.array([assembly.motion_of_nodes(found.T, np.ascontiguousarray(column)) for column in vectors.T])
    return Modes(np.sqrt(np.where(squares < 1e-4 * shift, 0.0, squares)) / (2 * np.pi), shapes)


def _unstable(how: str) -> NotPositiveDefiniteError:
    return NotPositiveDefiniteError(
        f"about this state a motion {how}: it is not stable",
        remedy="ask for modes about a stable equilibrium, or use tangent='warped'",
    )


def _factored_with_shift(robot: Robot, state: State, tangent: Tangent) -> tuple[Factored, float]:
    """K, or M + K / s where K alone is singular, factorized; and the shift s [1/s^2], 0 where none is needed. Negative
    eigenvalues of K do no harm where held rows account for them."""
    equations, loads = robot.equations, robot.loads(state.efforts)
    robot.require_untouched("modes", "ask for those of a robot that touches nothing")
    for name in robot.named(Role.HELD):
        if robot.ports[name].compliance.any():
            raise InputError(f"{name!r} is held by springs, which modes do not know", remedy="set its compliance to 0")
    found = equations.factor(state.pose, loads, tangent=tangent, signed=True)
    if found.report.usable and (found.report.ok or found.report.is_trusted):
        return found, 0.0
    shift = small_shift(robot, state)
    undamped = np.zeros((equations.assembly.body_slices[-1].stop, 3, 3))
    step = TimeStep.of(state, 1 / np.sqrt(shift), "euler")
    found = equations.factor(state.pose, loads, tangent=tangent, step=step, damping=undamped)
    if not found.report.ok:
        raise diagnosis(found)
    return found, shift


def small_shift(robot: Robot, state: State) -> float:
    """A square of a frequency [1/s^2] that is small beside that of the lowest elastic one, which is estimated from that of a
    uniform swelling: free motions have none at all."""
    swelling = state.x - state.x.mean(axis=0)
    force = np.zeros_like(swelling)
    for name, body in zip(robot.body_names, robot.bodies, strict=True):
        own = robot.nodes_of(name)
        force[own] = (body.stiffness(state.x[own], "warped") @ swelling[own].ravel()).reshape(-1, 3)
    return 1e-4 * float(np.vdot(swelling, force) / np.vdot(swelling, robot.equations.momentum(swelling)))


def _unloaded(robot: Robot) -> State:
    """The robot at rest; efforts that would bend it from there are none. Held ports hold what they hold."""
    state = robot.rest()
    efforts = state.efforts.copy()
    for name in (*robot.named(Role.IMPOSED), *robot.named(Role.ACTUATOR)):
        efforts[robot.ports[name].rows] = 0.0
    return replace(state, efforts=efforts)


def _inverse_that_holds(robot: Robot, state: State, found: Factored) -> Callable[[Array], Array]:
    """b -> u with (K + s M) u + H^T mu = b, H u = 0, H being the rows of held ports that hold, by a factorization (of K, or
    with a shift s of M + K / s): the solution without them less its part along them."""
    equations = robot.equations
    forces = []
    for name in robot.named(Role.HELD):
        mounted = robot.ports[name]
        for row, (low, high) in enumerate(mounted.able):
            if low < state.efforts[mounted.rows][row] < high:
                unit = np.zeros_like(state.efforts)
                unit[mounted.rows.start + row] = 1.0
                forces.append(found.on_coordinates(equations.port_force(found.placed, unit)).reshape(-1))
    H = np.array(forces).reshape(len(forces), 3 * equations.assembly.coordinate_count)
    Y = np.array([equations.cholesky.solve(row) for row in H]).reshape(H.shape)
    if found.report.negatives > np.count_nonzero(np.linalg.eigvalsh(H @ Y.T) < 0.0):
        raise _unstable("grows by itself")

    def inverse(b: Array) -> Array:
        u = found.scale * np.asarray(equations.cholesky.solve(np.ascontiguousarray(b)))
        return np.asarray(u - Y.T @ np.linalg.solve(H @ Y.T, H @ u)) if len(H) else u

    return inverse
