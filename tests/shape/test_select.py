"""Selecting nodes: regions, their combinations, and the keywords of `where`."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.shape import Ball, Box, HalfSpace, Labelled, Near, OnSurface, make


@pytest.fixture(scope="module")
def bar():
    return make.box((0.1, 0.02, 0.02), (10, 2, 2))


def test_limits_are_inclusive_up_to_rounding(bar):
    """Nodes exactly on a limit belong to it, also when the limit has rounding errors."""
    assert len(bar.where(x_below=0.0)) == 9
    assert len(bar.where(x_below=0.01 * (1 - 1e-12))) == 18
    assert len(bar.where(x_above=0.0999)) == 9
    assert len(bar.where(y_below=0.0, z_above=0.02)) == 11


def test_result_is_sorted_unique_indices(bar):
    """A selection is an increasing integer index array."""
    chosen = bar.where(x_above=0.05)
    assert chosen.dtype == np.intp
    assert (np.diff(chosen) > 0).all()


def test_keywords_intersect(bar):
    """Several conditions select what each of them selects."""
    both = bar.where(x_below=0.05, surface=True)
    np.testing.assert_array_equal(both, np.intersect1d(bar.where(x_below=0.05), bar.where(surface=True)))
    assert len(bar.where(x_below=0.05, surface=False)) + len(both) == len(bar.where(x_below=0.05))


def test_near_takes_the_nearest_of_the_others(bar):
    """`near` gives the one node nearest to a point among those that meet the other conditions."""
    inner = bar.where(surface=False, near=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(bar.nodes[inner], [[0.01, 0.01, 0.01]])
    np.testing.assert_allclose(bar.nodes[bar.where(near=(0.2, 0, 0))], [[0.1, 0, 0]], atol=1e-15)


def test_box_and_ball(bar):
    """Boxes and balls take the grid points they cover."""
    assert len(bar.where(box=((0, 0, 0), (0.02, 0.02, 0.01)))) == 3 * 3 * 2
    assert len(bar.where(ball=((0, 0, 0), 0.01))) == 4
    assert len(bar.where(Ball((0, 0, 0), 0.01 * np.sqrt(2)))) == 7


def test_half_space_takes_its_plane(bar):
    """Nodes on the plane belong to the half space, whatever the length of the normal."""
    for length in (1.0, 1e-3, 1e3):
        assert len(bar.where(HalfSpace((0.01, 0, 0), (length, 0, 0)))) == 18
        assert len(bar.where(HalfSpace((0.01, 0, 0), (-length, 0, 0)))) == 90


def test_regions_combine(bar):
    """& | - ~ are the set operations on nodes."""
    a, b = Box((0, 0, 0), (0.05, 1, 1)), HalfSpace((0, 0.01, 0), (0, 1, 0))
    sa, sb, everything = set(bar.where(a)), set(bar.where(b)), set(range(len(bar.nodes)))
    assert set(bar.where(a & b)) == sa & sb
    assert set(bar.where(a | b)) == sa | sb
    assert set(bar.where(a - b)) == sa - sb
    assert set(bar.where(~a)) == everything - sa
    assert 0 < len(sa & sb) < len(sa) < len(sa | sb)


def test_functions_are_regions(bar):
    """Any function points -> bool selects, alone and in combinations."""
    chosen = bar.where(lambda p: p[:, 0] > 0.05)
    np.testing.assert_array_equal(chosen, bar.where(x_above=0.0501))
    assert len(bar.where(OnSurface() & (lambda p: p[:, 0] > 0.05))) < len(chosen)
    with pytest.raises(InputError, match="one bool per point"):
        bar.where(lambda p: p[:, 0])
    with pytest.raises(InputError, match="not a region"):
        bar.where(3)


def test_nearest_few(bar):
    """Near(point, k) takes k nodes."""
    assert bar.where(Near((0, 0, 0), 4)).tolist() == bar.where(ball=((0, 0, 0), 0.0101)).tolist()
    with pytest.raises(InputError, match="count of nearest nodes is 1000"):
        bar.where(Near((0, 0, 0), 1000))


def test_regions_that_need_a_mesh_say_so():
    """OnSurface and Labelled cannot be asked about plain points."""
    for region in (OnSurface(), Labelled(1)):
        with pytest.raises(InputError, match=r"mesh.where"):
            region([[0, 0, 0]])


def test_empty_selection_shows_where_the_mesh_is(bar):
    """Selecting nothing is an error that gives the mesh's range, because the usual cause is a wrong unit."""
    with pytest.raises(InputError, match=r"x 0 \.\.\. 0\.1, y 0 \.\.\. 0\.02.*check the units"):
        bar.where(x_above=5)
    with pytest.raises(InputError, match="no condition"):
        bar.where()


@pytest.mark.parametrize("region", [Box((1, 0, 0), (0, 1, 1)), Ball((0, 0, 0), -1.0), Ball((0, 0), 1.0)])
def test_impossible_regions_are_refused(bar, region):
    """A box with its corners exchanged, a negative radius and a flat point are input errors, not empty selections."""
    with pytest.raises(InputError, match="give"):
        bar.where(region)
