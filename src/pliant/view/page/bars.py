"""Bars of effort and displacement against their limits, as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np
from numpy.typing import NDArray

from pliant.robot import Robot
from pliant.robot.roles import Role
from pliant.view.page.palette import BRAND, TARGET, hexadecimal, readable
from pliant.view.page.snapshot import Snapshot

LIMIT = "#b06a00"
STYLE = f"""<style>
.pliant-bars {{ padding: 0 0.9em 0.6em; font-size: 0.8em; line-height: 1.35 }}
.pliant-bars h6 {{ margin: 0.5em 0 0; font-size: 1em; font-weight: 600 }}
.pliant-bar {{ display: flex; align-items: center; gap: 0.5em }}
.pliant-bar > label {{ width: 3.2em; opacity: 0.65 }}
.pliant-bar > div {{ position: relative; flex: 1; height: 0.6em; border-radius: 3px; overflow: hidden;
  background: rgba(128, 140, 150, 0.2) }}
.pliant-bar > div > * {{ position: absolute; top: 0; bottom: 0 }}
.pliant-bar .effort {{ background: {hexadecimal(BRAND)} }}
.pliant-bar .displacement {{ background: {hexadecimal(TARGET)} }}
.pliant-bar .zero {{ width: 1px; background: rgba(60, 70, 80, 0.55) }}
.pliant-bar > span {{ width: 5.6em; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }}
.pliant-bars.many .pliant-row {{ display: flex; align-items: center; gap: 0.4em; margin-bottom: 0.25em }}
.pliant-bars.many h6 {{ margin: 0; width: 4.4em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }}
.pliant-bars.many .pliant-bar {{ flex: 1; gap: 0.3em }}
.pliant-bars.many .pliant-bar > label {{ display: none }}
.pliant-bars.many .pliant-row > label {{ flex: 1; opacity: 0.65 }}
.pliant-bars.many .pliant-bar > span {{ width: 4.7em }}
.pliant-bar.active .effort, .pliant-bar.active .displacement {{ background: {LIMIT} }}
.pliant-bar.active > span {{ color: {LIMIT}; font-weight: 600 }}
</style>"""


MANY = 4
"""More rows than this have both their bars on one line."""
HEADER = '<div class="pliant-row"><h6></h6><label>effort</label><label>displacement</label></div>'


def actuator_bars(robot: Robot, snapshot: Snapshot) -> str:
    """Per row of an actuator or a held port: its effort and its displacement between their limits; limits that are met are
    marked."""
    names = robot.named(Role.ACTUATOR) + robot.named(Role.HELD)
    many = sum(robot.ports[name].port.given_rows for name in names) > MANY
    parts = HEADER if many else ""
    parts += "".join(part for name in names for part in _bars_of(robot, snapshot, name))
    return f'{STYLE}<div class="pliant-bars{" many" if many else ""}">{parts}</div>'


def _bars_of(robot: Robot, snapshot: Snapshot, name: str) -> Iterator[str]:
    port, limits, active = robot.ports[name].port, robot.ports[name].limits, snapshot.outcome.active
    efforts = robot.effort(snapshot.state, name)
    displacements = robot.displacement(snapshot.state, name)
    for row in range(port.given_rows):
        label = port.labels(name)[row]
        yield f'<div class="pliant-row"><h6>{escape(label)}</h6>'
        for kind, value, limit, unit in (
            ("effort", efforts[row], limits.effort[row], port.effort_units[row]),
            ("displacement", displacements[row], limits.displacement[row], port.displacement_units[row]),
        ):
            yield _bar(kind, float(value), limit, unit, f"{label} {kind}" in active)
        yield "</div>"


def _bar(kind: str, value: float, limits: NDArray[np.float64], unit: str, active: bool) -> str:
    """One line: what it is, a bar from zero to the value, the value; its limits as a hint under the mouse."""
    factor, name = readable(unit)
    low, high = (float(limit) for limit in limits)
    bounded = bool(np.isfinite(limits).all())
    if not bounded:  # there is nothing to measure it against: an empty bar
        low, high = value - 1.0, np.inf
    zero, here = (float(np.clip((v - low) / max(high - low, 1e-30), 0.0, 1.0)) for v in (0.0, value))
    place = f"left:{100 * min(zero, here):.2f}%;width:{max(100 * abs(here - zero), 0.8 if bounded else 0.0):.2f}%"
    hint = f"{kind}: {factor * low:.3g} … {factor * high:.3g} {name}" if bounded else f"{kind}: no limit"
    shown = round(factor * value, 2) + 0.0  # no minus before a zero
    text = f"{shown:.2f} {name}" if abs(shown) < 100 else f"{shown:.0f} {name}"
    return (
        f'<div class="pliant-bar{" active" if active else ""}" title="{hint}{"; it is at its limit" if active else ""}">'
        f"<label>{'effort' if kind == 'effort' else 'displ.'}</label>"
        f'<div><div class="{kind}" style="{place}"></div><div class="zero" style="left:{100 * zero:.2f}%"></div></div>'
        f"<span>{text}{' ▮' if active else ''}</span></div>"
    )
