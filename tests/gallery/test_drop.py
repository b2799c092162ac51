"""Soft and rigid things that fall on hilly ground."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.gallery import Choices, drop, find


@pytest.fixture(scope="module")
def fall():
    robot = drop.build()
    return robot, drop.fallen(robot, 0.8)


def test_the_ground_carries_the_weight_of_all(fall):
    robot, run = fall
    weight = 9.81 * sum(body.load_masses.sum() for body in robot.bodies)
    assert run.carried[2] == pytest.approx(weight, rel=0.02)
    assert np.linalg.norm(run.carried[:2]) < 0.05 * weight
    assert run.worst < 1e-3


def test_all_come_to_rest_on_the_ground(fall):
    robot, run = fall
    assert np.abs(run.state.v).max() < 0.15
    for name in robot.body_names:
        low = robot.nodes(run.state, name)[:, 2].min()
        assert -drop.HILLS < low < 0.06, name
        assert any(len(robot.contacts(run.state, touch)) for touch in robot.touches if name in touch), name


def test_nothing_sinks_in(fall):
    """On dense samples of all surfaces: below a hundredth of an edge."""
    assert fall[1].depth < 0.01


def test_what_it_does_not_have_is_refused():
    with pytest.raises(InputError, match="gait"):
        find("drop").show(Choices(gait="walk"))


def test_its_page_begins_in_the_air_and_obstacles_can_be_pushed():
    page = find("drop").page(Choices())
    session, name = page.session, "soft ball on ground"
    np.testing.assert_array_equal(session.snapshot.state.x, session.robot.rest().x)
    session.push(name, (0, 0, 0.01, 1, 0, 0, 0))
    for _ in range(3):
        assert session.advance().outcome.ok
    lifted = session.robot.touches[name].obstacle.position[2]
    assert 0.0 < lifted < 0.01  # it takes its time
    session.reset()
    assert session.robot.touches[name].obstacle.position[2] == 0.0
    for bad in ((0, 0, 0), (0, 0, 0, 0, 0, 0, 0), (np.nan,) * 7):
        with pytest.raises(InputError, match="pose"):
            session.push(name, bad)
    with pytest.raises(InputError, match="obstacle"):
        session.push("soft ball on rod", (0, 0, 0, 1, 0, 0, 0))
