"""How far the sliders of a page go."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InputError
from pliant.port import Cable, Cavity
from pliant.robot.roles import Role
from pliant.view.page.palette import rounded
from pliant.view.page.session import Session

Array = NDArray[np.float64]
Range = tuple[float, float]

REACH = 0.25
"""A load whose range nobody gave moves its port by about this share of the robot's size."""


def load_ranges(session: Session, given: Mapping[str, Range] | None = None) -> dict[str, Range]:
    """Low and high effort of every load: as given, within the limits of an actuator, or by the robot's compliance.

    Without either, the effort moves the port by about a quarter of the robot's size, or of its volume: |W| is known where
    the robot hangs. Cables and cavities are not pushed.
    """
    unknown = sorted(set(given or {}) - set(session.loads))
    if unknown:
        raise InputError(
            f"loads has a range for {unknown[0]!r}", remedy=f"choose one of: {', '.join(session.loads) or 'none'}"
        )
    if not session.loads:
        return {}
    robot, model = session.robot, session.robot.linearize(session.hanging)
    out = {}
    for name in session.loads:
        port, rows = robot.ports[name], model.slices[name]
        compliance = float(np.abs(np.diag(model.W)[rows]).max())
        wide = {"m": session.size, "m^3": _volume(session), "rad": 2.0}.get(port.displacement_unit, session.size)
        high = rounded(max(REACH * wide / max(compliance, 1e-30), 2 * float(np.abs(model.efforts[rows]).max())))
        low = 0.0 if isinstance(port, Cable | Cavity) else -high
        if robot.roles[name] is Role.ACTUATOR:
            limits = robot.limits[name].effort
            low = float(limits[:, 0].max()) if np.isfinite(limits[:, 0]).all() else low
            high = float(limits[:, 1].min()) if np.isfinite(limits[:, 1]).all() else high
        out[name] = _checked(name, (given or {}).get(name, (low, high)))
    return out


def target_range(session: Session, name: str, row: int) -> Range:
    """Low and high target for a row of an effector that has no place in space: a length, a volume, an angle."""
    home = float(session.snapshot.wish.targets[name][row])
    unit = session.robot.ports[name].displacement_unit
    wide = {"m": 0.1 * session.size, "m^3": 0.1 * _volume(session), "rad": 0.5}.get(unit, max(abs(home), 1.0))
    return home - wide, home + wide


def _volume(session: Session) -> float:
    meshes = [getattr(body, "mesh", None) for body in session.robot.bodies]
    return float(sum(mesh.volume for mesh in meshes if mesh is not None)) or session.size**3


def _checked(name: str, pair: Range) -> Range:
    low, high = (float(value) for value in pair)
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(f"the range of {name!r} is {pair}", remedy="give (low, high)")
    return low, high
