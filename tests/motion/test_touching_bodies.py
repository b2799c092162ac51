"""Bodies that touch each other: collisions, pressure, rest, sliding and release, and what is said of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Sphere
from pliant.errors import InputError
from pliant.motion import Dynamics
from pliant.robot import State
from pliant.robot.isolated import Isolated
from pliant.shape.facets import Facets

G = 9.81
LAW = pl.Corotational(E=1e5, nu=0.3)


def soft(size=(0.04, 0.03, 0.03), counts=(4, 3, 3), at=(0.0, 0.0, 0.0), **options):
    return pl.TetBody(pl.make.box(size, counts).translated(at), LAW, density=1000, **options)


def rigid(size=(0.03, 0.03, 0.03), at=(0.0, 0.0, 0.0), **options):
    return pl.RigidBody(pl.make.box(size, (2, 2, 2)).translated(at).surface(), density=1000, **options)


def momentum_of_nodes(robot, state):
    """M v (n, 3) [kg m/s], with the mass matrices of the bodies."""
    out = np.zeros_like(state.v)
    for name, body in zip(robot.body_names, robot.bodies, strict=True):
        own, M = robot.nodes_of(name), np.zeros((body.node_count, body.node_count))
        M[body.rows, body.cols] = M[body.cols, body.rows] = body.mass_weights
        out[own] = M @ state.v[own]
    return out


def momentum(robot, state):
    """Linear and angular momentum [kg m/s], [kg m^2/s]."""
    each = momentum_of_nodes(robot, state)
    return each.sum(axis=0), np.cross(state.x, each).sum(axis=0)


def stepped(robot, state, h, steps):
    motion, results = Dynamics(robot, h), []
    for _ in range(steps):
        results.append(motion.step(state).require())
        state = results[-1].state
    return results


def thrown(robot, body, velocity):
    state = robot.rest()
    v = state.v.copy()
    v[robot.nodes_of(body)] = velocity
    return replace(state, v=v)


PAIRS = {
    "soft and soft": lambda: (soft(), soft((0.03, 0.025, 0.03), (3, 2, 3), (0.0405, 0.008, 0.004))),
    "rigid and rigid": lambda: (rigid(), rigid(at=(0.0305, 0.008, 0.004))),
    "rigid and soft": lambda: (rigid(), soft(at=(0.0305, 0.008, 0.004))),
}


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("mu", [0.0, 0.5])
@pytest.mark.parametrize("pair", PAIRS)
def test_a_collision_keeps_momentum(pair, mu, method):
    """Linear and angular, to rounding, at every step of it and afterwards."""
    a, b = PAIRS[pair]()
    robot = pl.Robot({"a": a, "b": b})
    robot.touch("hit", "b", body="a", friction=mu)
    state, motion = thrown(robot, "a", (1.0, 0.3, 0.0)), Dynamics(robot, 5e-4, method=method)
    p, L = momentum(robot, state)
    most = 0
    for _ in range(30):
        result = motion.step(state).require()
        state = result.state
        after, turned = momentum(robot, state)
        np.testing.assert_allclose(after, p, atol=1e-11 * np.abs(p).max())
        np.testing.assert_allclose(turned, L, atol=1e-10 * np.abs(L).max())
        assert result.penetration < 1e-2 * 0.01
        most = max(most, len(robot.contacts(state, "hit")))
    assert most >= 6
    assert state.v[robot.nodes_of("b"), 0].mean() > 0.4


def test_what_is_put_back_to_keep_it_shrinks_with_the_step(monkeypatch):
    """Without it spins after a collision are off by some per cent, in proportion to the step."""
    off = []
    for h in (5e-4, 2.5e-4):
        spins = []
        for kept in (Isolated.kept, lambda self, before, after, extra, gravity: after):
            monkeypatch.setattr(Isolated, "kept", kept)
            a, b = PAIRS["soft and soft"]()
            robot = pl.Robot({"a": a, "b": b})
            robot.touch("hit", "b", body="a", friction=0.0)
            spins.append(momentum_about_middles(robot, collided(robot, h)))
        off.append(np.abs(spins[1] - spins[0]).max() / np.abs(spins[0]).max())
        monkeypatch.undo()
    assert 0.005 < off[0] < 0.03
    assert off[1] < 0.65 * off[0]


def collided(robot, h):
    return stepped(robot, thrown(robot, "a", (1.0, 0.3, 0.0)), h, round(0.015 / h))[-1].state


def momentum_about_middles(robot, state):
    """Angular momentum of each body about its centre of mass (b, 3) [kg m^2/s]."""
    each, out = momentum_of_nodes(robot, state), []
    for name, body in zip(robot.body_names, robot.bodies, strict=True):
        own, masses = robot.nodes_of(name), body.load_masses
        arms = state.x[own] - masses @ state.x[own] / masses.sum()
        out.append(np.cross(arms, each[own]).sum(axis=0))
    return np.array(out)


@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize(("counts", "order"), [((4, 4, 2), 1), ((5, 5, 3), 1), ((5, 5, 3), 2)])
def test_blocks_with_other_meshes_press_evenly(counts, order, mu):
    """Patch test: 2 % of uniaxial strain in two blocks one on the other: E e within 5 % in every tet."""
    law, strain = pl.Corotational(E=1e5, nu=0.0), 0.02
    low = pl.make.box((0.04, 0.04, 0.02), (3, 3, 2))
    high = pl.make.box((0.04, 0.04, 0.02), counts).translated((0, 0, 0.02))
    robot = pl.Robot(
        {
            "low": pl.TetBody(low, law, density=1000, damping=(0, 0.02), fixed=low.where(z_below=0), order=order),
            "high": pl.TetBody(
                high, law, density=1000, damping=(0, 0.02), prescribed=high.where(z_above=0.04), order=order
            ),
        }
    )
    robot.touch("between", "low", body="high", friction=mu)
    state, motion, rest = robot.rest(), Dynamics(robot, 0.01), robot.prescribed_rest
    for k in range(1, 41):
        down = strain * 0.04 * min(1.0, k / 10)
        result = motion.step(state, prescribed=rest - (0, 0, down)).require()
        state = result.state
        assert result.penetration < (1e-8 if order == 1 else 1e-6)
    for name, body in zip(robot.body_names, robot.bodies, strict=True):
        pressure = -body.fields(robot.nodes(state, name)).stress[..., 2, 2]
        np.testing.assert_allclose(pressure, strain * 1e5, rtol=0.05)
    report = robot.contacts(state, "between")
    np.testing.assert_allclose(report.force, [0, 0, strain * 1e5 * 0.04**2], atol=2e-3 * 3.2)
    moment = report.moment(np.array([0.02, 0.02, 0.02]))
    np.testing.assert_allclose(moment, 0.0, atol=1e-3 * 3.2 * 0.04)


def rod():
    line = pl.Curve([(0.005, 0.015, 0.005), (0.035, 0.015, 0.005)])
    return pl.RodBody(line, pl.Section.rectangle(0.01, 0.01), 1e6, 0.4, 1000, count=4, damping=(0, 0.002))


KINDS = {
    "tets": lambda: soft((0.03, 0.02, 0.01), (3, 2, 1), (0.005, 0.005, 0), damping=(0, 0.002)),
    "ten-node": lambda: soft((0.03, 0.02, 0.01), (2, 1, 1), (0.005, 0.005, 0), order=2, damping=(0, 0.002)),
    "springs": lambda: pl.SpringBody(
        pl.Lattice.voxels(pl.solids.box((0.03, 0.02, 0.01)).translated((0.005, 0.005, 0)), 0.01),
        E=1e5, density=1000, damping=(0, 0.002)
    ),
    "rod": rod,
    "rigid": lambda: rigid((0.03, 0.02, 0.01), (0.005, 0.005, 0)),
}  # fmt: skip


def on_a_pad(kind, degrees, mu, heading=0.0):
    """A body on a soft pad that lies on the ground z = -0.01, in gravity of a slope."""
    pad = pl.make.box((0.08, 0.06, 0.01), (6, 5, 1)).translated((-0.02, -0.015, -0.01))
    below = pl.TetBody(pad, LAW, density=1000, damping=(0, 0.002), fixed=pad.where(z_below=-0.01))
    body = KINDS[kind]()
    a = np.radians(degrees)
    gravity = G * np.array([np.sin(a) * np.cos(heading), np.sin(a) * np.sin(heading), -np.cos(a)])
    robot = pl.Robot({"pad": below, "thing": body}, gravity=gravity)
    robot.touch("pad", below, body="thing", friction=mu)
    return robot, body


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_rest_on_a_soft_pad(kind):
    robot, body = on_a_pad(kind, 15.0, 0.6)
    results = stepped(robot, robot.rest(), 0.005, 60)
    report = robot.contacts(results[-1].state, "pad")
    np.testing.assert_allclose(report.force, -body.load_masses.sum() * robot.gravity, rtol=0.02, atol=2e-4)
    before, after = (robot.nodes(results[k].state, "thing") for k in (40, -1))
    assert np.abs(after - before).max() < 2e-5
    assert set(report.state) <= {"sticking", "sliding"}
    assert max(result.penetration for result in results) < 1e-2 * 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_slide_on_a_soft_pad(kind):
    """With mu times the normal force on each contact, against the slip."""
    robot, _ = on_a_pad(kind, 35.0, 0.3)
    end = stepped(robot, robot.rest(), 0.005, 12)[-1].state
    report = robot.contacts(end, "pad")
    assert len(report) >= 1
    moving = report.state == "sliding"
    np.testing.assert_allclose(
        np.linalg.norm(report.friction_forces[moving], axis=1), 0.3 * report.normal_forces[moving], rtol=1e-6, atol=1e-9
    )
    assert robot.nodes(end, "thing")[:, 0].mean() > robot.nodes(robot.rest(), "thing")[:, 0].mean() + 2e-3
    assert report.force[0] < 0.0 < report.force[2]


@pytest.mark.parametrize("kind", KINDS)
def test_bodies_let_go_of_a_soft_pad(kind):
    robot, _ = on_a_pad(kind, 0.0, 0.5)
    state = stepped(robot, robot.rest(), 0.005, 10)[-1].state
    assert len(robot.contacts(state, "pad")) >= 1
    robot.set_gravity((0, 0, G))
    state = stepped(robot, state, 0.005, 12)[-1].state
    assert len(robot.contacts(state, "pad", open_too=True)) == 0


def plate():
    shell = pl.make.box((0.1, 0.1, 0.001), (6, 6, 1)).translated((-0.05, -0.05, -0.05))
    rim = np.flatnonzero((np.abs(shell.nodes[:, :2]) > 0.0499).any(axis=1))
    return pl.TetBody(shell, pl.Corotational(E=1e7, nu=0.3), density=1000, damping=(0, 0.001), fixed=rim)


@pytest.mark.filterwarnings("ignore:the filled volume")
@pytest.mark.parametrize("kind", ["soft", "rigid", "round"])
def test_a_ball_at_ten_metres_per_second_does_not_pass_a_thin_shell(kind):
    """A body of 1 mm, while the ball would go 20 mm in a step."""
    surface = pl.solids.sphere(0.02)
    ball = (
        pl.TetBody(surface.filled(size=0.008), pl.Corotational(E=5e4, nu=0.4), density=300, damping=(0, 0.005))
        if kind == "soft"
        else pl.RigidBody(surface, density=300)
    )
    robot = pl.Robot({"ball": ball, "shell": plate()})
    robot.touch("hit", "shell", body="ball", surface=Sphere(radius=0.02) if kind == "round" else None)
    state, motion = thrown(robot, "ball", (0.0, 0.0, -10.0)), Dynamics(robot, 0.002)
    touched = 0
    for _ in range(20):
        result = motion.step(state).require()
        state, touched = result.state, touched + len(robot.contacts(result.state, "hit"))
        middle = robot.nodes(state, "ball")[:, 2].mean() if kind == "soft" else robot.nodes(state, "ball")[0, 2]
        assert middle > robot.nodes(state, "shell")[:, 2].min()
    assert touched > 0
    assert robot.nodes(state, "ball")[:, 2].mean() > -0.05


def test_a_round_ball_rests_on_a_soft_pad():
    """With its weight in the mean (it rocks from one triangle to the next, by 2 %), and no deeper in it than 1 % of an edge on
    dense samples of the pad."""
    pad = pl.make.box((0.06, 0.06, 0.02), (8, 8, 3)).translated((-0.03, -0.03, -0.02))
    below = pl.TetBody(pad, LAW, density=1000, damping=(0, 0.005), fixed=pad.where(z_below=-0.02))
    ball = pl.RigidBody(mass=0.05, center=(0, 0, 0.02), inertia=0.4 * 0.05 * 0.02**2 * np.ones(3), damping=8.0)
    robot = pl.Robot({"pad": below, "ball": ball}, gravity=(0, 0, -G))
    robot.touch("pad", below, body="ball", surface=Sphere(center=(0, 0, 0.02), radius=0.02))
    results = stepped(robot, robot.rest(), 0.005, 150)
    forces = np.array([robot.contacts(result.state, "pad").force for result in results[-60:]])
    np.testing.assert_allclose(forces.mean(axis=0), [0, 0, 0.05 * G], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(forces[:, 2], 0.05 * G, rtol=0.02)
    x, side = results[-1].state.x, robot.touches["pad"].against
    corners = side.positions(x)[side.facets.triangles]
    samples = np.einsum("qa,tai->tqi", np.random.default_rng(0).dirichlet(np.ones(3), 40), corners).reshape(-1, 3)
    depth = 0.02 - np.linalg.norm(samples - robot.nodes(results[-1].state, "ball")[0], axis=1)
    assert depth.max() < 0.01 * side.edge


def test_a_rigid_box_on_a_soft_pad_does_not_enter_it():
    """On dense samples of both surfaces: below 1 % of the mean edge."""
    robot, _ = on_a_pad("rigid", 10.0, 0.5)
    touch, rng = robot.touches["pad"], np.random.default_rng(1)
    for result in stepped(robot, robot.rest(), 0.005, 40)[::8]:
        for one, other in ((touch.side, touch.against), (touch.against, touch.side)):
            x = result.state.x
            corners = one.positions(x)[one.facets.triangles]
            samples = np.einsum("qa,tai->tqi", rng.dirichlet(np.ones(3), 30), corners).reshape(-1, 3)
            wall = Facets(other.positions(x), other.facets.triangles).at(other.positions(x))
            assert wall.hits(samples).distances.min() > -0.01 * other.edge


def test_states_keep_contacts_of_bodies_in_files(tmp_path):
    robot, _ = on_a_pad("tets", 15.0, 0.6)
    state = stepped(robot, robot.rest(), 0.005, 10)[-1].state
    state.save(tmp_path / "state")
    again, motion = State.load(tmp_path / "state"), Dynamics(robot, 0.005)
    np.testing.assert_array_equal(motion.step(state).state.x, motion.step(again).state.x)
    np.testing.assert_array_equal(robot.contacts(state, "pad").forces, robot.contacts(again, "pad").forces)


def test_bodies_that_start_inside_each_other_come_apart():
    robot = pl.Robot({"a": rigid(), "b": soft(at=(0.027, 0.004, 0.003), damping=(0, 0.002))})
    robot.touch("overlap", "b", body="a")
    results = stepped(robot, robot.rest(), 0.005, 40)
    assert results[0].penetration > 5e-4
    assert results[-1].penetration < 1e-5
    assert np.isfinite(results[-1].state.x).all()


def test_bad_touches_of_bodies_are_named():
    a, b = rigid(), rigid(at=(0.04, 0, 0))
    open_surface = pl.SurfaceMesh([(0, 0, 0), (0.01, 0, 0), (0, 0.01, 0)], [(0, 1, 2)])
    hinge = pl.Revolute("a", "b", point=(0.035, 0, 0), axis=(0, 0, 1))
    robot = pl.Robot({"a": a, "b": b, "c": rigid(at=(0.08, 0, 0))}, joints=[hinge])
    for arguments, told in (
        ({"other": b, "body": "a"}, "joint"),
        ({"other": "c", "body": "a", "surface": open_surface}, "open"),
        ({"other": "c", "body": "a", "other_surface": open_surface}, "open"),
        ({"other": "c", "body": "a", "friction": -0.1}, "friction"),
        ({"other": "nobody", "body": "a"}, "obstacle"),
        ({"other": rigid(), "body": "a"}, "body"),
        ({"other": pl.Plane(), "body": "a", "other_surface": open_surface}, "other_surface"),
    ):
        with pytest.raises(InputError, match=told):
            robot.touch("bad", **arguments)
    assert not robot.touches
    robot.touch("good", "c", body="a")
    with pytest.raises(InputError, match="body"):
        robot.move_obstacle("good", (0, 0, 0))


def bar(axis, at, body):
    """A square bar of 10 mm on its edge, along x or y."""
    size, counts = ((0.1, 0.01, 0.01), (7, 1, 1)) if axis == "x" else ((0.01, 0.1, 0.01), (1, 7, 1))
    turned = (1, 0, 0) if axis == "x" else (0, 1, 0)
    return body(pl.make.box(size, counts, center=(0, 0, 0)).rotated(turned, np.pi / 4).translated(at))


@pytest.mark.parametrize("kind", ["rigid", "soft"])
def test_crossed_bars_rest_edge_on_edge(kind):
    """With its weight, in one place where no corner is near, or, on an obstacle, the same."""
    make = {
        "rigid": lambda mesh: pl.RigidBody(mesh.surface(), 1000),
        "soft": lambda mesh: pl.TetBody(mesh, pl.Corotational(E=1e6, nu=0.3), density=1000, damping=(0, 0.002)),
    }[kind]
    low = bar("x", (0, 0, 0), lambda mesh: mesh.surface())
    high = bar("y", (0, 0, 0.0142), make)
    on_body = pl.Robot({"low": pl.RigidBody(low, 1000, fixed=True), "high": high}, gravity=(0, 0, -G))
    on_body.touch("cross", "low", body="high")
    on_obstacle = pl.Robot({"high": high}, gravity=(0, 0, -G))
    on_obstacle.touch("cross", pl.Solid(low))
    for robot in (on_body, on_obstacle):
        results = stepped(robot, robot.rest(), 0.005, 30)
        report = robot.contacts(results[-1].state, "cross")
        assert len(report) == 1
        np.testing.assert_allclose(report.points, [[0, 0, 0.005 * np.sqrt(2)]], atol=5e-5)
        np.testing.assert_allclose(report.normals, [[0, 0, 1]], atol=1e-3)
        np.testing.assert_allclose(report.force, [0, 0, high.load_masses.sum() * G], rtol=0.02, atol=1e-5)
        assert max(result.penetration for result in results) < 1e-8


def test_bars_that_are_far_apart_do_not_touch_by_their_far_edges():
    robot = pl.Robot({"low": bar("x", (0, 0, 0), make_rigid), "high": bar("y", (0, 0, 0.03), make_rigid)})
    robot.touch("cross", "low", body="high")
    result = stepped(robot, robot.rest(), 0.005, 1)[0]
    assert len(robot.contacts(result.state, "cross", open_too=True)) == 0
    assert result.penetration == 0.0


def make_rigid(mesh):
    return pl.RigidBody(mesh.surface(), 1000)
