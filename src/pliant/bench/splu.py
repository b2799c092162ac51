"""What pliant's solver is compared with."""

from __future__ import annotations

from typing import Any


class Splu:
    """scipy's SuperLU in its best setting for such matrices, ordering included, as it must be called for new values."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.factor()

    def factor(self) -> None:
        from scipy.sparse.linalg import splu

        self.lu = splu(self.matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
