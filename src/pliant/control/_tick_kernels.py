"""One period of the control loop: the newest model and target give a command that may leave."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.control._decision_kernels import SOLVED, UNSOLVED, decide
from pliant.control._desk_kernels import lay_out
from pliant.control._goal_kernels import approach, ask
from pliant.device._guard_kernels import guard_block

HELD, STILL = 2, 7
"""Codes of the status: no usable target; solved, and nothing moves any more."""
STATUSES = 8
"""The code of the status is the result modulo this; the guard's flags are the rest."""
SLOWEST = 1e-6
"""Efforts that change by less than this share of the largest do not move any more."""


@kernel
def tick(
    model, at, m, target, now, interval, speed, lever, energy, numbers, whole, places, guard, stopped, by_displacement,
    rehearsal
):  # fmt: skip
    """Approach, decide and guard at once: code of the status + 8 flags. Where the decision takes the long way (UNSOLVED),
    nothing is guarded yet.

    model: a record of `model_record` as numbers, the stamp first, the others where `at` (5,) says; numbers, whole, places: the
    desk; guard: the guard's block. A command that the guard changed is what the next decision goes on from.
    """
    asked, _, course, _, holding, _ = lay_out(numbers, whole, places)
    n = asked.a.shape[0]
    W = model[at[0] : at[0] + m * m].reshape((m, m))
    free, efforts = model[at[1] : at[1] + m], model[at[2] : at[2] + m]
    references, trust = model[at[3] : at[4]], model[at[4] : at[4] + n]
    status = HELD
    if approach(target, speed * interval, lever, asked.turns, course.goal, course.moved):
        ask(course.moved, references, asked.sources, course.wanted)
        ask(holding.given, references, holding.sources, holding.wanted)
        if not rehearsal:
            course.goal[:] = course.moved
        status = decide(W, free, efforts, trust, interval, energy, numbers, whole, places, rehearsal)
        if status == UNSOLVED:
            return status
        if status == SOLVED and course.pace[0] <= SLOWEST:
            status = STILL
    wanted = course.displacements if by_displacement else course.efforts
    flags, command = guard_block(wanted, guard, n, now, now - model[0], stopped, rehearsal)
    if flags and not rehearsal:
        for i in range(n):
            wanted[i] = command[i]
    return status + STATUSES * flags
