"""The contract of a material law, and the one place where E and nu become Lamé constants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers
from pliant.errors import InputError, MaterialError

Array = NDArray[np.float64]

PARAMETERS = 5
"""Length of a law's parameter vector: lambda, mu (small strain), dilation modulus, two of the law's own."""


def lame_constants(E: float, nu: float) -> tuple[float, float]:
    """Lamé constants (lambda, mu) [Pa] of a solid with Young's modulus E [Pa] and Poisson's ratio nu.

    lambda = E nu / ((1 + nu)(1 - 2 nu)),  mu = E / (2 (1 + nu)).

    >>> lame_constants(E=1.0, nu=0.25)
    (0.4, 0.4)
    """
    if not (_is_number(E) and E > 0):
        raise MaterialError(
            f"Young's modulus is {E!r} Pa", remedy="give a positive E in pascal (silicone: 50e3 to 1e6)"
        )
    if not (_is_number(nu) and -1 < nu < 0.5):
        raise MaterialError(
            f"Poisson's ratio is {nu!r}",
            remedy="it must lie between -1 and 0.5, both excluded; for rubber take 0.45 to 0.499 "
            "with order=2 or volume='patches'",
        )
    return E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))


@dataclass(frozen=True, kw_only=True)
class Law(ABC):
    """An isotropic elastic law with Young's modulus E [Pa] and Poisson's ratio nu at small strain.

    The energy density splits into a part of the shape and a part of the volume, Psi(F) = Psi_shape(F) + 1/2 k theta(F)^2
    with the law's own measure of dilation theta and its modulus k. A body that averages dilation over patches of elements
    (nu close to 1/2) does so with this theta.
    """

    E: float
    nu: float

    code: ClassVar[int]
    """Number of the law in the compiled dispatch (`material/_respond_kernels.py`)."""
    feels_rotation: ClassVar[bool] = False
    """True where a rigid rotation costs energy."""

    survives_inversion: ClassVar[bool] = False
    """True where an element that is turned inside out is driven back, and the answer is right again afterwards."""

    def __post_init__(self) -> None:
        lame_constants(self.E, self.nu)

    @abstractmethod
    def parameters(self) -> Array:
        """Constants for the kernels, shape [5]: lambda, mu, dilation modulus k, two of the law's own; all [Pa]."""

    def energy(self, F: ArrayLike) -> Array:
        """Energy density Psi(F) [J/m^3]; F has shape [..., 3, 3]."""
        return self._response(F)[0]

    def stress(self, F: ArrayLike) -> Array:
        """First Piola-Kirchhoff stress P = dPsi/dF [Pa], shape [..., 3, 3]."""
        return self._response(F)[1]

    def stiffness(self, F: ArrayLike) -> Array:
        """Stiffness C_ijkl = dP_ij/dF_kl [Pa], shape [..., 3, 3, 3, 3]."""
        return self._response(F)[2]

    def dilation(self, F: ArrayLike) -> tuple[Array, Array]:
        """The law's measure of dilation theta [...] and its slope dtheta/dF [..., 3, 3]; see `_respond_kernels.dilate`."""
        from pliant.material._respond_kernels import dilate_many

        flat = np.ascontiguousarray(F, dtype=float).reshape(-1, 9)
        theta, slope = np.empty(len(flat)), np.empty((len(flat), 9))
        dilate_many(self.code, flat, theta, slope)
        batch = np.shape(F)[:-2]
        return theta.reshape(batch), slope.reshape(*batch, 3, 3)

    def _response(self, F: ArrayLike) -> tuple[Array, Array, Array]:
        from pliant.material._respond_kernels import respond_many

        gradients = np.ascontiguousarray(F, dtype=float)
        if gradients.shape[-2:] != (3, 3):
            raise InputError(f"F has shape {gradients.shape}", remedy="give deformation gradients of shape [..., 3, 3]")
        batch = gradients.shape[:-2]
        flat = gradients.reshape(-1, 9)
        energy, stress, stiffness = np.empty(len(flat)), np.empty((len(flat), 9)), np.empty((len(flat), 81))
        respond_many(self.code, self.parameters(), flat, energy, stress, stiffness)
        return energy.reshape(batch), stress.reshape(*batch, 3, 3), stiffness.reshape(*batch, 3, 3, 3, 3)


def check_constant(name: str, value: Any, *, remedy: str) -> float:
    """A finite, non-negative material constant, or a MaterialError that names it."""
    if not (_is_number(value) and value >= 0):
        raise MaterialError(f"{name} is {value!r}", remedy=remedy)
    return float(value)


def _is_number(value: Any) -> bool:
    found = as_numbers(value)
    return found.shape == () and bool(np.isfinite(found))
