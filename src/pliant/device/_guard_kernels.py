"""The guard's decision for one command."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel

BOUNDED, RATE_LIMITED, NOT_A_NUMBER, HELD, RAMPING, STOPPED, RECOVERED, CLOCK = 1, 2, 4, 8, 16, 32, 64, 128
LATEST, PREVIOUS, BEHIND, INVALID, TROUBLED, BEGUN = 0, 1, 2, 3, 4, 5
"""Places of the memory: latest time accepted and time of the previous call [s], calls in a row on a clock that runs behind
the latest time, seconds without a command that is a number, whether the last call did not follow, whether there was a call."""


OPTIONS, MEMORY = 4, 6
"""How many options and places of memory there are."""


def block_size(rows: int) -> int:
    """Numbers in a guard's block: low, high, rate, ramp_rate, safe, command, options, memory, and room for a rehearsal."""
    return 7 * rows + OPTIONS + 2 * MEMORY


@kernel
def guard_block(wanted, block, n, now, model_age, stopped, rehearsal):
    """`guard_command` with everything but the question in one array (see `block_size`); returns the flags, and the command
    [n]. A rehearsal does the work and changes nothing."""
    low, high, rate, ramp_rate, safe = (
        block[:n],
        block[n : 2 * n],
        block[2 * n : 3 * n],
        block[3 * n : 4 * n],
        block[4 * n : 5 * n],
    )
    command, at = block[5 * n : 6 * n], 6 * n
    options, memory = block[at : at + OPTIONS], block[at + OPTIONS : at + OPTIONS + MEMORY]
    if rehearsal:
        at += OPTIONS + MEMORY
        spare_memory, spare_command = block[at : at + MEMORY], block[at + MEMORY : at + MEMORY + n]
        spare_memory[:] = memory
        spare_command[:] = command
        memory, command = spare_memory, spare_command
    flags = guard_command(wanted, low, high, rate, ramp_rate, safe, now, model_age, options, stopped, memory, command)
    return flags, command


@kernel
def guard_command(wanted, low, high, rate, ramp_rate, safe, now, model_age, options, stopped, memory, command):
    """Move `command` [n] towards what is wanted [n], or keep it, or towards `safe` [n]; returns the flags.

    options: stale, hold, longest [s] and patience [calls]; memory [6]: see above. The command moves by at most
    rate * min(elapsed, longest), elapsed = now - latest where that is positive, and stays within low and high.
    """
    flags = 0
    stale, hold, longest, patience = options[0], options[1], options[2], options[3]
    passed = 0.0
    if not abs(now) < 1e300:
        flags |= CLOCK
    elif memory[BEGUN] == 0.0:
        memory[BEGUN] = 1.0
        memory[LATEST] = now
        memory[PREVIOUS] = now
    elif now >= memory[LATEST]:
        passed = now - memory[LATEST]
        memory[LATEST] = now
        memory[PREVIOUS] = now
        memory[BEHIND] = 0.0
    else:
        flags |= CLOCK
        memory[BEHIND] = memory[BEHIND] + 1.0 if now > memory[PREVIOUS] else 0.0
        memory[PREVIOUS] = now
        if memory[BEHIND] >= patience:
            memory[LATEST] = now
            memory[BEHIND] = 0.0

    elapsed = min(passed, longest)

    n = command.shape[0]
    number = True
    for i in range(n):
        if not abs(wanted[i]) < 1e300:
            number = False
    if number:
        memory[INVALID] = 0.0
    else:
        flags |= NOT_A_NUMBER
        memory[INVALID] += passed

    # a model from the future is as suspicious as an old one; comparisons are such that a NaN is old
    age = abs(model_age)
    to_safe = stopped or not age <= hold or not memory[INVALID] <= hold
    if stopped:
        flags |= STOPPED
    elif to_safe:
        flags |= RAMPING
    elif not number or not age <= stale:
        flags |= HELD

    following = flags & (STOPPED | RAMPING | HELD) == 0
    if following:
        if memory[TROUBLED] != 0.0:
            flags |= RECOVERED
        memory[TROUBLED] = 0.0
    else:
        memory[TROUBLED] = 1.0
    if flags & HELD:
        return flags

    for i in range(n):
        goal = safe[i] if to_safe else wanted[i]
        if goal < low[i] or goal > high[i]:
            flags |= BOUNDED
            goal = min(max(goal, low[i]), high[i])
        speed = rate[i]
        if flags & RAMPING and ramp_rate[i] < speed:
            speed = ramp_rate[i]
        most = speed * elapsed
        change = goal - command[i]
        if abs(change) <= most:
            command[i] = goal
            continue
        if following:
            flags |= RATE_LIMITED
        moved = command[i] + (most if change > 0.0 else -most)
        command[i] = min(max(moved, low[i]), high[i])
    return flags
