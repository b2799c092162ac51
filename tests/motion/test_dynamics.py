"""Dynamics and simulations: both methods, damping, recordings, callbacks, failures."""

from __future__ import annotations

import csv
import warnings

import numpy as np
import pytest

from conftest import random_rotation
from pliant import (
    Corotational,
    Dynamics,
    Force,
    Linear,
    MooneyRivlin,
    NeoHookean,
    Point,
    Robot,
    Simulation,
    Statics,
    StVenantKirchhoff,
    TetBody,
    make,
)
from pliant.errors import InputError, PliantError, PliantWarning
from pliant.motion import Status, integrator_damping, natural_modes

MESH = make.box((0.06, 0.01, 0.01), (6, 1, 2))

damped_by_the_step = pytest.mark.filterwarnings("ignore:with steps of")


def beam(damping=(0.0, 0.0), law=None, fixed=True, **more):
    supports = {"fixed": MESH.where(x_below=0)} if fixed else {}
    body = TetBody(MESH, law or Corotational(E=2e5, nu=0.4), damping=damping, **supports, **more)
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.sense("tip", Point(near=(0.06, 0.005, 0.005)))
    return robot


def test_newton_steps_satisfy_the_backward_euler_equation():
    """M (v+ - v) + h (f(q+) - g + D v+) = 0 on the free nodes, with both kinds of damping."""
    robot = beam(damping=(2.0, 0.01))
    dynamics = Dynamics(robot, 0.02, method="newton", scheme="euler", tolerance=1e-11)
    state = robot.rest()
    for _ in range(3):
        before, state = state, dynamics.step(state).require().state
    body, h = robot.bodies[0], 0.02
    M = body.mass()
    D = 2.0 * M + 0.01 * body.stiffness(before.x, "warped")
    inertia = M @ (state.v - before.v).ravel() / h
    gravity = np.outer(body.load_masses, robot.gravity).ravel()
    balance = inertia + body.force(state.x).ravel() - gravity + D @ state.v.ravel()
    free = np.setdiff1d(np.arange(body.node_count), body.supports.fixed)
    assert np.abs(balance.reshape(-1, 3)[free]).max() < 1e-9 * np.abs(gravity).max() + 1e-9 * np.abs(inertia).max()
    assert np.allclose(state.x, before.x + h * state.v)


def test_linearized_and_newton_steps_agree_for_small_steps():
    """One linearization per step differs from Newton by second order in h."""
    ends = {}
    for h in (0.008, 0.004):
        for method in ("linearized", "newton"):
            robot = beam()
            state = robot.rest()
            for _ in range(round(0.04 / h)):
                state = Dynamics(robot, h, method=method).step(state).require().state
            ends[h, method] = state.x
    gaps = [np.abs(ends[h, "linearized"] - ends[h, "newton"]).max() for h in (0.008, 0.004)]
    assert gaps[0] < 3e-4
    assert gaps[1] < 0.6 * gaps[0]


def test_rigid_rotation_is_not_damped_by_stiffness_damping(rng):
    """D v is zero for a spin of a turned body with stiffness damping, because K0 turns with it; with mass damping it is
    a M v."""
    R = random_rotation(rng)
    for a, b in ((0.0, 0.05), (5.0, 0.0)):
        robot = Robot(TetBody(MESH, Corotational(E=2e6, nu=0.3), damping=(a, b)))
        state = robot.rest()
        state.x[:] = state.x @ R.T
        spin = np.cross([0.3, -0.2, 3.0], state.x)
        D = robot.equations.damping_blocks(state.x)
        force = robot.equations.times_blocks(D, spin)
        assert np.abs(force - a * robot.equations.momentum(spin)).max() < 1e-9
        stretch = robot.equations.times_blocks(D, state.x)
        assert (np.abs(stretch).max() > 1.0) == (b > 0)


def test_spin_is_nearly_kept():
    """A free spinning body loses little of its spin to backward Euler, and the less the smaller the step."""
    lost = []
    for h in (0.004, 0.002):
        robot = Robot(TetBody(MESH, Corotational(E=2e5, nu=0.3), damping=(0.0, 0.002)))
        state = robot.rest()
        state.v[:] = np.cross([0, 0, 3.0], state.x - state.x.mean(axis=0))
        before = _spin(robot, state)
        for _ in range(round(0.08 / h)):
            state = Dynamics(robot, h, method="newton", scheme="euler").step(state).require().state
        lost.append(1 - _spin(robot, state) / before)
    assert 0 < lost[0] < 0.05
    assert lost[1] < 0.6 * lost[0]


def _spin(robot, state):
    arms = state.x - state.x.mean(axis=0)
    return np.cross(arms, robot.equations.momentum(state.v)).sum(axis=0)[2]


def test_simulation_records_and_calls_back(tmp_path):
    """A run records the start and each step, a callback may change efforts and end it, the recording goes to CSV."""
    robot = beam(damping=(0.0, 0.02))
    robot.impose("lift", Force((0.06, 0.005, 0.005), direction=(0, 0, 1)), effort=0.0)
    simulation = Simulation(robot, h=0.01)
    seen = []

    def after(sim):
        seen.append(sim.state.time)
        sim.robot.set_effort("lift", 0.01 * len(seen))
        return len(seen) == 7

    record = simulation.run(1.0, record=["tip", "lift"], callback=after)
    assert len(record) == 8
    assert record.time == pytest.approx(0.01 * np.arange(8))
    assert seen == pytest.approx(list(record.time[1:]))
    assert record["tip"].shape == (8, 3)
    assert simulation.last.ok
    record.write(tmp_path / "run.csv")
    rows = list(csv.reader((tmp_path / "run.csv").read_text().splitlines()))
    assert rows[0] == ["time", "tip[0]", "tip[1]", "tip[2]", "lift[0]"]
    assert float(rows[-1][3]) == record["tip"][-1, 2]


def test_simulation_of_equilibria():
    """With a Statics as its motion, every step is an equilibrium."""
    robot = beam()
    simulation = Simulation(robot, h=0.1, motion=Statics(robot))
    simulation.run(0.2)
    assert simulation.state.time == pytest.approx(0.2)
    assert simulation.last.status is Status.CONVERGED


def test_the_clock_is_that_of_the_motion():
    """A motion with another time step than the simulation's is refused."""
    robot = beam()
    with pytest.raises(InputError, match="another time step"):
        Simulation(robot, h=0.01, motion=Dynamics(robot, 0.001))


@damped_by_the_step
def test_progress_is_shown_on_request(capsys):
    """progress=True draws a bar on stderr."""
    Simulation(beam(), h=0.01).run(0.02, progress=True)
    assert "simulating" in capsys.readouterr().err


def test_a_failed_step_leaves_the_last_good_state():
    """A state inside out under MooneyRivlin, which has no forces there: the step fails with a cause, the state stays."""
    robot = beam(law=MooneyRivlin(E=2e5, nu=0.4))
    simulation = Simulation(robot, h=0.05)
    simulation.state.x[:, 0] *= -1
    before = simulation.state
    result = simulation.step()
    assert result.status is Status.FAILED
    assert simulation.state is before
    with pytest.raises(PliantError, match="inside out"):
        result.require()


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_velocity_that_is_no_number_fails_the_step(method):
    """NaN never gets into a state: the step fails, the old state is kept."""
    robot = beam()
    state = robot.rest()
    state.v[5, 1] = np.nan
    result = Dynamics(robot, 0.01, method=method).step(state)
    assert result.status is Status.FAILED
    assert result.state is state


def test_an_inverted_free_body_is_not_told_to_use_dynamics():
    """The cause of a failure in dynamics is the inversion, not a missing support."""
    robot = Robot(TetBody(MESH, MooneyRivlin(E=2e5, nu=0.4)))
    state = robot.rest()
    state.x[:, 0] *= -1
    result = Dynamics(robot, 0.01).step(state)
    assert "inside out" in str(result.cause)


@damped_by_the_step
@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: Dynamics(beam(), 0.0), "time step is 0.0"),
        (lambda: Dynamics(beam(), float("nan")), "time step is nan"),
        (lambda: Dynamics(beam(), 0.01, method="leapfrog"), "method is 'leapfrog'"),
        (lambda: Simulation(beam(), h=-1.0), "time step is -1.0"),
        (lambda: Simulation(beam(), h=0.1).run(1.0, record=["tp"]), "no port 'tp'"),
        (lambda: Simulation(beam(), h=0.1).run(0.01), "a run of 0.01 s"),
        (lambda: Simulation(beam(), h=0.1).run(float("nan")), "a run of nan s"),
        (lambda: Simulation(beam(), h=0.1).run(0.1, record=["tip"])["tp"], "'tp' was not recorded"),
        (lambda: Simulation(beam(), h=0.1, motion=Dynamics(beam(), 0.1)), "of another robot"),
        (lambda: Dynamics(beam(), 0.1, method="newton", max_iterations=0), "max_iterations is 0"),
    ],
)
def test_bad_arguments_are_named(action, message):
    """Arguments that make no sense raise an InputError."""
    with pytest.raises(InputError, match=message):
        action()


def pushed(law, force):
    """A beam under a sudden force against its length."""
    robot = beam(law=law)
    robot.impose("push", Force((0.06, 0.005, 0.005), direction=(-1, 0, -0.3)), effort=force)
    return robot


LAWS = (Corotational, StVenantKirchhoff, NeoHookean, MooneyRivlin, Linear)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("force", [0.3, 5.0, 300.0])
def test_no_step_is_ok_that_tears_the_robot(law, method, force):
    """Whatever the load, an ok state has no inverted elements (of laws that do not bear it) and no monstrous ones; else the
    step says so, keeps the state, and names the load and the remedy."""
    robot = pushed(law(E=1e5, nu=0.4), force)
    dynamics = Dynamics(robot, 0.01, method=method)
    state, body = robot.rest(), robot.bodies[0]
    for _ in range(8):
        result = dynamics.step(state)
        if not result.ok:
            iterate = result.status in (Status.NOT_CONVERGED, Status.STALLED)
            assert iterate or np.array_equal(result.state.x, state.x)
            break
        state = result.state
        edges = state.x[MESH.edges()]
        rest = MESH.nodes[MESH.edges()]
        stretch = np.linalg.norm(np.diff(edges, axis=1), axis=2) / np.linalg.norm(np.diff(rest, axis=1), axis=2)
        assert stretch.max() < 20
        if law is not NeoHookean and method == "linearized":
            assert len(body.inverted_elements(state.x)) == 0
    if force == 300.0 and method == "linearized":
        assert not result.ok
        with pytest.raises(PliantError, match=r"'push' at 300 N.*units"):
            result.require()


def test_a_step_that_reaches_too_far_is_taken_in_parts():
    """A sudden load: parts of the step, which are of backward Euler, follow the motion that small ones give; the whole linear
    one would tear it."""
    robot = pushed(NeoHookean(E=1e5, nu=0.4), 3.0)
    result = Dynamics(robot, 0.02).step(robot.rest())
    assert result.status is Status.SHORTENED
    assert result.iterations > 1
    assert result.state.time == pytest.approx(0.02)
    fine = robot.rest()
    for _ in range(100):
        fine = Dynamics(robot, 2e-4, scheme="euler").step(fine).require().state
    moved = np.abs(fine.x - robot.rest().x).max()
    assert np.abs(result.state.x - fine.x).max() < 0.25 * moved


def test_given_displacements_and_prescribed_nodes_move_on_in_parts():
    """A step in parts ends with the prescribed nodes and the held ports where they are to be."""
    body = TetBody(MESH, NeoHookean(E=1e5, nu=0.4), prescribed=MESH.where(x_below=0))
    robot = Robot(body)
    robot.impose("pull", Point(near=(0.06, 0.005, 0.005)), displacement=(0.105, 0.005, 0.03))
    there = robot.prescribed_rest + np.array([0.0, 0.0, 0.012])
    result = Dynamics(robot, 0.02).step(robot.rest(), prescribed=there)
    assert result.status is Status.SHORTENED
    assert np.allclose(result.state.x[MESH.where(x_below=0)], there)
    assert robot.displacement(result.state, "pull") == pytest.approx([0.105, 0.005, 0.03], abs=1e-6)


@pytest.mark.parametrize(("scheme", "steps", "ratio"), [("euler", 20, "0.15"), ("generalized-alpha", 4, "0.051")])
def test_what_the_step_alone_damps_is_told(scheme, steps, ratio):
    """A run with few steps per swing warns with the ratio, which is in the recording and, with backward Euler, seen in the
    motion; fine steps and damped bodies do not. With the second-order scheme few are four steps per swing."""

    def simulated(robot, h):
        return Simulation(robot, h=h, motion=Dynamics(robot, h, scheme=scheme))

    robot = beam()
    frequency = natural_modes(robot, 1).frequencies[0]
    h = 1 / (steps * frequency)
    simulation = simulated(robot, h)
    with pytest.warns(
        PliantWarning, match=rf"lowest swing.*omega h = {2 * np.pi / steps:.2g}.*damping ratio of {ratio}"
    ):
        record = simulation.run(3 * steps * h, record=["tip"])
    assert record.damping.frequencies[0] == pytest.approx(frequency)
    assert f"{frequency:.3g} Hz: {ratio}" in str(record.damping)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulation.run(h)
        simulated(beam(), h / 4).run(h / 2)
        simulated(beam(damping=(0.0, 0.02)), h).run(2 * h)
    if scheme != "euler":
        return
    swing = record["tip"][:, 2] - Statics(robot).solve().require().state.x[MESH.where(x_above=0.06)][:, 2].mean()
    peaks = np.abs(swing[[np.abs(swing[k : k + steps]).argmax() + k for k in (0, steps, 2 * steps)]])
    found = float(integrator_damping(frequency, h, scheme))
    decay = np.exp(-2 * np.pi * found / np.sqrt(1 - found**2))
    assert peaks[1:] / peaks[:-1] == pytest.approx([decay, decay], rel=0.15)


def test_a_spin_that_the_step_takes_is_told():
    """A free body that spins at 6 rad/s with steps of 0.01 s loses a sixth of its spin in a second, at least, by backward
    Euler; the second-order scheme has nothing to tell of."""
    robot = Robot(TetBody(MESH, Corotational(E=2e6, nu=0.3)))
    mass = robot.bodies[0].load_masses
    for scheme in ("euler", "generalized-alpha"):
        simulation = Simulation(robot, h=0.01, motion=Dynamics(robot, 0.01, scheme=scheme))
        arms = simulation.state.x - mass @ simulation.state.x / mass.sum()
        simulation.state.v[:] = np.cross([0.0, 0.0, 6.0], arms)
        before = _spin(robot, simulation.state)
        if scheme == "euler":
            with pytest.warns(PliantWarning, match=r"spin of 6 rad/s \(omega h = 0\.06\) loses at least 16 %"):
                simulation.run(1.0)
            assert _spin(robot, simulation.state) < 0.84 * before
        else:
            with pytest.warns(PliantWarning, match="lowest swing") as told:
                simulation.run(1.0)
            assert "spin" not in str(told[0].message)
            assert _spin(robot, simulation.state) > 0.995 * before
