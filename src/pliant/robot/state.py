"""Where a robot is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.errors import FileError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Pose, node velocities v (n, 3) [m/s], efforts on all port rows (m,), time [s], the memory of ports that have one, by
    name (the anchors of friction), and the efforts of rows that come and go, as many as there were in the last step (k,)
    [N]. Treated as immutable."""

    pose: Pose
    v: Array
    efforts: Array
    time: float = 0.0
    memory: Mapping[str, Array] = field(default_factory=dict)
    extra: Array = field(default_factory=lambda: np.empty(0))

    def __repr__(self) -> str:
        return (
            f"State(time={self.time:.6g} s, {len(self.x)} nodes, efforts={np.array2string(self.efforts, precision=4)})"
        )

    @property
    def x(self) -> Array:
        """Node positions [m], (n, 3)."""
        return self.pose.x

    def at_rest(self) -> State:
        """The same pose without velocity."""
        return replace(self, v=np.zeros_like(self.v))

    def efforts_with(self, extra: int) -> Array:
        """Efforts of all port rows and then of so many extra ones, (m + k,): those of the state where it has as many, else
        none."""
        own = self.extra if len(self.extra) == extra else np.zeros(extra)
        return np.concatenate([self.efforts, own])

    def moved(self, pose: Pose, efforts: Array, h: float | None = None) -> State:
        """The state at another pose with other efforts (m + k,): at rest, or h seconds later with the velocity of the way."""
        v = np.zeros_like(self.v) if h is None else (pose.x - self.x) / h
        count, later = len(self.efforts), self.time + (h or 0.0)
        return replace(self, pose=pose, v=v, efforts=efforts[:count], extra=efforts[count:], time=later)

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
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> State:
        """Read what `save` wrote."""
        try:
            with _with_suffix(path).open("rb") as file, np.load(file, allow_pickle=False) as data:
                pose = Pose(data["x"], data["centers"], data["rotations"])
                memory = {str(name): data[f"memory_{k}"] for k, name in enumerate(data.get("memory_names", ()))}
                extra = np.array(data.get("extra", ()), float)
                return cls(pose, data["v"], data["efforts"], float(data["time"]), memory, extra)
        except Exception as error:  # whatever a damaged archive may lead to
            raise FileError(
                f"{path} holds no robot state ({error})", remedy="give a file written by state.save"
            ) from error


def _with_suffix(path: str | PathLike[str]) -> Path:
    file = Path(path)
    return file if file.suffix == ".npz" else file.with_name(file.name + ".npz")
