"""The far side of a bus obeys one sender, nothing old, and nothing fast, whatever else is on the bus."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from plants import LIMIT, arm_plant
from wires import wired

from pliant.device import BusAddress, BusDrive, DriveStatus, PlantProcess
from pliant.device.frames import MEASUREMENT, RESUME, Message, Reception
from pliant.errors import PliantWarning
from waiting import until

TURN = 0.02
RATE = 20.0


def message(count, seconds):
    out = Message(MEASUREMENT, 0)
    out.seal(count, seconds)
    return out


def follow(drive, server, value, begin, turns, each=lambda k: None):
    """Commands of one value and turns of the server; the motor after each, and the time."""
    motors = []
    for k in range(turns):
        now = begin + TURN * k
        if drive is not None:
            drive.send(np.array([value, 0.0]), now)
        each(k)
        server.turn(now)
        motors.append(server.plant.motors[0])
    return np.array(motors), begin + TURN * turns


@pytest.mark.parametrize("back", [1, 64, 65, 100, 1000, 32767, 40000])
def test_an_old_frame_is_never_believed(back):
    """However far back, as long as the sender speaks: it is late or foreign, and changes nothing."""
    status = DriveStatus()
    reception = Reception(status)
    first = 50000
    for k in range(10):
        assert reception.accept(message(first + k, 100.0 + 0.001 * k), 5.0 + 0.001 * k)
    count, sent = reception.count, reception.time
    old = message((first + 9 - back) % 65536, 100.009 - 0.001 * back)
    assert not reception.accept(old, 5.01)
    assert (reception.count, reception.time, reception.restarts) == (count, sent, 0)
    assert status.late + status.foreign == 1
    assert reception.accept(message(first + 10, 100.01), 5.011)


def test_a_frame_that_waited_here_is_late_not_foreign():
    """The receiver was held up for ten seconds: what waited is too old, which is its own fault, not another sender's; then it
    goes on."""
    status = DriveStatus()
    reception = Reception(status)
    reception.accept(message(0, 100.0), 5.0)
    for k in range(1, 100):
        assert not reception.accept(message(k, 100.0 + 0.001 * k), 15.0, looked=5.0)
    assert (status.late, status.foreign) == (99, 0)
    assert reception.accept(message(9999, 109.999), 15.0, looked=5.0)
    assert (reception.count, reception.restarts) == (9999, 0)


def test_what_waited_before_anybody_looked_does_not_count():
    """The first messages are of unknown age, and the ones behind them were lost: the next is believed, however much younger."""
    status = DriveStatus()
    reception = Reception(status)
    for k in range(100):
        assert reception.accept(message(k, 100.0 + 0.001 * k), 15.0, looked=-np.inf)
    assert reception.accept(message(9999, 109.999), 15.0, looked=-np.inf)
    assert reception.accept(message(10000, 110.0), 15.001, looked=15.0)
    assert not reception.accept(message(10001, 120.0), 15.002, looked=15.001)
    assert (status.foreign, status.late) == (1, 0)


def test_a_new_sender_is_believed_after_silence_only():
    """Another count and another clock: not while the first speaks, nor within half a second after; then at once, and the first
    is the foreign one."""
    status = DriveStatus()
    reception = Reception(status)
    for k in range(100):
        assert reception.accept(message(7000 + k, 10.0 + 0.01 * k), 0.01 * k)
        assert not reception.accept(message(k, 3000.0 + 0.01 * k), 0.01 * k + 0.005)
    assert status.foreign == 100
    assert not reception.accept(message(100, 3001.0), 1.0)
    assert not reception.accept(message(140, 3001.4), 1.4)
    assert reception.accept(message(150, 3001.5), 1.5)
    assert (reception.restarts, reception.count) == (1, 150)
    assert not reception.accept(message(7151, 11.51), 1.51)
    assert reception.accept(message(151, 3001.51), 1.51)


def test_days_do_not_confuse_the_clock():
    """Stamps wrap around after 72 minutes; a message after any pause is taken, and its time is right."""
    reception = Reception(DriveStatus())
    now, sent = 0.0, 1.0
    reception.accept(message(0, sent), now)
    for k, pause in enumerate((10.0, 3000.0, 5000.0, 1e5, 0.01), start=1):
        now, sent = now + pause, sent + pause
        assert reception.accept(message(k, sent), now)
        assert reception.time == pytest.approx(sent, abs=1e-5)
    assert reception.restarts == 0


@pytest.mark.parametrize("back", [30, 100])
def test_a_replayed_command_moves_nothing(back):
    """From 1.8 N to 7 N within the rates, then a frame of the beginning comes once more, as often as one likes."""
    drive, server = wired()
    sent = drive.link.sent
    _, now = follow(drive, server, 1.8, 0.0, back + 20)
    _, now = follow(drive, server, 7.0, now, 5)  # too fast: refused
    assert server.audit.verdict.too_fast == 5
    for k in range(30):
        drive.send(np.array([1.8 + 0.2 * k if k < 26 else 7.0, 0.0]), now + TURN * k)
        server.turn(now + TURN * k)
    now += 30 * TURN
    before = server.plant.motors[0]
    assert before > 6.5
    old = sent[-back - 36]
    assert old.values[0] == np.float32(1.8)
    motors, _ = follow(drive, server, 7.0, now, 20, lambda k: server.link.inbox.append(old))
    assert motors.min() >= before - 1e-9
    assert server.link.status.late + server.link.status.foreign >= 20


def test_a_second_controller_is_told_and_not_obeyed():
    """Its commands are counted by all who see them, and move nothing, even where its count is ahead; it may stop the robot, but
    not resume it; when the first is silent it is obeyed, from rest, at the rates."""
    (first, second), server = wired(controllers=2)
    _, now = follow(first, server, 2.0, 0.0, 30)
    second._sequences = dict.fromkeys(second._sequences, 5000)
    motors, now = follow(first, server, 2.0, now, 50, lambda k: second.send(np.array([7.0, 0.0]), 20.0 + TURN * k))
    assert motors == pytest.approx(2.0, abs=0.02)
    assert server.link.status.foreign == 50
    for _ in range(3):
        first.read()
        second.read()
    assert first.status.foreign == 50
    assert second.status.foreign == 50 + 30
    second.stop()
    motors, now = follow(first, server, 2.0, now, 20)
    assert motors[-1] < 0.01
    second.resume()
    motors, now = follow(first, server, 2.0, now, 20)
    assert motors[-1] < 0.01
    first.resume()
    motors, now = follow(first, server, 2.0, now, 20)
    assert motors[-1] > 1.5
    motors, now = follow(second, server, 7.0, now, 24)
    assert motors.max() < 2.01
    motors, now = follow(second, server, 7.0, now, 60)
    assert motors[-1] > 6.5
    assert np.abs(np.diff(motors)).max() <= RATE * TURN * 1.001
    assert server.audit.verdict.clean


def test_a_rest_is_left_at_the_rates():
    """Commands stay away, the arm rests; when they come again it goes to them no faster than it may, and none is called too
    fast, because its sender has done nothing wrong."""
    drive, server = wired(timeout=0.2)
    _, now = follow(drive, server, 2.0, 0.0, 20)
    follow(drive, server, 7.0, now, 0)
    motors, now = follow(None, server, 0.0, now, 40)
    assert server.timeouts == 1
    assert motors[-1] < 1e-6
    motors, now = follow(drive, server, 2.0, now, 30)
    assert np.abs(np.diff([0.0, *motors])).max() <= RATE * TURN * 1.001
    assert motors[-1] > 1.9
    assert server.audit.verdict.clean


def test_an_old_resume_does_not_end_a_stop():
    """One that was on its way when the stop was said, or that comes once more."""
    drive, server = wired()
    _, now = follow(drive, server, 2.0, 0.0, 20)
    drive.resume()
    old = [message for message in drive.link.sent if message.kind == RESUME]
    drive._repeats = 0
    _, now = follow(drive, server, 2.0, now, 5)
    drive.stop()
    for _ in range(3):
        motors, now = follow(drive, server, 2.0, now, 15, lambda k: server.link.inbox.extend(old))
        assert motors[-1] < 0.7
    assert motors[-1] < 0.01
    drive.resume()
    motors, _ = follow(drive, server, 2.0, now, 30)
    assert motors[-1] > 1.9


def test_our_own_echo_is_no_second_controller():
    """A line that brings back what is sent (RS-485)."""
    drive, _ = wired()
    drive.link.others.append(drive.link)
    for k in range(20):
        drive.send(np.array([1.0, 0.0]), 0.001 * k)
        drive.read()
    drive.stop()
    drive.read()
    assert drive.status.foreign == 0


def test_two_controllers_on_a_real_bus():
    """The plant's process warns of it, once, and its report has the count."""
    address = BusAddress("udp_multicast", "239.74.163.2", (("port", 20000 + (os.getpid() * 4 + 2) % 40000),))
    limits = ([0.0, 0.0], [LIMIT, LIMIT], [RATE, RATE])
    with PlantProcess(arm_plant, address, *limits, interval=0.01) as process:
        with BusDrive(address.link(process.wiring)) as first, BusDrive(address.link(process.wiring)) as second:
            counted = send_in_turns(first, second, lambda: first.status.received > 20)
            assert counted > 0
            with pytest.warns(PliantWarning, match="from a second controller on the bus"):
                until(lambda: process.report().foreign > 10)
        report = process.close()
    assert report.foreign > 10


def send_in_turns(first, second, done):
    """Two controllers at once; how many messages the second saw of the first."""
    begin = time.monotonic()
    while not (done() and second.status.foreign > 20):
        now = time.monotonic()
        assert now < begin + 60.0
        first.send(np.array([1.0, 0.0]), now)
        second.send(np.array([2.0, 0.0]), now)
        first.read()
        second.read()
        time.sleep(0.002)
    return second.status.foreign
