"""Flex sensors: rotations of parts seen from a base, weighted and summed."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.rotation import exponential, logarithm
from pliant.body import RigidBody, RodBody, Section, TetBody, Weld
from pliant.device import Wiring
from pliant.errors import InputError
from pliant.material import Corotational
from pliant.motion import Statics
from pliant.port import Attachment, Cable, Flex, Force, Frame
from pliant.robot import Robot
from pliant.shape import Curve, make, solids

COEFFICIENTS = {"0.6": 210.0, "0.3": -95.0, "end": 40.0}
AXIS = np.array([0.2, -0.3, 1.0]) / np.linalg.norm([0.2, -0.3, 1.0])


def rod(**options):
    """Ten elements of steel, held at one end."""
    options = {"count": 10, "fixed": "start"} | options
    curve, section = Curve([(0, 0, 0), (0.3, 0, 0)]), Section.rectangle(8e-3, 1e-3)
    return RodBody(curve, section, E=200e9, nu=0.3, density=7800, **options)


def turned(body, rng, size=0.8):
    """Every section somewhere else, turned by its own rotation; and these rotations."""
    rotations = [exponential(size * rng.uniform(-1, 1, 3)) for _ in range(body.node_count // 4)]
    sections = body.rest.reshape(-1, 4, 3)
    moved = [(own - own[0]) @ R.T + own[0] for own, R in zip(sections, rotations, strict=True)]
    return np.concatenate(moved) + 0.01 * rng.uniform(-1, 1), rotations


@pytest.mark.parametrize("base", [None, "0.1"])
def test_it_is_the_sum_of_the_rotations(base, rng):
    """c_0 + sum c_i a . log(R_b^T R_i), of rotations that the sections were given."""
    body = rod()
    x, rotations = turned(body, rng)
    placed = Attachment(Flex(COEFFICIENTS, axis=AXIS, base=base, offset=512.0), body, 0, loaded=False).at(x)
    seen_from = np.eye(3) if base is None else rotations[1]
    angles = [AXIS @ logarithm(seen_from.T @ rotations[k]) for k in (6, 3, 10)]
    assert placed.displacement == pytest.approx(512.0 + np.dot(list(COEFFICIENTS.values()), angles), rel=1e-12)


@pytest.mark.parametrize("base", [None, "0.1"])
@pytest.mark.parametrize("distorted", [0.0, 3e-4])
def test_its_slope_is_the_difference_of_its_displacement(base, distorted, rng):
    """Far from rest; of sections that are rigid, and of nodes that are not."""
    body = rod()
    x = turned(body, rng)[0] + distorted * rng.uniform(-1, 1, body.rest.shape)
    attachment = Attachment(Flex(COEFFICIENTS, axis=AXIS, base=base), body, 0, loaded=False)
    h = 1e-8
    for _ in range(3):
        d = rng.normal(size=x.shape)
        ahead, behind = (attachment.at(x + sign * h * d).displacement for sign in (1, -1))
        slope = np.einsum("rei,ei->r", attachment.at(x).slopes, d[attachment.entry_nodes])
        assert (ahead - behind) / (2 * h) == pytest.approx(slope, rel=1e-6)


def test_a_motion_of_the_whole_is_not_seen_from_a_base(rng):
    """From the ground it is."""
    body = rod()
    R = exponential((0.3, -0.5, 0.9))
    x = body.rest @ R.T + (0.1, 0.2, 0.3)
    seen, plain = (
        Attachment(Flex({"end": 1.0}, axis=AXIS, base=base), body, 0, loaded=False).at(x) for base in ("0.2", None)
    )
    assert seen.displacement == pytest.approx(0.0, abs=1e-12)
    assert plain.displacement == pytest.approx(AXIS @ logarithm(R))


def test_the_robot_has_its_compliance():
    """W of a flex sensor against a cable is the difference of nonlinear equilibria, to 1e-6; also of one that
    is seen from a part of another body."""
    body = rod()
    disc = RigidBody(solids.cylinder(0.01, 0.002, at=(0.3, 0, 0), axis=(1, 0, 0)), density=1200)
    robot = Robot({"rod": body, "disc": disc}, joints=[Weld("disc", ("rod", "end"))])
    robot.impose(
        "tendon", Cable([(0.15, 0.004, 0), (0.3, 0.008, 0)], pull=(0, 0.004, 0)), effort=20.0, body=("rod", "disc")
    )
    robot.sense("strip", Flex({"0.8": 3.0}, axis=(0, 0, 1), base="0.2", unit="V"), body="rod")
    parts = Flex([("whole", 3.0)], axis=(0, 0, 1), base="0.2", unit="V")
    robot.sense("across", parts, body=("disc", "rod"))
    statics = Statics(robot, tolerance=1e-12)
    state = statics.solve().require().state
    model = robot.linearize(state).model
    rows = [model.names.index(name) for name in ("strip", "across")]
    found = []
    for effort in (20.01, 19.99):
        robot.set_effort("tendon", effort)
        at = statics.solve(state).require().state
        found.append([robot.displacement(at, name)[0] for name in ("strip", "across")])
    assert (np.subtract(*found) / 0.02) == pytest.approx(model.W[rows, 0], rel=1e-6)


def test_bending_is_what_beams_do():
    """A moment on the end of a cantilever turns sections by M s / E I."""
    body = rod()
    robot = Robot(body)
    robot.impose("turn", Frame("end", rows="rz"), effort=0.01)
    robot.sense("strip", Flex({"0.8": 1.0, "0.5": 0.5}, axis=(0, 0, 1), base="0.2"))
    state = Statics(robot).solve().require().state
    stiffness = body.E * body.layout.middles[0].Iz
    assert robot.displacement(state, "strip")[0] == pytest.approx(0.01 * (0.18 + 0.5 * 0.09) / stiffness, rel=1e-3)


def test_it_is_on_the_wire_in_its_unit():
    """As any other sensor is."""
    robot = Robot(rod())
    tip = Force((0.3, 0, 0), direction=(0, 1, 0))
    robot.actuate("push", tip, effort=(-1.0, 1.0), displacement=(-0.1, 0.1))
    robot.sense("strip", Flex(COEFFICIENTS, axis=AXIS, unit="counts"))
    wiring = Wiring.of_robot(robot, "effort")
    at = wiring.measurements.index("strip")
    assert wiring.measurement_units[at] == "counts"


def test_a_region_of_tets_has_a_rotation_too(rng):
    """By its best fit, as a Frame has."""
    mesh = make.box((0.06, 0.02, 0.02), (6, 2, 2))
    body = TetBody(mesh, Corotational(E=1e5, nu=0.4))
    port = Flex([(mesh.where(x_above=0.05), 2.0)], base=mesh.where(x_below=0.01), axis=(0, 1, 0))
    attachment = Attachment(port, body, 0, loaded=False)
    x = mesh.nodes + 1e-3 * rng.uniform(-1, 1, mesh.nodes.shape)
    d, h = rng.normal(size=x.shape), 1e-8
    slope = np.einsum("rei,ei->r", attachment.at(x).slopes, d[attachment.entry_nodes])
    ahead, behind = (attachment.at(x + sign * h * d).displacement for sign in (1, -1))
    assert (ahead - behind) / (2 * h) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("make_it", "said"),
    [
        (lambda: Flex({}, axis=(0, 0, 1)), "at least one"),
        (lambda: Flex({"end": np.nan}, axis=(0, 0, 1)), "finite"),
        (lambda: Flex({"end": 1.0}, axis=(0, 0, 0)), "not all zero"),
        (lambda: Flex({"end": 1.0}, axis=(0, 0, 1), offset=np.inf), "offset"),
        (lambda: Robot(rod()).sense("s", Flex({"middle": 1.0}, axis=(0, 0, 1))), "middle"),
        (lambda: Robot(rod()).actuate("s", Flex({"end": 1.0}, axis=(0, 0, 1))), r"add it with sense"),
        (lambda: Robot(rod()).effect("s", Flex({"end": 1.0}, axis=(0, 0, 1))), r"add it with sense"),
        (lambda: Robot(rod()).impose("s", Flex({"end": 1.0}, axis=(0, 0, 1)), effort=1.0), r"add it with sense"),
    ],
)
def test_what_it_cannot_be_is_said(make_it, said):
    """With the remedy."""
    with pytest.raises(InputError, match=said):
        make_it()
