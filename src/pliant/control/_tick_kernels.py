"""One period of the control loop: the newest model and target give a command that may leave."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.control._decision_kernels import UNSOLVED, decide, lay_out
from pliant.device._guard_kernels import guard_block

VERDICTS = 8
"""The verdict is the result modulo this; the guard's flags are the rest."""


@kernel
def tick(
    model, head, m, target, now, interval, speed, energy, desk, ids, n, e, k, guard, stopped, by_displacement, rehearsal
):  # fmt: skip
    """Decide and guard at once: verdict + 8 flags. Where the QP needs the other solver (UNSOLVED), nothing is guarded yet.

    model: a record of `model_record` as numbers, the matrix after `head` of them, the stamp first; desk, ids: of the
    controller; guard: the guard's block. A command that the guard changed is what the next decision goes on from.
    """
    at = head
    W = model[at : at + m * m].reshape((m, m))
    free, efforts = model[at + m * m : at + m * m + m], model[at + m * m + 2 * m : at + m * m + 3 * m]
    verdict = decide(W, free, efforts, target, interval, speed, energy, desk, ids, n, e, k, rehearsal)
    if verdict == UNSOLVED:
        return verdict
    course = lay_out(desk, ids, n, e, k, m)[1]
    wanted = course.displacements if by_displacement else course.efforts
    flags, command = guard_block(wanted, guard, n, now, now - model[0], stopped, rehearsal)
    if flags and not rehearsal:
        for i in range(n):
            wanted[i] = command[i]
    return verdict + VERDICTS * flags
