"""What is wrong, and how far a motion is to be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.body import Assembly, Pose
from pliant.errors import InvertedElementError, NotPositiveDefiniteError, PliantError
from pliant.robot.distortion import SHORTEST, Distortion
from pliant.robot.equations import Equations, Loads
from pliant.robot.factored import Factored

Array = NDArray[np.float64]


def moved_believably(
    assembly: Assembly, pose: Pose, motion: Array, share: float = 1.0, before: Array | None = None
) -> tuple[Pose, float]:
    """A pose moved by a share of a motion of the coordinates (nc, 3), or by a half, a quarter ... of that where the elements
    would be distorted beyond belief; and the share that was gone, 0 where even the smallest is too much. before (n, 3) [m]:
    where the nodes were, if not at the pose."""
    smallest, before = share * SHORTEST, pose.x if before is None else before
    while share >= smallest:
        there = assembly.moved(pose, motion if share == 1.0 else share * motion)
        if Distortion.of(assembly, before, there.x).is_believable:
            return there, share
        share *= 0.5
    return pose, 0.0


def hardest_load(equations: Equations, pose: Pose, loads: Loads) -> str:
    """The load that pulls hardest, for messages: "'air' at 2e+05 Pa", or gravity."""
    largest, name = 0.0, ""
    for own, attachment in equations.attachments.items():
        forces = np.tensordot(loads.efforts[equations.slices[own]], attachment.faced(pose.x).slopes, 1)
        if np.abs(forces).sum() > largest:
            largest, name = float(np.abs(forces).sum()), own
    if not name or largest < equations.masses.sum() * np.abs(loads.gravity).sum():
        return "gravity"
    efforts, port = loads.efforts[equations.slices[name]], equations.attachments[name].port
    row = int(np.abs(efforts).argmax())
    return f"{name!r} at {efforts[row]:.3g} {port.effort_units[row]}"


def diagnosis(found: Factored) -> PliantError:
    """The likely cause of a failed factorization, as an error to raise; dynamics needs no support."""
    assembly, pose, report = found.equations.assembly, found.pose, found.report
    if not np.isfinite(pose.x).all():
        node = int(np.flatnonzero(~np.isfinite(pose.x).all(axis=1))[0])
        return NotPositiveDefiniteError(
            f"node {node} is at {pose.x[node]}", remedy="look where the NaN came from", node=node
        )
    for k, body in enumerate(assembly.bodies):
        inverted = body.inverted_elements(pose.x[assembly.begin[k] : assembly.begin[k + 1]])
        if len(inverted):
            return InvertedElementError(
                f"{len(inverted)} elements are {body.lost}, the first is number {inverted[0]}"
                + (f" of body {k}" if k else ""),
                remedy="take smaller load steps, or more elements there; of solids, NeoHookean survives inversion",
                tets=inverted,
            )
    if found.step is None:
        try:
            assembly.require_supported()
        except PliantError as error:
            return error
    return NotPositiveDefiniteError(
        f"the stiffness is not positive definite at {assembly.describe(report.index)}"
        + (f", direction {'xyz'[report.axis]}" if report.axis >= 0 else " (zero to rounding)"),
        remedy="the robot buckles or can move freely there: add supports, or use tangent='warped' or dynamics",
        coordinate=report.index,
    )
