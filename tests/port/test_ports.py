"""Every port in the registry: slope and curvature by finite differences, also through points that are not nodes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pliant.body import TetBody
from pliant.errors import InputError, OpenSurfaceError
from pliant.material import Corotational
from pliant.port import (
    Attachment,
    Cable,
    Capstan,
    Cavity,
    Center,
    Force,
    Frame,
    Hinge,
    Moment,
    Point,
    Port,
    Stiffness,
    all_ports,
    check_port,
)
from pliant.port.check import PortError
from pliant.shape import SurfaceMesh, make, solids

MESH = make.box((0.06, 0.04, 0.04), (3, 2, 2))
INNER = solids.sphere(0.013, segments=12).translated((0.031, 0.02, 0.019))
INSIDE = np.array([(0.011, 0.013, 0.02), (0.05, 0.03, 0.011), (0.031, 0.02, 0.035), (0.02, 0.035, 0.01)])
PORTS = {
    "force along": Force((0.051, 0.013, 0.02), direction=(1, 2, -1)),
    "force on several": Force(MESH.nodes[MESH.where(x_above=0.06)], direction=(0, 0, 1)),
    "force between": Force((0.011, 0.013, 0.02), towards=(0.05, 0.03, 0.011)),
    "point": Point(near=(0.06, 0.04, 0.04)),
    "points": Point(near=[(0.01, 0.013, 0.02), (0.05, 0.03, 0.011)], axes="xz"),
    "point seen from another": Point(near=(0.01, 0.013, 0.02), axes="zx", against=(0.05, 0.03, 0.011)),
    "cavity": Cavity(INNER),
    "cable": Cable([(0.011, 0.013, 0.02), (0.031, 0.03, 0.022), (0.052, 0.013, 0.02)]),
    "pulled cable": Cable([(0.021, 0.013, 0.02), (0.052, 0.023, 0.03)], pull=(-0.03, 0.01, 0.04)),
    "cable pulled from elsewhere": Cable(
        [(0.021, 0.013, 0.02), (0.052, 0.023, 0.03)], pull=(-0.03, 0.01, 0.04)
    ).with_pull((-0.01, 0.05, 0.0)),
    "tendon on one point": Cable([(0.052, 0.023, 0.03)], pull=(-0.03, 0.01, 0.04)),
    "cable with friction": Capstan(
        [(0.011, 0.013, 0.02), (0.031, 0.03, 0.022), (0.052, 0.013, 0.02), (0.04, 0.02, 0.01)],
        pull=(-0.03, 0.01, 0.04),
        friction=0.2,
    ),
    "tie with friction": Capstan([(0.011, 0.013, 0.02), (0.031, 0.03, 0.022), (0.052, 0.013, 0.02)], friction=0.2),
    "centre of mass": Center(),
    "centre of a region": Center(MESH.where(x_above=0.04), kind="geometric"),
    "frame of a region": Frame(MESH.where(x_above=0.04)),
    "frame of points": Frame(INSIDE),
    "tilt of a face": Frame(MESH.where(x_above=0.06), rows="z rx ry"),
    "place of points": Frame(INSIDE, rows="x y"),
    "hinge of a region": Hinge(MESH.where(x_above=0.04), point=(0.03, 0.01, 0.02), axis=(0.1, 1, 0.2)),
    "hinge of points": Hinge(INSIDE, point=(0.01, 0.01, 0.02), axis=(0, 1, 1)),
    "hinge between": Hinge(
        MESH.where(x_above=0.06), point=(0.03, 0.01, 0.02), axis=(0, 1, 0.2), against=MESH.where(x_below=0.02)
    ),
    "moment on a region": Moment(MESH.where(x_above=0.04), axis=(0.1, 1, 0.2)),
    "moment on points": Moment(INSIDE, axis=(0, 1, 1)),
    "stiffness": Stiffness(),
    "stiffness of some": Stiffness(np.arange(10, 40)),
}
BODIES = {order: TetBody(MESH, Corotational(E=1e5, nu=0.4), order=order) for order in (1, 2)}

attached = pytest.mark.parametrize(
    "attachment",
    [Attachment(port, body, 0) for port in PORTS.values() for body in BODIES.values()],
    ids=[f"{name}-order{order}" for name in PORTS for order in BODIES],
)


def matrix(attachment, x, efforts):
    """The curvature as a dense matrix, mirrored as every list of blocks is."""
    size = len(x)
    out = np.zeros((size, 3, size, 3))
    for i, j, block in zip(attachment.rows, attachment.cols, attachment.at(x).curvature(efforts), strict=True):
        out[i, :, j, :] += block
        if i != j:
            out[j, :, i, :] += block.T
    return out.reshape(3 * size, 3 * size)


def pose(attachment, rng):
    body = BODIES[1] if attachment.entry_nodes.max() < len(BODIES[1].rest) else BODIES[2]
    return body.rest + 2e-3 * rng.uniform(-1, 1, body.rest.shape)


def difference(function, x, d, h=1e-6):
    """The slope of a function along d by central differences of fourth order."""
    return (8 * (function(x + h * d) - function(x - h * d)) - function(x + 2 * h * d) + function(x - 2 * h * d)) / (
        12 * h
    )


@attached
def test_rows_are_the_slope_of_the_displacement(attachment, rng):
    """H = d delta / dx by central differences."""
    x = pose(attachment, rng)
    for _ in range(4):
        d = rng.normal(size=x.shape)
        slope = difference(lambda y: attachment.at(y).displacement, x, d)
        expected = np.einsum("rei,ei->r", attachment.at(x).slopes, d[attachment.entry_nodes])
        assert slope == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(expected).max())


@attached
def test_curvature_is_the_slope_of_the_rows(attachment, rng):
    """sum lambda d2 delta by central differences of H^T lambda, symmetric."""
    x = pose(attachment, rng)
    efforts = rng.uniform(0.5, 2, attachment.row_count)

    def pull(y):
        out = np.zeros_like(y)
        np.add.at(out, attachment.entry_nodes, np.einsum("r,rei->ei", efforts, attachment.at(y).slopes))
        return out.ravel()

    K = matrix(attachment, x, efforts)
    assert np.abs(K - K.T).max() <= 1e-12 * np.abs(K).max()
    for _ in range(4):
        d = rng.normal(size=x.shape)
        slope = difference(pull, x, d)
        error = np.abs(slope - K @ d.ravel()).max()
        assert error <= 1e-6 * np.abs(slope).max() + 1e-8 * np.abs(pull(x)).max()


@attached
def test_effort_does_the_work_lambda_delta(attachment, rng):
    """Along a path, the work of the nodal forces H^T lambda equals lambda times the change of delta (Simpson's rule)."""
    a, b = pose(attachment, rng), pose(attachment, rng)
    efforts = rng.uniform(0.5, 2, attachment.row_count)
    s = np.linspace(0, 1, 41)
    power = [
        np.einsum("r,rei,ei->", efforts, attachment.at(a + t * (b - a)).slopes, (b - a)[attachment.entry_nodes])
        for t in s
    ]
    weights = np.where(np.arange(41) % 2, 4.0, 2.0)
    weights[[0, -1]] = 1.0
    work = weights @ power / 120
    change = efforts @ (attachment.at(b).displacement - attachment.at(a).displacement)
    assert work == pytest.approx(change, rel=1e-9)


def test_every_port_of_the_registry_is_tried():
    """No port escapes the finite differences above."""
    assert {type(port) for port in PORTS.values()} == set(all_ports)


def test_cavity_of_a_ball_encloses_its_volume():
    """The displacement is the gain of volume: a uniform stretch of 10 % gives 33.1 % of the rest volume, either way round."""
    for surface in (INNER, INNER.flipped()):
        cavity = Cavity(surface)
        assert cavity.rest_volume == pytest.approx(4 / 3 * np.pi * 0.013**3, rel=0.15)
        assert cavity.rest_volume == pytest.approx(INNER.volume)
        assert cavity.displacement(1.1 * cavity.points)[0] == pytest.approx(0.331 * cavity.rest_volume)


def test_a_growing_ball_is_the_closed_form():
    """A spherical cavity in a block, stretched from 10 mm to 12 mm radius: gain of volume, and work of a constant pressure
    on the nodes along the way, are 4/3 pi (R^3 - r^3), and that times the pressure, within 1 %."""
    mesh = make.box((0.04, 0.04, 0.04), 8, center=(0, 0, 0))
    ball = solids.sphere(0.010, segments=96)
    attachment = Attachment(Cavity(ball), TetBody(mesh, Corotational(E=1e5, nu=0.4)), 0)
    gain, pressure, work = 4 / 3 * np.pi * (0.012**3 - 0.010**3), 3e3, 0.0
    stretches = np.linspace(1.0, 1.2, 21)
    for a, b in pairwise(stretches):
        middle = 0.5 * (a + b) * mesh.nodes
        force = pressure * attachment.at(middle).slopes[0]
        work += float(np.sum(force * ((b - a) * mesh.nodes)[attachment.entry_nodes]))
    assert attachment.at(1.2 * mesh.nodes).displacement[0] == pytest.approx(gain, rel=0.01)
    assert work == pytest.approx(pressure * gain, rel=0.01)


def test_open_cavity_is_refused():
    """A cavity with a hole cannot hold pressure."""
    open_surface = SurfaceMesh(*_without_one_triangle(INNER))
    with pytest.raises(OpenSurfaceError):
        Cavity(open_surface)


def _without_one_triangle(surface):
    return surface.nodes, surface.triangles[1:]


@pytest.mark.parametrize(
    ("make_port", "message"),
    [
        (lambda: Force((0, 0, 0)), "direction or a second point"),
        (lambda: Force((0, 0, 0), direction=(0, 0, 0)), "direction is"),
        (lambda: Force((0, 0, 0), towards=(0, 0, 0)), "two equal points"),
        (lambda: Force((0, 0, float("nan")), direction=(1, 0, 0)), "point 0 is"),
        (lambda: Point(near=(0, 0)), "near has shape"),
        (lambda: Point(near=(0, 0, 0), axes="xx"), "axes is 'xx'"),
        (lambda: Cavity("balloon"), "needs a SurfaceMesh"),
        (lambda: Cable([(0, 0, 0)]), "no pull point has no length"),
        (lambda: Cable([(0, 0, 0), (0, 0, 0.1), (0, 0, 0.1)]), "segment 1 of the cable has length zero"),
        (lambda: Center([]), "nodes are"),
        (lambda: Center(kind="mid"), "kind is 'mid'"),
    ],
)
def test_bad_ports_are_named(make_port, message):
    """Each unusable argument raises an InputError that names it."""
    with pytest.raises(InputError, match=message):
        make_port()


def test_cable_takes_in_what_it_shortens():
    """delta is the loss of length; a taut cable's force on its only point is along the way to the pull point."""
    cable = Cable([(0.05, 0.0, 0.0)], pull=(-0.05, 0.0, 0.0))
    assert cable.displacement(np.array([[0.03, 0.0, 0.0]])) == pytest.approx([0.02])
    assert cable.slope(np.array([[0.0, 0.05, 0.0]]))[0, 0] == pytest.approx(-np.array([1, 1, 0]) / np.sqrt(2))


@pytest.mark.parametrize("order", [1, 2])
def test_centre_of_mass_is_that_of_the_solid(order):
    """At rest it is the centroid by tet volumes, at both orders."""
    body = BODIES[order]
    middles = MESH.nodes[MESH.tets].mean(axis=1)
    expected = MESH.volumes @ middles / MESH.volume
    assert Attachment(Center(), body, 0).at(body.rest).displacement == pytest.approx(expected)


class Squares(Port):
    """A user's port: the sum of squares of a point's coordinates."""

    effort_unit, displacement_unit = "N/m", "m^2"
    curved_pairs = np.array([[0, 0]])

    def __init__(self, factor=1.0):
        self.points = np.array([[0.03, 0.02, 0.01]])
        self.factor = factor

    def displacement(self, p):
        return np.array([np.sum(p * p)])

    def slope(self, p):
        return 2 * p[None]

    def curvature(self, p, efforts):
        return self.factor * 2 * efforts[0] * np.eye(3)[None]


def test_users_check_their_own_ports():
    """check_port is silent for a right port and names what is wrong in a wrong one."""
    for port in (Squares(), *PORTS.values()):
        check_port(port, BODIES[1])
        check_port(port, BODIES[2])
    with pytest.raises(PortError, match="curvature of Squares differs"):
        check_port(Squares(factor=1.1), BODIES[1])
    wrong = Squares()
    wrong.slope = lambda p: p[None]
    with pytest.raises(PortError, match="slope of Squares differs"):
        check_port(wrong, BODIES[1])
