"""How hard something is held."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numpy.typing import ArrayLike

from pliant.control.inverse_step import InverseStep
from pliant.robot import State


def held_grip(
    step: Callable[..., InverseStep],
    state: State,
    steps: int,
    targets: Mapping[str, ArrayLike],
    touches: tuple[str, ...],
) -> dict[str, tuple[float, float]]:
    """The least and the most [N] that the normal forces of touches add up to in the second half of so many steps, by name."""
    sums = []
    for _ in range(steps):
        done = step(state, **targets).require()
        state = done.state
        sums.append({} if done.contact is None else done.contact.grip)
    half = [[own.get(name, 0.0) for own in sums[steps // 2 :]] for name in touches]
    return {name: (min(own), max(own)) for name, own in zip(touches, half, strict=True)}
