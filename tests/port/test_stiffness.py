"""A changed modulus: the same as a body made with it, for every law and both orders."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Robot, Statics, Stiffness, TetBody, make
from pliant.errors import InputError
from pliant.material import Corotational, Law, Linear, MooneyRivlin, NeoHookean, StVenantKirchhoff
from pliant.port import check_port

MESH = make.box((0.06, 0.02, 0.02), (6, 2, 2))
LABELS = (MESH.nodes[MESH.tets].mean(axis=1)[:, 0] > 0.03).astype(int)
LAWS = (Linear, Corotational, StVenantKirchhoff, NeoHookean, MooneyRivlin)


def hanging(laws, change, order, tangent="exact"):
    """Tip region's positions under gravity, the modulus of label 1 changed."""
    mesh = MESH.labelled(LABELS)
    body = TetBody(mesh, laws, order=order, fixed=mesh.where(x_below=0))
    robot = Robot(body, gravity=(0, 0, -9.81))
    if change is not None:
        robot.impose("region", Stiffness(label=1), effort=change)
    result = Statics(robot, tolerance=1e-11, tangent=tangent, max_iterations=200).solve()
    return result.require().state.x, result


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("change", [60e3, -20e3])
def test_a_changed_modulus_is_a_body_made_with_it(law, order, change):
    """E = 40 kPa with a change of modulus bends as a body that has the new modulus there."""
    base = law(E=40e3, nu=0.4)
    changed, _ = hanging({0: base, 1: base}, change, order)
    made, _ = hanging({0: base, 1: law(E=40e3 + change, nu=0.4)}, None, order)
    plain, _ = hanging({0: base, 1: base}, None, order)
    assert np.abs(made - plain).max() > 2e-5
    assert np.abs(changed - made).max() < 1e-9


def test_the_warped_tangent_knows_the_modulus():
    """Newton with the warped tangent ends at the same place, as fast as that of a body made with the modulus."""
    base = Corotational(E=40e3, nu=0.4)
    changed, result = hanging({0: base, 1: base}, -36e3, 1, "warped")
    made, reference = hanging({0: base, 1: Corotational(E=4e3, nu=0.4)}, None, 1, "warped")
    assert np.abs(changed - made).max() < 1e-8
    assert result.iterations <= reference.iterations + 2


def test_a_law_that_does_not_scale_is_refused():
    """An energy that is not proportional to E has no stiffness port."""

    class Stubborn(NeoHookean):
        def parameters(self):
            return super().parameters() + np.array([0, 1e4, 0, 0, 0])

    body = TetBody(MESH, Stubborn(E=1e5, nu=0.3), fixed=MESH.where(x_below=0))
    with pytest.raises(InputError, match="Stubborn is not proportional to E"):
        Robot(body).impose("region", Stiffness(), effort=0.0)
    assert issubclass(Stubborn, Law)


def test_check_port_accepts_it():
    """The check for users' ports, on a region with several labels of one modulus."""
    body = TetBody(MESH.labelled(LABELS), {0: Linear(E=1e5, nu=0.3), 1: Corotational(E=1e5, nu=0.4)}, order=2)
    check_port(Stiffness(), body)


@pytest.mark.parametrize(
    ("port", "message"),
    [
        (lambda: Stiffness([]), "tets are"),
        (lambda: Stiffness([0], label=1), "tets and of a label"),
        (lambda: Stiffness([10**6]), "tet 1000000"),
        (lambda: Stiffness(label=7), "label 7, which no tet has"),
        (lambda: Stiffness(), "several moduli"),
    ],
)
def test_bad_regions_are_named(port, message):
    """Each unusable region raises an InputError that names it."""
    body = TetBody(MESH.labelled(LABELS), {0: Linear(E=1e5, nu=0.3), 1: Linear(E=2e5, nu=0.3)})
    with pytest.raises(InputError, match=message):
        Robot(body).sense("region", port())


def test_patches_are_refused():
    """Averaged dilation is shared across regions."""
    body = TetBody(MESH, Linear(E=1e5, nu=0.3), volume="patches")
    with pytest.raises(InputError, match="patches"):
        Robot(body).sense("region", Stiffness())
