"""Natural modes where ports hold something."""

import numpy as np
import pytest

from pliant import Cable, Force, NeoHookean, Point, Robot, Simulation, Statics, TetBody
from pliant.errors import InputError, NotPositiveDefiniteError
from pliant.motion import natural_modes
from pliant.shape import make
from pliant.view import film_mode

TIP = (0.1, 0.01, 0.01)


def arm(fixed_tip=False):
    mesh = make.box((0.1, 0.02, 0.02), (8, 2, 2))
    fixed = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    if fixed_tip:
        fixed = np.append(fixed, np.linalg.norm(mesh.nodes - TIP, axis=1).argmin())
    return TetBody(mesh, NeoHookean(E=2e5, nu=0.3), fixed=fixed)


def test_a_port_that_holds_its_displacement_is_like_a_fixed_node():
    """The modes of an arm whose tip node is held by a port are those of the arm with that node fixed."""
    held = Robot(arm(), gravity=(0, 0, 0))
    held.impose("tip", Point(near=TIP), displacement=TIP)
    state = Statics(held).solve().require().state
    expected = natural_modes(Robot(arm(fixed_tip=True), gravity=(0, 0, 0)), 4).frequencies
    assert natural_modes(held, 4, state).frequencies == pytest.approx(expected, rel=1e-6)
    assert expected[0] > 2 * natural_modes(Robot(arm(), gravity=(0, 0, 0)), 1).frequencies[0]


def test_a_taut_cable_holds_and_a_slack_one_does_not():
    """A cable of given length stiffens the first mode while it is taut; with zero tension the arm is free."""
    robot = Robot(arm(), gravity=(0, 0, 0))
    robot.impose("cable", Cable([TIP], pull=(0.1, 0.01, 0.2)), displacement=0.004, effort_limits=(0, 50))
    free = natural_modes(Robot(arm(), gravity=(0, 0, 0)), 1).frequencies[0]
    taut = Statics(robot).solve().require().state
    assert float(robot.effort(taut, "cable")[0]) > 0.01
    # bending towards the cable is held; bending across it is not
    frequencies = natural_modes(robot, 2, taut).frequencies
    assert frequencies[1] > 2 * frequencies[0]
    robot.set_displacement("cable", -0.01)
    slack = Statics(robot).solve().require().state
    assert natural_modes(robot, 2, slack).frequencies == pytest.approx([free, free], rel=1e-3)


def test_a_mode_can_be_filmed(tmp_path):
    """One swing as a GIF that moves; a mode that is not there is named."""
    from PIL import Image

    robot = Robot(arm(), gravity=(0, 0, 0))
    film_mode(robot, natural_modes(robot, 2), 0, tmp_path / "mode.gif", frames=8)
    with Image.open(tmp_path / "mode.gif") as film:
        assert film.n_frames >= 6  # frames that look alike are kept once
    with pytest.raises(InputError, match="there is no mode 2; there are modes 0 to 1"):
        film_mode(robot, natural_modes(robot, 2), 2, tmp_path / "none.gif")


def test_without_a_state_the_robot_is_at_rest_and_unloaded():
    """An effort that is set does not count before the robot is in balance with it."""
    robot = Robot(arm(), gravity=(0, 0, -9.81))
    robot.impose("cable", Cable([(0.02, 0.01, 0.018), (0.09, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018)), effort=0.0)
    free = natural_modes(robot, 2).frequencies
    robot.set_effort("cable", 1.0)
    assert natural_modes(robot, 2).frequencies == pytest.approx(free, rel=1e-12)
    bent = Statics(robot).solve().require().state
    assert np.abs(natural_modes(robot, 2, bent).frequencies / free - 1).max() > 1e-3


def test_a_body_that_nothing_holds_has_six_free_motions():
    """Six modes of frequency 0, then those of a dense eigenvalue solver."""
    from scipy.linalg import eigh

    mesh = make.box((0.1, 0.02, 0.02), (6, 2, 2))
    body = TetBody(mesh, NeoHookean(E=2e5, nu=0.3))
    modes = natural_modes(Robot(body, gravity=(0, 0, 0)), 10)
    squares = eigh(body.stiffness(body.rest).toarray(), body.mass().toarray(), eigvals_only=True)[:10]
    assert (modes.frequencies[:6] == 0.0).all()
    assert modes.frequencies[6:] == pytest.approx(np.sqrt(squares[6:]) / (2 * np.pi), rel=1e-8)
    rigid = modes.shapes[0] - modes.shapes[0].mean(axis=0)
    assert np.abs(body.stiffness(body.rest) @ rigid.ravel()).max() < 1e-5


def test_a_body_that_may_slide_has_that_free_motion():
    """On a plane, with one node held across: the motions that are left free have frequency 0."""
    mesh = make.box((0.1, 0.02, 0.02), (6, 2, 2))
    body = TetBody(mesh, NeoHookean(E=2e5, nu=0.3), sliding=[(mesh.where(z_below=0), (0, 0, 1))])
    frequencies = natural_modes(Robot(body, gravity=(0, 0, 0)), 5).frequencies
    assert (frequencies[:3] == 0.0).all()
    assert (frequencies[3:] > 1.0).all()


def test_an_unstable_state_has_no_modes():
    """A beam pressed beyond its critical load and kept straight: the modes say so instead of giving 0 Hz."""
    mesh = make.box((0.1, 0.01, 0.01), (10, 2, 2))
    robot = Robot(TetBody(mesh, NeoHookean(E=2e5, nu=0.3), fixed=mesh.where(x_below=0)))
    robot.impose("press", Force((0.1, 0.005, 0.005), direction=(-1, 0, 0)), effort=0.2)
    state = robot.rest()
    state.x[:, 0] *= 0.7
    with pytest.raises(NotPositiveDefiniteError, match=r"not stable|definite"):
        natural_modes(robot, 2, state)


@pytest.mark.filterwarnings("ignore:with steps of")
def test_runs_are_whole_numbers_of_steps():
    """A run that is no whole number of time steps is refused with the two that are next to it."""
    robot = Robot(arm(), gravity=(0, 0, -9.81))
    simulation = Simulation(robot, h=0.03)
    with pytest.raises(InputError, match=r"3\.333 time steps.*0\.09 or 0\.12 s"):
        simulation.run(0.1)
    simulation.run(0.12)
    assert simulation.state.time == pytest.approx(0.12)
    for seconds in (0.0, -1.0, np.nan, np.inf, "long"):
        with pytest.raises(InputError, match="a run of"):
            simulation.run(seconds)
