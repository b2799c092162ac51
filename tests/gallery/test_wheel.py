"""The wheel: it rolls because its centre is led along, on what there is to roll on, in its model and on a plant that slips."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pliant.bench.rolling import exact_share
from pliant.control import DecisionStatus
from pliant.errors import InputError
from pliant.gallery import Choices, find, wheel_robot
from pliant.gallery.rolling import SPEED, Course, driven, plant_of, replayed, rolled, settled
from pliant.gallery.tracks import TOUCH, TRACKS
from pliant.shape import read

DATA = Path(os.environ.get("PLIANT_DATA", Path(__file__).parents[3] / "shared" / "data")) / "meshes"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="outside meshes are absent; set PLIANT_DATA")
COARSE = 0.005


def coarse(track="flat"):
    """A wheel of few tets, what decides for it, and its course."""
    robot = wheel_robot.build(track, wheel_robot.ring(COARSE))
    return robot, wheel_robot.inverse(robot), Course(TRACKS[track], wheel_robot.under())


def test_it_is_as_large_as_the_papers():
    """About 2238 coordinates, 60 candidates and more, four cables that pull and pay out."""
    robot = wheel_robot.build()
    assert len(robot.bodies[0].rest) >= 740
    assert 60 <= robot.touches[TOUCH].side.count <= 70
    for k in range(4):
        limits = robot.ports[f"cable {k}"].limits
        assert (limits.displacement == [[-0.012, 0.012]]).all()
        assert limits.effort[0, 0] == 0.0
    assert float(robot.bodies[0].load_masses.sum()) == pytest.approx(0.042)


def test_a_coarse_wheel_rolls():
    """It gets along at the speed that is asked, carries its weight, is in nothing, and drops no limit."""
    robot, inverse, course = coarse()
    run = rolled(robot, inverse, course, 0.02)
    assert run.ways[-1] >= 0.02
    assert len(run.steps) < 100
    assert run.normal.mean() == pytest.approx(wheel_robot.MASS * wheel_robot.GRAVITY, rel=0.02)
    assert run.outside == 0
    assert run.dropped <= 0.01
    assert max(step.contact.penetration for step in run.steps) < 1e-9
    assert max(step.contact.violation for step in run.steps) < 1e-8
    assert all(step.contact.value <= step.contact.start for step in run.steps)


def test_targets_in_and_out_of_reach_never_make_it_thrash():
    """200 random targets up to half a metre away: every step has a status, finite nodes, efforts and lengths within limits,
    and never more than its motors' speed; left alone it comes to rest on the ground."""
    robot, inverse, course = coarse()
    state = settled(robot, inverse, course)
    rng, home = np.random.default_rng(4), robot.displacement(state, "center")
    for _ in range(200):
        target = home + rng.normal(size=3) * rng.choice([0.001, 0.01, 0.5])
        before = [robot.displacement(state, f"cable {k}")[0] for k in range(4)]
        step = inverse.step(state, center=target)
        assert isinstance(step.status, DecisionStatus)
        assert step.ok
        state = step.state
        assert np.isfinite(state.x).all()
        for k, (name, effort) in enumerate(step.efforts.items()):
            assert 0.0 <= effort[0] <= wheel_robot.STRONGEST
            if not step.relaxed:
                way = abs(step.displacements[name][0] - before[k])
                assert way <= wheel_robot.RATE * wheel_robot.STEP * 1.05 + 1e-9
        assert np.linalg.norm(state.v, axis=1).max() < 3.0
    for _ in range(150):
        center = robot.displacement(state, "center")
        state = inverse.step(state, center=(center[0], home[1], 0.0)).require().state
    assert np.linalg.norm(state.v, axis=1).max() < 0.1
    assert abs(robot.displacement(state, "center")[1] - home[1]) < 0.005


def test_a_platform_that_tilts_takes_it_along():
    """The ground moves under the wheel: it stays out of it and goes on."""
    robot, inverse, course = coarse("platform")
    run = rolled(robot, inverse, course, 0.01)
    assert run.ways[-1] >= 0.01
    assert max(step.contact.penetration for step in run.steps) < 1e-6


def test_what_is_asked_of_it_is_checked():
    """Tracks that are not there, and what a wheel has not."""
    with pytest.raises(InputError, match="no track 'loop'"):
        find("wheel").page(Choices(trajectory="loop"))
    with pytest.raises(InputError, match="--gait"):
        find("wheel").show(Choices(gait="walk"))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["flat", "up", "down", "back", "platform", "terrain"])
def test_it_rolls_a_circumference(name):
    """On every ground: R angle / distance as a wheel's, net friction as the slope asks, hardly a limit dropped and each that
    is in the record, contacts within their cones."""
    track = TRACKS["flat" if name == "back" else name]
    robot = wheel_robot.build(track)
    run = rolled(
        robot, wheel_robot.inverse(robot), Course(track, wheel_robot.under(), -SPEED if name == "back" else SPEED), 0.13
    )
    assert abs(run.ways[-1]) >= 2 * np.pi * wheel_robot.RADIUS
    assert 0.97 <= run.slip <= 1.06
    assert run.dropped <= 0.01
    assert run.outside <= 0.12 * run.bore
    assert all(step.relaxed for step in run.steps if step.status is DecisionStatus.RELAXED)
    if name in ("up", "down"):
        slope = np.tan(np.radians(TRACKS[name].angle))
        assert run.along.mean() / run.normal.mean() == pytest.approx(slope, rel=0.1)


@pytest.mark.thorough
@needs_data
def test_an_outside_mesh_rolls():
    """The wheel of the papers' authors, uphill."""
    mesh = wheel_robot.placed(read(DATA / "wheel.vtk", "mm"))
    robot = wheel_robot.build("up", mesh)
    run = rolled(robot, wheel_robot.inverse(robot), Course(TRACKS["up"], wheel_robot.under(mesh)), 0.13)
    assert run.ways[-1] >= 0.13
    assert 0.97 <= run.slip <= 1.06
    assert run.dropped <= 0.01


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "mu"), [("flat", 0.8), ("flat", 0.3), ("platform", 0.8), ("up", 0.8)])
def test_a_plant_that_slips_follows(name, mu):
    """Another mesh of ten-node tets, another step and scheme, true friction; the model sees the measured pose and nothing
    else: never more than 10 mm behind."""
    track = TRACKS[name]
    robot = wheel_robot.build(track)
    loop = driven(
        robot, wheel_robot.inverse(robot), plant_of(track, mu), Course(track, wheel_robot.under()),
        10.0 if name == "platform" else 4.4
    )  # fmt: skip
    assert loop.ways[-1] >= 2 * np.pi * wheel_robot.RADIUS
    assert loop.behind.max() <= 0.010
    assert loop.failed == 0
    assert loop.dropped <= 0.01 * len(loop.times)


@pytest.mark.thorough
def test_lengths_alone_are_enough_on_level_ground():
    """Replayed without looking, the model's lengths take a plant nearly as far."""
    track, lengths = TRACKS["flat"], []
    robot = wheel_robot.build(track)
    run = rolled(
        robot, wheel_robot.inverse(robot), Course(track, wheel_robot.under()), 0.06,
        watch=lambda step: lengths.append([float(own[0]) for own in step.displacements.values()])
    )  # fmt: skip
    way = replayed(plant_of(track, 0.8), lengths, Course(track, wheel_robot.under()))
    assert way == pytest.approx(run.ways[-1], abs=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("friction", ["stick", "cone"])
def test_its_decisions_are_nearly_always_exact(friction):
    """Of the problems on its way at least 97 % are solved exactly, where the exact search comes to an end."""
    robot, inverse, course = coarse()
    inverse = wheel_robot.inverse(robot, friction=friction)
    found = rolled(robot, inverse, course, 0.03).steps[::2]
    share, left = exact_share([step.contact for step in found])
    assert left <= 0.1 * len(found)
    assert share >= 0.97
