"""Rods against closed forms: straight and curved, small and large, in rest and motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from theory import Beam, fitted_slope

import pliant as pl
from pliant.algebra.rotation import cross_matrix, exponential, to_quaternion
from pliant.errors import NotConvergedError

BEAM = Beam(1.0, 0.02, 0.01, E=1e9, nu=0.3)
"""Slender: L/h = 100."""


def straight(beam=BEAM, count=20, shear=True, **given):
    """A rod of this beam along x, clamped at its beginning."""
    section = pl.Section.rectangle(beam.width, beam.height)
    if not shear:
        section = pl.Section(section.area, section.Iy, section.Iz, section.J, shear=(np.inf, np.inf))
    line = pl.Curve([(0, 0, 0), (beam.length, 0, 0)])
    return pl.RodBody(line, section, beam.E, beam.nu, beam.density, count=count, fixed="start", **given)


def loaded(body, force, at, **given):
    """The rod in balance under a dead force at a place at rest."""
    robot = pl.Robot(body)
    robot.impose("load", pl.Point(at), effort=force)
    return pl.Statics(robot, **given).solve().require().state


@pytest.mark.parametrize("count", [1, 7])
def test_a_cantilever_is_timoshenkos(count, figure):
    """F L^3 / 3EI + F L / kGA of a stocky beam, exactly, with any number of elements; in both planes."""
    beam = Beam(0.1, 0.02, 0.03, E=1e7, nu=0.3)
    state = loaded(straight(beam, count), (0, 1e-5, 1e-5), (0.1, 0, 0))
    tip = state.x[4 * count] - (0.1, 0, 0)
    assert tip[2] == pytest.approx(beam.tip_deflection(1e-5), rel=1e-6)
    assert tip[1] == pytest.approx(beam.turned().tip_deflection(1e-5), rel=1e-6)
    if count == 1:
        figure("rod.cantilever", tip[2] / beam.tip_deflection(1e-5), reference=1, source="Timoshenko, one element")


@pytest.mark.parametrize("load", [1, 5, 10])
def test_a_dead_force_bends_an_elastica(load, figure):
    """Reach and drop within 0.1 % at 20 elements, P L^2 / EI = 1, 5, 10."""
    force = load * BEAM.bending
    state = loaded(straight(shear=False), (0, 0, -force), (1, 0, 0), max_iterations=200)
    reach, drop, _ = BEAM.elastica(force, 0.0)
    tip = state.x[80]
    figure(f"rod.elastica_{load}", -tip[2] / drop, reference=1, source="elastica, 20 elements")
    assert tip[0] == pytest.approx(reach, rel=1e-3)
    assert -tip[2] == pytest.approx(drop, rel=1e-3)


def test_the_error_falls_with_a_power_of_the_length_of_elements(figure):
    """Tip of the elastica at P L^2 / EI = 5 with 4, 8, 16 elements against 256: fourth order, for a straight element is exact
    at small strains; second order is what its strain promises, and what a curved rod in space has (`test_the_bend...`)."""
    force, counts = 5 * BEAM.bending, np.array([4, 8, 16])
    tips = [loaded(straight(count=n), (0, 0, -force), (1, 0, 0), max_iterations=300).x[4 * n] for n in (*counts, 256)]
    slope = fitted_slope(1 / counts, [np.linalg.norm(tip - tips[-1]) for tip in tips[:-1]])
    figure("rod.slope", slope, reference=4)
    assert 3.5 < slope < 4.5


@pytest.mark.parametrize("count", [5, 12])
def test_an_imposed_rotation_bends_a_full_circle(count):
    """The end turned once about y, step by step: a circle, M = 2 pi EI / L everywhere, to 1e-8 with any number of elements."""
    body = straight(count=count)
    robot = pl.Robot(body)
    robot.impose("end", pl.Frame("end", rows="rx ry rz"), displacement=(1, 0, 0, 0, 1, 0, 0))
    state = robot.rest()
    for angle in np.linspace(0, 2 * np.pi, 25)[1:]:
        pose = robot.displacement(state, "end", as_target=True)
        pose[3:] = to_quaternion(exponential((0, -angle, 0)))
        robot.set_displacement("end", pose)
        state = pl.Statics(robot, max_iterations=200).solve(state).require().state
    k = np.arange(count + 1) / count * 2 * np.pi
    circle = np.stack([np.sin(k), 0 * k, 1 - np.cos(k)], axis=1) / (2 * np.pi)
    assert body.centreline(state.x) == pytest.approx(circle, abs=1e-8)
    assert body.section_forces(state.x).moment[:, :, 1] == pytest.approx(-2 * np.pi * BEAM.bending, rel=1e-7)


SECTIONS = {"square": pl.Section.rectangle(0.01, 0.01), "strip": pl.Section.rectangle(0.05, 0.005)}
MOMENTS = {"dead": (pl.Frame("end", rows="rx ry rz"), (0, 1, 0)), "following": (pl.Moment("end", axis=(0, 1, 0)), 1)}


@pytest.mark.parametrize("kind", MOMENTS)
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("load_steps", [1, 16])
def test_a_given_moment_bends_a_full_circle(kind, section, load_steps):
    """M = 2 pi EI / L about a fixed direction, or about one that follows the end, at once or in parts: a circle to 1e-9.
    In parts each is found in at most five iterations."""
    body = pl.RodBody(pl.Curve([(0, 0, 0), (1, 0, 0)]), SECTIONS[section], 1e9, 0.3, 1000.0, count=20, fixed="start")
    robot, (port, rows) = pl.Robot(body), MOMENTS[kind]
    robot.impose("end", port, effort=-2 * np.pi * 1e9 * SECTIONS[section].Iy * np.array(rows))
    result = pl.Statics(robot, load_steps=load_steps).solve().require()
    k = np.arange(21) / 20 * 2 * np.pi
    circle = np.stack([np.sin(k), 0 * k, 1 - np.cos(k)], axis=1) / (2 * np.pi)
    assert body.centreline(result.state.x) == pytest.approx(circle, abs=1e-9)
    assert load_steps == 1 or result.iterations <= 5 * load_steps


@pytest.mark.parametrize("kind", MOMENTS)
def test_moments_keep_their_direction_in_space_or_in_the_part(kind):
    """Beside a force across, so that the end turns about all axes: the moment in the last section is the given one, seen from
    space or from the end; by Newton's method, quadratically."""
    body = straight(count=20)
    robot, (port, rows) = pl.Robot(body), MOMENTS[kind]
    M = -2 * BEAM.bending
    robot.impose("end", port, effort=M * np.array(rows))
    robot.impose("push", pl.Force((1, 0, 0), direction=(0, 1, 0)), effort=0.7 * BEAM.bending)
    result = pl.Statics(robot, tolerance=1e-12).solve().require()
    frame = body.frames(result.state.x)[-1]
    assert np.abs(frame - np.eye(3)).max() > 0.5
    seen = body.section_forces(result.state.x).moment[-1, -1]
    expected = M * np.array([0, 1, 0]) if kind == "following" else frame.T @ (0, M, 0)
    assert seen == pytest.approx(expected, abs=1e-9 * abs(M))
    last = [r for r in result.history if r < 1.0][:2]
    assert last[-1] < 1e-3 * last[0]


def test_several_moments_bend_several_rods():
    """One that keeps its direction and one that follows, on two rods of a robot, to different angles."""
    lines = [pl.Curve([(0, y, 0), (1, y, 0)]) for y in (0.0, 0.5)]
    body = pl.RodBody(lines, SECTIONS["square"], 1e9, 0.3, 1000.0, count=12, fixed=["0.start", "1.start"])
    robot, EI = pl.Robot(body), 1e9 * SECTIONS["square"].Iy
    robot.impose("dead", pl.Frame("0.end", rows="rx ry rz"), effort=(0, -3.0 * EI, 0))
    robot.impose("following", pl.Moment("1.end", axis=(0, 1, 0)), effort=-4.0 * EI)
    x = pl.Statics(robot, load_steps=8).solve().require().state.x
    for y, angle, section in ((0.0, 3.0, 12), (0.5, 4.0, 25)):
        assert x[4 * section] == pytest.approx([np.sin(angle) / angle, y, (1 - np.cos(angle)) / angle], abs=1e-9)


def test_a_moment_that_is_not_found_is_told_with_the_remedy():
    """Of one that statics has no time to find it is said what to do."""
    robot = pl.Robot(straight(count=10))
    robot.impose("end", pl.Moment("end", axis=(0, 1, 0)), effort=-2 * np.pi * BEAM.bending)
    with pytest.raises(NotConvergedError, match=r"moment of 'end' has no potential.*more parts.*give the rotation"):
        pl.Statics(robot, max_iterations=2).solve().require()


@pytest.mark.parametrize("slender", [20, 60, 100, 120, 200, 500, 1000])
def test_newtons_iterations_do_not_grow_with_slenderness(slender, figure):
    """P L^2 / EI = 1 in one go: at most eight at any L/h, by the efforts that a step leads to be expected."""
    beam = Beam(1.0, 1 / slender, 1 / slender, E=1e9, nu=0.3)
    robot = pl.Robot(straight(beam))
    robot.impose("tip", pl.Force((1, 0, 0), direction=(0, 0, -1)), effort=beam.bending)
    result = pl.Statics(robot).solve().require()
    figure(f"rod.newton_{slender}", result.iterations, reference=13, source="bound")
    assert result.iterations <= 8


def cosserat_tip(radius, angle, force, EA, kGA, GJ, EI):
    """Tip of an arc in the plane of x and y, clamped at 0 along x, under a dead force: shooting for the moment at the clamp.

    r' = R (e + C^-1 R^T n), R' = R [k0 + D^-1 R^T m], m' = -r' x n, m(L) = 0 (Antman 2005)."""

    def rates(s, y, n):
        _r, R, m = y[:3], y[3:12].reshape(3, 3), y[12:]
        along = R @ (np.array([1, 0, 0]) + R.T @ n / np.array([EA, kGA, kGA]))
        bend = np.array([0, 0, 1 / radius]) + R.T @ m / np.array([GJ, EI, EI])
        return np.concatenate([along, (R @ cross_matrix(bend)).ravel(), -np.cross(along, n)])

    def end(m, n):
        start = np.concatenate([np.zeros(3), np.eye(3).ravel(), m])
        return solve_ivp(rates, (0, radius * angle), start, args=(n,), rtol=1e-9, atol=1e-9).y[:, -1]

    m = np.zeros(3)
    for share in np.linspace(0, 1, 5)[1:]:
        n = share * np.asarray(force)
        m = fsolve(lambda m, n=n: end(m, n)[12:], m, xtol=1e-12)
    return end(m, n)[:3]


def test_the_bend_of_bathe_and_bolourchi(figure):
    """45 degrees of radius 100, 600 lb across: within 1 % of the tip's way as published (15.9, 47.2, 53.4, with eight
    elements), and within 0.1 % of Cosserat's equations by shooting, with 16; the error falls with the square of the length of
    elements."""
    bend = pl.Curve.arc((0, 100, 0), (0, 0, 0), (0, 0, 1), np.pi / 4)
    section, before = pl.Section.rectangle(1.0, 1.0), bend.at(bend.length)[0]
    kGA = section.shear_factors(0.0)[0] * 5e6
    exact = cosserat_tip(100.0, np.pi / 4, (0, 0, 600.0), 1e7, kGA, 5e6 * section.J, 1e7 / 12)
    errors, counts = [], np.array([4, 8, 16])
    for count in counts:
        body = pl.RodBody(bend, section, 1e7, 0.0, 1.0, count=int(count), fixed="start")
        tip = body.centreline(loaded(body, (0, 0, 600.0), before).x)[-1]
        errors.append(np.linalg.norm(tip - exact) / np.linalg.norm(tip - before))
    assert np.linalg.norm(tip - (47.2, 15.9, 53.4)) < 0.01 * np.linalg.norm(tip - before)
    figure("rod.bend_45", errors[-1], reference=0, source="Cosserat's equations by shooting")
    slope = fitted_slope(1 / counts, errors)
    figure("rod.slope_in_space", slope, reference=2)
    assert errors[-1] < 1e-3
    assert 1.8 < slope < 2.5


@pytest.mark.parametrize("angle", [1e-3, 2.0])
def test_torsion(angle):
    """T = G J angle / L at small and at large angles; nothing else moves."""
    body = straight()
    robot = pl.Robot(body)
    turned = to_quaternion(exponential((angle, 0, 0)))
    robot.impose("twist", pl.Frame("end", rows="rx ry rz"), displacement=(1, 0, 0, *turned))
    state = pl.Statics(robot).solve().require().state
    expected = BEAM.E / 2.6 * pl.Section.rectangle(0.02, 0.01).J * angle
    assert robot.effort(state, "twist") == pytest.approx([expected, 0, 0], rel=1e-6, abs=1e-6 * expected)
    assert body.centreline(state.x) == pytest.approx(body.centreline(body.rest), abs=1e-9)


def test_a_helical_spring(figure):
    """Five turns with a force along the axis on a rigid arm: Castigliano's compliance, with twist P R cos a, bending P R sin a,
    shear and tension; and G d^4 / (8 D^3 n) of the handbooks, both within 1 %."""
    D, d, turns, pitch, E, nu = 0.02, 0.001, 5, 0.002, 2e11, 0.3
    coil = pl.Curve.helix((0, 0, 0), (D / 2, 0, 0), (0, 0, 1), turns=turns, pitch=pitch)
    wire = pl.Section.circle(d)
    spring = pl.RodBody(coil, wire, E, nu, 7800, count=24 * turns, fixed="start")
    top = np.array([0, 0, turns * pitch])
    arm = pl.RigidBody(mass=1e-3, center=top, inertia=(1e-8,) * 3)
    robot = pl.Robot({"spring": spring, "arm": arm}, joints=[pl.Weld("arm", ("spring", "end"))])
    robot.impose("load", pl.Force(top, direction=(0, 0, 1)), effort=0.01, body="arm")
    state = pl.Statics(robot).solve().require().state
    found = float(robot.displacement(state, "load")[0]) / 0.01
    a, G = np.arctan(pitch / (np.pi * D)), E / (2 * (1 + nu))
    twist, bend = (D / 2 * np.cos(a)) ** 2 / (G * wire.J), (D / 2 * np.sin(a)) ** 2 / (E * wire.Iy)
    across = np.cos(a) ** 2 / (wire.shear_factors(nu)[0] * G * wire.area) + np.sin(a) ** 2 / (E * wire.area)
    compliance = coil.length * (twist + bend + across)
    figure("rod.spring", found / compliance, reference=1, source="Castigliano")
    assert found == pytest.approx(compliance, rel=5e-3)
    assert found == pytest.approx(8 * D**3 * turns / (G * d**4), rel=0.01)


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_natural_frequencies(mass, figure):
    """The first three of a slender cantilever in each plane (four in the softer one), b^2 / (2 pi L^2) sqrt(EI / rho A) with b
    = 1.875, 4.694, 7.855, within 1 % at 30 elements."""
    found = pl.natural_modes(pl.Robot(straight(count=30, mass=mass)), 6).frequencies
    roots = np.array([1.875104, 4.694091, 7.854757, 10.995541]) ** 2 / (2 * np.pi)
    speed = [np.sqrt(beam.bending / (beam.density * beam.area)) for beam in (BEAM, BEAM.turned())]
    expected = np.sort(np.outer(speed, roots).ravel())[:6]
    for k, ratio in enumerate(found / expected):
        figure(f"rod.frequency_{mass}_{k}", ratio, reference=1, source="Euler and Bernoulli")
    assert found == pytest.approx(expected, rel=1e-2)


def test_a_column_buckles_at_eulers_load():
    """pi^2 EI / 4 L^2 of a clamped column: stable one percent below, unstable one percent above; past it, it bends aside."""
    body = straight()
    critical = np.pi**2 / 4 * BEAM.bending
    for share, stable in ((0.99, True), (1.01, False)):
        robot = pl.Robot(body)
        robot.impose("load", pl.Point((1, 0, 0)), effort=(-share * critical, 0, 0))
        state = pl.Statics(robot, branch="any").solve().state
        assert np.abs(state.x[::4, 1:]).max() < 1e-9
        assert pl.stability(robot, state).is_stable is stable


def test_weight_is_a_load_per_length():
    """Under gravity the tip of a slender cantilever sinks by w L^4 / 8 EI, and so it does under a force that is shared by
    length."""
    beam = Beam(0.5, 0.01, 0.01, E=1e9, nu=0.3)
    body = straight(beam, 10)
    robot = pl.Robot(body, gravity=(0, 0, -1e-2))
    sunk = pl.Statics(robot).solve().require().state.x[40, 2]
    weight = beam.density * beam.area * 1e-2
    assert sunk == pytest.approx(-weight * 0.5**4 / 8 / beam.bending - weight * 0.5**2 / 2 / beam.shear, rel=1e-5)
    robot = pl.Robot(body)
    robot.impose("line", pl.Force(*body.along(), direction=(0, 0, -1)), effort=weight * 0.5)
    assert pl.Statics(robot).solve().require().state.x[40, 2] == pytest.approx(sunk, rel=1e-6)


def test_a_rod_welded_to_a_block_of_tets_is_like_tets_alone(figure):
    """Half of a bar as a rod, welded to the end of the other half of ten-node tets: the tip sinks as that of tets alone, within
    2 %."""
    mesh = pl.make.box((0.1, 0.01, 0.01), (20, 2, 2), origin=(0, -0.005, -0.005))
    half = pl.make.box((0.05, 0.01, 0.01), (10, 2, 2), origin=(0, -0.005, -0.005))
    law = pl.Corotational(E=1e6, nu=0.3)
    found = []
    for mixed in (False, True):
        own = half if mixed else mesh
        soft = pl.TetBody(own, law, order=2, fixed=own.where(x_below=0))
        bodies, joints, end = {"soft": soft}, [], "soft"
        if mixed:
            line = pl.Curve([(0.05, 0, 0), (0.1, 0, 0)])
            bodies["rod"] = pl.RodBody(line, pl.Section.rectangle(0.01, 0.01), 1e6, 0.3, 1000, count=8)
            joints, end = [pl.Weld(("rod", "start"), ("soft", half.where(x_above=0.05)))], "rod"
        robot = pl.Robot(bodies, joints=joints)
        robot.impose("load", pl.Force((0.1, 0, 0), direction=(0, 0, -1)), effort=0.01, body=end)
        found.append(float(robot.displacement(pl.Statics(robot).solve().require().state, "load")[0]))
    figure("rod.welded_to_tets", found[1] / found[0], reference=1, source="tets alone")
    assert found[0] > 0.003
    assert found[1] == pytest.approx(found[0], rel=0.02)
