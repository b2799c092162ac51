"""Many robots in one call: each as if it were alone."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.contact import Plane
from pliant.errors import InputError, PliantWarning
from pliant.motion.explicit import Material, Pneumatic, Population, Ramp, Sine
from pliant.shape import Lattice

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("explicit steps"),  # one process compiles their kernels
]

PALETTE = {
    0: Material(1e5),
    1: Material(3e5, 1500.0),
    2: Material(5e4, strain=Sine(0.1, 8.0)),
    5: Material(8e4, strain=Pneumatic(0.1, 6.0, lag=0.01)),
}


def crowd(count=21, precision="double", holes=True, **more):
    """Robots of random cells, some of them missing, with random phases, on the ground."""
    rng = np.random.default_rng(3)
    lattice = Lattice.block((3, 3, 2), size=0.01)
    ids = rng.choice([-1, 0, 1, 2, 5] if holes else [0, 1, 2, 5], (count, len(lattice.cells)))
    phases = rng.uniform(0, 6, (count, 4)) * [0, 0, 1, 1]
    around = {"gravity": (0, 0, -9.81), "damping": 1.0, "ground": Plane(friction=0.6)}
    return Population(lattice, PALETTE, ids, phases=phases, noise=0.02, precision=precision, **(around | more))


@pytest.mark.parametrize("integrator", ["verlet", "rk4", "semi-implicit"])
def test_each_robot_moves_as_if_it_were_alone(integrator):
    """Positions, velocities and samples are those of `Explicit` on the same robot."""
    population = crowd(integrator=integrator)
    run = population.run(0.1, record=[3, 20], every=20)
    for robot in (0, 7, 20):
        alone = population.single(robot).run(0.1, record=[3, 20], every=20)
        assert np.abs(alone.x - population.lattice.points).max() > 5e-4
        np.testing.assert_allclose(run.x[robot], alone.x, atol=1e-13)
        np.testing.assert_allclose(run.v[robot], alone.v, atol=1e-10)
        np.testing.assert_allclose(run.positions[robot], alone.positions, atol=1e-13)
        np.testing.assert_allclose(run.times, alone.times)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_robot_does_not_depend_on_its_company(precision):
    """The same robot in another crowd, at another place in it and with another number of threads, has the same bits."""
    whole = crowd(21, precision)
    few = Population(
        whole.lattice,
        PALETTE,
        whole.materials[[13, 4]],
        phases=whole.phases[[13, 4]],
        seeds=[13, 4],
        noise=0.02,
        gravity=(0, 0, -9.81),
        damping=1.0,
        ground=Plane(friction=0.6),
        precision=precision,
        threads=1,
        step=whole.step,
    )
    np.testing.assert_array_equal(few.run(0.1).x, whole.run(0.1).x[[13, 4]])


def test_robots_fail_alone():
    """One robot that is far too stiff for the step fails, is marked, and the others finish as ever."""
    lattice = Lattice.block((2, 2, 2), size=0.01)
    palette = {0: Material(1e5), 1: Material(1e8)}
    ids = np.zeros((5, 8), int)
    calm = Population(lattice, palette, ids, noise=0.01)
    ids[2] = 1
    with pytest.warns(PliantWarning, match="robots may fail"):
        wild = Population(lattice, palette, ids, noise=0.01, step=calm.step)
    seconds = 2000 * calm.step
    run = wild.run(seconds, fitness=lambda run: run.x[:, :, 0].max(axis=1), record=[0], every=100)
    assert run.failed.tolist() == [False, False, True, False, False]
    assert np.isfinite(run.x).all()
    assert run.fitness[2] == -np.inf
    assert np.isfinite(np.delete(run.fitness, 2)).all()
    assert np.isnan(run.positions[2, -1]).all()
    others = [0, 1, 3, 4]
    np.testing.assert_array_equal(run.x[others], calm.run(seconds).x[others])


def test_robots_stop_early():
    """Those that the question ends keep the state of that time; the others go on."""
    population = crowd(18)
    run = population.run(0.1, stop=lambda robots, time, x, v: robots % 2 == 0, stop_every=0.03)
    even = np.arange(18) % 2 == 0
    assert (run.stopped == even).all()
    np.testing.assert_allclose(run.end_times[even], 0.03, atol=population.step)
    np.testing.assert_allclose(run.end_times[~even], 0.1, atol=population.step)
    np.testing.assert_array_equal(run.x[~even], population.run(0.1).x[~even])


def test_what_a_stopped_robot_has_is_what_it_has_alone():
    """Positions, velocities (also those that the question is shown) and the last sample, of one time."""
    population, shown = crowd(3), {}

    def stop(robots, time, x, v):
        shown.update({int(r): speed.copy() for r, speed in zip(robots, v, strict=True)})
        return robots >= 0

    run = population.run(0.04, stop=stop, stop_every=0.02, record=[3], every=1)
    for robot in range(3):
        seen = []

        def ask(one, seen=seen):
            seen.append(one.v)
            return True

        alone = population.single(robot).run(0.04, stop=ask, stop_every=0.02, record=[3])
        np.testing.assert_allclose(run.end_times[robot], alone.time)
        np.testing.assert_allclose(run.x[robot], alone.x, atol=1e-13)
        np.testing.assert_allclose(run.v[robot], alone.v, atol=1e-10)
        np.testing.assert_allclose(shown[robot], alone.v, atol=1e-10)
        np.testing.assert_array_equal(seen[0], alone.v)
        np.testing.assert_allclose(run.positions[robot, : len(alone.times)], alone.positions, atol=1e-13)


@pytest.mark.parametrize("integrator", ["verlet", "rk4"])
def test_the_middle_of_a_robot_is_that_of_its_own_nodes(integrator):
    """A robot of a few cells that falls freely falls by g t^2 / 2, whatever part of the lattice it lacks."""
    lattice = Lattice.block((4, 1, 1), size=0.01)
    ids = np.array([[0, 1, -1, -1], [0, 0, 0, 0], [-1, -1, 1, -1]])
    population = Population(lattice, PALETTE, ids, gravity=(0, 0, -9.81), precision="double", integrator=integrator)
    run = population.run(0.05)
    assert repr(run) == f"PopulationRun(3 robots of 20 nodes, {run.end_times[0]:.6g} s, 0 failed, 0 stopped)"
    springs_steps = 3 * len(lattice.springs) * round(run.end_times[0] / population.step)
    assert run.springs_per_second * run.seconds == pytest.approx(springs_steps)
    assert run.present.sum(axis=1).tolist() == [12, 20, 8]
    np.testing.assert_allclose(run.masses.sum(axis=1), [1e-6 * (1070 + 1500), 4e-6 * 1070, 1e-6 * 1500])
    fallen = 0.5 * 9.81 * run.end_times[0] ** 2
    np.testing.assert_allclose(run.middle[:, 2], 0.005 - fallen, atol=1e-12)
    np.testing.assert_allclose(run.middle[1:, 0], (0.02, 0.025), atol=1e-12)
    np.testing.assert_array_equal(run.x[~run.present], np.broadcast_to(lattice.points, run.x.shape)[~run.present])


def test_the_bound_of_cells_holds_for_every_mixture():
    """The step of the stiffest cell is never above that of a robot's own lattice."""
    population = crowd(6, holes=False)
    for robot in range(6):
        assert population.limit <= population.single(robot).limit * 1.0001


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"materials": np.zeros((3, 4), int)}, "shape"),
        ({"materials": np.full((2, 8), 9)}, "robot 0 has the material 9"),
        ({"materials": np.full((2, 8), -1)}, "robot 0 has no cell"),
        ({"phases": np.zeros((2, 3))}, "phases"),
        ({"seeds": [1]}, "seeds"),
        ({"step": -1.0}, "step"),
        ({"threads": 0}, "0 threads"),
        ({"ground": "floor"}, "ground is 'floor'"),
    ],
)
def test_bad_populations_are_named(change, words):
    """The robot, the material or the array at fault."""
    good = {"materials": np.zeros((2, 8), int)} | change
    with pytest.raises(InputError, match=words):
        Population(Lattice.block((2, 2, 2), size=0.01), {0: Material(1e5)}, **good)


def test_strains_leave_springs_a_length():
    """A material whose strain reaches -1 is refused."""
    with pytest.raises(InputError, match=r"strain of a material reaches -1\.4"):
        Material(1e5, strain=Sine(1.5, 4.0, offset=0.1))
    assert Material(1e5, strain=Sine(0.9, 4.0)).strain.lowest == -0.9


def test_phases_need_signals_that_have_one():
    """A ramp has no phase to shift."""
    lattice = Lattice.block((2, 2, 2), size=0.01)
    population = Population(
        lattice, {0: Material(1e5, strain=Ramp(0.1))}, np.zeros((1, 8), int), phases=np.ones((1, 1))
    )
    with pytest.raises(InputError, match="phase"):
        population.run(0.01)
