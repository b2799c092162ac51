"""From two STL files to a finger that draws a circle: air lifts it, two cables pull it aside.

Aim: what you do with a part from CAD: read its surface and its chamber in millimetres, fill, attach, follow a moving target.
A silicone finger of 100 x 24 x 20 mm has an air chamber below its middle and a cable along each side. It sags under its own
weight; then its tip draws a circle of 4 mm radius, 6 mm higher, with 50 decisions per second.
Expected: the nonlinear equilibrium under the efforts decided is within 0.02 mm of the target. The air takes 5 to 37 kPa, the
cables take up to 3 N each and never push.
Reference: inverse control by a QP on the condensed model, Largilliere et al. 2015, section II.
"""

import tempfile
from pathlib import Path

import numpy as np

import pliant as pl

LIMITS = {"air": (0.0, 40e3), "left": (0.0, 10.0), "right": (0.0, 10.0)}


def export(folder):
    """What a CAD program would do: the part and its chamber as STL files, in millimetres."""
    chamber = pl.solids.box((0.070, 0.008, 0.005), at=(0.010, 0.008, 0.005))
    (pl.solids.box((0.100, 0.024, 0.020)) - chamber).write(folder / "finger.stl", unit="mm")
    chamber.write(folder / "chamber.stl", unit="mm")


def build(folder):
    """The robot of both files."""
    part, chamber = (pl.read(folder / name, unit="mm") for name in ("finger.stl", "chamber.stl"))
    mesh = part.filled(size=4e-3)
    body = pl.TetBody(mesh, pl.NeoHookean(E=150e3, nu=0.45), density=1070, fixed=mesh.where(x_below=2e-3))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    robot.actuate("air", pl.Cavity(chamber), effort=LIMITS["air"])
    for name, y in (("left", 0.0215), ("right", 0.0025)):
        way = [(x, y, 0.010) for x in np.linspace(0.010, 0.095, 6)]
        robot.actuate(name, pl.Cable(way, pull=(-0.01, y, 0.010)), effort=LIMITS[name])
    robot.effect("tip", pl.Point(near=(0.1, 0.012, 0.010), axes="yz"))
    print(f"{mesh} from {part}")
    return robot


with tempfile.TemporaryDirectory() as folder:
    export(Path(folder))
    robot = build(Path(folder))

inverse, statics = pl.Inverse(robot), pl.Statics(robot)
state = statics.solve().require().state
sagging = robot.displacement(state, "tip")  # y and z
circle = pl.Circle((0.0, sagging[0], sagging[1] + 0.006), radius=0.004, speed=0.01, normal=(1, 0, 0))
start = circle.position(0.0)[1:]
for share in np.linspace(0, 1, 26)[1:]:  # first to where the circle begins
    state = inverse.step(state, tip=sagging + share * (start - sagging)).require().state

efforts, errors = [], []
for k, place in enumerate(circle.sampled(rate=50)):
    step = inverse.step(state, tip=place[1:]).require()
    state = step.state
    efforts.append([float(step.efforts[name][0]) for name in LIMITS])
    if k % 25 == 0:  # where does the robot really come to rest with these efforts?
        for name in LIMITS:
            robot.set_effort(name, step.efforts[name])
        settled = statics.solve(state).require().state
        errors.append(float(np.linalg.norm(robot.displacement(settled, "tip") - place[1:])))

low, high = np.min(efforts, axis=0), np.max(efforts, axis=0)
print(f"air {low[0] / 1e3:.1f} to {high[0] / 1e3:.1f} kPa, left up to {high[1]:.2f} N, right up to {high[2]:.2f} N")
print(f"off by at most {1e3 * max(errors):.4f} mm at {len(errors)} places of {len(efforts)}")

assert max(errors) < 2e-5
for name, least, most in zip(LIMITS, low, high, strict=True):
    assert LIMITS[name][0] <= least <= most < LIMITS[name][1], name
assert 30e3 < high[0] < 40e3
assert np.min(high[1:]) > 1.0
