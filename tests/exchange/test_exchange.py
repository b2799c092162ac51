"""Records between processes: never torn, never waited for."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.exchange import Mailbox, Ring
from pliant.exchange.mailbox import NEWEST, SLOTS, VERSIONS

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
