"""A picture of bodies, without a screen."""

from __future__ import annotations

from os import PathLike

import numpy as np
from numpy.typing import NDArray

from pliant.body import TetBody
from pliant.robot import Robot, State

Array = NDArray[np.float64]


def draw_bodies(
    robot: Robot, state: State, path: str | PathLike[str], *, title: str = "", view: tuple[float, float] = (18, -60)
) -> None:
    """Save a PNG of the deformed surface, coloured by von Mises stress, with the rest shape as a shadow.

    view: elevation and azimuth [degrees].
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as Canvas
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    canvas = Canvas(figsize=(9, 6), dpi=120)
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot(projection="3d")
    pieces = [_surface(body, state.x[a:b]) for body, a, b in _parts(robot)]
    highest = max((stress.max() for _, _, stress in pieces), default=1.0)
    norm, colours = Normalize(0, highest / 1e3), "viridis"
    for now, rest, stress in pieces:
        axes.add_collection3d(
            Poly3DCollection(rest, facecolor=(0.6, 0.6, 0.6, 0.06), edgecolor=(0.5, 0.5, 0.5, 0.12), linewidth=0.3)
        )
        mapped = ScalarMappable(norm, colours).to_rgba(stress / 1e3)
        axes.add_collection3d(Poly3DCollection(now, facecolor=mapped, edgecolor=(0, 0, 0, 0.25), linewidth=0.3))
    _frame(axes, np.concatenate([np.concatenate([now, rest]).reshape(-1, 3) for now, rest, _ in pieces]))
    axes.view_init(*view)
    axes.set_title(title)
    bar = canvas.colorbar(ScalarMappable(norm, colours), ax=axes, shrink=0.6, pad=0.08)
    bar.set_label("von Mises stress [kPa]")
    canvas.savefig(path)


def _parts(robot: Robot) -> list[tuple[TetBody, int, int]]:
    begin = robot.system.assembly.begin
    return [
        (body, int(begin[k]), int(begin[k + 1])) for k, body in enumerate(robot.bodies) if isinstance(body, TetBody)
    ]


def _surface(body: TetBody, x: Array) -> tuple[Array, Array, Array]:
    """Triangles now and at rest [t, 3, 3], and their mean stress [t]."""
    triangles, _ = body.mesh.boundary_triangles()
    stress = body.fields(x).von_mises[triangles].mean(axis=1)
    return x[triangles], body.rest[triangles], stress


def _frame(axes: object, points: Array) -> None:
    """Equal scales on all axes, around the points; labels in millimetres."""
    from matplotlib.ticker import MaxNLocator

    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2, np.maximum((high - low) / 2, 0.12 * (high - low).max())
    for name, m, h in zip("xyz", middle, half, strict=True):
        getattr(axes, f"set_{name}lim")(m - h, m + h)
        getattr(axes, f"set_{name}label")(f"{name} [mm]")
        getattr(axes, f"{name}axis").set_major_formatter(lambda value, _: f"{1e3 * value:.0f}")
        getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(4))
    axes.set_box_aspect(half)  # type: ignore[attr-defined]
