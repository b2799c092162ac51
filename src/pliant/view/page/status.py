"""The status of a session, as HTML: what the last step did, how fast, how far off, how good the mesh is."""

from __future__ import annotations

from html import escape

from pliant.robot import Robot
from pliant.view.page.palette import readable
from pliant.view.page.snapshot import Snapshot

GOOD, CARE, BAD, CALM = "#2b8a3e", "#b06a00", "#c92a2a", "#5c6770"


def status_text(robot: Robot, snapshot: Snapshot, *, rate: float, wanted: float, spent: float) -> str:
    """The status line: the last step with its remedy, steps per second, time per step, nodes, errors, limits reached.

    rate, wanted: steps per second [Hz], as they are and at most; spent: seconds per step.
    """
    outcome = snapshot.outcome
    paused = not snapshot.running and outcome.ok
    colour = CALM if paused else BAD if not outcome.ok else CARE if outcome.word not in _FINE else GOOD
    word = "PAUSED" if paused else outcome.word
    pace = f"{rate:.0f} of {wanted:.0f} Hz" if rate >= 0.5 else "at rest"
    facts = [pace, f"{1e3 * spent:.1f} ms per step" if spent else "", f"{len(snapshot.state.x):,} nodes"]
    lines = [
        f'<span class="pliant-word" style="color:{colour};font-weight:700">● {escape(word)}</span> '
        f'<span style="opacity:0.75">{escape("no steps are made; press Start" if paused else outcome.remedy)}</span>',
        " · ".join(fact for fact in facts if fact),
    ]
    for name, error in snapshot.errors.items():
        factor, unit = readable(robot.ports[name].displacement_unit)
        lines.append(f'{escape(name)} is <b class="pliant-error">{factor * error:.3f}</b> {unit} from its target')
    if outcome.active:
        lines.append(f'<span style="color:{BAD}">held back by: {escape(", ".join(outcome.active))}</span>')
    return _block("<br>".join(lines))


_FINE = ("READY", "SOLVED", "CONVERGED", "STEPPED")


def mesh_text(errors: list[str], worst: float) -> str:
    """How far the mesh is from the solid, per body; amber where four-node tets are clearly too stiff."""
    colour = CARE if worst > 1.1 else "inherit"
    return _block("<br>".join(f'<span style="color:{colour}">{escape(error)}</span>' for error in errors))


def heading(text: str) -> str:
    """What the page is about."""
    return (
        f'<div style="padding:0.3em 0.7em 0.2em;font-size:1.0em;font-weight:600;line-height:1.3">{escape(text)}</div>'
    )


def note(text: str) -> str:
    """A plain remark."""
    return _block(f'<span style="opacity:0.75">{escape(text)}</span>')


def _block(inside: str) -> str:
    return f'<div style="padding:0.1em 0.9em 0.5em;font-size:0.8em;line-height:1.5">{inside}</div>'
