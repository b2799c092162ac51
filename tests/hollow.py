"""Boxes of tets with a chamber in them."""

from __future__ import annotations

import numpy as np

from pliant import make


def hollow_box(size, counts, chamber):
    """A box of `counts` cells without the tets inside `chamber`, a box whose faces are those of cells."""
    solid = make.box(size, counts)
    middle = solid.nodes[solid.tets].mean(axis=1)
    inside = ((middle > chamber.bounds[0]) & (middle < chamber.bounds[1])).all(axis=1)
    assert np.isclose(inside.sum(), len(solid.tets) * chamber.volume / np.prod(size))
    return solid.labelled(inside.astype(int)).part(label=0)
