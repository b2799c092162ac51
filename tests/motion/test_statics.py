"""Statics: convergence, status, load steps, the warped fallback."""

from __future__ import annotations

import numpy as np
import pytest

from hollow import hollow_box
from pliant import Cavity, Corotational, Force, MooneyRivlin, NeoHookean, Point, Robot, Statics, TetBody, make, solids
from pliant.errors import InputError, NotConvergedError
from pliant.motion import Status

MESH = make.box((0.1, 0.01, 0.01), (12, 2, 2))


def beam(law=None, gravity=9.81, tip=0.0, **supports):
    body = TetBody(MESH, law or Corotational(E=2e5, nu=0.4), fixed=MESH.where(x_below=0), **supports)
    robot = Robot(body, gravity=(0, 0, -gravity))
    robot.impose("tip force", Force((0.1, 0.005, 0.005), direction=(0, 0, -1)), effort=tip)
    robot.sense("tip", Point(near=(0.1, 0.005, 0.005)))
    return robot


def test_equilibrium_balances_and_converges_quadratically():
    """The residual ends at the tolerance, and the last iterations square it."""
    robot = beam()
    result = Statics(robot).solve().require()
    equations, state = robot.equations, result.state
    gradient = equations.evaluate(state.pose, robot.loads(state.efforts)).gradient
    out = equations.assembly.force_on_coordinates(equations.assembly.slope(state.pose), gradient)
    assert np.abs(out).max() == pytest.approx(result.residual)
    reactions = robot.reactions(result.state).sum(axis=0)
    weight = 1070 * MESH.volume * 9.81
    assert reactions == pytest.approx([0, 0, weight], abs=1e-7 * weight)
    assert result.status is Status.CONVERGED
    assert result.history[-1] < 1e-3 * result.history[-2]
    assert set(result.times) >= {"assemble", "factor", "solve", "search"}


def test_load_steps_end_at_the_same_equilibrium():
    """One load step and eight give the same tip, also from a state under way."""
    tips = []
    for steps in (1, 8):
        robot = beam(tip=0.02)
        tips.append(
            robot.displacement(Statics(robot, load_steps=steps, tolerance=1e-11).solve().require().state, "tip")
        )
    robot = beam()
    half = Statics(robot).solve().require().state
    robot.set_effort("tip force", 0.02)
    tips.append(robot.displacement(Statics(robot, load_steps=3, tolerance=1e-11).solve(half).require().state, "tip"))
    assert tips[1] == pytest.approx(tips[0], abs=1e-9)
    assert tips[2] == pytest.approx(tips[0], abs=1e-9)


def test_warped_tangent_reaches_the_same_equilibrium():
    """The tangent changes the way, not the end."""
    ends = [Statics(beam(), tangent=t, max_iterations=400).solve().require().state.x for t in ("exact", "warped")]
    assert np.abs(ends[0] - ends[1]).max() < 1e-7


def test_single_steps_converge_to_the_equilibrium():
    """Repeated one-step linearizations (real time) arrive where Newton does, for a moderate load."""
    robot = beam(gravity=1.0)
    statics = Statics(robot)
    end = statics.solve().require().state
    state = robot.rest()
    for _ in range(12):
        result = statics.step(state)
        assert result.status is Status.STEPPED
        state = result.state
    assert np.abs(state.x - end.x).max() < 1e-9


def test_buckling_is_passed_and_counted():
    """A column pushed beyond Euler's load: the exact tangent at the straight shape is indefinite; the result says so and
    the beam still finds a bent equilibrium of lower potential."""
    robot = Robot(TetBody(MESH, NeoHookean(E=2e5, nu=0.3), order=2, fixed=MESH.where(x_below=0)))
    euler = np.pi**2 * 2e5 * 0.01**4 / 12 / (4 * 0.1**2)
    robot.impose("push", Force((0.1, 0.005, 0.005), direction=(-1, 0, 0)), effort=2 * euler)
    robot.impose("nudge", Force((0.1, 0.005, 0.005), direction=(0, 0, 1)), effort=1e-4 * euler)
    robot.sense("tip", Point(near=(0.1, 0.005, 0.005)))
    result = Statics(robot, max_iterations=300).solve()
    assert result.ok
    assert result.turned_iterations + result.warped_iterations > 0
    assert abs(robot.displacement(result.state, "tip")[2] - 0.005) > 0.03


def test_a_failed_load_step_returns_the_last_good_state():
    """MooneyRivlin from an inverted start: FAILED, and the state is the one given, efforts included."""
    robot = beam(law=MooneyRivlin(E=2e5, nu=0.4), tip=0.02)
    state = robot.rest()
    state.x[:, 0] *= -1
    result = Statics(robot, load_steps=3).solve(state)
    assert result.status is Status.FAILED
    assert result.state is state


def test_no_convergence_is_a_status_not_an_exception():
    """Too few iterations: the result says so; require() raises with the remedy and the result as evidence."""
    result = Statics(beam(), max_iterations=2).solve()
    assert result.status is Status.NOT_CONVERGED
    with pytest.raises(NotConvergedError, match="more load steps or iterations") as caught:
        result.require()
    assert caught.value.evidence["result"].iterations == 2


def test_prescribed_nodes_arrive_and_pull():
    """Prescribed ends are where they were sent in one load step, and the rest is in balance."""
    right = MESH.where(x_above=0.1)
    robot = Robot(TetBody(MESH, NeoHookean(E=2e5, nu=0.4), fixed=MESH.where(x_below=0), prescribed=right))
    target = robot.prescribed_rest + np.array([0.05, 0, 0])
    result = Statics(robot).solve(prescribed=target).require()
    assert np.array_equal(result.state.x[right], target)
    assert result.state.x[:, 0].max() == pytest.approx(0.15)
    with pytest.raises(InputError, match="prescribed positions"):
        Statics(robot).solve(prescribed=target[:-1])


@pytest.mark.parametrize("options", [{"tolerance": 0.0}, {"max_iterations": 0}, {"load_steps": 0}])
def test_bad_options_are_named(options):
    """Options that make no sense raise an InputError."""
    with pytest.raises(InputError, match=rf"{next(iter(options))} is 0.*(>|>=)"):
        Statics(beam(), **options)


def test_reactions_of_sliding_nodes_are_normal_to_their_planes():
    """A quarter block under its own weight on two symmetry planes and a floor: reactions balance it, plane by plane."""
    planes = [
        (MESH.where(x_below=0), (1, 0, 0)),
        (MESH.where(y_below=0), (0, 1, 0)),
        (MESH.where(z_below=0), (0, 0, 1)),
    ]
    robot = Robot(TetBody(MESH, NeoHookean(E=2e5, nu=0.4), sliding=planes), gravity=(0, 0, -9.81))
    reactions = robot.reactions(Statics(robot).solve().require().state)
    assert reactions.sum(axis=0) == pytest.approx([0, 0, 1070 * MESH.volume * 9.81], abs=1e-6)
    wall = np.setdiff1d(planes[0][0], np.concatenate([planes[1][0], planes[2][0]]))
    assert np.abs(reactions[wall, 1:]).max() < 1e-12
    free = np.setdiff1d(np.arange(len(MESH.nodes)), np.concatenate([ids for ids, _ in planes]))
    assert not reactions[free].any()


@pytest.mark.parametrize("ratio", [1e6, 1e9, 1e11, 1e13])
def test_a_soft_part_beside_a_stiff_one_sags(ratio):
    """However much stiffer its clamped half is, the soft half bends under its weight as from a rigid one."""
    solid = make.box((0.1, 0.02, 0.02), (10, 2, 2))
    mesh = solid.labelled((solid.nodes[solid.tets].mean(axis=1)[:, 0] < 0.03).astype(int))
    soft = Corotational(E=1e5, nu=0.4)
    stiff = Corotational(E=1e5 * ratio, nu=0.4)
    sag = []
    for laws, fixed in (({0: soft, 1: stiff}, mesh.where(x_below=0)), ({0: soft, 1: soft}, mesh.where(x_below=0.03))):
        robot = Robot(TetBody(mesh, laws, fixed=fixed), gravity=(0, 0, -9.81))
        robot.sense("tip", Point(near=(0.1, 0.01, 0.01)))
        sag.append(robot.displacement(Statics(robot).solve().require().state, "tip")[2] - 0.01)
    assert sag[0] == pytest.approx(sag[1], rel=1e-4)
    assert sag[1] < -1e-3


def test_a_pressure_that_the_material_cannot_bear_is_told():
    """200 kPa in a soft finger: an end with the cause and a bounded state, not a volume of 1e112 m^3."""
    chamber = solids.box((0.06, 0.01, 0.01), at=(0.02, 0.005, 0.005))
    mesh = hollow_box((0.1, 0.02, 0.02), (10, 4, 4), chamber)
    robot = Robot(TetBody(mesh, Corotational(E=250e3, nu=0.4), fixed=mesh.where(x_below=0)))
    robot.impose("air", Cavity(chamber), effort=200e3)
    result = Statics(robot).solve()
    assert result.status is Status.DIVERGED
    assert np.abs(result.state.x).max() < 0.2
    with pytest.raises(NotConvergedError, match=r"'air' at 2e\+05 Pa stretches elements.*material can carry"):
        result.require()
    robot.set_effort("air", 5e3)
    assert Statics(robot).solve(result.state).ok
