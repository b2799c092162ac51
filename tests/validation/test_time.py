"""Steps through time: order and losses of backward Euler, where a run ends, and motion that is prescribed or rigid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from theory import fitted_slope

from pliant.body import TetBody
from pliant.material import Corotational, Linear
from pliant.motion import Dynamics, Simulation, Statics, natural_modes
from pliant.port import Point
from pliant.robot import Robot, State
from pliant.shape import make

BEAM = make.box((0.1, 0.02, 0.02), (8, 2, 2))


def placed(robot: Robot, x, v=None) -> State:
    """The robot with its nodes at x, moving at v."""
    state = robot.rest()
    return replace(state, pose=replace(state.pose, x=x), v=np.zeros_like(x) if v is None else v)


def after(dynamics: Dynamics, state: State, steps: int, prescribed=None) -> State:
    """The state so many steps later; prescribed(t) gives the held nodes at the end of each."""
    for k in range(1, steps + 1):
        goal = None if prescribed is None else prescribed(k * dynamics.h)
        state = dynamics.step(state, prescribed=goal).require().state
    return state


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_free_mode_decays_as_backward_euler_must(order, method, figure):
    """A mode let go vibrates as Re (1 - i om h)^-n of its amplitude, and its error against cos(om t) is of first order.

    For q'' = -om^2 q backward Euler multiplies the complex amplitude by 1 / (1 - i om h) in every step.
    """
    body = TetBody(BEAM, Linear(E=1e5, nu=0.3), order=order, fixed=BEAM.where(x_below=0))
    robot = Robot(body)
    modes = natural_modes(robot, 1)
    om, shape = 2 * np.pi * modes.frequencies[0], modes.shapes[0]
    end, counts = 0.4 * 2 * np.pi / om, np.array([50, 100, 200, 400])
    errors = []
    for steps in counts:
        h = end / steps
        state = after(
            Dynamics(robot, h, method=method, scheme="euler"), placed(robot, body.rest + 1e-3 * shape), int(steps)
        )
        amplitude = np.vdot(body.mass() @ (state.x - body.rest).ravel(), shape.ravel()) / 1e-3
        assert amplitude == pytest.approx(((1 - 1j * om * h) ** -int(steps)).real, abs=1e-6)
        other = state.x - body.rest - 1e-3 * amplitude * shape
        assert np.abs(other).max() < 1e-6 * np.abs(shape).max() * 1e-3
        errors.append(abs(amplitude - np.cos(om * end)))
    slope = fitted_slope(end / counts, errors)
    figure(f"time.mode_order{order}_{method}_slope", slope, "", 1, "backward Euler")
    assert 0.9 < slope < 1.1


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_bending_far_is_first_order_in_the_step(method, figure):
    """A beam that falls under its weight by a third of its length: the error at a fixed time, against a fine run, halves
    with the step."""
    body = TetBody(BEAM, Corotational(E=4e4, nu=0.3), fixed=BEAM.where(x_below=0), damping=(0.0, 1e-3))
    robot = Robot(body, gravity=(0, 0, -9.81))
    end = 0.08
    fine = after(Dynamics(robot, end / 4096, method=method, scheme="euler"), robot.rest(), 4096).x
    counts = np.array([64, 128, 256])
    found = [after(Dynamics(robot, end / n, method=method, scheme="euler"), robot.rest(), int(n)).x for n in counts]
    errors = [np.abs(x - fine).max() for x in found]
    slope = fitted_slope(end / counts, errors)
    figure(f"time.falling_{method}_slope", slope, "", 1, "backward Euler")
    assert 0.85 < slope < 1.25


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize(("order", "volume"), [(1, "elements"), (1, "patches"), (2, "elements")])
def test_a_damped_run_ends_where_statics_says(method, order, volume):
    """After a long damped run the nodes are at the static equilibrium, to 1e-6 of the length."""
    law = Corotational(E=1e5, nu=0.45)
    body = TetBody(BEAM, law, order=order, volume=volume, fixed=BEAM.where(x_below=0), damping=(0.0, 0.1))
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.sense("tip", Point(near=(0.1, 0.01, 0.01)))
    still = Statics(robot).solve().require().state
    simulation = Simulation(robot, h=0.05, motion=Dynamics(robot, 0.05, method=method))
    record = simulation.run(5.0, record=["tip"])
    assert np.abs(still.x - body.rest).max() > 0.02
    assert np.abs(simulation.state.x - still.x).max() < 1e-6 * 0.1
    assert record.time[-1] == pytest.approx(5.0)
    assert record["tip"][-1] == pytest.approx(robot.displacement(still, "tip"), abs=1e-7)


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("order", [1, 2])
def test_a_free_body_falls_with_g(order, method):
    """Without supports the velocity is g t everywhere. The path is g h^2 n (n + 1) / 2 with backward Euler, and
    g (t^2 + h^2) / 2 with the second-order scheme, whose first step is one of backward Euler."""
    body = TetBody(BEAM, Corotational(E=1e5, nu=0.4), order=order)
    g = np.array([0.3, -0.2, -9.81])
    robot = Robot(body, gravity=g)
    h, steps = 0.01, 30
    for scheme, way in (("euler", steps * (steps + 1)), ("generalized-alpha", steps**2 + 1)):
        state = after(Dynamics(robot, h, method=method, scheme=scheme), robot.rest(), steps)
        assert state.time == pytest.approx(h * steps)
        assert np.abs(state.v - g * h * steps).max() < 1e-8
        assert np.abs(state.x - body.rest - g * h**2 * way / 2).max() < 1e-9


def test_momentum_of_a_spinning_body(figure):
    """A free body thrown with a spin keeps its linear momentum to rounding; what it loses of its angular momentum in a
    tenth of a turn is of first order in the step."""
    body = TetBody(BEAM, Corotational(E=1e5, nu=0.4))
    robot = Robot(body)
    M = body.mass()
    middle, spin, throw = body.rest.mean(axis=0), np.array([0.3, 1.0, 6.0]), np.array([0.5, 0.2, -0.1])
    v0 = throw + np.cross(spin, body.rest - middle)

    def momenta(x, v):
        p = (M @ v.ravel()).reshape(-1, 3)
        return p.sum(axis=0), np.cross(x, p).sum(axis=0)

    linear, angular = momenta(body.rest, v0)
    end, counts, losses = 0.1, np.array([20, 40, 80, 160]), []
    for steps in counts:
        dynamics = Dynamics(robot, end / steps, method="newton", scheme="euler", tolerance=1e-10)
        state = after(dynamics, placed(robot, body.rest, v0), int(steps))
        p, L = momenta(state.x, state.v)
        assert p == pytest.approx(linear, abs=1e-9 * np.linalg.norm(linear))
        losses.append(np.linalg.norm(L - angular) / np.linalg.norm(angular))
    slope = fitted_slope(end / counts, losses)
    for steps, loss in zip(counts, losses, strict=True):
        figure(f"time.spin_lost_percent_{steps}_steps", 100 * loss, "%", 0, "kept by a free body")
    figure("time.spin_slope", slope, "", 1, "backward Euler")
    assert losses[-1] < 0.01
    assert 0.8 < slope < 1.2


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("order", [1, 2])
def test_an_accelerated_base_feels_like_gravity(order, method):
    """A beam whose base is carried upwards with a constant acceleration settles into the shape it has under that weight."""
    root, a = BEAM.where(x_below=0), 6.0
    law = Corotational(E=1e5, nu=0.4)
    carried = TetBody(BEAM, law, order=order, prescribed=root, damping=(0.0, 0.1))
    robot = Robot(carried)
    base = carried.rest[robot.equations.assembly.prescribed]
    h, steps = 0.02, 75
    state = after(
        Dynamics(robot, h, method=method), robot.rest(), steps, lambda t: base + np.array([0, 0, 0.5 * a * t**2])
    )
    still = Robot(TetBody(BEAM, law, order=order, fixed=root), gravity=(0, 0, -a))
    x = Statics(still).solve().require().state.x
    assert np.abs(x - carried.rest).max() > 0.01
    assert np.abs(state.x - [0, 0, 0.5 * a * (h * steps) ** 2] - x).max() < 1e-6 * 0.1


def test_a_turning_base_carries_the_body_round():
    """A base turned slowly by a right angle leaves the beam in its rest shape, turned."""
    body = TetBody(BEAM, Corotational(E=1e5, nu=0.4), prescribed=BEAM.where(x_below=0), damping=(0.0, 0.05))
    robot = Robot(body)
    base = body.rest[robot.equations.assembly.prescribed]

    def turned(x, t):
        angle = np.pi / 2 * np.clip(t / 2.0, 0, 1)
        c, s = np.cos(angle), np.sin(angle)
        return x @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]).T

    state = after(Dynamics(robot, 0.02), robot.rest(), 250, lambda t: turned(base, t))
    assert np.abs(state.x - turned(body.rest, 5.0)).max() < 1e-6 * 0.1


@pytest.mark.parametrize("order", [1, 2])
def test_a_rigid_part_moves_as_a_very_stiff_one_would(order):
    """The last third of a falling beam as a rigid part: its distances never change, the motion is that of a beam whose
    last third is 1e5 times stiffer, and linearized steps converge to it."""
    end = BEAM.nodes[:, 0] > 0.07
    labels = (end[BEAM.tets].all(axis=1)).astype(int)
    mesh, root = BEAM.labelled(labels), BEAM.where(x_below=0)
    soft, stiff = Corotational(E=1e5, nu=0.3), Corotational(E=1e10, nu=0.3)
    rigid = TetBody(mesh, soft, order=order, fixed=root, rigid={"end": np.flatnonzero(end)})
    mixed = TetBody(mesh, {0: soft, 1: stiff}, order=order, fixed=root)

    def fallen(body, h, method):
        robot = Robot(body, gravity=(0, -3.0, -9.81))
        return after(Dynamics(robot, h, method=method), robot.rest(), round(0.15 / h)).x

    ids = rigid.supports.rigid["end"]
    x, X = fallen(rigid, 0.005, "newton"), rigid.rest
    lengths = [np.linalg.norm(p[ids][:, None] - p[ids][None], axis=2) for p in (x, X)]
    moved = np.abs(x - X).max()
    assert moved > 0.01
    assert np.abs(lengths[0] - lengths[1]).max() < 1e-12
    assert np.abs(x - fallen(mixed, 0.005, "newton")).max() < 1e-3 * moved
    errors = [np.abs(fallen(rigid, h, "linearized") - fallen(rigid, h, "newton")).max() for h in (0.003, 0.0015)]
    assert errors[1] < 0.7 * errors[0] < 0.1 * moved


def test_a_loose_rigid_body_keeps_turning():
    """A body that is one rigid part, spun about a main axis, turns at a constant rate about its middle, slower than at the
    start only by what backward Euler takes."""
    body = TetBody(BEAM, Corotational(E=1e5, nu=0.3), rigid={"all": np.arange(len(BEAM.nodes))})
    robot = Robot(body)
    middle = body.rest.mean(axis=0)
    rates = []
    for steps in (200, 400):
        spun = placed(robot, body.rest, np.cross([0, 0, 4.0], body.rest - middle))
        state = after(Dynamics(robot, 0.2 / steps, method="newton", scheme="euler"), spun, steps)
        arm = state.x - state.x.mean(axis=0)
        assert np.abs(state.x.mean(axis=0) - middle).max() < 1e-9
        rates.append(np.cross(arm, state.v)[:, 2].sum() / (arm[:, :2] ** 2).sum())
    losses = 4.0 - np.array(rates)
    assert losses[1] < 0.01 * 4.0
    assert losses[0] / losses[1] == pytest.approx(2, abs=0.2)
