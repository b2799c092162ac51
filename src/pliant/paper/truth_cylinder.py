"""The truth cylinder: a silicone cylinder that bends under its own weight, measured, beside models of it.

Marchal et al. 2008 ("Towards a framework for assessing deformable models in medical simulation") scanned a cylinder of radius
19 mm and length 178 mm, clamped at one end, hanging sideways by 119 mm; clay2021 compares its lattice with that scan in
Table 1. The distance between simulated and measured surface is taken both ways: from the simulated vertices to the
measured surface (s2m) and back (m2s), each a mean over vertices. One alone can hide an overshoot.

The modulus that comes with the data, 60 kPa, is what an element that locks wants: no model without locking is near the scan
with it. So every model is shown with that modulus and with the one that fits best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, SpringBody, TetBody
from pliant.errors import FileError, InputError
from pliant.material import Corotational, Law, Linear
from pliant.motion import Statics
from pliant.robot import Robot, State
from pliant.shape import Lattice, SurfaceMesh, TetMesh, read
from pliant.view.figures import Figure, bounded

Array = NDArray[np.float64]

MASS, E_UNTUNED = 0.216, 60e3
"""Mass of the cylinder [kg], and the modulus that comes with the data [Pa]."""
MEASURED_TIP = np.array([0.0, -0.119383, 0.126842])
"""Where the middle of the free end was measured [m]."""
RANGE = (45e3, 110e3)
"""Where the best modulus is looked for [Pa]."""
LOAD_STEPS = 12


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured, in metres: rest and deformed surface, and the rest shape as tets."""

    rest: SurfaceMesh
    deformed: SurfaceMesh
    tets: TetMesh

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> Measurement:
        """From the folder that has truth_cylinder/ in it, or from that folder itself."""
        path = Path(folder)
        path = path / "truth_cylinder" if (path / "truth_cylinder").is_dir() else path
        files = ("cylinder_Surface.obj", "truthCylinder-Deformed.obj", "cylinder_Hexa.msh")
        missing = [name for name in files if not (path / name).is_file()]
        if missing:
            raise FileError(
                f"{path} has no {missing[0]}",
                remedy="give the folder with truth_cylinder/ of the SOFA framework (--data)",
            )
        rest, deformed = (SurfaceMesh.read(path / name) for name in files[:2])
        tets = read(path / files[2])
        if not isinstance(tets, TetMesh):
            raise FileError(f"{path / files[2]} has no volume cells", remedy="give the mesh of hexahedra")
        return cls(rest, deformed, tets)

    @property
    def length(self) -> float:
        """Length along z [m]."""
        return float(self.rest.size[2])


@dataclass(frozen=True)
class Row:
    """One model at one modulus: distances [m] from the simulated vertices to the scan, back, and of the tip."""

    method: str
    E: float
    fitted: bool
    to_scan: float
    from_scan: float
    tip: float

    @property
    def mean(self) -> float:
        """Mean of both distances [m]."""
        return (self.to_scan + self.from_scan) / 2


Maker = Callable[[float], Body]
"""The cylinder, clamped, from Young's modulus [Pa]."""


def voxel_springs(data: Measurement, across: int = 10) -> Maker:
    """A voxel lattice of so many cells across, with whole cells along the cylinder."""
    if across < 4:
        raise InputError(f"{across} cells across", remedy="give at least 4")
    size = data.length / round(data.length * across / float(data.rest.size[0]))
    lattice = Lattice.voxels(data.rest, size)
    held = lattice.where(z_below=size / 2)
    return lambda E: SpringBody(lattice, E, MASS / lattice.volume, fixed=held)


def four_node_tets(data: Measurement, law: Callable[[float], Law]) -> Maker:
    """Four-node tets: the hexahedra of the data, split."""
    held = data.tets.where(z_below=1e-6)
    return lambda E: TetBody(data.tets, law(E), density=MASS / data.tets.volume, fixed=held)


def models(data: Measurement) -> Mapping[str, Maker]:
    """The rows of the table: a lattice of springs, corotational and small-strain tets."""
    return {
        "springs": voxel_springs(data),
        "corotational": four_node_tets(data, lambda E: Corotational(E=E, nu=0.45)),
        "linear": four_node_tets(data, lambda E: Linear(E=E, nu=0.45)),
    }


class Comparison:
    """One model beside the scan, at any modulus; each equilibrium starts from the one before."""

    def __init__(self, data: Measurement, method: str, make: Maker) -> None:
        self._data, self._method, self._make = data, method, make
        points = np.concatenate([data.rest.nodes, [[0.0, 0.0, data.length]]])
        self._nodes, self._weights = make(E_UNTUNED).embed(points)
        self._state: State | None = None

    def deformed(self, E: float) -> Array:
        """The rest surface carried by the model, and the middle of its free end last [m]."""
        robot = Robot(self._make(E), gravity=(0.0, -9.81, 0.0))
        statics = Statics(robot, tolerance=1e-6, load_steps=LOAD_STEPS if self._state is None else 1)
        self._state = statics.solve(self._state).require().state
        return np.asarray(np.einsum("pk,pkc->pc", self._weights, self._state.x[self._nodes]))

    def row(self, E: float, *, fitted: bool = False) -> Row:
        """Distances at a modulus [Pa]."""
        places = self.deformed(E)
        surface = SurfaceMesh(places[:-1], self._data.rest.triangles)
        return Row(
            self._method,
            E,
            fitted,
            float(self._data.deformed.tree.closest(surface.nodes)[0].mean()),
            float(surface.tree.closest(self._data.deformed.nodes)[0].mean()),
            float(np.linalg.norm(places[-1] - MEASURED_TIP)),
        )

    def fit(self) -> Row:
        """The row of the modulus with the least mean distance, to 0.2 kPa."""
        from scipy.optimize import minimize_scalar

        best = minimize_scalar(lambda E: self.row(E).mean, bounds=RANGE, method="bounded", options={"xatol": 200.0})
        return self.row(float(best.x), fitted=True)


def compare(data: Measurement, method: str, make: Maker) -> tuple[Row, Row]:
    """A model with the modulus of the data, and with the one that fits."""
    comparison = Comparison(data, method, make)
    return comparison.row(E_UNTUNED), comparison.fit()


PUBLISHED = {"springs": 1.68e-3, "corotational": 0.63e-3, "linear": 18.6e-3}
"""Surface error [m] in clay2021, Table 1: its own springs, and tets of Marchal et al. 2008."""
BOUNDS = {"springs": 0.8e-3, "corotational": 0.6e-3}
"""What the fitted models must keep [m]."""


def figures(rows: list[Row]) -> list[Figure]:
    """The rows as figures: mean distance, both distances, error of the tip, modulus."""
    found = []
    for row in rows:
        name = f"cronos.truth_{row.method}" if row.fitted else f"cronos.truth_{row.method}_untuned"
        if row.fitted and row.method in BOUNDS:
            source = f"bound; clay2021, Table 1: {1e3 * PUBLISHED[row.method]:.2f}"
            found.append(bounded(f"{name}_mm", 1e3 * row.mean, "mm", 1e3 * BOUNDS[row.method], "lower", source))
        else:
            published = PUBLISHED.get(row.method)
            reference, source = (None, "") if published is None else (1e3 * published, "clay2021, Table 1")
            found.append(Figure(f"{name}_mm", 1e3 * row.mean, "mm", reference, source, "lower"))
        found += [
            Figure(f"{name}_s2m_mm", 1e3 * row.to_scan, "mm", better="lower"),
            Figure(f"{name}_m2s_mm", 1e3 * row.from_scan, "mm", better="lower"),
            Figure(f"{name}_tip_mm", 1e3 * row.tip, "mm", better="lower"),
            Figure(f"{name}_E_kPa", 1e-3 * row.E, "kPa"),
        ]
    return found
