"""What a step of the inverse gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qp import QuadraticSolution
from pliant.control.contact_decision import ContactDecision
from pliant.control.status import DecisionStatus
from pliant.errors import NotConvergedError, PliantError
from pliant.robot import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InverseStep:
    """What `Inverse.step` or `Inverse.solve_pose` decided, and the state after it.

    status           how it ended, a `DecisionStatus`; its value is the explanation with the remedy. `ok` says whether a
                     decision was made, `require()` raises where none was
    state            the robot after the decision: give it to the next step
    efforts          by actuator, in its unit (N, Pa, N m): what a motor is told that takes efforts
    displacements    by actuator, in its unit (m, m^3, rad): what goes with the efforts by the model, for a motor that winds
                     up cable
    error            by effector: where it is minus its target in balance, as the model predicts; `distance` is the norm of all
    unbalanced       by how much forces do not balance at `state`: the largest over the largest load. Up to 0.1 % it is expected
                     from how it was after the last steps, beyond it is looked at
    margin           how far from losing stability the robot is: its smallest pivot over that of the unloaded robot, 0 where it
                     is lost. Where motors hold lengths, how much the effectors yielded at the beginning, nothing held, over how
                     much they do now. NaN where that is not known (a time step). `pliant.stability` is exact
    active           limits that hold the robot back, such as "tendon effort", and "stability" where going on would lose it
    relaxed          limits that contradict each other and were dropped; never those of efforts
    share            part of the way to the decision that was gone, less than 1 where the step was shortened (SLOWED)
    iterations       linearizations
    times            seconds per stage: assemble, ports, factor, condense, decide, update
    compliance       from scaled efforts of the actuators to the effectors, (e, n), None where there is no decision
    rank, condition  of the compliance: a rank below the number of effector rows means that they cannot be moved independently
    solution         the QP's own answer with its residuals
    cause            the error behind FAILED
    contact          of a robot that touches something: the search among pieces, the contacts in each, forces, penetration

    The robot of the example of `Inverse`: what it says when its target is out of reach, and when it is no target at all.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    >>> robot = pl.Robot(body, gravity=(0, 0, -9.81))
    >>> tendon = pl.Cable([(0.01, 0.01, 0.018), (0.09, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018))
    >>> robot.actuate("tendon", tendon, effort=(0, 0.2))  # a weak motor: 0.2 N
    >>> robot.effect("tip", pl.Point(near=(0.1, 0.01, 0.01), axes="z"))
    >>> inverse, state = pl.Inverse(robot), pl.Statics(robot).solve().require().state
    >>> target = robot.displacement(state, "tip") + 0.003
    >>> for _ in range(5):
    ...     step = inverse.step(state, tip=target)
    ...     state = step.state
    >>> step.status.name, step.active, step.efforts["tendon"]
    ('LIMITED', ('tendon effort',), array([0.2]))
    >>> (1e3 * step.error["tip"]).round(1)  # it stays 1.9 mm below
    array([-1.9])
    >>> step = inverse.step(state, tip=float("nan"))
    >>> step.ok, step.status.value
    (False, 'the target or the interval is not a usable number; the last efforts are held')
    """

    status: DecisionStatus
    state: State
    efforts: Mapping[str, Array]
    displacements: Mapping[str, Array]
    error: Mapping[str, Array]
    active: tuple[str, ...] = ()
    relaxed: tuple[str, ...] = ()
    iterations: int = 1
    solution: QuadraticSolution | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    cause: PliantError | None = None
    share: float = 1.0
    compliance: Array | None = None
    unbalanced: float = np.nan
    margin: float = np.nan
    contact: ContactDecision | None = None

    @cached_property
    def _singular(self) -> Array:
        """Singular values of the compliance, from the largest to the smallest."""
        if self.compliance is None:
            return np.array([np.nan])
        return np.asarray(np.linalg.svd(self.compliance, compute_uv=False))

    @property
    def rank(self) -> int:
        """Of the compliance from actuators to effectors."""
        return int((self._singular > 1e-6 * self._singular[0]).sum())

    @property
    def condition(self) -> float:
        """Of the compliance from actuators to effectors: its largest singular value over its smallest."""
        return float(self._singular[0] / self._singular[-1]) if self._singular[-1] != 0 else np.inf

    @property
    def ok(self) -> bool:
        """Whether a decision was made."""
        return self.status.ok

    @property
    def distance(self) -> float:
        """Norm of the error of all effector rows with the robot in balance, in their own units (metres and radians add up as
        they are)."""
        return float(np.sqrt(sum(float(e @ e) for e in self.error.values())))

    def require(self) -> InverseStep:
        """Itself if ok; raises otherwise."""
        if self.ok:
            return self
        if self.cause is not None:
            raise self.cause
        raise NotConvergedError(f"inverse: {self.status.name.lower()}", remedy=self.status.value, result=self)
