"""Tet bodies of both orders, all laws: derivatives, invariances, mass, threads."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from conftest import random_rotation
from pliant.body import TetBody
from pliant.body.element import tet_element
from pliant.errors import InputError, MaterialError, PliantWarning
from pliant.material import Corotational, Linear, NeoHookean, all_laws
from pliant.shape import make

MESH = make.box((0.06, 0.02, 0.03), (3, 1, 2))
KINDS = [(1, "elements"), (2, "elements"), (1, "patches")]

every_body = pytest.mark.parametrize(
    "body",
    [TetBody(MESH, law(E=1e5, nu=0.45), order=o, volume=v) for law in all_laws for o, v in KINDS],
    ids=[f"{law.__name__}-{o}-{v}" for law in all_laws for o, v in KINDS],
)


def deformed(body, rng, size=1.5e-3):
    """Random displacements, then a rotation where the law allows one."""
    x = body.rest + size * rng.uniform(-1, 1, body.rest.shape)
    return x if body.laws[0].feels_rotation else x @ random_rotation(rng).T


@every_body
def test_warped_tangent_turns_with_the_body(body, rng, capsys):
    """At a rotated rest shape the warped tangent is R K0 R^T; elsewhere it differs from df/dx, by what is printed."""
    R = random_rotation(rng) if not body.laws[0].feels_rotation else np.eye(3)
    turn = np.kron(np.eye(body.node_count), R)
    K0 = body.stiffness(body.rest).toarray()
    warped = body.stiffness(body.rest @ R.T, "warped").toarray()
    assert np.abs(warped - turn @ K0 @ turn.T).max() < 1e-12 * np.abs(K0).max()
    assert np.linalg.eigvalsh(body.stiffness(deformed(body, rng), "warped").toarray())[0] > -1e-9 * np.abs(K0).max()
    x = deformed(body, rng)
    exact = body.stiffness(x).toarray()
    difference = np.abs(body.stiffness(x, "warped").toarray() - exact).max() / np.abs(exact).max()
    assert (difference < 1e-12) == isinstance(body.laws[0], Linear)
    with capsys.disabled():
        print(f"\n  warped - exact: {100 * difference:.1f} % of the largest entry", end="")


@every_body
def test_rigid_motion_costs_nothing(body, rng):
    """Translation never gives a force; rotation only for the linear law, as its docs say."""
    scale = 1e5 * 0.03**2
    assert np.abs(body.force(body.rest + np.array([0.1, -0.2, 0.3]))).max() < 1e-10 * scale
    turned = np.abs(body.force(body.rest @ random_rotation(rng).T)).max() > 1e-10 * scale
    assert turned == body.laws[0].feels_rotation


@every_body
def test_internal_forces_balance(body, rng):
    """They sum to zero, and so do their moments (for laws that do not feel rotations)."""
    x = deformed(body, rng)
    f = body.force(x)
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * np.abs(f).sum()
    if not body.laws[0].feels_rotation:
        assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * np.abs(f).sum() * np.abs(x).max()


@pytest.mark.parametrize(("order", "volume"), KINDS)
def test_threads_change_nothing_but_rounding(order, volume, rng):
    """Two and three threads give the forces and stiffness of one."""
    mesh = make.box((0.06, 0.02, 0.03), (6, 3, 4))
    bodies = [TetBody(mesh, NeoHookean(E=1e5, nu=0.4), order=order, volume=volume, threads=t) for t in (1, 2, 3)]
    x = deformed(bodies[0], rng, 5e-4)
    f, K, Kw = bodies[0].force(x), bodies[0].stiffness(x), bodies[0].stiffness(x, "warped")
    for body in bodies[1:]:
        assert body.energy(x) == pytest.approx(bodies[0].energy(x), rel=1e-12)
        assert np.abs(body.force(x) - f).max() < 1e-12 * np.abs(f).max()
        assert abs(body.stiffness(x) - K).max() < 1e-12 * abs(K).max()
        assert abs(body.stiffness(x, "warped") - Kw).max() < 1e-12 * abs(Kw).max()


def test_regions_of_different_material(rng):
    """A body with a law per label has the energy of its parts, and each part's element order does not matter."""
    labels = (MESH.nodes[MESH.tets].mean(axis=1)[:, 0] > 0.03).astype(int)
    mesh = MESH.labelled(labels)
    soft, stiff = Corotational(E=5e4, nu=0.4), NeoHookean(E=5e5, nu=0.3)
    both = TetBody(mesh, {0: soft, 1: stiff}, density={0: 1000.0, 1: 2000.0})
    x = both.rest + 1e-3 * rng.uniform(-1, 1, both.rest.shape)
    expected = 0.0
    for label, law in ((0, soft), (1, stiff)):
        tets = mesh.tets[labels == label]
        used = np.unique(tets)
        part = TetBody(mesh.part(label=label), law)
        assert np.allclose(part.rest, both.rest[used])
        expected += part.energy(x[used])
    assert both.energy(x) == pytest.approx(expected, rel=1e-12)
    half = mesh.volumes @ np.where(labels == 0, 1000.0, 2000.0)
    assert both.mass().sum() == pytest.approx(3 * half)
    with pytest.raises(MaterialError, match="label 1 have no law"):
        TetBody(mesh, {0: soft})
    with pytest.warns(PliantWarning, match="a law for label 7, but no tet has it"):
        TetBody(mesh, {0: soft, 1: stiff, 7: stiff})


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["consistent", "lumped"])
def test_mass_is_all_there_and_positive(order, kind):
    """The mass matrix has the body's mass and is positive definite; gravity's forces sum to the weight."""
    body = TetBody(MESH, Corotational(E=1e5, nu=0.3), density=1200.0, order=order, mass=kind)
    M = body.mass().toarray()
    total = 1200.0 * MESH.volume
    assert M.sum() == pytest.approx(3 * total)
    assert np.linalg.eigvalsh(M)[0] > 0
    assert body.load_masses.sum() == pytest.approx(total)
    if kind == "lumped":
        assert np.count_nonzero(M - np.diag(np.diag(M))) == 0


def test_consistent_mass_integrates_velocities_exactly():
    """The kinetic energy of a linear velocity field equals the integral, at both orders."""
    A = np.array([[0.1, 0.4, -0.2], [0.3, 0.0, 0.5], [-0.1, 0.2, 0.7]])
    for order in (1, 2):
        body = TetBody(MESH, Corotational(E=1e5, nu=0.3), density=900.0, order=order)
        v = (body.rest @ A.T).ravel()
        corners = MESH.nodes[MESH.tets] @ A.T
        # The integral of |v|^2 over a tet with linear v is V/20 (sum_i |v_i|^2 + |sum_i v_i|^2).
        squares = (corners**2).sum(axis=(1, 2)) + (corners.sum(axis=1) ** 2).sum(axis=1)
        assert v @ (body.mass() @ v) == pytest.approx(900.0 * (MESH.volumes / 20 * squares).sum())


@pytest.mark.parametrize("order", [1, 2])
def test_shape_functions_interpolate(order):
    """Shape functions sum to one with gradients that sum to zero, and lumped shares sum to one."""
    element = tet_element(order)
    assert element.values.sum(axis=1) == pytest.approx(np.ones(len(element.weights)))
    grad_L = np.concatenate([[[-1, -1, -1]], np.eye(3)])
    assert np.abs(np.einsum("qai,ij->qj", element.gradients, grad_L)).max() < 1e-12
    assert element.mass.sum() == pytest.approx(1.0)
    assert element.lumped_shares().sum() == pytest.approx(1.0)
    assert (element.lumped_shares() > 0).all()


@pytest.mark.parametrize("order", [1, 2])
def test_fields_of_a_uniform_stretch(order):
    """Uniform stretch: the Cauchy stress is the closed form at every node, energies sum to the body's."""
    law = NeoHookean(E=1e5, nu=0.4)
    body = TetBody(MESH, law, order=order)
    F = np.diag([1.2, 0.95, 1.0])
    fields = body.fields(body.rest @ F.T)
    sigma = law.stress(F) @ F.T / np.linalg.det(F)
    assert np.abs(fields.stress - sigma).max() < 1e-9 * np.abs(sigma).max()
    s = sigma - np.trace(sigma) / 3 * np.eye(3)
    assert fields.von_mises == pytest.approx(np.sqrt(1.5 * (s * s).sum()))
    assert fields.energy.sum() == pytest.approx(body.energy(body.rest @ F.T))


@pytest.mark.filterwarnings("ignore:four-node tets lock")
@pytest.mark.parametrize("law", all_laws)
def test_fields_with_patches_are_those_of_the_body(law, rng):
    """With averaged dilation the elements' energies sum to the body's, and their stress balances the nodal forces."""
    labels = (MESH.nodes[MESH.tets].mean(axis=1)[:, 0] > 0.03).astype(int)
    mesh = MESH.labelled(labels)
    body = TetBody(mesh, {0: law(E=1e5, nu=0.49), 1: law(E=3e5, nu=0.3)}, volume="patches")
    x = body.rest + 5e-4 * rng.uniform(-1, 1, body.rest.shape)
    fields = body.fields(x)
    assert fields.energy.sum() == pytest.approx(body.energy(x), rel=1e-10)
    plain = TetBody(mesh, {0: law(E=1e5, nu=0.49), 1: law(E=3e5, nu=0.3)})
    assert fields.energy.sum() < 0.9 * plain.fields(x).energy.sum()


def test_bodies_are_shared_between_threads(rng):
    """Two threads that evaluate one body get what one alone gets."""
    from concurrent.futures import ThreadPoolExecutor

    body = TetBody(make.box((0.06, 0.02, 0.03), (8, 4, 5)), NeoHookean(E=1e5, nu=0.4))
    poses = [body.rest + 4e-4 * rng.uniform(-1, 1, body.rest.shape) for _ in range(2)]
    expected = [body.force(x) for x in poses]
    with ThreadPoolExecutor(2) as pool:
        for _ in range(30):
            for force, right in zip(pool.map(body.force, poses), expected, strict=True):
                assert np.array_equal(force, right)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["consistent", "lumped"])
def test_free_fall_is_uniform(order, kind):
    """Gravity accelerates every node alike, whatever the mass matrix: M 1 is what carries the weight."""
    from pliant import Dynamics, Robot

    robot = Robot(TetBody(MESH, Corotational(E=1e5, nu=0.3), order=order, mass=kind), gravity=(0, 0, -9.81))
    state = Dynamics(robot, 0.01).step(robot.rest()).require().state
    assert state.v == pytest.approx(np.broadcast_to([0, 0, -0.0981], state.v.shape), abs=1e-12)


def test_inverted_elements_are_found():
    """Pushing one node through its neighbours inverts elements around it, which are named."""
    body = TetBody(MESH, Corotational(E=1e5, nu=0.3))
    x = body.rest.copy()
    node = int(MESH.tets[0, 0])
    x[node] += 5 * (x[MESH.tets[0, 1:]].mean(axis=0) - x[node])
    inverted = body.inverted_elements(x)
    assert 0 in inverted
    assert all(node in MESH.tets[e] for e in inverted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": 3}, "order is 3"),
        ({"volume": "foam"}, "volume is 'foam'"),
        ({"order": 2, "volume": "patches"}, "for order=1"),
        ({"mass": "some"}, "mass is 'some'"),
        ({"density": 0.0}, "density of label 0 is 0.0"),
        ({"density": float("nan")}, "density"),
        ({"fixed": [99999]}, "fixed node 99999 does not exist"),
        ({"fixed": [0.5]}, "have type float64"),
        ({"fixed": [0, 1], "prescribed": [1]}, "node 1 is in fixed and in prescribed"),
        ({"sliding": [([0], (0, 0, 0))]}, "sliding normal"),
        ({"damping": (-1.0, 0.0)}, "damping is"),
        ({"threads": 0}, "threads is 0"),
        ({"damping": 0.1}, "damping is 0.1"),
        ({"fixed": np.ones(5, bool)}, "fixed mask has 5 entries"),
        ({"rigid": {"tip": []}}, "rigid part 'tip' has 0 nodes"),
        ({"rigid": {"tip": [0, 1]}}, "rigid part 'tip' has 2 nodes, all on one line"),
    ],
)
def test_bad_arguments_are_named(change, message):
    """Each unusable argument raises pliant's own error that names it."""
    with pytest.raises((InputError, MaterialError), match=message):
        TetBody(MESH, Corotational(E=1e5, nu=0.3), **change)


def test_positions_of_another_shape_are_refused():
    """Every question to a body checks the positions it is asked about."""
    body = TetBody(MESH, Corotational(E=1e5, nu=0.3))
    for question in (body.energy, body.force, body.fields, body.inverted_elements, body.stiffness):
        with pytest.raises(InputError, match="positions have shape"):
            question(body.rest[:-1])
    with pytest.raises(InputError, match="tangent is 'exakt'"):
        body.stiffness(body.rest, "exakt")


def test_a_surface_is_not_a_body():
    """A TetBody refuses a surface and says how to fill it."""
    with pytest.raises(InputError, match=r"surface\.filled"):
        TetBody(MESH.surface(), Corotational(E=1e5, nu=0.3))


def test_locking_is_told_with_its_factor():
    """Plain four-node tets above nu 0.45 warn with what they cost on this mesh; the remedies are quiet."""
    mesh = make.box((0.06, 0.02, 0.02), (6, 2, 2))
    fixed = mesh.where(x_below=0)
    law = Corotational(E=1e5, nu=0.49)
    with pytest.warns(PliantWarning, match=r"lock at nu = 0\.49.*times less.*volume='patches' or order=2") as told:
        body = TetBody(mesh, law, fixed=fixed)
    assert f"{body.discretization_error().worst:.2f} times" in str(told[0].message)
    assert body.discretization_error().worst > 1.4
    with pytest.warns(PliantWarning, match=r"discretization_error\(\) measures it"):
        TetBody(mesh, law)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TetBody(mesh, law, fixed=fixed, volume="patches")
        TetBody(mesh, law, fixed=fixed, order=2)
        TetBody(mesh, Corotational(E=1e5, nu=0.45), fixed=fixed)


def test_inverted_elements_are_counted_as_they_are_found(rng):
    """The quick count by corners agrees with the deformation gradients, for tets whose corners were sorted."""
    mesh = make.box((0.06, 0.02, 0.02), (6, 2, 2))
    body = TetBody(mesh, Corotational(E=1e5, nu=0.4))
    assert body.inverted_count(body.rest) == 0
    for size in (4e-3, 8e-3, 2e-2):
        x = body.rest + size * rng.normal(size=body.rest.shape)
        assert body.inverted_count(x) == len(body.inverted_elements(x)) > 0
    assert TetBody(mesh, NeoHookean(E=1e5, nu=0.4)).inverted_count(-body.rest) == 0
