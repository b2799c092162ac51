"""What is installed, what is missing, what the machine allows."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

from pliant.exchange import usable_cores

CORE = ("numpy", "scipy", "numba", "meshio", "manifold3d", "daqp", "mcap", "matplotlib", "rich", "typer", "viser")
EXTRAS = {
    "distributed": "cluster",
    "gmsh": "gmsh",
    "pytetwild": "tetwild",
    "python-can": "hardware",
    "pyserial": "hardware",
    "warp-lang": "warp",
}


def examine() -> None:
    """Print the report of `pliant doctor`."""
    print(
        f"pliant {_version('pliant')} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    for name in CORE:
        print(f"  {name:<12}{_version(name) or 'MISSING: pip install ' + name}")
    for name, extra in EXTRAS.items():
        print(f"  {name:<12}{_version(name) or f'not installed (optional): pip install pliant[{extra}]'}")
    print(f"processor: {processor()}")
    print(f"cores: {len(usable_cores())} usable of {os.cpu_count()}")
    print(f"vector units: {vector_units()}")
    print(f"real-time priority: {realtime_rights()}")
    print(f"kernel cache: {_cache_place()}")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def machine() -> str:
    """This machine in one line, for figures that were measured on it."""
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{len(usable_cores())} cores of {processor()}, {vector_units()}, {system}"


def processor() -> str:
    """The name of the processor, as its maker has it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def vector_units() -> str:
    """The widest vector instructions that compiled kernels can use here."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    for name in ("avx512f", "avx2", "avx", "neon"):
        if features.get(name):
            return name
    return "none known"


def realtime_rights() -> str:
    """Whether this user may run threads with SCHED_FIFO."""
    if not hasattr(os, "sched_setscheduler"):
        return f"not available on {sys.platform}"
    import resource

    limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, *before)
        return "granted (SCHED_FIFO)"
    except OSError:
        return f"refused (limit {limit}); allow it with 'ulimit -r' or limits.conf, entry rtprio"


def _cache_place() -> str:
    """Where the machine code of one kernel is, as of all others."""
    from pliant.algebra._qp_kernels import solve_by_active_set

    place = solve_by_active_set.stats.cache_path
    return str(place) if place else "none: every process compiles its kernels again; set NUMBA_CACHE_DIR"
