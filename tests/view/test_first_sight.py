"""What somebody new sees of a page: where it is looked at from, what is named, what the words and numbers say."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant as pl
from pliant.gallery import Choices, Follower, all_robots, cantilever, expander, find
from pliant.motion import Statics
from pliant.robot import Role
from pliant.view import Figure, MotionPage
from pliant.view.page.grips import rings
from pliant.view.page.marks import held_boxes, outwards, spread_points
from pliant.view.page.motion_page import gone, legend_of, motion_text
from pliant.view.page.motion_session import Moment
from pliant.view.page.palette import HELD
from pliant.view.page.plots import Plots
from pliant.view.page.rows import Measure
from pliant.view.page.scene import up_direction
from pliant.view.page.status import mesh_line, plain, theory_text

FOLLOWERS = [name for name, exhibit in all_robots.items() if isinstance(exhibit, Follower)]


@pytest.mark.parametrize("name", all_robots)
def test_every_robot_is_looked_at_from_above_its_floor(name):
    """The camera is above the floor and above what it looks at, the robot is above the floor: nothing hides it. What follows
    a path does so from the start; every cable and cavity has its name, and what is held is marked."""
    with find(name).page(Choices()) as page:
        page.open(port=8900)
        camera, floor = page.server.initial_camera, page.server.scene._handle_from_node_name["/floor"]
        up = up_direction(page.session.robot.gravity) if hasattr(page.session, "robot") else np.array([0.0, 0.0, 1.0])
        assert (camera.position - floor.position) @ up > 0
        assert (camera.position - camera.look_at) @ up > 0.2 * np.linalg.norm(camera.position - camera.look_at)
        drawn = [node for node in page.server.scene._handle_from_node_name if node.startswith("/robot/body")]
        vertices = np.concatenate([page.server.scene._handle_from_node_name[node].vertices for node in drawn])
        assert ((vertices - floor.position) @ up).min() > -1e-6
        if isinstance(page, MotionPage):
            assert page.session.moving.surfaces().keys() == page._regions.keys(), "every colour is explained"
            return
        robot, paths = page.session.robot, page.session.paths
        assert page.session.snapshot.path == next(iter(paths), None)
        nodes = page.server.scene._handle_from_node_name
        for port in robot.named(Role.ACTUATOR) + robot.named(Role.EFFECTOR):
            if not isinstance(robot.ports[port].port, pl.Stiffness):  # which is everywhere in its region
                assert nodes[f"/names/{port}/name"].text == port
        assert any(touch.obstacle for touch in robot.touches.values()) == any(
            node.startswith("/obstacles/") for node in nodes
        ), "what it touches is drawn"
        if name in ("ball", "drop", "fingers", "wheel"):  # nothing holds them: the picture goes along
            assert not robot.is_supported
            assert page._scene.along is not None
            return
        assert page._scene.along is None
        assert nodes["/held/0_word"].text == "held"
        if robot.bodies[0].deforms or not len(robot.bodies[0].supports.fixed):
            assert nodes["/held/0"].dimensions
        else:  # a rigid body that is fixed is drawn itself, in another colour
            assert nodes["/robot/body0"].color == HELD != nodes["/robot/body1"].color


def test_with_a_drive_a_page_waits_for_a_hand():
    """A drive is not set in motion by opening a page; asked for a path, it follows."""
    with find("diamond").page(Choices(drive="simulated")) as page:
        assert page.session.snapshot.path is None
    with find("diamond").page(Choices(drive="simulated", trajectory="square")) as page:
        assert page.session.snapshot.path == "square"


def test_target_and_effector_are_seen_together():
    """Where the effector has arrived, the rings of the target are around its ball, not inside it."""
    circles = rings(0.042)
    assert np.linalg.norm(circles, axis=2) == pytest.approx(0.042, rel=1e-5)
    assert {tuple(np.flatnonzero(np.ptp(c.reshape(-1, 3), axis=0) < 1e-9)) for c in np.split(circles, 3)} == {
        (0,),
        (1,),
        (2,),
    }
    with find("diamond").page(Choices()) as page:
        page.open(port=8900)
        nodes = page.server.scene._handle_from_node_name
        aim, tip = nodes["/targets/top/0/aim"], nodes["/targets/top/0_tip"]
        assert np.linalg.norm(aim.points, axis=-1).min() > 1.2 * tip.radius


def test_names_are_far_from_each_other_and_outside():
    """Cables side by side are named at different heights, away from the others; one alone in its middle, to the right."""
    ways = {
        f"c{k}": np.array([[np.cos(a), np.sin(a), 10.0 * z] for z in np.linspace(0, 1, 11)])
        for k, a in enumerate(np.arange(4) * np.pi / 2)
    }
    points = spread_points(ways)
    heights = sorted(ways[name][k][2] for name, k in points.items())
    assert np.diff(heights).min() >= 2.0
    right = np.array([1.0, 0.0, 0.0])
    for name, k in points.items():
        way = outwards(name, points, ways, right)
        assert way @ ways[name][k] == pytest.approx(1.0), "radially out"
    alone = {"c": ways["c0"]}
    assert spread_points(alone) == {"c": 5}
    assert outwards("c", {"c": 5}, alone, right) == pytest.approx(right)
    assert spread_points({}) == {}


def test_every_piece_that_is_held_has_its_mark():
    """A bridge held at both ends has two clamps, each around its end; a free body has none."""
    mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    ends = np.concatenate([mesh.where(x_below=0.0), mesh.where(x_above=0.1)])
    robot = pl.Robot(pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.3), fixed=ends))
    boxes = held_boxes(robot, 0.1)
    assert len(boxes) == 2
    for (low, high), x in zip(boxes, (0.0, 0.1), strict=True):
        assert low[0] < x < high[0]
        assert high[0] - low[0] < 0.02
    assert held_boxes(pl.Robot(pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.3))), 0.1) == []


class Gui:
    """Keeps what a chart is made of."""

    def __init__(self):
        self.charts = []

    def add_uplot(self, data, series, **options):
        self.charts.append(type("Chart", (), {"data": data, "series": series, "visible": True, **options})())
        return self.charts[-1]


def test_the_error_axis_has_four_decades():
    """Errors are drawn over four powers of ten, in the unit of the status line; other units have a chart of their own."""
    gui = Gui()
    rows = np.arange(3)
    Plots(
        gui, [Measure("tip", "tip", "m", rows), Measure("tip", "tip angle", "rad", rows), Measure("b", "b", "m", rows)]
    )
    distance, angle, stages = gui.charts
    assert distance.title == "tracking error [mm]"
    assert [line["label"] for line in distance.series] == ["time [s]", "tip", "b"]
    assert angle.title == "tracking error [°]"
    for chart in (distance, angle):
        low, high = chart.scales["y"]["range"]
        assert np.log10(high / low) == pytest.approx(4.0)
    assert not stages.visible, "nothing to show yet"


def test_a_coarse_mesh_is_explained_with_its_remedy():
    """The words say what a factor of two means for what is seen, and what to do; a fine mesh is no worry."""
    followed, loaded = mesh_line(1, 2.004, True), mesh_line(1, 2.004, False)
    assert followed.matters
    assert "goes where it is told" in followed.text
    assert "2.0 times too large" in followed.text
    assert "1/2.0 as far" in loaded.text
    assert all("order=2" in line.text and "finer mesh" in line.text for line in (followed, loaded))
    assert not mesh_line(1, 1.05, True).matters
    assert "5 %" in mesh_line(1, 1.05, True).text
    assert not mesh_line(2, 1.6, False).matters


@pytest.mark.parametrize("force", [0.0, 0.03, -0.05])
def test_the_beam_is_shown_beside_theory(force):
    """Under whatever load the slider gives, the page's tip is beside that of the elastica, within two per cent; Timoshenko's
    small-load figure is told as what it is."""
    robot = cantilever.build()
    robot.set_effort("load", force)
    state = Statics(robot).solve().require().state
    drop, reach, small = cantilever.theory(robot, state)
    for figure in (drop, reach):
        assert figure.value == pytest.approx(figure.reference, rel=0.02)
        assert "elastica" in figure.source
    assert small.reference == pytest.approx(1e3 * cantilever.timoshenko_deflection(force, 1070 * 9.81e-4))
    text = theory_text([drop, reach, small])
    assert f"{drop.value:.2f}" in text
    assert f"{drop.reference:.2f}" in text
    assert "nan" not in text
    with find("cantilever").page(Choices()) as page:
        assert page._theory is cantilever.theory


def test_small_loads_meet_timoshenko():
    """Without weight and with a small force both theories agree."""
    force = 1e-5
    assert cantilever.elastica_tip(0.0, force)[1] == pytest.approx(cantilever.timoshenko_deflection(force), rel=0.01)


def moment(way):
    return Moment(np.zeros((1, 3)), 1.0, True, "", np.array([way, 0.0, 0.0]), 1.0)


@pytest.mark.parametrize(
    ("way", "told"), [(-1e-9, "0</b> mm forwards"), (-0.012, "12</b> mm backwards"), (0.2, "200</b> mm forwards")]
)
def test_no_minus_before_a_zero(way, told):
    """A robot that has not moved is at 0, not at -0; one that goes back is said to."""
    text = motion_text(moment(way), gone(moment(way), 0.1))
    assert told in text
    assert not re.search(r"-0(\.0+)?\b", text)
    assert plain(-0.0001) == "0.00"


def test_what_swells_tells_its_volume():
    """The expander goes nowhere: its page says how much the actuator has grown."""
    moving = expander.build()
    assert expander.told(moving, moving.body.rest) == "the actuator has 1.00 times its volume at rest"
    assert "1.33 times" in expander.told(moving, moving.body.rest * [1.33, 1.0, 1.0])
    page = find("expander").page(Choices())
    assert page._told is expander.told
    assert legend_of({0: "a<b"}).count("a&lt;b") == 1


def test_figures_without_a_reference_have_no_theory():
    """A value alone is shown alone."""
    assert " %" not in theory_text([Figure("x", 1.0, "mm")])
