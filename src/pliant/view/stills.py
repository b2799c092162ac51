"""Stills of a motion in one picture, one below the other on the same ground."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from pliant.checks import as_numbers, number
from pliant.errors import InputError
from pliant.view.moving import InMotion
from pliant.view.page.palette import REGIONS
from pliant.view.picture import FARTHEST, STILL, as_title, picture_path

Array = NDArray[np.float64]

LIGHT = np.array([0.3, -0.5, 0.81])
"""Direction that light comes from."""
TALLEST = 300.0
"""A picture is no taller than this [inches]."""


def draw_stills(
    moving: InMotion,
    times: Sequence[float],
    places: Sequence[Array],
    path: str | PathLike[str],
    *,
    title: str = "",
    elevation: float = 22.0,
) -> None:
    """Save pictures of the body at some times [s], nodes at places [k] (n, 3), on the ground z = 0, seen from -y and from
    above by `elevation` [degrees], without perspective.

    Colours tell the regions of the lattice; a dashed line on the ground is where the center of mass was at first. The file's
    suffix says the format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure as Canvas

    if not isinstance(moving, InMotion):
        raise InputError(f"a {type(moving).__name__} does not move", remedy="give a Moving")
    file, title, elevation = (
        picture_path(path, STILL),
        as_title(title),
        number(elevation, "elevation", unit="degrees", least=0.0, most=90.0),
    )
    when, where = as_numbers(times).reshape(-1), as_numbers(places)  # type: ignore[arg-type]
    if len(when) == 0 or where.shape != (len(when), *moving.rest.shape):
        raise InputError(
            f"stills of shape {where.shape} at {len(when)} times",
            remedy=f"give as many places as times, at least one, of {len(moving.rest)} nodes each",
        )
    if not (np.isfinite(when).all() and (np.abs(where) < FARTHEST).all()):
        raise InputError(
            "stills at times or places that are none", remedy=f"give numbers, places within {FARTHEST:g} m"
        )
    low, high = where.min(axis=(0, 1)), where.max(axis=(0, 1))
    margin = 0.03 * float((high - low).max())
    (left, near), (right, far) = low[:2] - margin, high[:2] + margin
    tilt = np.deg2rad(elevation)
    bottom, top = near * np.sin(tilt) - margin, far * np.sin(tilt) + high[2] * np.cos(tilt) + margin
    width = 9.0
    height = width * (top - bottom) / (right - left)
    if not height * len(when) < TALLEST:
        raise InputError(
            f"a picture of {height * len(when):.3g} inches",
            remedy="give fewer stills, or check the places of the nodes",
        )
    canvas = Canvas(figsize=(width, height * len(when) + 0.35), dpi=120)
    FigureCanvasAgg(canvas)
    share = height / (height * len(when) + 0.35)
    middle = moving.middle(where[0])[0]
    for k, (time, x) in enumerate(zip(when, where, strict=True)):
        axes = canvas.add_axes((0.0, (len(when) - 1 - k) * share, 1.0, share))
        axes.set_axis_off()
        axes.set_xlim(left, right)
        axes.set_ylim(bottom, top)
        floor = np.array([[left, near], [right, near], [right, far], [left, far]]) * [1.0, np.sin(tilt)]
        axes.fill(*floor.T, color="#eef1f4", zorder=0)
        axes.plot([middle, middle], floor[1:3, 1], "--", color="#5c6770", linewidth=1.0, zorder=1)
        faces, colours = _faces(moving, x, tilt)
        axes.add_collection(PolyCollection(list(faces), facecolors=colours, edgecolors=(0, 0, 0, 0.18), linewidths=0.2))
        axes.text(0.01, 0.95, f"{time:.2f} s", transform=axes.transAxes, fontsize=9, va="top")
    canvas.text(0.01, 1.0 - 0.05 / canvas.get_figheight(), title, fontsize=10, va="top")
    canvas.savefig(file)


def _faces(moving: InMotion, x: Array, tilt: float) -> tuple[Array, Array]:
    """Triangles that face the eye in the picture's plane [b, 3, 2], the farthest first, and their shaded colours [b, 3]."""
    surfaces = moving.surfaces()
    triangles = np.concatenate(list(surfaces.values()))
    base = np.concatenate([np.tile(REGIONS[label % len(REGIONS)], (len(t), 1)) for label, t in surfaces.items()]) / 255
    corners = x[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    eye = np.array([0.0, -np.cos(tilt), np.sin(tilt)])
    seen = np.flatnonzero(normals @ eye > 0)
    order = seen[np.argsort(corners[seen].mean(axis=1) @ eye, kind="stable")]
    shade = 0.55 + 0.45 * np.clip(normals[order] @ (LIGHT / np.linalg.norm(LIGHT)), 0.0, 1.0)
    up = np.array([0.0, np.sin(tilt), np.cos(tilt)])
    flat = np.stack([corners[order][..., 0], corners[order] @ up], axis=-1)
    return flat, base[order] * shade[:, None]
