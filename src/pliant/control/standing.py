"""How a robot stands, and the steps that it took to get there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.robot import State

Array = NDArray[np.float64]
Aims = Mapping[str, Array]
"""Where effectors are to be, by name."""


class Standing(IntEnum):
    """How a robot stands, as whoever decides by its model must know: it goes on; it holds still to come into balance; it rests
    where no step leads closer; it rests where going on would lose stability."""

    FIRM = 0
    HOLDING = 1
    WAITING = 2
    UNSTABLE_BEYOND = 3


@dataclass(frozen=True)
class Aim:
    """What a step was to do: the targets, what they ask of the effectors' rows (e,), and the model that it was decided by."""

    aims: Aims
    goal: Array
    model: Condensed


@dataclass(frozen=True)
class Stride:
    """A step that was taken: the state that it leads to, the energy of the change of efforts and of the motion [J^1/2], whether
    it was shortened, what it was to do, and for how many calls it has been out of balance."""

    after: State
    change: float = 0.0
    length: float = 0.0
    shortened: bool = False
    aim: Aim | None = None
    waited: int = 0


@dataclass(frozen=True)
class Stand:
    """Firm ground: a state in balance, and its margin."""

    state: State
    margin: float
