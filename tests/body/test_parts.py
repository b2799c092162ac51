"""The tree of parts: where it goes, how nodes follow and how that curves, for every kind of joint."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.rotation import cross_matrix, exponential
from pliant.body import Assembly, Part, SpringBody
from pliant.body.parts import free_basis
from pliant.body.tied import NO_TIES, Ties
from pliant.errors import InputError, SupportError
from pliant.shape import Lattice, solids

NOTHING, ALL = np.zeros((3, 3)), np.eye(3)


def along(direction):
    """The projection onto one direction."""
    e = np.asarray(direction, float) / np.linalg.norm(direction)
    return np.outer(e, e)


JOINTS = {
    "free": (ALL, ALL),
    "weld": (NOTHING, NOTHING),
    "revolute": (NOTHING, along((1, 2, -1))),
    "ball": (NOTHING, ALL),
    "slide": (along((0, 1, 3)), NOTHING),
    "cylinder": (along((1, 0, 1)), along((1, 0, 1))),
    "plane": (ALL - along((0, 1, 1)), along((0, 1, 1))),
    "stage": (ALL, NOTHING),
}
"""Directions in which a part may shift and about which it may turn."""


def blocks():
    """A bar of springs on 5 x 2 x 2 cells, whose cross-sections become parts."""
    bar = solids.box((0.05, 0.02, 0.02))
    return SpringBody(Lattice.voxels(bar, 0.01), E=1e5, sliding=[(np.array([0]), (0.0, 0.6, 0.8))], fixed=[1])


def random_tree(rng, body, kinds):
    """Four groups of nodes as parts, and one without nodes, hung on each other or on the ground by random joints."""
    free = rng.permutation(np.arange(4, body.node_count))
    groups = [np.sort(free[5 * k : 5 * k + 5]) for k in range(4)]
    groups.insert(2, np.empty(0, np.int64))
    parts = []
    for p, (nodes, kind) in enumerate(zip(groups, kinds, strict=True)):
        slides, turns = JOINTS[kind]
        pivot = body.rest.mean(axis=0) + 0.02 * rng.normal(size=3)
        parts.append(Part(f"{kind} {p}", nodes, pivot, int(rng.integers(-1, p)), slides, turns))
    return parts


def some_ties(body, parts):
    """Two nodes that are carried by others: a part's, a sliding one, a fixed one and plain ones."""
    taken = {int(n) for part in parts for n in part.nodes}
    plain = [n for n in range(4, body.node_count) if n not in taken]
    masters = [int(parts[0].nodes[0]), 0, 1, plain[2], int(parts[-1].nodes[1]), int(parts[-1].nodes[2]), plain[3]]
    weights = np.array([0.3, 0.2, 0.1, 0.4, 0.5, -0.25, 0.75])
    return Ties(np.array(plain[:2]), np.array([0, 4, 7]), np.array(masters), weights)


def assemblies():
    """Random trees: with every kind of joint, with and without ties."""
    return list(_assemblies())


def _assemblies():
    rng = np.random.default_rng(3)
    names = list(JOINTS)
    for number in range(8):
        body = blocks()
        kinds = [names[(number + k * (1 + number % 3)) % len(names)] for k in range(5)]
        parts = random_tree(rng, body, kinds)
        ties = some_ties(body, parts) if number % 2 else NO_TIES
        yield pytest.param(Assembly([body], parts=parts, ties=ties), id="-".join(kinds))


def free_motion(assembly, rng):
    """A random motion of the coordinates along their free entries only."""
    d = rng.normal(size=(assembly.coordinate_count, 3))
    d[assembly.carriers.carrier[assembly.sliding]] *= assembly.sliding_bases.any(axis=1)
    d[assembly.coordinate_count - assembly.parts.coordinate_count :] *= assembly.parts.free
    return d


def somewhere(assembly, rng):
    """A pose far from rest."""
    pose = assembly.rest()
    for _ in range(3):
        step = 2e-3 * free_motion(assembly, rng)
        turning = assembly.parts.numbers[:, 1]
        step[turning[turning >= 0]] *= 200
        pose = assembly.moved(pose, step)
    return pose


def energy_of(assembly, x, values=None):
    gradient = np.zeros_like(x)
    blocks = np.empty((0, 3, 3)) if values is None else values[assembly.body_slices[0]]
    return assembly.bodies[0].accumulate(x, gradient, blocks, exact=0.0 if values is None else 1.0), gradient


def tree_moved(assembly, pose, step):
    """What `Assembly.moved` means for parts, in NumPy, part by part as in the docstring of the module."""
    parts = assembly.parts
    x = pose.x.copy()
    G, shifted = [], []
    for p, part in enumerate(parts.parts):
        a = part.parent
        R = pose.rotations[a] if a >= 0 else np.eye(3)
        before, turned = (pose.centers[a], G[a]) if a >= 0 else (np.zeros(3), np.eye(3))
        t, w = (step[n] if n >= 0 else np.zeros(3) for n in parts.numbers[p])
        center = (shifted[a] if a >= 0 else 0.0) + turned @ (pose.centers[p] - before + R @ free_basis(part.slides) @ t)
        G.append(turned @ exponential(R @ free_basis(part.turns) @ w))
        shifted.append(center)
        x[part.nodes] = center + (pose.x[part.nodes] - pose.centers[p]) @ G[p].T
    return x, np.array(shifted), np.array([g @ r for g, r in zip(G, pose.rotations, strict=True)])


@pytest.mark.parametrize("assembly", assemblies())
def test_parts_go_where_their_joints_let_them(assembly, rng):
    """The compiled motion of a random tree equals that of NumPy, part by part, and rigid parts stay rigid."""
    pose = somewhere(assembly, rng)
    step = 0.1 * free_motion(assembly, rng)
    after = assembly.moved(pose, step)
    x, centers, rotations = tree_moved(assembly, pose, step)
    on_parts = assembly.parts.seats[:, 0]
    assert np.abs(after.x - x)[on_parts].max() < 1e-14
    assert np.abs(after.centers - centers).max() < 1e-14
    assert np.abs(after.rotations - rotations).max() < 1e-14
    for k, tied in enumerate(assembly.ties.tied):
        own = slice(*assembly.ties.begin[k : k + 2])
        assert after.x[tied] == pytest.approx(
            assembly.ties.weights[own] @ after.x[assembly.ties.masters[own]], abs=1e-15
        )


@pytest.mark.parametrize("assembly", assemblies())
def test_nodes_follow_by_the_slope(assembly, rng):
    """T u equals central differences of the motion, and T^T f is its transpose."""
    pose, h = somewhere(assembly, rng), 1e-6
    T = assembly.slope(pose)
    for _ in range(3):
        u = free_motion(assembly, rng)
        ahead, behind = (assembly.moved(pose, sign * h * u).x for sign in (1, -1))
        motion = assembly.motion_of_nodes(T, u)
        assert np.abs((ahead - behind) / (2 * h) - motion).max() < 1e-8
        f = rng.normal(size=motion.shape)
        assert np.vdot(assembly.force_on_coordinates(T, f), u) == pytest.approx(np.vdot(f, motion), rel=1e-12)


@pytest.mark.parametrize("assembly", assemblies())
def test_stiffness_of_a_tree_is_the_second_slope_of_its_energy(assembly, rng):
    """T^T K T + sum f . d2 Phi equals second differences of E(q (+) xi) far from balance, between any two coordinates."""
    pose = somewhere(assembly, rng)
    values = np.zeros((assembly.block_count, 3, 3))
    _, gradient = energy_of(assembly, pose.x, values)
    assembly.pull_back(assembly.slope(pose), values, gradient)
    K = assembly.pattern.to_csc(values).toarray()
    scale, h = np.abs(K).max(), 2e-4

    def energy(step):
        return energy_of(assembly, assembly.moved(pose, h * step).x)[0]

    # two motions at a time: (E(u + v) - E(u - v) - E(-u + v) + E(-u - v)) / 4 = u K v, in the size of the parts' levers
    for _ in range(6):
        u, v = (0.02 * free_motion(assembly, rng) for _ in range(2))
        second = (energy(u + v) - energy(u - v) - energy(v - u) + energy(-u - v)) / (4 * h * h)
        assert second == pytest.approx(u.ravel() @ K @ v.ravel(), rel=1e-5, abs=2e-8 * scale)


def test_blocks_of_a_tree_are_those_of_dense_matrices(rng):
    """The pulled-back blocks without curvature equal T^T K T with T and K as dense matrices."""
    for parameters in assemblies():
        (assembly,) = parameters.values
        pose = somewhere(assembly, rng)
        values = np.zeros((assembly.block_count, 3, 3))
        energy_of(assembly, pose.x, values)
        T = assembly.slope(pose)
        assembly.pull_back(T, values, None)
        found = assembly.pattern.to_csc(values).toarray()
        units = np.eye(3 * assembly.coordinate_count)
        dense = np.array([assembly.motion_of_nodes(T, unit).ravel() for unit in units]).T
        K = assembly.bodies[0].stiffness(pose.x).toarray()
        locked = np.diag((free_motion(assembly, rng) == 0.0).ravel()).astype(float)
        expected = dense.T @ K @ dense
        assert np.abs(found - expected - locked).max() < 1e-12 * np.abs(expected).max()


def test_curvature_is_the_second_order_of_the_motion(rng):
    """What hangs on each part is summed up, and w_i x (w_j x r), w_i x t_j are the matrices of the docstring."""
    assembly = next(p.values[0] for p in assemblies() if "ball" in p.id and "cylinder" in p.id)
    pose = somewhere(assembly, rng)
    parts, T, f = assembly.parts, assembly.slope(pose), rng.normal(size=pose.x.shape)
    forces, moments = assembly.loads_of_parts(T, f)
    on = assembly.ties.on_masters(f)
    for p in range(len(parts.parts)):
        below = [q for q in range(len(parts.parts)) if p in parts.chain(q)]
        nodes = np.concatenate([parts.parts[q].nodes for q in below]).astype(int)
        assert forces[p] == pytest.approx(on[nodes].sum(axis=0), abs=1e-13)
        assert moments[p] == pytest.approx(on[nodes].T @ (pose.x[nodes] - pose.centers[p]), abs=1e-13)
    r, w, t = rng.normal(size=(3, 3))
    g = rng.normal(size=3)
    assert g @ np.cross(w, np.cross(t, r)) == pytest.approx(w @ (np.outer(r, g) - g @ r * np.eye(3)) @ t)
    assert g @ np.cross(w, t) == pytest.approx(-w @ cross_matrix(g) @ t)


def test_hinges_and_slides_stay_what_they_are(rng):
    """After a thousand steps a hinge has turned about its axis only and a slide has kept its line, to rounding."""
    body = blocks()
    e, s = np.array([1.0, 2.0, -1.0]) / np.sqrt(6), np.array([0.0, 1.0, 3.0]) / np.sqrt(10)
    nodes = np.arange(4, 12)
    parts = [
        Part("ball", nodes[:4], body.rest[5], -1, NOTHING, ALL),
        Part("hinge", nodes[4:6], body.rest[9], 0, NOTHING, along(e)),
        Part("slide", nodes[6:], body.rest[11], 1, along(s), NOTHING),
    ]
    assembly = Assembly([body], parts=parts)
    pose = assembly.rest()
    for _ in range(1000):
        pose = assembly.moved(pose, 0.1 * free_motion(assembly, rng))
    a, b, c = pose.rotations
    assert np.abs(a.T @ b @ e - e).max() < 1e-14
    assert np.abs(np.einsum("pij,pik->pjk", pose.rotations, pose.rotations) - np.eye(3)).max() < 1e-14
    assert np.abs(b - c).max() < 1e-15
    way = b.T @ (pose.centers[2] - pose.centers[1]) - (body.rest[11] - body.rest[9])
    assert np.abs(np.cross(way, s)).max() < 1e-13


def test_a_tree_on_a_hinge_is_supported():
    """A part that a joint holds to the ground holds what hangs on it; a free one does not."""
    lattice = Lattice.voxels(solids.box((0.05, 0.02, 0.02)), 0.01)
    body = SpringBody(lattice, E=1e5)
    left = np.flatnonzero(body.rest[:, 0] < 0.005)
    pivot = body.rest[left].mean(axis=0)
    Assembly([body], parts=[Part("base", left, pivot, -1, NOTHING, along((0, 1, 0)))]).require_supported()
    with pytest.raises(SupportError, match="nothing is fixed"):
        Assembly([body], parts=[Part("base", left, pivot)]).require_supported()


def test_trees_that_are_none_are_refused():
    """A part that hangs on a later one, or turns about two axes."""
    part = Part("a", np.arange(3), np.zeros(3), 0)
    with pytest.raises(InputError, match="'a' hangs on part 0"):
        Assembly([blocks()], parts=[part])
    with pytest.raises(InputError, match="about two axes"):
        Assembly([blocks()], parts=[Part("a", np.arange(4, 7), np.zeros(3), -1, NOTHING, ALL - along((1, 1, 0)))])


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 2, -3)])
def test_free_bases_span_what_is_free(normal):
    """Orthonormal columns that span the plane; coordinate axes where they lie in it."""
    P = np.eye(3) - along(normal)
    N = free_basis(P)
    assert np.abs(N @ N.T - P).max() < 1e-15
    assert (N.any(axis=0).sum(), free_basis(np.eye(3)).tolist()) == (2, np.eye(3).tolist())
    if normal == (0, 0, 1):
        assert np.array_equal(N, np.diag([1.0, 1.0, 0.0]))
