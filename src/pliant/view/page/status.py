"""The status of a session, as HTML: what the last step did, how fast, how far off, how good the mesh is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pliant.device import Feed, event_words
from pliant.view.page.palette import readable
from pliant.view.page.rows import Measure
from pliant.view.page.snapshot import Snapshot

GOOD, CARE, BAD, CALM = "#2b8a3e", "#b06a00", "#c92a2a", "#5c6770"


def status_text(
    measures: Sequence[Measure], snapshot: Snapshot, *, size: float, rate: float, wanted: float, spent: float
) -> str:
    """The status line: the last step with its remedy, steps per second, time per step, nodes, errors, limits reached.

    size: of the robot [m]; rate, wanted: steps per second [Hz], as they are and at most; spent: seconds per step.
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
    for name in dict.fromkeys(measure.effector for measure in measures):
        parts = [
            f'<b class="pliant-error">{readable(m.unit)[0] * snapshot.errors[m.label]:.3f}</b> {readable(m.unit)[1]}'
            for m in measures
            if m.effector == name
        ]
        lines.append(f"{escape(name)} is {' and '.join(parts)} from its target")
    if outcome.active:
        off = any(snapshot.errors[m.label] > SMALL * {"m": size, "rad": 1.0}.get(m.unit, 0.0) for m in measures)
        colour, said = (BAD, "held back by") if off else (CALM, "at a limit")
        lines.append(f'<span style="color:{colour}">{said}: {escape(", ".join(outcome.active))}</span>')
    return block("<br>".join(lines))


def drive_text(feed: Feed) -> str:
    """What the drive is told: whether it follows, how many commands went out, what the guard did, what failed."""
    status = feed.drive.status
    word, colour = ("FOLLOWING", GOOD)
    if feed.stopped:
        word, colour = ("STOPPED", BAD) if feed.is_safe else ("STOPPING", BAD)
    facts = [f"{status.sent:,} commands", *event_words(feed.events)]
    facts += [f"{status.faults:,} faults: {status.last_fault}"] if status.faults else []
    return block(
        f'<span class="pliant-drive" style="color:{colour};font-weight:700">● {word}</span> {escape(" · ".join(facts))}'
    )


SMALL = 1e-4
"""An error of less than this share of the robot's size, or of a radian, is none: limits that are met hold nothing back."""
_FINE = ("READY", "SOLVED", "CONVERGED", "STEPPED")


def mesh_text(errors: list[str], worst: float) -> str:
    """How far the mesh is from the solid, per body; amber where four-node tets are clearly too stiff."""
    colour = CARE if worst > 1.1 else "inherit"
    return block("<br>".join(f'<span style="color:{colour}">{escape(error)}</span>' for error in errors))


def heading(text: str) -> str:
    """What the page is about."""
    return (
        f'<div style="padding:0.3em 0.7em 0.2em;font-size:1.0em;font-weight:600;line-height:1.3">{escape(text)}</div>'
    )


def note(text: str) -> str:
    """A plain remark."""
    return block(f'<span style="opacity:0.75">{escape(text)}</span>')


def block(inside: str) -> str:
    """Lines of small text."""
    return f'<div style="padding:0.1em 0.9em 0.5em;font-size:0.8em;line-height:1.5">{inside}</div>'
