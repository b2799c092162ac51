"""Signals, motors, frequencies: what drives a lattice and what is read off its motion."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.errors import InputError
from pliant.motion import crossing_frequency, natural_modes, peak_frequency
from pliant.motion.explicit import Explicit, Load, Motor, Pneumatic, Ramp, Sine, Table, Thermal
from pliant.robot import Robot
from pliant.shape import Lattice

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]


def test_signals_have_their_closed_forms():
    """Ramp, warming up, sine and table at chosen times."""
    np.testing.assert_allclose(Ramp(2.0, duration=4.0, start=1.0, delay=1.0)([0, 1, 2, 5, 9]), [1, 1, 1.25, 2, 2])
    np.testing.assert_allclose(Ramp(2.0, delay=1.0)([0.5, 1.0, 3.0]), [0, 2, 2])
    np.testing.assert_allclose(Thermal(0.3, lag=2.0, delay=1.0)([0, 1, 3]), [0, 0, 0.3 * (1 - np.exp(-1))])
    np.testing.assert_allclose(Sine(0.2, 5.0, phase=0.3, offset=0.1)(0.02), 0.1 + 0.2 * np.sin(0.2 * np.pi + 0.3))
    table = Table((0.0, 1.0, 3.0), (0.0, 2.0, 1.0))
    np.testing.assert_allclose(table([-1, 0.5, 2, 7]), [0, 1, 1.5, 1])
    np.testing.assert_allclose(Table((0.0, 1.0), (0.0, 1.0), period=2.0)([0.5, 2.5, 5.5]), [0.5, 0.5, 1.0])


@pytest.mark.parametrize("lag", [0.0, 0.02, 0.3])
def test_a_chamber_follows_its_valve(lag):
    """The pneumatic signal solves lag dp/dt = (open ? amplitude : 0) - p from zero."""
    signal = Pneumatic(0.4, frequency=2.0, phase=0.5 * np.pi, duty=0.3, lag=lag)
    times = np.arange(0, 2.0, 1e-4)
    cycles = 2.0 * times - 0.25
    opened = (cycles > 0) & (cycles % 1.0 < 0.3)
    if lag == 0.0:
        inside = np.abs((cycles + 1e-9) % 1.0 - np.array([[0.0], [0.3], [1.0]])).min(axis=0) > 1e-3
        np.testing.assert_allclose(signal(times)[inside], 0.4 * opened[inside])
        return
    value, course = 0.0, []
    for now in opened:
        course.append(value)
        value += (0.4 * now - value) * -np.expm1(-1e-4 / lag)
    np.testing.assert_allclose(signal(times), course, atol=4e-3 if lag == 0.02 else 1e-3)


def wheel_and_frame():
    """A stiff block (the frame) and a small one beside it (the wheel), two parts of one lattice."""

    def inside(p):
        frame = (p[:, 0] < 0.05) & (p[:, 1] < 0.05)
        wheel = (p[:, 0] > 0.06) & (p[:, 0] < 0.09) & (p[:, 1] > 0.01) & (p[:, 1] < 0.04)
        return frame | wheel

    with pytest.warns(UserWarning, match="falls into 2 parts"):
        lattice = Lattice.voxels(inside, 0.01, bounds=((0, 0, 0), (0.09, 0.05, 0.03)))
    return SpringBody(lattice, E=3e5), lattice.where(x_above=0.0599), lattice.where(x_below=0.0501)


def test_a_motor_balances_momentum_and_angular_momentum():
    """Floating free, frame and wheel turn against each other; nothing comes from outside, in both layouts."""
    body, hub, base = wheel_and_frame()
    motor = Motor(hub, axis=(1, 0, 0.2), point=(0.075, 0.025, 0.015), base=base, speed=20.0, phase=0.3, start=0.1)
    m = body.masses[:, None]
    for layout in ("structured", "general"):
        explicit = Explicit(body, motors=[motor], layout=layout)
        run = explicit.run(0.4, record=hub, every=20)
        spin_wheel = (m * np.cross(run.x, run.v))[hub].sum(axis=0)
        assert np.abs(spin_wheel).max() > 1e-6
        assert np.abs((m * run.v).sum(axis=0)).max() < 1e-12
        assert np.abs((m * np.cross(run.x, run.v)).sum(axis=0)).max() < 1e-10 * np.abs(spin_wheel).max() + 1e-15


def test_a_motor_begins_anew_after_a_run():
    """Reset gives the bits of a new engine, also after a run that diverged, and a question in between changes none."""
    body, hub, base = wheel_and_frame()
    motor = Motor(hub, axis=(1, 0, 0.2), point=(0.075, 0.025, 0.015), base=base, speed=20.0, start=0.1)
    plain = Explicit(body, motors=[motor], step=1e-4).run(0.3)
    again = Explicit(body, motors=[motor], step=1e-4)
    asked = again.run(0.3, stop=lambda one: False, stop_every=0.05)
    np.testing.assert_array_equal(asked.x, plain.x)
    again.v = np.random.default_rng(0).normal(size=body.rest.shape) * 1e160
    assert not again.run(0.1).ok
    again.reset()
    np.testing.assert_array_equal(again.run(0.3).x, plain.x)


def test_a_motor_turns_its_hub_at_its_speed():
    """About an axis fixed in the world, the hub's angle is phase + speed (t - start / 2), and its middle stays."""
    body, hub, base = wheel_and_frame()
    axle = body.rest[hub].mean(axis=0)
    motor = Motor(hub, axis=(1, 0, 0), point=axle, speed=10.0, phase=0.5, start=0.2)
    run = Explicit(body, motors=[motor], damping=20.0).run(0.6)
    arm, rest = run.x[hub] - axle, body.rest[hub] - axle
    angle = np.arctan2(
        (rest[:, 1] * arm[:, 2] - rest[:, 2] * arm[:, 1]).sum(), (rest[:, 1] * arm[:, 1] + rest[:, 2] * arm[:, 2]).sum()
    )
    wanted = 0.5 + 10.0 * (run.time - 0.1)
    assert np.angle(np.exp(1j * (angle - wanted))) == pytest.approx(0.0, abs=0.05)
    np.testing.assert_allclose(run.x[hub].mean(axis=0), axle, atol=1e-4)
    np.testing.assert_allclose(run.x[base], body.rest[base], atol=1e-15)


def test_the_torque_of_a_motor_is_told():
    """A motor that holds a tilted arm against a force has the torque force times lever."""
    body, hub, _ = wheel_and_frame()
    axle = body.rest[hub].mean(axis=0)
    far = hub[np.argmax(body.rest[hub, 1])]
    motor = Motor(hub, axis=(1, 0, 0), point=axle)
    explicit = Explicit(body, motors=[motor], damping=50.0, loads=[Load([far], (0, 0, 0.05))])
    run = explicit.run(1.0, record=[far], every=100)
    lever = run.x[far, 1] - axle[1]
    assert run.torques[-1, 0] == pytest.approx(-0.05 * lever, rel=1e-3)


def test_a_leg_turned_by_a_motor_drives_a_frame_over_the_ground():
    """A wheel under a floating frame rolls it forwards with friction, and hardly without."""
    body, hub, base = wheel_and_frame()
    axle = body.rest[hub].mean(axis=0)
    motor = Motor(hub, axis=(1, 0, 0), point=axle, base=base, speed=-15.0, start=0.3)
    way = []
    for mu in (0.8, 0.0):
        explicit = Explicit(
            body, motors=[motor], gravity=(0, 0, -9.81), ground=Plane(friction=mu, damping=0.1), damping=2.0
        )
        run = explicit.run(1.0).require()
        way.append(float(np.abs(run.x[base].mean(axis=0) - body.rest[base].mean(axis=0))[:2].max()))
    assert way[0] > 0.005
    assert way[1] < 0.2 * way[0]


def heavy_wheel():
    """A hub of 567 nodes and a base of 27, two parts of one lattice."""

    def inside(p):
        return ((p < 0.02).all(axis=1)) | (p[:, 0] > 0.03)

    with pytest.warns(UserWarning, match="falls into 2 parts"):
        lattice = Lattice.voxels(inside, 0.01, bounds=((0, 0, 0), (0.09, 0.08, 0.08)))
    return SpringBody(lattice, E=1e5), lattice.where(x_above=0.0299), lattice.where(x_below=0.0201)


def test_the_default_step_holds_a_light_base_under_a_large_hub():
    """A hub of many nodes shakes a base of few: the limit knows, and without the base it is far longer."""
    body, hub, base = heavy_wheel()
    motor = Motor(hub, (1, 0, 0), (0.025, 0.01, 0.01), base, speed=1.0)
    explicit = Explicit(body, motors=[motor])
    assert len(hub) > 20 * len(base)
    assert explicit.limit < 0.5 * Explicit(body, motors=[Motor(hub, (1, 0, 0), (0.025, 0.01, 0.01), speed=1.0)]).limit
    run = explicit.run(0.2)
    assert run.ok
    assert np.abs(run.v).max() < 10.0


def test_the_limit_of_a_motor_is_that_of_its_forces():
    """The stiffness by finite differences of the motor's and the springs' forces has the highest frequency that is told."""
    body, base, hub = wheel_and_frame()
    motor = Motor(hub, (0, 0, 1), body.rest[base].mean(axis=0), base, start=0.0)
    explicit = Explicit(body, motors=[motor], integrator="semi-implicit")
    n, h = len(body.rest), 1e-7

    def acceleration(x):
        explicit.reset()
        explicit.x = x
        return explicit.run(explicit.step).v / explicit.step

    A = np.zeros((3 * n, 3 * n))
    for i in range(3 * n):
        d = np.zeros(3 * n)
        d[i] = h
        d = d.reshape(n, 3)
        A[:, i] = ((acceleration(body.rest + d) - acceleration(body.rest - d)) / (2 * h)).ravel()
    root = np.sqrt(np.repeat(body.masses, 3))
    highest = np.sqrt(np.linalg.eigvalsh(-(root[:, None] * A / root))[-1])
    assert 2.0 / explicit.limit == pytest.approx(highest, rel=0.02)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hub": [0, 1]}, "hub of motor 0 has 2 nodes"),
        ({"base": [0, 4, 8]}, "on one line"),
        ({"axis": (0, 0, 0)}, "axis of a motor is zero"),
        ({"axis": (0, np.nan, 0)}, "three finite numbers"),
        ({"stiffness": -1.0}, "stiffness"),
    ],
)
def test_bad_motors_are_named(change, words):
    """Hubs, bases and axes that cannot work."""
    lattice = Lattice.block((6, 1, 1), size=0.01)
    good = {
        "hub": lattice.where(x_above=0.045),
        "axis": (1, 0, 0),
        "point": (0, 0, 0),
        "base": lattice.where(x_below=0.02),
    }
    with pytest.raises(InputError, match=words):
        Explicit(SpringBody(lattice, E=1e5), motors=[Motor(**(good | change))])


@pytest.mark.parametrize("frequency", [3.3, 11.77, 40.01])
def test_frequencies_of_a_decaying_sine(frequency):
    """Both ways find the frequency of a slowly decaying motion with an offset, to 0.1 %."""
    t = np.arange(0, 3.0, 1e-3)
    y = 5.0 + np.exp(-0.3 * t) * np.cos(2 * np.pi * frequency * t + 0.7)
    assert peak_frequency(t, y) == pytest.approx(frequency, rel=1e-3)
    assert crossing_frequency(t, y) == pytest.approx(frequency, rel=1e-3)


@pytest.mark.parametrize("level", [0.0, 2.0, 0.1])
def test_a_record_without_motion_has_no_frequency(level):
    """Both ways raise, also when only lines below those asked for move."""
    t = np.arange(0, 1.0, 1e-3)
    for way in (peak_frequency, crossing_frequency):
        with pytest.raises(InputError, match="record"):
            way(t, np.full(1000, level))
    with pytest.raises(InputError, match=r"at 600.0 Hz or above"):
        peak_frequency(t, level + np.sin(30 * t), above=600.0)


@pytest.mark.parametrize(
    "signal",
    [
        Ramp(-0.2, 0.1, start=0.3),
        Thermal(-0.4, 0.1),
        Sine(-0.3, 5.0, offset=0.1),
        Pneumatic(-0.2, 5.0, lag=0.01),
        Pneumatic(0.2, 5.0),
    ],
)
def test_signals_know_their_lowest_value(signal):
    """No value is below it, and some come near."""
    values = signal(np.linspace(0, 2, 4001))
    assert values.min() >= signal.lowest - 1e-12
    assert values.min() == pytest.approx(signal.lowest, abs=2e-3)
    assert Table((0.0, 1.0, 2.0), (0.3, -0.7, 0.1)).lowest == -0.7


def test_uneven_times_are_refused():
    """A spectrum needs even samples; a count needs crossings."""
    with pytest.raises(InputError, match="evenly"):
        peak_frequency([0, 1, 2, 4, 5, 6, 7, 8, 9], np.zeros(9))
    with pytest.raises(InputError, match="crossings"):
        crossing_frequency([0, 1, 2, 3], [0, 1, 2, 3])


def test_the_swinging_lattice_has_the_frequency_of_its_eigenvalue():
    """First bending mode of a cantilever: Fourier transform and zero crossings within 0.5 % of natural_modes."""
    lattice = Lattice.block((20, 2, 3), size=0.01)
    body = SpringBody(lattice, E=1e5, fixed=lattice.where(x_below=1e-3))
    modes = natural_modes(Robot(body), 2)
    first = int(np.argmax(np.abs(modes.shapes[:, -1, 1])))
    shape = modes.shapes[first]
    explicit = Explicit(body)
    explicit.x = lattice.points + 1e-4 * shape / np.abs(shape).max()
    f = modes.frequencies[first]
    run = explicit.run(12.0 / f, record=[len(lattice.points) - 1], every=4)
    course = run.positions[:, 0, 1]
    assert peak_frequency(run.times, course) == pytest.approx(f, rel=5e-3)
    assert crossing_frequency(run.times, course) == pytest.approx(f, rel=5e-3)
