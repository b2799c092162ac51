"""A body coloured by stress: bands of one colour each, cut along levels of the stress.

A mesh on the page has one colour; so the surface is cut into bands, each a mesh of its own. The bands move with the body at
every drawing; where they are cut is computed anew a few times per second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.view.page.bands import Band, cut_into_bands
from pliant.view.page.palette import hexadecimal, rounded, stress_colours
from pliant.view.page.skin import Skin

Array = NDArray[np.float64]
BANDS = 12


class StressSkin:
    """A skin in bands of von Mises stress; its colour scale only grows, so that colours can be compared over time."""

    def __init__(self, server: Any, skin: Skin, number: int) -> None:
        self._server, self._skin, self._number = server, skin, number
        self._handles: list[Any] = []
        self._bands: list[Band] = []
        self.top = 0.0
        """Stress [Pa] at the top of the colour scale."""
        self._way = np.zeros(3)

    def show(self, wanted: bool) -> None:
        """Begin or cease to be shown."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._bands, self.top = [], [], 0.0
        if wanted:
            nothing = np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.uint32)
            self._handles = [
                self._server.scene.add_mesh_simple(
                    f"/robot/stress{self._number}/{k}", *nothing, color=tuple(int(c) for c in colour), side="double"
                )
                for k, colour in enumerate(stress_colours(BANDS))
            ]

    def recolour(self, x: Array) -> None:
        """Cut the bands for the stress at node positions x."""
        stress = self._skin.stress(x)
        self.top = max(self.top, rounded(float(np.percentile(stress, 99.0))))
        levels = np.linspace(0.0, self.top, BANDS + 1)[1:-1]
        self._bands = cut_into_bands(stress, self._skin.faces, levels)
        vertices = self._skin.vertices(x - self._way)
        with self._server.atomic():
            for band, handle in zip(self._bands, self._handles, strict=True):
                points, faces = _or_nothing(band, vertices)
                handle.vertices, handle.faces, handle.position = points, faces, self._way

    def move(self, x: Array, way: Array) -> None:
        """Move the bands with the body, which has gone this far (3,) [m]."""
        self._way = way
        if not self._bands:
            return self.recolour(x)
        vertices = self._skin.vertices(x - way)
        for band, handle in zip(self._bands, self._handles, strict=True):
            if len(band.faces):
                handle.vertices, handle.position = np.asarray(band.weights @ vertices, np.float32), way
        return None


def _or_nothing(band: Band, vertices: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Points and faces of a band; where it is empty, a triangle without area."""
    if not len(band.faces):
        return np.tile(vertices[:1], (3, 1)), np.array([[0, 1, 2]], np.uint32)
    return np.asarray(band.weights @ vertices, np.float32), band.faces.astype(np.uint32)


def legend(top: float) -> str:
    """The colour scale as a line of HTML, up to `top` [Pa]."""
    cells = "".join(f'<div style="flex:1;background:{hexadecimal(c)}"></div>' for c in stress_colours(BANDS))
    marks = "".join(f"<span>{1e-3 * top * share:.3g}</span>" for share in (0, 0.25, 0.5, 0.75, 1.0))
    return (
        '<div style="padding:0.1em 0.9em 0.5em;font-size:0.8em">von Mises stress [kPa]'
        f'<div class="pliant-legend" style="display:flex;height:0.9em;margin:0.25em 0">{cells}</div>'
        f'<div style="display:flex;justify-content:space-between;opacity:0.7">{marks}</div></div>'
    )
