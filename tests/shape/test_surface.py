"""SurfaceMesh: closed or open, oriented, simple, and what it measures."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import (
    EmptyMeshError,
    InputError,
    MeshError,
    OpenSurfaceError,
    PliantWarning,
    SelfIntersectionError,
    SurfaceError,
)
from pliant.shape import SurfaceMesh, make, solids

BOX = solids.box((0.1, 0.05, 0.02))


def joined(*surfaces: SurfaceMesh) -> SurfaceMesh:
    """Surfaces put side by side in one, as they are."""
    starts = np.cumsum([0] + [len(s.nodes) for s in surfaces])
    triangles = np.vstack([s.triangles + k for s, k in zip(surfaces, starts[:-1], strict=True)])
    return SurfaceMesh(np.vstack([s.nodes for s in surfaces]), triangles)


def without(surface: SurfaceMesh, triangle: int) -> SurfaceMesh:
    return SurfaceMesh(surface.nodes, np.delete(surface.triangles, triangle, axis=0))


def test_box_measures():
    """A box has its volume, its area, unit normals and the Euler characteristic 2."""
    assert BOX.volume == pytest.approx(1e-4, rel=1e-12)
    assert BOX.area == pytest.approx(2 * (5e-3 + 1e-3 + 2e-3), rel=1e-12)
    np.testing.assert_allclose(np.linalg.norm(BOX.normals, axis=1), 1.0)
    assert len(BOX.nodes) - len(BOX.edges()) + len(BOX.triangles) == 2
    np.testing.assert_allclose((BOX.areas[:, None] * BOX.normals).sum(axis=0), 0.0, atol=1e-15)


def test_volume_far_from_the_origin_keeps_its_digits():
    """A small part a hundred metres away has the same volume to ten digits."""
    assert BOX.translated((100, 100, 100)).volume == pytest.approx(1e-4, rel=1e-9)


def test_normals_look_outward():
    """Stepping along the normal from a face leads out of the solid."""
    surface = make.sphere(0.02, 0.01).surface()
    middle = surface.nodes[surface.triangles].mean(axis=1)
    assert (np.einsum("ij,ij->i", middle, surface.normals) > 0).all()


def test_an_open_surface_is_told_with_an_edge():
    """A surface with a hole exists, but whoever needs a solid gets an error that names an edge of the hole."""
    bucket = without(BOX, 3)
    assert not bucket.is_closed
    with pytest.raises(OpenSurfaceError, match="3 edges of the surface are open") as caught:
        bucket.require_closed()
    hole = {tuple(sorted(edge)) for edge in caught.value.evidence["edges"].tolist()}
    a, b, c = BOX.triangles[3].tolist()
    assert hole == {tuple(sorted(edge)) for edge in ((a, b), (b, c), (c, a))}
    with pytest.raises(OpenSurfaceError):
        _ = bucket.volume
    with pytest.raises(OpenSurfaceError):
        bucket.filled(0.01)


def test_a_flipped_triangle_is_not_closed_and_oriented_repairs_it():
    """One triangle the wrong way round breaks the surface; oriented() makes neighbours agree and look outward."""
    triangles = BOX.triangles.copy()
    triangles[4] = triangles[4, ::-1]
    broken = SurfaceMesh(BOX.nodes, triangles)
    assert not broken.is_closed
    assert broken.oriented().volume == pytest.approx(BOX.volume)
    assert BOX.flipped().volume == pytest.approx(-BOX.volume)
    assert BOX.flipped().oriented().volume == pytest.approx(BOX.volume)


def test_oriented_turns_cavities_inward_and_islands_outward():
    """Shells nested three deep alternate: solid, cavity, solid; whatever way they came."""
    shells = [solids.box((s, s, s), centered=True) for s in (0.1, 0.06, 0.02)]
    for flips in ((0, 0, 0), (1, 0, 1), (1, 1, 1)):
        nested = joined(*(s.flipped() if f else s for s, f in zip(shells, flips, strict=True)))
        assert nested.oriented().volume == pytest.approx(1e-3 - 0.06**3 + 0.02**3)
        assert [np.sign(p.volume) for p in nested.oriented().parts()] == [1, -1, 1]


def test_a_moebius_band_cannot_be_oriented():
    """A one-sided surface is refused."""
    n = 12
    phi = 2 * np.pi * np.arange(n) / n
    edge = [
        np.column_stack(
            [(1 + s * np.cos(phi / 2)) * np.cos(phi), (1 + s * np.cos(phi / 2)) * np.sin(phi), s * np.sin(phi / 2)]
        )
        for s in (-0.3, 0.3)
    ]
    triangles = []
    for i in range(n):
        a, b = i, n + i
        c, d = (i + 1, n + i + 1) if i + 1 < n else (n, 0)
        triangles += [[a, c, b], [b, c, d]]
    with pytest.raises(SurfaceError, match="one-sided"):
        SurfaceMesh(np.vstack(edge), triangles).oriented()


def test_parts_come_apart():
    """Connected parts can be counted and taken out."""
    pair = joined(BOX, BOX.translated((0.2, 0, 0)))
    assert pair.components().tolist() == [0] * 8 + [1] * 8
    assert [p.volume for p in pair.parts()] == pytest.approx([1e-4, 1e-4])


@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_crossing_boxes_are_found(angle):
    """Two boxes through each other cross; the pair named belongs to one of each."""
    other = BOX.translated((0.03, 0.02, 0.01)).rotated((1, 1, 0), angle)
    pair = joined(BOX, other).crossing()
    assert pair is not None
    assert pair[0] < len(BOX.triangles) <= pair[1]
    with pytest.raises(SelfIntersectionError, match=r"triangles .* pass through each other.*union"):
        joined(BOX, other).filled(0.01)


def test_folded_surface_with_a_shared_corner_is_found():
    """A node pushed through the opposite wall makes triangles with common neighbours cross."""
    nodes = BOX.nodes.copy()
    nodes[np.flatnonzero((nodes == [0.1, 0.05, 0.02]).all(axis=1))[0]] = (-0.05, -0.02, -0.03)
    assert SurfaceMesh(nodes, BOX.triangles).crossing() is not None


def test_touching_and_apart_are_not_crossing():
    """Sound surfaces, boxes side by side and boxes that share a face do not cross."""
    assert BOX.crossing() is None
    assert make.hollow_sphere(0.01, 0.02, 0.005).surface().crossing() is None
    assert joined(BOX, BOX.translated((0.2, 0, 0))).crossing() is None
    assert joined(BOX, BOX.translated((0.1, 0, 0))).crossing() is None


def crosses_by_sampling(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether an edge of a triangle meets the inside of the other, by solving for each edge."""
    for p, q in ((a, b), (b, a)):
        for k in range(3):
            start, step = p[k], p[(k + 1) % 3] - p[k]
            matrix = np.column_stack([q[1] - q[0], q[2] - q[0], -step])
            u, v, t = np.linalg.solve(matrix, start - q[0])
            if u > 0 and v > 0 and u + v < 1 and 0 < t < 1:
                return True
    return False


def test_crossing_kernel_matches_solving_edge_by_edge():
    """For random pairs of triangles the compiled test agrees with solving for the point where edge and plane meet."""
    rng = np.random.default_rng(4)
    outcomes = []
    for _ in range(200):
        nodes = rng.normal(size=(6, 3)) * 0.1
        found = SurfaceMesh(nodes, [[0, 1, 2], [3, 4, 5]]).crossing() is not None
        assert found == crosses_by_sampling(nodes[:3], nodes[3:])
        outcomes.append(found)
    assert 20 < sum(outcomes) < 180


def test_bad_triangles_are_refused():
    """Wrong indices, no triangles, repeated and flat triangles and NaN are refused by name."""
    nodes = BOX.nodes
    with pytest.raises(EmptyMeshError, match="no triangles"):
        SurfaceMesh(nodes, [])
    with pytest.raises(MeshError, match="triangle 0 refers"):
        SurfaceMesh(nodes, [[0, 1, 99]])
    with pytest.raises(SurfaceError, match="triangles 1 repeat"):
        SurfaceMesh(nodes, [[0, 1, 2], [1, 2, 0]])
    with pytest.raises(SurfaceError, match="triangle 0 has no area"):
        SurfaceMesh([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]], [[0, 1, 2]])
    with pytest.raises(MeshError, match="node 1 "):
        SurfaceMesh([[0, 0, 0], [np.inf, 0, 0], [0.2, 1, 0]], [[0, 1, 2]])
    with pytest.raises(InputError, match="node_ids"):
        SurfaceMesh(nodes, BOX.triangles, node_ids=[1, 2])


def test_cleaned_makes_a_surface_of_soup():
    """Triangles with corners of their own become a closed surface; flat ones and doubles go."""
    soup = BOX.nodes[BOX.triangles].reshape(-1, 3)
    triangles = np.arange(len(soup)).reshape(-1, 3)
    noisy = soup + 1e-9 * np.random.default_rng(0).normal(size=soup.shape)
    assert not SurfaceMesh(soup, triangles).is_closed
    cleaned = SurfaceMesh.cleaned(noisy, np.vstack([triangles, triangles[:2], [[0, 0, 1]]]), merge=1e-6)
    assert cleaned.is_closed
    assert len(cleaned.nodes) == 8


def test_motions_keep_the_surface_outward():
    """Reflections flip the triangles too."""
    assert BOX.scaled((-1, 1, 1)).volume == pytest.approx(BOX.volume)
    assert BOX.rotated((1, 2, 3), 0.4).volume == pytest.approx(BOX.volume)
    with pytest.warns(PliantWarning, match="100 m wide"):
        BOX.scaled(1000.0)


def test_where_works_on_surfaces_and_labels_do_not():
    """Nodes of a surface are selected by place; it has no labels to select by."""
    assert len(BOX.where(x_below=0.0)) == 4
    with pytest.raises(InputError, match="no region labels"):
        BOX.where(label=1)
