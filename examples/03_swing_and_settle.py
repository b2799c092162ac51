"""Let a beam fall, swing and settle.

Aim: dynamics with damping, a recording, and the static answer as its limit.
A silicone beam of 100 x 20 x 20 mm is let go from its straight shape under its own weight.
Expected: it swings through its equilibrium with about the first natural frequency of 3.1 Hz, and after six seconds its tip is
where `Statics` says, to 1 um. What the time step alone takes from the swing is printed beside: next to nothing.
Reference: first frequency of a clamped beam, 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)) (Euler and Bernoulli).
"""

import numpy as np

import pliant as pl

LENGTH, HEIGHT, E, DENSITY = 0.10, 0.02, 1e5, 1070.0

mesh = pl.make.box((LENGTH, HEIGHT, HEIGHT), (10, 2, 2))
law = pl.Corotational(E=E, nu=0.3)
beam = pl.TetBody(mesh, law, density=DENSITY, order=2, fixed=mesh.where(x_below=0), damping=(0.5, 0.012))
robot = pl.Robot(beam, gravity=(0, 0, -9.81))
robot.sense("tip", pl.Point(near=(LENGTH, HEIGHT / 2, HEIGHT / 2)))

simulation = pl.Simulation(robot, h=0.005)
record = simulation.run(6.0, record=["tip"])
record.write("tip.csv")

still = pl.Statics(robot).solve().require().state
end = robot.displacement(still, "tip")
height = record["tip"][:, 2] - end[2]
crossings = record.time[1:][height[1:] * height[:-1] < 0]
frequency = 0.5 / np.diff(crossings[:5]).mean()
theory = 1.8751**2 / (2 * np.pi * LENGTH**2) * np.sqrt(E * HEIGHT**2 / (12 * DENSITY))
around = pl.natural_modes(robot, 2, still).frequencies

print(f"tip: starts {1e3 * height[0]:.1f} mm above its equilibrium, overshoots by {-1e3 * height.min():.1f} mm")
print(
    f"swings at {frequency:.2f} Hz; beam theory {theory:.2f} Hz; modes about the equilibrium {np.round(around, 2)} Hz"
)
print(record.damping)
print(f"ends at {np.round(1e3 * record['tip'][-1], 3)} mm, statics says {np.round(1e3 * end, 3)} mm")

assert np.abs(record["tip"][-1] - end).max() < 1e-6
assert height.min() < -0.1 * height[0]
assert abs(frequency / theory - 1) < 0.1
assert np.loadtxt("tip.csv", delimiter=",", skiprows=1).shape == (len(record), 4)
