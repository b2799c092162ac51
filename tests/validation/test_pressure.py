"""Pressure in cavities: hydrostatic blocks, Lamé's thick sphere, a rubber balloon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from pliant.body import TetBody
from pliant.material import Linear, NeoHookean, lame_constants
from pliant.motion import Statics, stability
from pliant.port import Cavity, Point
from pliant.robot import Robot, State
from pliant.shape import SurfaceMesh, TetMesh, make, solids


@pytest.mark.parametrize(("order", "volume"), [(1, "elements"), (1, "patches"), (2, "elements")])
@pytest.mark.parametrize("stretch", [0.8, 1.2])
def test_pressure_all_around_a_block_gives_a_uniform_stress(order, volume, stretch):
    """Pulled outwards everywhere by the same pressure, a rubber block grows uniformly and its stress is that pressure.

    With F = l I the law's stress is P = mu (l - l^2) + k (l^3 - 1) l^2 times I, and the pressure p = P / l^2.
    """
    law = NeoHookean(E=1e5, nu=0.4)
    lam, mu = lame_constants(law.E, law.nu)
    pressure = mu / stretch - mu + (lam + mu) * (stretch**3 - 1)
    mesh = make.box((0.02, 0.03, 0.02), (2, 3, 2), center=(0, 0, 0))
    planes = [(np.isclose(mesh.nodes[:, axis], 0), np.eye(3)[axis]) for axis in (0, 2)]
    middle = (np.abs(mesh.nodes[:, [0, 2]]) < 1e-9).all(axis=1) & np.isclose(mesh.nodes[:, 1], -0.015)
    body = TetBody(mesh, law, order=order, volume=volume, sliding=[*planes, (middle, (0, 1, 0))])
    robot = Robot(body)
    robot.impose("around", Cavity(mesh.surface()), effort=pressure)
    x = Statics(robot, tolerance=1e-12, load_steps=4).solve().require().state.x
    expected = stretch * body.rest + [0, (stretch - 1) * 0.015, 0]
    assert x == pytest.approx(expected, abs=1e-9 * 0.03)
    assert np.abs(body.fields(x).stress - pressure * np.eye(3)).max() < 1e-7 * abs(pressure)


@dataclass(frozen=True)
class HollowSphere:
    """A hollow sphere of ten-node tets, its rigid motion held by nodes on the coordinate planes.

    The tets have straight edges, so the walls are polyhedra whose corners are on the true spheres and whose faces are
    inside. Theory is asked for the radii of the spheres of the same *volume*: the pressure does its work on the volume,
    and so the error of second order in the size drops out.
    """

    inner: float
    outer: float
    size: float
    law: Linear | NeoHookean

    @cached_property
    def body(self) -> TetBody:
        mesh = make.hollow_sphere(self.inner, self.outer, self.size)
        planes = [(np.abs(mesh.nodes[:, k]) < 1e-9, np.eye(3)[k]) for k in range(3)]
        return TetBody(mesh, self.law, order=2, sliding=planes)

    @cached_property
    def walls(self) -> tuple[SurfaceMesh, SurfaceMesh]:
        """The inner and the outer wall."""
        first, second = self.body.mesh.surface().parts()
        return (first, second) if first.diameter < second.diameter else (second, first)

    @cached_property
    def radii(self) -> tuple[float, float]:
        """Radii [m] of the spheres that have the volumes of the two walls."""
        a, b = ((3 * abs(wall.volume) / (4 * np.pi)) ** (1 / 3) for wall in self.walls)
        return a, b

    @cached_property
    def inner_nodes(self) -> np.ndarray:
        """Nodes of the inner wall, middles of edges included."""
        return np.flatnonzero(np.linalg.norm(self.body.rest, axis=1) < 1.000001 * self.inner)

    def inflated(self, pressure: float, load_steps: int = 1) -> tuple[State, float]:
        """The equilibrium under an inner pressure [Pa] and the gain of the enclosed volume [m^3]."""
        robot = Robot(self.body)
        robot.impose("air", Cavity(self.walls[0]), effort=pressure)
        state = Statics(robot, load_steps=load_steps).solve().require().state
        return state, float(robot.displacement(state, "air")[0])


def test_thick_sphere_under_inner_pressure_is_lames(figure):
    """Displacement (by volume, and at the nodes of the wall) and hoop stress at the inner wall are within 1 % of Lamé:
    u = p a^3 / (b^3 - a^3) / E [(1 - 2 nu) r + (1 + nu) b^3 / (2 r^2)], s = p a^3 / (b^3 - a^3) [1 + b^3 / (2 r^3)]."""
    law, pressure = Linear(E=1e5, nu=0.3), 1.0
    sphere = HollowSphere(0.01, 0.02, 0.005, law)
    state, growth = sphere.inflated(pressure)
    a, b = sphere.radii
    scale = pressure * a**3 / (b**3 - a**3)

    def move(r):
        return scale / law.E * ((1 - 2 * law.nu) * r + (1 + law.nu) * b**3 / (2 * r**2))

    wall = sphere.inner_nodes
    x = sphere.body.rest[wall]
    r = np.linalg.norm(x, axis=1)
    n = x / r[:, None]
    moved = np.einsum("ni,ni->n", state.x[wall] - x, n)
    stress = sphere.body.fields(state.x).stress[wall]
    hoop = (np.trace(stress, axis1=1, axis2=2) - np.einsum("ni,nij,nj->n", n, stress, n)) / 2
    corner = wall < len(sphere.body.mesh.nodes)
    by_volume = growth / (4 * np.pi * a**2) / move(a)
    at_corners, at_middles = ((moved / move(r))[kind].mean() for kind in (corner, ~corner))
    hoops = (hoop / (scale * (1 + b**3 / (2 * r**3)))).mean()
    figure("lame.tets", len(sphere.body.mesh.tets), "tets")
    figure("lame.displacement_by_volume", by_volume, reference=1, source="Lamé")
    figure("lame.displacement_at_corners", at_corners, reference=1, source="Lamé")
    figure("lame.displacement_at_middles", at_middles, reference=1, source="Lamé")
    figure("lame.hoop_stress", hoops, reference=1, source="Lamé")
    assert by_volume == pytest.approx(1, abs=0.01)
    assert at_corners == pytest.approx(1, abs=0.01)
    assert at_middles == pytest.approx(1, abs=0.01)
    assert hoops == pytest.approx(1, abs=0.01)


def balloon_pressure(stretch: float, a: float, b: float, mu: float) -> float:
    """Inner pressure of an incompressible neo-Hookean sphere, inner radius a blown up to stretch * a.

    A shell at rest radius R goes to r = l R with r^3 - R^3 = (stretch^3 - 1) a^3, so its stretches are l, l, l^-2. Radial
    balance is d(s_rr)/dr = 2 (s_tt - s_rr) / r with s_tt - s_rr = mu (l^2 - l^-4). From r^3 - R^3 = c follows
    dr / r = dl / (l - l^4), so s_rr(b) - s_rr(a) = p = 2 mu int (l^2 - l^-4) / (l - l^4) dl = -2 mu int (l^-2 + l^-5) dl
    from l_a to l_b, p = mu [2 / l_b + 1 / (2 l_b^4) - 2 / l_a - 1 / (2 l_a^4)] (Green and Zerna 1954).
    """
    end = (1 + (stretch**3 - 1) * (a / b) ** 3) ** (1 / 3)
    return mu * (2 / end + 1 / (2 * end**4) - 2 / stretch - 1 / (2 * stretch**4))


@pytest.mark.thorough
@pytest.mark.parametrize("stretch", [1.6])
def test_a_rubber_balloon_follows_its_closed_form(stretch, figure):
    """Under the pressure of a stretch, a nearly incompressible sphere gets there: the pressure that belongs to the stretch
    reached is within 1 % of the one applied, and so is the stretch of the one asked for."""
    law = NeoHookean(E=1e5, nu=0.499)
    sphere = HollowSphere(0.01, 0.02, 0.005, law)
    a, b = sphere.radii
    mu = lame_constants(law.E, law.nu)[1]
    pressure = balloon_pressure(stretch, a, b, mu)
    state, growth = sphere.inflated(pressure, load_steps=6)
    reached = (1 + growth / (4 / 3 * np.pi * a**3)) ** (1 / 3)
    ratio = pressure / balloon_pressure(reached, a, b, mu)
    figure(f"balloon.stretch_{stretch}", reached, "", stretch, "closed form")
    figure(f"balloon.pressure_at_{stretch}", ratio, reference=1, source="closed form")
    assert len(sphere.body.inverted_elements(state.x)) == 0
    assert ratio == pytest.approx(1, abs=0.01)
    assert reached == pytest.approx(stretch, abs=0.03)


@pytest.mark.parametrize(
    ("nu", "size"),
    [
        pytest.param(0.499, 0.0075, marks=pytest.mark.thorough),
        pytest.param(0.49, 0.005, marks=pytest.mark.slow),
    ],
)
def test_a_balloon_is_blown_up_past_its_limit_point(nu, size, figure):
    """With its volume given, a balloon grows to 2.5 times its radius while the pressure falls, within 0.5 % of the closed form.
    There its air is softer than nothing (W < 0), yet the volume that is held keeps it stable."""
    law = NeoHookean(E=1e5, nu=nu)
    sphere = HollowSphere(0.01, 0.02, size, law)
    a, b = sphere.radii
    mu = lame_constants(law.E, law.nu)[1]
    robot = Robot(sphere.body)
    robot.impose("air", Cavity(sphere.walls[0]), displacement=0.0)
    state, pressures = None, []
    for stretch in (1.8, 2.5):
        robot.set_displacement("air", (stretch**3 - 1) * 4 / 3 * np.pi * a**3)
        state = Statics(robot).solve(state).require().state
        pressures.append(robot.effort(state, "air")[0])
        ratio = pressures[-1] / balloon_pressure(stretch, a, b, mu)
        figure(f"balloon.held_nu_{nu}_pressure_at_{stretch}", ratio, reference=1, source="closed form")
        assert ratio == pytest.approx(1, abs=0.005)
    assert pressures[1] < 0.97 * pressures[0]
    model = robot.linearize(state, signed=True).model
    assert model.negatives == 1
    assert model.W[0, 0] < 0.0
    assert stability(robot, state).is_stable
    robot = Robot(sphere.body)  # and under the same pressure, not held, it is not
    robot.impose("air", Cavity(sphere.walls[0]), effort=pressures[1])
    assert stability(robot, state).excess == 1


def test_the_closed_form_of_the_balloon_itself():
    """For a thin wall it is Laplace's law with the neo-Hookean tension: p = 2 mu (b - a) / a (1/l - 1/l^7)."""
    wall = 1e-6
    for stretch in (1.1, 1.5, 3.0):
        thin = 2 * wall * (1 / stretch - 1 / stretch**7)
        assert balloon_pressure(stretch, 1.0, 1 + wall, 1.0) == pytest.approx(thin, rel=1e-4)
    stretches = np.linspace(1.2, 1.6, 4001)
    top = stretches[np.argmax([balloon_pressure(l, 1.0, 1 + wall, 1.0) for l in stretches])]
    assert top == pytest.approx(7 ** (1 / 6), rel=1e-3)


@pytest.mark.parametrize("order", [1, 2])
def test_a_wall_of_few_big_triangles_is_the_same_cavity(order, figure):
    """The chamber as the twelve triangles of a box blows a block up as the many triangles of the mesh's own wall do: volume
    and rise of the top agree to 3 %."""
    chamber = solids.box((0.024, 0.024, 0.008), centered=True)
    mesh = hollow_block()
    own = min(mesh.surface().parts(), key=lambda part: part.diameter)
    assert own.volume == pytest.approx(-chamber.volume)
    figures = []
    for wall in (chamber, own):
        body = TetBody(mesh, NeoHookean(E=1e5, nu=0.4), order=order, fixed=mesh.where(z_below=-0.008))
        robot = Robot(body)
        robot.impose("air", Cavity(wall), effort=1e3)
        robot.sense("top", Point(near=(0, 0, 0.008)))
        state = Statics(robot).solve().require().state
        figures.append([robot.displacement(state, "air")[0] * 1e6, (robot.displacement(state, "top")[2] - 0.008) * 1e3])
    for what, unit, coarse, own in zip(("volume_ml", "rise_mm"), ("ml", "mm"), *figures, strict=True):
        figure(f"cavity.coarse_wall_order{order}_{what}", coarse, unit, own, "the mesh's own wall")
    assert figures[0] == pytest.approx(figures[1], rel=0.03)


def hollow_block() -> TetMesh:
    """A block of 40 x 40 x 16 mm around the origin, in cells of 4 mm, with the chamber left out."""
    box = make.box((0.04, 0.04, 0.016), (10, 10, 4), center=(0, 0, 0))
    middles = box.nodes[box.tets].mean(axis=1)
    solid = (np.abs(middles) > [0.012, 0.012, 0.004]).any(axis=1)
    used, tets = np.unique(box.tets[solid], return_inverse=True)
    return TetMesh(box.nodes[used], tets.reshape(-1, 4))
