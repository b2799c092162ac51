"""The patch test: elements that can represent a uniform strain must find it, whatever the mesh looks like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.body import TetBody
from pliant.material import Corotational, Linear, MooneyRivlin, NeoHookean, StVenantKirchhoff
from pliant.motion import Statics
from pliant.robot import Robot
from pliant.shape import TetMesh, make

SMALL = np.eye(3) + 1e-3 * np.array([[1.0, 0.5, -0.3], [0.2, -0.7, 0.4], [0.6, 0.1, 0.3]])
LARGE = np.eye(3) + np.array([[0.3, 0.2, -0.1], [-0.25, 0.1, 0.15], [0.1, -0.2, -0.15]])
KINDS = [(1, "elements"), (1, "patches"), (2, "elements")]


def irregular_box(rng) -> TetMesh:
    """A block whose inner nodes are moved by up to a quarter of a cell."""
    mesh = make.box((0.04, 0.03, 0.05), (4, 3, 4))
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), mesh.boundary_nodes)
    nodes = mesh.nodes.copy()
    nodes[inner] += 0.0025 * rng.uniform(-1, 1, (len(inner), 3))
    return TetMesh(nodes, mesh.tets)


@pytest.mark.parametrize(("order", "volume"), KINDS)
@pytest.mark.parametrize("law", [Linear, Corotational, NeoHookean, StVenantKirchhoff, MooneyRivlin])
def test_a_uniform_strain_on_the_boundary_fills_an_irregular_block(law, order, volume, rng):
    """With the boundary moved by x -> F x the equilibrium inside is F x to 1e-12 and its stress the law's at F, even from
    a start in which the inner nodes are elsewhere."""
    mesh, F = irregular_box(rng), SMALL if law is Linear else LARGE
    material = law(E=1e5, nu=0.4)
    body = TetBody(mesh, material, order=order, volume=volume, prescribed=mesh.boundary_nodes)
    robot = Robot(body)
    held = robot.equations.assembly.prescribed
    start = robot.rest()
    x = start.x.copy()
    free = np.setdiff1d(np.arange(len(x)), held)
    assert len(free) >= 18
    x[free] += 2e-4 * rng.uniform(-1, 1, (len(free), 3))
    start = replace(start, pose=replace(start.pose, x=x))

    state = Statics(robot, tolerance=1e-14, load_steps=2).solve(start, prescribed=body.rest[held] @ F.T).require().state

    displacement = body.rest @ (F - np.eye(3)).T
    assert np.abs(state.x - body.rest - displacement).max() < 1e-12 * np.abs(displacement).max()
    stress = material.stress(F) @ F.T / np.linalg.det(F)
    assert np.abs(body.fields(state.x).stress - stress).max() < 1e-10 * np.abs(stress).max()
