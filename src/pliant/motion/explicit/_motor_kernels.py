"""Forces of motors: hubs turned about axes that are fixed in a group of nodes, the base.

The base's frame (middle c, rotation R) is the best fit to its nodes, R the rotation of sum m (x - c) r^T with the arms r at
rest. Node i of the hub is drawn with a stiffness to where a stiff hub would have it,

    t_i = c + R (a + Rot(u, theta) q_i),      f_i = k_i (t_i - x_i),

a the axle, u the axis and q_i the arm, all at rest in the base's frame. The base feels the opposite of these forces as a
whole, F = - sum f_i and T = - sum (x_i - c) x f_i, as the forces m_j (F / M + alpha x r_j) with T = I alpha: momentum and
angular momentum balance exactly, whatever R is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.algebra.compiled import kernel


@kernel
def motor_angle(speed: float, phase: float, start: float, time: float) -> float:
    """Angle [rad] at a time: from rest, smoothly to phase and speed within `start` seconds, then steadily on."""
    if time >= start:
        return phase + speed * (time - 0.5 * start)
    s = max(time, 0.0) / start
    return phase * s * s * (3.0 - 2.0 * s) + speed * start * s * s * s * (1.0 - 0.5 * s)


@kernel
def turn_towards(R: Any, A: Any) -> None:
    """Turn R to the rotation nearest to A, from where R is (Müller, Bender, Chentanez and Macklin 2016)."""
    for _ in range(20):
        wx = wy = wz = 0.0
        along = 1e-300
        for k in range(3):
            wx += R[1, k] * A[2, k] - R[2, k] * A[1, k]
            wy += R[2, k] * A[0, k] - R[0, k] * A[2, k]
            wz += R[0, k] * A[1, k] - R[1, k] * A[0, k]
            along += R[0, k] * A[0, k] + R[1, k] * A[1, k] + R[2, k] * A[2, k]
        wx, wy, wz = wx / abs(along), wy / abs(along), wz / abs(along)
        angle = math.sqrt(wx * wx + wy * wy + wz * wz)
        if not angle > 1e-14:
            return
        ux, uy, uz = wx / angle, wy / angle, wz / angle
        c, s = math.cos(angle), math.sin(angle)
        for k in range(3):
            a, b, d = R[0, k], R[1, k], R[2, k]
            dot = (1.0 - c) * (ux * a + uy * b + uz * d)
            R[0, k] = c * a + s * (uy * d - uz * b) + dot * ux
            R[1, k] = c * b + s * (uz * a - ux * d) + dot * uy
            R[2, k] = c * d + s * (ux * b - uy * a) + dot * uz


@kernel
def base_frame(motors: Any, m: int, x: Any, c: Any, R: Any, inertia: Any) -> float:
    """Mass of the base of motor m; fills its middle c [3], rotation R [3, 3] and inertia about c [3, 3]."""
    first, last = motors.base_start[m], motors.base_start[m + 1]
    c[:] = 0.0
    inertia[:] = 0.0
    mass = 0.0
    for b in range(first, last):
        mass += motors.base_mass[b]
        for a in range(3):
            c[a] += motors.base_mass[b] * x[a, motors.base[b]]
    c /= mass
    A = np.zeros((3, 3))
    for b in range(first, last):
        w = motors.base_mass[b]
        r0, r1, r2 = x[0, motors.base[b]] - c[0], x[1, motors.base[b]] - c[1], x[2, motors.base[b]] - c[2]
        for k in range(3):
            q = w * motors.base_arm[b, k]
            A[0, k] += q * r0
            A[1, k] += q * r1
            A[2, k] += q * r2
        inertia[0, 0] += w * (r1 * r1 + r2 * r2)
        inertia[1, 1] += w * (r0 * r0 + r2 * r2)
        inertia[2, 2] += w * (r0 * r0 + r1 * r1)
        inertia[0, 1] -= w * r0 * r1
        inertia[1, 2] -= w * r1 * r2
        inertia[0, 2] -= w * r0 * r2
    inertia[1, 0], inertia[2, 1], inertia[2, 0] = inertia[0, 1], inertia[1, 2], inertia[0, 2]
    turn_towards(R, A)
    return mass


@kernel
def solve3(A: Any, b: Any, out: Any) -> None:
    """out = A^-1 b for a symmetric 3x3 matrix, by cofactors."""
    c0 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c1 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c2 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    det = A[0, 0] * c0 + A[0, 1] * c1 + A[0, 2] * c2
    c3 = A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]
    c4 = A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]
    c5 = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    out[0] = (c0 * b[0] + c1 * b[1] + c2 * b[2]) / det
    out[1] = (c1 * b[0] + c3 * b[1] + c4 * b[2]) / det
    out[2] = (c2 * b[0] + c4 * b[1] + c5 * b[2]) / det


@kernel
def motor_forces(motors: Any, x: Any, time: float, rotations: Any, forces: Any, torques: Any) -> None:
    """Forces [hubs + bases, 3] of all motors at a time, and their torques on the hubs about the axes [m].

    rotations [m, 3, 3]: of the bases, as they were last time; brought up to date.
    """
    c, F, T, alpha = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    goal, u = np.zeros(3), np.zeros(3)
    inertia = np.zeros((3, 3))
    hubs = motors.hub.size
    for m in range(motors.axis.shape[0]):
        R = rotations[m]
        first, last = motors.base_start[m], motors.base_start[m + 1]
        mass = base_frame(motors, m, x, c, R, inertia) if last > first else 0.0
        angle = motor_angle(motors.drive[m, 0], motors.drive[m, 1], motors.drive[m, 2], time)
        cosine, sine = math.cos(angle), math.sin(angle)
        axis, axle = motors.axis[m], motors.axle[m]
        center = R @ axle + c if last > first else axle.copy()
        u[:] = R @ axis
        F[:], T[:] = 0.0, 0.0
        torques[m] = 0.0
        for h in range(motors.hub_start[m], motors.hub_start[m + 1]):
            q, place = motors.arm[h], motors.hub[h]
            dot = (1.0 - cosine) * (axis[0] * q[0] + axis[1] * q[1] + axis[2] * q[2])
            goal[0] = cosine * q[0] + sine * (axis[1] * q[2] - axis[2] * q[1]) + dot * axis[0]
            goal[1] = cosine * q[1] + sine * (axis[2] * q[0] - axis[0] * q[2]) + dot * axis[1]
            goal[2] = cosine * q[2] + sine * (axis[0] * q[1] - axis[1] * q[0]) + dot * axis[2]
            f = motors.hub_stiffness[h]
            f0 = f * (center[0] + R[0, 0] * goal[0] + R[0, 1] * goal[1] + R[0, 2] * goal[2] - x[0, place])
            f1 = f * (center[1] + R[1, 0] * goal[0] + R[1, 1] * goal[1] + R[1, 2] * goal[2] - x[1, place])
            f2 = f * (center[2] + R[2, 0] * goal[0] + R[2, 1] * goal[1] + R[2, 2] * goal[2] - x[2, place])
            forces[h, 0], forces[h, 1], forces[h, 2] = f0, f1, f2
            r0, r1, r2 = x[0, place] - c[0], x[1, place] - c[1], x[2, place] - c[2]
            t0, t1, t2 = r1 * f2 - r2 * f1, r2 * f0 - r0 * f2, r0 * f1 - r1 * f0
            F[0], F[1], F[2] = F[0] - f0, F[1] - f1, F[2] - f2
            T[0], T[1], T[2] = T[0] - t0, T[1] - t1, T[2] - t2
        s0, s1, s2 = center[0] - c[0], center[1] - c[1], center[2] - c[2]
        about = T[0] * u[0] + T[1] * u[1] + T[2] * u[2]
        about -= (s1 * F[2] - s2 * F[1]) * u[0] + (s2 * F[0] - s0 * F[2]) * u[1] + (s0 * F[1] - s1 * F[0]) * u[2]
        torques[m] = -about
        if last > first:
            solve3(inertia, T, alpha)
            for b in range(first, last):
                w, place = motors.base_mass[b], motors.base[b]
                r0, r1, r2 = x[0, place] - c[0], x[1, place] - c[1], x[2, place] - c[2]
                forces[hubs + b, 0] = w * (F[0] / mass + alpha[1] * r2 - alpha[2] * r1)
                forces[hubs + b, 1] = w * (F[1] / mass + alpha[2] * r0 - alpha[0] * r2)
                forces[hubs + b, 2] = w * (F[2] / mass + alpha[0] * r1 - alpha[1] * r0)
