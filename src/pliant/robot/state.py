"""Where a robot is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.errors import FileError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """Pose, node velocities v [n, 3] [m/s], efforts on all port rows [m], time [s]. Treated as immutable."""

    pose: Pose
    v: Array
    efforts: Array
    time: float = 0.0

    @property
    def x(self) -> Array:
        """Node positions [m], [n, 3]."""
        return self.pose.x

    def at_rest(self) -> State:
        """The same pose without velocity."""
        return replace(self, v=np.zeros_like(self.v))

    def save(self, path: str | PathLike[str]) -> None:
        """Write to an .npz file (plain arrays, no pickle)."""
        pose = self.pose
        np.savez_compressed(
            path,
            x=pose.x,
            centers=pose.centers,
            rotations=pose.rotations,
            v=self.v,
            efforts=self.efforts,
            time=self.time,
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> State:
        """Read what `save` wrote."""
        try:
            with np.load(path, allow_pickle=False) as data:
                pose = Pose(data["x"], data["centers"], data["rotations"])
                return cls(pose, data["v"], data["efforts"], float(data["time"]))
        except (OSError, KeyError, ValueError) as error:
            raise FileError(
                f"{path} holds no robot state ({error})", remedy="give a file written by state.save"
            ) from error
