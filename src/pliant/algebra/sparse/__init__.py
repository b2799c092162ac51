"""Sparse symmetric systems made of 3x3 blocks: factor, count negative eigenvalues, solve, condense.

The pattern is fixed, the values change at every step. A node with three coordinates is one unknown 3-vector, a frame
with six is two of them.

>>> import numpy as np
>>> from scipy.sparse import csr_matrix
>>> from pliant.algebra.sparse import BlockPattern, Cholesky
>>> pattern = BlockPattern(3, rows=[0, 1, 2, 1, 2], cols=[0, 1, 2, 0, 1])   # a chain of three nodes
>>> values = np.stack([3 * np.eye(3)] * 3 + [-np.eye(3)] * 2)               # one block per entry of the pattern
>>> cholesky = Cholesky(pattern)                                            # once
>>> cholesky.factor(values).require().ok                                    # every step
True
>>> x = cholesky.solve(np.arange(9.0))
>>> bool(np.allclose(pattern.to_csc(values) @ x, np.arange(9.0)))
True
>>> H = csr_matrix(([1.0, 1.0], ([0, 1], [0, 3])), shape=(2, 9))            # look at x of the first two nodes
>>> cholesky.compliance(H).round(3).tolist()                                # H A^-1 H^T
[[0.381, 0.143], [0.143, 0.429]]

A tour of the room, in the order in which a matrix passes through it:

- `pattern`: where the blocks sit. `multiply`: the product with a vector.
- `order`: in which order to eliminate the nodes, so that little fill appears.
- `symbolic`, `schedule`: elimination tree, fronts, places in memory, who factors what.
- `_tile`, `_move`, `_vector`: the few inner loops that are written as LLVM vectors; no BLAS is called.
- `_pivot_kernels`, `_dense_kernels`, `_numeric_kernels`: from a 6x6 block to a front to the multifrontal factorization.
- `_solve_kernels`, `_compliance_kernels`: what the factor is good for.
- `cholesky`: the class that holds it together.
"""

from pliant.algebra.sparse._multiply_kernels import multiply
from pliant.algebra.sparse.arrays import aligned
from pliant.algebra.sparse.cholesky import Cholesky, Report
from pliant.algebra.sparse.pattern import BlockPattern

__all__ = ["BlockPattern", "Cholesky", "Report", "aligned", "multiply"]
