"""A decision in arrays that are already there: rows that are held, the QP, its answer."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra._qp_kernels import INDEPENDENT, solve_by_active_set
from pliant.algebra.compiled import inlined, kernel
from pliant.control._desk_kernels import lay_out

SOLVED, UNSOLVED = 0, 3


@kernel
def decide(W, free, efforts, trust, interval, energy, numbers, whole, places, rehearsal):
    """The efforts and displacements of the actuators become those of the QP's optimum for what is wanted: SOLVED, or UNSOLVED,
    and they stay as they were. A rehearsal does the work and changes nothing that counts.

    W (m, m), free and efforts (m,): the condensed model; trust (n,): how far an effort may go from the model's; interval [s]:
    for rates, negative for none. Everything else is on the desk.
    """
    asked, reach, course, problem, holding, work = lay_out(numbers, whole, places)
    reach.dropped[:] = 0
    if not invert_held(W, holding):
        return UNSOLVED
    hold(W, free, holding)
    fill(W, efforts, trust, interval, energy, asked, reach, course, problem, holding)
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
    take_over(asked, course, problem, holding)
    return SOLVED


@kernel
def fill(W, efforts, trust, interval, energy, asked, reach, course, problem, holding):
    """The QP for what is wanted, by the model that is left with what is given held. W: the whole one, by which variables and
    objective are scaled and work is weighed, so that objectives of two pieces of one problem can be compared."""
    a, limited, n = asked.a, asked.limited, asked.a.shape[0]
    P, q, A, lower, upper, scale, norms, d, J = problem
    _without_actuation(efforts, asked, holding, d)
    for i in range(n):
        rate = math.inf if interval < 0.0 or reach.dropped[i, 1] else reach.effort_rate[i]
        low, high = _within_reach(reach.limits[i, 0], reach.limits[i, 1], course.efforts[i], rate, interval)
        lower[i], upper[i] = _within_reach(low, high, efforts[a[i]], trust[i], 1.0)
        scale[i] = 1.0 if _does_nothing(W[a[i], a[i]], lower[i], upper[i]) else 1.0 / math.sqrt(abs(W[a[i], a[i]]))
    definite = _is_definite(W, a, scale, P)
    norms[0], norms[1] = _fill_tracking(W, asked, scale, J, P), 0.0
    for i in range(n):
        for j in range(n):
            norms[1] += _work(W, a, scale, definite, i, j) ** 2
    norms[1] = max(math.sqrt(norms[1]), 1e-300)
    _fill_tracking(holding.W, asked, scale, J, P)
    weight = 1.0 / norms[0]
    epsilon = energy * norms[0] / norms[1]
    for i in range(n):
        q[i] = 0.0
        for r in range(asked.e.shape[0]):
            q[i] += weight * J[r, i] * asked.S[r] * (d[asked.e[r]] - course.wanted[r])
        for j in range(n):
            work = _work(W, a, scale, definite, i, j)
            P[i, j] = weight * (P[i, j] + epsilon * work)
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
            A[k, j] = scale[i] * holding.W[a[i], a[j]] * scale[j]


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
def _without_actuation(efforts, asked, holding, d):
    """d (m,): the displacements with imposed efforts and no actuation."""
    imposed = holding.imposed
    imposed[:], d[:] = efforts, holding.free
    for k in range(holding.rows.shape[0]):
        side = holding.let_go[k]
        imposed[holding.rows[k]] = 0.0 if side == 0 else holding.limits[k, 0] if side < 0 else holding.limits[k, 1]
    for k in range(asked.a.shape[0]):
        imposed[asked.a[k]] = 0.0
    for j in range(d.shape[0]):
        if imposed[j] != 0.0:
            for i in range(d.shape[0]):
                d[i] += holding.W[i, j] * imposed[j]


@kernel
def _fill_tracking(W, asked, scale, J, P):
    """J <- S W_ea scale and P <- J^T J; the norm of P."""
    a, e, n, square = asked.a, asked.e, asked.a.shape[0], 0.0
    for i in range(n):
        for r in range(e.shape[0]):
            J[r, i] = asked.S[r] * W[e[r], a[i]] * scale[i]
    for i in range(n):
        for j in range(n):
            P[i, j] = 0.0
            for r in range(e.shape[0]):
                P[i, j] += J[r, i] * J[r, j]
            square += P[i, j] ** 2
    return max(math.sqrt(square), 1e-300)


@kernel
def invert_held(W, holding):
    """inverse <- that of W over the rows that are held and not let go; False where some of them do the same."""
    rows, let_go, inverse = holding.rows, holding.let_go, holding.inverse
    h = rows.shape[0]
    inverse[:] = 0.0
    # Gauss and Jordan on the rows that are held, scaled; symmetric and positive definite, so no pivoting
    for i in range(h):
        for j in range(h):
            if let_go[i] == 0 and let_go[j] == 0:
                inverse[i, j] = W[rows[i], rows[j]] / math.sqrt(abs(W[rows[i], rows[i]] * W[rows[j], rows[j]]))
    for k in range(h):
        if let_go[k] != 0:
            continue
        pivot = inverse[k, k]
        if not abs(pivot) > INDEPENDENT:
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
                inverse[i, j] /= math.sqrt(abs(W[rows[i], rows[i]] * W[rows[j], rows[j]]))
    return True


@kernel
def hold(W, free, holding):
    """What is left of the model when rows keep their given displacement d, by whatever effort it takes:
    W - G W_h^T and free + G (d - free_h), with G = W_h W_hh^-1."""
    rows, let_go, gain, left, left_free = holding.rows, holding.let_go, holding.gain, holding.W, holding.free
    h, m = rows.shape[0], free.shape[0]
    left[:], left_free[:] = W, free
    for i in range(m):
        for k in range(h):
            gain[i, k] = 0.0
            for j in range(h):
                gain[i, k] += W[i, rows[j]] * holding.inverse[j, k]
        for k in range(h):
            if let_go[k] == 0:
                left_free[i] += gain[i, k] * (holding.wanted[k] - free[rows[k]])
            for j in range(m):
                left[i, j] -= gain[i, k] * W[j, rows[k]]
    for k in range(h):
        if let_go[k] == 0:
            left[:, rows[k]] = 0.0
            left[rows[k], :] = 0.0


@kernel
def agrees(W, free, asked, course, problem, holding):
    """Whether the rows that are held are so within their limits, and those let go want to be: with the QP's answer, rounded
    into its bounds. Puts all efforts down, and in let_go which rows would have to be let go instead."""
    rows, let_go, limits, imposed = holding.rows, holding.let_go, holding.limits, holding.imposed
    h, m = rows.shape[0], free.shape[0]
    for i in range(asked.a.shape[0]):
        imposed[asked.a[i]] = min(max(course.x[i], problem.low[i]), problem.high[i]) * problem.scale[i]
    for k in range(h):
        holding.efforts[k] = imposed[rows[k]]
        if let_go[k] == 0:  # W_hh^-1 (d - free_h) - G^T lambda
            for j in range(h):
                holding.efforts[k] += holding.inverse[k, j] * (holding.wanted[j] - free[rows[j]])
            for i in range(m):
                holding.efforts[k] -= holding.gain[i, k] * imposed[i]
    for k in range(h):
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
def take_over(asked, course, problem, holding):
    """The answer of the QP as efforts and displacements (n,) of the actuators."""
    a, left, n, most, change = asked.a, holding.W, asked.a.shape[0], 1e-300, 0.0
    for i in range(n):
        change = max(change, abs(holding.imposed[a[i]] - course.efforts[i]) / problem.scale[i])
        most = max(most, abs(holding.imposed[a[i]]) / problem.scale[i])
        course.efforts[i] = holding.imposed[a[i]]
    course.pace[0] = change / most
    for i in range(n):
        course.displacements[i] = problem.d[a[i]]
        for j in range(n):
            course.displacements[i] += left[a[i], a[j]] * course.efforts[j]
    for k in range(holding.rows.shape[0]):
        holding.efforts[k] = min(max(holding.efforts[k], holding.limits[k, 0]), holding.limits[k, 1])


@kernel
def predict(numbers, whole, places, predicted):
    """predicted (e,) <- where the model of the last decision says that its efforts bring the effectors."""
    asked, _, course, problem, holding, _ = lay_out(numbers, whole, places)
    for r in range(asked.e.shape[0]):
        predicted[r] = problem.d[asked.e[r]]
        for i in range(asked.a.shape[0]):
            predicted[r] += holding.W[asked.e[r], asked.a[i]] * course.efforts[i]


@inlined
def _work(W, a, scale, definite, i, j):
    """The work of two scaled efforts on each other; past a limit point, where W is indefinite, that of each on its own."""
    return scale[i] * W[a[i], a[j]] * scale[j] if definite else (1.0 if i == j else 0.0)


@kernel
def _is_definite(W, a, scale, L):
    """Whether W over the actuators is positive definite, by its Cholesky factor in L (n, n)."""
    for j in range(a.shape[0]):
        for i in range(j, a.shape[0]):
            L[i, j] = scale[i] * W[a[i], a[j]] * scale[j]
            for k in range(j):
                L[i, j] -= L[i, k] * L[j, k]
            if i == j:
                if not L[j, j] > -1e-9:
                    return False
                L[j, j] = math.sqrt(max(L[j, j], 1e-12))
            else:
                L[i, j] /= L[j, j]
    return True


@inlined
def _does_nothing(compliance, low, high):
    """Whether an effort has no work to do between its limits (a modulus without strain): less than 1e-24 J."""
    return not abs(compliance) > 0.0 or abs(compliance) * (high - low) ** 2 < 1e-24


@inlined
def _within_reach(low, high, now, rate, interval):
    """Limits of an effort cut to what can be reached from `now`; one already passed is approached, not jumped to."""
    if rate == math.inf:
        return low, high
    reach = rate * interval
    return min(max(low, now - reach), now + reach), max(min(high, now + reach), now - reach)
