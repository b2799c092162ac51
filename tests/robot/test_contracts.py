"""What may be relied on: a robot's records, answers that depend on nothing computed before, what follows a change of it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from pliant import (
    Cable,
    Corotational,
    Dynamics,
    Force,
    Frame,
    Inverse,
    NeoHookean,
    Point,
    Robot,
    Simulation,
    Statics,
    TetBody,
    make,
)
from pliant.device import SimulatedPlant, Wiring
from pliant.errors import InputError
from pliant.robot import Role
from pliant.robot import equations as equations_module
from pliant.view.page.bars import actuator_bars
from pliant.view.page.palette import readable
from pliant.view.page.session import Session

MESH = make.box((0.1, 0.016, 0.016), (10, 2, 2))
END = MESH.where(x_above=0.1)
UNITS = ("N", "N", "N", "N m", "N m", "N m")


def route(z=0.014):
    return Cable([(x, 0.008, z) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, 0.008, z))


def arm(*, actuated=True, law=None):
    """An arm clamped at one end, with a cable above its axis, one below, and a tip to move."""
    law = Corotational(E=300e3, nu=0.4) if law is None else law
    body = TetBody(MESH, law, density=1100, fixed=MESH.where(x_below=0), damping=(0.0, 0.02))
    robot = Robot(body, gravity=(0, 0, -9.81))
    if actuated:
        robot.actuate("up", route(), effort=(0, 8))
        robot.actuate("down", route(0.002), effort=(0, 8))
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="z"))
    return robot


def counted_analyses(monkeypatch):
    """A list that grows by one whenever a sparse pattern is analysed."""
    made, plain = [], equations_module.Cholesky

    def counting(*args, **options):
        made.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(equations_module, "Cholesky", counting)
    return made


def test_an_inverse_refuses_a_port_that_came_later():
    """A displacement imposed after the inverse was made is not ignored: step and solve_pose name the port and the way out."""
    robot = arm()
    inverse = Inverse(robot)
    state = Statics(robot).solve().require().state
    height = robot.displacement(state, "tip")
    assert inverse.step(state, tip=height).ok
    robot.impose("rope", route(0.011), displacement=0.003)
    state = Statics(robot).solve().require().state
    for decide in (inverse.step, inverse.solve_pose):
        with pytest.raises(InputError, match=r"'rope' was added to the robot after the inverse was made"):
            decide(state, tip=height)
    pose = Inverse(robot).solve_pose(state, tip=height + 0.004)
    assert robot.displacement(pose.require().state, "rope") == pytest.approx([0.003], abs=1e-8)


def test_motions_take_up_a_port_that_came_later():
    """A cable shortened by 3 mm after `Statics` and `Dynamics` were made is held at 3 mm by both."""
    robot = arm(actuated=False)
    statics, dynamics = Statics(robot), Dynamics(robot, 0.01, method="newton")
    free = statics.solve().require().state
    robot.impose("rope", route(), displacement=0.003)
    with pytest.raises(InputError, match=r"make the state with robot\.rest"):
        statics.solve(free)
    state = statics.solve().require().state
    assert robot.displacement(state, "rope") == pytest.approx([0.003], abs=1e-10)
    assert robot.effort(state, "rope")[0] > 0.5
    state = dynamics.step(robot.rest()).require().state
    assert robot.displacement(state, "rope") == pytest.approx([0.003], abs=1e-10)


def test_a_simulation_refuses_a_port_that_came_later():
    """Its state is of the robot before: the next step says so."""
    robot = arm(actuated=False)
    simulation = Simulation(robot, h=0.01)
    simulation.step().require()
    robot.impose("rope", route(), displacement=0.003)
    with pytest.raises(InputError, match=r"make the state with robot\.rest"):
        simulation.step()


def test_a_plant_refuses_a_port_that_came_later():
    """A plant does not go on as if the robot were the one that it was made of."""
    robot = arm()
    plant = SimulatedPlant(robot, 0.01)
    assert plant.advance(np.zeros(2), 0.02) == 2
    robot.impose("rope", route(0.011), displacement=0.003)
    with pytest.raises(InputError, match="'rope' was added to the robot after the plant was made"):
        plant.advance(np.zeros(2), 0.04)
    plant = SimulatedPlant(robot, 0.01)
    plant.advance(np.zeros(2), 0.02)
    assert plant.robot.displacement(plant.state, "rope") == pytest.approx([0.003], abs=1e-5)


@pytest.mark.parametrize("actuated", [True, False])
def test_a_page_refuses_a_port_that_came_later(actuated):
    """Its session stops with a fault that names the port, holds the last state, and survives whatever is pressed then."""
    robot = arm(actuated=actuated)
    session = Session(robot)
    assert session.advance().outcome.ok
    before = session.snapshot.state
    robot.impose("rope", route(0.011), displacement=0.003)
    for press in (lambda: None, session.reset, session.pause):
        press()
        snapshot = session.advance()
        assert snapshot.outcome.word == "FAULT"
        assert "'rope' was added to the robot after the page was made" in snapshot.outcome.remedy
        assert "add all ports first" in snapshot.outcome.remedy
        assert len(snapshot.state.x) == len(before.x)
    session.end()
    again = Session(robot)
    assert robot.displacement(again.hanging, "rope") == pytest.approx([0.003], abs=1e-8)
    again.end()


def turned(robot, angle):
    """A state of the robot bent by a moment about y, and its reading of the frame "end"."""
    robot.set_effort("end", [0, 0, 0, 0, angle, 0])
    return Statics(robot, load_steps=4).solve().require().state


def test_displacements_depend_on_the_state_alone():
    """What a frame reads at a state is the same whatever was linearized, stepped or solved before: the rotation from rest."""
    robot = arm(actuated=False)
    robot.impose("end", Frame(END), effort=np.zeros(6))
    near, far = turned(robot, 0.002), turned(robot, -0.01)
    fresh = arm(actuated=False)
    fresh.impose("end", Frame(END), effort=np.zeros(6))
    first = fresh.displacement(near, "end")
    assert abs(first[4]) > 0.02
    goal = fresh.displacement(far, "end", as_target=True)
    short = fresh.shortfall(near, "end", goal)
    for before in (
        lambda: robot.linearize(near),
        lambda: robot.linearize(far),
        lambda: robot.linearize(far, h=0.01),
        lambda: Dynamics(robot, 0.01).step(far),
        lambda: Statics(robot).step(far),
        lambda: Statics(robot).solve(far),
    ):
        before()
        assert np.array_equal(robot.displacement(near, "end"), first)
        assert np.array_equal(robot.displacement(far, "end", as_target=True), goal)
        assert np.array_equal(robot.shortfall(near, "end", goal), short)


def test_a_model_brings_its_references():
    """The rotation rows of a model count from where it was linearized; with its references they are those from rest."""
    robot = arm(actuated=False)
    robot.impose("end", Frame(END), effort=np.zeros(6))
    state = turned(robot, 0.002)
    model = robot.linearize(state).model
    rows = robot.ports["end"].rows
    assert model.delta[rows][3:] == pytest.approx(np.zeros(3), abs=1e-12)
    attachment = robot.ports["end"].attachment
    again = attachment.at(state.x, model.references["end"]).displacement
    assert again == pytest.approx(model.delta[rows], abs=1e-12)


def test_gravity_changes_without_a_new_analysis(monkeypatch):
    """Statics, linearize and the inverse after set_gravity stand on the analysis that there is; a new port makes one."""
    made = counted_analyses(monkeypatch)
    robot = arm()
    inverse = Inverse(robot)
    hanging = Statics(robot).solve().require().state
    assert len(made) == 1
    robot.set_gravity((0, 0, 9.81))
    standing = Statics(robot).solve().require().state
    robot.linearize(standing)
    inverse.step(standing, tip=robot.displacement(standing, "tip")).require()
    robot.set_effort("up", 1.0)
    Dynamics(robot, 0.01).step(standing).require()
    assert len(made) == 1
    low, high = (robot.displacement(state, "tip")[0] for state in (hanging, standing))
    assert low < 0.006
    assert high > 0.010
    robot.sense("late", Point(near=(0.05, 0.008, 0.008)))
    Statics(robot).solve().require()
    assert len(made) == 2


def test_units_of_an_actuated_frame_are_the_same_everywhere():
    """Port, record, wiring and the bars of a page: forces in N, moments in N m, one unit per row."""
    robot = arm(actuated=False)
    robot.actuate("end", Frame(END), effort=[(-1, 1)] * 6)
    port = robot.ports["end"].port
    assert port.effort_units == UNITS
    assert port.displacement_units == ("m", "m", "m", "rad", "rad", "rad")
    wiring = Wiring.of_robot(robot)
    assert wiring.commands == robot.ports["end"].labels == ("end.x", "end.y", "end.z", "end.rx", "end.ry", "end.rz")
    assert wiring.command_units == UNITS
    assert Wiring.of_robot(robot, "displacement").command_units == port.displacement_units
    session = Session(robot)
    shown = actuator_bars(robot, session.snapshot)
    session.end()
    for label, unit, way in zip(wiring.commands, port.effort_units, port.displacement_units, strict=True):
        bar = shown.partition(f"<h6>{label}</h6>")[2].partition("<h6>")[0]
        assert f"0.00 {readable(unit)[1]}</span>" in bar
        assert f" {readable(way)[1]}</span>" in bar


def test_units_of_some_rows_of_a_frame():
    """Rows that were left out have no unit either."""
    robot = arm(actuated=False)
    robot.actuate("end", Frame(END, "z ry"))
    assert Wiring.of_robot(robot).command_units == robot.ports["end"].port.effort_units == ("N", "N m")
    assert Wiring.of_robot(robot).measurement_units == ("m", "m", "rad")


def two_fingers():
    law = Corotational(E=300e3, nu=0.4)
    left = TetBody(MESH, law, density=1100, fixed=MESH.where(x_below=0))
    far = MESH.translated((0, 0.1, 0))
    right = TetBody(far, law, density=1100, fixed=far.where(x_below=0))
    return left, right


def test_bodies_are_meant_by_name_or_by_themselves():
    """A port goes to the body that is named or given; the efforts reach that body and no other."""
    left, right = two_fingers()
    robot = Robot({"left": left, "right": right})
    assert robot.body_names == ("left", "right")
    robot.impose("push", Force((0.1, 0.008, 0.016), direction=(0, 0, -1)), effort=0.05, body="left")
    robot.sense("first", Point(near=(0.1, 0.008, 0.008)), body=left)
    robot.sense("second", Point(near=(0.1, 0.108, 0.008)), body=right)
    assert [robot.ports[name].body for name in robot.ports] == ["left", "left", "right"]
    state = Statics(robot).solve().require().state
    assert robot.displacement(state, "first")[2] < 0.007
    assert robot.displacement(state, "second")[2] == pytest.approx(0.008, abs=1e-9)
    assert np.array_equal(robot.nodes(state, "right"), robot.nodes(state, right))
    assert robot.nodes_of("right").start == robot.nodes_of("left").stop == left.node_count


def test_two_bodies_need_a_word():
    """Without body=, with a name that there is not, or with a body of another robot a port is refused, and names are told."""
    left, right = two_fingers()
    robot = Robot({"left": left, "right": right})
    for body in (None, "middle", two_fingers()[0], 0):
        with pytest.raises(InputError, match=r"port 'tip' is on .*'left', 'right'"):
            robot.sense("tip", Point(near=(0.1, 0.008, 0.008)), body=body)
    assert not robot.ports
    with pytest.raises(InputError, match="'left', 'right'"):
        robot.nodes_of()


def test_a_body_twice_needs_its_name():
    """One body in two places of a robot cannot be meant by itself."""
    left, _ = two_fingers()
    robot = Robot({"a": left, "b": left})
    with pytest.raises(InputError, match="of which there are several"):
        robot.sense("tip", Point(near=(0.1, 0.008, 0.008)), body=left)
    robot.sense("tip", Point(near=(0.1, 0.008, 0.008)), body="b")
    assert robot.ports["tip"].body == "b"


def test_bodies_without_names_are_numbered():
    """Two bodies without names are "body 0" and "body 1"."""
    robot = Robot(*two_fingers())
    robot.sense("tip", Point(near=(0.1, 0.108, 0.008)), body="body 1")
    assert robot.ports["tip"].body == "body 1"


def test_a_port_that_there_is_not():
    """Asking for it names it and those that there are."""
    robot = arm()
    with pytest.raises(InputError, match=r"no port 'tpi'.*choose one of up, down, tip"):
        robot.ports["tpi"]
    assert "tpi" not in robot.ports
    with pytest.raises(InputError, match="no port 'tpi'"):
        robot.with_roles({"tpi": Role.SENSOR})


def test_records_are_not_written_to():
    """A `Mounted` is frozen, and so is the mapping; a change puts another record in place and leaves the one in hand."""
    robot = arm()
    record = robot.ports["up"]
    with pytest.raises(FrozenInstanceError):
        record.role = Role.SENSOR
    with pytest.raises(TypeError):
        robot.ports["up"] = record
    robot.set_effort("up", 2.0)
    assert record.effort == pytest.approx([0.0])
    assert robot.ports["up"].effort == pytest.approx([2.0])
    assert robot.ports["up"].role is record.role is Role.ACTUATOR
    assert (record.name, record.body, record.rows) == ("up", "body 0", slice(0, 1))
    assert record.limits.effort.tolist() == [[0, 8]]


def test_other_roles_are_another_robot():
    """with_roles: the same bodies, gravity and ports; named ones in other roles or left out; the first one stays as it was."""
    robot = arm()
    robot.impose("push", Force((0.1, 0.008, 0.016), direction=(0, 0, -1)), effort=0.02)
    robot.set_effort("up", 1.5)
    before = {name: own.role for name, own in robot.ports.items()}
    other = robot.with_roles({"up": Role.HELD, "down": None, "tip": Role.SENSOR})
    assert {name: own.role for name, own in robot.ports.items()} == before
    assert {name: own.role for name, own in other.ports.items()} == {
        "up": Role.HELD,
        "tip": Role.SENSOR,
        "push": Role.IMPOSED,
    }
    assert other.bodies == robot.bodies
    assert (other.gravity == robot.gravity).all()
    assert other.ports["push"].effort == pytest.approx([0.02])
    assert other.ports["up"].able.tolist() == [[0, 8]]
    other.set_displacement("up", 0.004)
    state = Statics(other).solve().require().state
    assert other.displacement(state, "up") == pytest.approx([0.004], abs=1e-9)
    assert robot.effort(robot.rest(), "up") == pytest.approx([1.5])
    imposed = robot.with_roles({"up": Role.IMPOSED})
    assert imposed.ports["up"].effort == pytest.approx([0.0])
    assert robot.with_roles({}).ports["up"].effort == pytest.approx([1.5])


def test_another_port_in_the_same_place():
    """with_roles puts other ports under the same names."""
    robot = arm()
    other = robot.with_roles({}, {"up": route(0.012)})
    assert other.ports["up"].port.points[0][2] == pytest.approx(0.012)
    assert other.row_names == robot.row_names
    assert other.ports["up"].limits.effort.tolist() == [[0, 8]]


def test_one_family_of_displacements():
    """displacement, as_target and shortfall agree: a target read at a state has no shortfall there."""
    robot = arm(law=NeoHookean(E=300e3, nu=0.4))
    robot.impose("end", Frame(END), effort=[0.0, 0.0, 0.05, 0.0, 0.001, 0.0])
    state = Statics(robot).solve().require().state
    for name in robot.ports:
        here = robot.displacement(state, name, as_target=True)
        assert robot.shortfall(state, name, here) == pytest.approx(np.zeros(len(robot.ports[name].labels)), abs=1e-9)
    assert robot.displacement(state, "end", as_target=True).shape == (7,)
    assert robot.displacement(state, "end").shape == (6,)
