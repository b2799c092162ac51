"""Frames and hinges: what they measure of rigid motions, references, targets, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Corotational, Frame, Hinge, Point, Robot, Statics, TetBody, make
from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.errors import InputError
from pliant.port import Attachment
from pliant.port.check import curvature_times

MESH = make.box((0.06, 0.04, 0.04), (3, 2, 2))
END = MESH.where(x_above=0.06)
BODY = TetBody(MESH, Corotational(E=1e5, nu=0.4), fixed=MESH.where(x_below=0), rigid={"tip": END})
TURN = exponential([0.4, -1.1, 0.7])
SHIFT = np.array([0.01, -0.02, 0.03])


def turned(x, about=(0.0, 0.0, 0.0)):
    return (x - about) @ TURN.T + about + SHIFT


@pytest.mark.parametrize("where", [END, MESH.where(x_above=0.03), "tip"])
def test_a_frame_measures_rigid_motion_exactly(where):
    """Nodes moved as a rigid body: position, rotation vector and quaternion are those of the motion, also of a flat region."""
    attachment = Attachment(Frame(where), BODY, 0)
    rest = attachment.at(BODY.rest).displacement
    assert rest[3:] == pytest.approx(np.zeros(3), abs=1e-12)
    delta = attachment.at(turned(BODY.rest)).displacement
    assert delta[:3] == pytest.approx(turned(rest[:3]))
    assert delta[3:] == pytest.approx(logarithm(TURN))
    reading = attachment.port.reading(attachment.positions(turned(BODY.rest)))
    assert np.abs(from_quaternion(reading[3:]) - TURN).max() < 1e-12


def test_rows_at_the_reference_are_the_spin(rng):
    """Faced at a turned state, delta is zero there, H maps a rigid spin to itself, and a moment pulls with that moment."""
    attachment = Attachment(Frame(MESH.where(x_above=0.03)), BODY, 0)
    x = turned(BODY.rest) + 1e-3 * rng.uniform(-1, 1, BODY.rest.shape)
    here = attachment.faced(x)
    assert here.displacement[3:] == pytest.approx(np.zeros(3), abs=1e-12)
    spin = np.array([0.3, -0.5, 0.2])
    rows = np.einsum("rei,ei->r", here.slopes, np.cross(spin, x)[attachment.entry_nodes])
    assert rows[3:] == pytest.approx(spin)
    moment = np.array([1.0, 2.0, -0.5])
    forces = np.tensordot(np.concatenate([np.zeros(3), moment]), here.slopes, 1)
    assert forces.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-10)
    assert np.cross(x[attachment.entry_nodes], forces).sum(axis=0) == pytest.approx(moment)


def test_curvature_is_exact_from_any_reference(rng):
    """Faced at one deformed state, curvature at another is the slope of H^T lambda there."""
    attachment = Attachment(Frame(MESH.where(x_above=0.03)), BODY, 0)
    reference = attachment.faced(turned(BODY.rest)).reference
    x = BODY.rest + 2e-3 * rng.uniform(-1, 1, BODY.rest.shape)
    efforts, h = rng.normal(size=6), 1e-6

    def pull(y):
        out = np.zeros_like(y)
        out[attachment.entry_nodes] = np.tensordot(efforts, attachment.at(y, reference).slopes, 1)
        return out

    d = rng.normal(size=x.shape)
    slope = (pull(x + h * d) - pull(x - h * d)) / (2 * h)
    curved = curvature_times(attachment.at(x, reference), efforts, d)
    assert np.abs(slope - curved).max() < 1e-6 * np.abs(curved).max()


def test_targets_of_a_frame_are_seven_numbers():
    """The goal of the pose itself is no error; a quaternion and its opposite mean the same; a bad one is not a number."""
    attachment = Attachment(Frame("tip", rows="x rz ry"), BODY, 0)
    x = turned(BODY.rest)
    target = attachment.port.as_target(attachment.port.reading(attachment.positions(x)))
    assert attachment.faced(x).shortfall(target) == pytest.approx(np.zeros(3), abs=1e-12)
    target[3:] *= -1
    assert attachment.faced(x).shortfall(target) == pytest.approx(np.zeros(3), abs=1e-12)
    target[3:] = to_quaternion(exponential([0, 0, 0.1]) @ TURN)
    assert attachment.faced(x).shortfall(target) == pytest.approx([0, -0.1, 0])
    assert np.isnan(attachment.port.as_target([0, 0, 0, 1, 1, 0, 0])).any()
    with pytest.raises(InputError, match="has 3 values"):
        attachment.port.as_target([0, 0, 0])


def test_a_moment_on_a_rigid_part_is_balanced_by_the_support():
    """A moment about x on the tip: at the converged equilibrium the reactions have the same moment, reversed."""
    robot = Robot(BODY)
    moment = np.array([0.04, 0.0, 0.02])
    robot.impose("tip", Frame("tip"), effort=[0, 0, 0, *moment])
    state = Statics(robot).solve().require().state
    assert robot.displacement(state, "tip")[3] > 0.02
    assert np.cross(state.x, robot.reactions(state)).sum(axis=0) == pytest.approx(-moment, rel=1e-6, abs=1e-9)


def test_a_hinge_measures_turns_about_its_axis():
    """A region turned about the axis by any angle up to half a turn, also one that slides along it or stretches evenly."""
    point, axis = np.array([0.03, 0.02, 0.01]), np.array([0.0, 0.6, 0.8])
    attachment = Attachment(Hinge(END, point=point, axis=axis), BODY, 0)
    for angle in (-3.1, -0.5, 1e-6, 2.0, 3.1):
        x = 1.2 * (BODY.rest - point) @ exponential(angle * axis).T + point + 0.01 * axis
        assert attachment.at(x).displacement == pytest.approx([angle])
        forces = attachment.at(x).slopes[0]
        moment = np.cross(x[attachment.entry_nodes] - point, forces).sum(axis=0)
        assert moment @ axis == pytest.approx(1.0)


def test_a_hinge_between_regions_turns_them_apart():
    """Turning both leaves the angle between them; the torque's forces on both have no moment together."""
    point, axis = np.array([0.03, 0.02, 0.01]), np.array([0.0, 0.0, 1.0])
    attachment = Attachment(Hinge(END, point=point, axis=axis, against=MESH.where(x_below=0)), BODY, 0)
    x = (BODY.rest - point) @ exponential(0.7 * axis).T + point
    assert attachment.at(x).displacement == pytest.approx([0.0], abs=1e-12)
    moved = x.copy()
    moved[END] = (BODY.rest[END] - point) @ exponential(1.0 * axis).T + point
    assert attachment.at(moved).displacement == pytest.approx([0.3])
    assert np.cross(x[attachment.entry_nodes] - point, attachment.at(x).slopes[0]).sum(axis=0)[2] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("make_port", "message"),
    [
        (lambda: Frame("tp"), "no rigid part 'tp'.*'tip'"),
        (lambda: Frame([0, 1]), "all on one line"),
        (lambda: Frame([0, 1, 9999]), "node 9999 does not exist"),
        (lambda: Frame([]), "where is"),
        (lambda: Frame(END, rows="x q"), "rows are 'x q'"),
        (lambda: Hinge(END, point=(0, 0, 0), axis=(0, 0, 0)), "axis is"),
        (lambda: Hinge(MESH.where(z_below=0, y_below=0), point=(0, 0, 0), axis=(1, 0, 0)), "on its own axis"),
        (lambda: Hinge(END, point=(0, 0, 0), axis=(1, 0, 0), against=np.eye(3) * 0.01), "nodes and points"),
    ],
)
def test_bad_regions_are_named(make_port, message):
    """Each unusable argument raises an InputError that names it, at the latest when the robot gets the port."""
    robot = Robot(BODY)
    with pytest.raises(InputError, match=message):
        robot.sense("new", make_port())
    assert not robot.ports


def test_weights_of_angles_are_half_the_size():
    """An effector's default weights: 1 for positions, half the longest extent for angles; others where asked."""
    robot = Robot(BODY)
    robot.effect("pose", Frame("tip", rows="x rx"))
    robot.effect("angle", Hinge(END, point=(0, 0, 0), axis=(0, 1, 0)))
    robot.effect("point", Point(near=(0.06, 0.0, 0.0)))
    robot.effect("own", Frame("tip"), weight=2.0)
    assert robot.ports["pose"].weight == pytest.approx([1.0, 0.03])
    assert robot.ports["angle"].weight == pytest.approx([0.03])
    assert robot.ports["point"].weight == pytest.approx(np.ones(3))
    assert robot.ports["own"].weight == pytest.approx(np.full(6, 2.0))
