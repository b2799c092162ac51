"""Records between processes: never torn, never waited for."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.errors import FileError, InputError
from pliant.exchange import Flags, Mailbox, Ring
from pliant.exchange.mailbox import NEWEST, SLOTS, VERSIONS
from waiting import until

RECORD = np.dtype([("number", np.int64), ("W", np.float64, (40, 40)), ("again", np.int64)])


def write_for_ever(name: str) -> None:
    """A writer whose records are equal in all their entries."""
    mailbox = Mailbox(RECORD, name)
    record = mailbox.blank()
    number = 0
    while True:
        number += 1
        record["number"], record["W"], record["again"] = number, number, number
        mailbox.write(record)


def push_many(name: str, count: int) -> None:
    """Numbered records into a ring of 64, a pause where it is full."""
    ring = Ring(RECORD, 64, name)
    record = ring.blank()
    for number in range(count):
        record["number"] = number
        while not ring.push(record):
            time.sleep(0.0005)


def started(target, *arguments):
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def test_the_newest_record_is_read():
    """Nothing at first, then always the newest, as often as one likes."""
    with Mailbox(RECORD) as mailbox:
        into = mailbox.blank()
        assert mailbox.read(into) == 0
        for number in (1, 2, 3, 4, 5):
            record = mailbox.blank()
            record["W"] = number
            assert mailbox.write(record) == number
            assert mailbox.read(into) == number == mailbox.read(into) == mailbox.number
            assert (into["W"] == number).all()


def test_records_are_never_torn():
    """A writer at full speed in another process, killed in the middle and replaced: all that is read is whole, and the
    newest whole record outlives its writer."""
    with Mailbox(RECORD) as mailbox:
        into, seen = mailbox.blank(), set()
        for turn in (1, 2):
            writer = started(write_for_ever, mailbox.name)
            begin = mailbox.number
            deadline = time.monotonic() + 30
            while len(seen) < 1000 * turn and time.monotonic() < deadline:
                if mailbox.read(into):
                    assert (into["W"] == into["number"]).all()
                    assert into["again"] == into["number"]
                    seen.add(int(into["number"]))
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
            assert mailbox.read(into) == mailbox.number > begin
            assert (into["W"] == into["number"]).all()
        assert len(seen) >= 2000


def test_a_half_written_record_is_not_read():
    """A writer that died inside a record leaves the one before it; the next writer goes on."""
    with Mailbox(RECORD) as mailbox:
        record, into = mailbox.blank(), mailbox.blank()
        record["W"] = 1
        mailbox.write(record)
        slot = (mailbox.counters[NEWEST] + 1) % SLOTS
        mailbox.counters[VERSIONS + slot] |= 1  # what a writer does first
        mailbox.records[slot, :100] = 77
        assert mailbox.read(into) == 1
        assert (into["W"] == 1).all()
        record["W"] = 2
        assert mailbox.write(record) == 2
        assert mailbox.read(into) == 2
        assert (into["W"] == 2).all()


def test_a_ring_keeps_all_in_order():
    """A thousand records pass through a ring of 64, in order, none lost that was not counted."""
    with Ring(RECORD, 64) as ring:
        writer = started(push_many, ring.name, 1000)
        got: list[int] = []
        deadline = time.monotonic() + 30
        while len(got) < 1000 and time.monotonic() < deadline:
            got += [int(record["number"]) for record in ring.take()]
        writer.join(10)
        assert got == list(range(1000))


def test_a_full_ring_counts_what_it_loses():
    """The writer does not wait."""
    with Ring(RECORD, 4) as ring:
        record = ring.blank()
        assert [ring.push(record) for _ in range(6)] == [True] * 4 + [False] * 2
        assert ring.lost == 2
        assert len(list(ring.take())) == 4
        assert ring.push(record)


def test_bad_use_is_named():
    """A name nobody has made, a record of objects, two sides that disagree."""
    with pytest.raises(InputError, match="make it first"):
        Mailbox(RECORD, "no-such-memory")
    with pytest.raises(InputError, match="numbers only"):
        Mailbox(np.dtype([("anything", object)]))
    with Mailbox(np.dtype("f8")) as small, pytest.raises(InputError, match="same dtype"):
        Mailbox(np.dtype(("f8", (5000,))), small.name)
    with pytest.raises(InputError, match="at least 1"):
        Ring(RECORD, 0)


SMALL_SHM = """
import numpy as np, os
from pliant.errors import FileError
from pliant.exchange import Mailbox, Ring
small = Mailbox(np.dtype([("x", "f8", (1000,))]))
with open("/dev/shm/other", "wb", buffering=0) as other:
    try:
        while other.write(bytes(4096)):
            pass
    except OSError:
        print("full")
record = small.blank()
for _ in range(8):
    small.write(record)
print("written")
try:
    Ring(np.dtype([("x", "f8", (1000,))]), 4096)
except FileError as error:
    print(error)
print(len(os.listdir("/dev/shm")), "left")
small.close()
"""


def in_small_shared_memory(code: str) -> subprocess.CompletedProcess[str]:
    """Run a script that has a /dev/shm of 1 MB to itself; skips where the system does not give one."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare (util-linux)")
    inside = 'mount -t tmpfs -o size=1m none /dev/shm && exec "$0" -c "$1"'
    mounted = ["unshare", "--mount", "sh", "-c", inside]
    if subprocess.run([*mounted, "true", ""], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount")
    return subprocess.run(
        [*mounted, sys.executable, code], capture_output=True, text=True, check=False, env={**os.environ}
    )


def test_memory_that_is_there_stays_there():
    """A /dev/shm that fills: what was made before can still be written to, all of it; what has no room is an error that names
    the size and the remedy, and leaves nothing behind."""
    done = in_small_shared_memory(SMALL_SHM)
    assert done.returncode == 0, done.stderr
    full, written, error, left = done.stdout.splitlines()
    assert (full, written, left) == ("full", "written", "2 left")
    assert error.startswith(
        "there is no room for 32.8 MB of shared memory (No space left on device; /dev/shm has 0 of 1.05"
    )
    assert "mount -o remount,size=1G /dev/shm" in error


def test_no_room_is_told_without_a_file_system(monkeypatch):
    """The same where the system says no, whatever the reason: nothing is left."""

    def refuse(descriptor, offset, size):
        raise OSError(28, "No space left on device")

    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(FileError, match=r"no room for .* MB of shared memory"):
        Mailbox(RECORD)
    if before:
        assert set(os.listdir("/dev/shm")) <= before


def look_for_ever(name: str) -> None:
    """Reads a flag as fast as it can."""
    flags = Flags(2, name)
    while True:
        flags.values[1] = flags.values[0]


def test_a_reader_that_is_killed_does_not_hold_up_the_writer():
    """Flags have no lock: one side is killed in the middle of a look, the other goes on, and so does the next reader."""
    with Flags(2) as flags:
        for turn in (1.0, 2.0):
            reader = started(look_for_ever, flags.name)
            flags.values[0] = turn
            until(lambda turn=turn: flags.values[1] == turn)
            os.kill(reader.pid, signal.SIGKILL)
            reader.join()
        assert flags.wait(0, 1.0)
        flags.values[0] = 0.0
        assert not flags.wait(0, 0.01)
    assert flags.values.tolist() == [0.0, 2.0]


def test_processes_share_no_lock():
    """Whoever is killed inside a lock keeps it for ever (an Event of multiprocessing has one), and memory of its arrays is only
    promised: nothing of either is used between processes anywhere in pliant."""
    parts = "Event|Lock|RLock|Condition|Semaphore|BoundedSemaphore|Barrier|Queue|JoinableQueue|Array|Value|RawArray|RawValue"
    used = re.compile(rf"\b(?:multiprocessing|context|spawn|get_context\([^)]*\))\.(?:{parts})\(")
    sources = Path(pliant.__file__).parent.rglob("*.py")
    assert [str(path) for path in sources if used.search(path.read_text())] == []
