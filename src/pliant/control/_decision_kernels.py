"""A decision in arrays that are already there: the goal, the QP, its answer."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from typing import Any, NamedTuple

from pliant.algebra._qp_kernels import ActiveSetWork, solve_by_active_set
from pliant.algebra.compiled import inlined, kernel


class Rows(NamedTuple):
    """Which rows of a condensed model do what: a [n] of actuators, e of effectors with weights S; limited: actuators whose
    displacement has limits."""

    a: Any
    e: Any
    S: Any
    limited: Any


class Reach(NamedTuple):
    """Limits [n, 2] of efforts, course [n, 2] of displacements, and how fast each may change per second [n], inf for at
    once."""

    limits: Any
    course: Any
    effort_rate: Any
    displacement_rate: Any


class Problem(NamedTuple):
    """The QP in scaled variables, bounds [n] before rows [k] in low and high; scale [n]; work space d [m], J [e, n]."""

    P: Any
    q: Any
    A: Any
    low: Any
    high: Any
    scale: Any
    d: Any
    J: Any


class Course(NamedTuple):
    """What goes on from one decision to the next: the goal [e], the efforts and displacements of the actuators [n], the QP's
    answer x [n] and its multipliers [n + k]; moved [e] is work space, anywhere [n] is infinite."""

    goal: Any
    moved: Any
    efforts: Any
    displacements: Any
    x: Any
    multipliers: Any
    anywhere: Any


SOLVED, NOT_A_NUMBER, UNSOLVED = 0, 2, 3


def desk_size(n: int, e: int, k: int, m: int) -> int:
    """How many numbers `lay_out` finds places for: n actuators, e effector rows, k limited displacements, m model rows."""
    course, reach = 2 * e + 5 * n + k, 6 * n
    problem, work = n * n + 2 * n + k * n + 2 * (n + k) + m + e * n, n * n + k * k + 3 * (n + k)
    return e + course + reach + problem + work


@inlined
def _row(desk, at, count):
    return desk[at : at + count]


@inlined
def _table(desk, at, rows, columns):
    return desk[at : at + rows * columns].reshape((rows, columns))


@kernel
def lay_out(desk, ids, n, e, k, m):
    """Rows, Course, Reach, Problem and ActiveSetWork as parts of one array of numbers and one of indices."""
    at = 0
    S = _row(desk, at, e)
    at += e
    goal, moved = _row(desk, at, e), _row(desk, at + e, e)
    at += 2 * e
    efforts, displacements, x = _row(desk, at, n), _row(desk, at + n, n), _row(desk, at + 2 * n, n)
    multipliers, anywhere = _row(desk, at + 3 * n, n + k), _row(desk, at + 4 * n + k, n)
    at += 5 * n + k
    limits, course = _table(desk, at, n, 2), _table(desk, at + 2 * n, n, 2)
    effort_rate, displacement_rate = _row(desk, at + 4 * n, n), _row(desk, at + 5 * n, n)
    at += 6 * n
    P, q, A = _table(desk, at, n, n), _row(desk, at + n * n, n), _table(desk, at + n * n + n, k, n)
    at += n * n + n + k * n
    low, high, scale = _row(desk, at, n + k), _row(desk, at + n + k, n + k), _row(desk, at + 2 * (n + k), n)
    at += 2 * (n + k) + n
    d, J = _row(desk, at, m), _table(desk, at + m, e, n)
    at += m + e * n
    L, schur, vectors = (
        _table(desk, at, n, n),
        _table(desk, at + n * n, k, k),
        _table(desk, at + n * n + k * k, 3, n + k),
    )
    return (
        Rows(_row(ids, 0, n), _row(ids, n, e), S, _row(ids, n + e, k)),
        Course(goal, moved, efforts, displacements, x, multipliers, anywhere),
        Reach(limits, course, effort_rate, displacement_rate),
        Problem(P, q, A, low, high, scale, d, J),
        ActiveSetWork(_row(ids, n + e + k, n + k), L, schur, vectors),
    )


@kernel
def decide(W, free, efforts, target, interval, speed, energy, desk, ids, n, e, k, rehearsal):
    """The goal approaches the target, and the efforts and displacements of the actuators become those of the QP's optimum:
    SOLVED, or what kept them as they were. A rehearsal does the work and changes nothing that counts.

    Everything else is on the desk: it takes 6 us to hand over its arrays one by one."""
    rows, course, reach, problem, room = lay_out(desk, ids, n, e, k, free.shape[0])
    goal, moved, now_efforts, now_delta, x, multipliers, anywhere = course
    if not approach(target, speed * interval, goal, moved):
        return NOT_A_NUMBER
    fill_decision(W, free, efforts, moved, energy, now_efforts, now_delta, interval, rows, reach, anywhere, problem)
    possible = True
    for i in range(problem.low.shape[0]):
        possible = possible and problem.low[i] <= problem.high[i]  # not where one is not a number
    solved = possible and solve_by_active_set(
        problem.P, problem.q, problem.A, problem.low, problem.high, x, multipliers, room
    )
    if rehearsal:
        return SOLVED
    for r in range(e):
        goal[r] = moved[r]
    if not solved:
        return UNSOLVED
    take_over(W, rows, problem, x, now_efforts, now_delta)
    return SOLVED


@kernel
def approach(target, reach, goal, moved):
    """moved [e] <- the goal, closer to the target by at most `reach`; False where the target is not a number."""
    distance, number = 0.0, True
    for r in range(goal.shape[0]):
        number = number and abs(target[r]) < math.inf
        distance += (target[r] - goal[r]) ** 2
    if not number:
        return False
    distance = math.sqrt(distance)
    if not distance < math.inf:  # the first one
        for r in range(goal.shape[0]):
            moved[r] = target[r]
        return True
    share = reach / distance if distance > reach else 1.0
    for r in range(goal.shape[0]):
        moved[r] = goal[r] + share * (target[r] - goal[r])
    return True


@kernel
def take_over(W, rows, problem, x, efforts, displacements):
    """The answer x of the QP, rounded into its bounds, as efforts and displacements [n] of the actuators."""
    a, scale, d = rows.a, problem.scale, problem.d
    for i in range(a.shape[0]):
        efforts[i] = min(max(x[i], problem.low[i]), problem.high[i]) * scale[i]
    for i in range(a.shape[0]):
        total = d[a[i]]
        for j in range(a.shape[0]):
            total += W[a[i], a[j]] * efforts[j]
        displacements[i] = total


@kernel
def predict(W, desk, ids, n, e, k, m, predicted):
    """predicted [e] <- where the model says that the decided efforts bring the effectors."""
    rows, course, _, problem, _ = lay_out(desk, ids, n, e, k, m)
    for r in range(e):
        total = problem.d[rows.e[r]]
        for i in range(n):
            total += W[rows.e[r], rows.a[i]] * course.efforts[i]
        predicted[r] = total


@kernel
def fill_decision(W, free, efforts, target, energy, now_efforts, now_delta, interval, rows, reach, trust, problem):
    """See `DecisionProblem.fill`. W [m, m], free and efforts [m]: the condensed model; rates count from now_efforts and
    now_delta [n] over `interval` [s]; trust [n]: how far an effort may go from the model's, inf for anywhere."""
    a, e, S, limited = rows
    limits, course, effort_rate, displacement_rate = reach
    P, q, A, lower, upper, scale, d, J = problem
    n = a.shape[0]
    _without_actuation(W, free, efforts, a, d)
    for i in range(n):
        low, high = _within_reach(limits[i, 0], limits[i, 1], now_efforts[i], effort_rate[i], interval)
        lower[i], upper[i] = _within_reach(low, high, efforts[a[i]], trust[i], 1.0)
        scale[i] = 1.0 if _does_nothing(W[a[i], a[i]], lower[i], upper[i]) else 1.0 / math.sqrt(W[a[i], a[i]])
    tracking, work = _fill_objective(W, a, e, S, target, scale, d, P, q, J)
    weight = 1.0 / max(tracking, 1e-300)
    epsilon = energy * max(tracking, 1e-300) / work
    for i in range(n):
        q[i] *= weight
        for j in range(n):
            P[i, j] = weight * (P[i, j] + epsilon * scale[i] * W[a[i], a[j]] * scale[j])
    for i in range(n):
        if _does_nothing(W[a[i], a[i]], lower[i], upper[i]):  # then it stays as it is
            for j in range(n):
                P[i, j] = P[j, i] = 0.0
            P[i, i], q[i] = 1.0, -efforts[a[i]]
        lower[i] /= scale[i]
        upper[i] /= scale[i]
    for k in range(limited.shape[0]):
        i = limited[k]
        low, high = _within_reach(course[i, 0], course[i, 1], now_delta[i], displacement_rate[i], interval)
        lower[n + k], upper[n + k] = (low - d[a[i]]) * scale[i], (high - d[a[i]]) * scale[i]
        for j in range(n):
            A[k, j] = scale[i] * W[a[i], a[j]] * scale[j]


@kernel
def _without_actuation(W, free, efforts, a, d):
    """d [m]: the displacements with imposed efforts and no actuation."""
    m = free.shape[0]
    for i in range(m):
        d[i] = free[i]
    for j in range(m):
        actuated = False
        for k in range(a.shape[0]):
            actuated = actuated or a[k] == j
        if not actuated and efforts[j] != 0.0:
            for i in range(m):
                d[i] += W[i, j] * efforts[j]


@kernel
def _fill_objective(W, a, e, S, target, scale, d, P, q, J):
    """P <- J^T J and q <- J^T S (d_e - target) with J = S W_ea scale; returns the norms of P and of the scaled W_aa."""
    n = a.shape[0]
    tracking, work = 0.0, 0.0
    for i in range(n):
        q[i] = 0.0
        for r in range(e.shape[0]):
            J[r, i] = S[r] * W[e[r], a[i]] * scale[i]
            q[i] += J[r, i] * S[r] * (d[e[r]] - target[r])
    for i in range(n):
        for j in range(n):
            total = 0.0
            for r in range(e.shape[0]):
                total += J[r, i] * J[r, j]
            P[i, j] = total
            tracking += total * total
            work += (scale[i] * W[a[i], a[j]] * scale[j]) ** 2
    return math.sqrt(tracking), max(math.sqrt(work), 1e-300)


@inlined
def _does_nothing(compliance, low, high):
    """Whether an effort has no work to do between its limits (a modulus without strain): less than 1e-24 J."""
    return not compliance > 0.0 or compliance * (high - low) ** 2 < 1e-24


@inlined
def _within_reach(low, high, now, rate, interval):
    """Limits cut to what can be reached from `now`; a limit already passed is approached, not jumped to."""
    if rate == math.inf:
        return low, high
    reach = rate * interval
    first = min(max(low, now - reach), max(now, low))
    first = min(first, now + reach)
    last = max(min(high, now + reach), now - reach)
    return first, max(last, first)
