"""Rods: sections as parts, their energy, mass, places, surface, and what is refused. Closed forms are in tests/validation."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from conftest import random_rotation
from pliant.algebra.rotation import exponential
from pliant.body import _rod_kernels as kernels
from pliant.body.assembly import Assembly
from pliant.body.inertia import Inertia
from pliant.errors import InputError

LINE = pl.Curve([(0, 0, 0), (0.2, 0, 0)])
BAR = pl.Section.rectangle(0.006, 0.003)


def rod(curve=LINE, section=BAR, **given):
    """Something like rubber."""
    return pl.RodBody(curve, section, E=1e7, nu=0.4, density=1100, **({"count": 6} | given))


def helix(**given):
    """A curved rod in space."""
    return rod(pl.Curve.helix((0, 0, 0), (0.03, 0, 0), (0, 0, 1), turns=0.8, pitch=0.04), **given)


def moved(body, rng, turn=0.3, shift=2e-3):
    """Nodes with every section moved by itself, as rigid parts are."""
    sections = body.rest.reshape(-1, 4, 3)
    out = np.empty_like(sections)
    for k, own in enumerate(sections):
        out[k] = own[0] + shift * rng.normal(size=3) + (own - own[0]) @ exponential(turn * rng.normal(size=3)).T
    return out.reshape(-1, 3)


def test_the_logarithm_is_that_of_rotations(rng):
    """Of two sections the strain is (v, theta) with exp of it the relative pose: u = V(theta) v in the first frame; from tiny
    angles to nearly half a turn."""
    body = rod(count=1)
    for angle in (1e-9, 1e-4, 0.3, 0.79, 0.8, 1.7, 2.6, 3.13):
        theta, v = angle * random_rotation(rng)[0], rng.normal(size=3)
        t = np.linspace(0, 1, 2001)
        turned = np.array([exponential(s * theta) for s in t]) @ v
        u = (0.5 * (turned[1:] + turned[:-1])).mean(axis=0)
        R = random_rotation(rng)
        first = body.size * np.concatenate([np.zeros((1, 3)), np.eye(3)])
        x = np.concatenate([first @ R.T, (first @ exponential(theta).T + u) @ R.T])
        out = np.empty((1, 7))
        kernels.find_strains(body.element_nodes, body.size, x, out)
        assert out[0, 3:6] == pytest.approx(theta, abs=2e-12 if angle < 3 else 1e-9)
        assert out[0, :3] == pytest.approx(v, rel=1e-5)


@pytest.mark.parametrize("make", [rod, helix])
def test_motion_of_the_whole_costs_nothing(make, rng):
    """No force beyond rounding after any rotation and shift; strains are zero."""
    body = make()
    x = body.rest @ random_rotation(rng).T + rng.normal(size=3)
    largest = (body.section_stiffness[:, 0] * body.lengths).max()
    assert np.abs(body.force(x)).max() < 1e-11 * largest
    assert np.abs(body.strains(x)).max() < 1e-10


def test_energy_is_finite_and_smooth_up_to_half_a_turn():
    """An element bent from 0 to 3.1 rad has the energy EI / L t^2 / 2, finite forces, and is counted as lost beyond 150
    degrees; at half a turn itself there is still no NaN."""
    body = rod(count=1)
    for angle in np.linspace(0, 3.1, 12):
        x = body.rest.copy()
        R = exponential([0, angle, 0])
        sinc = np.array([np.sin(angle), 0, np.cos(angle) - 1]) / angle if angle else np.array([1.0, 0, 0])
        x[4:] = 0.2 * sinc + (body.rest[4:] - body.rest[4]) @ R.T
        assert body.energy(x) == pytest.approx(0.5 * body.section_stiffness[0, 4] * angle**2, rel=1e-9, abs=1e-12)
        assert body.inverted_count(x) == len(body.inverted_elements(x)) == int(angle > np.deg2rad(150))
    x[4:] = body.rest[4] + (body.rest[4:] - body.rest[4]) @ exponential([0, np.pi, 0]).T
    assert np.isfinite(body.energy(x))
    assert np.isfinite(body.force(x)).all()
    assert np.isfinite(body.stiffness(x).toarray()).all()


@pytest.mark.parametrize("make", [rod, helix])
def test_the_tangent_of_parts_is_the_second_difference_of_the_energy(make, rng):
    """q -> E(x(q)) of sections as rigid parts: second differences equal the pulled-back exact tangent; the warped one equals it
    where there is no stress."""
    body = make(fixed="start")
    assembly = Assembly([body])
    start = assembly.moved(assembly.rest(), 0.1 * rng.normal(size=(assembly.coordinate_count, 3)) * [1e-2, 1e-2, 1e-2])
    values = np.zeros((assembly.block_count, 3, 3))
    force = np.zeros_like(start.x)
    body.accumulate(start.x, force, values[assembly.body_slices[0]], exact=1.0)
    T = assembly.slope(start)
    assembly.pull_back(T, values, force)
    K = assembly.pattern.to_csc(values).toarray()
    scale = np.where(np.arange(len(K)) // 3 % 2 == 0, body.cell_size, 1.0)  # shift, turn, shift ...
    for _ in range(4):
        d = scale * rng.normal(size=len(K))
        h = 1e-4
        ways = [assembly.moved(start, s * h * d.reshape(-1, 3)).x for s in (1, -1)]
        second = (body.energy(ways[0]) - 2 * body.energy(start.x) + body.energy(ways[1])) / h**2
        assert second == pytest.approx(d @ K @ d, rel=2e-5)
        near = [body.energy(assembly.moved(start, s * 1e-6 * d.reshape(-1, 3)).x) for s in (1, -1)]
        first = (near[0] - near[1]) / 2e-6
        assert first == pytest.approx(d @ assembly.force_on_coordinates(T, force).ravel(), rel=1e-6)


def test_the_warped_tangent_is_never_negative_and_exact_without_stress(rng):
    """At rest both tangents are the same; elsewhere the warped one has no negative eigenvalue."""
    body = helix()
    difference = body.stiffness(body.rest) - body.stiffness(body.rest, "warped")
    assert abs(difference).max() < 1e-9 * abs(body.stiffness(body.rest)).max()
    W = body.stiffness(moved(body, rng), "warped").toarray()
    assert np.linalg.eigvalsh(W).min() > -1e-9 * np.abs(W).max()


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_mass_is_that_of_the_solid(mass, rng):
    """A straight rod as one rigid body has the mass and the moments of inertia of the bar, within those of its cutting."""
    body = rod(mass=mass, count=20)
    total = 1100 * 0.006 * 0.003 * 0.2
    assert body.mass_total == pytest.approx(total, rel=1e-12)
    M = body.mass().toarray()
    exact = Inertia.of_solid(pl.solids.box((0.2, 0.006, 0.003)), 1100)
    for w in np.eye(3):
        v = np.cross(w, body.rest - (0.1, 0, 0)).ravel()
        assert v @ M @ v == pytest.approx(w @ exact.moments @ w, rel=1e-9 if mass == "consistent" or w[0] else 5.1e-3)
    assert np.linalg.eigvalsh(body.mass().toarray()).min() > -1e-12 * total


@pytest.mark.parametrize("make", [rod, helix])
def test_points_and_surface_go_with_any_motion_of_the_whole(make, rng):
    """Exactly, wherever they are; points of a section hang on its four nodes only; the surface is closed, and encloses what the
    rod has of material."""
    body = make(count=16)
    points = body.rest.mean(axis=0) + 0.02 * rng.normal(size=(20, 3))
    nodes, weights = body.embed(points)
    R, t = random_rotation(rng), rng.normal(size=3)
    x = body.rest @ R.T + t
    assert np.einsum("pk,pki->pi", weights, body.rest[nodes]) == pytest.approx(points, abs=1e-12)
    assert np.einsum("pk,pki->pi", weights, x[nodes]) == pytest.approx(points @ R.T + t, abs=1e-11)
    section = body.rest.reshape(-1, 4, 3)[2]
    nodes, weights = body.embed(section[:1] + 0.001 * (section[2] - section[0]) / body.size)
    assert set(nodes[0][np.abs(weights[0]) > 1e-9]) <= {8, 9, 10, 11}
    surface = body.surface()
    skin = pl.SurfaceMesh(surface.positions(body.rest), surface.triangles)
    skin.require_closed()
    assert skin.volume == pytest.approx(0.006 * 0.003 * body.lengths.sum(), rel=0.02)
    inside = body.rest[::4] + 0.0005 * (body.rest[2::4] - body.rest[::4]) / body.size
    assert body.contains(inside[1:-1]).all()
    assert not body.contains(inside + 0.004).any()


def test_branches_that_meet_are_one_part():
    """A fork: the second curve begins in the middle of the first, the third at its end; both places are one rigid part each,
    and names of sections find their own nodes."""
    fork = [
        LINE,
        pl.Curve([(0.07, 0, 0), (0.07, 0.1, 0)]),
        pl.Curve([(0.2, 0, 0), (0.3, 0.05, 0)]),
    ]
    body = rod(fork, count=[5, 3, 2], fixed=("start", "1.end"))
    shared = [name for name in body.supports.rigid if "+" in name]
    assert len(shared) == 2
    assert all(len(body.supports.rigid[name]) == 8 for name in shared)
    assert set(body.part_nodes("1.start", "")) <= set(body.supports.rigid[shared[0]])
    assert body.rest[body.part_nodes("1.end", "")[0]] == pytest.approx([0.07, 0.1, 0])
    assert len(body.supports.fixed) == 8
    robot = pl.Robot(body)
    robot.impose("pull", pl.Force((0.3, 0.05, 0), direction=(0, 0, 1)), effort=0.01)
    state = pl.Statics(robot).solve().require().state
    held = [sum(body.force(state.x)[body.part_nodes(name, "")][:, 2]) for name in ("start", "1.end")]
    assert sum(held) == pytest.approx(-0.01, rel=1e-6)


def test_a_ring_closes():
    """A circle whose ends meet is one part there, and stands as it is."""
    ring = pl.Curve.arc((0, 0, 0), (0.05, 0, 0), (0, 0, 1), 2 * np.pi)
    body = rod(ring, count=12)
    assert "0.0 + 0.12" in body.supports.rigid
    assert np.abs(body.strains(body.rest)).max() < 1e-12


def test_section_forces_are_those_of_statics():
    """A cantilever with a force at its tip: every section carries it, with the moment of its lever, in its own axes; the
    outermost fibre has M z / I."""
    body = rod(count=8, fixed="start")
    robot = pl.Robot(body)
    robot.impose("load", pl.Point((0.2, 0, 0)), effort=(0.3, 0.001, 0.002))
    state = pl.Statics(robot, tolerance=1e-11).solve().require().state
    found = body.section_forces(state.x)
    places, frames = body.centreline(state.x), body.frames(state.x)
    load = np.array([0.3, 0.001, 0.002])
    for e, ends in enumerate(body.elements):
        for k, section in enumerate(ends):
            assert frames[section] @ found.force[e, k] == pytest.approx(load, abs=1e-8)
            moment = np.cross(places[-1] - places[section], load)
            assert frames[section] @ found.moment[e, k] == pytest.approx(moment, abs=1e-9)
    root = found.moment[0, 0]
    expected = found.force[0, 0, 0] / BAR.area + abs(root[1]) * 0.0015 / BAR.Iy + abs(root[2]) * 0.003 / BAR.Iz
    assert body.fibre_stress(state.x)[0] == pytest.approx(expected, rel=1e-9)
    fields = body.fields(state.x)
    assert fields.von_mises[0] == pytest.approx(expected, rel=1e-3)
    assert fields.energy.sum() == pytest.approx(body.energy(state.x))


def test_a_new_rest_curvature_bends_the_rod():
    """Curvature k without load makes an arc of it: the tip of a clamped rod goes where the arc ends, and nothing is
    strained."""
    body = rod(count=10, fixed="start")
    robot = pl.Robot(body)
    body.set_rest_curvature((0, -5.0, 0))
    state = pl.Statics(robot).solve().require().state
    assert body.centreline(state.x)[-1] == pytest.approx([np.sin(1.0) / 5, 0, (1 - np.cos(1.0)) / 5], abs=1e-9)
    assert np.abs(body.strains(state.x)).max() < 1e-9
    with pytest.raises(InputError, match="curvature at rest"):
        body.set_rest_curvature((np.nan, 0, 0))


def test_sections_know_their_constants():
    """Torsion of rectangles as in the tables of Timoshenko and Goodier (0.1406 b^4 of a square, 0.2287 and 0.3123 a b^3 at 2
    and 10), of tubes pi/32 (D^4 - d^4); the largest shear stress T / (0.208 b^3) and T / (0.246 a b^2)."""
    for ratio, torsion, modulus in ((1, 0.1406, 0.208), (2, 0.2287, 0.246), (10, 0.3123, 0.3123)):
        section = pl.Section.rectangle(0.01 * ratio, 0.01)
        assert pytest.approx(torsion * ratio * 1e-8, rel=5e-4) == section.J
        assert section.torsion_modulus == pytest.approx(modulus * ratio * 1e-6, rel=2e-3)
        assert pl.Section.rectangle(0.01, 0.01 * ratio).J == section.J
    tube = pl.Section.tube(0.02, 0.016)
    assert pytest.approx(np.pi / 32 * (0.02**4 - 0.016**4)) == tube.J == 2 * tube.Iy
    assert pl.Section.circle(0.01).shear_factors(0.3)[0] == pytest.approx(6 * 1.3 / 8.8)
    assert pl.Section.tube(0.01, 0.0099).shear_factors(0.3)[0] == pytest.approx(2 * 1.3 / (4 + 3 * 0.3), rel=1e-3)
    given = pl.Section(area=1e-4, Iy=2e-9, Iz=1e-9, J=2e-9, shear=(np.inf, 0.8))
    assert given.shear_factors(0.3) == (np.inf, 0.8)
    assert np.abs(given.outline[:, 1]).max() == pytest.approx(np.sqrt(3 * 2e-9 / 1e-4))


def test_a_taper_is_between_its_ends():
    """A cone: the diameter changes linearly; a list per element is taken as it is."""
    cone = pl.Section.taper(pl.Section.circle(0.01), pl.Section.circle(0.004))
    middle, there = cone(0.5), pl.Section.circle(0.007)
    assert (middle.area, middle.Iy, middle.J) == pytest.approx((there.area, there.Iy, there.J))
    assert middle.radius == pytest.approx(0.0035)
    body = rod(section=cone, count=30)
    assert body.mass_total == pytest.approx(1100 * np.pi / 12 * 0.2 * (0.01**2 + 0.01 * 0.004 + 0.004**2), rel=1e-3)
    steps = rod(section=[pl.Section.circle(0.004)] * 2 + [pl.Section.circle(0.002)], count=3)
    assert steps.section_stiffness[1, 0] == pytest.approx(4 * steps.section_stiffness[2, 0])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: rod(curve="line"), "give a Curve"),
        (lambda: rod(curve=[]), "give a Curve"),
        (lambda: rod(section="round"), "sections for 6 elements"),
        (lambda: rod(section=[BAR] * 3), "3 sections for 6 elements"),
        (lambda: rod(section=lambda t: "round"), "a section is 'round'"),
        (lambda: rod(fixed="middle"), "fixed: there is no section 'middle'"),
        (lambda: rod(fixed="0.7"), "curve 0 has 0 to 6"),
        (lambda: rod(count=[6, 6]), "2 counts for 1 curves"),
        (lambda: rod(mass="heavy"), "mass"),
        (lambda: pl.RodBody(LINE, BAR, E=-1.0, nu=0.3, density=1000, count=3), "E is -1"),
        (lambda: pl.RodBody(LINE, BAR, E=1e6, nu=0.7, density=1000, count=3), "nu"),
        (lambda: pl.RodBody(LINE, BAR, E=1e6, nu=0.3, density=np.nan, count=3), "density"),
        (lambda: rod(damping=(-1, 0)), "damping"),
        (lambda: rod().embed([(0, 0, np.nan)]), "finite"),
        (lambda: rod().embed([(0, 0, 300.0)]), "from the rod"),
        (lambda: pl.Section.rectangle(0.01, 0.0), "height of a section is 0"),
        (lambda: pl.Section.circle(np.nan), "diameter"),
        (lambda: pl.Section.tube(0.01, 0.02), "inner diameter"),
        (lambda: pl.Section(area=0.0, Iy=1, Iz=1, J=1), "area of a section is 0"),
        (lambda: pl.Section(area=1.0, Iy=1, Iz=1, J=1, outline=np.zeros((3, 2))), "outline"),
        (lambda: pl.Section.taper(BAR, 3), "two sections"),
        (lambda: pl.Force([(0, 0, 0)], [-1.0], direction=(0, 0, 1)), "shares of a force"),
    ],
)
def test_rods_that_cannot_be_are_refused(make, said):
    """One error each, that names what is wrong."""
    with pytest.raises(InputError, match=said):
        make()


def test_a_rod_that_nothing_holds_is_told():
    """Statics of a free rod: nothing is fixed."""
    with pytest.raises(pl.PliantError, match="nothing is fixed"):
        pl.Statics(pl.Robot(rod())).solve().require()
