"""QPs with complementarity against the exact answer, on random problems of 1 to 8 contacts and 1 to 6 actuators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra.qpcc import Qpcc, QpccSolution, Search, solve_qpcc
from pliant.view import Figure
from pliant.view.figures import bounded

SAME = 1e-7
"""Objectives that differ by less, relative to the larger of 1 and their own, are the same."""
PER_FAMILY = 70


@dataclass(frozen=True)
class Family:
    """Problems of one kind: rows per contact (1: no friction), coefficient of a cone (infinite: none), whether actuators have
    limits, and whether two contacts are the same."""

    rows: int
    mu: float = np.inf
    limited: bool = False
    doubled: bool = False

    @property
    def name(self) -> str:
        """In words."""
        kind = "frictionless" if self.rows == 1 else "sticking" if self.mu == np.inf else "cone"
        return kind + (", limits" if self.limited else "") + (", doubled" if self.doubled else "")


FAMILIES = tuple(
    Family(rows, mu, limited, doubled)
    for rows, mu in ((1, np.inf), (3, np.inf), (3, 0.6))
    for limited in (False, True)
    for doubled in (False, True)
)


def random_problem(family: Family, rng: np.random.Generator) -> Qpcc:
    """One of a family: compliances of random rows in a space in which the effectors are, too."""
    contacts, actuators, effectors = int(rng.integers(1, 9)), int(rng.integers(1, 7)), int(rng.integers(1, 5))
    size, count = family.rows, actuators + family.rows * contacts
    H, d = rng.normal(size=(count, count + 4)) / np.sqrt(count + 4), rng.normal(size=count)
    if family.doubled and contacts > 1:
        first, second = (slice(actuators + k * size, actuators + (k + 1) * size) for k in (0, 1))
        H[second], d[second] = H[first], d[first]
    low, high, course = np.full(count, -np.inf), np.full(count, np.inf), np.tile([-np.inf, np.inf], (actuators, 1))
    low[actuators::size] = 0.0
    if family.limited:
        low[:actuators], high[:actuators] = 0.0, 2.0
        course = d[:actuators, None] + np.array([-1.5, 1.5])
    J = rng.normal(size=(effectors, count + 4)) @ H.T
    return Qpcc(
        H @ H.T, d, J, 2.0 * rng.normal(size=effectors), low, high, course, np.full(contacts, size),
        np.full(contacts, family.mu), energy=1e-3
    )  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """Of one family: problems with an answer, the share that is solved exactly, the worst gap over the objective at the start
    (that of the answer where the start has none), the worst violation, QPs on average, and answers worse than their start."""

    count: int
    share: float
    gap: float
    violation: float
    qps: float
    worse: int


def judged(family: Family, search: Search, count: int = PER_FAMILY, seed: int = 5) -> Judged:
    """A search beside the exact one."""
    rng, gaps, found = np.random.default_rng(seed), [], []
    for _ in range(count):
        problem = random_problem(family, rng)
        now = np.zeros(len(problem.course))
        exact = solve_qpcc(problem, now, search="exact")
        if exact.ok:
            found.append(solve_qpcc(problem, now, search=search))
            gaps.append(_gap(found[-1], exact))
    return Judged(
        len(found), float(np.mean([gap <= SAME for gap in gaps])), max(gaps),
        max((one.violation for one in found if one.ok), default=0.0), float(np.mean([one.qps for one in found])),
        sum(one.value > one.start * (1 + 1e-12) for one in found if one.ok)
    )  # fmt: skip


def _gap(found: QpccSolution, exact: QpccSolution) -> float:
    """By how much an answer is above the exact one, over the objective at the start."""
    if not found.ok:
        return np.inf
    gap = found.value - exact.value
    if abs(gap) <= SAME * max(1.0, abs(exact.value)):
        return 0.0
    return gap / (found.start if found.start < np.inf else max(abs(found.value), abs(exact.value)))


def measure() -> list[Figure]:
    """Shares that are solved exactly, over all families of a kind, and the worst violation."""
    figures, worst, worst_gap = [], 0.0, 0.0
    for kind, rows, least in (("frictionless", 1, 0.99), ("sticking", 3, 0.95)):
        for search in ("flips", "paper"):
            of_kind = [judged(family, search) for family in FAMILIES if family.rows == rows]
            total = sum(one.count for one in of_kind)
            share = sum(one.share * one.count for one in of_kind) / total
            if search == "flips":
                worst = max(worst, *(one.violation for one in of_kind))
                worst_gap = max(worst_gap, *(one.gap for one in of_kind))
                figures.append(bounded(f"qpcc.exact_share_{kind}", share, "", least, "higher", "bound"))
                figures.append(Figure(f"qpcc.qps_{kind}", sum(o.qps * o.count for o in of_kind) / total, "QPs"))
            else:
                figures.append(Figure(f"qpcc.paper_share_{kind}", share, ""))
    figures.append(bounded("qpcc.worst_gap", worst_gap, "", 0.15, "lower", "bound"))
    figures.append(bounded("qpcc.worst_violation", worst, "", 1e-8, "lower", "bound"))
    return figures
