"""pliant: soft-robot simulation and real-time model-based control.

    shape  ->  body  ->  robot  ->  linearize  ->  condense  ->  decide  ->  act

SI units everywhere. See `pliant.shape`, `pliant.material`, `pliant.body`, `pliant.port`, `pliant.robot`, `pliant.motion`:
each room's docstring is its tour.
"""

from typing import TYPE_CHECKING, Any

from pliant.algebra.condensed import Condensed
from pliant.body import Ball, Revolute, RigidBody, RodBody, Section, Slide, SpringBody, TetBody, Tie, Weld
from pliant.contact import Plane, Solid, Sphere
from pliant.errors import PliantError, PliantWarning
from pliant.material import Corotational, Linear, MooneyRivlin, NeoHookean, StVenantKirchhoff
from pliant.motion import Dynamics, Simulation, Statics, natural_modes, settled, stability
from pliant.port import (
    Cable,
    Capstan,
    Cavity,
    Center,
    Flex,
    Force,
    Frame,
    Hinge,
    Moment,
    Point,
    Port,
    Slider,
    Stiffness,
    check_port,
)
from pliant.robot import ExtraRows, Robot, Role, State
from pliant.shape import Curve, Embedding, Lattice, SurfaceMesh, TetMesh, make, read, solids

if TYPE_CHECKING:
    from pliant.control import Inverse
    from pliant.control.trajectory import Circle, Line, Recorded, Square, Waypoints
    from pliant.motion.explicit import Explicit

__version__ = "0.1.0"

__all__ = [
    "Ball",
    "Cable",
    "Capstan",
    "Cavity",
    "Center",
    "Circle",
    "Condensed",
    "Corotational",
    "Curve",
    "Dynamics",
    "Embedding",
    "Explicit",
    "ExtraRows",
    "Flex",
    "Force",
    "Frame",
    "Hinge",
    "Inverse",
    "Lattice",
    "Line",
    "Linear",
    "Moment",
    "MooneyRivlin",
    "NeoHookean",
    "Plane",
    "PliantError",
    "PliantWarning",
    "Point",
    "Port",
    "Recorded",
    "Revolute",
    "RigidBody",
    "Robot",
    "RodBody",
    "Role",
    "Section",
    "Simulation",
    "Slide",
    "Slider",
    "Solid",
    "Sphere",
    "SpringBody",
    "Square",
    "StVenantKirchhoff",
    "State",
    "Statics",
    "Stiffness",
    "SurfaceMesh",
    "TetBody",
    "TetMesh",
    "Tie",
    "Waypoints",
    "Weld",
    "check_port",
    "make",
    "natural_modes",
    "read",
    "settled",
    "solids",
    "stability",
]


_LATER = {
    "Explicit": "pliant.motion.explicit",
    "Inverse": "pliant.control",
    **dict.fromkeys(("Circle", "Line", "Recorded", "Square", "Waypoints"), "pliant.control.trajectory"),
}


def __getattr__(name: str) -> Any:
    """Control and explicit steps are loaded when first asked for."""
    if name in _LATER:
        from importlib import import_module

        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
