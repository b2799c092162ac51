"""Numbers of the trust region, and models of motors that hold displacements, on made-up arrays."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.condensed import Condensed
from pliant.control.footing import room
from pliant.control.hurry import LONGEST, Hurry
from pliant.control.lengths import SOFT, decided_by_length, largest_yield, softest_of
from pliant.control.trail import Trail
from pliant.control.trust import CAREFUL, MISTAKES, PATIENCE, Trust

STEP = np.array([1.0, 0.0])


def test_mistakes_shorten_and_good_steps_lengthen():
    """A mistake leaves a quarter of the step; after it, so many steps with care; then good shortened ones double the radius."""
    trust = Trust(0.1)
    trust.accept(STEP, 1.0, share=1.0, shortened=False, promised=True)
    assert trust.radius == np.inf
    trust.refuse(1.0, 0.01, stability=True, progress=False)
    assert trust.radius == 0.25
    assert trust.stability
    for _ in range(CAREFUL):
        trust.accept(STEP, 0.25, share=0.9, shortened=True, promised=True)
    assert trust.radius == 0.25
    trust.accept(STEP, 0.25, share=0.9, shortened=True, promised=True)
    assert trust.radius == 0.5
    trust.accept(STEP, 0.5, share=0.2, shortened=True, promised=True)
    assert trust.radius == 0.25


def test_mistakes_that_bring_nothing_end_in_rest():
    """Several mistakes in a row without a way gained, or creeping, lead nowhere; other wishes wake it."""
    trust = Trust(0.1)
    trust.accept(STEP, 1.0, share=1.0, shortened=False, promised=True)
    for _ in range(MISTAKES + 1):
        assert not trust.leads_nowhere
        trust.refuse(0.1, 0.05, stability=False, progress=True)
    assert trust.leads_nowhere
    trust.wake(0.2)
    assert trust.radius == 0.2
    assert not trust.leads_nowhere
    for _ in range(PATIENCE + 1):
        trust.accept(STEP, 0.2, share=np.nan, shortened=True, promised=False)
    assert trust.leads_nowhere


def test_mistakes_that_bring_it_closer_do_not():
    """As long as the distance falls by more than next to nothing, it goes on."""
    trust = Trust(0.1)
    trust.accept(STEP, 1.0, share=1.0, shortened=False, promised=True)
    for k in range(6):
        trust.refuse(1.0, 0.05 - 1e-3 * k, stability=False, progress=True)
    assert trust.radius == 0.25


def test_work_that_is_shared_out_back_and_forth_comes_to_rest():
    """Changes of efforts that promise nothing and turn round are halved each time."""
    trust = Trust(0.1)
    for k in range(5):
        trust.accept((-1) ** k * STEP, 1.0 / 2**k, share=np.nan, shortened=False, promised=False)
    assert trust.radius == pytest.approx(0.5 / 2**4)


def test_mistakes_on_the_way_to_other_targets_do_not_count():
    """Three mistakes close to one target and the first on the way to one that is far off: it goes on."""
    trust = Trust(0.1)
    trust.accept(STEP, 1.0, share=1.0, shortened=False, promised=True)
    for _ in range(MISTAKES):
        trust.refuse(0.1, 0.001, stability=False, progress=True)
    trust.redirect()
    trust.refuse(0.1, 0.05, stability=False, progress=True)
    assert not trust.leads_nowhere


def test_a_trail_leads_back_to_the_place_that_was_closest():
    """Along a bent way, asked for a place near its beginning: back to there, in order; where it is as close now, nowhere."""
    trail, way = Trail(0.01), [np.array([0.02 * k, 0.001 * k * k]) for k in range(6)]
    states = [object() for _ in way]
    for state, place in zip(states, way, strict=True):
        trail.add(state, place)
        trail.add(None, place + 0.001)  # too close to be a place of its own
    assert gone_back(trail, way[-1], way[-1] + 0.1) == []
    assert gone_back(trail, way[-1], way[2] + 0.001) == states[:1:-1]
    assert gone_back(trail, way[2], way[2]) == []  # the trail ends before it
    assert gone_back(trail, way[2], way[0]) == states[1::-1]
    assert not trail.returning


def gone_back(trail, effectors, goal, reach=0.0):
    """Places on the way back to where a goal was closest, by steps of such a reach."""
    turned, out = trail.turn_back(effectors, goal), []
    while trail.returning:
        out.append(trail.next_back(reach).state)
    assert turned == bool(out)
    return out


def test_the_way_back_is_gone_by_steps_within_reach():
    trail, way = Trail(0.01), [np.array([0.02 * k]) for k in range(9)]
    for k, place in enumerate(way):
        trail.add(k, place)
    assert gone_back(trail, way[8], way[0], 0.05) == [6, 3, 0]
    trail.add(0, way[0])
    trail.add(1, way[5])
    assert trail.turn_back(way[5] + 0.1, way[0])
    trail.stay()
    assert not trail.returning


def test_a_trail_of_any_length_keeps_its_beginning():
    trail = Trail(0.5)
    for k in range(1000):
        trail.add(k, np.array([float(k)]))
    back = gone_back(trail, np.array([999.0]), np.array([0.0]))
    assert back[-1] == 0
    assert len(back) <= 64
    assert back == sorted(back, reverse=True)


def model_of(W):
    zero = np.zeros(len(W))
    return Condensed(W, zero + 0.1, zero, zero + 1.0, tuple(map(str, range(len(W)))), {})


def test_lengths_decide_by_a_model_that_is_positive_definite(rng):
    """Whatever W of the motors' rows is: no direction is softer than allowed, none is negative, effectors move per length as
    they did, and where all is well the model is itself."""
    rows, others, efforts = np.arange(3), np.arange(3, 5), rng.normal(size=5)
    for _ in range(20):
        A = rng.normal(size=(5, 5)) * np.array([1.0, 1e3, 1e-3, 1.0, 1.0])
        good = model_of(A.T @ A + 1e-12 * np.eye(5))
        softest = softest_of(good, rows)
        assert decided_by_length(good, rows, efforts, softest) is good
        bad = good.W.copy()
        u = rng.normal(size=3) * np.sqrt(np.diag(bad)[rows])
        bad[np.ix_(rows, rows)] -= 3 * SOFT * np.outer(u, u)
        there = decided_by_length(model_of(bad), rows, efforts, softest)
        own = there.W[np.ix_(rows, rows)] / np.outer(softest, softest)
        values = np.linalg.eigvalsh(own)
        assert values[0] > 0
        assert values[-1] <= 1 + 1e-9
        assert there.predicted(efforts) == pytest.approx(model_of(bad).predicted(efforts))
        before = np.linalg.solve(bad[np.ix_(rows, rows)].T, bad[np.ix_(others, rows)].T)
        after = np.linalg.solve(there.W[np.ix_(rows, rows)].T, there.W[np.ix_(others, rows)].T)
        assert after * softest[:, None] == pytest.approx(before * softest[:, None], rel=1e-5, abs=1e-8)


def test_changes_that_shrink_by_a_ratio_are_summed_up():
    """Two changes the same way, each 0.8 times the last: five times the second is all that would come. Not so for changes that
    turn, that grow, or that are small enough already; never beyond what there is room for."""
    way = np.array([3.0, -4.0])
    hurry = Hurry()
    assert hurry.factor(way, np.inf) == 1.0
    assert hurry.factor(0.8 * way, np.inf) == pytest.approx(5.0)
    assert hurry.factor(0.5 * way, np.inf) == 1.0
    assert hurry.factor(0.45 * way, 1.5) == 1.5
    for second, expected in ((0.999 * way, LONGEST), (1.2 * way, 1.0), (0.2 * way, 1.0), (np.array([4.0, 3.0]), 1.0)):
        hurry.forget()
        hurry.factor(way, np.inf)
        assert hurry.factor(second, np.inf) == expected


def test_room_is_what_the_nearest_limit_leaves():
    """Counted in changes; what does not change has room, what is past its limit has none."""
    limits = np.array([[0.0, 1.0], [-2.0, 2.0]])
    assert room(np.array([0.5, 0.0]), np.array([0.1, -1.0]), limits) == pytest.approx(2.0)
    assert room(np.array([0.5, 0.0]), np.array([0.0, 0.0]), limits) == np.inf
    assert room(np.array([1.1, 0.0]), np.array([0.1, 0.0]), limits) == 0.0


def test_the_yield_with_held_rows_is_that_of_the_rest():
    """Springs in a row, 2 m/N and 3 m/N: the end yields by 5, and by 3 with the middle held."""
    W = np.array([[2.0, 2.0], [2.0, 5.0]])
    model = Condensed(W, np.zeros(2), np.zeros(2), np.ones(2), ("middle", "end"), {})
    end, one = np.array([1]), np.ones(1)
    assert largest_yield(model, end, one, np.empty(0, int)) == pytest.approx(5.0)
    assert largest_yield(model, end, one, np.array([0])) == pytest.approx(3.0)
    assert largest_yield(model, end, 2 * one, np.array([0])) == pytest.approx(12.0)
