"""Inflate a chamber.

Aim: build a shape from solids, fill it with tets, put air into its cavity, and keep the books of energy.
A silicone block of 40 x 40 x 24 mm with a chamber of 28 x 28 x 12 mm stands on its bottom and gets 4 kPa in 8 steps.
Expected: the top rises by 3.4 mm; the work of the air, the integral of p dV, is the elastic energy of the silicone,
within 1 % (the integral is a sum of trapezoids).
Reference: an elastic body stores the work done on it, dE = p dV (G. Green 1839).
"""

import numpy as np

import pliant as pl

SIZE, CHAMBER = np.array([0.040, 0.040, 0.024]), np.array([0.028, 0.028, 0.012])

middle = (0, 0, SIZE[2] / 2)
chamber = pl.solids.box(CHAMBER, at=middle, centered=True)
shape = pl.solids.box(SIZE, at=middle, centered=True) - chamber
mesh = shape.filled(size=5e-3)
print(mesh, f"{100 * mesh.volume / shape.volume:.1f} % of the volume of the solid")

body = pl.TetBody(mesh, pl.NeoHookean(E=1e5, nu=0.45), order=2, fixed=mesh.where(z_below=0))
robot = pl.Robot(body)
robot.impose("air", pl.Cavity(chamber), effort=0.0)
robot.sense("top", pl.Point(near=(0, 0, SIZE[2])))

pressures = np.linspace(0, 4e3, 9)
state, growths = robot.rest(), [0.0]
for pressure in pressures[1:]:
    robot.set_effort("air", pressure)
    state = pl.Statics(robot).solve(state).require().state
    growths.append(float(robot.displacement(state, "air")[0]))
    rise = robot.displacement(state, "top")[2] - SIZE[2]
    print(f"{pressure / 1e3:4.1f} kPa: chamber + {1e6 * growths[-1]:5.2f} ml, top + {1e3 * rise:5.2f} mm")

work = float((pressures[1:] + pressures[:-1]) / 2 @ np.diff(growths))
energy = body.energy(state.x)
print(f"work of the air {1e3 * work:.3f} mJ, energy of the silicone {1e3 * energy:.3f} mJ")

assert len(body.inverted_elements(state.x)) == 0
assert 3e-3 < rise < 4e-3
assert (np.diff(growths) > 0).all()
assert abs(work / energy - 1) < 0.01
