"""Signals that ask a process to end, and who hears them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from pliant.exchange import stop_signals
from pliant.exchange.stop_signals import STOP_SIGNALS
from waiting import until

pytestmark = pytest.mark.thorough


def sent(number):
    """A signal to this process; it is handled when this returns."""
    os.kill(os.getpid(), number)
    time.sleep(0.01)


@pytest.fixture(autouse=True)
def as_before():
    """Whatever a test does, the handlers are the ones of before."""
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    yield
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_every_one_is_heard(number):
    """By whoever asked last, or as an interrupt; handlers of others are theirs again afterwards."""
    heard = []
    with stop_signals(lambda: heard.append("outer")):
        with stop_signals(lambda: heard.append("inner")):
            sent(number)
        sent(number)
        with stop_signals(), pytest.raises(KeyboardInterrupt):
            sent(number)
    assert heard == ["inner", "outer"]


def test_they_may_be_left_in_any_order():
    """A feed is closed by a page that heard of signals later."""
    heard = []
    first, second = stop_signals(lambda: heard.append(1)), stop_signals(lambda: heard.append(2))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    sent(signal.SIGTERM)
    second.__exit__(None, None, None)
    assert heard == [2]


def test_handlers_of_others_are_theirs():
    """Without an act of its own, it does not take a signal from somebody who has one."""
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("theirs"))
    try:
        with stop_signals():
            sent(signal.SIGTERM)
        with stop_signals(lambda: heard.append("ours")):
            sent(signal.SIGTERM)
        sent(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["theirs", "ours", "theirs"]


def test_nohup_stays_nohup():
    """A hang-up that was to be ignored is."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_signals(lambda: pytest.fail("heard")):
            sent(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_in_another_thread_it_does_nothing():
    """Signals go to the main thread."""
    before, seen = signal.getsignal(signal.SIGTERM), []

    def elsewhere():
        with stop_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [before]


SHIELDED = """
import multiprocessing, os, signal, time
from pliant.exchange import Flags, start_shielded, stay_shielded

def live(name):
    stay_shielded()
    flags = Flags(2, name)
    flags.values[0] = 1.0
    flags.wait(1, 60.0)

if __name__ == "__main__":
    with Flags(2) as flags:
        process = multiprocessing.get_context("spawn").Process(target=live, args=(flags.name,))
        start_shielded(process)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(process.pid, number)  # it has not even begun
        assert flags.wait(0, 60.0), process.exitcode
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(process.pid, number)
        time.sleep(0.05)
        assert process.is_alive()
        flags.values[1] = 1.0
        process.join()
        assert process.exitcode == 0, process.exitcode
    print("lived")
    time.sleep(60.0)
"""


def test_a_shielded_process_hears_none(tmp_path):
    """From its first moment; whoever made it hears them as before."""
    script = tmp_path / "shielded.py"
    script.write_text(SHIELDED)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env={**os.environ})
    assert process.stdout is not None
    assert process.stdout.readline() == "lived\n"
    process.send_signal(signal.SIGTERM)
    assert until(lambda: process.poll() is not None)
    assert process.returncode == -signal.SIGTERM
    process.stdout.close()
