"""Spring bodies: derivatives, invariances, masses, materials per region, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_rotation
from pliant.body import Assembly, SpringBody
from pliant.errors import InputError, MaterialError, PliantWarning
from pliant.motion import Dynamics, Statics, natural_modes
from pliant.port import Cable, Cavity, Point
from pliant.robot import Robot
from pliant.shape import Lattice, solids

BLOCK = Lattice.block((4, 2, 3), 0.01)
every_body = pytest.mark.parametrize(
    "body",
    [
        SpringBody(BLOCK, 1e5),
        SpringBody(Lattice.block((3, 2, 2), 0.01, body_diagonals=0.0), 1e5),
        SpringBody(Lattice.scattered(solids.box((0.03, 0.02, 0.02)), 0.006), 1e5),
    ],
    ids=["voxels", "voxels18", "scattered"],
)


def deformed(body, rng, size=1.5e-3):
    """Random displacements and a rotation."""
    return (body.rest + size * rng.uniform(-1, 1, body.rest.shape)) @ random_rotation(rng).T


def test_the_kernel_is_what_numpy_says(rng):
    """Energy, force and both tangents against a plain loop over springs."""
    body = SpringBody(BLOCK, 1e5)
    x = deformed(body, rng)
    energy, force = 0.0, np.zeros_like(x)
    n3 = 3 * body.node_count
    exact, warped = np.zeros((n3, n3)), np.zeros((n3, n3))
    for (i, j), k, rest in zip(body.springs, body.spring_constants, body.lengths, strict=True):
        length = np.linalg.norm(x[j] - x[i])
        n = (x[j] - x[i]) / length
        tension = k * (length - rest)
        energy += 0.5 * k * (length - rest) ** 2
        force[j] += tension * n
        force[i] -= tension * n
        along = k * np.outer(n, n)
        for matrix, block in ((warped, along), (exact, along + tension / length * (np.eye(3) - np.outer(n, n)))):
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    assert body.energy(x) == pytest.approx(energy, rel=1e-12)
    assert body.force(x) == pytest.approx(force, abs=1e-12 * np.abs(force).max())
    assert np.abs(body.stiffness(x).toarray() - exact).max() < 1e-12 * np.abs(exact).max()
    assert np.abs(body.stiffness(x, "warped").toarray() - warped).max() < 1e-12 * np.abs(warped).max()


@every_body
def test_warped_tangent_turns_with_the_body_and_is_never_negative(body, rng):
    """At a rotated rest shape it is R K0 R^T; under strong compression it stays positive semidefinite, the exact one not."""
    R = random_rotation(rng)
    turn = np.kron(np.eye(body.node_count), R)
    K0 = body.stiffness(body.rest).toarray()
    warped = body.stiffness(body.rest @ R.T, "warped").toarray()
    assert np.abs(warped - turn @ K0 @ turn.T).max() < 1e-12 * np.abs(K0).max()
    pressed = 0.7 * body.rest
    assert np.linalg.eigvalsh(body.stiffness(pressed, "warped").toarray())[0] > -1e-9 * np.abs(K0).max()
    assert np.linalg.eigvalsh(body.stiffness(pressed).toarray())[0] < -1e-3 * np.abs(K0).max()


@every_body
def test_rigid_motion_costs_nothing_and_forces_balance(body, rng):
    """No force after a rigid motion; forces and moments of any state sum to zero."""
    moved = body.rest @ random_rotation(rng).T + [0.1, -0.2, 0.3]
    assert np.abs(body.force(moved)).max() < 1e-10 * 1e5 * 0.03**2
    x = deformed(body, rng)
    f = body.force(x)
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * np.abs(f).sum()
    assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * np.abs(f).sum() * np.abs(x).max()


def test_there_are_no_soft_motions_but_rigid_ones():
    """A block of cells, and each single cell, has six free motions and no more."""
    for lattice in (BLOCK, Lattice.block((1, 1, 1), 0.01), Lattice.block((1, 1, 1), 0.01, body_diagonals=0.0)):
        values = np.linalg.eigvalsh(SpringBody(lattice, 1e5).stiffness(lattice.points).toarray())
        assert (values < 1e-9 * values[-1]).sum() == 6


def test_masses_and_weights():
    """Lumped masses have the density's total, also with equal masses, and carry gravity."""
    for kind in ("cells", "uniform"):
        body = SpringBody(BLOCK, 1e5, 1200.0, mass=kind)
        assert body.masses.sum() == pytest.approx(1200.0 * BLOCK.volume)
        assert body.mass().diagonal().reshape(-1, 3) == pytest.approx(np.repeat(body.masses[:, None], 3, axis=1))
        assert np.array_equal(body.load_masses, body.masses)
    assert np.ptp(body.masses) == 0


def test_materials_per_region_cell_and_place():
    """A number per label, per cell or a function of place give the same springs, from rubber to stiff; a spring between
    two regions has part of each."""
    lattice = BLOCK.labelled(lambda middle: middle[:, 0] > 0.02)
    by_label = SpringBody(lattice, {0: 1e5, 1: 1e9}, {0: 1000.0, 1: 7800.0})
    by_cell = SpringBody(
        lattice, np.where(lattice.labels == 1, 1e9, 1e5), np.where(lattice.labels == 1, 7800.0, 1000.0)
    )
    by_place = SpringBody(
        lattice, lambda p: np.where(p[:, 0] > 0.02, 1e9, 1e5), lambda p: np.where(p[:, 0] > 0.02, 7800.0, 1000.0)
    )
    assert by_label.masses.sum() == pytest.approx(lattice.volume * 4400.0)
    for other in (by_cell, by_place):
        assert np.array_equal(by_label.spring_constants, other.spring_constants)
        assert np.array_equal(by_label.masses, other.masses)
    soft, stiff = SpringBody(BLOCK, 1e5).spring_constants, SpringBody(BLOCK, 1e9).spring_constants
    x = BLOCK.points[BLOCK.springs][:, :, 0]
    between = (np.abs(x - 0.02) < 1e-9).all(axis=1)
    assert by_label.spring_constants[between] == pytest.approx((soft + stiff)[between] / 2)
    assert np.array_equal(by_label.spring_constants[(x > 0.021).any(axis=1)], stiff[(x > 0.021).any(axis=1)])


def test_given_constants_and_lengths(rng):
    """Springs of other constants and rest lengths: a lattice that wants to be twice as large is at rest there."""
    body = SpringBody(BLOCK, 1e5, constants=rng.uniform(1, 2, len(BLOCK.springs)), lengths=2 * BLOCK.lengths)
    assert np.abs(body.force(2 * body.rest)).max() < 1e-12
    assert body.energy(body.rest) == pytest.approx(0.5 * np.sum(body.spring_constants * BLOCK.lengths**2))


@every_body
def test_fields_of_a_uniform_stretch(body):
    """Energies sum to the body's; in voxels the virial stress is the same at every node, that of the homogenized lattice."""
    F = np.diag([1.001, 0.9995, 1.0])
    fields = body.fields(body.rest @ F.T)
    assert fields.energy.sum() == pytest.approx(body.energy(body.rest @ F.T))
    strain = F - np.eye(3)
    hooke = 0.4 * 1e5 * (np.trace(strain) * np.eye(3) + 2 * strain)
    if body.lattice.grid is not None:
        assert np.abs(fields.stress - hooke).max() < 5e-3 * np.abs(hooke).max()
    volumes = body.lattice.volume_shares @ np.ones(len(body.lattice.cells))
    mean = np.einsum("n,nij->ij", volumes, fields.stress) / volumes.sum()
    assert np.abs(mean - hooke).max() < (0.02 if body.lattice.grid else 0.2) * np.abs(hooke).max()


@every_body
def test_ports_ride_on_any_lattice(body, rng):
    """Points embedded in the lattice move with an affine motion, to rounding."""
    points = rng.uniform(0.002, 0.018, (20, 3))
    nodes, weights = body.embed(points)
    F = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
    assert np.einsum("pk,pkc->pc", weights, (body.rest @ F.T)[nodes]) == pytest.approx(points @ F.T, abs=1e-12)


def held_bar(kind, **options):
    """A bar of springs held at x = 0, as a robot with a tip."""
    bar = solids.box((0.08, 0.02, 0.02))
    lattice = Lattice.voxels(bar, 0.005) if kind == "voxels" else Lattice.scattered(bar, 0.005)
    body = SpringBody(lattice, 2e5, 1000.0, fixed=lattice.where(x_below=0.0), **options)
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.sense("tip", Point(near=(0.08, 0.01, 0.01)))
    return robot


every_kind = pytest.mark.parametrize("kind", ["voxels", "scattered"])


@every_kind
def test_statics_modes_and_dynamics_agree(kind):
    """Dropped from rest with damping, the bar ends where statics says; its first frequency is the one it swings with."""
    robot = held_bar(kind, damping=(20.0, 0.0))
    hanging = Statics(robot).solve().require().state
    drop = -robot.displacement(hanging, "tip")[2] + 0.01
    frequency = natural_modes(robot, 1, hanging).frequencies[0]
    assert frequency == pytest.approx(np.sqrt(9.81 / drop) / (2 * np.pi) * 1.25, rel=0.1)
    dynamics, state = Dynamics(robot, 0.01), robot.rest()
    for _ in range(200):
        state = dynamics.step(state).require().state
    assert robot.displacement(state, "tip") == pytest.approx(robot.displacement(hanging, "tip"), abs=1e-6)


@every_kind
def test_free_fall_is_uniform(kind):
    """Gravity accelerates every point alike."""
    body = held_bar(kind).bodies[0]
    robot = Robot(SpringBody(body.lattice, 1e5), gravity=(0, 0, -9.81))
    state = Dynamics(robot, 0.01).step(robot.rest()).require().state
    assert state.v == pytest.approx(np.broadcast_to([0, 0, -0.0981], state.v.shape), abs=1e-12)


@every_kind
def test_ports_condense_exactly(kind):
    """W of a cable and a chamber at a loaded state is the slope of the nonlinear equilibrium, to 1e-5."""
    bar = solids.box((0.08, 0.02, 0.02))
    chamber = solids.box((0.05, 0.01, 0.01), at=(0.015, 0.005, 0.005))
    lattice = Lattice.voxels(bar - chamber, 0.005) if kind == "voxels" else Lattice.scattered(bar - chamber, 0.005)
    robot = Robot(SpringBody(lattice, 2e5, 1000.0, fixed=lattice.where(x_below=0.0)), gravity=(0, 0, -9.81))
    robot.impose(
        "cable", Cable([(x, 0.01, 0.018) for x in (0.01, 0.03, 0.05, 0.07)], pull=(-0.02, 0.01, 0.018)), effort=0.4
    )
    robot.impose("air", Cavity(chamber), effort=1.5e3)
    robot.sense("tip", Point(near=(0.08, 0.01, 0.01)))
    statics = Statics(robot, tolerance=1e-12)
    state = statics.solve().require().state
    W = robot.linearize(state).model.W
    for column, (name, effort, step) in enumerate((("cable", 0.4, 1e-4), ("air", 1.5e3, 0.5))):
        ends = []
        for sign in (1, -1):
            robot.set_effort(name, effort + sign * step)
            after = statics.solve(state).require().state
            ends.append(np.concatenate([robot.displacement(after, port) for port in ("cable", "air", "tip")]))
        robot.set_effort(name, effort)
        slope = (ends[0] - ends[1]) / (2 * step)
        assert np.abs(slope - W[:, column]).max() < 1e-5 * np.abs(W[:, column]).max()


def test_inverted_cells_are_found():
    """A mirrored cell is inside out, and named."""
    body = SpringBody(BLOCK, 1e5)
    x = body.rest.copy()
    ids = BLOCK.where(x_above=0.04)
    x[ids, 0] = 0.02
    inverted = body.inverted_elements(x)
    assert set(inverted) == set(np.flatnonzero(BLOCK.centers[:, 0] > 0.03))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"E": -1.0}, r"E of cell 0 at .* is -1.0 Pa"),
        ({"E": lambda p: np.where(p[:, 0] > 0.03, 0.0, 1e5)}, r"E of cell 18 at .* is 0.0 Pa \(6 such cells\)"),
        ({"E": {1: 1e5}}, "label 0 have no E"),
        ({"E": np.ones(3)}, r"E has shape \(3,\)"),
        ({"E": "soft"}, "E is 'soft'"),
        ({"density": 0.0}, "density of cell 0"),
        ({"density": float("nan")}, "density of cell 0"),
        ({"mass": "some"}, "mass is 'some'"),
        ({"constants": -np.ones(len(BLOCK.springs))}, "spring 0 between points 0 and 1 has the stiffness -1.0 N/m"),
        ({"constants": np.ones(3)}, r"stiffness has shape \(3,\)"),
        ({"lengths": np.full(len(BLOCK.springs), np.nan)}, "spring 0 between points 0 and 1 has the length nan m"),
        ({"fixed": [99999]}, "fixed node 99999 does not exist"),
        ({"fixed": [0, 1], "prescribed": [1]}, "node 1 is in fixed and in prescribed"),
        ({"damping": (-1.0, 0.0)}, "damping is"),
        ({"rigid": {"tip": [0, 1]}}, "rigid part 'tip' has 2 nodes, all on one line"),
    ],
)
def test_bad_arguments_are_named(change, message):
    """Each unusable argument raises pliant's own error that names it."""
    with pytest.raises((InputError, MaterialError), match=message):
        SpringBody(BLOCK, **({"E": 1e5} | change))


def test_a_surface_is_not_a_lattice():
    """A SpringBody refuses a surface and says how to make a lattice."""
    with pytest.raises(InputError, match=r"Lattice\.voxels"):
        SpringBody(solids.box((0.01, 0.01, 0.01)), 1e5)


def test_a_modulus_for_a_label_that_is_not_there_is_told():
    """Most likely the labels were forgotten: the first such label and those of the lattice are named."""
    with pytest.warns(PliantWarning, match=r"there is E for label 1, but no cell has it: the labels are \[0\]"):
        SpringBody(Lattice.block((2, 1, 1), 0.01), E={0: 1e5, 1: 2e5})


def test_springs_inside_a_rigid_part_change_nothing(rng):
    """They never stretch, and are left out: the coordinates feel the same forces as with all of them, at any pose."""
    ids = np.flatnonzero(BLOCK.points[:, 0] > 0.025)
    body = SpringBody(BLOCK, 1e5, fixed=BLOCK.where(x_below=0), rigid={"end": ids})
    assert len(body.rows) < body.node_count + len(body.springs)
    assembly = Assembly([body])
    pose = assembly.moved(assembly.rest(), 2e-3 * rng.uniform(-1, 1, (assembly.coordinate_count, 3)))
    a, b = body.springs.T
    way = pose.x[b] - pose.x[a]
    length = np.linalg.norm(way, axis=1, keepdims=True)
    pull = (body.spring_constants * (length[:, 0] - body.lengths))[:, None] * way / length
    force = np.zeros_like(pose.x)
    np.add.at(force, b, pull)
    np.add.at(force, a, -pull)
    T = assembly.slope(pose)
    want, found = (assembly.force_on_coordinates(T, f) for f in (force, body.force(pose.x)))
    assert np.abs(want - found).max() < 1e-12 * np.abs(want).max()
