"""Nearly incompressible blocks of four-node tets: with and without patches of common dilation."""

from __future__ import annotations

import numpy as np
import pytest
from theory import traction_points

from pliant.body import TetBody
from pliant.material import Corotational, Linear, NeoHookean
from pliant.motion import Statics
from pliant.port import Force
from pliant.robot import Robot
from pliant.shape import TetMesh, make

pytestmark = pytest.mark.filterwarnings("ignore:four-node tets lock")  # that they do is what is measured here


def cooks_membrane(cells: int) -> TetMesh:
    """Cook's tapered panel (48 by 44 to 16 mm, Cook 1974), 8 mm thick."""
    box = make.box((1, 1, 1), (cells, cells, max(1, cells // 4)), pattern="kuhn")
    s, t, w = box.nodes.T
    x, y = 0.048 * s, 0.044 * s + t * (0.044 - 0.028 * s)
    return TetMesh(np.stack([x, y, 0.008 * w], axis=1), box.tets)


def membrane_rise(cells: int, law, **kind) -> float:
    """Mean rise [m] of the loaded edge of Cook's membrane between sliding faces (plane strain)."""
    mesh = cooks_membrane(cells)
    x, _, z = mesh.nodes.T
    root = np.isclose(x, 0)
    sides = [np.flatnonzero(~root & np.isclose(z, level)) for level in (0, 0.008)]
    body = TetBody(mesh, law, fixed=root, sliding=[(side, (0, 0, 1)) for side in sides], **kind)
    robot = Robot(body)
    edge = traction_points(mesh, lambda p: np.isclose(p[:, 0], 0.048), body.order)
    robot.impose("edge", Force(edge, direction=(0, 1, 0)), effort=0.02)
    return float(robot.displacement(Statics(robot).solve().require().state, "edge")[0])


@pytest.mark.parametrize("law", [Linear, Corotational, NeoHookean])
def test_patches_free_a_bent_block_from_locking(law, figure):
    """On Cook's membrane at nu 0.499 plain four-node tets move a third of what ten-node tets do; with patches they lose
    less than a third as much, and no more than plain ones lose in bending at nu 0.3."""
    material, compressible = law(E=1e5, nu=0.499), law(E=1e5, nu=0.3)
    reference = membrane_rise(12, material, order=2)
    plain, patched = (membrane_rise(8, material, volume=volume) / reference for volume in ("elements", "patches"))
    unlocked = membrane_rise(8, compressible) / membrane_rise(12, compressible, order=2)
    name = f"cook.{law.__name__.lower()}"
    figure(f"{name}_plain", plain, reference=1, source="ten-node tets, nu 0.499")
    figure(f"{name}_patches", patched, reference=1, source="ten-node tets, nu 0.499")
    figure(f"{name}_plain_nu_0.3", unlocked, reference=1, source="ten-node tets, nu 0.3")
    assert 1 - plain > 3 * abs(1 - patched)
    assert abs(1 - patched) < 1 - unlocked


def squeezed_work(cells: int, **kind) -> float:
    """Work [J] to press the middle of a block's top down by 1 mm with its bottom glued."""
    mesh = make.box((0.04, 0.04, 0.02), (cells, cells, cells // 2), pattern="kuhn")
    x, y, z = mesh.nodes.T
    top = np.isclose(z, 0.02)
    punch = top & (np.abs(x - 0.02) < 0.0101) & (np.abs(y - 0.02) < 0.0101)
    body = TetBody(mesh, Linear(E=1e5, nu=0.499), fixed=np.isclose(z, 0), prescribed=punch, **kind)
    robot = Robot(body)
    goal = body.rest[robot.equations.assembly.prescribed] - [0, 0, 1e-3]
    return body.energy(Statics(robot).solve(prescribed=goal).require().state.x)


def test_patches_free_a_squeezed_block_from_locking(figure):
    """Under a punch at nu 0.499 plain four-node tets are several times too stiff; with patches they are within 10 % of
    ten-node tets."""
    reference = squeezed_work(8, order=2)
    plain, patched = (squeezed_work(8, volume=volume) / reference for volume in ("elements", "patches"))
    figure("punch.plain", plain, reference=1, source="stiffness of ten-node tets, nu 0.499")
    figure("punch.patches", patched, reference=1, source="stiffness of ten-node tets, nu 0.499")
    assert plain > 3
    assert patched == pytest.approx(1, abs=0.1)
