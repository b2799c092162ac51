"""Calibration: the best subset is the best, the lasso is one, and a device's own strips come out as in the paper."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from pliant.analysis import Calibration, Table, calibrate, corners
from pliant.analysis.calibration import best_subset, l1_path, predicted_rotations, square_root_lasso
from pliant.device import BendSensor
from pliant.errors import FileError, InputError
from pliant.gallery import tripods, tripods_device


def correlated(rng, rows=300, columns=7):
    """Rotations that nearly move together, as those of neighbours do."""
    base = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, columns))
    return base + 0.1 * rng.normal(size=(rows, columns))


def test_every_corner_is_visited_once():
    """All combinations, in an order that another seed changes, no motor faster than the speed."""
    seconds, places = corners([-1.0, 0.0, 2.0], [1.0, 0.5, 3.0], speed=2.0, seed=4)
    assert len({tuple(row) for row in places[1:]}) == 8 == len(places) - 1
    assert set(places[1:, 1]) == {0.0, 0.5}
    rates = np.abs(np.diff(places, axis=0)) / np.diff(seconds)[:, None]
    assert rates.max() == pytest.approx(2.0)
    assert not np.array_equal(places, corners([-1.0, 0.0, 2.0], [1.0, 0.5, 3.0], speed=2.0, seed=5)[1])
    with pytest.raises(InputError, match="low < high"):
        corners([0.0], [0.0], speed=1.0)


def test_the_best_subset_is_the_best(rng):
    """No other three coefficients, with the constant or without, leave less; two columns that made the signal are found."""
    A = correlated(rng)
    v = 2.0 * A[:, 1] - 3.0 * A[:, 5] + 40.0 + 0.3 * rng.normal(size=len(A))
    found = best_subset(A, v)
    assert found.used == (1, 5)
    assert found.offset == pytest.approx(40.0, abs=0.2)
    left = (found.residuals**2).sum()
    full = np.column_stack([np.ones(len(A)), A])
    for columns in combinations(range(full.shape[1]), 3):
        c = np.linalg.lstsq(full[:, columns], v, rcond=None)[0]
        assert ((full[:, columns] @ c - v) ** 2).sum() >= left * (1 - 1e-9)


def test_the_lasso_is_the_least_of_its_function(rng):
    """|A c - v| + gamma |c|_1 with the constant free: no step of a general minimizer makes it less by 1e-6."""
    A = correlated(rng)
    v = 2.0 * A[:, 1] - 3.0 * A[:, 5] + 40.0 + 0.3 * rng.normal(size=len(A))
    a, b = A - A.mean(axis=0), v - v.mean()
    for gamma in (0.5, 2.0, 8.0):

        def cost(c, gamma=gamma):
            return np.linalg.norm(a @ c - b) + gamma * np.abs(c).sum()

        c = square_root_lasso(A, v, gamma)
        found = minimize(cost, c, method="Powell", options={"xtol": 1e-9, "ftol": 1e-12})
        assert cost(c) <= found.fun * (1 + 1e-6)


def test_the_paths_end_is_never_better_than_the_best(rng):
    """In ten trials; it uses at most two columns beside the constant."""
    for _ in range(10):
        A = correlated(rng)
        v = A @ rng.normal(size=A.shape[1]) + 0.2 * rng.normal(size=len(A))
        path, best = l1_path(A, v), best_subset(A, v)
        assert 1 <= len(path.used) <= 2
        assert (path.residuals**2).sum() >= (best.residuals**2).sum() * (1 - 1e-9)


@pytest.fixture(scope="module")
def recorded():
    """A model, angles within its reach, and what its candidates do there."""
    model = tripods.build(elements=8)
    rng = np.random.default_rng(1)
    angles = rng.uniform(-0.5, 0.5, (25, 6))
    table = Table(dict(zip(tripods.MOTORS, angles.T, strict=True)))
    candidates = tripods_device.candidates(model)
    return model, table, candidates, predicted_rotations(model, table, candidates)


def test_from_a_table_to_a_model_file_and_back(recorded, tmp_path):
    """Strips that are linear in two rotations come out exactly; the file brings back the same ports; the model senses what the
    strips said."""
    model, table, candidates, rotations = recorded
    said = {name: 900.0 * rotations[name][:, -1] - 300.0 * rotations[name][:, 1] + 2000.0 for name in tripods.SENSORS}
    whole = Table(table.columns | said)
    found = calibrate(model, whole, candidates, unit="counts")
    for name, strip in found.strips.items():
        assert strip.share < 1e-9
        assert set(strip.parts) == {candidates[name].sections[1], candidates[name].sections[-1]}
        assert strip.offset == pytest.approx(2000.0)
    again = Calibration.load(found.save(tmp_path / "model.json"))
    assert again == found
    device = tripods.build(elements=8, sensors=again.ports())
    assert device.ports["flex3"].port.displacement_units == ("counts",)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(FileError, match="no calibration"):
        Calibration.load(tmp_path / "bad.json")
    with pytest.raises(InputError, match="'flex2' says nothing"):
        calibrate(model, Table(whole.columns | {"flex2": np.zeros(25)}), candidates, rotations=rotations)


def test_candidates_are_within_the_sensor(recorded):
    """Along its 95 mm, from 50 mm behind the motor on: all sections there, and none beside."""
    model, _, candidates, _ = recorded
    rods, end = model.bodies[0], tripods.SENSOR_BEGIN + tripods.SENSOR_LENGTH
    for k, own in enumerate(candidates.values()):
        places = np.cumsum(rods.lengths[8 * k : 8 * k + 8])
        inside = (places >= tripods.SENSOR_BEGIN) & (places <= end)
        assert own.sections == tuple(f"{k}.{j + 1}" for j in np.flatnonzero(inside))
        assert 2 <= len(own.sections) < 8


@pytest.mark.slow
def test_what_calibration_leaves_is_that_of_the_paper():
    """4.6 +- 0.5 % of the range over all corners of the simulated device, on average over its strips, two thirds of the mean
    square of it by hysteresis."""
    model = tripods.build()
    candidates = tripods_device.candidates(model)
    truth = tripods_device.calibration_run(tripods_device.device(0.005, given={}))
    rotations = predicted_rotations(model, truth, candidates)
    left = {}
    for label, play in (("all", tripods_device.PLAY), ("without", 0.0)):
        strips, rng = tripods_device.sensors(play=play), np.random.default_rng(0)
        said = {}
        for name in tripods.SENSORS:
            strip = strips[name]
            assert isinstance(strip, BendSensor)
            out = []
            for value in truth[name]:
                strip.follow(value)
                out.append(strip.read(rng))
            said[name] = out
        found = calibrate(model, Table(truth.columns | said), candidates, rotations=rotations).strips.values()
        left[label] = np.mean([s.share for s in found]), np.mean([(s.deviation / s.span) ** 2 for s in found])
    assert 0.041 < left["all"][0] < 0.051
    assert 0.57 < 1 - left["without"][1] / left["all"][1] < 0.77
