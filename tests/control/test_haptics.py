"""Haptics on a device that is not the model: stiffer than its own springs where it should be, softer where it may, safe where
sensors fail."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.control.fixtures import FreeSpace, Point, Wall
from pliant.control.haptic_run import render
from pliant.control.haptics import Haptics
from pliant.control.observer import ObserverStatus
from pliant.device import Encoder, event_words
from pliant.gallery import tripods, tripods_device

STEP = tripods.ENCODER / tripods.CAPSTAN
DEVIATIONS = dict.fromkeys(tripods.MOTORS, STEP) | dict.fromkeys(tripods.SENSORS, 0.01)
GRIP = np.array([1 / 500.0] * 3 + [1 / 2.0] * 2)
MIDDLE = np.zeros(5)
RATE = 250.0


def setting(fixture, hand, *, grip=GRIP, **options):
    """A coarse model, a device that is stiffer and finer, with encoders and strips without hysteresis, and a hand."""
    model = tripods.build(elements=8)
    desk = tripods.build(elements=10, modulus=1.05 * tripods.E, damping=(2.0, 0.002))
    encoders = {name: Encoder(tripods.ENCODER, tripods.CAPSTAN) for name in tripods.MOTORS}
    plant = tripods_device.device(1 / RATE, on_desk=desk, hand=hand, grip=grip, given=encoders)
    return Haptics(model, DEVIATIONS, fixture=fixture, **options), plant


def pushed(way, row=0, start=0.2, over=0.4):
    """A hand that goes to `way` in one row of the pose and stays."""

    def hand(time):
        pose = np.zeros(5)
        pose[row] = way * min(max(time - start, 0.0) / over, 1.0)
        return tripods.pose(pose[:3], pose[3:])

    return hand


def run(fixture, hand, seconds=1.2, *, rendered=True, meddle=None, **options):
    """A run, and the haptics of it."""
    haptics, plant = setting(fixture, hand, **options)
    try:
        found = render(haptics, plant, seconds=seconds, rate=RATE, model_rate=125.0, meddle=meddle, render=rendered)
    finally:
        haptics.close()
    assert plant.failures == 0
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("row", "way"), [(0, 0.006), (3, 0.08)])
def test_stiff_is_stiffer_and_free_is_softer_than_the_device(row, way):
    """Push and give after a push of the hand, in translation and rotation: held at a point more than with fixed motors, more
    than in free space; all at rest without a tremble."""
    give = {}
    for name, fixture in (("position", Point(MIDDLE)), ("fixed", FreeSpace()), ("free", FreeSpace())):
        found = run(fixture, pushed(way, row), rendered=name != "fixed")
        end = found.between(1.0, 1.2)
        give[name] = abs(np.median(end.true_x[:, row])) / np.median(end.true_wrench[:, row])
        assert np.ptp(end.true_x[:, row]) < 0.05 * way
    assert 0 < give["position"] < 0.25 * give["fixed"] < 0.1 * give["free"]


@pytest.mark.thorough
def test_a_wall_is_not_there_before_and_is_there_behind():
    """At 3 mm: a hand that goes to 6 mm by its springs is stopped there, and is let go when it goes back."""

    def hand(time):
        way = 0.006 * np.interp(time, (0.2, 0.6, 1.2, 1.6), (0.0, 1.0, 1.0, 0.0))
        return tripods.pose((way, 0.0, 0.0))

    found = run(Wall([-1.0, 0, 0, 0, 0], -0.003), hand, 2.0)
    pressed, back = found.between(1.0, 1.2), found.between(1.8, 2.0)
    assert np.abs(pressed.x[:, 0] - 0.003).max() < 3e-4
    assert (pressed.touching == 1).all()
    assert (back.touching == 0).all()
    assert np.abs(back.true_wrench[:, 0]).max() < 0.3 * pressed.true_wrench[:, 0].min()


@pytest.mark.thorough
def test_an_active_force_sensor_stays_where_it_is():
    """Held at a point, it tells a push of the hand to 10 % at a pose that does not change (section VII-D)."""
    found = run(Point(MIDDLE), pushed(0.008), 1.4)
    end = found.between(1.2, 1.4)
    assert end.true_wrench[:, 0].mean() > 1.0
    assert end.wrench[:, 0].mean() == pytest.approx(end.true_wrench[:, 0].mean(), rel=0.1)
    assert np.abs(end.x[:, 0]).max() < 5e-4


@pytest.mark.thorough
def test_a_hand_that_insists_is_not_answered_by_ever_more():
    """An arm, without any give, holds the handle 3 mm off a point for a second and a half: commands go to where the cap lets
    them and stay there; when a soft hand takes over that is where it should be, nothing that was wound up is left."""
    cap = np.array([2.0] * 3 + [0.2] * 2)

    def pushed_back(time):
        return tripods.pose((0.003 if time < 2.0 else 0.0, 0.0, 0.0))

    haptics, plant = setting(Point(MIDDLE), pushed_back, grip=np.zeros(5), cap=cap)

    def let_go(time, measured):
        if time >= 2.0:
            plant.robot.set_compliance("hand", GRIP)
        return measured

    found = render(haptics, plant, seconds=3.0, rate=RATE, model_rate=125.0, meddle=let_go)
    haptics.close()
    held, free = found.between(1.5, 1.99), found.between(2.8, 3.0)
    assert np.ptp(held.command, axis=0).max() < 0.02
    assert 0.05 < np.abs(held.command).max() < 0.8 * tripods.ANGLE
    assert np.abs(free.true_x[:, :3]).max() < 1e-3
    assert np.abs(free.command).max() < 0.1


@pytest.mark.thorough
def test_sensors_that_fail_lead_to_the_safe_command_and_back():
    """All measurements are no numbers for a second: said in the result, held, then on the way to the safe command, within the
    guard's rates; afterwards the wall is there again. A strip that fails alone is left out, and the rendering goes on."""

    def meddle(time, measured):
        if 0.4 <= time < 1.4:
            return np.full(len(measured), np.nan)
        if 1.8 <= time < 2.2:
            return np.where(np.arange(len(measured)) == 7, np.nan, measured)
        return measured

    found = run(Point(np.array([0.004, 0, 0, 0, 0.0])), pushed(0.0), 2.4, meddle=meddle)
    during, alone = found.between(0.45, 1.35), found.between(1.85, 2.15)
    blind, some = (list(ObserverStatus).index(status) for status in (ObserverStatus.BLIND, ObserverStatus.WITHOUT_SOME))
    assert (during.observed == blind).all()
    assert not during.rendered.any()
    words = {word for flags in during.events for word in event_words(int(flags))}
    assert {"stale-held", "ramping"} <= words
    assert np.abs(during.command[-1]).max() < 0.5 * np.abs(found.between(0.3, 0.39).command[-1]).max()
    assert (alone.observed == some).all()
    assert alone.rendered.all()
    assert np.isfinite(found.command).all()
    assert (np.abs(np.diff(found.command, axis=0)) <= tripods.ANGLE_RATE / RATE + 1e-9).all()
    assert found.between(1.7, 1.79).x[:, 0] == pytest.approx(0.004, abs=4e-4)


@pytest.mark.thorough
def test_an_encoder_that_jumps_moves_nothing():
    """By 0.6 rad for 0.3 s: it is left out and named, and no motor moves by more than a little for it."""
    rates = dict.fromkeys(tripods.MOTORS, 10.0)

    def meddle(time, measured):
        return measured + 0.6 * (np.arange(len(measured)) == 2) * (0.6 <= time < 0.9)

    found = run(Point(MIDDLE), pushed(0.0), 1.2, meddle=meddle, rates=rates)
    some = list(ObserverStatus).index(ObserverStatus.WITHOUT_SOME)
    assert (found.between(0.61, 0.89).observed == some).all()
    before = found.between(0.4, 0.55).command.mean(axis=0)
    assert np.abs(found.between(0.6, 1.2).command - before).max() < 0.1
    assert (found.between(0.95, 1.2).observed == 0).all()


def test_the_filter_is_the_same_at_any_rate():
    """What a step of a command has become after 6 ms is 63 % of it, whether periods are 1 ms or 3 ms long."""
    for period in (1e-3, 3e-3):
        haptics, _ = setting(Point(MIDDLE), None)
        haptics._filtered[:] = 0.0
        haptics.controller.displacements[:] = 0.1
        share = -np.expm1(-period / haptics.time_constant)
        for _ in range(round(0.006 / period)):
            haptics._filtered += share * (haptics.controller.displacements - haptics._filtered)
        assert haptics._filtered == pytest.approx(np.full(6, 0.1 * (1 - np.exp(-1))))
        haptics.close()
