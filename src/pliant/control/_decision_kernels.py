"""A decision in arrays that are already there: rows that are held, the QP, its answer."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra._qp_kernels import solve_by_active_set
from pliant.algebra.compiled import inlined, kernel
from pliant.control._desk_kernels import lay_out

SOLVED, UNSOLVED = 0, 3

INDEPENDENT = 1e-10
"""Smallest square of a pivot, of rows scaled to compliance 1, that tells them from rows that do the same."""


@kernel
def decide(W, free, efforts, trust, interval, energy, numbers, whole, places, rehearsal):
    """The efforts and displacements of the actuators become those of the QP's optimum for what is wanted: SOLVED, or UNSOLVED,
    and they stay as they were. A rehearsal does the work and changes nothing that counts.

    W (m, m), free and efforts (m,): the condensed model; trust (n,): how far an effort may go from the model's; interval [s]:
    for rates, negative for none. Everything else is on the desk.
    """
    asked, reach, course, problem, holding, work = lay_out(numbers, whole, places)
    if not invert_held(W, holding):
        return UNSOLVED
    hold(W, free, efforts, holding)
    left_W, left_free = (holding.W, holding.free) if holding.rows.shape[0] else (W, free)
    fill(W, left_W, left_free, efforts, trust, interval, energy, asked, reach, course, problem, holding)
    possible = True
    for i in range(problem.low.shape[0]):
        possible = possible and problem.low[i] <= problem.high[i]  # not where one is not a number
    solved = possible and solve_by_active_set(
        problem.P, problem.q, problem.A, problem.low, problem.high, course.x, course.multipliers, work
    )
    if rehearsal:
        return SOLVED
    if not solved or not agrees(W, free, asked, course, problem, holding):
        return UNSOLVED
    take_over(W, left_W, asked, course, problem, holding)
    return SOLVED


@kernel
def fill(W, left_W, left_free, efforts, trust, interval, energy, asked, reach, course, problem, holding):
    """The QP for what is wanted. left_W, left_free: the model with what is given held; W: the whole one, by which variables and
    objective are scaled and work is weighed, so that objectives of two pieces of one problem can be compared."""
    a, limited, n = asked.a, asked.limited, asked.a.shape[0]
    P, q, A, lower, upper, scale, norms, d, _ = problem
    _without_actuation(left_W, left_free, efforts, asked, holding, d)
    for i in range(n):
        rate = math.inf if interval < 0.0 or reach.dropped[i, 1] else reach.effort_rate[i]
        low, high = _within_reach(reach.limits[i, 0], reach.limits[i, 1], course.efforts[i], rate, interval)
        lower[i], upper[i] = _within_reach(low, high, efforts[a[i]], trust[i], 1.0)
        scale[i] = 1.0 if _does_nothing(W[a[i], a[i]], lower[i], upper[i]) else 1.0 / math.sqrt(W[a[i], a[i]])
    _set_norms(W, asked, scale, norms)
    _fill_objective(left_W, asked, course, problem)
    weight = 1.0 / norms[0]
    epsilon = energy * norms[0] / norms[1]
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
        low, high = _course(reach, i, course.displacements[i], interval)
        lower[n + k], upper[n + k] = (low - d[a[i]]) * scale[i], (high - d[a[i]]) * scale[i]
        for j in range(n):
            A[k, j] = scale[i] * left_W[a[i], a[j]] * scale[j]


@kernel
def _course(reach, i, now, interval):
    """How far an actuator may go: its displacement limits and its rate. Where it was pushed past a limit, it may stay there."""
    low, high = reach.course[i, 0], reach.course[i, 1]
    if reach.dropped[i, 2]:
        low, high = -math.inf, math.inf
    low, high = min(low, now), max(high, now)
    if interval < 0.0 or reach.dropped[i, 0] or reach.displacement_rate[i] == math.inf:
        return low, high
    way = reach.displacement_rate[i] * interval
    return max(low, now - way), min(high, now + way)


@kernel
def _without_actuation(W, free, efforts, asked, holding, d):
    """d (m,): the displacements with imposed efforts and no actuation."""
    m, imposed = free.shape[0], holding.imposed
    for i in range(m):
        d[i] = free[i]
        imposed[i] = efforts[i]
    for k in range(holding.rows.shape[0]):
        side = holding.let_go[k]
        imposed[holding.rows[k]] = 0.0 if side == 0 else holding.limits[k, 0] if side < 0 else holding.limits[k, 1]
    for k in range(asked.a.shape[0]):
        imposed[asked.a[k]] = 0.0
    for j in range(m):
        if imposed[j] != 0.0:
            for i in range(m):
                d[i] += W[i, j] * imposed[j]


@kernel
def _set_norms(W, asked, scale, norms):
    """norms <- those of J^T J with J = S W_ea scale, and of the scaled W_aa: of the whole model."""
    a, e, S, n = asked.a, asked.e, asked.S, asked.a.shape[0]
    tracking, work = 0.0, 0.0
    for i in range(n):
        for j in range(n):
            total = 0.0
            for r in range(e.shape[0]):
                total += S[r] * S[r] * W[e[r], a[i]] * W[e[r], a[j]]
            tracking += (total * scale[i] * scale[j]) ** 2
            work += (scale[i] * W[a[i], a[j]] * scale[j]) ** 2
    norms[0], norms[1] = max(math.sqrt(tracking), 1e-300), max(math.sqrt(work), 1e-300)


@kernel
def _fill_objective(W, asked, course, problem):
    """P <- J^T J and q <- J^T S (d_e - wanted) with J = S W_ea scale."""
    a, e, S, n = asked.a, asked.e, asked.S, asked.a.shape[0]
    P, q, J, d, scale, wanted = problem.P, problem.q, problem.J, problem.d, problem.scale, course.wanted
    for i in range(n):
        q[i] = 0.0
        for r in range(e.shape[0]):
            J[r, i] = S[r] * W[e[r], a[i]] * scale[i]
            q[i] += J[r, i] * S[r] * (d[e[r]] - wanted[r])
    for i in range(n):
        for j in range(n):
            total = 0.0
            for r in range(e.shape[0]):
                total += J[r, i] * J[r, j]
            P[i, j] = total


@kernel
def invert_held(W, holding):
    """inverse <- that of W over the rows that are held and not let go; False where some of them do the same."""
    rows, let_go, inverse = holding.rows, holding.let_go, holding.inverse
    h = rows.shape[0]
    for i in range(h):
        for j in range(h):
            inverse[i, j] = 0.0
    # Gauss and Jordan on the rows that are held, scaled; symmetric and positive definite, so no pivoting
    for i in range(h):
        for j in range(h):
            if let_go[i] == 0 and let_go[j] == 0:
                inverse[i, j] = W[rows[i], rows[j]] / math.sqrt(W[rows[i], rows[i]] * W[rows[j], rows[j]])
    for k in range(h):
        if let_go[k] != 0:
            continue
        pivot = inverse[k, k]
        if not pivot > INDEPENDENT:
            return False
        inverse[k, k] = 1.0
        for j in range(h):
            inverse[k, j] /= pivot
        for i in range(h):
            if i != k and let_go[i] == 0:
                factor = inverse[i, k]
                inverse[i, k] = 0.0
                for j in range(h):
                    inverse[i, j] -= factor * inverse[k, j]
    for i in range(h):
        for j in range(h):
            if let_go[i] == 0 and let_go[j] == 0:
                inverse[i, j] /= math.sqrt(W[rows[i], rows[i]] * W[rows[j], rows[j]])
    return True


@kernel
def hold(W, free, efforts, holding):
    """What is left of the model when rows keep their given displacement d, by whatever effort it takes:
    W - G W_h^T and free + G (d - free_h), with G = W_h W_hh^-1."""
    rows, let_go, gain, left, left_free = holding.rows, holding.let_go, holding.gain, holding.W, holding.free
    h, m = rows.shape[0], free.shape[0]
    if h == 0:
        return
    for i in range(m):
        for k in range(h):
            total = 0.0
            for j in range(h):
                total += W[i, rows[j]] * holding.inverse[j, k]
            gain[i, k] = total
    for i in range(m):
        left_free[i] = free[i]
        for k in range(h):
            if let_go[k] == 0:
                left_free[i] += gain[i, k] * (holding.wanted[k] - free[rows[k]])
        for j in range(m):
            total = W[i, j]
            for k in range(h):
                total -= gain[i, k] * W[j, rows[k]]
            left[i, j] = total
    for k in range(h):
        if let_go[k] == 0:
            for i in range(m):
                left[i, rows[k]] = left[rows[k], i] = 0.0


@kernel
def agrees(W, free, asked, course, problem, holding):
    """Whether the rows that are held are so within their limits, and those let go want to be: with the QP's answer. Puts the
    efforts of the held rows down, and in let_go which would have to be let go instead."""
    rows, let_go, limits, imposed = holding.rows, holding.let_go, holding.limits, holding.imposed
    h, m, n = rows.shape[0], free.shape[0], asked.a.shape[0]
    if h == 0:
        return True
    for i in range(n):
        imposed[asked.a[i]] = min(max(course.x[i], problem.low[i]), problem.high[i]) * problem.scale[i]
    for k in range(h):  # what is missing without the held rows
        total = holding.wanted[k] - free[rows[k]]
        for j in range(m):
            total -= W[rows[k], j] * imposed[j]
        holding.efforts[k] = total
    for k in range(h):
        if let_go[k] == 0:
            total = 0.0
            for j in range(h):
                total += holding.inverse[k, j] * holding.efforts[j]
            holding.gain[0, k] = total  # the gain has done its work
        else:
            holding.gain[0, k] = limits[k, 0] if let_go[k] < 0 else limits[k, 1]
    for k in range(h):
        holding.efforts[k] = holding.gain[0, k]
        if let_go[k] == 0:
            imposed[rows[k]] = holding.efforts[k]
    same = True
    for k in range(h):
        side, small = let_go[k], 1e-9 * max(abs(holding.efforts[k]), 1e-300)
        if let_go[k] == 0:
            if holding.efforts[k] < limits[k, 0] - small:
                side = -1
            elif holding.efforts[k] > limits[k, 1] + small:
                side = 1
        else:
            short = free[rows[k]] - holding.wanted[k]
            for j in range(m):
                short += W[rows[k], j] * imposed[j]
            if (let_go[k] < 0 and short < 0.0) or (let_go[k] > 0 and short > 0.0):
                side = 0
        same = same and side == let_go[k]
        let_go[k] = side
    return same


@kernel
def take_over(W, left_W, asked, course, problem, holding):
    """The answer x of the QP, rounded into its bounds, as efforts and displacements (n,) of the actuators."""
    a, scale, d, efforts = asked.a, problem.scale, problem.d, course.efforts
    for i in range(a.shape[0]):
        efforts[i] = min(max(course.x[i], problem.low[i]), problem.high[i]) * scale[i]
    for i in range(a.shape[0]):
        total = d[a[i]]
        for j in range(a.shape[0]):
            total += left_W[a[i], a[j]] * efforts[j]
        course.displacements[i] = total
    for k in range(holding.rows.shape[0]):
        holding.efforts[k] = min(max(holding.efforts[k], holding.limits[k, 0]), holding.limits[k, 1])


@kernel
def predict(W, numbers, whole, places, predicted):
    """predicted (e,) <- where the model says that the decided efforts bring the effectors."""
    asked, _, course, problem, holding, _ = lay_out(numbers, whole, places)
    left = holding.W if holding.rows.shape[0] else W
    for r in range(asked.e.shape[0]):
        total = problem.d[asked.e[r]]
        for i in range(asked.a.shape[0]):
            total += left[asked.e[r], asked.a[i]] * course.efforts[i]
        predicted[r] = total


@inlined
def _does_nothing(compliance, low, high):
    """Whether an effort has no work to do between its limits (a modulus without strain): less than 1e-24 J."""
    return not compliance > 0.0 or compliance * (high - low) ** 2 < 1e-24


@inlined
def _within_reach(low, high, now, rate, interval):
    """Limits of an effort cut to what can be reached from `now`; one already passed is approached, not jumped to."""
    if rate == math.inf:
        return low, high
    reach = rate * interval
    first = min(max(low, now - reach), max(now, low))
    first = min(first, now + reach)
    last = max(min(high, now + reach), now - reach)
    return first, max(last, first)
