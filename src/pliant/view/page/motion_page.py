"""Free motion on a page in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import CarriedSurface
from pliant.contact import Obstacle, Plane
from pliant.errors import InputError
from pliant.motion import Explicit
from pliant.view.moving import InMotion, Running
from pliant.view.page.heard import heard, value_within
from pliant.view.page.motion_session import Build, Moment, MotionSession, Setting
from pliant.view.page.palette import REGIONS, hexadecimal, rounded
from pliant.view.page.scene import VIEW, fitting_camera
from pliant.view.page.served import ServedPage
from pliant.view.page.skin import Hull
from pliant.view.page.status import BAD, CALM, GOOD, block, heading, note, plain

Array = NDArray[np.float64]
Told = Callable[[Any, Array], str]
"""What to say of a robot, as it was built, with its nodes at x (n, 3) [m]."""


class MotionPage(ServedPage):
    """A robot that moves by itself under gravity, on the ground: play, pause, reset, its gait and settings.

    The robot stays in the middle of the picture and the floor passes below it, unless `Go along` is switched off. Colours
    tell the regions of its lattice.
    """

    def __init__(
        self,
        build: Build,
        gaits: Sequence[str],
        settings: Sequence[Setting] = (),
        *,
        title: str = "",
        gait: str | None = None,
        told: Told | None = None,
        regions: Mapping[int, str] | None = None,
    ) -> None:
        """build: the body and its engine at rest for a gait and settings; see `MotionSession`. told: what to say of the robot
        with its nodes at x (n, 3) [m], in a line (default: how far it has gone); regions: what the regions of its lattice
        are, by label."""
        super().__init__(title)
        if told is not None and not callable(told):
            raise InputError(f"told is {told!r}", remedy="give a function of the robot and of the places of its nodes")
        if regions is not None and not isinstance(regions, Mapping):
            raise InputError(f"regions are {regions!r}", remedy='give names by label: {0: "body"}')
        self.session = MotionSession(build, gaits, settings, gait)
        self._told, self._regions = told, dict(regions or {})
        self.along = True
        """Whether the picture goes along with the robot."""

    @classmethod
    def of(cls, engine: Explicit, *, title: str = "a robot in motion") -> MotionPage:
        """The page of an engine as it is now, such as the best robot of a population or of `run_many`:

        >>> run = crowd.run(2.0, fitness=lambda run: run.middle[:, 0])                    # doctest: +SKIP
        >>> MotionPage.of(crowd.single(int(run.fitness.argmax())), title="the best").serve()   # doctest: +SKIP

        From then on the page moves the engine; `Reset` brings it back to where it was.
        """
        if not isinstance(engine, Explicit):
            raise InputError(
                f"a {type(engine).__name__} is no engine of springs", remedy="give an Explicit, such as crowd.single(3)"
            )
        first, robot = engine.engine.snapshot(), Running(engine)
        labels = np.unique(robot.cells.labels).tolist()

        def build(gait: str, settings: Mapping[str, float]) -> InMotion:
            engine.engine.restore(first)
            return robot

        regions = {label: f"material {label}" for label in labels} if len(labels) > 1 else None
        return cls(build, ("as it is",), title=title, regions=regions)

    def __enter__(self) -> MotionPage:
        return self

    def _warm_up(self) -> None:
        self.session.advance()
        self.session.reset()

    def _furnish(self) -> None:
        moving = self.session.moving
        surfaces, rest, x = moving.surfaces().items(), moving.rest, moving.engine.x
        self._skins = [Hull(rest, CarriedSurface.of_nodes(triangles)) for _, triangles in surfaces]
        scene = self.server.scene
        self._meshes = [
            scene.add_mesh_simple(f"/robot/body{k}", skin.vertices(x), skin.faces, color=REGIONS[label % len(REGIONS)])
            for k, (skin, (label, _)) in enumerate(zip(self._skins, surfaces, strict=True))
        ]
        self._drawn: Array | None = None
        self._lay_floor(x[moving.masses > 0])
        self._add_panel()
        self.session.start()

    def _lay_floor(self, rest: Array) -> None:
        """A floor that is larger than what one sees, and a camera that has room before and behind the robot."""
        size = float(np.ptp(rest, axis=0).max())
        self._cell = rounded(size / 20)
        middle = np.array([*rest.mean(axis=0)[:2], ground_height(self.session.moving.engine.around.obstacles, rest)])
        self._floor_at = middle
        scene = self.server.scene
        scene.set_up_direction("+z")
        self._floor = scene.add_grid(
            "/floor", 12 * size, 12 * size, plane="xy", cell_size=self._cell, section_size=5 * self._cell,
            cell_color=(222, 226, 230), section_color=(190, 197, 204), cell_thickness=0.7, section_thickness=1.0,
            shadow_opacity=0.2, fade_distance=6 * size, fade_from="origin", position=middle,
        )  # fmt: skip
        room = np.concatenate(
            [rest, rest + 0.4 * size * np.array([1.0, 0, 0]), rest - 0.4 * size * np.array([1.0, 0, 0])]
        )
        position, look_at = fitting_camera(room, np.array([0.25, -0.9, 0.4]), np.array([0.0, 0.0, 1.0]))
        distance = float(np.linalg.norm(position - look_at))
        camera = self.server.initial_camera
        camera.fov = np.deg2rad(VIEW)
        camera.near, camera.far = 0.01 * distance, 30 * distance
        camera.look_at, camera.position = look_at, position

    def _add_panel(self) -> None:
        gui, session = self.server.gui, self.session
        if self.title:
            gui.add_html(heading(self.title))
        self._status = gui.add_html("")
        with gui.add_folder("Motion"):
            presses = {"Play": session.start, "Pause": session.pause, "Reset": session.reset}
            buttons = gui.add_button_group("Simulation", tuple(presses))
            buttons.on_click(heard(lambda press: presses[press]()))
            if len(session.gaits) > 1:
                gait = gui.add_dropdown("Gait", session.gaits, initial_value=session.gait)
                gait.on_update(heard(session.choose))
            for setting in session.settings:
                self._add_slider(setting)
            if session.settings:
                gui.add_html(note("A change starts the robot anew."))
            along = gui.add_checkbox("Go along", self.along, hint="Keep the robot in the middle of the picture.")
            along.on_update(heard(lambda along: setattr(self, "along", along)))
            gui.add_html(note(f"grid: {1e3 * self._cell:g} mm"))
        if self._regions:
            with gui.add_folder("Colours"):
                gui.add_html(legend_of(self._regions))

    def _add_slider(self, setting: Setting) -> None:
        label = f"{setting.name} [{setting.unit}]" if setting.unit else setting.name
        step = (setting.high - setting.low) / 100
        slider = self.server.gui.add_slider(label, setting.low, setting.high, step, setting.value)

        def moved(value: float) -> None:
            self.session.set(setting.name, value_within(value, setting.low, setting.high))

        slider.on_update(heard(moved))

    def _end(self) -> None:
        self.session.end()

    def _draw_once(self, whole: bool) -> None:
        moment = self.session.moment
        if self._drawn is not moment.x:
            self._drawn = moment.x
            shift = np.array([*moment.distance[:2], 0.0]) if self.along else np.zeros(3)
            with self.server.atomic():
                for mesh, skin in zip(self._meshes, self._skins, strict=True):
                    mesh.vertices = skin.vertices(moment.x - shift)
                self._floor.position = self._floor_at - np.fmod(shift, 5 * self._cell)
            self.frames += 1
        if whole:
            moving = self.session.moving
            line = gone(moment, moving.length) if self._told is None else escape(self._told(moving, moment.x))
            self._status.content = motion_text(moment, line)


def ground_height(obstacles: Sequence[Obstacle], x: Array) -> float:
    """Where to draw the floor [m]: where the ground is, a horizontal plane; without one below the nodes at x (n, 3) [m]."""
    for plane in obstacles:
        if isinstance(plane, Plane):
            *normal, offset = plane.encoded()[1]
            if normal[2] > 0.999:
                return float(offset)
    low = float(x[:, 2].min())
    return 0.0 if low >= 0 else low - 0.3 * float(np.ptp(x, axis=0).max())


def gone(moment: Moment, length: float) -> str:
    """How far a robot of a length [m] has gone along x."""
    way = float(moment.distance[0])
    where = "forwards" if way >= -0.0005 else "backwards"
    return f'<b class="pliant-distance">{plain(1e3 * abs(way), 0)}</b> mm {where} · {plain(abs(way) / length)} body lengths'


def legend_of(regions: Mapping[int, str]) -> str:
    """The colour of every region, with what it is."""
    square = '<span style="display:inline-block;width:0.9em;height:0.9em;margin-right:0.5em;background:{}"></span>{}'
    return block(
        "<br>".join(
            square.format(hexadecimal(REGIONS[label % len(REGIONS)]), escape(what)) for label, what in regions.items()
        )
    )


def motion_text(moment: Moment, line: str) -> str:
    """The status of a motion: whether it runs, its time, how fast it is computed, and a line about the robot."""
    word, colour = ("MOVING", GOOD) if moment.running else ("PAUSED", CALM)
    told = "" if moment.running else "press Play"
    if moment.fault:
        word, colour, told = "FAULT", BAD, f"{moment.fault}; the last good state is held, press Reset and Play"
    lines = [
        f'<span class="pliant-word" style="color:{colour};font-weight:700">● {word}</span> '
        f'<span style="opacity:0.75">{escape(told)}</span>',
        f'<b class="pliant-time">{moment.time:.2f}</b> s'
        + (f" · computed at {moment.pace:.1f} × real time" if moment.pace else ""),
        line,
    ]
    return block("<br>".join(lines))
