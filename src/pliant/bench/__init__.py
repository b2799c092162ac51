"""Speed, as milliseconds and as ratios within one run. One file per subject.

    fem       assembly, factorization, solves and condensation of tet bodies beside scipy's splu (and MKL Pardiso)
    held      steps with held rows beside steps without, and rows that come and go beside rows that stay
    inverse   the real-time step of the inverse on the diamond robot, and its errors
    qp        the decision alone
    rods      a step of a thousand rigid parts beside one with as many plain coordinates
    springs   springs per second of the explicit engine, beside the speed of memory

Everything that is compared runs interleaved, one after the other, again and again; the smallest time of each counts, because
on a busy machine only interruptions make a repetition slower.
"""
