"""Joints: what they make of bodies, their springs, dampers and stops, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from conftest import random_rotation
from pliant.body.joint_frames import JointFrames
from pliant.body.joint_motion import angle, misalignment, way
from pliant.errors import InputError, PliantWarning


def block(center=(0.0, 0.0, 0.0), **more):
    """A rigid box of 4 cm."""
    box = pl.solids.box((0.04, 0.04, 0.04))
    return pl.RigidBody(pl.SurfaceMesh(box.nodes - box.nodes.mean(axis=0) + center, box.triangles), 1000.0, **more)


def turned_frames(rng, count=3, size=0.02):
    """Frames of joints, those of a and of b each turned and shifted as rigid parts."""
    joints = [
        pl.Revolute(
            "a", point=(0, 0, 0), axis=(1, 2, 3), stiffness=2.0, rest=0.3, limits=(-0.2, 0.1), stop=5.0, damping=0.7
        ),
        pl.Slide(
            "a", direction=(0, 1, 1), point=(0, 0, 0), stiffness=30.0, limits=(-1e-3, 1e-3), stop=90.0, damping=2.0
        ),
        pl.Ball("a", point=(0, 0, 0), stiffness=1.5, damping=0.4),
    ][:count]
    frames = JointFrames(joints, rng.normal(size=(count, 3)), size)
    x = frames.rest.reshape(-1, 2, 4, 3).copy()
    for one in x.reshape(-1, 4, 3):
        one[:] = (one - one[0]) @ random_rotation(rng).T + one[0] + 0.01 * rng.normal(size=3)
    return frames, x.reshape(-1, 3)


@pytest.mark.parametrize("motion", [angle, lambda p: way(p, 0.02), lambda p: misalignment(p, 0.02)])
def test_motions_have_their_slopes_and_curvatures(motion, rng):
    """Slope and curvature of angle, way and misalignment by central differences, for frames anywhere."""
    _, x = turned_frames(rng)
    p = x.reshape(-1, 8, 3)
    value, slope, curvature = motion(p)
    h = 1e-6 * 0.02
    for _ in range(4):
        d = rng.normal(size=p.shape)
        ahead, behind = motion(p + h * d), motion(p - h * d)
        expected = np.einsum("jmi,jmi->j", slope, d)
        assert (ahead[0] - behind[0]) / (2 * h) == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.abs(expected).max())
        change, curved = (ahead[1] - behind[1]) / (2 * h), np.einsum("jmink,jnk->jmi", curvature, d)
        assert change == pytest.approx(curved, rel=1e-4, abs=1e-5 * np.abs(curved).max())
    assert motion(p[0])[0] == pytest.approx(value[0])


def test_motions_are_the_angle_and_the_way(rng):
    """A frame turned by 0.4 about the axis of the other has that angle and 1 - cos(0.4); one shifted along it that way."""
    from pliant.algebra.rotation import exponential

    frames, _ = turned_frames(rng)
    p = frames.rest.reshape(-1, 8, 3).copy()
    R = random_rotation(rng)
    p = (p - p[:, :1]) @ R.T
    axis = (p[:, 3] - p[:, 0]) / 0.02
    for k in range(3):
        p[k, :4] = p[k, :4] @ exponential(0.4 * axis[k]).T
    assert angle(p)[0] == pytest.approx([0.4] * 3)
    assert misalignment(p, 0.02)[0] == pytest.approx([1 - np.cos(0.4)] * 3)
    p[:, :4] += 0.003 * axis[:, None]
    assert way(p, 0.02)[0] == pytest.approx([0.003] * 3)


def test_forces_of_joints_are_slopes_of_their_energy(rng):
    """Springs and stops, beyond their limits: force and stiffness by central differences; the warped tangent is positive."""
    frames, x = turned_frames(rng)
    f, K, h = frames.force(x), frames.stiffness(x), 1e-8
    for _ in range(5):
        d = rng.normal(size=x.shape)
        slope = (frames.energy(x + h * d) - frames.energy(x - h * d)) / (2 * h)
        assert slope == pytest.approx(np.vdot(f, d), rel=1e-5, abs=1e-6 * np.abs(f).max())
        change = (frames.force(x + h * d) - frames.force(x - h * d)).ravel() / (2 * h)
        assert change == pytest.approx(K @ d.ravel(), rel=1e-4, abs=1e-5 * np.abs(change).max())
    warped = np.linalg.eigvalsh(frames.stiffness(x, "warped").toarray())
    assert warped.min() > -1e-9 * warped.max()


def test_dampers_take_power(rng):
    """v . D v is damping times the square of the rate of the motion: c w^2 for hinge and ball, c v^2 for a slide."""
    frames, _ = turned_frames(rng)
    x = frames.rest.reshape(-1, 2, 4, 3)
    axes = (x[:, 0, 3] - x[:, 0, 0]) / 0.02
    v = np.zeros_like(x)
    v[0, 0] = np.cross(3.0 * axes[0], x[0, 0] - x[0, 0, 0])
    v[1, 0] = 0.5 * axes[1]
    v[2, 0] = np.cross([1.0, -2.0, 0.5], x[2, 0] - x[2, 0, 0])
    blocks = np.zeros((len(frames.rows), 3, 3))
    frames.add_damping(frames.rest, 1.0, blocks)
    D = frames._pattern().to_csc(blocks)
    each = [v.ravel() * np.repeat(np.arange(3) == k, 24) for k in range(3)]
    assert [u @ D @ u for u in each] == pytest.approx([0.7 * 9, 2.0 * 0.25, 0.4 * 5.25])


def test_ports_on_joints_have_their_slopes_and_curvatures(rng):
    """The angle of a hinge and the way of a slide, as ports, by finite differences; a ball has neither."""
    frames, _ = turned_frames(rng)
    for number, port in enumerate((pl.Hinge.on("joint"), pl.Slider("joint"))):
        pl.check_port(port.on(frames, number), frames)
        with pytest.raises(InputError, match="is a Ball"):
            port.on(frames, 2)


def test_a_joint_of_a_part_with_itself_is_refused():
    """Named, also where both sides are the ground, or welded to it."""
    bodies = {"a": block(), "b": block((0.1, 0, 0), fixed=True)}
    with pytest.raises(InputError, match="joint 'knee' holds a part to itself"):
        pl.Robot(bodies, joints={"knee": pl.Ball("a", "a", point=(0, 0, 0))})
    with pytest.raises(InputError, match="holds the ground to itself"):
        pl.Robot(bodies, joints={"knee": pl.Ball("b", point=(0, 0, 0))})


def test_a_loop_of_joints_is_refused_with_the_remedy():
    """All joints of the loop are named; so are those that close it through the ground or by welds."""
    bodies = {name: block((0.04 * k, 0, 0)) for k, name in enumerate("abc")}
    hinge = {"axis": (0, 1, 0), "point": (0, 0, 0)}
    joints = {
        "ab": pl.Revolute("a", "b", **hinge),
        "bc": pl.Revolute("b", "c", **hinge),
        "ca": pl.Revolute("c", "a", **hinge),
    }
    with pytest.raises(InputError, match=r"joints 'ca' and .* close a loop") as error:
        pl.Robot(bodies, joints=joints)
    assert set(error.value.evidence["joints"]) == {"ab", "bc", "ca"}
    assert "impose" in error.value.remedy
    grounded = {"one": pl.Revolute("a", **hinge), "two": pl.Revolute("a", **hinge)}
    with pytest.raises(InputError, match="joints 'two' and 'one' close a loop"):
        pl.Robot(bodies, joints=grounded)
    with pytest.raises(InputError, match="'second' welds what is one part already"):
        pl.Robot(bodies, joints={"first": pl.Weld("a", "b"), "second": pl.Weld("b", "a")})
    stage = bodies | {"a": block(turns=False)}
    with pytest.raises(InputError, match="joint 'one' closes a loop"):
        pl.Robot(stage, joints={"one": pl.Revolute("a", **hinge)})


def test_a_weld_across_a_gap_warns_with_the_distance():
    """Bodies that do not meet are welded all the same, and the warning says how far apart they are."""
    with pytest.warns(PliantWarning, match=r"joint 'glue' welds parts that are 0\.06 m apart"):
        pl.Robot({"a": block(), "b": block((0.1, 0, 0))}, joints={"glue": pl.Weld("a", "b")})
    pl.Robot({"a": block(), "b": block((0.04, 0, 0))}, joints={"glue": pl.Weld("a", "b")})


def test_a_tree_that_nothing_holds_is_told():
    """Statics of bodies joined to each other only is refused; a hinge to the ground is a support."""
    bodies = {"a": block(), "b": block((0.1, 0, 0))}
    elbow = pl.Ball("a", "b", point=(0.05, 0, 0))
    robot = pl.Robot(bodies, joints=[elbow])
    assert not robot.is_supported
    with pytest.raises(pl.PliantError, match="nothing is fixed"):
        pl.Statics(robot).solve()
    assert pl.Robot(bodies, joints=[elbow, pl.Revolute("b", point=(0, 0, 0), axis=(1, 0, 0))]).is_supported


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pl.Revolute("a", point=(0, 0, np.nan), axis=(0, 0, 1)), "point of a joint"),
        (lambda: pl.Revolute("a", point=(0, 0, 0), axis=(0, 0, 0)), "axis of a joint"),
        (lambda: pl.Revolute("a", point=(0, 0, 0), axis=(0, 0, 1), stiffness=-1.0), "stiffness of a Revolute"),
        (lambda: pl.Slide("a", direction=(0, 0, 1), limits=(0, 1)), "limits without a stop"),
        (lambda: pl.Slide("a", direction=(0, 0, 1), limits=(1, 0), stop=1.0), "limits of a Slide"),
        (lambda: pl.Tie("a", "b"), "give \\(body, nodes\\)"),
        (lambda: pl.Robot({"a": block()}, joints=[pl.Ball("c", point=(0, 0, 0))]), "'joint 0' is on 'c'"),
        (lambda: pl.Robot({"a": block()}, joints=["weld"]), "give a Weld, Revolute"),
        (lambda: pl.Robot({"a": block()}, joints=pl.Ball("a", point=(0, 0, 0))), "give a list of joints"),
        (lambda: _soft(pl.Weld("soft")), "which deforms"),
        (lambda: _soft(pl.Weld(("soft", "tip"))), "no rigid part 'tip'"),
        (lambda: _soft(pl.Weld(("soft", [0, 1]))), "held in another way|one line"),
        (lambda: _soft(pl.Ball(("soft", [9, 10]), point=(0, 0, 0))), "all on one line"),
        (lambda: _soft(pl.Tie(("soft", [0]), "a")), "held in another way"),
        (lambda: _soft(pl.Tie(("soft", [20]), "soft")), "to itself"),
    ],
)
def test_joints_that_cannot_be_are_refused(make, said):
    """One error each, that names what is wrong."""
    with pytest.raises(InputError, match=said):
        make()


def _soft(joint):
    mesh = pl.make.box((0.06, 0.02, 0.02), (4, 2, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.3), fixed=[0])
    return pl.Robot({"soft": body, "a": block()}, joints=[joint])


def test_joined_bodies_know_it():
    """Pairs of bodies under a joint, a weld or a tie; the ground is no body."""
    mesh = pl.make.box((0.06, 0.02, 0.02), (4, 2, 2))
    soft = pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.3), fixed=mesh.where(x_below=0))
    joints = [
        pl.Weld("a", ("soft", mesh.where(x_above=0.06))),
        pl.Ball("b", "a", point=(0.1, 0, 0)),
        pl.Revolute("c", point=(0, 0, 0), axis=(0, 0, 1)),
    ]
    bodies = {"soft": soft, "a": block((0.08, 0.01, 0.01)), "b": block((0.12, 0.01, 0.01)), "c": block()}
    robot = pl.Robot(bodies, joints=joints)
    assert robot.joined == {frozenset({"a", "soft"}), frozenset({"a", "b"})}
    assert robot.with_roles({}).joined == robot.joined
