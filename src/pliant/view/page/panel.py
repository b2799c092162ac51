"""What stands beside the robot: buttons, sliders, status, bars and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.body import RodBody
from pliant.device import Feed
from pliant.port import Cable, Cavity
from pliant.robot import Robot, State
from pliant.robot.mounted import Mounted
from pliant.robot.roles import Role
from pliant.view.figures import Figure
from pliant.view.page.bars import actuator_bars
from pliant.view.page.grips import grasps_of
from pliant.view.page.heard import heard, value_within
from pliant.view.page.loads import Range, given_range, load_ranges, target_range
from pliant.view.page.palette import readable
from pliant.view.page.plots import Plots
from pliant.view.page.poses import row_value, with_row_value
from pliant.view.page.scene import Look, Scene
from pliant.view.page.session import Session
from pliant.view.page.snapshot import Snapshot
from pliant.view.page.status import MeshLine, drive_text, heading, mesh_text, note, status_text, theory_text
from pliant.view.page.stress import legend
from pliant.view.page.touches import touches_text

BY_HAND = "by hand"
Theory = Callable[[Robot, State], Sequence[Figure]]
"""Values of a state beside what theory says about them."""


class Panel:
    """The controls of a page; they call the session and the scene, and show snapshots."""

    def __init__(
        self,
        gui: Any,
        session: Session,
        scene: Scene,
        title: str,
        loads: Mapping[str, Range] | None,
        theory: Theory | None = None,
    ) -> None:
        self._gui, self._session, self._scene = gui, session, scene
        self._sliders: dict[tuple[str, str, int], Any] = {}
        if title:
            gui.add_html(heading(title))
        self._status = gui.add_html("")
        self._drive: Any = None
        self.stop: Any = None
        """The button of the emergency stop, where there is a drive."""
        if session.feed is not None:
            self._add_drive(session.feed)
        self._theory, self._compared = theory, gui.add_html("", visible=theory is not None)
        self._seen: State | None = None
        self._add_controls()
        self._add_sliders(load_ranges(session, loads))
        self._contacts: Any = None
        if session.robot.touches:
            with gui.add_folder("Contacts"):
                self._contacts = gui.add_html("")
                if any(own.obstacle is not None for own in session.robot.touches.values()):
                    gui.add_html(note("Drag the arrows and rings of an obstacle to move it."))
        self._add_view()
        with gui.add_folder("Mesh"):
            self._mesh = gui.add_html(note("finding out how good the mesh is ..."))
        self._bars: Any = None
        self._plots = self._add_plots()

    def _add_drive(self, feed: Feed) -> None:
        with self._gui.add_folder("Drive"):
            self.stop = self._gui.add_button(
                "Emergency stop",
                color="red",
                hint="To the safe command, and there it stays. Every visitor may press it.",
            )
            self.stop.on_click(heard(lambda _: feed.stop(), lane="drive"))
            release = self._gui.add_button("Release", hint="Follow the robot on this page again.")
            release.on_click(heard(lambda _: feed.release(), lane="drive"))
            self._drive = self._gui.add_html("")

    def _add_plots(self) -> Plots:
        """What the controller does, on the other side of the robot; a robot that decides nothing needs no other side."""
        gui, session = self._gui, self._session
        moved = session.robot.named(Role.ACTUATOR) or session.robot.named(Role.HELD)
        if not moved and not session.measures:
            return Plots(gui, session.measures)
        beside = gui.add_panel()
        beside.dock_left()
        with beside.add_tab("Controller" if session.follows else "Solver"):
            if moved:
                with gui.add_folder("Actuators"):
                    self._bars = gui.add_html("")
            return Plots(gui, session.measures)

    def _add_controls(self) -> None:
        gui, session = self._gui, self._session
        with gui.add_folder("Control"):
            run = gui.add_button_group("Simulation", ("Start", "Pause", "Reset"))
            run.on_click(heard(self._press))
            self._choice: Any = None
            self._path: str | None = None
            if self._scene.grips:
                how = "arrows and rings" if any(any(grip.grasp.turns) for grip in self._scene.grips) else "arrows"
                gui.add_html(
                    note(f"Drag the {how} at the orange target{', or choose a path' if session.paths else ''}.")
                )
            if session.paths:
                self._choice = gui.add_dropdown("Target", (BY_HAND, *session.paths), initial_value=BY_HAND)
                self._choice.on_update(heard(self._choose))
                speed = gui.add_slider("Speed [×]", 0.1, 5.0, 0.1, 1.0, hint="How fast paths are followed.")
                speed.on_update(heard(lambda value: setattr(session, "speed", value_within(value, 0.1, 5.0))))

    def _press(self, button: str) -> None:
        {"Start": self._session.start, "Pause": self._session.pause, "Reset": self.reset}[button]()

    def reset(self) -> None:
        """The session as at first, and the sliders with it."""
        self._session.reset()
        for (kind, name, row), slider in self._sliders.items():
            value = readable(self._unit(kind, name, row))[0] * self._value(kind, name, row)
            slider.value = float(np.clip(value, slider.min, slider.max))

    def _choose(self, path: str) -> None:
        self._session.follow(None if path == BY_HAND else path)

    def _add_sliders(self, ranges: Mapping[str, Range]) -> None:
        """Sliders for given efforts and displacements, and for targets that have no place in space."""
        session, robot = self._session, self._session.robot
        own = robot.ports
        sliding = [name for name in session.effectors if not grasps_of(own[name].port, name, own[name].weight)]
        for title, kind, names in (
            ("Targets", "target", sliding),
            ("Displacements", "given", robot.named(Role.HELD)),
            ("Loads" if session.follows else "Efforts", "load", session.loads),
        ):
            if not names:
                continue
            with self._gui.add_folder(title):
                for name in names:
                    port = robot.ports[name].port
                    for row in range(port.given_rows):
                        if kind == "load":
                            pair = ranges[port.labels(name)[row]]
                        else:
                            pair = (target_range if kind == "target" else given_range)(session, name, row)
                        self._add_slider(kind, name, row, pair)

    def _add_slider(self, kind: str, name: str, row: int, pair: Range) -> None:
        session, port = self._session, self._session.robot.ports[name].port
        factor, unit = readable(self._unit(kind, name, row))
        low, high = factor * pair[0], factor * pair[1]
        slider = self._gui.add_slider(
            f"{port.labels(name)[row]} [{unit}]", low, high, (high - low) / 200,
            float(np.clip(factor * self._value(kind, name, row), low, high)),
        )  # fmt: skip
        self._sliders[kind, name, row] = slider

        def moved(shown: float) -> None:
            wish, value = session.snapshot.wish, value_within(shown, low, high) / factor
            if kind == "load":
                efforts = wish.efforts[name].copy()
                efforts[row] = value
                session.load(name, efforts)
            elif kind == "given":
                session.give(name, with_row_value(port, wish.displacements[name], row, value))
            else:
                session.aim(name, with_row_value(port, wish.targets[name], row, value))

        slider.on_update(heard(moved))

    def _unit(self, kind: str, name: str, row: int) -> str:
        """The SI unit of what a slider gives."""
        port = self._session.robot.ports[name].port
        return (port.effort_units if kind == "load" else port.displacement_units)[row]

    def _value(self, kind: str, name: str, row: int) -> float:
        """What is asked now, in SI units."""
        port, wish = self._session.robot.ports[name].port, self._session.snapshot.wish
        if kind == "load":
            return float(wish.efforts[name][row])
        return row_value(port, (wish.displacements if kind == "given" else wish.targets)[name], row)

    def _add_view(self) -> None:
        gui, scene = self._gui, self._scene
        robot = self._session.robot
        inside = bool(robot.touches) or any(_is_inside(mounted, robot) for mounted in robot.ports.values())
        with gui.add_folder("View"):
            stress = gui.add_checkbox("Stress", False, hint="Colour by von Mises stress.")
            self._legend = gui.add_html("", visible=False)
            through = gui.add_checkbox("See through", inside, hint="Show cables, cavities and forces inside the body.")
            rest = gui.add_checkbox("Rest shape", False, hint="Show the shape without any load.")
            names = gui.add_checkbox("Names", True, hint="Name cables, cavities and effectors, and what is held.")
            along = None
            if scene.along is not None:
                along = gui.add_checkbox("Go along", True, hint="Keep the robot in the picture, wherever it goes.")
            gui.add_html(note(f"grid: {1e3 * scene.cell:g} mm"))

        def look(_: Any = None) -> None:
            scene.look = Look(stress.value, through.value, rest.value, names.value, along is None or along.value)
            self._legend.visible = stress.value

        for box in (stress, through, rest, names, along):
            if box is not None:
                box.on_update(heard(look))
        look()

    def draw(self, snapshot: Snapshot) -> None:
        """Show a snapshot; meant for a few times per second."""
        session, robot = self._session, self._session.robot
        if self._choice is not None and snapshot.path != self._path:  # a hand, or a reset, has left the path
            self._path = snapshot.path
            self._choice.value = snapshot.path or BY_HAND
        self._status.content = status_text(
            session.measures, snapshot, size=session.size, rate=session.measured_rate(), wanted=session.rate,
            spent=session.record.usual_time(),
        )  # fmt: skip
        if self._drive is not None and session.feed is not None:
            self._drive.content = drive_text(session.feed)
        if self._bars is not None:
            self._bars.content = actuator_bars(robot, snapshot)
        if self._contacts is not None:
            self._contacts.content = touches_text(robot, snapshot.state)
        self._plots.draw(session.record)
        if self._theory is not None and snapshot.state is not self._seen:
            self._seen = snapshot.state
            self._compared.content = theory_text(self._theory(robot, snapshot.state))
        top = self._scene.update_stress()
        if top:
            self._legend.content = legend(top)

    def tell_mesh(self, lines: Sequence[MeshLine]) -> None:
        """How good the mesh of every body is."""
        self._mesh.content = mesh_text(lines)


def _is_inside(mounted: Mounted, robot: Robot) -> bool:
    """Whether a port is hidden in a solid: a cavity, or a cable through a body that is neither rods nor rigid."""
    names = mounted.body if isinstance(mounted.body, tuple) else (mounted.body,)
    bodies = [body for name, body in zip(robot.body_names, robot.bodies, strict=True) if name in names]
    solid = any(body.deforms and not isinstance(body, RodBody) for body in bodies)
    return isinstance(mounted.port, Cavity) or (
        isinstance(mounted.port, Cable) and len(mounted.port.points) > 1 and solid
    )
