"""How far the sliders of a page go."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.checks import as_numbers
from pliant.errors import InputError, SupportError
from pliant.port import Cable, Cavity, Slider, Stiffness
from pliant.robot.roles import Role
from pliant.view.page.palette import rounded
from pliant.view.page.poses import row_value
from pliant.view.page.session import Session

Array = NDArray[np.float64]
Range = tuple[float, float]

REACH = 0.25
"""A load whose range nobody gave moves its port by about this share of the robot's size."""


def load_ranges(session: Session, given: Mapping[str, Range] | None = None) -> dict[str, Range]:
    """Low and high effort of every row of a load, by its label: as given, within the limits of an actuator, or by the robot's
    compliance.

    given: by the name of a load, for all its rows. Without either, the effort moves the row by about a quarter of the robot's
    size, or of its volume: |W| is known where the robot hangs. Cables and cavities are not pushed, and a modulus does not
    grow more than tenfold.
    """
    require_ranges(session, given)
    if not session.loads:
        return {}
    robot, model = session.robot, _model(session)
    out = {}
    for name in session.loads:
        port, role = robot.ports[name].port, robot.ports[name].role
        units = port.displacement_units
        for row in range(port.given_rows):
            place = model.slices[name].start + row
            compliance, now = float(abs(model.W[place, place])), float(abs(model.efforts[place]))
            wide = {"m": session.size, "m^3": _volume(session), "rad": 2.0}.get(units[row], session.size)
            high = rounded(max(REACH * wide / max(compliance, 1e-30), 2 * now))
            low = 0.0 if isinstance(port, Cable | Cavity) else -high
            if isinstance(port, Stiffness):
                modulus = robot.ports[name].attachment.port.modulus  # type: ignore[attr-defined]
                low, high = -0.9 * modulus, max(9 * modulus, 2 * now)
            if role is Role.ACTUATOR:
                least, most = robot.ports[name].able[row]
                low, high = float(least) if np.isfinite(least) else low, float(most) if np.isfinite(most) else high
            out[port.labels(name)[row]] = _checked(name, (given or {}).get(name, (low, high)))
    return out


def _model(session: Session) -> Condensed:
    """How the ports move where the robot hangs; over a short time where nothing holds it."""
    robot, here = session.robot, session.hanging
    try:
        return robot.linearize(here).model
    except SupportError:
        return robot.linearize(here, h=0.1, scheme="euler").model


def require_ranges(session: Session, given: Mapping[str, Range] | None) -> None:
    """Refuse ranges of what is no load, and ranges that are none."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"loads are a {type(given).__name__}", remedy='give ranges by name: {"push": (0.0, 1.0)}')
    unknown = [name for name in given or {} if name not in session.loads]
    if unknown:
        raise InputError(
            f"loads has a range for {unknown[0]!r}", remedy=f"choose one of: {', '.join(session.loads) or 'none'}"
        )
    for name, pair in (given or {}).items():
        _checked(name, pair)


def target_range(session: Session, name: str, row: int) -> Range:
    """Low and high target for a row of an effector that has no place in space: a length, a volume, an angle."""
    return _around(session, name, row, session.snapshot.wish.targets[name])


def given_range(session: Session, name: str, row: int) -> Range:
    """Low and high displacement for a row of a held port: around the one that it has at first."""
    return _around(session, name, row, session.snapshot.wish.displacements[name])


def _around(session: Session, name: str, row: int, target: Array) -> Range:
    port = session.robot.ports[name].port
    home, unit = row_value(port, target, row), port.displacement_units[row]
    share = 0.4 if isinstance(port, Slider) else 0.1  # a slide is made to go far
    wide = {"m": share * session.size, "m^3": 0.1 * _volume(session), "rad": 0.5}.get(unit, max(abs(home), 1.0))
    wide = rounded(max(wide, abs(home) if unit != "m" or abs(home) < session.size else 0.0))
    return home - wide, home + wide


def _volume(session: Session) -> float:
    meshes = [getattr(body, "mesh", None) for body in session.robot.bodies]
    return float(sum(mesh.volume for mesh in meshes if mesh is not None)) or session.size**3


def _checked(name: str, pair: Range) -> Range:
    found = as_numbers(pair)
    if found.shape != (2,) or not np.isfinite(found).all() or not found[0] < found[1]:
        raise InputError(f"the range of {name!r} is {pair!r}", remedy="give (low, high)")
    return float(found[0]), float(found[1])
