"""Robots on the ground: rest, sliding, rolling, impact, and what they say of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Solid, Sphere
from pliant.control import TwoRates
from pliant.device import SimulatedPlant
from pliant.errors import InputError, SupportError
from pliant.motion import Dynamics, settled
from pliant.motion.held import Held
from pliant.robot import State

G = 9.81


def slope(degrees, heading=0.0):
    """Gravity on a slope that falls towards a heading [rad]."""
    a = np.radians(degrees)
    return G * np.array([np.sin(a) * np.cos(heading), np.sin(a) * np.sin(heading), -np.cos(a)])


BOX = pl.make.box((0.04, 0.03, 0.02), (4, 3, 2))


def lattice():
    return pl.Lattice.voxels(pl.solids.box((0.04, 0.03, 0.02)), 0.01)


BODIES = {
    "tets": lambda: pl.TetBody(BOX, pl.Corotational(E=1e5, nu=0.3), density=1000, damping=(0, 0.002)),
    "ten-node": lambda: pl.TetBody(
        pl.make.box((0.04, 0.03, 0.02), (2, 2, 1)), pl.Corotational(E=1e5, nu=0.3), density=1000, order=2,
        damping=(0, 0.002)
    ),
    "springs": lambda: pl.SpringBody(lattice(), E=1e5, density=1000, damping=(0, 0.002)),
    "rods": lambda: pl.RodBody(
        pl.Curve([(0, 0.015, 0.01), (0.04, 0.015, 0.01)]), pl.Section.rectangle(0.03, 0.02), E=1e6, nu=0.3, density=1000,
        count=4, damping=(0, 0.002)
    ),
    "rigid": lambda: pl.RigidBody(BOX.surface(), density=1000),
}  # fmt: skip


def on_a_slope(kind, degrees, mu, heading=0.0):
    body = BODIES[kind]()
    robot = pl.Robot(body, gravity=slope(degrees, heading))
    low = body.outline[:, 2].min()
    robot.touch("ground", Plane(offset=float(low), friction=mu))
    return robot, float(body.load_masses.sum())


def gone(robot, h, steps):
    """Results of so many steps from rest."""
    out, state, motion = [], robot.rest(), Dynamics(robot, h)
    for _ in range(steps):
        out.append(motion.step(state).require())
        state = out[-1].state
    return out


def middle(robot, state):
    """The centre of mass."""
    masses = np.concatenate([body.load_masses for body in robot.bodies])
    return masses @ state.x / masses.sum()


@pytest.mark.parametrize("kind", BODIES)
def test_a_block_sticks_below_the_angle_of_friction(kind):
    robot, mass = on_a_slope(kind, 25.0, 0.5)
    results = gone(robot, 0.005, 60)
    half, end = (results[k].state for k in (29, -1))
    assert np.abs(end.x - half.x).max() < 1e-6
    report = robot.contacts(end, "ground")
    np.testing.assert_allclose(report.force, -mass * robot.gravity, rtol=1e-3, atol=1e-8)
    assert not report.slides.any() or np.linalg.norm(report.force[:2]) < 0.5 * report.force[2]
    assert max(result.penetration for result in results) < 1e-6
    assert max(result.missed for result in results) < 1e-6


@pytest.mark.parametrize("kind", BODIES)
def test_a_block_slides_above_it(kind):
    """With g (sin a - mu cos a), within 1 %; friction is mu times the normal force, against the slip."""
    heading = 0.4
    robot, _ = on_a_slope(kind, 35.0, 0.5, heading)
    h, results = 0.005, gone(robot, 0.005, 60)
    way = np.array([middle(robot, result.state) for result in results]) @ [np.cos(heading), np.sin(heading), 0.0]
    acceleration = (way[-1] - 2 * way[-21] + way[-41]) / (20 * h) ** 2
    expected = G * (np.sin(np.radians(35)) - 0.5 * np.cos(np.radians(35)))
    assert acceleration == pytest.approx(expected, rel=0.01)
    report = robot.contacts(results[-1].state, "ground")
    assert report.slides.all()
    np.testing.assert_allclose(
        np.linalg.norm(report.friction_forces, axis=1), 0.5 * report.normal_forces, rtol=1e-6, atol=1e-9
    )
    against = -report.force[:2] / np.linalg.norm(report.force[:2])
    across = against[0] * np.sin(heading) - against[1] * np.cos(heading)
    assert np.degrees(abs(np.arcsin(across))) < 0.1
    assert against @ [np.cos(heading), np.sin(heading)] > 0.0


@pytest.mark.parametrize("heading", np.radians([0.0, 37.0, 90.0, 143.0, 260.0]))
@pytest.mark.parametrize("kind", ["tets", "rigid"])
def test_every_contact_slides_against_its_own_slip_in_any_direction(kind, heading):
    """|f_t| = mu f_n to 1e-6, and against the slip of that very point within 0.1 degree."""
    robot, _ = on_a_slope(kind, 35.0, 0.4, heading)
    last, end = (result.state for result in gone(robot, 0.005, 40)[-2:])
    report, touch = robot.contacts(end, "ground"), robot.touches["ground"]
    ids = end.contacts["ground"].ids
    slips = (touch.side.at(end.x).points - touch.side.at(last.x).points)[ids]
    assert report.slides.all()
    assert np.abs(slips[:, 2]).max() < 1e-9
    sideways = report.friction_forces
    np.testing.assert_allclose(np.linalg.norm(sideways, axis=1), 0.4 * report.normal_forces, rtol=1e-6)
    cosines = np.einsum("ci,ci->c", sideways, slips) / np.linalg.norm(sideways, axis=1) / np.linalg.norm(slips, axis=1)
    across = np.cross(sideways, slips)[:, 2] / np.linalg.norm(sideways, axis=1) / np.linalg.norm(slips, axis=1)
    assert (cosines < 0.0).all()
    assert np.degrees(np.abs(np.arcsin(across))).max() < 0.1


@pytest.mark.parametrize("kind", BODIES)
def test_what_is_lifted_lets_go(kind):
    robot, _ = on_a_slope(kind, 0.0, 0.5)
    state = gone(robot, 0.005, 10)[-1].state
    assert len(robot.contacts(state, "ground")) >= 3
    robot.set_gravity((0, 0, G))
    motion = Dynamics(robot, 0.005)
    for _ in range(10):
        state = motion.step(state).require().state
    assert len(robot.contacts(state, "ground")) == 0
    assert middle(robot, state)[2] > middle(robot, robot.rest())[2] + 0.005


def ball():
    mesh = pl.solids.sphere(0.02).filled(size=0.008)
    return pl.TetBody(mesh, pl.Corotational(E=5e4, nu=0.4), density=1000, damping=(0, 0.005))


@pytest.mark.filterwarnings("ignore:the filled volume")
def test_a_soft_ball_settles_with_its_weight_as_normal_force():
    body = ball()
    robot = pl.Robot(body, gravity=(0, 0, -G))
    robot.touch("ground", Plane(offset=-0.021))
    result = settled(robot).require()
    report = robot.contacts(result.state, "ground")
    assert report.normal_forces.sum() == pytest.approx(body.load_masses.sum() * G, rel=1e-6)
    assert (report.gaps > -1e-5).all()
    assert result.state.x[:, 2].min() > -0.02101


@pytest.mark.filterwarnings("ignore:the filled volume")
def test_a_ball_at_ten_metres_per_second_does_not_pass_a_thin_shell():
    """1 mm thin, while it would go 50 mm in a step."""
    robot = pl.Robot(ball(), gravity=(0, 0, 0))
    shell = pl.make.box((0.2, 0.2, 0.001), (4, 4, 1)).translated((-0.1, -0.1, -0.05)).surface()
    robot.touch("shell", Solid(shell))
    state, motion = robot.rest(), Dynamics(robot, 0.005)
    state = replace(state, v=np.tile([0.0, 0.0, -10.0], (len(state.x), 1)))
    touched = 0
    for _ in range(8):
        result = motion.step(state).require()
        state, touched = result.state, touched + len(robot.contacts(result.state, "shell"))
        assert result.penetration < 1e-6
        assert state.x[:, 2].min() > -0.0491
    assert touched > 0


def test_a_rigid_ball_rolls_down_at_five_sevenths():
    """And friction is 2/7 m g sin a, both within 1 %."""
    radius, mass, angle, h = 0.02, 0.05, np.radians(10), 0.002
    body = pl.RigidBody(mass=mass, center=(0, 0, radius), inertia=0.4 * mass * radius**2 * np.ones(3))
    robot = pl.Robot(body, gravity=slope(10))
    robot.touch("ground", Plane(friction=0.5), surface=Sphere(center=(0, 0, radius), radius=radius))
    results = gone(robot, h, 250)
    way = results[-1].state.x[0, 0]
    assert way == pytest.approx(0.5 * 5 / 7 * G * np.sin(angle) * 0.5**2, rel=0.01)
    report = robot.contacts(results[-1].state, "ground")
    np.testing.assert_allclose(
        report.force, [-2 / 7 * mass * G * np.sin(angle), 0, mass * G * np.cos(angle)], rtol=0.01, atol=1e-5
    )
    assert max(result.penetration for result in results) < 1e-8


def test_forces_are_newtons_whatever_the_step():
    robot, _ = on_a_slope("tets", 35.0, 0.5)
    forces = [robot.contacts(gone(robot, h, round(0.3 / h))[-1].state, "ground").force for h in (0.006, 0.003)]
    np.testing.assert_allclose(forces[0], forces[1], rtol=0.01, atol=1e-4)


@pytest.mark.filterwarnings("ignore:the filled volume")
def test_mean_forces_over_a_second_do_not_depend_on_the_step():
    """A soft ball that falls on a slope, bounces and rolls: less than 1 % from h to h/2."""
    means = []
    for h in (0.004, 0.002):
        robot = pl.Robot(ball(), gravity=slope(8.0))
        robot.touch("ground", Plane(offset=-0.025, friction=0.6))
        results = gone(robot, h, round(1.0 / h))
        means.append(np.mean([robot.contacts(result.state, "ground").force for result in results], axis=0))
        assert max(result.missed for result in results) < 1e-6
    np.testing.assert_allclose(means[0], means[1], rtol=0.0, atol=0.01 * np.linalg.norm(means[1]))


def test_a_block_goes_along_with_a_platform():
    """That begins to move at 20 mm/s within a step, slowly enough for friction: what sticks goes along."""
    robot, _ = on_a_slope("tets", 0.0, 0.8)
    state, motion, h = gone(robot, 0.005, 10)[-1].state, Dynamics(robot, 0.005), 0.005
    begin = middle(robot, state)
    for k in range(1, 41):
        robot.move_obstacle("ground", (0.02 * h * k, 0, 0))
        state = motion.step(state).require().state
    np.testing.assert_allclose(middle(robot, state) - begin, [0.004, 0, 0], atol=4e-5)


def test_objects_that_start_inside_come_out_step_by_step():
    robot = pl.Robot(BODIES["rigid"](), gravity=(0, 0, -G))
    robot.touch("ground", Plane(offset=0.01))
    state, motion = robot.rest(), Dynamics(robot, 0.005)
    depths = []
    for _ in range(40):
        result = motion.step(state).require()
        state = result.state
        depths.append(result.penetration)
    assert depths[-1] < 1e-6
    assert np.isfinite(state.x).all()


def test_states_keep_their_contacts_in_files(tmp_path):
    robot, _ = on_a_slope("tets", 25.0, 0.5)
    state = gone(robot, 0.005, 10)[-1].state
    state.save(tmp_path / "state")
    again = State.load(tmp_path / "state")
    motion = Dynamics(robot, 0.005)
    np.testing.assert_array_equal(motion.step(state).state.x, motion.step(again).state.x)
    np.testing.assert_array_equal(robot.contacts(state, "ground").forces, robot.contacts(again, "ground").forces)


def test_a_plant_takes_over_touches_with_friction_of_its_own():
    robot, _ = on_a_slope("tets", 25.0, 0.5)
    robot.actuate("push", pl.Force((0.04, 0.015, 0.01), direction=(1, 0, 0)), effort=(0, 1))
    ways = []
    for own in (None, {"ground": 0.2}):
        plant = SimulatedPlant(robot, 0.005, contact_friction=own)
        begin = plant.state.x.copy()
        plant.advance(np.zeros(1), 0.2)
        ways.append(float(np.abs(plant.state.x - begin).max()))
    assert ways[0] < 1e-4 < 0.01 < ways[1]


def test_a_plant_takes_over_every_touch_and_leaves_the_robot_alone():
    """Friction of its own where that is given, the robot's elsewhere, obstacles where they are; the robot stays as it is."""
    robot, _ = on_a_slope("tets", 0.0, 0.5)
    robot.touch("wall", Plane(normal=(-1, 0, 0), offset=-1.0), friction=0.2)
    robot.move_obstacle("wall", (-0.95, 0, 0))  # at x = 0.05
    robot.actuate("push", pl.Force((0.04, 0.015, 0.01), direction=(1, 0, 0)), effort=(0, 1))
    plant = SimulatedPlant(robot, 0.005, contact_friction={"ground": 0.1}, method="newton")
    assert {name: touch.friction for name, touch in plant.robot.touches.items()} == {"ground": 0.1, "wall": 0.2}
    assert {name: touch.friction for name, touch in robot.touches.items()} == {"ground": 0.5, "wall": 0.2}
    plant.advance(np.full(1, 0.05), 0.25)  # [N]: more than a tenth of the weight, less than half
    assert plant.failures == 0
    assert plant.state.x[:, 0].max() == pytest.approx(0.05, abs=1e-6)
    assert plant.robot.contacts(plant.state, "wall").force[0] < 0.0
    for bad in ({"floor": 0.1}, {"ground": -0.1}):
        with pytest.raises(InputError):
            SimulatedPlant(robot, 0.005, contact_friction=bad)


def test_a_plant_that_rolls_on_begins_as_it_was_made():
    wheel = pl.TetBody(pl.make.tube(0.015, 0.02, 0.015, 0.006), pl.Corotational(E=5e5, nu=0.3), damping=(0, 0.015))
    robot = pl.Robot(wheel, gravity=G * np.array([np.sin(0.5), -np.cos(0.5), 0.0]))
    robot.touch("ground", Plane(normal=(0, 1, 0), offset=-0.0201, friction=0.8))
    robot.actuate("push", pl.Force((0.02, 0.0, 0.0), direction=(1, 0, 0)), effort=(0, 1))
    plant = SimulatedPlant(robot, 0.005)
    np.testing.assert_array_equal(plant.state.x, plant.robot.rest().x)
    plant.advance(np.zeros(1), 0.1)
    assert plant.failures == 0


def build_touching():
    """A robot that touches something, for two processes."""
    robot, _ = on_a_slope("tets", 0.0, 0.5)
    robot.actuate("push", pl.Force((0.04, 0.015, 0.01), direction=(1, 0, 0)), effort=(0, 1))
    robot.effect("corner", pl.Point(near=(0.0, 0.0, 0.02)))
    return robot


def test_what_does_not_know_contact_says_so():
    robot = build_touching()
    for refused in (
        lambda: TwoRates(build_touching),
        lambda: pl.Inverse(robot).solve_pose(robot.rest(), corner=(0.0, 0.0, 0.02)),
        lambda: pl.Statics(robot).step(robot.rest()),
        lambda: pl.natural_modes(robot, 3),
    ):
        with pytest.raises(InputError, match="contact") as told:
            refused()
        assert told.value.remedy
    with pytest.raises(SupportError):
        pl.Statics(robot).solve()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"other": "ground"}, "obstacle"),
        ({"other": Plane(), "friction": -1.0}, "friction"),
        ({"other": Plane(), "spacing": 0.0}, "spacing"),
        ({"other": Plane(normal=(0, 0, 0))}, "normal"),
        ({"other": Plane(), "surface": Sphere()}, "RigidBody"),
    ],
)
def test_bad_touches_are_named(arguments, told):
    robot = pl.Robot(BODIES["tets"](), gravity=(0, 0, -G))
    with pytest.raises(InputError, match=told):
        robot.touch("ground", **arguments)
    assert not robot.touches
    with pytest.raises(InputError, match="no touch"):
        robot.move_obstacle("ground", (0, 0, 0))


def test_a_corner_of_a_solid_does_not_enter_a_face():
    """A block with a wide face lies on a pyramid whose tip is below the middle of that face."""
    tip = pl.SurfaceMesh(
        [(0, 0, 0.01), (0.005, 0.005, 0), (-0.005, 0.005, 0), (-0.005, -0.005, 0), (0.005, -0.005, 0)],
        [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1), (1, 3, 2), (1, 4, 3)],
    )
    mesh = pl.make.box((0.04, 0.04, 0.01), (1, 1, 1)).translated((-0.021, -0.019, 0.0102))
    robot = pl.Robot(pl.RigidBody(mesh.surface(), density=1000), gravity=(0, 0, -G))
    robot.touch("tip", Solid(tip))
    results = gone(robot, 0.005, 8)
    report = robot.contacts(results[-1].state, "tip")
    assert len(report) == 1
    np.testing.assert_allclose(report.points, [[0, 0, 0.01]], atol=1e-12)
    np.testing.assert_allclose(report.normals, [[0, 0, 1]], atol=0.05)
    assert report.force[2] > 0.0
    assert max(result.penetration for result in results) < 1e-6


def test_an_obstacle_that_jumps_into_a_robot_is_left_step_by_step():
    """It tells how deep it is, and nothing is broken; the next steps go on."""
    robot, _ = on_a_slope("tets", 0.0, 0.5)
    state, motion = gone(robot, 0.005, 10)[-1].state, Dynamics(robot, 0.005)
    robot.move_obstacle("ground", (0, 0, 0.008))
    depths = []
    for _ in range(60):
        result = motion.step(state)
        assert result.ok
        state = result.state
        depths.append(result.penetration)
    assert depths[0] > 1e-3
    assert depths[-1] < 1e-6
    assert np.isfinite(state.x).all()
    assert state.x[:, 2].min() > 0.0079


def test_candidates_that_stay_open_are_not_asked_and_those_that_close_are(monkeypatch):
    """A block that falls and tips onto the ground: the same motion as with every candidate in every step."""

    def fallen():
        robot = pl.Robot(BODIES["tets"](), gravity=slope(20.0, 0.7))
        robot.touch("ground", Plane(offset=-0.002, friction=0.4))
        return np.array([result.state.x for result in gone(robot, 0.005, 30)])

    few = fallen()
    monkeypatch.setattr(Held, "_likely", lambda self, now, short: np.ones(len(now), bool))
    np.testing.assert_allclose(few, fallen(), rtol=0.0, atol=1e-11)
