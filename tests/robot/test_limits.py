"""What users write for limits, efforts and gravity, and what ports can do at all."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Cable, Cavity, Corotational, Force, Point, Robot, SpringBody, TetBody, make, solids
from pliant.errors import InputError, PliantWarning
from pliant.shape import Lattice, SurfaceMesh

MESH = make.box((0.06, 0.02, 0.02), (6, 2, 2))
WAY = [(0.01, 0.01, 0.018), (0.055, 0.01, 0.018)]
PULL = (-0.02, 0.01, 0.018)
CHAMBER = solids.box((0.03, 0.006, 0.006), at=(0.015, 0.007, 0.007))


def robot():
    return Robot(TetBody(MESH, Corotational(E=1e5, nu=0.4), fixed=MESH.where(x_below=0)))


def test_a_cable_does_not_push():
    """Neither an imposed effort nor a limit may be negative; without limits an actuated cable pulls only."""
    made = robot()
    with pytest.raises(InputError, match=r"'c'.*-1 N is not one of a Cable"):
        made.impose("c", Cable(WAY, pull=PULL), effort=-1.0)
    with pytest.raises(InputError, match="not one of a Cable"):
        made.actuate("c", Cable(WAY, pull=PULL), effort=(-5, 5))
    made.actuate("c", Cable(WAY, pull=PULL))
    assert made.ports["c"].limits.effort.tolist() == [[0.0, np.inf]]
    with pytest.raises(InputError, match="not one of a Cable"):
        made.set_effort("c", -1.0)


def test_one_number_is_the_upper_limit_of_a_cable():
    """For a port that pushes and pulls it could mean two things, and both are named."""
    made = robot()
    made.actuate("c", Cable(WAY, pull=PULL), effort=10)
    assert made.ports["c"].limits.effort.tolist() == [[0.0, 10.0]]
    made.impose("held", Cable(WAY, pull=PULL), displacement=1e-3, effort_limits=5)
    assert made.ports["held"].limits.effort.tolist() == [[0.0, 5.0]]
    with pytest.raises(InputError, match=r"write \(-10, 10\) or \(0, 10\)"):
        made.actuate("push", Force((0.05, 0.01, 0.01), direction=(0, 0, 1)), effort=10)
    with pytest.raises(InputError, match=r"displacement limit of 'other' is 0\.02; write"):
        made.actuate("other", Cable(WAY, pull=PULL), displacement=0.02)


@pytest.mark.parametrize("limits", ["much", ("a", "b"), (1, 2, 3), {}, object(), [(0, 1), (0, 1)], (0, np.nan), [[]]])
def test_limits_of_a_wrong_kind_are_named(limits):
    """Whatever is given, the error names the port and says what to write."""
    for option in ("effort", "displacement"):
        with pytest.raises(InputError, match=f"{option} limits? of 'c'"):
            robot().actuate("c", Cable(WAY, pull=PULL), **{option: limits})


@pytest.mark.parametrize("value", ["down", (0, 0), None, ("a", "b", "c"), (0, 0, np.nan), object(), [[0, 0, 1]]])
def test_gravity_efforts_and_weights_of_a_wrong_kind_are_named(value):
    """Strings, wrong counts and NaN are input errors that name what they were given for."""
    with pytest.raises(InputError, match="gravity is"):
        Robot(TetBody(MESH, Corotational(E=1e5, nu=0.4)), gravity=value)
    made = robot()
    if value is not None:
        with pytest.raises(InputError, match="effort of 'push' is"):
            made.impose("push", Force((0.05, 0.01, 0.01), direction=(0, 0, 1)), effort=value)
        with pytest.raises(InputError, match="weight of 'tip' is"):
            made.effect("tip", Point(near=(0.06, 0.01, 0.01)), weight=(value, value))
    with pytest.raises(InputError, match="effort_rate of 'c'"):
        made.actuate("c", Cable(WAY, pull=PULL), effort_rate=value if value is not None else "fast")


def test_a_chamber_in_the_wrong_unit_is_refused_before_it_is_cut():
    """A chamber of 30 m in a body of 60 mm: cutting its wall would fill the memory."""
    with pytest.warns(PliantWarning, match="30 m wide"):
        chamber = SurfaceMesh(CHAMBER.nodes * 1e3, CHAMBER.triangles)
    with pytest.raises(InputError, match=r"'air'.*reaches from.*unit='mm'"):
        robot().impose("air", Cavity(chamber), effort=1e3)


@pytest.mark.parametrize("kind", ["tets", "voxels", "scattered"])
def test_a_chamber_inside_solid_material_is_refused(kind):
    """There is nothing to inflate; the outer surface of a solid, and a chamber that was cut out, are taken."""
    outer = solids.box((0.06, 0.02, 0.02))
    makers = {
        "tets": lambda shape: TetBody(shape.filled(3e-3), Corotational(E=1e5, nu=0.4)),
        "voxels": lambda shape: SpringBody(Lattice.voxels(shape, 1e-3), 1e5),
        "scattered": lambda shape: SpringBody(Lattice.scattered(shape, 2.5e-3), 1e5),
    }
    with pytest.raises(InputError, match=r"'air'.*material on both sides; cut the chamber out"):
        Robot(makers[kind](outer)).impose("air", Cavity(CHAMBER), effort=1e3)
    hollow = Robot(makers[kind](outer - CHAMBER))
    hollow.impose("air", Cavity(CHAMBER), effort=1e3)
    hollow.impose("around", Cavity(outer), effort=1e3)
