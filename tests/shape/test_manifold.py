"""Taking hinges off a mesh."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.shape import make, solids, topology
from pliant.shape.manifold import fans, without_hinges


def hinged(offset: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """A large block and a smaller one that touch as the offset says, joined in the nodes they share."""
    big = make.box((0.03, 0.03, 0.03), 3)
    small = make.box((0.02, 0.02, 0.02), 2).translated(offset)
    nodes, tets = np.vstack([big.nodes, small.nodes]), np.vstack([big.tets, small.tets + len(big.nodes)])
    first, same = topology.unique_rows(np.round(nodes * 1e6).astype(np.int64))
    return nodes[first], same[tets].astype(np.int32)


def is_manifold(tets: np.ndarray) -> bool:
    triangles, _ = topology.boundary_faces(tets)
    _, ids = topology.unique_edges(triangles, np.array([[0, 1], [1, 2], [2, 0]]))
    return bool((np.bincount(ids.ravel()) == 2).all()) and fans(triangles).max() + 1 == len(np.unique(triangles))


@pytest.mark.parametrize("offset", [(0.03, 0.03, 0.0), (0.03, 0.03, 0.03), (-0.02, -0.02, 0.01)])
def test_blocks_on_a_hinge_are_parted_there(offset):
    """Blocks joined by an edge or a node come apart; only tets of the smaller star at the hinge go."""
    nodes, tets = hinged(offset)
    assert not is_manifold(tets)
    new_nodes, new_tets = without_hinges(nodes, tets)
    assert is_manifold(new_tets)
    lost = 1 - topology.tet_volumes(new_nodes, new_tets).sum() / topology.tet_volumes(nodes, tets).sum()
    assert 0 < lost < 0.15
    assert topology.connected_parts(len(new_nodes), new_tets).max() == 1


def test_blocks_on_a_face_stay_whole():
    """Blocks joined by faces are one solid and lose nothing."""
    nodes, tets = hinged((0.03, 0.0, 0.0))
    _, new_tets = without_hinges(nodes, tets)
    assert len(new_tets) == len(tets)


def test_crumbs_go_but_a_small_mesh_does_not():
    """A separate piece of a few tets is dropped beside a large one; alone it is the mesh."""
    big, crumb = make.box((0.03, 0.03, 0.03), 3), make.box((0.01, 0.01, 0.01), 1)
    nodes = np.vstack([big.nodes, crumb.nodes + 0.1])
    _, tets = without_hinges(nodes, np.vstack([big.tets, crumb.tets + len(big.nodes)]))
    assert len(tets) == len(big.tets)
    _, tets = without_hinges(crumb.nodes, crumb.tets)
    assert len(tets) == 6


def test_fans_of_a_sound_surface_are_its_nodes():
    """Every node of a closed manifold has one fan; two pyramids tip to tip have two fans at the tip."""
    ball = make.sphere(0.02, 0.01).surface()
    assert fans(ball.triangles).max() + 1 == len(ball.nodes)
    tip = np.array([[0, 1, 2, 3], [0, 4, 5, 6]], dtype=np.int32)
    triangles, _ = topology.boundary_faces(tip)
    assert fans(triangles).max() + 1 == 8


def test_filled_parts_have_no_hinges():
    """A wedge thinner than the lattice at its edge fills without tets that hang by an edge."""
    wedge = solids.extrusion([(0, 0), (0.06, 0), (0.06, 0.012)], 0.03).rotated((1, 2, 0.5), 0.8)
    mesh = wedge.filled(0.003)
    for node in mesh.boundary_nodes:
        star = mesh.tets[(mesh.tets == node).any(axis=1)]
        reached, front = {0}, [0]
        while front:
            common = np.isin(star, star[front.pop()]).sum(axis=1)
            new = set(np.flatnonzero(common >= 3).tolist()) - reached
            reached |= new
            front += list(new)
        assert len(reached) == len(star)
    assert mesh.volume == pytest.approx(wedge.volume, rel=0.05)
