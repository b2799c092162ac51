"""Sensors that are not ideal: steps, play, bent lines, noise, an ADC; and a plant that measures by them."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.device import BendSensor, Encoder, Play, SimulatedPlant
from pliant.errors import InputError
from pliant.gallery import tripods, tripods_device


def test_an_encoder_has_steps_at_the_motor(rng):
    """0.1 degree at a motor that turns 6.42 times as far: what it says is a multiple, and no more than half a step off."""
    encoder, step = Encoder(np.deg2rad(0.1), ratio=6.42), np.deg2rad(0.1) / 6.42
    for truth in rng.uniform(-1, 1, 50):
        encoder.follow(truth)
        said = encoder.read(rng)
        assert abs(said - truth) <= 0.5 * step * (1 + 1e-9)
        assert abs(said / step - round(said / step)) < 1e-6


def test_play_is_a_loop_as_wide_as_it_is():
    """On the way up it lags by half its width, on the way back by the other half; within the width nothing moves."""
    play = Play(0.2)
    up = [play(x) for x in np.linspace(0, 1, 101)]
    assert up[-1] == pytest.approx(0.9)
    assert play(0.85) == pytest.approx(0.9)
    back = [play(x) for x in np.linspace(1, 0, 101)]
    assert back[-1] == pytest.approx(0.1)
    assert np.max(np.abs(np.array(back)[::-1] - up)) == pytest.approx(0.2)


def test_a_strip_is_monotone_and_whole(rng):
    """Counts grow with what is felt, are whole numbers within the ADC's, and repeat themselves without noise and play."""
    strip = BendSensor(-1.0, 1.0, bow=0.9)
    said = []
    for truth in np.linspace(-1, 1, 400):
        strip.follow(truth)
        said.append(strip.read(rng))
    assert (np.diff(said) >= 0).all()
    assert said[0] == pytest.approx(0.1 * 4096, abs=1)
    assert said[-1] == pytest.approx(0.9 * 4096, abs=1)
    assert all(value == round(value) for value in said)
    strip.follow(100.0)
    assert strip.read(rng) == 4095.0
    strip.follow(float("nan"))
    assert np.isnan(strip.read(rng))


def test_noise_is_as_large_as_it_is_said_to_be(rng):
    """A thousandth of the range is 3.3 counts of the 3277 between the margins."""
    strip = BendSensor(0.0, 1.0, noise=1e-3)
    strip.follow(0.5)
    assert np.std([strip.read(rng) for _ in range(4000)]) == pytest.approx(3.28, rel=0.1)


def test_a_plant_measures_by_its_sensors():
    """The haptic device: angles in the encoders' steps, bends in whole counts; what is not measured, or has several rows, has
    no such sensor."""
    plant = tripods_device.device(0.01, on_desk=tripods_device.robot(elements=8))
    plant.advance(np.full(6, 0.2), 0.3)
    step = tripods.ENCODER / tripods.CAPSTAN
    said = dict(zip(plant.wiring.measurements, plant.measure().values, strict=True))
    truth = dict(zip(plant.wiring.measurements, plant.truth(), strict=True))
    for name in tripods.MOTORS:
        assert said[name] / step == pytest.approx(round(said[name] / step), abs=1e-6)
        assert abs(said[name] - truth[name]) <= 0.51 * step
    assert all(said[name] == round(said[name]) for name in tripods.SENSORS)
    assert plant.wiring.measurement_units == ("rad",) * 6 + ("counts",) * 6
    assert "pose.x" not in plant.wiring.measurements
    with pytest.raises(InputError, match="measured ports of one row"):
        SimulatedPlant(tripods.build(elements=8), 0.02, kind="displacement", sensors={"pose": Encoder(1e-3)})


def test_a_hand_holds_through_its_grip():
    """The handle goes where the hand goes, less what the grip gives way by under the force that it takes."""
    aim = tripods.pose((0.004, 0.0, 0.0))
    plant = tripods_device.device(0.01, on_desk=tripods_device.robot(elements=8), hand=lambda time: aim)
    plant.advance(np.zeros(6), 0.6)
    force = plant.robot.effort(plant.state, "hand")
    place = plant.robot.displacement(plant.state, "hand")
    assert place[0] + tripods_device.GRIP[0] * force[0] == pytest.approx(0.004, abs=1e-6)
    assert force[0] > 0.2
    assert plant.failures == 0


@pytest.mark.parametrize(
    ("make_it", "said"),
    [
        (lambda: BendSensor(1.0, 0.0), "low < high"),
        (lambda: BendSensor(0.0, 1.0, bow=1.5), "not monotone"),
        (lambda: BendSensor(0.0, 1.0, margin=0.6), "leaves nothing"),
        (lambda: Encoder(0.0), "step"),
        (lambda: Play(-1.0), "play"),
    ],
)
def test_what_cannot_be_is_refused(make_it, said):
    """With the remedy."""
    with pytest.raises(InputError, match=said):
        make_it()
