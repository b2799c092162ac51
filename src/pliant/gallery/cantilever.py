"""A silicone beam clamped at one end, beside beam theory.

Two loads: a small force at the tip, where Timoshenko's beam is exact enough, and its own weight, under which it bends so
far that only the elastica (a beam that bends but does not stretch, at any rotation) tells where the tip goes.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pliant.body import TetBody
from pliant.gallery.follower import Follower, Paths, Report
from pliant.material import Corotational
from pliant.motion import Statics
from pliant.port import Force, Point
from pliant.robot import Robot, State
from pliant.shape import TetMesh, make
from pliant.view import Figure

LENGTH, WIDTH, HEIGHT = 0.120, 0.010, 0.010
LAW = Corotational(E=150e3, nu=0.3)
DENSITY = 1070.0
TIP_FORCE = 1e-5
GRAVITY = 9.81


def build(mesh: TetMesh | None = None, *, order: int = 2, gravity: float = GRAVITY, tip_force: float = 0.0) -> Robot:
    """The beam along x with its clamped end at x = 0; loads act along -z."""
    mesh = make.box((LENGTH, WIDTH, HEIGHT), (24, 2, 2)) if mesh is None else mesh
    beam = TetBody(mesh, LAW, density=DENSITY, order=order, fixed=mesh.where(x_below=0.0))  # type: ignore[arg-type]
    robot = Robot(beam, gravity=(0.0, 0.0, -gravity))
    end = mesh.nodes[mesh.where(x_above=LENGTH)]
    robot.impose("load", Force(end, direction=(0, 0, -1)), effort=tip_force)
    robot.sense("tip", Point(near=(LENGTH, WIDTH / 2, HEIGHT / 2)))
    return robot


def report(robot: Robot, hanging: State, paths: Paths) -> Report:
    """Deflection of the tip: four-node and ten-node tets, beside Timoshenko and the elastica."""
    timoshenko = timoshenko_deflection(TIP_FORCE)
    figures = []
    for order in (1, 2):
        loaded = build(order=order, gravity=0.0, tip_force=TIP_FORCE)
        drop = _drop(loaded, Statics(loaded).solve().require().state)
        figures.append(Figure(f"cantilever.tip_force_order{order}", 1e3 * drop, "mm", 1e3 * timoshenko, "Timoshenko"))
    weight = DENSITY * GRAVITY * WIDTH * HEIGHT
    reference = elastica_tip(weight)
    reach = float(robot.displacement(hanging, "tip")[0])
    figures.append(
        Figure("cantilever.own_weight_drop", 1e3 * _drop(robot, hanging), "mm", 1e3 * reference[1], "elastica")
    )
    figures.append(Figure("cantilever.own_weight_reach", 1e3 * reach, "mm", 1e3 * reference[0], "elastica"))
    softening = float(robot.bodies[0].discretization_error().softening[2])  # type: ignore[attr-defined]
    figures.append(Figure("cantilever.order2_over_order1", softening, "x"))
    return Report(hanging, tuple(figures))


def _drop(robot: Robot, state: State) -> float:
    return HEIGHT / 2 - float(robot.displacement(state, "tip")[2])


def theory(robot: Robot, state: State) -> list[Figure]:
    """Where the tip is under the beam's weight and the load on it now, beside the elastica; and what Timoshenko's straight beam
    would say, which is right only for small loads."""
    weight, force = -DENSITY * float(robot.gravity[2]) * WIDTH * HEIGHT, float(robot.effort(state, "load")[0])
    reach, drop = elastica_tip(weight, force)
    small = 1e3 * timoshenko_deflection(force, weight)
    return [
        Figure("tip drop", 1e3 * _drop(robot, state), "mm", 1e3 * drop, "elastica: any bending"),
        Figure("tip reach", 1e3 * float(robot.displacement(state, "tip")[0]), "mm", 1e3 * reach, "elastica"),
        Figure("drop if it bent little", np.nan, "mm", small, "Timoshenko: small loads only"),
    ]


def timoshenko_deflection(force: float, weight: float = 0.0) -> float:
    """Drop [m] of the tip under a force [N] there and a weight [N/m] along the beam: F L^3 / (3 E I) + F L / (k G A) +
    w L^4 / (8 E I) + w L^2 / (2 k G A), with the shear factor k = 10 (1 + nu) / (12 + 11 nu) (Cowper 1966)."""
    E, nu = LAW.E, LAW.nu
    area, inertia = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12
    shear = 10 * (1 + nu) / (12 + 11 * nu) * E / (2 * (1 + nu)) * area
    bending = force * LENGTH**3 / 3 + weight * LENGTH**4 / 8
    return bending / (E * inertia) + (force * LENGTH + weight * LENGTH**2 / 2) / shear


@lru_cache(maxsize=64)
def elastica_tip(weight: float, force: float = 0.0) -> tuple[float, float]:
    """Reach and drop [m] of the tip of an inextensible beam under `weight` [N/m] and a force [N] down at its tip:
    E I theta'' = -(w (L - s) + F) cos theta with theta(0) = 0, theta'(L) = 0, solved as a boundary value problem; theta is
    measured downwards from the x axis."""
    from scipy.integrate import solve_bvp, trapezoid

    stiffness = LAW.E * WIDTH * HEIGHT**3 / 12
    s = np.linspace(0, LENGTH, 401)

    def slope(s: np.typing.NDArray[np.float64], y: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.float64]:
        return np.array([y[1], -(weight * (LENGTH - s) + force) * np.cos(y[0]) / stiffness])

    solution = solve_bvp(slope, lambda a, b: np.array([a[0], b[1]]), s, np.zeros((2, len(s))), tol=1e-8)
    theta = solution.sol(s)[0]
    return float(trapezoid(np.cos(theta), s)), float(trapezoid(np.sin(theta), s))


EXHIBIT = Follower("a silicone beam under its own weight, beside beam theory", build, report, theory=theory)
