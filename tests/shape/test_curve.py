"""Curves: lengths, frames that do not turn, sections where it bends, files, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.shape import Curve


def test_lengths_and_points_are_those_of_the_formulas():
    """A helix of radius r and pitch p has the length n sqrt((2 pi r)^2 + p^2); its points are those of the formula to 1e-10."""
    helix = Curve.helix((1, 2, 3), (1.02, 2, 3), (0, 0, 1), turns=3.5, pitch=0.01)
    per_turn = np.hypot(2 * np.pi * 0.02, 0.01)
    assert helix.length == pytest.approx(3.5 * per_turn, rel=1e-12)
    s = np.linspace(0, helix.length, 37)
    angle = 2 * np.pi * s / per_turn
    there = np.array([1, 2, 3]) + np.stack([0.02 * np.cos(angle), 0.02 * np.sin(angle), 0.01 * s / per_turn], axis=1)
    assert helix.at(s) == pytest.approx(there, abs=1e-11)
    along = (
        np.stack([-0.04 * np.pi * np.sin(angle), 0.04 * np.pi * np.cos(angle), np.full(37, 0.01)], axis=1) / per_turn
    )
    assert helix.tangents(s) == pytest.approx(along, abs=1e-7)


def test_frames_are_rotations_that_do_not_turn_about_the_curve():
    """Columns x along, orthonormal; z starts as asked; the spin of z about the tangent is zero, dz/ds . y = 0, on a helix,
    where Frenet's frame would turn by its torsion."""
    helix = Curve.helix((0, 0, 0), (0.02, 0, 0), (0, 0, 1), turns=1.0, pitch=0.05, up=(1, 0, 0))
    s = np.linspace(0, helix.length, 400)
    R = helix.frames(s)
    assert np.einsum("nij,nik->njk", R, R) == pytest.approx(np.tile(np.eye(3), (400, 1, 1)), abs=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert R[:, :, 0] == pytest.approx(helix.tangents(s), abs=1e-12)
    assert R[0, :, 2] == pytest.approx([1, 0, 0], abs=1e-12)
    spin = np.einsum("ni,ni->n", (R[2:, :, 2] - R[:-2, :, 2]) / (s[2:] - s[:-2])[:, None], R[1:-1, :, 1])
    torsion = 2 * np.pi * 0.05 / ((2 * np.pi * 0.02) ** 2 + 0.05**2)
    assert np.abs(spin).max() < 1e-4 * torsion


def test_a_plane_curve_keeps_its_plane():
    """The section of an arc in the plane of x and z keeps its y axis."""
    arc = Curve.arc((0, 0, 0), (0, 0, -0.1), (0, 1, 0), np.pi)
    frames = arc.sampled(count=8).frames
    assert frames[:, :, 1] == pytest.approx(np.tile(frames[0, :, 1], (9, 1)), abs=1e-12)
    assert arc.sampled(count=8).points[-1] == pytest.approx([0, 0, 0.1], abs=1e-11)


def test_sections_are_closer_where_it_bends():
    """Even on an arc; on a straight line that ends in a small hook the elements of the hook are shorter, and none is longer
    than the spacing."""
    arc = Curve.arc((0, 0, 0), (1, 0, 0), (0, 0, 1), 1.0).sampled(count=5)
    assert np.diff(arc.places) == pytest.approx(0.2, rel=1e-6)
    t = np.linspace(0, np.pi, 9)[1:]
    hook = np.concatenate(
        [[[0, 0, 0], [0.5, 0, 0]], np.stack([0.5 + 0.02 * np.sin(t), 0 * t, 0.02 * (1 - np.cos(t))], 1)]
    )
    cut = Curve.spline(hook).sampled(count=20)
    lengths = np.diff(cut.places)
    assert lengths[-1] < 0.3 * lengths[0]
    assert np.diff(Curve.spline(hook).sampled(spacing=0.03).places).max() <= 0.03 * (1 + 1e-9)


def test_corners_and_wanted_places_are_sections():
    """A polyline keeps its corners, with the mean of both tangents there; a place that is asked for is one of the sections."""
    bent = Curve([(0, 0, 0), (0.1, 0, 0), (0.1, 0.2, 0)])
    cut = bent.sampled(count=7, through=[0.17])
    assert np.isclose(cut.places, 0.1).any()
    assert np.isclose(cut.places, 0.17).any()
    at = int(np.abs(cut.places - 0.1).argmin())
    assert cut.points[at] == pytest.approx([0.1, 0, 0])
    assert cut.frames[at, :, 0] == pytest.approx(np.array([1, 1, 0]) / np.sqrt(2))
    assert len(cut.places) == 8
    assert bent.nearest((0.1, 0.05, 0.03)) == pytest.approx((0.15, 0.03), abs=1e-6)


def test_a_spline_goes_through_its_points(tmp_path):
    """And so does one from a file, with a line of names and in millimetres."""
    points = np.array([[0, 0, 0], [0.03, 0.01, 0], [0.05, 0.04, 0.01], [0.05, 0.08, 0.03]])
    file = tmp_path / "line.csv"
    file.write_text("# a tendon\nx, y, z\n" + "\n".join(",".join(f"{1e3 * v:.17g}" for v in p) for p in points))
    for curve in (Curve.spline(points), Curve.read(file, "mm")):
        for point in points:
            assert curve.nearest(point)[1] < 1e-9
    assert Curve.read(file, "mm", smooth=False).length == pytest.approx(
        np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    )
    file.write_text("1, 2, 3\nfour, 5, 6\n")
    with pytest.raises(InputError, match="no point"):
        Curve.read(file)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Curve([(0, 0, 0)]), "two points"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0), (1, 0, 0)]), "points 1 and 2 of the curve are equal"),
        (lambda: Curve.spline([(0, 0, 0), (0, 0, 0), (1, 0, 0)]), "points 0 and 1"),
        (lambda: Curve([(0, 0, 0), (np.nan, 0, 0)]), "point 1 of the curve is"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0), (0.5, 0, 0)]), "turns back"),
        (lambda: Curve("line"), "shape"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0)], up=(1, 0, 0)), "up is"),
        (lambda: Curve.arc((0, 0, 0), (0, 0, 1), (0, 0, 1), 1.0), "without radius"),
        (lambda: Curve.arc((0, 0, 0), (1, 0, 0), (0, 0, 1), np.nan), "angle"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0)]).sampled(), "count or by spacing"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0)]).sampled(count=0), "count"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0)]).sampled(spacing=-1.0), "spacing"),
        (lambda: Curve([(0, 0, 0), (1, 0, 0), (1, 1, 0)]).sampled(count=1), "2 pieces"),
    ],
)
def test_what_is_no_curve_is_refused(make, said):
    """One error each, that names what is wrong."""
    with pytest.raises(InputError, match=said):
        make()
