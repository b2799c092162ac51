"""Where a condensed model says that effectors are: rows from its reference, rows from rest, and targets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.control.question import Question
from pliant.port.frame import ROWS

Array = NDArray[np.float64]


class EffectorPlaces:
    """The rows (e,) of all effectors of a question, as they are said in three ways.

    from the model   rotations of frames are those from the model's references
    from rest        rotations are vectors log R from how the robot was made: what people and fixtures think in
    targets          (t,), with quaternions: what controllers are told
    """

    def __init__(self, question: Question) -> None:
        self._turning: list[tuple[slice, slice, int, Array]] = []
        """Per frame with rotations: its rows, its targets, where its reference begins, which of the six rows it has."""
        self._plain: list[tuple[slice, slice]] = []
        at = 0
        for name, rows in question.wanted.parts.items():
            port = question.robot.ports[name].port
            own = slice(at, at + len(port.target_names))
            at = own.stop
            if name in question.reference_places and len(port.target_names) == 7:
                numbers = np.array([ROWS.index(row) for row in port.row_names])
                self._turning.append((rows, own, question.reference_places[name], numbers))
            else:
                self._plain.append((rows, own))
        self.count = at

    def from_rest(self, rows: Array, references: Array) -> Array:
        """Rows (e,) from rest, of those from the model with these references (9 r,)."""
        out: Array = rows.copy()
        for own, _, begin, numbers in self._turning:
            full = logarithm(self._orientation(rows[own], numbers, references[begin : begin + 9]))
            turns = numbers >= 3
            out[own][turns] = full[numbers[turns] - 3]
        return out

    def targets(self, rows: Array, references: Array) -> Array:
        """Targets (t,) of rows (e,) from the model. Positions that a frame does not have are zero: nobody asks for them."""
        out = np.zeros(self.count)
        for own, there in self._plain:
            out[there] = rows[own]
        for own, there, begin, numbers in self._turning:
            place = np.zeros(3)
            moves = numbers < 3
            place[numbers[moves]] = rows[own][moves]
            turned = self._orientation(rows[own], numbers, references[begin : begin + 9])
            out[there] = np.concatenate([place, to_quaternion(turned)])
        return out

    def targets_from_rest(self, rows: Array, near: Array) -> Array:
        """Targets (t,) of rows (e,) from rest; what they do not have of a rotation, the turn about y of a handle, is that of
        the targets `near` (t,)."""
        out: Array = near.copy()
        for own, there in self._plain:
            out[there] = rows[own]
        for own, there, _, numbers in self._turning:
            turn = logarithm(from_quaternion(near[there][3:]))
            for row, number in zip(rows[own], numbers, strict=True):
                if number < 3:
                    out[there][number] = row
                else:
                    turn[number - 3] = row
            out[there][3:] = to_quaternion(exponential(turn))
        return out

    @staticmethod
    def _orientation(rows: Array, numbers: Array, reference: Array) -> Array:
        """R [3, 3] of the rotation rows among `rows`, from a reference (9,)."""
        turn = np.zeros(3)
        turns = numbers >= 3
        turn[numbers[turns] - 3] = rows[turns]
        return np.asarray(exponential(turn) @ reference.reshape(3, 3))


def rows_of_targets(question: Question, targets: Mapping[str, Array]) -> Array:
    """Rows (e,) from rest of targets by name."""
    ports = question.robot.ports
    return np.concatenate([_rows(ports[name].port.row_names, targets[name]) for name in question.wanted.parts])


def _rows(names: tuple[str, ...], target: Array) -> Array:
    if len(target) != 7:
        return target
    whole = np.concatenate([target[:3], logarithm(from_quaternion(target[3:]))])
    return np.asarray(whole[[ROWS.index(name) for name in names]])
