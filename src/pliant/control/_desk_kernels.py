"""What lies on the desk of a decision, and how compiled code picks it up."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from collections import namedtuple

from pliant.algebra._qp_kernels import ActiveSetWork
from pliant.algebra.compiled import inlined, kernel

Asked = namedtuple("Asked", "a e S limited sources turns")
"""Rows of the condensed model: a (n,) of actuators, e (e,) of effectors with weights S (e,); limited (k,): actuators whose
displacement has limits; sources (e, 3) and turns (u,): see `Wanted`."""

Reach = namedtuple("Reach", "limits course effort_rate displacement_rate dropped")
"""Limits (n, 2) of efforts, course (n, 2) of displacements, how fast each may change per second (n,), inf for at once;
dropped (n, 3): which of displacement rate, effort rate and displacement do not count in this decision."""

Course = namedtuple("Course", "goal moved wanted efforts displacements x multipliers pace")
"""What goes on from one decision to the next: the goal (t,), as targets; the efforts and displacements of the actuators
(n,); the QP's answer x (n,) and its multipliers (n + k,). moved (t,): where the goal goes; wanted (e,): what that asks of
the effectors; pace (1,): the largest change of a scaled effort in the last decision, over the largest of them."""

Problem = namedtuple("Problem", "P q A low high scale norms d J")
"""The QP in scaled variables, bounds (n,) before rows (k,) in low and high; scale (n,) and norms (2,) are those of the
whole model, the same for all pieces of one problem; d (m,): displacements without actuation; J (e, n) is work space."""

Holding = namedtuple("Holding", "rows given wanted limits efforts let_go sources inverse gain W free imposed")
"""Rows (h,) whose displacement is given: given as targets, wanted (h,) of the rows, limits (h, 2) and efforts (h,);
let_go (h,): -1 or 1 for a row at the lower or upper limit of its effort; inverse (h, h) of their W, gain (m, h); and the
model that is left when they are held: W (m, m), free (m,); imposed (m,): all efforts but those that hold."""

PARTS = (Asked, Reach, Course, Problem, Holding, ActiveSetWork)
WHOLE = frozenset({"a", "e", "limited", "sources", "turns", "dropped", "rows", "let_go", "side"})
"""Fields of whole numbers."""


@inlined
def _row(values, places, k):
    return values[places[k, 0] : places[k, 0] + places[k, 1]]


@inlined
def _table(values, places, k):
    begin, rows, columns = places[k, 0], places[k, 1], places[k, 2]
    return values[begin : begin + rows * columns].reshape((rows, columns))


@kernel
def lay_out(numbers, whole, places):
    """The parts, in the order of `PARTS`, as views of two arrays; places (fields, 3): begin, rows and columns of each."""
    asked = Asked(
        _row(whole, places, 0), _row(whole, places, 1), _row(numbers, places, 2), _row(whole, places, 3),
        _table(whole, places, 4), _row(whole, places, 5),
    )  # fmt: skip
    reach = Reach(
        _table(numbers, places, 6), _table(numbers, places, 7), _row(numbers, places, 8), _row(numbers, places, 9),
        _table(whole, places, 10),
    )  # fmt: skip
    course = Course(
        _row(numbers, places, 11), _row(numbers, places, 12), _row(numbers, places, 13), _row(numbers, places, 14),
        _row(numbers, places, 15), _row(numbers, places, 16), _row(numbers, places, 17), _row(numbers, places, 18),
    )  # fmt: skip
    problem = Problem(
        _table(numbers, places, 19), _row(numbers, places, 20), _table(numbers, places, 21), _row(numbers, places, 22),
        _row(numbers, places, 23), _row(numbers, places, 24), _row(numbers, places, 25), _row(numbers, places, 26),
        _table(numbers, places, 27),
    )  # fmt: skip
    holding = Holding(
        _row(whole, places, 28), _row(numbers, places, 29), _row(numbers, places, 30), _table(numbers, places, 31),
        _row(numbers, places, 32), _row(whole, places, 33), _table(whole, places, 34), _table(numbers, places, 35),
        _table(numbers, places, 36), _table(numbers, places, 37), _row(numbers, places, 38), _row(numbers, places, 39),
    )  # fmt: skip
    work = ActiveSetWork(
        _row(whole, places, 40), _table(numbers, places, 41), _table(numbers, places, 42), _table(numbers, places, 43)
    )
    return asked, reach, course, problem, holding, work
