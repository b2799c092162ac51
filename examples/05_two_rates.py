"""A command every two milliseconds to a robot in another process, behind a bus, while the model is made in a third one.

Aim: what runs on a bench, with a plant in place of the robot: model and control loop, guard, CAN frames, correction, recording.
An arm on two cables moves its tip up and down by 12 mm, commanded by the lengths of its cables. The plant is an arm of another
mesh, order and law, 5 % stiffer, with motors that lag; it sees commands only and judges each by the limits.
Expected: the tip is off by some tenths of a millimetre on average where the machine keeps up, because motors and arm lag behind
(without the correction: 2.4 mm, the coarse model is too stiff); no command broke a limit.
Reference: Largilliere et al. 2015, section III.
"""

import os
import sys

import numpy as np

import pliant as pl
from pliant.control import Correction, LoopLog, TwoRates
from pliant.device import BusAddress, BusDrive, PlantProcess, SimulatedPlant, read_recording


def arm(law, cells, order):
    """An arm clamped at one end, a cable above its middle and one below."""
    mesh = pl.make.box((0.1, 0.016, 0.016), cells)
    body = pl.TetBody(mesh, law, density=1100, order=order, fixed=mesh.where(x_below=0), damping=(0.5, 0.004))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    for name, z in (("up", 0.014), ("down", 0.002)):
        way = [(x, 0.008, z) for x in np.linspace(0.005, 0.095, 5)]
        limits = {"effort": (0, 6), "displacement": (-0.02, 0.02), "displacement_rate": 0.1}
        robot.actuate(name, pl.Cable(way, pull=(-0.02, 0.008, z)), **limits)
    robot.effect("tip", pl.Point(near=(0.1, 0.008, 0.008)))
    return robot


def model():
    """What the controller knows."""
    return arm(pl.Corotational(E=300e3, nu=0.4), (10, 2, 2), 1)


def plant():
    """What it controls."""
    other = arm(pl.NeoHookean(E=315e3, nu=0.42), (7, 2, 2), 2)
    return SimulatedPlant(other, 0.01, kind="displacement", settling=0.02, noise=2e-5)


def main():
    """A run of six seconds."""
    bus = BusAddress("udp_multicast", "239.74.163.2", (("port", 20000 + os.getpid() % 40000),))
    with TwoRates(model, rate=500.0, kind="displacement") as controller:
        guard, robot = controller.guard, controller.robot
        low = robot.displacement(pl.Statics(robot).solve().require().state, "tip")
        path = pl.Waypoints([low, low + np.array([-0.0007, 0.0, 0.012])], speed=0.012, corner=0.002, closed=True)
        with PlantProcess(plant, bus, guard.low, guard.high, guard.rate) as far:
            with BusDrive(bus.link(far.wiring)) as drive, LoopLog("two_rates.mcap", controller, overwrite=True) as log:
                run = controller.run(6.0, path, drive, correction=Correction(3, gain=2.0, limit=0.004), watch=log)
            verdict = far.report().verdict
    control = read_recording("two_rates.mcap")["control"]
    error = np.linalg.norm((control["measured"] - control["target"])[control.time > control.time[0] + 2.0], axis=1)
    print(f"{run.timing.count} commands, {run.missed} missed, {run.models} models; {run.rights}")
    print(
        f"tip off by {1e3 * error.mean():.2f} mm on average, {1e3 * error.max():.2f} mm at most; on the far side: {verdict}"
    )
    assert verdict.clean
    assert error.mean() < 3e-3


if __name__ == "__main__":
    sys.exit(main())
