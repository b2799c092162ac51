"""Past limit points and with many held rows: a shallow arch that sways aside, a fibre-wrapped actuator that bends."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pliant.body import TetBody
from pliant.material import NeoHookean, StVenantKirchhoff
from pliant.motion import Statics, Status
from pliant.port import Cable, Cavity, Frame, Point
from pliant.robot import Robot, Role, State
from pliant.shape import TetMesh, make

SPAN, RISE, WIDTH, THICKNESS = 0.2, 0.01, 0.006, 0.002
"""Of the arch [m]."""
MODULUS = 1e6


class Arch:
    """Clamped at both ends, z = h/2 (1 + cos(2 pi x / L)); its apex is pushed down by `drop` [m], by so many rows."""

    def __init__(self, drop: float, pushes: int = 1) -> None:
        flat = make.box((SPAN, WIDTH, THICKNESS), (48, 1, 1), center=(0, 0, 0))
        rise = RISE / 2 * (1 + np.cos(2 * np.pi * flat.nodes[:, 0] / SPAN))
        mesh = TetMesh(flat.nodes + rise[:, None] * [0, 0, 1], flat.tets)
        ends = np.abs(mesh.nodes[:, 0]) > SPAN / 2 - 1e-9
        self.body = TetBody(mesh, StVenantKirchhoff(E=MODULUS, nu=0.0), order=2, fixed=ends)
        self.robot, self.pushes = Robot(self.body), pushes
        for k in range(pushes):
            self.robot.impose(f"apex {k}", Point(near=(0, 0, RISE), axes="z"), displacement=RISE - drop)
        for name, side in (("left", -1), ("right", 1)):
            self.robot.sense(name, Point(near=(side * SPAN / 4, 0, RISE / 2), axes="z"))

    def push(self, state: State) -> float:
        """Force that holds the apex down [N]."""
        return -sum(float(self.robot.effort(state, f"apex {k}")[0]) for k in range(self.pushes))

    def sway(self, state: State) -> float:
        """How much higher one quarter point is than the other [m]."""
        return abs(float((self.robot.displacement(state, "left") - self.robot.displacement(state, "right"))[0]))

    def falling_ways(self, state: State) -> int:
        """How many independent ways that keep the apex lead down, n-([K, h; h^T, 0]) - 1, by a dense decomposition."""
        equations = self.robot.equations
        at = equations.factor(state.pose, self.robot.loads(state.efforts), signed=True)
        rows = equations.rows.at(at.placed, at.T)
        first, count = slice(rows.indptr[1]), 3 * equations.assembly.coordinate_count
        bordered = np.zeros((count + 1, count + 1))
        bordered[:count, :count] = at.matrix().toarray()
        bordered[count, rows.indices[first]] = bordered[rows.indices[first], count] = rows.data[first]
        return int((np.linalg.eigvalsh(bordered) < 0.0).sum()) - 1


def sway_points() -> tuple[tuple[float, float], tuple[float, float]]:
    """Drop [m] and force [N] where the arch begins to sway aside and where it is symmetric again.

    Shallow arch, N its thrust, v what it rises: EI v'''' + N (v + w0)'' = -P d(x), N = EA/L int (w0'^2 - (w0 + v)'^2) / 2 dx.
    A clamped beam sways at N = k^2 EI, tan(kL/2) = kL/2, kL = 8.98682 (Timoshenko and Gere 1961), whether its middle is held
    or not. There v = c cos(qx) + A + B cos(kx) + C (sin(kx) - kx) for x > 0, with q = 2 pi / L, c = k^2 h/2 / (q^2 - k^2),
    P = 2 EI k^3 C, and A, B such that the ends are clamped; the thrust is a quadratic equation for C. Between its two roots
    the arch sways, N stays, and so force over drop is a straight line.
    """
    area, inertia, half = WIDTH * THICKNESS, WIDTH * THICKNESS**3 / 12, SPAN / 2
    k, q = 8.986818916 / SPAN, 2 * np.pi / SPAN
    c = k**2 * RISE / 2 / (q**2 - k**2)
    b = (np.cos(k * half) - 1) / np.sin(k * half)
    x = np.linspace(0, half, 20001)
    first, plain = -RISE / 2 * q * np.sin(q * x), -(RISE / 2 + c) * q * np.sin(q * x)
    bent = -b * k * np.sin(k * x) + k * (np.cos(k * x) - 1)

    def over(f):
        return float((f[1:] + f[:-1]).sum() * (x[1] - x[0]) / 2)

    thrust = k**2 * inertia * SPAN / area
    roots = np.roots([-over(bent**2), -2 * over(plain * bent), over(first**2 - plain**2) - thrust])
    lift = -b * np.cos(k * half) - np.sin(k * half) + k * half
    points = [(float(-2 * c - C * (lift + b)), float(2 * MODULUS * inertia * k**3 * C)) for C in roots]
    return min(points), max(points)


def test_an_arch_becomes_unstable_where_theory_has_it(figure):
    """The drop of the apex at which the symmetric shape becomes unstable is within 3 % of that of a shallow arch."""
    (expected, _), _ = sway_points()
    arch, low, high = Arch(0.0), 0.5 * expected, 1.5 * expected
    while high - low > 1e-3 * expected:
        middle = (low + high) / 2
        arch.robot.set_displacement("apex 0", RISE - middle)
        status = Statics(arch.robot, branch="any").solve().status
        assert status in (Status.CONVERGED, Status.UNSTABLE)
        low, high = (middle, high) if status is Status.CONVERGED else (low, middle)
    figure("arch.sways_at_mm", 1e3 * low, "mm", 1e3 * expected, "shallow arch")
    assert low == pytest.approx(expected, rel=0.03)


@pytest.mark.thorough
@pytest.mark.parametrize("drop", [0.002, 0.008, 0.012])
def test_an_arch_pushed_through_sways_aside(drop, figure):
    """Past that drop, branch="any" ends at the symmetric shape and says that it is unstable; "stable" ends at the swayed one:
    no way of motion leads down from there, it has less energy, and its force is within 5 % of that of a shallow arch."""
    arch, ((begin, most), (end, least)) = Arch(drop), sway_points()
    symmetric = Statics(arch.robot, branch="any").solve()
    swayed = Statics(arch.robot).solve().require()
    assert symmetric.status is Status.UNSTABLE
    assert swayed.status is Status.CONVERGED
    assert arch.sway(symmetric.state) < 1e-6 * RISE
    assert arch.sway(swayed.state) > 0.1 * RISE
    assert arch.falling_ways(symmetric.state) > 0
    assert arch.falling_ways(swayed.state) == 0
    assert arch.body.energy(swayed.state.x) < 0.9 * arch.body.energy(symmetric.state.x)
    expected = most + (least - most) * (drop - begin) / (end - begin)
    force = arch.push(swayed.state)
    figure(f"arch.force_at_{1e3 * drop:.0f}_mm", force, "N", expected, "shallow arch")
    figure(f"arch.iterations_at_{1e3 * drop:.0f}_mm", swayed.iterations, "")
    assert force == pytest.approx(expected, rel=0.05)
    assert force < 0.7 * arch.push(symmetric.state)


def test_an_arch_leaves_the_unstable_shape_that_it_is_in():
    """From the symmetric equilibrium on, where the forces balance, it goes to the swayed one, and tells that it left one."""
    arch = Arch(0.005)
    symmetric = Statics(arch.robot, branch="any").solve().state
    result = Statics(arch.robot).solve(symmetric)
    assert result.status is Status.CONVERGED
    assert result.escapes == 1
    assert arch.sway(result.state) == pytest.approx(arch.sway(Statics(arch.robot).solve().state), rel=1e-6)


def test_rows_that_hold_the_same_do_not_hide_what_is_unstable():
    """Pushed by three rows that do the same, the arch is as unstable as pushed by one, and sways as far with the same force."""
    one, three = Arch(0.002), Arch(0.002, pushes=3)
    assert Statics(three.robot, branch="any").solve().status is Status.UNSTABLE
    alone, shared = (Statics(arch.robot).solve().require().state for arch in (one, three))
    assert three.sway(shared) == pytest.approx(one.sway(alone), rel=1e-6)
    assert three.push(shared) == pytest.approx(one.push(alone), rel=1e-6)


LENGTH, RADIUS, WALL, CAP = 0.1, 0.008, 0.0025, 0.005
"""Of the actuator [m]: a half-round rubber tube, flat below, between two stiff caps."""
PRESSURE = 42e3
"""Of the air in it [Pa]."""


def half_round(y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A square's upper half as half a disc; what is below stays."""
    far = np.hypot(y, z)
    share = np.where(z > 0, np.maximum(np.abs(y), z) / np.where(far > 0, far, 1), 1.0)
    return y * share, z * share


def actuator(loops: int, cells: int) -> Robot:
    """The tube with air at no pressure, as many fibre loops around it, and three threads along its flat side.

    Loops and threads are as long as at rest; they cannot push.
    """
    inner = RADIUS - WALL
    y = np.array([-RADIUS, -inner, -inner / 2, 0, inner / 2, inner, RADIUS])
    z = np.array([-WALL, 0, inner / 2, inner, RADIUS])
    x = np.array([-CAP, *np.linspace(0, LENGTH, cells + 1), LENGTH + CAP])

    def is_wall(p):
        inside = (np.abs(p[:, 1]) < inner) & (p[:, 2] > 0) & (p[:, 2] < inner)
        return ~(inside & (p[:, 0] > 0) & (p[:, 0] < LENGTH))

    blocks = make.blocks(x, y, z, is_wall)
    mesh = TetMesh(np.column_stack([blocks.nodes[:, 0], *half_round(*blocks.nodes[:, 1:].T)]), blocks.tets)
    base, tip = mesh.where(x_below=1e-7), mesh.where(x_above=LENGTH - 1e-7)
    robot = Robot(TetBody(mesh, NeoHookean(E=0.3e6, nu=0.45), order=2, fixed=base, rigid={"tip": tip}))
    robot.impose("air", Cavity(min(mesh.surface().parts(), key=lambda part: part.volume)), effort=0.0)
    left = [(-RADIUS, height) for height in z[1:-1]]
    ring = [*left, *((side, RADIUS) for side in y), *((-a, b) for a, b in left[::-1]), *((a, -WALL) for a in y[::-1])]
    around = np.column_stack(half_round(*np.array([*ring, ring[0]]).T))
    for k in range(loops):
        place = np.full(len(around), (k + 0.5) * LENGTH / loops)
        robot.impose(f"loop {k}", Cable(np.column_stack([place, around])), displacement=0.0)
    for side in (-0.005, 0.0, 0.005):
        way = [(place, side, -WALL) for place in np.linspace(0, LENGTH, cells + 1)]
        robot.impose(f"thread {side}", Cable(way), displacement=0.0)
    robot.sense("tip", Frame("tip", rows="rx ry rz"))
    return robot


@pytest.mark.parametrize(
    ("loops", "cells"),
    [pytest.param(20, 25, marks=pytest.mark.thorough), pytest.param(100, 50, marks=pytest.mark.slow)],
)
def test_a_tube_wrapped_by_fibres_bends_by_100_degrees(loops, cells, figure):
    """From rest, in one solve, under a pressure or a volume that is given: each fibre is as long as at rest or slack, and the
    volume that belongs to the pressure needs that pressure."""
    robot = actuator(loops, cells)
    robot.set_effort("air", PRESSURE)
    start = time.perf_counter()
    result = Statics(robot).solve()
    seconds = time.perf_counter() - start
    assert result.status is Status.CONVERGED
    state = result.state
    turn = np.degrees(robot.displacement(state, "tip"))
    fibres = [name for name in robot.ports if name.startswith(("loop", "thread"))]
    tensions, gains = (np.array([of(state, name)[0] for name in fibres]) for of in (robot.effort, robot.displacement))
    figure(f"actuator.{loops}_loops.degrees", np.linalg.norm(turn), "")
    figure(f"actuator.{loops}_loops.pressure_kPa", robot.effort(state, "air")[0] / 1e3, "kPa")
    figure(f"actuator.{loops}_loops.iterations", result.iterations, "")
    figure(f"actuator.{loops}_loops.seconds", seconds, "s")
    figure(f"actuator.{loops}_loops.tets", len(robot.bodies[0].mesh.tets), "tets")
    figure(f"actuator.{loops}_loops.slack_fibres", (tensions == 0).sum(), "")
    assert turn[1] > 100
    assert np.abs(turn[[0, 2]]).max() < 1e-3
    assert (tensions >= 0).all()
    assert (gains > -1e-9).all()
    assert np.abs(gains[tensions > 0]).max() < 1e-9

    volume = float(robot.displacement(state, "air")[0])
    held = robot.with_roles({"air": Role.HELD})
    held.set_displacement("air", volume)
    filled = Statics(held).solve().require()
    figure(f"actuator.{loops}_loops.iterations_by_volume", filled.iterations, "")
    assert held.effort(filled.state, "air")[0] == pytest.approx(PRESSURE, rel=1e-6)
    assert filled.state.x == pytest.approx(state.x, abs=1e-6 * LENGTH)
