"""The guard: whatever comes in, what goes out is a number, within bounds, within rates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import Cable, Corotational, Robot, TetBody, make
from pliant.device import Event, Guard, event_words
from pliant.device.guard import PATIENCE
from pliant.errors import InputError

ANY = st.floats(allow_nan=True, allow_infinity=True)
USUAL = st.floats(-30, 30) | st.sampled_from([10.0, 10.001, 0.0, -0.001, 3.0001, -2.0001])
LOW, HIGH, RATE, SAFE = np.array([0.0, -2.0]), np.array([10.0, 3.0]), np.array([5.0, 0.5]), np.array([1.0, 0.0])

CALLS = st.lists(
    st.tuples(
        st.tuples(ANY | USUAL, ANY | USUAL),
        ANY | st.floats(0, 0.02),
        ANY | st.floats(0, 0.5),
        st.sampled_from(["", "", "", "stop", "release"]),
    ),
    max_size=60,
)


def guard(**options):
    return Guard(LOW, HIGH, RATE, SAFE, **options)


def run(own, wanted, seconds, *, begin=0.0, age=0.0, rate=1000):
    """Ticks of a regular clock; the union of the flags, and the time."""
    flags = 0
    for k in range(1, round(seconds * rate) + 1):
        flags |= own.check(np.asarray(wanted, float), begin + k / rate, age)
    return flags, begin + seconds


@settings(max_examples=400, deadline=None)
@given(CALLS, st.booleans())
def test_nothing_wrong_ever_leaves(calls, running):
    """For any commands, clocks, model ages and stops: finite, in bounds, and no faster than the rates since the latest
    time seen, in each call and in total."""
    own = guard()
    latest, now, first = -np.inf, 0.0, None
    begin = own.command.copy()
    for wanted, clock, age, action in calls:
        if action:
            getattr(own, action)()
        now = now + clock if running and np.isfinite(clock) else clock
        before = own.command.copy()
        flags = own.check(np.array(wanted), now, age)
        assert np.isfinite(own.command).all()
        assert (own.command >= LOW).all()
        assert (own.command <= HIGH).all()
        elapsed = min(max(0.0, now - latest), 1e6) if np.isfinite(now) and np.isfinite(latest) else 0.0
        assert (np.abs(own.command - before) <= RATE * elapsed * (1 + 1e-12) + 1e-14).all()
        if np.isfinite(now) and abs(now) < 1e300:
            latest = max(latest, now)
            first = now if first is None else first
        if first is not None and np.isfinite(latest - first):
            assert (np.abs(own.command - begin) <= RATE * min(latest - first, 1e6) * (1 + 1e-9) + 1e-12).all()
        if not np.isfinite(wanted).all():
            assert flags & Event.NOT_A_NUMBER
        if not flags & ~Event.RECOVERED:
            assert (own.command == wanted).all()


def test_a_good_command_passes_unchanged():
    """Within bounds and rates, on a fresh model: no flag, and the command is what was wanted."""
    own = guard(start=SAFE)
    own.check(SAFE, 0.0, 0.0)
    assert own.check(SAFE + 0.9e-3 * RATE, 1e-3, 0.05) == 0
    assert own.command == pytest.approx(SAFE + 0.9e-3 * RATE, abs=1e-15)


def test_bounds_and_rates_act_at_their_values():
    """A step far beyond the bound moves at exactly the rate and ends exactly at the bound."""
    own = guard()
    run(own, [99.0, -99.0], 1.0)
    assert own.command == pytest.approx([1.0 + 5.0 * 0.999, -0.5 * 0.999])
    flags, _ = run(own, [99.0, -99.0], 5.0, begin=1.0)
    assert own.command.tolist() == [10.0, -2.0]
    assert event_words(flags) == ("bounded", "rate-limited")


def test_a_wish_just_beyond_a_bound_is_cut_to_it():
    """Within the rate of a bound, so that only the bound holds it."""
    own = guard(start=[9.9999, -1.99999])
    own.check([9.9999, -1.99999], 0.0, 0.0)
    assert event_words(own.check([10.0001, -2.00001], 0.001, 0.0)) == ("bounded",)
    assert own.command.tolist() == [10.0, -2.0]


def test_irregular_ticks_get_their_time_and_a_long_pause_only_its_share():
    """Ticks of 1, 7 and 40 ms allow that much change each; after 10 s without a call, one call makes up for 0.1 s."""
    own = guard()
    own.check([10.0, 0.0], 0.0, 0.0)
    now = 0.0
    for dt in (0.001, 0.007, 0.04):
        before = own.command[0]
        now += dt
        own.check([10.0, 0.0], now, 0.0)
        assert own.command[0] - before == pytest.approx(5.0 * dt)
    before = own.command[0]
    own.check([10.0, 0.0], now + 10.0, 0.0)
    assert own.command[0] - before == pytest.approx(0.5)


def test_a_clock_that_swings_does_not_open_the_rate():
    """A thousand swings between two times move the command by no more than the time between them."""
    own = guard()
    for k in range(2000):
        flags = own.check([10.0, 0.0], 0.01 * (k % 2), 0.0)
    assert own.command[0] == pytest.approx(1.0 + 5.0 * 0.01)
    assert flags & Event.RATE_LIMITED
    assert own.check([10.0, 0.0], 0.0, 0.0) & Event.CLOCK


def test_a_clock_that_was_set_back_and_swings_is_never_believed():
    """Behind the latest time and without direction: nothing moves, however long."""
    own = guard()
    run(own, [2.0, 0.0], 1.0, begin=10.0)
    for k in range(5 * PATIENCE):
        assert own.check([8.0, 0.0], 0.05 * (k % 2), 0.0) & Event.CLOCK
    assert own.command[0] == 2.0


def test_a_clock_that_was_set_back_is_believed_in_the_end():
    """An hour back: nothing moves for so many calls, then the guard works as before."""
    own = guard()
    run(own, [2.0, 0.0], 1.0, begin=3600.0)
    before = own.command.copy()
    run(own, [8.0, 0.0], (PATIENCE - 1) / 1000)
    assert (own.command == before).all()
    run(own, [8.0, 0.0], 2.0, begin=1.0)
    assert own.command[0] == 8.0


def test_an_old_model_is_held_then_left_and_recovers():
    """Up to `stale` followed, up to `hold` held, then a ramp of the stated length to safe; a fresh model ends it at once."""
    own = guard(stale=0.1, hold=0.2, ramp=4.0)
    _, now = run(own, [9.0, 1.0], 3.0)
    assert own.check([9.0, 1.0], now, 0.1) == 0
    held = own.command.copy()
    flags, now = run(own, [3.0, 1.0], 0.5, begin=now, age=0.15)
    assert event_words(flags) == ("stale-held",)
    assert (own.command == held).all()
    flags, now = run(own, [3.0, 1.0], 1.0, begin=now, age=0.201)
    assert event_words(flags) == ("ramping",)
    # from bound to bound in 4 s: 2.5 per second, half of what the rate allows; the second row's rate is slower than its ramp
    assert own.command == pytest.approx([9.0 - 2.5, 1.0 - 0.5])
    flags = own.check([9.0, 1.0], now + 0.001, 0.0)
    assert flags & Event.RECOVERED
    assert not flags & Event.RAMPING
    flags, _ = run(own, [9.0, 1.0], 2.0, begin=now + 0.001)
    assert not flags & Event.RECOVERED
    assert own.command == pytest.approx([9.0, 1.0])


@pytest.mark.parametrize("age", [np.nan, np.inf, -np.inf, -5.0])
def test_a_model_of_no_sensible_age_is_old(age):
    """Not a number, for ever, from the future: the command goes to safe."""
    own = guard()
    _, now = run(own, [5.0, 1.0], 2.0)
    run(own, [5.0, 1.0], 5.0, begin=now, age=age)
    assert own.command.tolist() == SAFE.tolist()


def test_what_is_not_a_number_holds_all_rows_then_leaves():
    """One NaN keeps every row where it is; longer than `hold`, they go to safe."""
    own = guard()
    _, now = run(own, [5.0, 1.0], 3.0)
    flags, now = run(own, [6.0, np.nan], 0.19, begin=now)
    assert event_words(flags) == ("not-a-number", "stale-held")
    assert own.command == pytest.approx([5.0, 1.0])
    run(own, [6.0, np.nan], 5.0, begin=now)
    assert own.command.tolist() == SAFE.tolist()


@pytest.mark.parametrize("wanted", [[1.0], [1.0, 2.0, 3.0], "nonsense", [1j, 2j], None, [[1.0, 2.0], [3.0, 4.0]]])
def test_a_command_of_a_wrong_form_is_no_number(wanted):
    """Nothing raises, and nothing moves. (One value for all rows is a form that fits.)"""
    own = guard()
    own.check([5.0, 1.0], 0.0, 0.0)
    before = own.command.copy()
    flags = own.check(wanted, 0.01, 0.0)
    if wanted == [1.0]:
        assert not flags & Event.NOT_A_NUMBER
    else:
        assert flags & Event.NOT_A_NUMBER
        assert (own.command == before).all()


def test_an_emergency_stop_stays_until_released():
    """At the rate to safe, through fresh commands, until `release`; then from there on."""
    own = guard()
    _, now = run(own, [9.0, 1.0], 3.0)
    own.stop()
    flags, now = run(own, [9.0, 1.0], 1.0, begin=now)
    assert event_words(flags) == ("stopped",)
    assert own.command[0] == pytest.approx(9.0 - 5.0)
    _, now = run(own, [9.0, 1.0], 5.0, begin=now)
    assert own.command.tolist() == SAFE.tolist()
    own.release()
    flags = own.check([9.0, 1.0], now + 0.001, 0.0)
    assert flags & Event.RECOVERED
    assert own.command[0] == pytest.approx(1.005)


def test_the_command_stays_the_same_array():
    """No array is made per call."""
    own = guard()
    place = own.command
    for k in range(10):
        own.check([5.0, 1.0], 0.01 * k, 0.0)
    assert own.command is place


def test_limits_of_a_robot():
    """In the order of the actuators; what the robot does not say must be given."""
    mesh = make.box((0.1, 0.02, 0.02), (4, 1, 1))
    robot = Robot(TetBody(mesh, Corotational(E=1e5, nu=0.4), fixed=mesh.where(x_below=0)))
    for name, high in (("one", 10.0), ("two", 20.0)):
        cable = Cable([(0.09, 0.01, 0.015)], pull=(-0.01, 0.01, 0.015))
        robot.actuate(name, cable, effort=(1.0, high), displacement=(-0.01, 0.02), displacement_rate=0.1)
    own = Guard.of_robot(robot, rate=30.0)
    assert own.high.tolist() == [10.0, 20.0]
    assert own.command.tolist() == [1.0, 1.0]
    other = Guard.of_robot(robot, "displacement")
    assert (own.kind, other.kind, Guard([0.0], [1.0], 1.0, 0.0).kind) == ("effort", "displacement", None)
    assert "rows of displacement, stale 0.1 s, hold 0.2 s>" in repr(other)
    assert other.rate.tolist() == [0.1, 0.1]
    assert other.low.tolist() == [-0.01, -0.01]
    with pytest.raises(InputError, match="'one' has no effort_rate"):
        Guard.of_robot(robot)
    with pytest.raises(InputError, match="choose 'effort'"):
        Guard.of_robot(robot, "force", rate=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], [np.inf], 1.0, 0.0), "high of row 0 is inf"),
        (([0.0, 0.0], [1.0, -1.0], 1.0, 0.0), "low is above high in row 1"),
        (([0.0], [1.0], 0.0, 0.0), "rate is not positive"),
        (([0.0], [1.0], np.nan, 0.0), "rate of row 0 is nan"),
        (([0.0], [1.0], 1.0, 2.0), "safe is outside"),
        (([0.0, 0.0], [1.0, 1.0], 1.0, [0.0, 0.0, 0.0]), "safe has 3 rows"),
        (("a", [1.0], 1.0, 0.0), "low is 'a'; give numbers"),
        (([0], [None], 1.0, 0.0), r"high is \[None\]; give numbers"),
        (([0.0], [1.0], "fast", 0.0), "rate is 'fast'"),
        (([0.0], [1.0], 1.0, 1j), "safe is 1j"),
        (([0.0], ["1"], 1.0, 0.0), r"high is \['1'\]"),
        (([], [], 1.0, 0.0), "the guard has no rows"),
    ],
)
def test_bad_limits_are_named(arguments, message):
    """A guard that could not guard is not made."""
    with pytest.raises(InputError, match=message):
        Guard(*arguments)
    with pytest.raises(InputError, match="stale <= hold"):
        Guard([0.0], [1.0], 1.0, 0.0, stale=0.3, hold=0.2)
    with pytest.raises(InputError, match="hold is 'long'"):
        Guard([0.0], [1.0], 1.0, 0.0, hold="long")
    with pytest.raises(InputError, match="robot is 'arm'; give a Robot"):
        Guard.of_robot("arm")
