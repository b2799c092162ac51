"""Where a robot is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.contact import Remembered
from pliant.errors import FileError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Past:
    """What a motion of second order knows of the step before: its length h [s], the pose that it began with, and the
    accelerations of the nodes at its end, as they are and lagging behind, (n, 3) [m/s^2] each (`TimeStep`)."""

    h: float
    pose: Pose
    acceleration: Array
    lagging: Array


@dataclass(frozen=True)
class State:
    """Pose, node velocities v (n, 3) [m/s], efforts on all port rows (m,), time [s], the memory of ports that have one, by
    name (the anchors of friction), the efforts of rows that come and go, as many as there were in the last step (k,) [N],
    the past that a smooth motion goes on from, and the contacts of the last step by the name of their touch. Treated as
    immutable: who puts a state elsewhere drops its past (`at_rest`, `without_past`)."""

    pose: Pose
    v: Array
    efforts: Array
    time: float = 0.0
    memory: Mapping[str, Array] = field(default_factory=dict)
    extra: Array = field(default_factory=lambda: np.empty(0))
    past: Past | None = None
    contacts: Mapping[str, Remembered] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"State(time={self.time:.6g} s, {len(self.x)} nodes, efforts={np.array2string(self.efforts, precision=4)})"
        )

    @property
    def x(self) -> Array:
        """Node positions [m], (n, 3)."""
        return self.pose.x

    def at_rest(self) -> State:
        """The same pose without velocity, and without a past."""
        return replace(self, v=np.zeros_like(self.v), past=None)

    def without_past(self) -> State:
        """The same pose and velocity, from which a motion begins anew."""
        return replace(self, past=None)

    def efforts_with(self, extra: int) -> Array:
        """Efforts of all port rows and then of so many extra ones, (m + k,): those of the state where it has as many, else
        none."""
        if extra == 0:
            return self.efforts
        own = self.extra if len(self.extra) == extra else np.zeros(extra)
        return np.concatenate([self.efforts, own])

    def moved(self, pose: Pose, efforts: Array) -> State:
        """The state at rest at another pose with other efforts (m + k,); `TimeStep.ended` for one that moves."""
        count, still = len(self.efforts), np.zeros_like(self.v) if self.v.any() else self.v
        return State(pose, still, efforts[:count], self.time, self.memory, efforts[count:], None, self.contacts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write to an .npz file (plain arrays, no pickle); the suffix is added where it is missing."""
        pose = self.pose
        memory: dict[str, Any] = {f"memory_{k}": part for k, part in enumerate(self.memory.values())}
        np.savez_compressed(
            _with_suffix(path),
            x=pose.x,
            centers=pose.centers,
            rotations=pose.rotations,
            v=self.v,
            efforts=self.efforts,
            time=self.time,
            extra=self.extra,
            memory_names=np.array(list(self.memory), dtype=str),
            **memory,
            **_contacts_as_arrays(self.contacts),
            **({} if self.past is None else _as_arrays(self.past)),
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> State:
        """Read what `save` wrote."""
        try:
            with _with_suffix(path).open("rb") as file, np.load(file, allow_pickle=False) as data:
                pose = Pose(data["x"], data["centers"], data["rotations"])
                memory = {str(name): data[f"memory_{k}"] for k, name in enumerate(data.get("memory_names", ()))}
                extra = np.array(data.get("extra", ()), float)
                past = _past_of(data) if "past_h" in data else None
                return cls(
                    pose, data["v"], data["efforts"], float(data["time"]), memory, extra, past, _contacts_of(data)
                )
        except Exception as error:  # whatever a damaged archive may lead to
            raise FileError(
                f"{path} holds no robot state ({error})", remedy="give a file written by state.save"
            ) from error


def _as_arrays(past: Past) -> dict[str, Any]:
    pose = past.pose
    return {
        "past_h": past.h,
        "past_x": pose.x,
        "past_centers": pose.centers,
        "past_rotations": pose.rotations,
        "past_acceleration": past.acceleration,
        "past_lagging": past.lagging,
    }


def _contacts_as_arrays(contacts: Mapping[str, Remembered]) -> dict[str, Any]:
    arrays: dict[str, Any] = {"contact_names": np.array(list(contacts), dtype=str)}
    for k, own in enumerate(contacts.values()):
        arrays |= {f"contact_{k}_{name}": value for name, value in vars(own).items()}
    return arrays


def _contacts_of(data: Mapping[str, Any]) -> dict[str, Remembered]:
    names = [str(name) for name in data.get("contact_names", ())]
    parts = [part.name for part in fields(Remembered)]
    return {name: Remembered(**{part: data[f"contact_{k}_{part}"] for part in parts}) for k, name in enumerate(names)}


def _past_of(data: Mapping[str, Any]) -> Past:
    pose = Pose(data["past_x"], data["past_centers"], data["past_rotations"])
    return Past(float(data["past_h"]), pose, data["past_acceleration"], data["past_lagging"])


def _with_suffix(path: str | PathLike[str]) -> Path:
    file = Path(path)
    return file if file.suffix == ".npz" else file.with_name(file.name + ".npz")
