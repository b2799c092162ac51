"""Bend a beam, and compare with the textbook.

Aim: the shortest way from a shape to an answer: mesh, material, robot, equilibrium.
A silicone beam of 80 x 10 x 10 mm is held at one end and pressed down at the other with 0.1 mN.
Expected: 10-node tets sink by 0.2072 mm, within 1 % of Timoshenko's beam; 4-node tets on the same mesh are far too stiff,
and `discretization_error()` says so before anything is solved.
Reference: S. Timoshenko (1921), shear factor of G. R. Cowper (1966).
"""

import numpy as np

import pliant as pl

LENGTH, HEIGHT, FORCE = 0.08, 0.01, 1e-4
LAW = pl.Corotational(E=1e5, nu=0.3)


def timoshenko() -> float:
    """Deflection of the tip [m]: F L^3 / (3 E I) + F L / (k G A)."""
    area, inertia = HEIGHT**2, HEIGHT**4 / 12
    shear_factor, G = 10 * (1 + LAW.nu) / (12 + 11 * LAW.nu), LAW.E / (2 * (1 + LAW.nu))
    return FORCE * LENGTH**3 / (3 * LAW.E * inertia) + FORCE * LENGTH / (shear_factor * G * area)


mesh = pl.make.box((LENGTH, HEIGHT, HEIGHT), (16, 2, 2), origin=(0, -HEIGHT / 2, -HEIGHT / 2))
print(mesh)

# Beam theory keeps the held section plane but lets it change its shape: it slides in its plane, and its two middle lines
# keep their place. fixed=root would glue it, which makes this beam 1.3 % stiffer.
root = mesh.where(x_below=0)
level = mesh.where(x_below=0, z_above=0, z_below=0)
centre = mesh.where(x_below=0, y_above=0, y_below=0)
held = [(root, (1, 0, 0)), (level, (0, 0, 1)), (centre, (0, 1, 0))]

deflections = {}
for order in (1, 2):
    body = pl.TetBody(mesh, LAW, order=order, sliding=held)
    robot = pl.Robot(body)
    robot.impose("load", pl.Force(mesh.nodes[mesh.where(x_above=LENGTH)], direction=(0, 0, -1)), effort=FORCE)
    robot.sense("tip", pl.Point(near=(LENGTH, 0, 0)))
    result = pl.Statics(robot).solve().require()
    deflections[order] = -float(robot.displacement(result.state, "tip")[2])
    print(f"{4 if order == 1 else 10}-node tets: {1e3 * deflections[order]:.4f} mm, {result.iterations} iterations")

print(f"Timoshenko:   {1e3 * timoshenko():.4f} mm")
warning = body.discretization_error()
print(warning)

assert abs(deflections[2] / timoshenko() - 1) < 0.01
assert deflections[1] < 0.8 * timoshenko()
assert np.isclose(deflections[2] / deflections[1], warning.softening[2], rtol=0.1)
