"""The same mesh, law, supports and loads in scikit-fem and felupe, and the same rods in scipy and PyElastica, give the same
numbers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import felupe
import numpy as np
import pytest
import scipy.linalg
import skfem
from scipy.sparse.linalg import spsolve
from skfem.helpers import ddot, dot, mul, trace, transpose
from skfem.models.elasticity import linear_elasticity

from pliant.body import TetBody
from pliant.material import Linear, MooneyRivlin, NeoHookean, StVenantKirchhoff, lame_constants
from pliant.motion import Statics, natural_modes
from pliant.port import Point
from pliant.robot import Robot
from pliant.shape import TetMesh, make

SIZE = np.array([0.06, 0.02, 0.03])
E, NU, DENSITY = 1e5, 0.4, 1100.0
LOAD = np.array([0.1, -0.3, 0.6])
GRAVITY = np.array([1.0, -2.0, -9.81])


def irregular_mesh() -> TetMesh:
    """A bar with all its nodes off the grid, except those of its clamped end."""
    mesh = make.box(SIZE, (4, 1, 2))
    shake = 0.001 * np.random.default_rng(3).uniform(-1, 1, mesh.nodes.shape)
    shake[np.isclose(mesh.nodes[:, 0], 0)] = 0
    return TetMesh(mesh.nodes + shake, mesh.tets)


MESH = irregular_mesh()
ROOT = MESH.where(x_below=0)
CORNERS = np.flatnonzero(MESH.nodes[:, 0] > 0.058)


def loaded_robot(law, order: int) -> tuple[TetBody, Robot]:
    """The bar with forces on the corner nodes of its end, and its weight."""
    body = TetBody(MESH, law, order=order, density=DENSITY, fixed=ROOT)
    robot = Robot(body, gravity=GRAVITY)
    robot.impose("load", Point(near=MESH.nodes[CORNERS]), effort=np.tile(LOAD / len(CORNERS), len(CORNERS)))
    return body, robot


def skfem_basis(order: int, degree: int = 4) -> skfem.Basis:
    """P1 or P2 on the same tets, with an integration rule that is exact up to a degree."""
    element = skfem.ElementVector({1: skfem.ElementTetP1, 2: skfem.ElementTetP2}[order]())
    return skfem.Basis(skfem.MeshTet(MESH.nodes.T.copy(), MESH.tets.T.astype(np.int64)), element, intorder=degree)


def places(basis: skfem.Basis, points) -> np.ndarray:
    """Numbers [n, 3] of the unknowns of scikit-fem for the x, y, z displacements of nodes at these points."""
    found = np.empty((len(points), 3), int)
    table = {}
    for dof, place in enumerate(np.round(basis.doflocs.T * 1e9).astype(int)):
        table.setdefault(tuple(place), []).append(dof)
    for k, place in enumerate(np.round(np.asarray(points) * 1e9).astype(int)):
        found[k] = sorted(table[tuple(place)])
    return found


@skfem.BilinearForm
def mass_form(u, v, w):
    return DENSITY * dot(u, v)


@skfem.LinearForm
def weight_form(v, w):
    return DENSITY * sum(g * v[i] for i, g in enumerate(GRAVITY))


def test_the_order_of_unknowns_is_understood():
    """Unknowns of scikit-fem at one point ascend as x, y, z, for corners and for middles of edges."""
    for order in (1, 2):
        basis = skfem_basis(order)
        body = TetBody(MESH, Linear(E=E, nu=NU), order=order)
        values = basis.project(lambda x: np.stack([x[0], 10 + x[1], 20 + x[2]]))
        assert values[places(basis, body.rest)] == pytest.approx(body.rest + np.array([0, 10, 20]), abs=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_linear_elasticity_of_scikit_fem(order, figure):
    """Displacements of a loaded heavy bar agree to 1e-8, the stiffness and mass matrices to 1e-12."""
    body, robot = loaded_robot(Linear(E=E, nu=NU), order)
    basis = skfem_basis(order)
    K = skfem.asm(linear_elasticity(*lame_constants(E, NU)), basis)
    M = skfem.asm(mass_form, basis)
    dofs = places(basis, body.rest)
    for theirs, ours in ((K, body.stiffness(body.rest)), (M, body.mass())):
        difference = theirs.tocsr()[dofs.ravel()][:, dofs.ravel()] - ours
        assert abs(difference).max() < 1e-12 * abs(theirs).max()
    load = skfem.asm(weight_form, basis)
    load[dofs[CORNERS]] += LOAD / len(CORNERS)
    held = dofs[np.isclose(body.rest[:, 0], 0)].ravel()
    u = skfem.solve(*skfem.condense(K, load, D=held))[dofs]
    x = Statics(robot, tolerance=1e-12).solve().require().state.x
    difference = np.abs(x - body.rest - u).max() / np.abs(u).max()
    figure(f"others.linear_order{order}", difference, "", 0, "scikit-fem")
    assert difference < 1e-8


@pytest.mark.parametrize("order", [1, 2])
def test_natural_frequencies_of_scikit_fem(order):
    """The first eight frequencies with the consistent mass agree with a dense solution of scikit-fem's matrices."""
    body, robot = loaded_robot(Linear(E=E, nu=NU), order)
    basis = skfem_basis(order)
    K, M = skfem.asm(linear_elasticity(*lame_constants(E, NU)), basis), skfem.asm(mass_form, basis)
    free = places(basis, body.rest)[~np.isclose(body.rest[:, 0], 0)].ravel()
    squares = scipy.linalg.eigh(
        *(A.tocsr()[free][:, free].toarray() for A in (K, M)), eigvals_only=True, subset_by_index=(0, 7)
    )
    modes = natural_modes(robot, 8, robot.rest())
    assert modes.frequencies == pytest.approx(np.sqrt(squares) / (2 * np.pi), rel=1e-7)


def newton_in_scikit_fem(order: int, respond) -> np.ndarray:
    """Displacements of the nodes of `loaded_robot`'s bar by full Newton steps in scikit-fem, load in four parts.

    With the rules of one and four points that pliant has: for a nonlinear law the rule is part of the model. respond(F):
    the first Piola-Kirchhoff stress and its derivative as a function of dF, all [3, 3, elements, points].
    """
    basis = skfem_basis(order, degree=order)
    points = TetBody(MESH, Linear(E=E, nu=NU), order=order).rest
    dofs = places(basis, points)
    full = skfem.asm(weight_form, basis)
    full[dofs[CORNERS]] += LOAD / len(CORNERS)
    free = dofs[~np.isclose(points[:, 0], 0)].ravel()
    u = np.zeros(basis.N)
    for share in np.linspace(0, 1, 5)[1:]:
        for _ in range(30):
            stress, slope = respond(basis.interpolate(u).grad + np.eye(3)[:, :, None, None])
            internal = skfem.LinearForm(lambda v, w, P=stress: ddot(P, v.grad))
            residual = (share * full - skfem.asm(internal, basis))[free]
            if np.abs(residual).max() < 1e-12:
                break
            tangent = skfem.BilinearForm(lambda du, v, w, C=slope: ddot(C(du.grad), v.grad))
            u[free] += spsolve(skfem.asm(tangent, basis).tocsc()[free][:, free], residual)
        else:
            pytest.fail("the reference did not converge")
    return u[dofs]


def cofactor(F):
    """J F^-T."""
    return np.stack([np.cross(F[1], F[2], axis=0), np.cross(F[2], F[0], axis=0), np.cross(F[0], F[1], axis=0)])


def cofactor_slope(F, dF):
    """Derivative of the cofactor along dF, from its columns being cross products."""
    return np.stack(
        [np.cross(dF[i], F[j], axis=0) + np.cross(F[i], dF[j], axis=0) for i, j in ((1, 2), (2, 0), (0, 1))]
    )


def neo_hookean(F):
    """mu/2 (I1 - 3) - mu (J - 1) + k/2 (J - 1)^2 with k = lambda + mu: stress, and its slope, by hand."""
    lam, mu = lame_constants(E, NU)
    C = cofactor(F)
    pressure = (lam + mu) * ((F[0] * C[0]).sum(axis=0) - 1) - mu
    return mu * F + pressure * C, lambda dF: mu * dF + (lam + mu) * ddot(C, dF) * C + pressure * cofactor_slope(F, dF)


def st_venant_kirchhoff(F):
    """lambda/2 tr(G)^2 + mu G:G with Green's strain G = (F^T F - I) / 2: stress, and its slope, by hand."""
    lam, mu = lame_constants(E, NU)
    identity, turned = np.eye(3)[:, :, None, None], transpose(F)

    def second(G):
        return lam * trace(G) * identity + 2 * mu * G

    S = second((mul(turned, F) - identity) / 2)
    return mul(F, S), lambda dF: mul(dF, S) + mul(F, second((mul(turned, dF) + mul(transpose(dF), F)) / 2))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("law", "by_hand"), [(NeoHookean, neo_hookean), (StVenantKirchhoff, st_venant_kirchhoff)])
def test_nonlinear_laws_by_newton_in_scikit_fem(law, by_hand, order, figure):
    """A far bent bar of the same energy, differentiated by hand, has the same nodes to 1e-6."""
    u = newton_in_scikit_fem(order, by_hand)
    body, robot = loaded_robot(law(E=E, nu=NU), order)
    x = Statics(robot).solve().require().state.x
    assert np.abs(u).max() > 0.005
    difference = np.abs(x - body.rest - u).max() / np.abs(u).max()
    figure(f"others.{law.__name__.lower()}_order{order}", difference, "", 0, "scikit-fem")
    assert difference < 1e-6


@pytest.mark.parametrize("order", [1, 2])
def test_rubber_of_felupe(order, figure):
    """A far bent bar of felupe's neo-Hookean law (isochoric: our Mooney-Rivlin without its second term) has the same nodes
    to 1e-6."""
    lam, mu = lame_constants(E, NU)
    ours, theirs = MooneyRivlin(E=E, nu=NU, second_share=0.0), felupe.NeoHooke(mu=mu, bulk=lam + 2 * mu / 3)
    body, robot = loaded_robot(ours, order)
    cells = body.nodes[np.argsort(body.tet_ids)]
    if order == 1:
        region = felupe.RegionTetra(felupe.Mesh(body.rest, MESH.tets, "tetra"))
    else:
        region = felupe.RegionQuadraticTetra(felupe.Mesh(body.rest, cells, "tetra10"))
    field = felupe.FieldContainer([felupe.Field(region, dim=3)])
    solid = felupe.SolidBody(theirs, field)
    root = felupe.Boundary(field[0], mask=np.isclose(body.rest[:, 0], 0))
    pull = felupe.PointLoad(field, CORNERS)
    nodal = np.outer(body.load_masses, GRAVITY)
    weight = felupe.PointLoad(field, np.arange(len(body.rest)))
    share = np.linspace(0, 1, 9)[1:]
    step = felupe.Step(
        [solid, pull, weight],
        ramp={
            pull: share[:, None, None] * np.tile(LOAD / len(CORNERS), (len(CORNERS), 1)),
            weight: share[:, None, None] * nodal,
        },
        boundaries={"root": root},
    )
    felupe.Job([step]).evaluate(verbose=False, tol=1e-10)
    u = field[0].values
    x = Statics(robot).solve().require().state.x
    assert np.abs(u).max() > 0.005
    difference = np.abs(x - body.rest - u).max() / np.abs(u).max()
    figure(f"others.rubber_order{order}", difference, "", 0, "felupe")
    assert difference < 1e-6


def peers():
    """The script that runs rods beside their peers."""
    file = Path(__file__).parents[2] / "benchmarks" / "peers_rods.py"
    spec = importlib.util.spec_from_file_location("peers_rods", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_rod_in_space_is_that_of_a_boundary_value_problem():
    """Its tip under weight and a force across: within 1e-5 of its length of scipy's solve_bvp with 20 elements, and the error
    falls at least with the square of their length."""
    script = peers()
    true, _ = script.balance_by_scipy(1e-9)
    errors = [np.linalg.norm(script.balance_by_pliant(count)[0] - true) for count in (10, 20)]
    assert errors[1] < 1e-5
    assert errors[1] < 0.27 * errors[0]


def test_a_rod_swings_as_in_pyelastica():
    """Its tip within 2 % of the length, at all times, of two runs extrapolated to short elements."""
    pytest.importorskip("elastica")
    script = peers()
    ours, _ = script.swing_by_pliant(8, 0.005)
    coarse, fine = (script.swing_by_pyelastica(*run)[0] for run in ((40, 1e-4), (80, 5e-5)))
    assert np.linalg.norm(2 * fine - coarse - ours, axis=1).max() < 0.02 * script.LENGTH
