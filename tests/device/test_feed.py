"""A drive that is fed by somebody who has commands now and then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from plants import arm

from pliant.device import Audit, Drive, Event, Feed, Guard, Wiring, opened_drive, read_recording
from pliant.device.feed import Act
from pliant.errors import FileError, InputError, PliantWarning
from waiting import until

WIRING = Wiring("effort", ("a", "b"), ("N",) * 2, (), ())


class Judge(Drive):
    """Checks every command, and knows whether it was told to stop."""

    def __init__(self, fails=False):
        super().__init__(WIRING)
        self.audit = Audit([0.0, 0.0], [5.0, 5.0], [20.0, 20.0])
        self.last, self.stops, self.resumes, self.fails = None, 0, 0, fails
        self.told = []

    def send(self, command, now):
        if self.fails:
            raise OSError("the cable is out")
        self.audit.see(command, now)
        self.last = command.copy()
        self.status.sent += 1
        return True

    def read(self):
        return None

    def stop(self):
        self.stops += 1
        self.told.append("stop")

    def resume(self):
        self.resumes += 1

    def close(self):
        self.told.append("close")


def guard():
    return Guard([0.0, 0.0], [5.0, 5.0], rate=20.0, safe=0.0, hold=0.2, ramp=0.2)


def test_wishes_are_followed_within_the_limits():
    """A wish far outside arrives at the bound, no faster than allowed, while it is wished."""
    drive = Judge()
    with Feed(guard(), drive) as feed:
        feed.wish([99.0, 2.0])
        feed.keep(True)
        until(lambda: drive.last is not None and np.allclose(drive.last, [5.0, 2.0]))
        assert not feed.stopped
    assert drive.audit.verdict.clean
    assert drive.last == pytest.approx([0.0, 0.0])
    assert drive.stops >= 1
    assert drive.told[-2:] == ["stop", "close"]
    feed.close()
    assert drive.told.count("close") == 1
    assert repr(feed) == f"<Feed of Judge at 100 Hz, closed, {drive.status.sent} commands sent>"


def test_wishes_that_stop_coming_lead_to_the_safe_command():
    """Nobody wishes any more: held for a while, then the safe command, then followed again."""
    drive = Judge()
    with Feed(guard(), drive) as feed:
        feed.wish([3.0, 3.0])
        feed.keep(True)
        until(lambda: drive.last is not None and np.allclose(drive.last, 3.0))
        feed.keep(False)
        until(lambda: np.allclose(drive.last, 0.0))
        feed.wish([1.0, 1.0])
        feed.keep(True)
        until(lambda: np.allclose(drive.last, 1.0))
    assert drive.audit.verdict.clean


def test_an_emergency_stop_stays_until_it_is_released():
    """Stop: to the safe command within the rates, the drive is told once; wishes change nothing until the release."""
    drive = Judge()
    with Feed(guard(), drive) as feed:
        feed.wish([4.0, 4.0])
        feed.keep(True)
        until(lambda: drive.last is not None and np.allclose(drive.last, 4.0))
        feed.stop()
        until(lambda: drive.stops == 1)
        assert feed.is_safe
        feed.wish([4.0, 4.0])
        time.sleep(0.1)
        assert drive.last == pytest.approx([0.0, 0.0])
        feed.release()
        feed.keep(True)
        until(lambda: np.allclose(drive.last, 4.0))
        assert drive.resumes == 1
    assert drive.audit.verdict.clean


def test_a_release_is_whole_before_the_next_command():
    """A command that is due right when the drive was told to resume does not stop it again behind the guard's back."""
    due = []

    class Slow(Guard):
        def release(self):
            if due:
                tick = threading.Thread(target=feed._tick)
                tick.start()
                tick.join(timeout=0.2)
                due.append(tick)
            super().release()

    drive = Judge()
    feed = Feed(Slow([0.0, 0.0], [5.0, 5.0], rate=20.0, safe=0.0), drive)
    feed._closing.set()
    feed._thread.join()
    feed.stop()
    feed._tick()
    assert drive.stops == 1
    due.append(None)
    feed.release()
    due[-1].join()
    feed._tick()
    assert (drive.stops, drive.resumes, feed.stopped) == (1, 1, False)


def test_an_emergency_stop_is_in_the_recording(tmp_path):
    """Who stopped when, the way to the safe command, when the drive was told, the release: all of it, with units and
    counts."""
    file = tmp_path / "run.mcap"
    drive = Judge()
    with Feed(guard(), drive, file=file) as feed:
        feed.wish([4.0, 4.0])
        feed.keep(True)
        until(lambda: drive.last is not None and np.allclose(drive.last, 4.0))
        feed.stop()
        until(lambda: drive.stops == 1)
        feed.release()
        feed.keep(True)
        until(lambda: np.allclose(drive.last, 4.0))
    log = read_recording(file)
    assert log.whole
    assert log.about["kind"] == "effort"
    track = log["feed"]
    assert len(track) == drive.status.sent == track["sent"][-1]
    assert log.counted("feed", "acts") == {"drive-stopped": 2, "stop": 1, "release": 1, "drive-resumed": 1, "close": 1}
    acts = track["acts"]
    order = [int(np.flatnonzero(acts & act)[0]) for act in (Act.STOP, Act.DRIVE_STOPPED, Act.RELEASE)]
    assert order == sorted(order)
    assert track["command"][order[0] - 1] == pytest.approx([4.0, 4.0])
    assert track["command"][order[1]] == pytest.approx([0.0, 0.0])
    assert (track["events"][order[0] + 1 : order[1]] & Event.STOPPED).all()
    assert (track["wish"][order[0] :] == 4.0).all()
    assert (track.units["command"], track.rows["wish"]) == ("N", ("a", "b"))


def test_a_drive_that_raises_is_a_fault():
    """The feed goes on, and counts."""
    drive = Judge(fails=True)
    feed = Feed(guard(), drive)
    until(lambda: drive.status.faults > 3)
    assert drive.status.last_fault == "the cable is out"
    feed.stop()
    feed._closing.set()


def test_what_does_not_fit_is_named():
    """Rows, rates and names of drives."""
    with pytest.raises(InputError, match="the guard has 1 rows and the drive takes 2"):
        Feed(Guard([0.0], [1.0], 1.0, 0.0), Judge())
    with pytest.raises(InputError, match="the guard is for displacements and the drive takes efforts"):
        Feed(Guard.of_robot(arm(), "displacement", rate=1.0), Judge())
    Feed(Guard.of_robot(arm(), "effort"), Judge()).close()
    with pytest.raises(InputError, match="rate is 0 Hz"):
        Feed(guard(), Judge(), rate=0)
    with Feed(guard(), Judge()) as feed, pytest.raises(InputError, match="the command has 3 rows"):
        feed.wish([1, 2, 3])
    with pytest.raises(InputError, match=r"there is no drive 'usb:3'; give can:INTERFACE:CHANNEL"):
        opened_drive("usb:3", None, "effort")


class Stubborn(Judge):
    """A drive that cannot be told to stop."""

    def stop(self):
        self.told.append("stop")
        raise OSError("the cable is out")


def test_a_drive_that_cannot_be_stopped_is_closed():
    """What `stop` raises comes out, after the drive was closed, too, and the recording finished."""
    drive = Stubborn()
    feed = Feed(guard(), drive)
    with pytest.raises(OSError, match="the cable is out"):
        feed.close()
    assert drive.told[-2:] == ["stop", "close"]
    assert drive.status.faults >= 1
    feed.close()


def test_a_drive_that_does_not_take_commands_is_told_to_stop():
    """Sending fails: the emergency stop reaches it all the same, at once."""
    drive = Judge(fails=True)
    feed = Feed(guard(), drive)
    feed.stop()
    until(lambda: drive.stops == 1)
    feed.close()


def test_a_second_controller_on_the_bus_is_told():
    """Once, while it happens."""
    drive = Judge()
    with pytest.warns(PliantWarning, match="a second sender") as told:
        fed_beside_another(drive, told)
    assert len(told) == 1


def fed_beside_another(drive, told):
    with Feed(guard(), drive):
        drive.status.foreign += 1
        until(lambda: len(told) > 0)
        drive.status.foreign += 1


FED = """
import sys, time
from test_feed import Judge, guard
from pliant.device import Feed

if __name__ == "__main__":
    drive = Judge()
    try:
        with Feed(guard(), drive) as feed:
            feed.wish([4.0, 4.0])
            feed.keep(True)
            while drive.last is None or drive.last[0] < 4.0:
                time.sleep(0.01)
            print("moved", flush=True)
            time.sleep(600.0)
    finally:
        print(drive.last.tolist(), drive.told, drive.audit.verdict.clean, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_stop_signal_leads_to_the_safe_command(number):
    """In a script with a feed: the ramp, the stop frame and all, then the script ends."""
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", FED], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "moved\n"
    process.send_signal(number)
    said = process.stdout.read()
    process.wait()
    process.stdout.close()
    assert said == "[0.0, 0.0] ['stop', 'stop', 'close'] True\n"


def test_a_recording_is_not_overwritten(tmp_path):
    """Unless that is said."""
    file = tmp_path / "run.mcap"
    file.write_text("precious")
    with pytest.raises(FileError, match=r"there is a recording .*run\.mcap already; give another name, move it away"):
        Feed(guard(), Judge(), file=file)
    assert file.read_text() == "precious"
    Feed(guard(), Judge(), file=file, overwrite=True).close()
    assert read_recording(file).whole
