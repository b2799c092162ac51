"""Speed, as milliseconds and as ratios within one run. One file per subject.

    contact   steps on the ground, with few and with many contacts, and how often their forces miss Coulomb's law
    fem       assembly, factorization, solves and condensation of tet bodies beside scipy's splu (and MKL Pardiso)
    held      steps with held rows beside steps without, and rows that come and go beside rows that stay
    inverse   the real-time step of the inverse on the diamond robot, and its errors
    qp        the decision alone
    rods      models per second of a device of six rods, Newton's iterations and errors of slender rods, the cost of parts
    springs   springs per second of the explicit engine, beside the speed of memory

Everything that is compared runs interleaved, one after the other, again and again; the smallest time of each counts, because
on a busy machine only interruptions make a repetition slower.
"""
