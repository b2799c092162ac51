"""How a page that is served ends: every stop signal does what Ctrl-C does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = """
import numpy as np
from plants import arm
from test_feed import Judge
from pliant.device import Audit, Feed, Guard, Wiring
from pliant.view import Page

class Arm(Judge):
    def __init__(self):
        super().__init__()
        self.wiring, self.audit = Wiring.of_robot(robot), Audit([0.0, 0.0], [8.0, 8.0], [20.0, 20.0])

if __name__ == "__main__":
    robot = arm()
    drive = Arm()
    page = Page(robot, title="the arm", feed=Feed(Guard.of_robot(robot), drive))
    page.serve(port=8870, browser=False)
    print(np.abs(drive.last).max() < 1e-12, drive.told[-2:], drive.audit.verdict.clean, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_signal_ends_a_page_safely(number):
    """Its drive goes to the safe command, is told to stop, and closed; the script goes on behind `serve`."""
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([str(tests), str(tests / "device"), *sys.path])
    process = subprocess.Popen(
        [sys.executable, "-c", PAGE], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("the arm is at http://127.0.0.1:")
    process.send_signal(number)
    said = process.stdout.read()
    process.wait()
    process.stdout.close()
    assert said == "True ['stop', 'close'] True\n"
    assert process.returncode == 0
