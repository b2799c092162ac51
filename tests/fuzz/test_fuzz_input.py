"""Every argument of the public constructors, one after the other, replaced by values that make no sense."""

from __future__ import annotations

import numpy as np
import pytest
from hostile import VALUES, refused_or_made

import pliant as pl
from pliant.contact import Plane, Sphere
from pliant.control import Correction
from pliant.control.trajectory import Circle, Line, Recorded, Square, Waypoints
from pliant.motion.explicit import Ramp, Sine
from pliant.shape import Embedding

pytestmark = pytest.mark.thorough

MESH = pl.make.box((0.06, 0.02, 0.02), (3, 1, 1))
SURFACE = pl.solids.box((0.06, 0.02, 0.02))
LAW = pl.Corotational(E=1e5, nu=0.4)
ROOT, END = MESH.where(x_below=0), MESH.where(x_above=0.06)
TIP = (0.06, 0.01, 0.01)
WAY = [(0.01, 0.01, 0.018), (0.05, 0.01, 0.018)]
PULL = (-0.02, 0.01, 0.018)


def body(**more):
    return pl.TetBody(MESH, LAW, fixed=ROOT, **more)


def robot():
    made = pl.Robot(body(), gravity=(0, 0, -9.81))
    made.actuate("tendon", pl.Cable(WAY, pull=PULL), effort=(0, 5))
    made.impose("load", pl.Force(TIP, direction=(0, 0, 1)), effort=0.01)
    made.effect("tip", pl.Point(near=TIP))
    return made


class Mounted:
    """A robot with a port that was made from arguments, and added by others."""

    def __init__(self, port, how="sense", **options):
        self.robot = pl.Robot(body())
        getattr(self.robot, how)("port", port, **options)


CALLS = {
    "TetMesh": (pl.TetMesh, {"nodes": MESH.nodes, "tets": MESH.tets, "labels": MESH.labels}),
    "SurfaceMesh": (pl.SurfaceMesh, {"nodes": SURFACE.nodes, "triangles": SURFACE.triangles}),
    "make.box": (pl.make.box, {"size": (0.1, 0.1, 0.1), "divisions": (1, 1, 1)}),
    "make.cylinder": (pl.make.cylinder, {"radius": 0.01, "length": 0.1, "size": 0.01}),
    "make.sphere": (pl.make.sphere, {"radius": 0.02, "size": 0.01}),
    "solids.box": (pl.solids.box, {"size": (0.1, 0.1, 0.1), "at": (0, 0, 0)}),
    "solids.cylinder": (pl.solids.cylinder, {"radius": 0.01, "length": 0.1, "at": (0, 0, 0), "axis": (0, 0, 1)}),
    "solids.sphere": (pl.solids.sphere, {"radius": 0.01, "at": (0, 0, 0)}),
    "filled": (SURFACE.filled, {"size": 0.01, "method": "stuffing"}),
    "translated": (MESH.translated, {"offset": (0, 0, 1)}),
    "scaled": (MESH.scaled, {"factor": 2.0, "center": (0, 0, 0)}),
    "rotated": (MESH.rotated, {"axis": (0, 0, 1), "angle": 1.0, "center": (0, 0, 0)}),
    "where": (MESH.where, {"x_below": 0.0, "box": ((0, 0, 0), (1, 1, 1)), "near": TIP, "label": 0}),
    "labelled": (MESH.labelled, {"labels": MESH.labels}),
    "Embedding": (lambda **k: Embedding.of(MESH, **k), {"points": [TIP], "max_distance": 0.01}),
    "Corotational": (pl.Corotational, {"E": 1e5, "nu": 0.4}),
    "MooneyRivlin": (pl.MooneyRivlin, {"E": 1e5, "nu": 0.4}),
    "TetBody": (
        lambda **k: pl.TetBody(MESH, **k),
        {
            "law": LAW,
            "density": 1000.0,
            "order": 1,
            "volume": "elements",
            "fixed": ROOT,
            "prescribed": None,
            "sliding": (),
            "rigid": {"end": END},
            "mass": "lumped",
            "damping": (0.0, 0.0),
        },
    ),
    "Lattice.block": (pl.Lattice.block, {"cells": (2, 2, 2), "size": 0.01}),
    "Lattice.voxels": (pl.Lattice.voxels, {"solid": SURFACE, "size": 0.01}),
    "SpringBody": (lambda **k: pl.SpringBody(pl.Lattice.block((2, 2, 2), 0.01), **k), {"E": 1e5, "density": 1000.0}),
    "Robot": (lambda **k: pl.Robot(body(), **k), {"gravity": (0, 0, -9.81)}),
    "Cable": (lambda **k: Mounted(pl.Cable(**k)), {"points": WAY, "pull": PULL}),
    "Force": (lambda **k: Mounted(pl.Force(**k)), {"at": TIP, "direction": (0, 0, 1)}),
    "Point": (lambda **k: Mounted(pl.Point(**k)), {"near": TIP}),
    "Center": (lambda **k: Mounted(pl.Center(**k)), {"nodes": END}),
    "Frame": (lambda **k: Mounted(pl.Frame(**k)), {"where": END}),
    "Hinge": (lambda **k: Mounted(pl.Hinge(**k)), {"where": END, "point": (0, 0, 0), "axis": (0, 1, 0)}),
    "Cavity": (lambda **k: Mounted(pl.Cavity(**k)), {"surface": SURFACE}),
    "Stiffness": (lambda **k: Mounted(pl.Stiffness(**k)), {"label": 0}),
    "actuate": (
        lambda **k: Mounted(pl.Cable(WAY, pull=PULL), "actuate", **k),
        {"effort": (0, 1), "displacement": (0, 1), "effort_rate": 1.0, "displacement_rate": 1.0, "body": 0},
    ),
    "effect": (lambda **k: Mounted(pl.Point(near=TIP), "effect", **k), {"weight": 1.0, "body": 0}),
    "impose effort": (lambda **k: Mounted(pl.Cable(WAY, pull=PULL), "impose", **k), {"effort": 1.0}),
    "impose displacement": (
        lambda **k: Mounted(pl.Cable(WAY, pull=PULL), "impose", **k),
        {"displacement": 1e-3, "effort_limits": (0, 1)},
    ),
    "set_effort": (robot().set_effort, {"name": "load", "effort": 0.1}),
    "set_gravity": (robot().set_gravity, {"gravity": (0, 0, 1)}),
    "move_pull": (robot().move_pull, {"name": "tendon", "position": PULL}),
    "Statics": (
        lambda **k: pl.Statics(robot(), **k),
        {"tolerance": 1e-9, "max_iterations": 10, "load_steps": 1, "tangent": "exact"},
    ),
    "Dynamics": (
        lambda **k: pl.Dynamics(robot(), **k),
        {"h": 0.01, "method": "newton", "tangent": "exact", "tolerance": 1e-9, "max_iterations": 5},
    ),
    "Simulation": (lambda **k: pl.Simulation(robot(), **k), {"h": 0.01}),
    "natural_modes": (lambda **k: pl.natural_modes(robot(), **k), {"count": 2, "tangent": "exact"}),
    "Inverse": (
        lambda **k: pl.Inverse(robot(), **k),
        {"energy": 1e-8, "tangent": "exact", "h": None, "largest_move": 0.05},
    ),
    "linearize": (lambda **k: ROBOT.linearize(ROBOT.rest(), **k), {"tangent": "exact", "h": 0.01}),
    "Circle": (Circle, {"center": TIP, "radius": 0.01, "speed": 0.01}),
    "Square": (Square, {"center": TIP, "side": 0.01, "speed": 0.01}),
    "Line": (Line, {"start": TIP, "end": (0, 0, 0), "speed": 0.01}),
    "Waypoints": (Waypoints, {"points": [TIP, (0, 0, 0)], "speed": 0.01}),
    "Recorded": (Recorded, {"times": [0.0, 1.0], "positions": [TIP, TIP]}),
    "Correction": (Correction, {"rows": 3, "gain": 1.0, "limit": 0.01}),
    "Plane": (Plane, {"friction": 0.5}),
    "Sphere": (Sphere, {"center": TIP, "radius": 0.1}),
    "Sine": (Sine, {"amplitude": 0.1, "frequency": 1.0}),
    "Ramp": (Ramp, {"end": 1.0, "duration": 1.0}),
}
ROBOT = robot()
CASES = [(call, argument) for call, (_, arguments) in CALLS.items() for argument in arguments]


@pytest.mark.parametrize(("call", "argument"), CASES, ids=[f"{call}-{argument}" for call, argument in CASES])
def test_nonsense_is_refused_by_name(call, argument):
    """Thirty hostile values for each argument: an error with its remedy, or something usable, never a plain traceback."""
    make, arguments = CALLS[call]
    refused_or_made(lambda: make(**arguments))
    faults = []
    for name, value in VALUES.items():
        try:
            refused_or_made(lambda value=value: make(**{**arguments, argument: value}))
        except Exception as error:
            faults.append(f"{call}({argument}={name}): {type(error).__name__}: {error}")
    assert not faults, "\n".join(faults)


def test_there_are_many():
    """Distinct hostile inputs of this file."""
    assert len(CASES) * len(VALUES) > 2000


@pytest.mark.parametrize("name", list(VALUES))
def test_hostile_targets_never_reach_an_actuator(name):
    """A target that makes no sense is refused or held; whatever it is, efforts stay finite and within limits."""
    made = robot()
    inverse = pl.Inverse(made)
    state = pl.Statics(made).solve().require().state
    step = refused_or_made(lambda: inverse.step(state, tip=VALUES[name]))
    if step is not None:
        assert 0 <= step.efforts["tendon"][0] <= 5
        assert np.isfinite(step.state.x).all()
    after = refused_or_made(lambda: inverse.step(state, tip=TIP, interval=VALUES[name]))
    assert after is None or 0 <= after.efforts["tendon"][0] <= 5
