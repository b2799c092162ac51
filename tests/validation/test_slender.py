"""Slender bodies that bend and twist by a lot, in one go: where they end, and that it takes few factorizations."""

from __future__ import annotations

import numpy as np
import pytest
from theory import Beam, beam_root, traction_points

from pliant.body import TetBody
from pliant.material import Corotational, MooneyRivlin, NeoHookean, StVenantKirchhoff
from pliant.motion import Statics
from pliant.port import Force, Point
from pliant.robot import Robot
from pliant.shape import make

MOST = 20
"""Iterations with default settings."""
LAWS = [Corotational, StVenantKirchhoff, NeoHookean]


@pytest.mark.filterwarnings("ignore:four-node tets lock")
@pytest.mark.parametrize(("size", "order"), [(4.25e-3, 1), (2.2e-3, 1), (4.25e-3, 2)])
def test_a_slender_cylinder_falls_under_its_weight_in_few_iterations(size, order, figure):
    """A rod of silicone, 182 mm long and 4.25 mm in radius, held at one end; with ten-node tets its tip ends within 1 % of its
    length from the elastica."""
    length, radius, density = 0.182, 4.25e-3, 963.0
    law = MooneyRivlin.from_constants(C10=101.7e3, C01=151.1e3, K=1e7)
    mesh = make.cylinder(radius, length, size, axis="x")
    body = TetBody(mesh, law, density=density, order=order, fixed=mesh.where(x_below=0))
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.sense("tip", Point(near=(length, 0, 0)))
    result = Statics(robot).solve().require()
    figure(f"slender.cylinder_order{order}_{1e3 * size:.1f}_mm", result.iterations, "")
    assert result.iterations <= MOST
    if order == 2:
        area, second = 1.5 * 3**0.5 * radius**2, 5 * 3**0.5 / 16 * radius**4  # one ring of prisms: a hexagon
        side = (12 * second) ** 0.25  # of a square that is as stiff
        weight = density * 9.81 * area
        reach, drop, _ = Beam(length, side, side, E=law.E, nu=law.nu).elastica(0.0, weight)
        x, _, z = robot.displacement(result.state, "tip")
        assert np.hypot(x - reach, -z - drop) < 0.01 * length


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("angle", [30, 60, 90])
def test_the_princeton_beam_bends_and_twists_in_few_iterations(law, angle, figure):
    """Aluminium, 508 x 12.7 x 3.175 mm, with 13.345 N at its end, askew by an angle (Dowell and Traybar 1975)."""
    length, height, width = 0.508, 12.7e-3, 3.175e-3
    mesh = make.box((length, width, height), (40, 1, 2), origin=(0, -width / 2, -height / 2))
    robot = Robot(TetBody(mesh, law(E=71.7e9, nu=0.31), order=2, fixed=mesh.where(x_below=0)))
    end = traction_points(mesh, lambda p: np.isclose(p[:, 0], length), 2)
    side = np.radians(angle)
    robot.impose("load", Force(end, direction=(0, np.sin(side), -np.cos(side))), effort=13.345)
    result = Statics(robot).solve().require()
    figure(f"slender.princeton_{angle}_{law.__name__}", result.iterations, "")
    assert result.iterations <= MOST
    if angle == 90:
        drop = float(robot.displacement(result.state, "load")[0])
        expected = Beam(length, height, width, E=71.7e9, nu=0.31).elastica(13.345, 0.0)[1]
        assert drop == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("slenderness", [100, 500])
def test_a_very_slender_beam_follows_the_elastica_in_few_iterations(law, slenderness, figure):
    """P L^2 / E I = 1; P2 tets, as long as needed to be few, bend in the plane as the elastica does to 1 %."""
    beam = Beam(1.0, 1 / slenderness, 1 / slenderness, E=1e6, nu=0.0)
    mesh = beam.mesh(40, 2)
    robot = Robot(TetBody(mesh, law(E=beam.E, nu=beam.nu), order=2, sliding=beam_root(mesh)))
    force = beam.bending / beam.length**2
    end = traction_points(mesh, lambda p: np.isclose(p[:, 0], beam.length), 2)
    robot.impose("load", Force(end, direction=(0, 0, -1)), effort=force)
    result = Statics(robot).solve().require()
    figure(f"slender.beam_{slenderness}_{law.__name__}", result.iterations, "")
    assert result.iterations <= 13
    drop = float(robot.displacement(result.state, "load")[0])
    assert drop == pytest.approx(beam.elastica(force, 0.0)[1], rel=0.01)
