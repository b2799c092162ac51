"""The explicit engine in plain numpy: what its kernels mean."""

from __future__ import annotations

import numpy as np


def acceleration(springs, x, v, t, *, gravity=(0, 0, 0), damping=0.0, strain=None, ground=None, force=None):
    """Acceleration [n, 3] and the normal force of each node on a plane z = 0 with stiffness `ground` [N/m]."""
    i, j = springs.springs.T
    d = x[j] - x[i]
    length = np.linalg.norm(d, axis=1)
    rest = springs.lengths * (1.0 + (0.0 if strain is None else strain(t)))
    pull = (springs.constants * (1.0 - rest / length))[:, None] * d
    total = np.zeros_like(x)
    np.add.at(total, i, pull)
    np.add.at(total, j, -pull)
    if force is not None:
        total += force
    normal = np.zeros(len(x))
    if ground is not None:
        normal = np.maximum(-x[:, 2], 0.0) * ground
        total[:, 2] += normal
    a = total / springs.masses[:, None] + np.asarray(gravity) - damping * v
    a[springs.supports.fixed] = 0.0
    return a, normal


def rub(springs, v, normal, mu, push):
    """Coulomb on the plane z = 0: stick, or slip with mu times the normal force."""
    speed = np.linalg.norm(v[:, :2], axis=1)
    most = mu * normal * push / springs.masses
    share = np.where(normal > 0, np.minimum(1.0, most / np.maximum(speed, 1e-300)), 0.0)
    v[:, :2] -= share[:, None] * v[:, :2]


def cling(springs, a, v, normal, mu, h):
    """Coulomb on the plane z = 0 as an acceleration: what stops the velocity v within h, at most mu times the normal force."""
    u = v[:, :2] + h * a[:, :2]
    speed = np.linalg.norm(u, axis=1)
    share = np.where(normal > 0, np.minimum(1.0, mu * normal * h / springs.masses / np.maximum(speed, 1e-300)), 0.0)
    a[:, :2] -= share[:, None] * u / h
    a[springs.supports.fixed] = 0.0


def march(springs, x, v, h, steps, integrator, *, damping=0.0, mu=0.0, **around):
    """Positions and velocities after some steps."""
    x, v = x.copy(), v.copy()

    def a(x, v, t, c=0.0):
        return acceleration(springs, x, v, t, damping=c, **around)

    c = damping
    for n in range(steps):
        t = n * h
        if integrator == "verlet":
            keep, push = (1 - c * h / 2, h / 2) if n == 0 else ((1 - c * h / 2) / (1 + c * h / 2), h / (1 + c * h / 2))
            acc, normal = a(x, v, t)
            v = keep * v + push * acc
            rub(springs, v, normal, mu, push)
            x = x + h * v
        elif integrator == "semi-implicit":
            acc, normal = a(x, v, t)
            v = (v + h * acc) / (1 + c * h)
            rub(springs, v, normal, mu, h / (1 + c * h))
            x = x + h * v
        elif integrator == "forward":
            acc, normal = a(x, v, t, c)
            x, v = x + h * v, v + h * acc
            rub(springs, v, normal, mu, h)
        else:
            slopes = []
            xs, vs = x, v
            for share, ahead in ((0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 0.0)):
                acc, normal = a(xs, vs, t + share * h, c)
                cling(springs, acc, v, normal, mu, h)
                slopes.append((vs, acc))
                xs, vs = x + ahead * h * vs, v + ahead * h * acc
            (k1, l1), (k2, l2), (k3, l3), (k4, l4) = slopes
            x, v = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    if integrator == "verlet":
        acc, normal = a(x, v, steps * h)
        v = (v + 0.5 * h * acc) / (1 + 0.5 * c * h)
        rub(springs, v, normal, mu, 0.5 * h / (1 + 0.5 * c * h))
    return x, v
