"""Ports and targets that cannot work: refused by name and with a remedy before a run, held or reported during one."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import (
    Cable,
    Capstan,
    Cavity,
    Center,
    Corotational,
    Dynamics,
    Force,
    Frame,
    Hinge,
    Inverse,
    Moment,
    Point,
    Robot,
    Statics,
    Stiffness,
    SurfaceMesh,
    TetBody,
    make,
    solids,
)
from pliant.control import DecisionStatus
from pliant.errors import OpenSurfaceError, PliantError

MESH = make.box((0.06, 0.02, 0.02), (6, 2, 2))
BASE = MESH.where(x_below=0)


def robot(**supports):
    return Robot(TetBody(MESH, Corotational(E=1e5, nu=0.3), **(supports or {"fixed": BASE})))


def rope(*points, **options):
    return Cable(points or [(0.01, 0.01, 0.01), (0.05, 0.01, 0.01)], **options)


def open_surface():
    box = solids.box((0.01, 0.01, 0.01), at=(0.02, 0.005, 0.005))
    return SurfaceMesh(box.nodes, box.triangles[1:])


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda r: r.actuate("bad", rope((0.01, 0.01, 0.01), (0.05, 0.2, 0.01))), "outside the mesh .point 1 at"),
        (lambda r: r.impose("bad", Point(near=(0.06, 0.01, 5.0)), effort=0), "outside the mesh"),
        (lambda r: r.actuate("bad", rope(), effort=(2, 1)), r"effort limits .* contradict: 2.0 > 1.0"),
        (lambda r: r.actuate("bad", rope(), displacement=(0.1, 0)), r"displacement limits .* contradict"),
        (lambda r: r.actuate("bad", rope(), effort=(np.nan, 1)), "effort limits"),
        (lambda r: r.actuate("bad", rope(), effort_rate=-1), "effort_rate"),
        (lambda r: r.impose("bad", rope(), displacement=0, effort_limits=(1, 0)), "contradict"),
        (lambda r: r.actuate("bad", Force((0, 0, 0), direction=(1, 0, 0))), "on fixed nodes only"),
        (lambda r: r.effect("bad", Point(near=(0, 0.01, 0.01))), "on fixed nodes only"),
        (lambda r: r.effect("bad", Frame(BASE)), "on fixed nodes only"),
        (lambda r: r.effect("bad", Center(BASE)), "on fixed nodes only"),
        (lambda r: r.actuate("bad", Hinge(BASE, point=(0, 0, 0), axis=(1, 0, 0))), "on fixed nodes only"),
        (lambda r: r.impose("bad", rope((0, 0, 0), (0, 0.02, 0)), displacement=0.001), "on fixed nodes only"),
        (lambda r: r.actuate("bad", Stiffness(), effort=(-1e6, 1e6)), "E = 100000 Pa"),
        (lambda r: r.actuate("bad", Capstan([(0, 0, 0), (0.05, 0, 0)], friction=0.1)), "is a Capstan"),
        (lambda r: r.effect("bad", Point(near=(0.06, 0, 0)), weight=np.nan), "weight"),
        (lambda r: r.impose("bad", rope(), effort=np.inf), "effort of 'bad' is inf"),
        (lambda r: r.sense("bad", "rope"), "is a str, not a port"),
    ],
)
def test_bad_ports_are_refused_by_name(add, message):
    """Every refusal is a PliantError that names the port and ends with a remedy, and the robot is as before."""
    arm = robot()
    with pytest.raises(PliantError, match=message) as caught:
        add(arm)
    assert "'bad'" in str(caught.value)
    assert str(caught.value).endswith(caught.value.remedy)
    assert len(caught.value.remedy) > 10
    assert not arm.ports
    assert arm.rest().efforts.size == 0


def test_shapes_that_cannot_be_ports():
    """An open chamber, a cable of no length, a cable of one point: refused where they are made."""
    with pytest.raises(OpenSurfaceError, match=r"open|hole|edge"):
        Cavity(open_surface())
    for points, options in (([(0, 0, 0), (0, 0, 0)], {}), ([(0.01, 0, 0)], {"pull": (0.01, 0, 0)}), ([(0, 0, 0)], {})):
        with pytest.raises(PliantError, match=r"length"):
            Cable(points, **options)


def test_prescribed_nodes_cannot_be_driven_by_ports():
    """A port on prescribed nodes has nothing to do either; a sensor may look at them."""
    arm = robot(prescribed=BASE)
    with pytest.raises(PliantError, match="port 'base' is on fixed nodes only"):
        arm.effect("base", Point(near=(0, 0.01, 0.01)))
    arm.sense("base", Point(near=(0, 0.01, 0.01)))
    assert arm.displacement(arm.rest(), "base") == pytest.approx([0, 0.01, 0.01])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_targets_that_are_no_numbers(bad):
    """Refused before: solve_pose and set_displacement raise, naming the port. During a run: the last command is held."""
    arm = robot()
    arm.actuate("rope", rope(pull=(-0.02, 0.01, 0.015)), effort=(0, 5))
    arm.impose("line", rope((0.01, 0.005, 0.01), (0.05, 0.005, 0.01)), displacement=0.0)
    arm.effect("tip", Point(near=(0.06, 0.01, 0.01)))
    inverse = Inverse(arm)
    good = inverse.step(Statics(arm).solve().require().state, tip=(0.06, 0.01, 0.011)).require()
    held = inverse.step(good.state, tip=(0.06, bad, 0.01))
    assert held.status is DecisionStatus.HELD
    assert held.state is good.state
    assert np.array_equal(held.efforts["rope"], good.efforts["rope"])
    with pytest.raises(PliantError, match="target of 'tip'"):
        inverse.solve_pose(tip=(0.06, bad, 0.01))
    with pytest.raises(PliantError, match="displacement of 'line'"):
        arm.set_displacement("line", bad)
    with pytest.raises(PliantError, match="effort of 'rope'"):
        arm.set_effort("rope", bad)


def test_a_pull_point_on_the_cable_fails_the_step_and_not_the_program():
    """The pull moved onto the first point: the cable has no direction there, which a step reports without raising."""
    arm = robot()
    arm.impose("rope", rope(pull=(-0.02, 0.01, 0.01)), effort=1.0)
    arm.move_pull("rope", (0.01, 0.01, 0.01))
    state = arm.rest()
    for result in (Statics(arm).step(state), Dynamics(arm, 0.01).step(state), Statics(arm).solve(state)):
        assert not result.ok
        assert np.array_equal(result.state.x, state.x)
        with pytest.raises(PliantError):
            result.require()


def test_nothing_raises_in_a_loop_when_a_port_loses_its_meaning():
    """The same for a cable whose length is given, and for the inverse with one: results say it, nothing is raised."""
    arm = robot()
    arm.impose("line", rope(pull=(-0.02, 0.01, 0.01)), displacement=0.035)
    arm.actuate("rope", rope(pull=(-0.02, 0.01, 0.015)), effort=(0, 5))
    arm.effect("tip", Frame(MESH.where(x_above=0.06)))
    state, target = arm.rest(), arm.displacement(arm.rest(), "tip", as_target=True)
    for name in ("line", "rope"):
        before = arm.ports[name].port.pull
        arm.move_pull(name, (0.01, 0.01, 0.01))
        held = Inverse(arm).step(state, tip=target)
        assert held.status is DecisionStatus.FAILED
        assert held.state is state
        with pytest.raises(PliantError, match=f"port '{name}'"):
            held.require()
        if name == "line":
            for result in (Statics(arm).step(state), Dynamics(arm, 0.01).step(state), Statics(arm).solve(state)):
                assert not result.ok
        arm.move_pull(name, before)
    assert Inverse(arm).step(state, tip=target).ok


def test_a_frame_of_places_that_are_no_numbers_is_none():
    """A pose that went astray gives NaN rows, which every step looks for, and no exception from the algebra."""
    arm = robot()
    arm.sense("end", Frame(MESH.where(x_above=0.06)))
    attachment = arm.ports["end"].attachment
    for x in (np.full((63, 3), np.nan), np.zeros((63, 3)), np.full((63, 3), np.inf)):
        with np.errstate(invalid="ignore"):
            assert not np.isfinite(attachment.at(x).slopes[3:]).all()


@pytest.mark.parametrize(
    "add",
    [
        lambda robot, moment: robot.actuate("turn", moment),
        lambda robot, moment: robot.effect("turn", moment),
        lambda robot, moment: robot.impose("turn", moment, displacement=0.1),
    ],
    ids=["actuator", "effector", "held"],
)
def test_a_moment_that_follows_can_only_be_a_load(add):
    """Its turn is no function of the pose, so nobody can want it or hold it there."""
    made, moment = robot(), Moment(MESH.where(x_above=0.05), axis=(0, 1, 0))
    with pytest.raises(PliantError, match="no function of the pose; impose its effort, or take a Hinge or a Frame"):
        add(made, moment)
    made.impose("turn", moment, effort=1e-4)
    assert Statics(made).solve().require().iterations < 6
