"""Rods among other bodies: joints, ports, trees, dynamics, pictures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.algebra.rotation import from_quaternion, logarithm
from pliant.bench.rods import device
from pliant.errors import InputError
from pliant.view import draw_bodies

G = 9.81


def rod(begin=(0, 0, 0), end=(0.2, 0, 0), count=6, **given):
    """A rod of something like nylon, 4 mm thick."""
    line = pl.Curve([begin, end])
    return pl.RodBody(line, pl.Section.circle(0.004), 2e8, 0.4, 1150, count=count, **given)


def hand(place, mass=0.02):
    """A small rigid body."""
    return pl.RigidBody(mass=mass, center=place, inertia=(4e-6, 5e-6, 6e-6))


def tree(rng, kinds):
    """A rod on the ground, on its end a soft block, a lattice, another rod and a rigid body in a row, by joints of these
    kinds."""
    mesh = pl.make.box((0.04, 0.02, 0.02), (2, 1, 1), origin=(0.2, -0.01, -0.01))
    lattice = pl.Lattice.block((4, 2, 2), 0.01, origin=(0.24, -0.01, -0.01))
    bodies = {
        "rod": rod(fixed="start"),
        "soft": pl.TetBody(mesh, pl.NeoHookean(E=2e5, nu=0.4)),
        "springs": pl.SpringBody(lattice, 2e5),
        "more": rod((0.28, 0, 0), (0.35, 0.05, 0.02), count=3),
        "hand": hand((0.36, 0.05, 0.02)),
    }
    sides = [
        (("rod", "end"), ("soft", mesh.where(x_below=0.2)), (0.2, 0, 0)),
        (("soft", mesh.where(x_above=0.24)), ("springs", lattice.where(x_below=0.24)), (0.24, 0, 0)),
        (("springs", lattice.where(x_above=0.28)), ("more", "0.0"), (0.28, 0, 0)),
        (("more", "end"), "hand", (0.35, 0.05, 0.02)),
    ]
    joints = {}
    for k, ((b, a, point), kind) in enumerate(zip(sides, kinds, strict=True)):
        d = rng.normal(size=3)
        joints[f"j{k}"] = {
            "weld": lambda a=a, b=b: pl.Weld(a, b),
            "revolute": lambda a=a, b=b, p=point, d=d: pl.Revolute(a, b, point=p, axis=d, stiffness=0.3),
            "ball": lambda a=a, b=b, p=point: pl.Ball(a, b, point=p, stiffness=0.4),
            "slide": lambda a=a, b=b, p=point, d=d: pl.Slide(a, b, direction=d, point=p, stiffness=200.0),
        }[kind]()
    return pl.Robot(bodies, joints=joints, gravity=(0, 0, -G))


@pytest.mark.parametrize("seed", range(4))
def test_the_tangent_of_a_tree_of_all_bodies_is_the_second_difference_of_its_potential(seed):
    """Rods, tets, springs and rigid bodies by random joints, moved anywhere: first and second differences of the potential."""
    rng = np.random.default_rng(seed)
    robot = tree(rng, rng.choice(["weld", "revolute", "ball", "slide"], size=4))
    equations = robot.equations
    assembly = equations.assembly
    loads = robot.loads(robot.rest().efforts)
    size = np.tile(assembly.reaches, (1, 3))
    free = np.ones_like(size)
    free[assembly.coordinate_count - assembly.parts.coordinate_count :] = assembly.parts.free
    turning = assembly.parts.numbers[:, 1]
    scale = np.full_like(size, 1e-3)
    scale[turning[turning >= 0]] = 0.05
    scale *= free
    pose = replace(assembly.moved(assembly.rest(), scale * rng.normal(size=size.shape)), led=None)
    found = equations.factor(pose, loads, signed=True)
    gradient = assembly.force_on_coordinates(found.T, found.here.gradient).ravel()
    K = assembly.pattern.to_csc(equations.values).toarray()

    def potential(step):
        return equations.evaluate(assembly.moved(pose, step.reshape(-1, 3)), loads).potential

    for _ in range(4):
        d = (scale * rng.normal(size=size.shape)).ravel()
        h = 1e-4
        assert (potential(h * d) - potential(-h * d)) / (2 * h) == pytest.approx(gradient @ d, rel=1e-4)
        h = 3e-3
        rows = [potential(k * h * d) for k in (-2, -1, 0, 1, 2)]
        second = np.dot(rows, [-1, 16, -30, 16, -1]) / (12 * h * h)
        assert second == pytest.approx(d @ K @ d, rel=1e-5)


def compliance_by_differences(robot, statics, state, row, step):
    """A column of W: displacements per effort, by central differences of full statics; rotations as spins."""
    ends = []
    for sign in (1, -1):
        efforts = state.efforts.copy()
        efforts[row] += sign * step
        ends.append(statics.solve(state, efforts=efforts).require().state)
    out = []
    for name, port in robot.ports.items():
        plus, minus = (robot.displacement(end, name, as_target=True) for end in ends)
        if isinstance(port.port, pl.Frame):
            spin = logarithm(from_quaternion(plus[3:]) @ from_quaternion(minus[3:]).T)
            out += [*(plus[:3] - minus[:3]) / (2 * step), *spin / (2 * step)]
        else:
            out += [*(plus - minus) / (2 * step)]
    return np.array(out)


def test_compliance_of_rods_is_that_of_full_statics():
    """W within 1e-6 of central differences of the nonlinear statics, at a large bend: a cable along the rod, a hinge with a
    motor between the rod's end and a rigid hand, a frame at the end and a point between sections."""
    body = rod(fixed="start")
    wrist = pl.Revolute("hand", ("rod", "end"), point=(0.2, 0, 0), axis=(0, 1, 0.2), stiffness=0.4)
    robot = pl.Robot({"rod": body, "hand": hand((0.22, 0, 0))}, joints={"wrist": wrist}, gravity=(0, 0, -G))
    eyes = [(x, 0, 0.006) for x in (0.03, 0.07, 0.11, 0.15, 0.2)]
    robot.impose("tendon", pl.Cable(eyes, pull=(0, 0, 0.006)), effort=3.0, body="rod")
    robot.impose("motor", pl.Hinge.on("wrist"), effort=0.01)
    robot.impose("end", pl.Frame("end"), effort=(0.05, 0.03, -0.02, 0, 0, 0), body="rod")
    robot.sense("mark", pl.Point((0.115, 0.001, -0.002)), body="rod")
    statics = pl.Statics(robot, tolerance=1e-12, max_iterations=200)
    state = statics.solve().require().state
    assert np.ptp(state.x[:28, 2]) > 0.02
    W = robot.linearize(state).model.W
    for row, name in enumerate(robot.row_names):
        if name.startswith(("mark", "end.r")):
            continue
        step = {"tendon": 1e-3, "motor": 1e-5}.get(name, 1e-4)
        column = compliance_by_differences(robot, statics, state, row, step)
        assert column == pytest.approx(W[:, row], rel=1e-6, abs=1e-6 * np.abs(W[:, row]).max())


def test_compliance_of_a_chamber_on_rods_is_that_of_full_statics():
    """W within 1e-6 of central differences of the nonlinear statics, at a large bend: two rods carry a block of tets with a
    chamber under pressure, a tendon pulls at it, a motor turns the root of one rod, and a frame has force and moment."""
    chamber = pl.solids.box((0.02, 0.012, 0.01), at=(0.21, -0.006, -0.005))
    mesh = (pl.solids.box((0.04, 0.03, 0.03), at=(0.2, -0.015, -0.015)) - chamber).filled(size=9e-3)
    legs = [pl.Curve([(0, y, 0), (0.2, y, 0)]) for y in (-0.01, 0.01)]
    bodies = {
        "rods": pl.RodBody(legs, pl.Section.circle(0.003), 2e9, 0.4, 1150, count=5, fixed="0.start"),
        "soft": pl.TetBody(mesh, pl.NeoHookean(E=2e5, nu=0.4)),
    }
    face = ("soft", mesh.where(x_below=0.2))
    joints = {
        "weld 0": pl.Weld(("rods", "0.end"), face),
        "weld 1": pl.Weld(("rods", "1.end"), face),
        "hip": pl.Revolute(("rods", "1.start"), point=(0, 0.01, 0), axis=(0, 1, 0), stiffness=0.2),
    }
    robot = pl.Robot(bodies, joints=joints, gravity=(0, 0, -G))
    robot.impose("air", pl.Cavity(chamber), effort=8e3, body="soft")
    robot.impose("tendon", pl.Cable([(0.235, 0, 0.012)], pull=(0, 0, 0.03)), effort=0.6, body="soft")
    robot.impose("hip", pl.Hinge.on("hip"), effort=0.03)
    robot.impose("end", pl.Frame(mesh.where(x_above=0.24)), effort=np.zeros(6), body="soft")
    statics = pl.Statics(robot, tolerance=1e-12, max_iterations=200)
    state = statics.solve().require().state
    assert np.abs(state.x - robot.rest().x).max() > 0.02
    assert robot.displacement(state, "air")[0] > 0.05 * chamber.volume
    W = robot.linearize(state).model.W
    steps = {"air": 20.0, "tendon": 1e-3, "hip": 1e-4} | {f"end.{axis}": 1e-4 for axis in "xyz"}
    for row, name in enumerate(robot.row_names):
        column = compliance_by_differences(robot, statics, state, row, steps.get(name, 1e-5))
        assert column == pytest.approx(W[:, row], rel=1e-6, abs=1e-6 * np.abs(W[:, row]).max()), name


@pytest.mark.parametrize("way", [(0, 0, 1), (1, 0, 0)])
def test_one_linear_step_leaves_a_good_model(way, figure):
    """Where one linearized step of 4 mm has led a device of six rods, W is within 2 % of that at the equilibrium with the same
    efforts; with the true stresses there, whose tension no equilibrium has, it would be off by more than a tenth."""
    robot = device()
    state = pl.Statics(robot).solve().require().state
    names = robot.row_names
    motors = [k for k, name in enumerate(names) if name.startswith("motor")]
    place = [names.index(f"pose.{axis}") for axis in "xyz"]
    here = robot.linearize(state)
    efforts = state.efforts.copy()
    efforts[motors] += np.linalg.pinv(here.model.W[np.ix_(place, motors)]) @ (4e-3 * np.array(way))
    led = here.follow(efforts).state
    assert np.abs(led.x - state.x).max() > 3.5e-3
    balanced = pl.Statics(robot).solve(led, efforts=efforts).require().state
    true = robot.linearize(balanced).model.W

    def off(state):
        return np.abs(robot.linearize(state).model.W - true).max() / np.abs(true).max()

    figure(f"rod.model_after_a_step_{'xyz'[int(np.argmax(way))]}", off(led), reference=0, source="W at the equilibrium")
    assert off(led) < 0.02
    assert off(replace(led, pose=replace(led.pose, led=None))) > 0.1


def test_sections_are_places_of_joints():
    """By name, whole or as nodes; a section that is fixed is the ground; of one that does not exist the names are told."""
    body = rod(fixed="start")
    for place in (("rod", "end"), ("rod", "0.6"), ("rod", body.part_nodes("end", ""))):
        joint = pl.Weld("hand", place)
        robot = pl.Robot({"rod": body, "hand": hand((0.2, 0, 0))}, joints=[joint], gravity=(0, 0, -G))
        assert robot.equations.assembly.coordinate_count == 2 * 6
    with pytest.raises(InputError, match=r"joint 'joint 0' on 'rod': there is no section 'tip'.*'1.end'"):
        pl.Robot({"rod": body, "hand": hand((0.2, 0, 0))}, joints=[pl.Weld("hand", ("rod", "tip"))])
    with pytest.raises(InputError, match="which deforms"):
        pl.Robot({"rod": body, "hand": hand((0.2, 0, 0))}, joints=[pl.Weld("hand", "rod")])


def test_reactions_at_a_clamped_rod_are_its_weight():
    """The force and the moment at the clamp of a rod with a body welded to its end."""
    bodies = {"rod": rod(fixed="start"), "hand": hand((0.2, 0, 0))}
    robot = pl.Robot(bodies, joints=[pl.Weld("hand", ("rod", "end"))], gravity=(0, 0, -G))
    state = pl.Statics(robot).solve().require().state
    held = robot.wrench(state, "rod")
    weight = np.outer(robot.equations.masses, [0, 0, -G])
    assert held.force == pytest.approx(-weight.sum(axis=0), abs=1e-8)
    moment = -np.cross(state.x - held.point, weight).sum(axis=0)
    assert held.moment == pytest.approx(moment, abs=1e-8)


def test_a_swinging_rod_keeps_its_energy():
    """A rod on a ball joint, let go: over 0.8 s the energy stays within 2 % of that of the swing, and half a period is that of
    a rigid bar at small swings, pi sqrt(2 L / 3 g), within 1 %."""
    body = rod((0, 0, 0), (0.02, 0, -0.2), count=4)
    ball = pl.Ball(("rod", "start"), point=(0, 0, 0))
    robot = pl.Robot({"rod": body}, joints={"pivot": ball}, gravity=(0, 0, -G))
    robot.sense("tip", pl.Point((0.02, 0, -0.2)))
    dynamics, state = pl.Dynamics(robot, 2e-3), robot.rest()
    way, energies = [], []
    for _ in range(400):
        state = dynamics.step(state).require().state
        way.append(robot.displacement(state, "tip")[0])
        kinetic = 0.5 * np.vdot(state.v, robot.equations.momentum(state.v))
        energies.append(
            kinetic
            + body.energy(state.x[: body.node_count])
            - body.load_masses @ state.x[: body.node_count] @ [0, 0, -G]
        )
    period = 2 * np.pi * np.sqrt(2 * np.hypot(0.02, 0.2) / (3 * G))
    half = 2e-3 * (1 + int(np.argmin(way)))
    assert half == pytest.approx(period / 2, rel=0.01)
    swing = body.mass_total * G * 0.5 * (np.hypot(0.02, 0.2) - 0.2)
    assert np.ptp(energies) < 0.02 * swing


def test_rods_are_drawn(tmp_path):
    """A picture of a bent rod on a rigid body, coloured by stress."""
    body = rod(fixed="start")
    robot = pl.Robot(
        {"rod": body, "hand": hand((0.2, 0, 0))}, joints=[pl.Weld("hand", ("rod", "end"))], gravity=(0, 0, -G)
    )
    state = pl.Statics(robot).solve().require().state
    draw_bodies(robot, state, tmp_path / "rod.png")
    assert (tmp_path / "rod.png").stat().st_size > 5000
