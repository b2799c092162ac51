"""Pictures and short films of bodies, without a screen."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, CarriedSurface
from pliant.checks import as_numbers, whole
from pliant.checks import number as checked
from pliant.errors import FileError, InputError
from pliant.motion import Modes
from pliant.robot import Robot, State
from pliant.view.surroundings import grounds_around

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


def draw_bodies(
    robot: Robot, state: State, path: str | PathLike[str], *, title: str = "", view: tuple[float, float] = (18, -60)
) -> None:
    """Save a picture of the deformed surface, coloured by von Mises stress, with the rest shape as a shadow, and what it may
    touch around it, where that is now.

    view: elevation and azimuth [degrees]. The file's suffix says the format (.png, .pdf, .svg).
    """
    _require(robot, [state])
    file = picture_path(path, STILL)
    _Scene(robot, [state.x], _angles(view)).draw(state.x, as_title(title)).savefig(file)


def film_bodies(
    robot: Robot,
    states: Sequence[State],
    path: str | PathLike[str],
    *,
    frames_per_second: float = 25.0,
    title: str = "",
    view: tuple[float, float] = (18, -60),
) -> None:
    """Save states as an animated GIF, all in one frame and one colour scale."""
    if isinstance(states, State) or not isinstance(states, Sequence):
        raise InputError(f"states are a {type(states).__name__}", remedy="give a list of states")
    if not states:
        raise InputError("a film of no states", remedy="give at least one state")
    _require(robot, states)
    _film(robot, [state.x for state in states], path, frames_per_second, title, view)


def film_mode(
    robot: Robot,
    modes: Modes,
    number: int,
    path: str | PathLike[str],
    *,
    state: State | None = None,
    amplitude: float = 0.1,
    frames: int = 24,
    view: tuple[float, float] = (18, -60),
) -> None:
    """Save one swing of a natural mode as an animated GIF that goes on and on.

    number: of the mode, 0 for the lowest; state: that the modes are about (default: rest); amplitude: largest displacement,
    relative to the robot's size; frames: per swing, shown in one second whatever its frequency.
    """
    if not isinstance(modes, Modes):
        raise InputError(f"modes are a {type(modes).__name__}", remedy="give what natural_modes(robot) returned")
    if not isinstance(number, int | np.integer) or not 0 <= number < len(modes.frequencies):
        raise InputError(f"there is no mode {number!r}", remedy=f"there are modes 0 to {len(modes.frequencies) - 1}")
    frames, amplitude = whole(frames, "frames", most=10_000), checked(amplitude, "amplitude", most=100.0)
    _require(robot, [] if state is None else [state])
    middle = (robot.rest() if state is None else state).x
    shape = modes.shapes[number]
    swing = amplitude * robot.size * shape / np.linalg.norm(shape, axis=1).max()
    places = [middle + np.sin(2 * np.pi * k / frames) * swing for k in range(frames)]
    _film(robot, places, path, float(frames), f"mode {number}: {modes.frequencies[number]:.3g} Hz", view)


def _film(
    robot: Robot,
    places: Sequence[Array],
    path: str | PathLike[str],
    frames_per_second: float,
    title: str,
    view: tuple[float, float],
) -> None:
    from PIL import Image

    pause = round(1000 / checked(frames_per_second, "frames_per_second", unit="Hz", least=0.02, most=100.0))
    file, title = picture_path(path, (".gif",)), as_title(title)
    scene = _Scene(robot, places, _angles(view), size=(6.0, 4.0), dots=80)
    frames = []
    for x in places:
        canvas = scene.draw(x, title, legend=False)
        canvas.canvas.draw()
        frames.append(
            Image.fromarray(np.asarray(canvas.canvas.buffer_rgba())).convert("P", palette=Image.Palette.ADAPTIVE)
        )
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)


STILL = (".png", ".pdf", ".svg", ".jpg", ".jpeg")
"""Formats of a picture."""
RIGID = (0.72, 0.74, 0.78, 1.0)
"""The colour of what has no stress."""
GROUND = (0.82, 0.82, 0.80, 1.0)
"""The colour of what is touched and is no part of a robot."""
FARTHEST = 1e6
"""What is farther away than this [m] is not drawn."""


def _require(robot: Robot, states: Sequence[State]) -> None:
    """Refuse what is no robot, and states that are none of it."""
    if not isinstance(robot, Robot):
        raise InputError(f"a {type(robot).__name__} is no robot", remedy="give a Robot")
    nodes = robot.equations.assembly.node_count
    for k, state in enumerate(states):
        x = as_numbers(state.x) if isinstance(state, State) else np.empty(0)
        if x.shape != (nodes, 3) or not (np.abs(x) < FARTHEST).all():
            raise InputError(
                f"state {k} is a {type(state).__name__} that is none of this robot",
                remedy=f"give states of it: {nodes} nodes, all within {FARTHEST:g} m",
            )


def picture_path(path: str | PathLike[str], formats: Sequence[str]) -> Path:
    """Where a picture goes: a file of a format that there is, in a folder that there is."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"path is {path!r}", remedy="give the name of a file")
    file = Path(path)
    if file.suffix.lower() not in formats:
        raise FileError(
            f"{str(path)!r} is no picture", remedy=f"give a name that ends in {', '.join(formats)}", path=file
        )
    if not file.absolute().parent.is_dir():
        raise FileError(f"there is no folder {file.absolute().parent}", remedy="make it first, or give another path")
    return file


def as_title(title: str) -> str:
    """A line above a picture, with no mathematics in it."""
    if not isinstance(title, str):
        raise InputError(f"title is {title!r}", remedy="give a line of text")
    return title.replace("$", r"\$")


def _angles(view: tuple[float, float]) -> tuple[float, float]:
    found = as_numbers(view)
    if found.shape != (2,) or not np.isfinite(found).all():
        raise InputError(f"view is {view!r}", remedy="give elevation and azimuth in degrees")
    return float(found[0]), float(found[1])


class _Scene:
    """One view, one frame and one colour scale for some positions of all nodes [n, 3]."""

    def __init__(
        self,
        robot: Robot,
        places: Sequence[Array],
        view: tuple[float, float],
        size: tuple[float, float] = (9.0, 6.0),
        dots: int = 120,
    ) -> None:
        self._parts = [
            (body, robot.nodes_of(name), body.surface())
            for name, body in zip(robot.body_names, robot.bodies, strict=True)
            if len(body.surface().triangles)
        ]
        if not self._parts:
            raise InputError("no body of this robot has a surface", remedy="give RigidBody a surface to draw")
        shown = [
            surface.positions(now)
            for body, nodes, surface in self._parts
            for now in (body.rest, *(x[nodes] for x in places))
        ]
        low, high = np.min([x.min(axis=0) for x in shown], axis=0), np.max([x.max(axis=0) for x in shown], axis=0)
        self._grounds = grounds_around(robot, low, high)
        self._low = np.min([low, *(corners.min(axis=(0, 1)) for _, corners in self._grounds)], axis=0)
        self._high = np.max([high, *(corners.max(axis=(0, 1)) for _, corners in self._grounds)], axis=0)
        self._highest = max(float(self._stress(x, part).max()) for x in places for part in self._parts)
        self._view, self._size, self._dots = view, size, dots

    @staticmethod
    def _stress(x: Array, part: tuple[Body, slice, CarriedSurface]) -> Array:
        """Mean von Mises stress of every surface triangle [kPa]; none in what does not deform."""
        body, nodes, surface = part
        if not body.deforms:
            return np.zeros(len(surface.triangles))
        return np.asarray(surface.positions(body.fields(x[nodes]).von_mises)[surface.triangles].mean(axis=1)) / 1e3

    def draw(self, x: Array, title: str, *, legend: bool = True) -> Any:
        """A matplotlib figure of the nodes at x, with the colour scale beside it where `legend` says so."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize
        from matplotlib.figure import Figure as Canvas
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        canvas = Canvas(figsize=self._size, dpi=self._dots)
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot(projection="3d", computed_zorder=False)
        colours = ScalarMappable(Normalize(0, self._highest), "viridis")
        shadow = {"facecolor": (0.6, 0.6, 0.6, 0.06), "edgecolor": (0.5, 0.5, 0.5, 0.12), "zorder": 1.0}
        for ground, corners in self._grounds:
            look = {"facecolors": [GROUND] * len(corners), "edgecolors": [GROUND] * len(corners), "shade": True}
            place = 0.5 if ground else self._nearness(corners)
            axes.add_collection3d(Poly3DCollection(corners, linewidth=0.3, zorder=place, **look))
        for part in self._parts:
            body, nodes, surface = part
            rest, now = (surface.positions(place)[surface.triangles] for place in (body.rest, x[nodes]))
            axes.add_collection3d(Poly3DCollection(rest, linewidth=0.3, **shadow))
            if body.deforms:
                faces = {"facecolor": colours.to_rgba(self._stress(x, part)), "edgecolor": (0, 0, 0, 0.25)}
            else:  # its triangles mean nothing: light shows its shape
                now = self._seen(now, surface.triangles)
                faces = {"facecolors": [RIGID] * len(now), "edgecolors": [RIGID] * len(now), "shade": True}
            axes.add_collection3d(Poly3DCollection(now, linewidth=0.3, zorder=self._nearness(now), **faces))
        self._frame(axes)
        axes.view_init(*self._view)
        axes.set_title(title)
        if legend and any(body.deforms for body, _, _ in self._parts):
            canvas.colorbar(colours, ax=axes, shrink=0.6, pad=0.08).set_label("von Mises stress [kPa]")
        return canvas

    def _nearness(self, corners: Array) -> float:
        """How near triangles (t, 3, 3) are to the viewer, from 2 to 3: what is nearer is drawn later."""
        low, high, viewer = self._low, self._high, self._viewer
        reach = 0.5 * float(np.abs(viewer) @ (high - low))
        return float(2.5 + 0.5 * (corners.mean(axis=(0, 1)) - 0.5 * (low + high)) @ viewer / reach)

    @property
    def _viewer(self) -> Array:
        """The direction to who looks, a unit vector."""
        high, around = np.deg2rad(self._view)
        return np.array([np.cos(high) * np.cos(around), np.cos(high) * np.sin(around), np.sin(high)])

    def _seen(self, corners: Array, triangles: Ids) -> Array:
        """Those of the triangles [t, 3, 3] of a closed surface that look at the viewer: large ones are sorted wrongly by their
        middles, and those behind would show through. All of them where the surface is open."""
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        if (np.unique(edges, axis=0, return_counts=True)[1] != 2).any():
            return corners
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return np.asarray(corners[normals @ self._viewer > -0.2 * np.linalg.norm(normals, axis=1)])

    def _frame(self, axes: Any) -> None:
        """Equal scales on all axes; labels in millimetres."""
        from matplotlib.ticker import MaxNLocator

        size = self._high - self._low
        middle, half = (self._low + self._high) / 2, np.maximum(size / 2, 0.12 * size.max())
        for name, m, h in zip("xyz", middle, half, strict=True):
            getattr(axes, f"set_{name}lim")(m - h, m + h)
            getattr(axes, f"set_{name}label")(f"{name} [mm]")
            getattr(axes, f"{name}axis").set_major_formatter(lambda value, _: f"{1e3 * value:.0f}")
            getattr(axes, f"{name}axis").set_major_locator(MaxNLocator(4))
        axes.set_box_aspect(half)
