"""CPU time of `import pliant` beside that of what it stands on, interleaved; exits with 1 above 1.3 times.

python benchmarks/import_time.py [--json FILE]
"""

from __future__ import annotations

import resource
import subprocess
import sys

from pliant.view.figures import bounded, write_figures

GROUND = "import numpy, scipy.sparse.linalg, numba"
BOUND = 1.3


def cpu_seconds(code: str) -> float:
    """User and system time of a new interpreter that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Smallest of seven rounds each."""
    ours, ground = [], []
    for _ in range(7):
        ground.append(cpu_seconds(GROUND))
        ours.append(cpu_seconds("import pliant"))
    ratio = min(ours) / min(ground)
    print(
        f"import pliant: {min(ours):.3f} s CPU, numpy + scipy.sparse.linalg + numba: {min(ground):.3f} s, {ratio:.2f} x"
    )
    figure = bounded("import.over_ground", ratio, "x", BOUND, "lower", "numpy, scipy.sparse.linalg and numba, CPU time")
    if "--json" in sys.argv:
        write_figures([figure], sys.argv[sys.argv.index("--json") + 1])
    return int(not figure.holds)


if __name__ == "__main__":
    sys.exit(main())
