"""Hang a soft finger on a rigid palm, and the palm on a hinge.

Aim: rigid bodies, joints, a port on a joint, a cable through several bodies, and what a joint carries.
A palm of 60 g turns about a fixed axis, held by a servo at 20 degrees; a silicone finger is welded to it, and a tendon runs
from the wrist through the palm to the finger's tip.
Expected: the moment in the hinge is that of all weights and of the tendon about it, to 1e-6; W says how the tip moves with the
tendon, to 1e-3 of what statics finds for a small change.
Reference: the balance of moments of rigid bodies.
"""

import numpy as np

import pliant as pl

G = np.array([0.0, 0.0, -9.81])
palm = pl.RigidBody(pl.solids.box((0.05, 0.04, 0.02)), density=1500.0)
mesh = pl.make.box((0.08, 0.02, 0.02), (10, 2, 2)).translated((0.05, 0.01, 0.0))
finger = pl.TetBody(mesh, pl.NeoHookean(E=500e3, nu=0.4), density=1070.0)
wrist = np.array([0.0, 0.02, 0.01])

robot = pl.Robot(
    {"palm": palm, "finger": finger},
    joints={
        "wrist": pl.Revolute("palm", point=wrist, axis=(0, 1, 0)),
        "root": pl.Weld(("finger", mesh.where(x_below=0.05)), "palm"),
    },
    gravity=G,
)
robot.impose("servo", pl.Hinge.on("wrist"), displacement=np.deg2rad(20.0))
tendon = pl.Cable([(0.04, 0.02, 0.018), (0.09, 0.02, 0.018), (0.125, 0.02, 0.018)], pull=(-0.05, 0.02, 0.018))
robot.impose("tendon", tendon, effort=0.3, body=("palm", "finger", "finger"))
robot.sense("eye", pl.Point(near=tendon.points[0]), body="palm")
robot.sense("tip", pl.Point(near=(0.13, 0.02, 0.01)), body="finger")

statics = pl.Statics(robot, tolerance=1e-11)
state = statics.solve().require().state
held = robot.wrench(state, "wrist")

eye = robot.displacement(state, "eye")
pull = 0.3 * (tendon.pull - eye) / np.linalg.norm(tendon.pull - eye)
moment = -np.cross(eye - wrist, pull)
for name, body in (("palm", palm), ("finger", finger)):
    moment -= np.cross(robot.nodes(state, name) - wrist, np.outer(body.load_masses, G)).sum(axis=0)
W = robot.linearize(state).model.W
robot.set_effort("tendon", 0.301)
after = statics.solve(state).require().state
moved = robot.displacement(after, "tip") - robot.displacement(state, "tip")

print(f"the servo holds {1e3 * robot.effort(state, 'servo')[0]:.2f} mN m, the hinge carries {held.force.round(3)} N")
print(f"moment at the hinge {1e3 * held.moment.round(6)} mN m, of weights and tendon {1e3 * moment.round(6)} mN m")
print(f"1 mN more moves the tip by {1e6 * moved.round(9)} um")

assert np.abs(held.moment - moment).max() < 1e-6 * np.abs(moment).max()
assert abs(held.moment[1] - robot.effort(state, "servo")[0]) < 1e-6
rows = [robot.row_names.index(f"tip.{axis}") for axis in "xyz"]
servo, cable = robot.row_names.index("servo"), robot.row_names.index("tendon")
expected = W[rows, cable] - W[rows, servo] * W[servo, cable] / W[servo, servo]  # the servo gives way to nothing
assert np.abs(moved - 1e-3 * expected).max() < 1e-3 * np.abs(moved).max()
