"""Rigid bodies on a slope beside MuJoCo, where that is installed."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

mujoco = pytest.importorskip("mujoco")

G, SECONDS = 9.81, 1.0
SCENE = """
<mujoco>
  <option timestep="0.0005" gravity="{gx} 0 {gz}" cone="elliptic" impratio="100" integrator="implicitfast"/>
  <worldbody>
    <geom type="plane" size="10 10 1" friction="{mu} 0 0" condim="3" solref="0.002 1"/>
    <body pos="0 0 {height}"><freejoint/>
      <geom type="{kind}" size="{size}" mass="0.024" friction="{mu} 0 0" condim="3" solref="0.002 1"/>
    </body>
  </worldbody>
</mujoco>
"""


def gone_by_mujoco(kind, size, height, angle, mu):
    """How far the body is down the slope after a second [m]."""
    scene = SCENE.format(gx=G * np.sin(angle), gz=-G * np.cos(angle), mu=mu, kind=kind, size=size, height=height)
    model = mujoco.MjModel.from_xml_string(scene)
    data = mujoco.MjData(model)
    while data.time < SECONDS - 1e-9:
        mujoco.mj_step(model, data)
    return float(data.qpos[0])


def gone_by_pliant(robot, angle, h=0.005):
    robot.set_gravity(G * np.array([np.sin(angle), 0, -np.cos(angle)]))
    state, motion = robot.rest(), pl.Dynamics(robot, h)
    for _ in range(round(SECONDS / h)):
        state = motion.step(state).require().state
    return float((state.x - robot.rest().x)[0, 0])  # the first node of a rigid body is its centre


@pytest.mark.slow
def test_a_box_slides_as_far():
    angle, mu = np.radians(30), 0.4
    box = pl.make.box((0.04, 0.03, 0.02), (2, 2, 1)).surface()
    robot = pl.Robot(pl.RigidBody(box, density=1000))
    robot.touch("ground", pl.Plane(friction=mu))
    far = gone_by_pliant(robot, angle)
    assert far == pytest.approx(gone_by_mujoco("box", "0.02 0.015 0.01", 0.01, angle, mu), rel=0.02)
    assert far == pytest.approx(0.5 * G * (np.sin(angle) - mu * np.cos(angle)), rel=0.01)


@pytest.mark.slow
def test_a_ball_rolls_as_far():
    angle, mu, radius = np.radians(15), 0.5, 0.02
    ball = pl.RigidBody(mass=0.024, center=(0, 0, radius), inertia=0.4 * 0.024 * radius**2 * np.ones(3))
    robot = pl.Robot(ball)
    robot.touch("ground", pl.Plane(friction=mu), surface=pl.Sphere(center=(0, 0, radius), radius=radius))
    far = gone_by_pliant(robot, angle, 0.002)
    assert far == pytest.approx(gone_by_mujoco("sphere", "0.02", 0.02, angle, mu), rel=0.02)
    assert far == pytest.approx(0.5 * 5 / 7 * G * np.sin(angle), rel=0.01)
