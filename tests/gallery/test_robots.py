"""The robots of the gallery: what every one of them must have, and how well each follows its path."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pliant.body import SpringBody, TetBody
from pliant.control import Inverse
from pliant.device import Guard
from pliant.errors import InputError, PliantWarning, SurfaceError
from pliant.gallery import Choices, Follower, all_robots, find, finger, pneunet, trunk
from pliant.gallery.follower import no_paths
from pliant.material import Corotational
from pliant.motion import Statics
from pliant.robot import Robot
from pliant.robot.roles import Role
from pliant.shape import make, read
from waiting import until

pytestmark = pytest.mark.thorough

DATA = Path(os.environ.get("PLIANT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "meshes"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="outside meshes are absent; set PLIANT_DATA")


def figures_of(name: str, robot: Robot | None = None) -> dict[str, float]:
    """The report of a robot along its own path."""
    exhibit = find(name)
    robot = exhibit.build(None) if robot is None else robot
    hanging = Statics(robot).solve().require().state
    report = exhibit.report(robot, hanging, exhibit.chosen_paths(robot, hanging))
    return {figure.name.removeprefix(f"{name}."): figure.value for figure in report.figures}


@pytest.mark.parametrize("name", [name for name, exhibit in all_robots.items() if isinstance(exhibit, Follower)])
def test_every_follower_is_complete(name):
    """It builds in its own place, hangs in balance, and has a path for every effector."""
    exhibit = all_robots[name]
    robot = exhibit.build(None)
    hanging = Statics(robot).solve().require().state
    assert robot.bodies[0].node_count < 3000
    for paths in exhibit.paths(robot, hanging).values():
        assert tuple(paths) == robot.named(Role.EFFECTOR)
        assert all(np.isfinite(path.position(path.duration / 3)).all() for path in paths.values())


@pytest.mark.parametrize("name", [name for name, exhibit in all_robots.items() if isinstance(exhibit, Follower)])
def test_every_follower_says_what_a_drive_of_it_can_be_told(name):
    """`commands` are those kinds for which its actuators have limits and rates, so that a guard can be made: told before it
    is built, true once it is."""
    exhibit = all_robots[name]
    robot = exhibit.build(None)
    for kind in ("effort", "displacement"):
        if kind in exhibit.commands:
            assert exhibit.chosen_command("simulated", kind) == kind
            assert Guard.of_robot(robot, kind).kind == kind
        else:
            with pytest.raises(InputError, match=r"leave out --drive|no limits of their"):
                exhibit.chosen_command("simulated", kind)
            with pytest.raises(InputError):
                Guard.of_robot(robot, kind)
    assert bool(exhibit.commands) == bool(robot.named(Role.ACTUATOR))


@pytest.mark.parametrize("name", ["finger", "pneunet", "trunk"])
def test_every_follower_moves_a_drive(name):
    """Its page with a simulated drive: commands leave, none out of bounds, and the drive is closed with the page."""
    page = replace(find(name), paths=no_paths).page(Choices(drive="simulated"))  # it takes a while to find its paths
    feed = page.session.feed
    try:
        until(lambda: feed.drive.status.sent > 3)
        wish = 0.5 * (feed.guard.low + feed.guard.high)
        feed.wish(wish)
        until(lambda: np.abs(feed.guard.command).max() > 0)
        assert (feed.guard.command >= feed.guard.low).all()
        assert (feed.guard.command <= feed.guard.high).all()
        assert feed.drive.status.faults == 0
    finally:
        page.close()
    assert feed.is_safe


@pytest.mark.parametrize(("name", "live", "converged"), [("finger", 0.3, 0.01), ("trunk", 0.3, 1e-3)])
def test_paths_are_followed(name, live, converged):
    """Mean error [mm] of the nonlinear equilibrium, one decision at a time at 50 Hz; and of converged poses. The paths of
    the finger are chords of a curve, and its tip can only be on the curve."""
    figures = figures_of(name)
    assert figures["realtime_error_mean"] < live
    assert figures["converged_error_max"] < converged


def test_the_trunk_of_springs_is_the_same_robot():
    """Under the same controller it gets to its target; one cable moves its tip less than that of ten-node tets with
    nu = 1/4, by no more than 15 % (the tip has three points across)."""
    moves = []
    law = Corotational(E=trunk.E, nu=0.25)
    mesh = trunk.shape()
    accurate = TetBody(mesh, law, order=2, density=trunk.DENSITY, fixed=mesh.where(z_above=-trunk.BASE))
    for robot in (find("trunk").built_from(body="springs"), trunk.cabled(accurate)):
        hanging = Statics(robot).solve().require().state
        home = robot.displacement(hanging, "tip")
        robot.set_effort("long0", 0.5)
        moves.append(robot.displacement(Statics(robot).solve(hanging).require().state, "tip") - home)
    assert 0.85 < np.linalg.norm(moves[0]) / np.linalg.norm(moves[1]) < 1.0
    robot = find("trunk").built_from(body="springs")
    assert isinstance(robot.bodies[0], SpringBody)
    hanging = Statics(robot).solve().require().state
    target = robot.displacement(hanging, "tip") + np.array([0.02, 0.0, 0.005])
    assert Inverse(robot).solve_pose(hanging, tip=target, max_iterations=300).require().distance < 1e-8


def test_a_body_that_a_robot_does_not_have_is_said():
    """The choices are in the message."""
    with pytest.raises(InputError, match="not there on springs; leave out --body"):
        find("diamond").built_from(body="springs")
    with pytest.raises(InputError, match="no body 'jelly'; choose one of: tets, springs"):
        find("trunk").built_from(body="jelly")


@pytest.mark.slow
def test_the_trunk_of_springs_follows_its_path():
    """Under the same controller, within the bounds of the trunk of tets."""
    figures = figures_of("trunk", find("trunk").built_from(body="springs"))
    assert figures["realtime_error_mean"] < 0.3
    assert figures["converged_error_max"] < 1e-3


def test_choices_of_a_run(tmp_path):
    """A path by name or from a file; a mesh only where the robot takes one; each mistake names the choices."""
    exhibit = find("trunk")
    robot = exhibit.build(None)
    hanging = robot.rest()
    assert exhibit.chosen_paths(robot, hanging, "swing")["tip"].duration > 1
    (tmp_path / "way.csv").write_text("time,x,y,z\n0,0,0,-0.19\n2,0.01,0,-0.19\n")
    assert exhibit.chosen_paths(robot, hanging, str(tmp_path / "way.csv"))["tip"].duration == 2
    with pytest.raises(InputError, match="choose one of: circle, swing"):
        exhibit.chosen_paths(robot, hanging, "square")
    with pytest.raises(InputError, match="its own mesh only"):
        find("cantilever").built_from(tmp_path / "mesh.vtk")
    make.box((0.02, 0.02, 0.02), 1).surface().write(tmp_path / "box.stl", unit="mm")
    with pytest.raises(InputError, match="has no tets"):
        exhibit.built_from(tmp_path / "box.stl")


def reach_hidden_pressures(robot: Robot, count: int = 50) -> tuple[float, float]:
    """Largest error [m] and relative error of the pressure, for targets from forward runs at pressures nobody is told."""
    statics, inverse = Statics(robot, tolerance=1e-11), Inverse(robot)
    state = rest = statics.solve().require().state
    errors = []
    for pressure in np.random.default_rng(5).uniform(2e3, 60e3, count):
        robot.set_effort("air", pressure)
        target = robot.displacement(statics.solve(rest).require().state, "tip")
        robot.set_effort("air", 0.0)
        step = inverse.solve_pose(state, tip=target).require()
        state = step.state
        errors.append((step.distance, abs(step.efforts["air"][0] / pressure - 1)))
    worst = np.max(errors, axis=0)
    return float(worst[0]), float(worst[1])


@pytest.mark.slow
def test_hidden_pressures_are_found(capsys):
    """Fifty targets of the pneumatic finger within 0.01 mm, the pressure within 0.1 %."""
    distance, pressure = reach_hidden_pressures(pneunet.build())
    with capsys.disabled():
        print(f"\n  50 hidden pressures: tip within {1e3 * distance:.1e} mm, pressure within {100 * pressure:.1e} %")
    assert distance < 1e-5
    assert pressure < 1e-3


@needs_data
def test_an_outside_finger_with_a_wall_that_is_not_its_own():
    """The cavity's surface comes from another file than the tets: its volume at rest is the file's, to 1e-9, and fifty
    hidden pressures are found."""
    mesh = pneunet.placed(read(DATA / "pneunetCutCoarse.vtk", "mm"))
    wall = pneunet.placed(read(DATA / "pneunetCavityCut.stl", "mm"))
    nodes = {tuple(node) for node in mesh.nodes.round(9).tolist()}
    shared = sum(tuple(node) in nodes for node in wall.nodes.round(9).tolist())
    assert shared < 0.5 * len(wall.nodes)
    robot = pneunet.build(mesh, wall=wall)
    cavity = robot.ports["air"].attachment
    assert cavity.port.volume(cavity.positions(robot.rest().x)) == pytest.approx(wall.volume, rel=1e-9)
    distance, pressure = reach_hidden_pressures(robot)
    assert distance < 1e-5
    assert pressure < 1e-3


def test_a_mesh_without_a_cavity_is_said():
    """A pneumatic finger needs one."""
    with pytest.raises(SurfaceError, match="no cavity inside"):
        pneunet.build(make.box((0.02, 0.02, 0.115), (2, 2, 6), origin=(0, -0.01, -0.115)))


@needs_data
def test_the_outside_finger_reaches_a_height():
    """The height of the tip alone is the target (one cable, one row): reached to 1e-8 m, where the limits allow it; where
    they do not, the robot stops at a limit and never beyond."""
    robot = finger.build(finger.placed(read(DATA / "finger.vtk", "mm")), axes="z")
    inverse, state = Inverse(robot), Statics(robot).solve().require().state
    for height in (-0.020, -0.030, -0.045, -0.025):
        step = inverse.solve_pose(state, tip=[height]).require()
        state = step.state
        assert step.distance < 1e-8
    low, high = robot.ports["tendon"].limits.effort[0]
    course = robot.ports["tendon"].limits.displacement[0]
    for height in (0.2, -0.2, 0.0, -0.2):
        for _ in range(15):
            step = inverse.step(state, interval=0.02, tip=[height])
            state = step.state
            assert low <= step.efforts["tendon"][0] <= high
            assert course[0] - 1e-9 <= step.displacements["tendon"][0] <= course[1] + 1e-9


@needs_data
@pytest.mark.parametrize(("name", "file"), [("trunk", "trunk.vtk"), ("diamond", "diamond.vtk")])
def test_outside_meshes_run(name, file):
    """The robots run on other meshes, and reach their paths."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PliantWarning)
        robot = find(name).built_from(DATA / file)
    assert figures_of(name, robot)["converged_error_max"] < 1e-3


def test_eight_cables_for_three_coordinates_change_smoothly():
    """Around a quarter of the trunk's circle no tension jumps: with decisions twice as often they change half as much."""
    robot = trunk.build()
    hanging = Statics(robot).solve().require().state
    path = trunk.paths(robot, hanging)["circle"]["tip"]
    home, largest = robot.displacement(hanging, "tip"), []
    for rate in (50, 100):
        inverse, state, tensions = Inverse(robot), hanging, []
        for share in np.linspace(0, 1, 41)[1:]:
            state = inverse.step(state, tip=home + share * (path.position(0.0) - home)).require().state
        for k in range(int(rate * path.duration / 4)):
            step = inverse.step(state, interval=1 / rate, tip=path.position(k / rate)).require()
            state = step.state
            tensions.append(np.concatenate(list(step.efforts.values())))
        largest.append(np.abs(np.diff(tensions, axis=0)).max() / np.max(tensions))
    assert largest[0] < 0.2
    assert largest[1] < 0.65 * largest[0]
