"""Somebody who sleeps until a process ends, or until there is something to tell."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import pytest

from pliant.errors import PliantWarning
from pliant.exchange import Watchman
from waiting import until


def idle():
    """A process that does nothing."""
    time.sleep(600.0)


def test_he_acts_when_the_process_ends_and_not_before():
    """Once for its end; then he waits for the next, or for nothing."""
    process, acted = multiprocessing.get_context("spawn").Process(target=idle, daemon=True), []
    process.start()

    def end():
        return process.sentinel if process.exitcode is None else None

    def act():
        process.join()
        acted.append(process.exitcode)

    watchman = Watchman(end, act, "a watchman")
    assert acted == []
    os.kill(process.pid, signal.SIGKILL)
    until(lambda: acted)
    watchman.close()
    watchman.close()
    assert acted == [-signal.SIGKILL]
    assert "a watchman" not in [thread.name for thread in threading.enumerate()]


def test_what_he_is_given_is_told_at_the_latest_when_he_goes():
    """In its order; whoever tells does not wait."""
    watchman = Watchman(lambda: None, lambda: None, "a watchman")
    with pytest.warns(PliantWarning) as told:
        told_and_closed(watchman)
    assert [str(one.message) for one in told] == [f"number {k}" for k in range(50)]


def told_and_closed(watchman):
    for k in range(50):
        watchman.tell(f"number {k}")
    watchman.close()


def test_a_warning_that_is_an_error_comes_out_in_the_end():
    """It does not end him, nor is it lost."""
    watchman = Watchman(lambda: None, lambda: None, "a watchman")
    watchman.tell("the first")
    watchman.tell("the second")
    with pytest.raises(PliantWarning, match="the first"):
        watchman.close()
