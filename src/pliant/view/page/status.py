"""The status of a session, as HTML: what the last step did, how fast, how far off, how good the mesh is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from pliant.device import Feed, event_words
from pliant.view.figures import Figure
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
    if np.isfinite(outcome.margin):
        facts.append(f'<span class="pliant-margin">{100 * max(outcome.margin, 0.0):.0f} % of stability left</span>')
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
_FINE = ("READY", "SOLVED", "REACHED", "CONVERGED", "STEPPED", "MOVING")


@dataclass(frozen=True)
class MeshLine:
    """How far the mesh of a body is from the solid, in words, and whether that matters."""

    text: str
    matters: bool


def mesh_line(order: int, softening: float, follows: bool) -> MeshLine:
    """What a mesh costs, and what to do about it.

    softening: how many times as far ten-node tets move as four-node tets, see `TetBody.discretization_error`; follows: whether
    efforts are decided, rather than given.
    """
    if order == 2:
        return MeshLine(
            f"Ten-node tets: close to the true solid (four-node tets would be {softening:.1f} times as stiff here).",
            False,
        )
    if softening < FINE_MESH:
        return MeshLine(f"The mesh is fine enough: it is {100 * (softening - 1):.0f} % too stiff.", False)
    effect = (
        f"it goes where it is told, but the efforts shown are about {softening:.1f} times too large"
        if follows
        else f"it bends only about 1/{softening:.1f} as far as it would"
    )
    return MeshLine(
        f"Coarse mesh, made for speed: the robot comes out {softening:.1f} times as stiff as the true solid: {effect}. "
        "For true values build its TetBody with order=2, or with a finer mesh.",
        True,
    )


FINE_MESH = 1.1
"""Tets that are too stiff by less than this factor are not worth a warning."""


def mesh_text(lines: Sequence[MeshLine]) -> str:
    """A line per body; amber where four-node tets are clearly too stiff."""
    return block(
        "<br>".join(
            f'<span style="color:{CARE if line.matters else "inherit"}">{escape(line.text)}</span>' for line in lines
        )
    )


def theory_text(figures: Sequence[Figure]) -> str:
    """Values beside what theory says: a line each; of a value that is not a number only the theory."""
    cells = "".join(_theory_row(figure) for figure in figures)
    head = "".join(
        f'<th style="text-align:{side};font-weight:600;white-space:nowrap">{word}</th>' for word, side in THEORY_HEAD
    )
    return block(f'<table class="pliant-theory" style="width:100%"><tr>{head}</tr>{cells}</table>')


THEORY_HEAD = (("", "left"), ("here", "right"), ("theory", "right"), ("off by", "right"))


def _theory_row(figure: Figure) -> str:
    value, reference = figure.value, figure.reference
    known = bool(np.isfinite(value))
    off = f"{100 * (value / reference - 1) + 0.0:+.1f} %" if known and reference else ""
    here = f"<b>{plain(value)}</b> {figure.unit}" if known else ""
    right = 'style="text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:0.6em"'
    theory = "" if reference is None else f"{plain(reference)} {figure.unit}"
    return (
        f"<tr><td>{escape(figure.name)}<br><span style='opacity:0.65'>{escape(figure.source)}</span></td>"
        f"<td {right}>{here}</td><td {right}>{theory}</td><td {right}>{off}</td></tr>"
    )


def plain(value: float, digits: int = 2) -> str:
    """A number with so many digits after the point, and no minus before a zero.

    >>> plain(-0.001), plain(-1.239)
    ('0.00', '-1.24')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}"


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
