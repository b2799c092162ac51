"""A check for ports of your own: slope and curvature by finite differences."""

from __future__ import annotations

import numpy as np

from pliant.body import Body
from pliant.errors import PliantError
from pliant.port.port import Array, Attachment, PlacedPort, Port


class PortError(PliantError):
    """A port's slope or curvature is not the derivative of its displacement."""


def check_port(port: Port, body: Body, *, size: float | None = None, seed: int = 0) -> None:
    """Raise a PortError unless H = d delta / dx and the curvature is the derivative of H^T lambda, at a deformed state.

    size: random displacements of the nodes [m], by default 2 % of the body's size. Both are compared along random directions
    with central differences, to 1e-5; for a relative port both with delta measured from rest and from the deformed state.
    """
    attachment = Attachment(port, body, 0)
    rng = np.random.default_rng(seed)
    extent = float(np.ptp(body.rest, axis=0).max())
    size = 0.02 * extent if size is None else size
    x = body.rest + size * rng.uniform(-1, 1, body.rest.shape)
    efforts = rng.uniform(0.5, 2.0, attachment.row_count)
    h = 1e-6 * extent
    references = (None, attachment.faced(x).reference) if attachment.port.relative else (None,)
    for reference in references:
        for _ in range(3):
            d = rng.normal(size=x.shape)
            here, ahead, behind = (attachment.at(y, reference) for y in (x, x + h * d, x - h * d))
            slope = (ahead.displacement - behind.displacement) / (2 * h)
            rows = np.einsum("rei,ei->r", here.slopes, d[attachment.entry_nodes])
            _compare(port, "slope", "its displacement", slope, rows, 1e-5 * np.abs(rows).max())
            pull = (_pull(ahead, efforts, x) - _pull(behind, efforts, x)) / (2 * h)
            curved = curvature_times(here, efforts, d)
            allowed = 1e-5 * np.abs(curved).max() + 1e-7 * np.abs(_pull(here, efforts, x)).max() / size
            _compare(port, "curvature", "its slope", pull, curved, float(allowed))


def curvature_times(placed: PlacedPort, efforts: Array, d: Array) -> Array:
    """sum lambda_i d2 delta_i d, (n, 3): the blocks at (rows, cols) and their mirror images times a direction."""
    out = np.zeros_like(d)
    attachment, blocks = placed.attachment, placed.curvature(efforts)
    np.add.at(out, attachment.rows, np.einsum("bij,bj->bi", blocks, d[attachment.cols]))
    apart = attachment.rows != attachment.cols
    np.add.at(out, attachment.cols[apart], np.einsum("bji,bj->bi", blocks[apart], d[attachment.rows[apart]]))
    return out


def _pull(placed: PlacedPort, efforts: Array, like: Array) -> Array:
    out = np.zeros_like(like)
    np.add.at(out, placed.attachment.entry_nodes, np.einsum("r,rei->ei", efforts, placed.slopes))
    return out


def _compare(port: Port, what: str, of: str, expected: Array, given: Array, allowed: float) -> None:
    error = float(np.abs(expected - given).max())
    if not error <= allowed:
        raise PortError(
            f"the {what} of {type(port).__name__} differs from finite differences of {of} by {error:.3g}, not {allowed:.3g}",
            remedy=f"derive {what}() again; it must return d{'2' if what == 'curvature' else ''} delta by the points p",
        )
