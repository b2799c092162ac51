"""The whole controller with a plant in another process behind a bus: what happens on the way does no harm."""

from __future__ import annotations

import os
import signal
import time
from collections import deque

import numpy as np
import pytest
from two_rate_robots import arm, bus_plant, near, play

from pliant.control import Correction, LoopLog, TwoRates
from pliant.device import BusAddress, BusDrive, Event, PlantProcess, read_recording
from pliant.device.frames import MEASUREMENT
from pliant.device.link import Link

pytest.importorskip("can")
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("two rates on a bus"),  # they share a controller
]

RATE = 400.0
DELAY = 0.008


class BadLink(Link):
    """A link that loses a share of all messages, in both directions, keeps commands back for up to `DELAY`, and can turn
    measurements into what is no number."""

    def __init__(self, link: Link, share: float) -> None:
        super().__init__(link.wiring)
        self.status = link.status
        self._link, self._share = link, share
        self._random = np.random.default_rng(1)
        self._waiting: deque[tuple[float, object, np.ndarray, int, float]] = deque()
        self.numbers = True
        self.dropped = 0

    def _lose(self) -> bool:
        lost = self._random.random() < self._share
        self.dropped += lost
        return lost

    def send(self, message, sequence, seconds):
        if not self._lose():
            due = time.monotonic() + DELAY * self._random.random()
            due = max(due, self._waiting[-1][0]) if self._waiting else due
            self._waiting.append((due, message, message.values.copy(), sequence, seconds))
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, waiting, values, number, stamp = self._waiting.popleft()
            now = waiting.values.copy()
            waiting.values[:] = values
            self._link.send(waiting, number, stamp)
            waiting.values[:] = now
        return True

    def receive(self):
        message = self._link.receive()
        while message is not None and message.kind == MEASUREMENT and self._lose():
            message = self._link.receive()
        if message is not None and message.kind == MEASUREMENT and not self.numbers:
            message.values[:] = np.nan
        return message

    def close(self):
        self._link.close()


@pytest.fixture(scope="module")
def controller():
    """At a set rate of models: it also lives beside tests that do not use it, and must leave them the machine."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=20) as made:
        yield made


@pytest.fixture(scope="module")
def target():
    return near(0.0, 0.006, 0.004)


def address(offset):
    return BusAddress("udp_multicast", "239.74.163.2", (("port", 20000 + (os.getpid() * 4 + offset) % 40000),))


def plant_on(bus, controller):
    guard = controller.guard
    return PlantProcess(bus_plant, bus, guard.low, guard.high, guard.rate, interval=0.005)


def near_enough(controller, target):
    """Whether the tip was measured where it should be; along the arm it cannot move."""
    return np.linalg.norm((controller.measured.values - target)[1:]) < 0.5e-3


def test_lost_late_and_absurd_messages_do_no_harm(controller, target, tmp_path):
    """A tenth of all messages lost, commands up to 8 ms late, measurements that are no numbers for half a second: the loop
    goes on, what arrives keeps bounds and rates, the tip arrives, and the recording has it all."""
    bus = address(0)
    with plant_on(bus, controller) as process:
        link = BadLink(bus.link(process.wiring), 0.1)
        correction = Correction(3, gain=2.0, limit=0.004)
        with BusDrive(link) as drive, LoopLog(tmp_path / "bad.mcap", controller) as log:

            def acts():
                yield lambda: drive.status.sent > RATE
                link.numbers = False
                yield lambda: drive.status.sent > 1.5 * RATE and np.isnan(controller.measured.values).all()
                link.numbers = True
                yield lambda: drive.status.sent > 3 * RATE
                yield lambda: near_enough(controller, target)

            run = play(controller, acts(), target, drive, correction=correction, log=log)
        report = process.close()
    assert report.verdict.clean
    assert report.verdict.commands > 0.5 * run.timing.count
    assert report.lost > 0.05 * report.verdict.commands
    assert link.dropped > 0.05 * report.verdict.commands
    assert set(run.events) <= {"rate-limited", "bounded", "recovered", "stale-held", "ramping"}
    assert np.abs(correction.value).max() <= 0.004
    control = read_recording(tmp_path / "bad.mcap")["control"]
    kept = (control["events"] & (Event.HELD | Event.RAMPING)) != 0  # the bus is no reason for it, only an old model is
    assert (control["model_age"][kept] > controller.guard.stale).all()
    silent = np.isnan(control["measured"]).all(axis=1)
    assert silent[round(RATE) :].sum() > 0.2 * RATE
    assert not silent[-1]
    assert control["lost"][-1] >= 0.9 * drive.status.lost > 0.03 * drive.status.received


def test_a_killed_plant_does_not_stop_the_loop(controller, target, tmp_path):
    """kill -9 of the plant: commands go on within their limits, the correction stands still, the recording tells how long
    nothing was measured; a plant that is started again is taken up."""
    bus = address(1)
    correction, seen = Correction(3, gain=2.0, limit=0.004), {}
    first = plant_on(bus, controller)
    with BusDrive(bus.link(first.wiring)) as drive:

        def acts():
            yield lambda: drive.status.sent > 0.5 * RATE and near_enough(controller, target)
            seen["killed"] = first.report()
            os.kill(first.pid, signal.SIGKILL)
            begin, sent = time.monotonic(), drive.status.sent
            yield lambda: time.monotonic() > begin + 0.5
            seen["at"], seen["correction"] = begin, correction.value.copy()
            yield lambda: time.monotonic() > begin + 1.0 and drive.status.sent > sent + 100

        with LoopLog(tmp_path / "killed.mcap", controller) as log:
            play(controller, acts(), target, drive, correction=correction, log=log)
        first.close()
        assert seen["killed"].verdict.clean
        np.testing.assert_array_equal(correction.value, seen["correction"])
        control = read_recording(tmp_path / "killed.mcap")["control"]
        last = (control.time - control["measured_age"])[control.time > seen["at"] + 0.5]  # what was on its way is in
        assert np.ptp(last) < 1e-9
        assert last[0] < seen["at"] + 0.5
        assert control["measured_age"][-1] > 0.5
        assert np.isfinite(control["command"]).all()
        with plant_on(bus, controller) as second:
            got = drive.status.received

            def again():
                yield lambda: drive.status.received > got + 20 and near_enough(controller, target)

            play(controller, again(), target, drive, correction=correction)
            assert second.close().verdict.not_numbers == 0
