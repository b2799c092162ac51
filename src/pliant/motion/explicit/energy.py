"""Energies of a lattice in its surroundings."""

from __future__ import annotations

import numpy as np

from pliant.motion.explicit import _spring_sums as kernels
from pliant.motion.explicit.setup import Surroundings
from pliant.motion.explicit.springs import Array, Springs


def energies(springs: Springs, on: Array, around: Surroundings, x: Array, v: Array, time: float) -> tuple[float, ...]:
    """Kinetic, elastic, gravitational and contact energy [J] at positions and velocities [n, 3].

    on [m]: 1, or 0 for springs that are switched off. Heights count from the origin against gravity. Work of motors, loads and
    actuators, and what friction and damping take, is in none of them.
    """
    kinetic = 0.5 * float(springs.masses @ (v * v).sum(axis=1))
    gravitational = -float(springs.masses @ (x @ np.asarray(around.gravity, float)))
    return kinetic, _elastic(springs, on, around, x, time), gravitational, _contact(springs, around, x)


def _elastic(springs: Springs, on: Array, around: Surroundings, x: Array, time: float) -> float:
    if not around.actuation and not around.laws:
        return float(kernels.elastic_energy(x, springs.springs, springs.constants * on, springs.lengths))
    total = 0.0
    linear, offset = np.zeros(len(springs.springs)), np.zeros(len(springs.springs))
    for column, label in enumerate(springs.labels):
        k = springs.constants if springs.parts is None else springs.parts[:, [column]].toarray().ravel()
        signal = around.actuation.get(int(label))
        strain = 0.0 if signal is None else float(signal(time))
        if int(label) in around.laws:
            law = around.laws[int(label)]
            table = np.asarray(law.strain, float), np.asarray(law.tension, float)
            lengths = springs.lengths * (1.0 + strain)
            total += float(kernels.tabulated_energy(x, springs.springs, k * on, lengths, *table))
        else:
            linear += k * on
            offset += k * on * strain
    mean = np.divide(offset, linear, out=np.zeros_like(offset), where=linear > 0)
    return total + float(kernels.elastic_energy(x, springs.springs, linear, springs.lengths * (1.0 + mean)))


def _contact(springs: Springs, around: Surroundings, x: Array) -> float:
    total = 0.0
    for obstacle in around.obstacles:
        kind, (a, b, c, d) = obstacle.encoded()
        if kind == 0:
            depth = d - x @ np.array([a, b, c])
        else:
            depth = d - np.linalg.norm(x - np.array([a, b, c]), axis=1)
            depth = depth if kind == 1 else -depth
        stiffness = springs.node_stiffness if not obstacle.stiffness else obstacle.stiffness
        total += float(np.sum(0.5 * stiffness * np.maximum(depth, 0.0) ** 2))
    return total
