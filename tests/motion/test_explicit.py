"""The explicit engine against plain numpy, closed forms and itself in other layouts."""

from __future__ import annotations

import numpy as np
import pytest
from explicit_twin import march

from pliant.body import SpringBody
from pliant.contact import Plane, Sphere
from pliant.errors import InputError, NotConvergedError, PliantWarning
from pliant.motion.explicit import (
    Explicit,
    GivenMotion,
    Load,
    Ramp,
    RunStatus,
    Sine,
    SpringLaw,
    Springs,
)
from pliant.shape import Lattice

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]

INTEGRATORS = ("verlet", "semi-implicit", "rk4", "forward")


def beam(cells=(6, 2, 3), size=0.01, **more):
    """A cantilever of cubes, E = 100 kPa."""
    lattice = Lattice.block(cells, size=size)
    return SpringBody(lattice, E=1e5, fixed=lattice.where(x_below=1e-3), **more)


def pair(k=50.0, m=0.1, length=1.0, **more):
    """Two masses on a spring along x."""
    return Springs.checked([(0, 0, 0), (length, 0, 0)], [(0, 1)], k, m, **more)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("layout", ["structured", "general"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_steps_are_those_of_plain_numpy(integrator, layout, precision, rng):
    """Forces, damping, gravity, contact with friction, actuation and loads, 40 steps, in every layout and precision."""
    lattice = Lattice.block((6, 2, 3), size=0.01)
    body = SpringBody(lattice, E=1e5, fixed=lattice.where(x_below=1e-3))
    springs = Springs.of(body)
    force = np.zeros_like(springs.points)
    force[-1] = 0.01, 0.0, 0.02
    start = springs.points + rng.normal(size=springs.points.shape) * 2e-4
    speed = rng.normal(size=springs.points.shape) * 0.02
    speed[springs.supports.fixed] = 0.0
    signal = Sine(0.05, 30.0, 0.4)
    explicit = Explicit(
        body,
        step=2e-4,
        integrator=integrator,
        gravity=(0.3, 0, -9.81),
        damping=3.0,
        ground=Plane(friction=0.4, stiffness=400.0),
        actuation={0: signal},
        loads=[Load([len(force) - 1], force[-1])],
        layout=layout,
        precision=precision,
    )
    explicit.x, explicit.v = start, speed
    run = explicit.run(40 * 2e-4)
    x, v = march(
        springs,
        start,
        speed,
        2e-4,
        40,
        integrator,
        damping=3.0,
        mu=0.4,
        gravity=(0.3, 0, -9.81),
        strain=lambda t: float(signal(t)),
        ground=400.0,
        force=force,
    )
    assert np.abs(x - springs.points).max() > 1e-3
    tolerance = 1e-12 if precision == "double" else 2e-6
    np.testing.assert_allclose(run.x, x, atol=tolerance)
    np.testing.assert_allclose(run.v, v, atol=1e3 * tolerance)


@pytest.mark.parametrize("layout", ["structured", "general"])
@pytest.mark.parametrize("integrator", ["verlet", "rk4"])
def test_result_does_not_depend_on_the_number_of_threads(layout, integrator):
    """One, two and three threads give the same bits, with actuated springs and contact."""
    body = beam((30, 12, 12))
    results = []
    for threads in (1, 2, 3):
        explicit = Explicit(
            body,
            integrator=integrator,
            gravity=(0, 0, -9.81),
            ground=Plane(offset=-1e-4),
            actuation={0: Sine(0.02, 50.0)},
            threads=threads,
            layout=layout,
        )
        assert len(explicit.engine.nodes.edges) > 4
        results.append(explicit.run(50 * explicit.step, record=[5, 4000], every=7))
    for other in results[1:]:
        np.testing.assert_array_equal(other.x, results[0].x)
        np.testing.assert_array_equal(other.v, results[0].v)
        np.testing.assert_array_equal(other.positions, results[0].positions)
        np.testing.assert_array_equal(other.velocities, results[0].velocities)


def test_voxels_with_a_ragged_outline_and_regions_run_in_both_layouts():
    """A ball with a hard core moves alike on the grid, with its empty places, and as a graph."""
    ball = Lattice.voxels(lambda p: (p**2).sum(1) < 0.05**2, 0.01, bounds=((-0.05,) * 3, (0.05,) * 3))
    ball = ball.labelled(lambda c: ((c**2).sum(1) < 0.025**2).astype(int))
    assert (ball.grid.node_of < 0).any()
    body = SpringBody(ball, E={0: 5e4, 1: 1e6}, density={0: 1000.0, 1: 2000.0})
    around = {"gravity": (0, 0, -9.81), "ground": Plane(offset=-0.051), "actuation": {1: Sine(0.1, 20.0)}}
    runs = [Explicit(body, layout=layout, **around).run(0.05) for layout in ("structured", "general")]
    assert [run.layout for run in runs] == ["structured", "general"]
    assert np.abs(runs[0].x - ball.points).max() > 1e-3
    np.testing.assert_allclose(runs[0].x, runs[1].x, atol=1e-11)


def test_a_sparse_frame_takes_the_general_layout():
    """The edges of a cube fill little of its box: lists of neighbours are faster there."""

    def frame(p):
        return (np.abs(p) > 0.08).sum(axis=1) >= 2

    rods = Lattice.voxels(frame, 0.01, bounds=((-0.1,) * 3, (0.1,) * 3))
    assert Explicit(SpringBody(rods, E=1e5)).layout == "general"


@pytest.mark.parametrize(("integrator", "order"), [("verlet", 2), ("semi-implicit", 1), ("rk4", 4), ("forward", 1)])
def test_order_of_accuracy(integrator, order):
    """Two masses on a spring against the cosine: the error falls with the power of the step that theory says."""
    k, m, stretch = 50.0, 0.1, 0.1
    omega = np.sqrt(2 * k / m)
    errors = []
    for steps in (400, 800, 1600):
        explicit = Explicit(pair(k, m), step=0.4 / steps, integrator=integrator)
        explicit.x = [(0, 0, 0), (1 + stretch, 0, 0)]
        run = explicit.run(0.4)
        exact = np.array([stretch * np.cos(omega * 0.4), -omega * stretch * np.sin(omega * 0.4) / 30])
        gap = run.x[1, 0] - run.x[0, 0] - 1.0
        errors.append(np.linalg.norm(np.array([gap, (run.v[1, 0] - run.v[0, 0]) / 30]) - exact))
    slopes = np.diff(np.log(errors)) / -np.log(2.0)
    np.testing.assert_allclose(slopes, order, atol=0.15)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_damping_is_a_rate(integrator):
    """Without springs at work a velocity decays as exp(- c t), whatever the mass and the step."""
    explicit = Explicit(pair(k=1e-9, m=0.3), step=1e-3, integrator=integrator, damping=2.0)
    explicit.v = [(1.0, 2.0, -1.0)] * 2
    run = explicit.run(0.5)
    tolerance = 1e-6 if integrator in ("verlet", "rk4") else 2e-3
    np.testing.assert_allclose(run.v, [np.exp(-1.0) * np.array([1.0, 2.0, -1.0])] * 2, rtol=tolerance)


def swinging(integrator, fraction, seconds=1.0):
    """Energies of a beam that was let go, at a fraction of the longest stable step."""
    body = beam((10, 2, 2))
    limit = Explicit(body, integrator=integrator).limit
    explicit = Explicit(body, step=fraction * limit, integrator=integrator, gravity=(0, 0, -9.81))
    return explicit.run(seconds, energy_every=4).energies


def test_verlet_keeps_energy_at_half_the_limit():
    """Drift below 0.1 % per second and ripple below 1 % of the largest kinetic energy; the ripple is of second order."""
    coarse, fine = swinging("verlet", 0.5), swinging("verlet", 0.25)
    assert abs(coarse.drift()) < 1e-3
    assert coarse.ripple() < 1e-2
    assert 3.2 < coarse.ripple() / fine.ripple() < 5.0


def test_forward_euler_gains_energy():
    """Euler's forward method feeds energy in at any step: it must show, not hide."""
    energies = swinging("forward", 0.1, seconds=0.2)
    assert energies.total[-1] - energies.total[0] > 0.05 * energies.kinetic.max()
    assert energies.drift() > 0.3


@pytest.mark.parametrize("integrator", ["verlet", "semi-implicit", "rk4"])
@pytest.mark.parametrize("mu", [0.0, 0.2, 0.5])
def test_coulomb_on_an_incline_slips(mu, integrator):
    """A block on a slope of 35 degrees slides with g (sin - mu cos)."""
    angle = np.radians(35.0)
    g = 9.81 * np.array([np.sin(angle), 0, -np.cos(angle)])
    lattice = Lattice.block((3, 3, 2), size=0.01)
    body = SpringBody(lattice, E=3e5)
    explicit = Explicit(body, gravity=g, ground=Plane(friction=mu, damping=0.2), integrator=integrator)
    explicit.run(0.05)
    start, before = explicit.time, (body.masses @ explicit.v)[0] / body.masses.sum()
    run = explicit.run(0.15)
    after = (body.masses @ run.v)[0] / body.masses.sum()
    wanted = 9.81 * (np.sin(angle) - mu * np.cos(angle))
    assert (after - before) / (run.time - start) == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("integrator", ["verlet", "semi-implicit", "rk4"])
def test_coulomb_on_an_incline_sticks(integrator):
    """With mu above tan(angle) a block that was laid down gently rests and does not creep at all, without damping."""
    angle = np.radians(35.0)
    g = 9.81 * np.array([np.sin(angle), 0, -np.cos(angle)])
    body = SpringBody(Lattice.block((3, 3, 2), size=0.01), E=3e5)
    explicit = Explicit(body, gravity=g, ground=Plane(friction=0.9), damping=400.0, integrator=integrator)
    explicit.run(0.5)
    explicit.damping = 0.0
    bottom = np.flatnonzero(explicit.x[:, 2] < 0)
    before = explicit.x[bottom]
    run = explicit.run(0.5)
    assert len(bottom) >= 4
    assert np.abs(run.x[bottom] - before).max() < 1e-9


def test_a_mass_in_a_frictionless_bowl_is_a_pendulum():
    """Period 2 pi sqrt(R / g) for small swings inside a sphere; and a ball outside pushes outwards."""
    R, k = 0.5, 1e4
    springs = pair(k=1.0, m=0.01, length=1e-3)
    bowl = Sphere((0, 0, R), R, inside=True, friction=0.0, stiffness=k)
    explicit = Explicit(springs, gravity=(0, 0, -9.81), ground=bowl)
    tilt = 0.05
    side = np.array([R * np.sin(tilt), 0, R * (1 - np.cos(tilt))])
    explicit.x = [side, side + np.array([1e-3, 0, 0])]
    run = explicit.run(4.0, record=[0], every=5)
    from pliant.motion import crossing_frequency

    assert crossing_frequency(run.times, run.positions[:, 0, 0]) == pytest.approx(
        np.sqrt(9.81 / R) / (2 * np.pi), rel=5e-3
    )
    ball = Explicit(
        springs, gravity=(0, 0, -9.81), ground=Sphere((5e-4, 0, -0.1), 0.1, friction=2.0), damping=30.0
    ).run(1.0)
    assert (np.linalg.norm(ball.x - (5e-4, 0, -0.1), axis=1) > 0.099).all()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_thrown_body_does_not_leave_its_planes(integrator):
    """Velocities that are set across a plane or a line are not taken there."""
    lattice = Lattice.block((4, 2, 2), size=0.01)
    top, line = lattice.where(z_above=0.0199), lattice.where(z_below=1e-3)
    body = SpringBody(lattice, E=1e5, sliding=[(top, (0, 1, 1))])
    explicit = Explicit(body, lines=[(line, (1, 0, 1))], integrator=integrator, step=1e-4)
    explicit.v = np.full(body.rest.shape, 0.3)
    moved = explicit.run(0.01).x - lattice.points
    assert np.abs(moved[top] @ (0, 1, 1)).max() < 1e-12
    assert np.abs(np.cross(moved[line], (1, 0, 1))).max() < 1e-12
    assert np.abs(moved).max() > 1e-3


def test_nodes_in_planes_and_on_lines_stay_there():
    """Sliding supports keep their plane, lines their direction, fixed nodes their place."""
    lattice = Lattice.block((4, 2, 2), size=0.01)
    top = np.setdiff1d(lattice.where(z_above=0.0199), lattice.where(x_below=1e-3))
    line = lattice.where(x_above=0.0399, z_below=1e-3)
    body = SpringBody(lattice, E=1e5, fixed=lattice.where(x_below=1e-3), sliding=[(top, (0, 1, 1))])
    run = Explicit(body, gravity=(3, 5, -9.81), lines=[(line, (1, 0, 1))]).run(0.1)
    moved = run.x - lattice.points
    assert np.abs(moved[top] @ (0, 1, 1)).max() < 1e-12
    assert np.abs(np.cross(moved[line], (1, 0, 1))).max() < 1e-12
    assert (moved[body.supports.fixed] == 0).all()
    assert np.abs(moved[top]).max() > 1e-5
    assert np.abs(moved[line]).max() > 1e-5


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_given_motions_are_followed_exactly(integrator):
    """A clamp moved by a signal is where the signal says at every step, with its velocity."""
    lattice = Lattice.block((4, 2, 2), size=0.01)
    clamp = lattice.where(x_below=1e-3)
    signal = Ramp(0.004, duration=0.05)
    explicit = Explicit(
        SpringBody(lattice, E=1e5),
        integrator=integrator,
        step=1e-4,
        motions=[GivenMotion(clamp, (0, 1.0, 0), signal)],
    )
    run = explicit.run(0.04, record=clamp, every=10)
    wanted = lattice.points[clamp] + signal(run.times)[:, None, None] * np.array([0, 1.0, 0])
    np.testing.assert_allclose(run.positions, wanted, atol=1e-15)
    np.testing.assert_allclose(run.velocities[5:, :, 1], 0.08, rtol=1e-6)


def test_springs_by_a_table():
    """A straight table is a linear spring; one that is slack under pressure lets masses meet freely."""
    straight = SpringLaw((-0.5, 0.0, 0.7), (-0.5, 0.0, 0.7))
    body = beam()
    plain = Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.05, energy_every=10)
    for layout in ("structured", "general"):
        table = Explicit(body, gravity=(0, 0, -9.81), step=2e-4, laws={0: straight}, layout=layout).run(
            0.05, energy_every=10
        )
        np.testing.assert_allclose(table.x, plain.x, atol=1e-12)
        np.testing.assert_allclose(table.energies.elastic, plain.energies.elastic, atol=1e-15)
    slack = Explicit(pair(k=50.0, m=0.1), step=1e-3, laws={0: SpringLaw((-1, 0, 1), (0, 0, 1))})
    slack.v = [(0.2, 0, 0), (-0.2, 0, 0)]
    run = slack.run(1.0)
    np.testing.assert_allclose(run.x[:, 0], (0.2, 0.8), atol=1e-12)


def test_materials_with_laws_and_strains_share_springs():
    """Springs between a tabulated, an actuated and a plain region: the parts pull side by side, energy is kept."""
    lattice = Lattice.block((6, 2, 2), size=0.01).labelled(lambda c: (c[:, 0] // 0.02).astype(int))
    body = SpringBody(lattice, E={0: 1e5, 1: 3e5, 2: 2e5}, fixed=lattice.where(x_below=1e-3))
    law = SpringLaw((-0.5, 0, 0.01, 1), (-0.5, 0, 0.01, 2.5))
    explicit = Explicit(body, gravity=(0, 0, -9.81), laws={1: law}, actuation={2: Ramp(0.05)})
    coarse = explicit.run(0.3, energy_every=5).energies
    finer = Explicit(body, gravity=(0, 0, -9.81), laws={1: law}, actuation={2: Ramp(0.05)}, step=explicit.step / 4)
    fine = finer.run(0.3, energy_every=20).energies
    assert coarse.ripple() < 0.1
    assert fine.ripple() < coarse.ripple() / 10


def test_broken_springs_pull_no_more():
    """A beam with all springs of a section switched off falls freely beyond it; mended ones pull again."""
    body = beam((6, 2, 2))
    middle = body.rest[body.springs, 0]
    cut = np.flatnonzero((middle.min(1) < 0.0301) & (middle.max(1) > 0.0301))
    for layout in ("structured", "general"):
        explicit = Explicit(body, gravity=(0, 0, -9.81), layout=layout, step=1e-4)
        explicit.switch_off(cut)
        run = explicit.run(0.05)
        free = body.rest[:, 0] > 0.035
        np.testing.assert_allclose((run.x - body.rest)[free, 2], -0.5 * 9.81 * 0.05**2, rtol=1e-9)
        explicit.reset()
        explicit.switch_on(cut)
        np.testing.assert_allclose(
            explicit.run(0.05).x, Explicit(body, gravity=(0, 0, -9.81), step=1e-4).run(0.05).x, atol=1e-12
        )


def test_a_load_is_taken_away():
    """A tip load bends the beam while damping is on; let go without damping it swings with constant energy."""
    body = beam((10, 2, 2))
    tip = len(body.rest) - 1
    explicit = Explicit(body, damping=30.0, loads=[Load([tip], (0, 0, 0.01))])
    explicit.run(0.8)
    bent = explicit.x[tip, 2] - body.rest[tip, 2]
    explicit.damping = 0.0
    explicit.replace_loads(())
    run = explicit.run(0.5, record=[tip], energy_every=10)
    assert bent > 1e-3
    assert run.positions[:, 0, 2].min() - body.rest[tip, 2] < -0.5 * bent
    assert run.energies.ripple() < 1e-2


def test_parts_of_a_run_make_the_whole():
    """Two runs of half the time end where one does, with the same samples; recording changes nothing."""
    body = beam()
    whole = Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.04, record=[3, 40], every=4)
    parts = Explicit(body, gravity=(0, 0, -9.81), step=2e-4)
    first, second = parts.run(0.02, record=[3, 40], every=4), parts.run(0.02, record=[3, 40], every=4)
    np.testing.assert_allclose(second.x, whole.x, atol=1e-14)
    np.testing.assert_allclose(np.concatenate([first.times, second.times[1:]]), whole.times, atol=1e-12)
    np.testing.assert_allclose(np.concatenate([first.positions, second.positions[1:]]), whole.positions, atol=1e-14)
    np.testing.assert_allclose(np.concatenate([first.velocities, second.velocities[1:]]), whole.velocities, atol=1e-11)
    np.testing.assert_array_equal(Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.04).x, whole.x)


def test_the_bound_divides_stable_from_unstable():
    """Just below the limit a run stays finite; above it warns, ends as diverged and keeps the last good state."""
    body = beam((6, 3, 3))
    limit = Explicit(body).limit
    shaken = body.rest + np.random.default_rng(0).normal(size=body.rest.shape) * 1e-6
    below = Explicit(body, step=0.98 * limit)
    below.x = shaken
    assert below.run(4000 * below.step).ok
    with pytest.warns(PliantWarning, match="longest stable one"):
        above = Explicit(body, step=1.06 * limit)
    above.x = shaken
    run = above.run(20000 * above.step, record=[50], every=100, energy_every=500)
    assert run.status is RunStatus.DIVERGED
    assert np.isfinite(run.x).all()
    assert np.isfinite(run.positions).all()
    assert len(run.times) == len(run.positions)
    with pytest.raises(NotConvergedError, match="node"):
        run.require()


def test_a_run_can_be_stopped():
    """The question is asked at the interval given; the run says that it was stopped."""
    asked = []

    def stop(explicit):
        asked.append(explicit.time)
        return explicit.time > 0.029

    run = Explicit(beam(), step=1e-4).run(0.1, stop=stop, stop_every=0.01, record=[1], every=50)
    assert run.status is RunStatus.STOPPED
    np.testing.assert_allclose(asked, [0.01, 0.02, 0.03])
    assert run.time == pytest.approx(0.03)
    assert len(run.times) == 7


def test_asking_does_not_change_the_course():
    """A run that is asked at times has the bits of one that is not; a state that the question sets is gone on from."""
    body = beam()
    plain = Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.04)
    asked = Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.04, stop=lambda one: False, stop_every=0.01)
    np.testing.assert_array_equal(asked.x, plain.x)
    np.testing.assert_array_equal(asked.v, plain.v)

    def back(one):
        one.x, one.v = body.rest, np.zeros_like(body.rest)

    again = Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.04, stop=back, stop_every=0.02)
    short = Explicit(body, gravity=(0, 0, -9.81), step=2e-4).run(0.02)
    np.testing.assert_allclose(again.x, short.x, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Explicit(beam(), step=-1.0), "step is"),
        (lambda: Explicit(beam(), integrator="leapfrog"), "integrator"),
        (lambda: Explicit(beam(), damping=-1.0), "damping"),
        (lambda: Explicit(beam(), actuation={7: Sine(0.1, 1.0)}), "material 7"),
        (lambda: Explicit(beam(), loads=[Load([99999], (0, 0, 1))]), "99999"),
        (lambda: Explicit(pair(), layout="structured"), "voxel lattice"),
        (lambda: Explicit(beam()).run(-1.0), "duration"),
        (lambda: Explicit(beam()).run(0.01, stop=lambda one: True, stop_every=0.0), "stop_every is 0.0 s"),
        (lambda: Explicit(beam(), ground=0.0), "ground is 0.0; give one Obstacle"),
        (lambda: Explicit(beam(), loads=[(0, 0, 1)]), "loads is .*give one Load"),
        (lambda: pair(k=-1.0), "spring 0 between points 0 and 1"),
        (lambda: pair(length=0.0), "spring 0"),
        (lambda: pair(m=0.0), "point 0"),
        (lambda: Springs.checked([(0, 0, 0), (1, 0, 0)], [(0, 5)], 1.0, 1.0), "spring 0 joins"),
        (lambda: Plane(friction=-0.1), "friction"),
        (lambda: SpringLaw((0, 0), (1, 1)), "rising"),
        (lambda: Explicit(beam(damping=(3.0, 0.0))), r"damping \(3 1/s, 0 s\).*Explicit\(damping=3\)"),
        (lambda: Explicit(beam(damping=(0.0, 0.01))), "needs Dynamics"),
        (
            lambda: Explicit(beam(), actuation={0: Sine(1.5, 1.0)}),
            r"material 0 reaches -1.5.*offset - amplitude above -1",
        ),
        (lambda: Explicit(beam(), actuation={0: Ramp(-1.0)}), "reaches -1"),
        (
            lambda: Explicit(beam()).switch_off([10**9]),
            "spring 1000000000 of those to switch .* there are springs 0 to",
        ),
        (lambda: Explicit(beam(), device="gpu"), "device is 'gpu'"),
        (
            lambda: Explicit(beam(), device="warp-cpu", precision="single", layout="structured"),
            "layout 'structured' on",
        ),
        (lambda: Explicit(beam(rigid={"r": [40, 41, 42, 47]})), "rigid part 'r'"),
    ],
)
def test_bad_input_is_named(make, words):
    """Each mistake is told with its offender and a remedy."""
    with pytest.raises((InputError, ValueError), match=words):
        make()


def with_a_hole(explicit, name):
    values = getattr(explicit, name).copy()
    values[5, 1] = np.nan
    setattr(explicit, name, values)


def test_the_state_is_set_as_a_whole():
    """Writing into what `x` and `v` return would change nothing: it is refused. Assignment works; the offender is named."""
    explicit = Explicit(beam())
    for name in ("x", "v"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(explicit, name)[:, 2] += 0.1
        setattr(explicit, name, getattr(explicit, name) + 0.1)
        with pytest.raises(InputError, match=f"{name} of node 5 is .*nan.*1 such"):
            with_a_hole(explicit, name)
        with pytest.raises(InputError, match=f"{name} has shape"):
            setattr(explicit, name, np.zeros(3))
    np.testing.assert_allclose(explicit.x, beam().rest + 0.1)


def test_what_is_printed_fits_a_line():
    """An engine, its springs, a run and its energies tell their sizes, not their numbers."""
    explicit = Explicit(beam(), step=1e-4)
    run = explicit.run(0.01, record=[1, 2], every=50, energy_every=50)
    assert repr(explicit) == "Explicit(84 nodes, 623 springs, verlet, step 0.0001 s, at 0.01 s)"
    assert repr(explicit.springs) == "Springs(623 springs, 84 points)"
    assert repr(run) == "ExplicitRun(COMPLETED at 0.01 s, 100 steps, 84 nodes, 2 recorded in 3 samples)"
    assert repr(run.energies) == "Energies(3 samples)"


def test_progress_is_shown_on_request(capsys):
    """progress=True draws a bar on stderr; nothing is printed otherwise."""
    Explicit(beam(), step=1e-4).run(0.01, progress=True)
    shown = capsys.readouterr()
    assert "simulating" in shown.err
    assert "100%" in shown.err
    assert not shown.out
    Explicit(beam(), step=1e-4).run(0.01)
    assert not capsys.readouterr().err


def test_springs_per_second_are_springs_times_steps():
    """For every integrator, also for the one that sums forces four times in a step."""
    for integrator in INTEGRATORS:
        run = Explicit(beam(), step=1e-4, integrator=integrator).run(0.01)
        assert run.springs_per_second * run.seconds == pytest.approx(623 * 100)


def test_masses_without_springs_are_told():
    """A point that nothing holds is allowed in dynamics, with a warning that names it."""
    with pytest.warns(PliantWarning, match="the first is 2"):
        Springs.checked([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1)], 1.0, 1.0)
