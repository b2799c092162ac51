"""The gripper holds things by friction: how much it carries, when it lets go, what a recording tells of it."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.device import contact_channel, read_recording
from pliant.errors import InputError
from pliant.gallery import Choices, find, grasp
from pliant.gallery.drop import sampled_depth
from pliant.robot import Robot


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "sinks"), [("box", 1e-4), ("ball", 1.5e-3)])
def test_it_is_lifted_held_and_let_go(name, sinks, tmp_path):
    """Lifted by 50 mm and held for 5 s at friction 0.6. It does not creep while it is held, the pads carry its weight, and it
    slips when their normal forces add up to the weight over the coefficient, to 4 %: points of soft pads do not all slide
    straight down. The recording tells the same, and nothing is inside of anything by a hundredth of an edge."""
    file = tmp_path / "run.mcap"
    shown = find("grasp").show(Choices(body=name, record=file))
    run = {figure.name.removeprefix(f"grasp.{name}_"): figure.value for figure in shown.figures}
    assert run["risen"] == pytest.approx(50.0, abs=1e3 * sinks)
    assert run["sunk"] < 1e3 * sinks
    assert run["risen_slippery"] < 0.1
    load = grasp.weight(grasp.build(name))
    assert run["grip_at_slip"] == pytest.approx(load / grasp.FRICTION, rel=0.04)

    told = read_recording(file)["contacts"]
    held = (told["time"] > grasp.LIFTED + 0.3) & (told["time"] <= grasp.HELD)
    assert held.sum() > 450
    carried = sum(told[f"{side} force"][held, 2] for side in grasp.SIDES)
    assert np.abs(carried / load - 1).max() < 1e-2
    grip = sum(told[f"{side} normal"] for side in grasp.SIDES)
    assert np.ptp(grip[held]) < 1e-2 * load
    assert grip[-1] == pytest.approx(run["grip_at_slip"])
    assert (told["floor normal"][held] == 0).all()
    assert told["floor normal"][20] == pytest.approx(load, rel=1e-2)


@pytest.mark.parametrize("name", grasp.THINGS)
def test_nothing_is_inside_of_anything(name):
    """On dense samples that contacts know nothing of, while it is closed and lifted."""
    robot = grasp.build(name)
    for k, moment in enumerate(grasp.acted(robot, 1.6)):
        if k % 20 == 19:
            for touch in robot.touches.values():
                assert sampled_depth(touch, moment.state.x) < 0.01


def test_on_the_page_it_is_held():
    """The page opens with the thing between the pads; forces are told in newtons."""
    with find("grasp").page(Choices()) as page:
        robot, state = page.session.robot, page.session.hanging
        assert robot.contacts(state, "left").normal_forces.sum() > 0.5
        assert set(page.session.loads) >= {"left_close", "right_close"}


def test_faults():
    """What there is not, and options without effect."""
    with pytest.raises(InputError, match="no 'cup' to grasp"):
        find("grasp").show(Choices(body="cup"))
    with pytest.raises(InputError, match="has no --gait"):
        find("grasp").page(Choices(gait="walk"))
    with pytest.raises(InputError, match="touches nothing"):
        contact_channel(Robot(grasp.thing("box")))
