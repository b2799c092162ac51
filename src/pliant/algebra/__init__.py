"""Arrays, not robots: compiled kernels, sparse factorization and condensation, rotations.

Everything here can be tested with random arrays.
"""
