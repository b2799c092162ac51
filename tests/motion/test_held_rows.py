"""Imposed displacements: the efforts that hold them, slack cables, limits, statics and dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from hollow import hollow_box
from pliant import (
    Cable,
    Cavity,
    Corotational,
    Dynamics,
    Force,
    Frame,
    NeoHookean,
    Point,
    Robot,
    Simulation,
    Statics,
    TetBody,
    make,
    natural_modes,
    solids,
)
from pliant.algebra.rotation import exponential, from_quaternion, to_quaternion
from pliant.errors import InputError
from pliant.motion.held import Held
from pliant.robot.extra import NO_ROWS

MESH = make.box((0.1, 0.016, 0.016), (10, 2, 2))
ROUTES = {"up": (0.008, 0.014), "left": (0.014, 0.008), "down": (0.008, 0.002)}


def route(name, **options):
    y, z = ROUTES[name]
    return Cable([(x, y, z) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, y, z), **options)


def arm(law=None, damping=(0.0, 0.0), order=1, mesh=MESH):
    law = Corotational(E=300e3, nu=0.4) if law is None else law
    body = TetBody(mesh, law, density=1100, order=order, fixed=mesh.where(x_below=0), damping=damping)
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.sense("tip", Point(near=(0.1, 0.008, 0.008)))
    return robot


@pytest.mark.parametrize("order", [1, 2])
def test_a_shortened_cable_is_a_cable_under_its_tension(order):
    """Shortened by 5 mm, the state is that under the tension which results, imposed as an effort; the length is held."""
    robot = arm(order=order)
    robot.impose("up", route("up"), displacement=0.005)
    result = Statics(robot, tolerance=1e-10).solve().require()
    tension = robot.effort(result.state, "up")
    assert robot.displacement(result.state, "up") == pytest.approx([0.005], abs=1e-11)
    assert tension[0] > 1.0
    assert result.iterations < 15
    other = arm(order=order)
    other.impose("up", route("up"), effort=tension)
    state = Statics(other, tolerance=1e-11).solve().require().state
    assert np.abs(state.x - result.state.x).max() < 1e-8


def test_a_cable_goes_slack_and_does_not_push():
    """Paid out, a cable is slack: no tension, more taken in than given, the arm as without it; with limits it pushes."""
    robot = arm()
    robot.impose("up", route("up"), displacement=-0.004)
    state = Statics(robot).solve().require().state
    assert robot.effort(state, "up") == pytest.approx([0.0])
    assert robot.displacement(state, "up")[0] > -0.004
    free = Statics(arm()).solve().require().state
    assert np.abs(state.x - free.x).max() < 1e-9
    rod = arm()
    rod.impose("up", route("up", pushes=True), displacement=-0.004)
    state = Statics(rod).solve().require().state
    assert rod.effort(state, "up")[0] < -0.5
    assert rod.displacement(state, "up") == pytest.approx([-0.004])


def test_opposite_cables_find_which_is_slack():
    """Two cables on opposite sides, both taken in by different lengths: forces and lengths obey who pulls."""
    robot = arm()
    robot.impose("up", route("up"), displacement=0.004)
    robot.impose("down", route("down"), displacement=-0.008)
    robot.impose("left", route("left"), displacement=0.005)
    state = Statics(robot).solve().require().state
    assert robot.effort(state, "down") == pytest.approx([0.0])
    assert robot.displacement(state, "down")[0] > -0.008
    assert robot.displacement(state, "up") == pytest.approx([0.004])
    assert robot.displacement(state, "left") == pytest.approx([0.005])
    given = float(robot.displacement(state, "down")[0]) + 0.001
    robot.set_displacement("down", given)
    taut = Statics(robot).solve(state).require().state
    assert robot.effort(taut, "down")[0] > 0.1
    assert robot.displacement(taut, "down") == pytest.approx([given])


def test_a_weak_motor_gives_way():
    """With a largest effort the displacement is not reached, and the effort is that limit."""
    robot = arm()
    robot.impose("up", route("up"), displacement=0.01, effort_limits=(0, 1.0))
    state = Statics(robot).solve().require().state
    assert robot.effort(state, "up") == pytest.approx([1.0])
    assert robot.displacement(state, "up")[0] < 0.01
    other = arm()
    other.impose("up", route("up"), effort=1.0)
    assert np.abs(Statics(other).solve().require().state.x - state.x).max() < 1e-9


def test_cables_on_the_same_way_share_the_tension():
    """Two equal cables of one length: half the tension each, and the state that one alone gives."""
    robot, single = arm(), arm()
    for name in ("one", "two"):
        robot.impose(name, route("up"), displacement=0.004)
    single.impose("one", route("up"), displacement=0.004)
    state, alone = (Statics(r).solve().require().state for r in (robot, single))
    assert np.abs(state.x - alone.x).max() < 1e-8
    half = 0.5 * single.effort(alone, "one")
    assert robot.effort(state, "one") == pytest.approx(half, rel=1e-3)
    assert robot.effort(state, "two") == pytest.approx(half, rel=1e-3)


def test_a_syringe_fills_a_chamber():
    """A given volume: the pressure that results, imposed, gives the same volume."""
    chamber = solids.box((0.06, 0.008, 0.004), at=(0.02, 0.004, 0.008))
    mesh = hollow_box((0.1, 0.016, 0.016), (10, 4, 4), chamber)
    robot = arm(NeoHookean(E=200e3, nu=0.4), mesh=mesh)
    robot.impose("air", Cavity(chamber), displacement=4e-7)
    state = Statics(robot, load_steps=2).solve().require().state
    pressure = robot.effort(state, "air")
    assert robot.displacement(state, "air") == pytest.approx([4e-7], rel=1e-8)
    other = arm(NeoHookean(E=200e3, nu=0.4), mesh=mesh)
    other.impose("air", Cavity(chamber), effort=pressure)
    assert other.displacement(Statics(other).solve().require().state, "air") == pytest.approx([4e-7], rel=1e-6)


def test_a_pose_can_be_imposed():
    """A frame held at a position and an orientation: wrench by statics, pose to 1e-8."""
    robot = arm()
    target = np.array([0.09, 0.012, 0.02, *to_quaternion(exponential([0.0, -0.5, 0.2]))])
    robot.impose("end", Frame(MESH.where(x_above=0.1)), displacement=target)
    state = Statics(robot, load_steps=3).solve().require().state
    reading = robot.displacement(state, "end", as_target=True)
    assert reading[:3] == pytest.approx(target[:3], abs=1e-8)
    assert np.abs(from_quaternion(reading[3:]) - from_quaternion(target[3:])).max() < 1e-8
    wrench = robot.effort(state, "end")
    reactions = robot.reactions(state)
    weight = robot.equations.masses.sum() * robot.gravity
    assert wrench[:3] + weight + reactions.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)


def test_linear_steps_converge_to_the_equilibrium():
    """Real-time steps of statics end where Newton does."""
    robot = arm()
    robot.impose("up", route("up"), displacement=0.005)
    robot.impose("down", route("down"), displacement=-0.02)
    state = robot.rest()
    statics = Statics(robot)
    for _ in range(12):
        state = statics.step(state).require().state
    end = statics.solve().require().state
    assert np.abs(state.x - end.x).max() < 1e-7
    assert state.efforts == pytest.approx(end.efforts, abs=1e-5)


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_dynamics_hold_the_displacement_at_every_step(method):
    """A cable taken in over 0.2 s and held: the length is that given, and the robot comes to rest at the static answer."""
    robot = arm(damping=(5.0, 0.02))
    robot.impose("up", route("up"), displacement=0.0)
    simulation = Simulation(robot, h=0.01, motion=Dynamics(robot, 0.01, method=method))
    for k in range(120):
        given = 0.004 * min(1.0, (k + 1) / 20)
        robot.set_displacement("up", given)
        simulation.step().require()
        short = robot.displacement(simulation.state, "up")[0] - given
        assert abs(short) < (1e-10 if method == "newton" else 2e-5)
    end = Statics(robot).solve().require().state
    assert np.abs(simulation.state.x - end.x).max() < 1e-6
    assert simulation.state.efforts == pytest.approx(end.efforts, rel=1e-3)


def test_a_jerked_cable_goes_slack_in_dynamics():
    """Released at once from a bent pose, the cable is slack while the arm swings back, never pushing."""
    robot = arm(damping=(1.0, 0.005))
    robot.impose("up", route("up"), displacement=0.006)
    motion = Dynamics(robot, 0.002, method="newton")
    state = Statics(robot).solve().require().state
    robot.set_displacement("up", -0.003)
    tensions = []
    for _ in range(60):
        state = motion.step(state).require().state
        tensions.append(float(robot.effort(state, "up")[0]))
        assert robot.displacement(state, "up")[0] >= -0.003 - 1e-9
    assert min(tensions) >= 0.0
    assert tensions[0] == 0.0


def test_driven_ports_with_prescribed_nodes():
    """A prescribed base that moves and a cable that is held: both are kept."""
    body = TetBody(MESH, Corotational(E=300e3, nu=0.4), prescribed=MESH.where(x_below=0))
    robot = Robot(body)
    robot.impose("up", route("up"), displacement=0.003)
    lifted = robot.prescribed_rest + np.array([0, 0, 0.002])
    state = Statics(robot).solve(prescribed=lifted).require().state
    assert robot.displacement(state, "up") == pytest.approx([0.003])
    assert state.x[MESH.where(x_below=0)] == pytest.approx(lifted)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda r: r.impose("up", route("up")), "'up' has no effort and displacement"),
        (lambda r: r.impose("up", route("up"), 1.0, displacement=0.0), "'up' has both effort and displacement"),
        (lambda r: r.impose("up", route("up"), 1.0, effort_limits=(0, 1)), "an effort and limits"),
        (lambda r: r.impose("up", route("up"), displacement=np.nan), "displacement of 'up' is nan"),
        (lambda r: r.impose("up", route("up"), displacement=[1, 2]), "displacement of 'up': .*2 values"),
        (lambda r: r.impose("up", route("up"), displacement=0.0, effort_limits=(2, 1)), "contradict"),
        (lambda r: r.set_displacement("tip", 0.0), "'tip' has no displacement to set"),
        (lambda r: r.set_displacement("tp", 0.0), "no port 'tp'"),
    ],
)
def test_bad_input_is_named(action, message):
    """Each mistake raises an InputError that names the port."""
    with pytest.raises(InputError, match=message):
        action(arm())


def test_efforts_of_driven_ports_cannot_be_set():
    """The effort follows from the displacement."""
    robot = arm()
    robot.impose("up", route("up"), displacement=0.0)
    with pytest.raises(InputError, match="'up' is a held"):
        robot.set_effort("up", 1.0)
    robot.impose("push", Force((0.1, 0.008, 0.008), direction=(0, 0, 1)), effort=0.1)
    with pytest.raises(InputError, match="no displacement to set"):
        robot.set_displacement("push", 0.0)


def test_a_moving_pull_does_the_work_that_the_arm_stores():
    """A cable of fixed length whose pull point goes round a path: the work at the pull is the gain of energy, also slack."""
    robot = arm(NeoHookean(E=200e3, nu=0.4))
    robot.impose("up", route("up"), displacement=0.002)
    statics = Statics(robot, tolerance=1e-11)
    state, start = statics.solve().require().state, np.array([-0.02, 0.008, 0.014])
    body, load = robot.bodies[0], robot.equations.masses[:, None] * robot.gravity

    def energy(now):
        return body.energy(now.x) - float(np.vdot(load, now.x))

    def force(now, pull):
        way = robot.ports["up"].attachment.positions(now.x)[0] - pull
        return -robot.effort(now, "up")[0] * way / np.linalg.norm(way)

    first, work, last = energy(state), 0.0, start
    held = force(state, start)
    for t in np.linspace(0, 1, 81)[1:]:
        pull = start + np.array([-0.006 * t, 0.01 * np.sin(2 * t), 0.004 * t])
        robot.move_pull("up", pull)
        state = statics.solve(state).require().state
        now = force(state, pull)
        work += 0.5 * float((held + now) @ (pull - last))
        held, last = now, pull
    assert robot.effort(state, "up")[0] > 0.5
    assert work == pytest.approx(energy(state) - first, rel=1e-4)
    robot.move_pull("up", (-0.01, 0.008, 0.014))
    slack = statics.solve(state).require().state
    assert robot.effort(slack, "up") == pytest.approx([0.0])


def test_a_moved_pull_is_seen_by_the_next_step():
    """Moving the pull point changes the displacement at once and the rows with it; the cable given by the user is untouched."""
    robot, cable = arm(), route("up")
    robot.impose("up", cable, effort=1.0)
    state = Statics(robot).solve().require().state
    before, model = robot.displacement(state, "up"), robot.linearize(state).model
    robot.move_pull("up", (-0.02, 0.03, 0.014))
    after = robot.displacement(state, "up")
    assert after[0] < before[0] - 0.005
    assert cable.pull == pytest.approx([-0.02, 0.008, 0.014])
    moved = robot.linearize(state).model
    assert moved.delta[robot.ports["up"].rows] == pytest.approx(after)
    assert np.abs(moved.W - model.W).max() > 1e-3 * np.abs(model.W).max()
    sideways = Statics(robot).solve(state).require().state
    assert robot.displacement(sideways, "tip")[1] > robot.displacement(state, "tip")[1] + 1e-4


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda r: r.move_pull("up", (0, 0, np.nan)), "port 'up': pull, point 0 is"),
        (lambda r: r.move_pull("up", [(0, 0, 0), (0, 0, 1)]), "2 places"),
        (lambda r: r.move_pull("tip", (0, 0, 0)), "'tip' is a Point, not a cable"),
        (lambda r: r.move_pull("tie", (0, 0, 0)), "without a pull point"),
        (lambda r: r.move_pull("nothing", (0, 0, 0)), "no port 'nothing'"),
    ],
)
def test_bad_pulls_are_named(action, message):
    """Each mistake raises an InputError that names the port, and the cable stays where it was."""
    robot = arm()
    robot.impose("up", route("up"), effort=0.0)
    robot.impose("tie", Cable([(0.02, 0.008, 0.014), (0.06, 0.008, 0.014)]), effort=0.0)
    with pytest.raises(InputError, match=message):
        action(robot)
    assert robot.displacement(robot.rest(), "up") == pytest.approx([0.0])


def test_a_slack_cable_does_not_pull_in_a_step_that_is_taken_in_parts():
    """A sudden push takes 32 parts; a cable that hangs 80 mm slack all the way changes nothing of the motion."""
    ends = []
    for slack in (False, True):
        robot = arm()
        robot.impose("push", Force((0.1, 0.008, 0.008), direction=(0, 0, -1)), effort=10.0)
        if slack:
            robot.impose("up", route("up"), displacement=-0.08)
        result = Dynamics(robot, 0.05).step(robot.rest()).require()
        assert result.iterations > 8
        ends.append(result.state.x)
    assert np.abs(ends[1] - ends[0]).max() < 1e-12


def test_a_taut_cable_is_paid_out_in_parts():
    """A bent arm whose cable is let out at once: in parts the length follows, and the tension is that of the end."""
    robot = arm(damping=(0.0, 0.02))
    robot.impose("up", route("up"), displacement=0.02)
    state = Statics(robot).solve().require().state
    robot.set_displacement("up", -0.03)
    held = Held(robot, state, NO_ROWS)
    assert held.way_to_go(state.pose, state.efforts) == pytest.approx([0.05])
    assert held.way_to_go(state.pose, np.zeros_like(state.efforts)) == pytest.approx([0.0])
    result = Dynamics(robot, 0.01).step(state).require()
    assert robot.effort(result.state, "up")[0] >= 0.0
    assert robot.displacement(result.state, "up")[0] >= -0.03 - 1e-3


@pytest.mark.parametrize("method", ["statics", "linearized", "newton"])
def test_a_spring_holds_with_what_it_is_stretched_by(method):
    """A tip that is held 10 mm above by 20 N/m: force and stretch go together, and the state is that under this force as an
    imposed one; in statics, and at rest after motion. Stiffer springs hold more."""
    robot, aim = arm(damping=(0.0, 0.02)), np.array([0.1, 0.008, 0.018])
    spring = Point(near=(0.1, 0.008, 0.008))
    robot.impose("hand", spring, displacement=aim, compliance=1 / 20.0)
    state = Statics(robot, tolerance=1e-11).solve().require().state
    if method != "statics":
        motion, moving = Dynamics(robot, 0.02, method=method, scheme="euler"), robot.rest()
        for _ in range(150):
            moving = motion.step(moving).require().state
        assert np.abs(moving.x - state.x).max() < 1e-6
        state = moving
    force = robot.effort(state, "hand")
    assert force == pytest.approx(20.0 * (aim - robot.displacement(state, "hand")), abs=1e-6)
    assert force[2] > 0.02
    other = arm()
    other.impose("hand", Point(near=(0.1, 0.008, 0.008)), effort=force)
    assert np.abs(Statics(other).solve().require().state.x - state.x).max() < 1e-6
    robot.set_compliance("hand", 1 / 200.0)
    assert robot.effort(Statics(robot).solve().require().state, "hand")[2] > 1.2 * force[2]


def test_springs_that_cannot_be_are_refused():
    """Below zero, on a port whose effort is given; and where only stiff holds are known."""
    robot = arm()
    with pytest.raises(InputError, match="compliance"):
        robot.impose("hand", Point(near=(0.1, 0.008, 0.008)), displacement=np.zeros(3), compliance=-1.0)
    with pytest.raises(InputError, match="compliance= are for displacement="):
        robot.impose("hand", Point(near=(0.1, 0.008, 0.008)), effort=np.zeros(3), compliance=1.0)
    robot.impose("hand", Point(near=(0.1, 0.008, 0.008)), displacement=np.zeros(3), compliance=1.0)
    with pytest.raises(InputError, match="modes"):
        natural_modes(robot)
