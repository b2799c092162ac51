"""Assemblies: free coordinates, rigid parts, sliding and prescribed nodes, several bodies."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.body import Assembly, TetBody
from pliant.errors import SupportError
from pliant.material import Corotational, NeoHookean
from pliant.shape import make

MESH = make.box((0.06, 0.02, 0.02), (4, 2, 2))
LAW = NeoHookean(E=1e5, nu=0.4)


def body(**supports):
    return TetBody(MESH, LAW, **supports)


def held():
    """Fixed, sliding (one and two planes) and two rigid parts in one body."""
    left = MESH.where(x_below=0)
    tip, middle = MESH.where(x_above=0.06), MESH.where(x_above=0.029, x_below=0.031)
    bottom = np.setdiff1d(MESH.where(z_below=0), np.concatenate([left, tip, middle]))
    side = np.setdiff1d(MESH.where(y_below=0), np.concatenate([left, tip, middle]))
    normal = (0.0, 0.6, 0.8)
    return body(fixed=left, sliding=[(bottom, (0, 0, 1)), (side, normal)], rigid={"tip": tip, "middle": middle})


def two_bodies():
    return [held(), TetBody(MESH.translated((0.1, 0, 0)), Corotational(E=2e5, nu=0.3), order=2, fixed=[0, 1, 2])]


def potential(assembly, pose):
    """Elastic energy and its gradient on the nodes."""
    energy, gradient = 0.0, np.zeros((assembly.node_count, 3))
    for k, one in enumerate(assembly.bodies):
        part = slice(assembly.begin[k], assembly.begin[k + 1])
        energy += one.accumulate(pose.x[part], gradient[part], np.empty((0, 3, 3)))
    return energy, gradient


def somewhere(assembly, rng, size=1e-3):
    """A pose after two random steps, so that the rigid parts are turned."""
    pose = assembly.rest()
    for _ in range(2):
        step = size * rng.uniform(-1, 1, (assembly.coordinate_count, 3))
        step[assembly.parts.numbers[:, 1]] *= 50  # rotations are in rad
        pose = assembly.moved(pose, step)
    return pose


@pytest.mark.parametrize("bodies", [[held()], two_bodies()], ids=["one", "two"])
def test_forces_on_coordinates_are_the_slope_of_the_energy(bodies, rng):
    """T^T f equals dE/dq by central differences, through rigid parts and sliding nodes."""
    assembly = Assembly(bodies)
    pose = somewhere(assembly, rng)
    _, gradient = potential(assembly, pose)
    force = assembly.force_on_coordinates(assembly.slope(pose), gradient)
    h = 1e-7
    for _ in range(6):
        d = rng.normal(size=force.shape)
        slope = (
            potential(assembly, assembly.moved(pose, h * d))[0] - potential(assembly, assembly.moved(pose, -h * d))[0]
        ) / (2 * h)
        assert slope == pytest.approx(np.vdot(force, d), rel=1e-6, abs=1e-8 * np.abs(force).max())


@pytest.mark.parametrize("bodies", [[held()], two_bodies()], ids=["one", "two"])
def test_stiffness_of_coordinates_is_the_second_slope_of_the_energy(bodies, rng):
    """T^T K T + sum f . d2 Phi equals second differences of E(q (+) xi), symmetric, also for rotations far from balance."""
    assembly = Assembly(bodies)
    pose = somewhere(assembly, rng)
    values = np.zeros((assembly.block_count, 3, 3))
    energy, gradient = 0.0, np.zeros((assembly.node_count, 3))
    for k, one in enumerate(assembly.bodies):
        part = slice(assembly.begin[k], assembly.begin[k + 1])
        energy += one.accumulate(pose.x[part], gradient[part], values[assembly.body_slices[k]], exact=1.0)
    assembly.pull_back(assembly.slope(pose), values, gradient)
    K = assembly.pattern.to_csc(values).toarray()
    free = _motions(assembly, rng)
    h = 2e-5
    for d in free:
        second = (
            potential(assembly, assembly.moved(pose, h * d))[0]
            - 2 * energy
            + potential(assembly, assembly.moved(pose, -h * d))[0]
        ) / h**2
        assert second == pytest.approx(d.ravel() @ K @ d.ravel(), rel=1e-5)


def _motions(assembly, rng):
    """Random directions, in the planes of the sliding nodes (across them, the matrix has ones to stay regular)."""
    for _ in range(5):
        d = rng.normal(size=(assembly.coordinate_count, 3))
        d[assembly.carriers.carrier[assembly.sliding]] *= assembly.sliding_bases.any(axis=1)
        yield d


def test_rigid_parts_stay_rigid_and_sliding_nodes_in_their_planes(rng):
    """After any steps, distances inside a rigid part are those at rest, and sliding nodes have not left their planes."""
    assembly = Assembly([held()])
    pose = somewhere(assembly, rng, 5e-3)
    for ids in (part.nodes for part in assembly.parts.parts):
        now = np.linalg.norm(pose.x[ids][:, None] - pose.x[ids][None], axis=2)
        then = np.linalg.norm(assembly.rest_x[ids][:, None] - assembly.rest_x[ids][None], axis=2)
        assert np.abs(now - then).max() < 1e-15
    for ids, normal in assembly.bodies[0].supports.sliding:
        assert np.abs((pose.x - assembly.rest_x)[ids] @ normal).max() < 1e-15
    fixed = assembly.bodies[0].supports.fixed
    assert np.array_equal(pose.x[fixed], assembly.rest_x[fixed])


def test_nodes_on_three_planes_are_fixed():
    """A node that slides on three independent planes does not move, and has no coordinate."""
    corner = MESH.where(x_below=0, y_below=0, z_below=0)
    planes = [(corner, axis) for axis in np.eye(3)]
    assembly = Assembly([body(sliding=planes)])
    assert assembly.coordinate_count == len(MESH.nodes) - 1


def test_middle_nodes_are_held_as_both_ends_are():
    """Order 2: the middle of an edge is fixed, or part of a rigid part, exactly when both its ends are."""
    tip = MESH.where(x_above=0.06)
    one = TetBody(MESH, LAW, order=2, fixed=MESH.where(x_below=0), rigid={"tip": tip})
    assert np.abs(one.rest[one.supports.fixed][:, 0]).max() < 1e-12
    on_plane = np.flatnonzero(np.abs(one.rest[:, 0]) < 1e-12)
    assert np.array_equal(np.sort(one.supports.fixed), on_plane)
    assert np.abs(one.rest[one.supports.rigid["tip"]][:, 0] - 0.06).max() < 1e-12


@pytest.mark.parametrize("other", ["fixed", "rigid"])
def test_symmetry_planes_do_not_leak_at_order_2(other):
    """Where a symmetry plane meets a fixed or rigid face, the middles of its edges stay in the plane like all the others."""
    from pliant import Robot, Statics

    face = MESH.where(x_below=0) if other == "fixed" else MESH.where(x_above=0.06)
    plane = np.setdiff1d(MESH.where(y_below=0), face)
    held = {"fixed": face} if other == "fixed" else {"rigid": {"tip": face}, "fixed": MESH.where(x_below=0)}
    if other == "rigid":
        plane = np.setdiff1d(plane, held["fixed"])
    one = TetBody(MESH, LAW, order=2, sliding=[(plane, (0, 1, 0))], **held)
    x = Statics(Robot(one, gravity=(-90, 0, 0))).solve().require().state.x
    on_plane = np.flatnonzero(np.abs(one.rest[:, 1]) < 1e-12)
    inner = np.setdiff1d(on_plane, one.supports.rigid["tip"]) if other == "rigid" else on_plane
    assert np.abs(x[inner, 1]).max() < 1e-12
    assert np.abs(x - one.rest).max() > 1e-3


def test_loose_parts_are_named():
    """Nothing fixed, and two parts of which one is loose: a SupportError that says so."""
    with pytest.raises(SupportError, match="nothing is fixed"):
        Assembly([body()]).require_supported()
    with pytest.raises(SupportError, match=r"45 nodes around \(0\.13, 0\.01, 0\.01\) m has no support"):
        Assembly([body(fixed=[0, 1, 2, 3]), TetBody(MESH.translated((0.1, 0, 0)), LAW)]).require_supported()
    Assembly([held()]).require_supported()


def test_all_nodes_held_is_refused():
    """Nothing to solve for."""
    with pytest.raises(SupportError, match="every node is held"):
        Assembly([body(fixed=np.arange(len(MESH.nodes)))])


@pytest.mark.parametrize("node", [0, 7, -1])
def test_distortion_by_a_position_that_is_no_number_is_no_number(node):
    """Whichever node is lost, the pairs that come after it do not hide it."""
    assembly = Assembly([held()])
    x = assembly.rest_x.copy()
    x[node] = np.nan
    assert np.isnan(assembly.distortion(assembly.rest_x, x)).all()


def test_distortion_is_the_largest_over_the_edges(rng):
    """Change and distance of neighbours over their distance at rest, by NumPy over all edges of the tets."""
    assembly = Assembly([body()])
    before, after = (assembly.rest_x + 2e-3 * rng.uniform(-1, 1, assembly.rest_x.shape) for _ in range(2))
    a, b = (MESH.tets[:, ends].ravel() for ends in np.triu_indices(4, 1))
    rest, old, new = (np.linalg.norm(x[a] - x[b], axis=1) for x in (assembly.rest_x, before, after))
    expected = (np.abs(new - old) / rest).max(), (new / rest).max()
    assert assembly.distortion(before, after) == pytest.approx(expected, rel=1e-12)
