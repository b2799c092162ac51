"""The ball: its cells, what it asks for, and that it rolls because a rigid ball would."""

from __future__ import annotations

import meshio
import numpy as np
import pytest

from pliant.errors import InputError
from pliant.gallery import Choices, ball, ball_robot, find
from pliant.gallery.ball_rolling import driven, plant_robot
from pliant.robot import Role
from pliant.shape import make

COARSE = 0.015


def coarse(heading=0.0):
    """A ball of few tets."""
    return ball_robot.build(ball_robot.shape(COARSE), heading=heading)


def test_it_is_as_large_as_the_papers_and_follows_its_cells():
    """About 3003 coordinates; 20 cells of one size, and every tet lies in the cone of the face that its cell is named by: no
    corner of it is across a boundary."""
    mesh = ball_robot.shape()
    assert abs(3 * len(mesh.nodes) - 3003) < 60
    cells = np.bincount(mesh.labels)
    assert len(cells) == 20
    assert len(set(cells.tolist())) == 1
    normals = ball_robot.normals()
    along = mesh.nodes[mesh.tets] @ normals.T
    own = np.take_along_axis(along, mesh.labels[:, None, None], axis=2)
    assert (own[..., 0] >= along.max(axis=2) - 1e-12).all()
    assert normals[:, 2].min() == pytest.approx(-1.0)


def test_moduli_and_pressure_are_sought():
    """One modulus per cell from a fifth to five times its own, and one pressure; three points are wanted somewhere."""
    robot = coarse()
    assert len(robot.named(Role.ACTUATOR)) == 21
    E = ball_robot.LAW.E
    assert robot.ports["cell 7"].limits.effort[0] + E == pytest.approx([E / 5, 5 * E])
    assert robot.named(Role.EFFECTOR) == ("center", "side", "front")


def test_a_coarse_ball_begins_to_roll():
    """In a second the plant goes and turns forwards; pressure, moduli and nodes stay within limits and finite."""
    model = coarse(90.0)
    run = driven(model, ball_robot.inverse(model), plant_robot(90.0, 0.6, ball_robot.shape(COARSE)), 90.0, 0.1, 35)
    assert run.ways[-1] > 0.003
    assert run.angles[-1] > 3.0
    assert run.failures == 0
    assert np.isfinite(run.end.x).all()
    for step in run.steps:
        for name, effort in step.efforts.items():
            low, high = model.ports[name].limits.effort[0]
            assert low <= effort[0] <= high


def test_paths_are_those_of_a_rigid_ball():
    """The centre goes one circumference, and no point of the surface comes nearer to it or goes away; below the centre a point
    stands still."""
    robot = coarse()
    state = robot.rest()
    paths = ball.rigid_paths(robot, state, 0.0)
    times = np.linspace(0.0, paths["center"].duration, 50)
    centers = np.array([paths["center"].position(time) for time in times])
    assert np.ptp(centers[:, 0]) == pytest.approx(ball.CIRCUMFERENCE)
    for name in ("side", "front"):
        arms = np.array([paths[name].position(time) for time in times]) - centers
        assert np.ptp(np.linalg.norm(arms, axis=1)) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("heading", ["90", "270"])
def test_it_rolls_a_circumference(heading):
    """In closed loop with another ball, whose contacts slip: a circumference, and 300 degrees."""
    figures = {figure.name: figure for figure in find("ball").show(Choices(trajectory=heading)).figures}
    assert figures["robosoft.ball_distance_m"].holds
    assert figures["ball.turn"].holds


def test_faults(tmp_path):
    """Headings that there are not, meshes without a cavity, and options without effect."""
    with pytest.raises(InputError, match="no heading 'north'"):
        find("ball").show(Choices(trajectory="north"))
    with pytest.raises(InputError, match="--gait"):
        find("ball").show(Choices(gait="walk"))
    solid = make.sphere(0.04, 0.02)
    file = tmp_path / "ball.vtu"
    meshio.write(file, meshio.Mesh(1e3 * solid.nodes, [("tetra", solid.tets)]))
    with pytest.raises(InputError, match="1 parts"):
        find("ball").show(Choices(mesh=file))
