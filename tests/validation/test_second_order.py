"""The second-order scheme: its order in every company, what it keeps, and what it does to loads that jump."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from theory import fitted_slope

from pliant.body import TetBody
from pliant.material import Corotational, Linear, NeoHookean
from pliant.motion import Dynamics, Statics, integrator_damping, natural_modes
from pliant.port import Cable, Force, Point
from pliant.robot import ExtraRows, Robot, State
from pliant.shape import make

MESH = make.box((0.1, 0.02, 0.02), (4, 1, 1))
ROOT = MESH.where(x_below=0)
TIP = int(np.linalg.norm(MESH.nodes - (0.1, 0.0, 0.0), axis=1).argmin())
SOFT = Corotational(E=6e4, nu=0.3)


def gone(robot: Robot, steps: int, end: float, method: str, *, forced=None, state=None, **more) -> State:
    """The state after `end` seconds in equal steps; forced(robot, t) gives what moves at the end of a step, and returns where
    prescribed nodes are."""
    dynamics, state = Dynamics(robot, end / steps, method=method, **more), robot.rest() if state is None else state
    for k in range(1, steps + 1):
        where = None if forced is None else forced(robot, k * end / steps)
        state = dynamics.step(state, prescribed=where).require().state
    return state


def slopes(make_robot, end, counts, *, forced=None, begin=None):
    """Orders of the positions and of the velocities, linearized and by Newton, against a fine run by Newton."""
    robot = make_robot()
    start = None if begin is None else begin(robot)
    fine = gone(robot, 4 * counts[-1], end, "newton", forced=forced, state=start, tolerance=1e-10)
    out = {}
    for method in ("linearized", "newton"):
        found = [gone(robot, n, end, method, forced=forced, state=start) for n in counts]
        for what in ("x", "v"):
            errors = [np.abs(getattr(s, what) - getattr(fine, what)).max() for s in found]
            out[method, what] = fitted_slope(end / np.array(counts), errors)
    return out


def swinging(robot: Robot) -> State:
    """At its equilibrium, with the velocity of its lowest modes: a motion that all steps resolve."""
    still = Statics(robot, tolerance=1e-11).solve().require().state
    modes = natural_modes(robot, 1, state=still)
    om = 2 * np.pi * modes.frequencies
    shapes = modes.shapes / np.abs(modes.shapes).max(axis=(1, 2), keepdims=True)
    return replace(still, v=0.01 * om[0] * shapes[0])


def plain():
    return Robot(TetBody(MESH, SOFT, fixed=ROOT, damping=(0.0, 1e-3)), gravity=(0, 0, -9.81))


def damped():
    return Robot(TetBody(MESH, SOFT, fixed=ROOT, damping=(1.0, 4e-3)), gravity=(0, -3, -9.81))


def with_rigid_end():
    rigid = {"end": np.flatnonzero(MESH.nodes[:, 0] > 0.07)}
    return Robot(TetBody(MESH, SOFT, fixed=ROOT, rigid=rigid, damping=(0.0, 2e-3)), gravity=(0, -5, -9.81))


def carried():
    return Robot(TetBody(MESH, SOFT, prescribed=ROOT, damping=(0.0, 1e-3)), gravity=(0, 0, -2.0))


def shaken(robot, t):
    """The base goes round on a small circle, with a soft start."""
    return robot.prescribed_rest + 0.004 * np.array([0.0, np.sin(40 * t) - 40 * t, np.cos(40 * t) - 1 + 800 * t * t])


def led():
    robot = Robot(TetBody(MESH, SOFT, fixed=ROOT, damping=(0.0, 1e-3)), gravity=(0, 0, -5.0))
    robot.impose("tip", Point(near=(0.1, 0.02, 0.02), axes="z"), displacement=0.02)
    robot.impose("side", Force((0.1, 0.0, 0.0), direction=(0, 1, 0)), effort=0.0)
    return robot


def leading(robot, t):
    """A held point that moves smoothly, and an effort that grows smoothly beside it."""
    robot.set_displacement("tip", 0.02 + 8.0 * t**3)
    robot.set_effort("side", 40.0 * t * t)


CASES = {
    "gravity": (plain, None),
    "rayleigh damping": (damped, None),
    "rigid end": (with_rigid_end, None),
    "moving base": (carried, shaken),
    "held and moved": (led, leading),
}


@pytest.mark.parametrize("case", CASES)
def test_the_error_is_of_second_order(case, figure):
    """The error against a fine run falls with h^2, in positions and velocities, with one linearization per step and by
    Newton: under gravity, with Rayleigh damping, rigid parts, a base that moves, and displacements and efforts that do."""
    make_robot, forced = CASES[case]
    found = slopes(make_robot, 0.08, (64, 128, 256), forced=forced, begin=swinging)
    for (method, what), slope in found.items():
        figure(f"time.second_order_{case.replace(' ', '_')}_{method}_{what}", slope, "", 2, "generalized-alpha")
    assert all(1.85 < slope < 2.25 for slope in found.values()), found


def swung(om, h, steps):
    """An oscillator let go at 1, by generalized-alpha as Chung and Hulbert 1993 have it for rho = 0.4, written out anew; the
    first step is one of backward Euler."""
    rho = 0.4
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 - am + af
    beta = 0.25 * (1 - am + af) ** 2
    v = -om * om * h / (1 + (om * h) ** 2)
    q = 1.0 + h * v
    a = c = v / h
    for _ in range(steps - 1):
        # q+ = q + h v + h^2 ((1/2 - beta) c + beta c+), (1 - am) c+ = (1 - af) a+ + af a - am c, a+ = -om^2 q+
        known = (af * a - am * c) / (1 - am)
        free = q + h * v + h * h * ((0.5 - beta) * c + beta * known)
        after = free / (1 + h * h * beta * (1 - af) / (1 - am) * om * om)
        fresh = -om * om * after
        lagging = (1 - af) / (1 - am) * fresh + known
        v += h * ((1 - gamma) * c + gamma * lagging)
        q, a, c = after, fresh, lagging
    return q


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_free_mode_swings_as_the_scheme_must(method, figure):
    """A mode of a linear body let go moves as a single oscillator under the scheme, to 1e-6, and its error against cos(om t)
    is of second order, without any damping."""
    body = TetBody(MESH, Linear(E=1e5, nu=0.3), fixed=ROOT)
    robot = Robot(body)
    modes = natural_modes(robot, 1)
    om, shape = 2 * np.pi * modes.frequencies[0], modes.shapes[0]
    end, counts, errors = 0.4 * 2 * np.pi / om, np.array([25, 50, 100, 200]), []
    for steps in counts:
        begin = replace(robot.rest(), pose=replace(robot.rest().pose, x=body.rest + 1e-3 * shape))
        state = gone(robot, int(steps), end, method, state=begin)
        amplitude = np.vdot(body.mass() @ (state.x - body.rest).ravel(), shape.ravel()) / 1e-3
        assert amplitude == pytest.approx(swung(om, end / steps, int(steps)), abs=1e-6)
        errors.append(abs(amplitude - np.cos(om * end)))
    slope = fitted_slope(end / counts, errors)
    figure(f"time.mode_second_order_{method}_slope", slope, "", 2, "generalized-alpha")
    assert 1.85 < slope < 2.15


def momenta(robot: Robot, state: State):
    """Linear momentum, and angular momentum about the centre of mass."""
    p = robot.equations.momentum(state.v)
    mass = np.concatenate([body.load_masses for body in robot.bodies])
    return p.sum(axis=0), np.cross(state.x - mass @ state.x / mass.sum(), p).sum(axis=0)


def thrown(robot: Robot, spin) -> State:
    state = robot.rest()
    state.v[:] = np.array([0.3, 0.2, -0.1]) + np.cross(spin, state.x - state.x.mean(axis=0))
    return state


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("E", [1e4, 1e6, 1e8])
def test_a_spinning_body_keeps_its_momentum(E, method, figure):
    """A free body, soft or stiff, that spins at 6 rad/s with steps of 0.01 s: in a second its angular momentum never differs by
    more than 0.5 % from what it was, and its linear momentum only by rounding (backward Euler: 24 to 99 % are lost)."""
    robot = Robot(TetBody(MESH, Corotational(E=E, nu=0.3)))
    state = thrown(robot, (0.0, 0.0, 6.0))
    linear, angular = momenta(robot, state)
    dynamics, worst = Dynamics(robot, 0.01, method=method), 0.0
    for _ in range(100):
        state = dynamics.step(state).require().state
        p, L = momenta(robot, state)
        worst = max(worst, float(np.linalg.norm(L - angular) / np.linalg.norm(angular)))
    figure(f"time.spin_{method}_{E:.0e}_percent", 100 * worst, "%", 0.5, "bound")
    assert worst < 0.005
    assert np.abs(p - linear).max() < 1e-10 * np.linalg.norm(linear)


@pytest.mark.slow
@pytest.mark.parametrize("spin", [(2.0, 3.0, 5.0), (0.0, 0.0, 20.0)])
@pytest.mark.parametrize("E", [1e4, 1e6, 1e8])
def test_tumbling_and_fast_bodies_do_not_gain_spin(E, spin):
    """About no main axis, and at 0.2 rad per step: nothing is gained, and no more than a tenth is lost in a second."""
    robot = Robot(TetBody(make.box((0.1, 0.02, 0.02), (6, 2, 2)), NeoHookean(E=E, nu=0.3)))
    state = thrown(robot, spin)
    _, angular = momenta(robot, state)
    dynamics, kept = Dynamics(robot, 0.01), []
    for _ in range(100):
        state = dynamics.step(state).require().state
        kept.append(np.linalg.norm(momenta(robot, state)[1]) / np.linalg.norm(angular))
    assert max(kept) < 1.01
    assert kept[-1] > 0.9


def energy(robot: Robot, state: State) -> float:
    return robot.bodies[0].energy(state.x) + 0.5 * float(np.vdot(state.v, robot.equations.momentum(state.v)))


@pytest.mark.parametrize(("method", "push"), [("linearized", 0.02), ("newton", 0.02), ("newton", 0.3)])
def test_a_swinging_beam_keeps_its_energy(method, push, figure):
    """Of its energy a beam without damping has 90 % left after ten swings of 50 steps each, and never more than at first: small
    swings with one linearization per step, wide ones (tip 0.2 lengths aside) by Newton."""
    mesh = make.box((0.2, 0.02, 0.02), (12, 1, 1))

    def beam(g):
        return Robot(TetBody(mesh, Corotational(E=2e5, nu=0.3), fixed=mesh.where(x_below=0)), gravity=(0, 0, -g))

    robot = beam(0.0)
    om = 2 * np.pi * natural_modes(robot, 1).frequencies[0]
    bent = Statics(beam(push * 0.2 * om**2 / 1.5)).solve().require().state
    state = replace(robot.rest(), pose=bent.pose)
    dynamics, energies = Dynamics(robot, 2 * np.pi / om / 50, method=method), [energy(robot, state)]
    for _ in range(500):
        state = dynamics.step(state).require().state
        energies.append(energy(robot, state))
    figure(f"time.swing_{method}_{push}_kept_percent", 100 * energies[-1] / energies[0], "%", 90, "bound")
    assert energies[-1] > 0.9 * energies[0]
    assert max(energies) < 1.001 * energies[0]


def test_steps_of_changing_length_are_of_second_order():
    """Steps that grow and shrink by turns, by a factor of 1.5 from one to the next: the error still falls with h^2."""
    robot, end, errors, counts = damped(), 0.08, [], (32, 64, 128)
    start = swinging(robot)
    fine = gone(robot, 1024, end, "newton", state=start)
    for pairs in counts:
        state, longer = start, end / pairs * 0.6
        for _ in range(pairs):
            for h in (longer, end / pairs - longer):
                state = Dynamics(robot, h).step(state).require().state
        assert state.time == pytest.approx(end)
        errors.append(np.abs(state.x - fine.x).max())
    assert 1.8 < fitted_slope(end / np.array(counts), errors) < 2.3


def floor_below(robot: Robot) -> ExtraRows:
    """A floor at z = 0 under every node, which only pushes."""
    nodes = np.arange(len(robot.rest().x))[:, None]
    up = np.tile([0.0, 0.0, 1.0], (len(nodes), 1))
    return ExtraRows.of(nodes, np.ones(nodes.shape), up, limits=(0, np.inf))


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize(("E", "h", "tilt"), [(1e5, 0.01, 0.0), (1e7, 0.01, 0.0), (1e5, 0.05, 0.0), (1e5, 0.005, 0.5)])
def test_a_block_that_is_dropped_comes_to_rest(E, h, tilt, method):
    """Soft or stiff, flat or on its edge, with short or long steps, and nothing in it that damps: a block that lands never has
    more energy than it fell with, never goes through the floor nor is pulled by it, and ends with its weight on it."""
    mesh = make.box((0.04, 0.04, 0.04), (2, 2, 2))
    robot = Robot(TetBody(mesh, Corotational(E=E, nu=0.3)), gravity=(0, 0, -9.81))
    masses, floor, rest = robot.equations.masses, floor_below(robot), robot.rest()
    c, s = np.cos(tilt), np.sin(tilt)
    x = rest.x @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T
    x[:, 2] += 0.02 - x[:, 2].min()
    state = replace(rest, pose=replace(rest.pose, x=x))

    def total(state):
        return energy(robot, state) + 9.81 * float(masses @ state.x[:, 2])

    dynamics, first = Dynamics(robot, h, method=method), total(state)
    for _ in range(round(1.5 / h)):
        state = dynamics.step(state, extra=floor).require().state
        assert total(state) < first * (1 + 1e-9)
        assert state.x[:, 2].min() > -1e-9
        assert (state.extra >= 0).all()
    assert np.abs(state.v).max() < 1e-5
    assert state.extra.sum() == pytest.approx(9.81 * masses.sum(), rel=1e-4)


def stiff_beside_soft():
    half = (MESH.nodes[MESH.tets][:, :, 0].mean(axis=1) > 0.05).astype(int)
    laws = {0: Corotational(E=1e5, nu=0.3), 1: Corotational(E=1e10, nu=0.3)}
    return Robot(TetBody(MESH.labelled(half), laws, fixed=ROOT), gravity=(0, 0, -9.81))


def pushed():
    robot = Robot(TetBody(MESH, NeoHookean(E=1e5, nu=0.45), fixed=ROOT))
    robot.impose("load", Force((0.1, 0.02, 0.02), direction=(0, 0, 1)), effort=0.0)
    return robot


def moved_point():
    robot = Robot(TetBody(MESH, NeoHookean(E=1e5, nu=0.45), fixed=ROOT))
    robot.impose("load", Point(near=(0.1, 0.02, 0.02), axes="z"), displacement=0.02)
    return robot


def roped():
    robot = plain()
    robot.impose("load", Cable([(0.01, 0.01, 0.018), (0.09, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018)), displacement=0.0)
    return robot


JUMPS = {
    "stiff beside soft": (stiff_beside_soft, None),
    "effort": (pushed, lambda robot, on: robot.set_effort("load", 0.05 if on else 0.0)),
    "held point": (moved_point, lambda robot, on: robot.set_displacement("load", 0.03 if on else 0.02)),
    "cable that goes slack": (roped, lambda robot, on: robot.set_displacement("load", 0.003 if on else -0.001)),
}


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("h", [0.1, 1.0])
@pytest.mark.parametrize("case", JUMPS)
def test_loads_that_jump_and_long_steps_end_at_the_static_answer(case, h, method):
    """Steps much longer than any swing, without damping: loads and displacements that jump on and off ten times over move the
    robot by no more than three times the static answer, at which it ends."""
    make_robot, jump = JUMPS[case]
    robot = make_robot()
    rest, dynamics, farthest = robot.rest(), Dynamics(robot, h, method=method), 0.0
    state = rest
    for k in range(120):
        if jump is not None:
            jump(robot, k >= 50 or k // 5 % 2 == 1)
        state = dynamics.step(state).require().state
        farthest = max(farthest, float(np.abs(state.x - rest.x).max()))
    still = Statics(robot).solve().require().state
    assert np.abs(state.x - still.x).max() < 1e-8
    assert np.abs(state.v).max() < 1e-7
    assert state.efforts == pytest.approx(still.efforts, abs=1e-5)
    if case != "cable that goes slack":  # which hangs down as far as gravity takes it meanwhile
        assert farthest < 3 * np.abs(still.x - rest.x).max()


def test_what_the_step_alone_takes_is_what_it_is_said_to_take():
    """The decay of an oscillator under the scheme, written out anew, is that of `integrator_damping`, at 6 to 50 steps."""
    for steps in (6, 12, 50):
        path = np.array([swung(2 * np.pi, 1 / steps, k) for k in range(3 * steps, 10 * steps)])
        before = np.stack([path[1:-1], path[:-2]], axis=1)
        (p, q), *_ = np.linalg.lstsq(before, path[2:], rcond=None)  # z^2 = p z + q
        s = np.log(max(np.roots([1, -p, -q]), key=np.imag))
        assert -s.real / abs(s) == pytest.approx(float(integrator_damping(1.0, 1 / steps)), rel=1e-3)
