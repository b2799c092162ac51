"""Everything that a controller at two rates sees and does, to a recording."""

from __future__ import annotations

import time
from os import PathLike

import numpy as np

from pliant.checks import require_kind_of
from pliant.control.status import CODES
from pliant.control.two_rates import TwoRates
from pliant.device import Channel, Recorder, Wiring
from pliant.device.guard import EVENT_WORDS
from pliant.device.wiring import Kind
from pliant.robot import Role

KINDS: tuple[Kind, ...] = ("effort", "displacement")
COUNTS = ("lost", "late", "damaged", "foreign", "faults")
"""What a drive counts (`DriveStatus`)."""
OF_MODELS = ("cycle", "process", "failures", "positive_definite", "delta")
"""What is taken over from the record of a model (`model_record`)."""


class LoopLog:
    """Records a run of `TwoRates`: give it as `watch`, and close it afterwards (or use it in a `with` block).

    Channel "control", one record per command: target, goal, command, efforts and displacements decided, age of the model,
    status, the guard's events, what the period took, what was measured of the effectors and how long ago, and what the drive
    counted (messages lost, late, damaged, foreign, and faults). Channel "model", one record per model: its number, what it
    took, where the ports are by it, the process that made it, how many it could not make, and whether its tangent was positive
    definite.
    """

    def __init__(self, file: str | PathLike[str], controller: TwoRates, *, overwrite: bool = False) -> None:
        """file: of the recording (MCAP), which must not exist, unless it is to be overwritten."""
        require_kind_of(controller, "controller", TwoRates)
        names, commands = controller.robot.row_names, controller.controller.question.labels
        n, e, t = len(commands), len(controller.effector_rows), len(controller.target_rows)
        control = np.dtype(
            [
                ("time", "f8"), ("took", "f8"), ("model_age", "f8"), ("status", "i8"), ("events", "i8"),
                ("target", "f8", (t,)), ("goal", "f8", (t,)), ("command", "f8", (n,)), ("efforts", "f8", (n,)),
                ("displacements", "f8", (n,)), ("measured", "f8", (e,)), ("measured_age", "f8"),
                *((count, "i8") for count in COUNTS),
            ]
        )  # fmt: skip
        model = np.dtype(
            [
                ("time", "f8"), ("number", "i8"), ("cycle", "f8"), ("process", "i8"), ("failures", "i8"),
                ("positive_definite", "i8"), ("delta", "f8", (len(names),)),
            ]
        )  # fmt: skip
        channels = [
            Channel(
                "control",
                control,
                units={"took": "s", "model_age": "s", "measured_age": "s"} | _units(controller),
                rows={
                    "target": controller.target_rows, "goal": controller.target_rows, "command": commands,
                    "efforts": commands, "displacements": commands, "measured": controller.effector_rows,
                },
                words={"events": EVENT_WORDS},
            ),
            Channel("model", model, units={"cycle": "s"}, rows={"delta": tuple(names)}),
        ]  # fmt: skip
        statuses = ", ".join(f"{code} {status.name}" for status, code in CODES.items())
        made_by = f"{controller.build.__module__}.{getattr(controller.build, '__qualname__', '')}"
        about = {"rate": str(controller.rate), "kind": controller.kind, "statuses": statuses, "robot": made_by}
        self.recorder = Recorder(file, channels, about=about, overwrite=overwrite)
        self._control, self._model = self.recorder.ring("control"), self.recorder.ring("model")
        self._signals, self._made = self._control.blank(), self._model.blank()
        self._signals["measured"] = self._signals["measured_age"] = np.nan

    def __call__(self, seconds: float, two: TwoRates) -> None:
        """One period, right after its command; never waits."""
        out, now = self._signals, time.monotonic()
        out["time"] = two.woke
        out["took"] = now - two.woke
        out["model_age"] = two.woke - two.box.stamp
        out["status"], out["events"] = two.status.code, two.events
        out["target"], out["goal"], out["command"] = two.target, two.controller.goal, two.guard.command
        out["efforts"], out["displacements"] = two.controller.efforts, two.controller.displacements
        if two.measured is not None and two.drive is not None:
            out["measured"], out["measured_age"] = two.measured.values, two.measured.age(two.woke)
            for count in COUNTS:
                out[count] = getattr(two.drive.status, count)
        self._control.push(out)
        box, made = two.box, self._made
        if box.number != made["number"]:
            made["time"], made["number"] = box.stamp, box.number
            for name in OF_MODELS:
                made[name] = box.record[name]
            self._model.push(made)

    def close(self) -> None:
        """Finish the file. May be called twice."""
        self.recorder.close()

    def __enter__(self) -> LoopLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _units(controller: TwoRates) -> dict[str, str]:
    """The units of the fields whose rows all have the same."""
    robot = controller.robot
    efforts, displacements = (Wiring.of_robot(robot, kind).command_units for kind in KINDS)
    places = Wiring.of_robot(robot, measures=robot.named(Role.EFFECTOR)).measurement_units
    fields = dict.fromkeys(("target", "goal", "measured"), places)
    fields |= {"efforts": efforts, "displacements": displacements}
    fields["command"] = efforts if controller.kind == "effort" else displacements
    return {field: units[0] for field, units in fields.items() if len(set(units)) == 1}
