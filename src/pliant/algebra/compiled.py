"""Compiled kernels: one decorator for all of them.

`@kernel` is `numba.njit` with pliant's settings: cached on disk, without the GIL, IEEE comparisons kept (a NaN must
still fail a test such as `pivot > 0`), and contraction to fused multiply-add allowed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pliant.algebra.compile_progress  # noqa: F401  tells about compilation from now on
from pliant.algebra.kernel_cache import compiled_with_cache

SETTINGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    "error_model": "numpy",
}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with pliant's settings, cached on disk for the next process."""
    dispatcher = compiled_with_cache(function, **SETTINGS)
    _expire_with_all_kernels(dispatcher)
    return dispatcher


def exact_kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with arithmetic rounded as it is written: the same bits whenever and wherever it is compiled.

    For geometry, where the last bit may decide which nodes a mesh has. With `kernel`, sums may be reordered, and a function
    that was compiled into its caller rounds otherwise than the same function called.
    """
    dispatcher = compiled_with_cache(function, **SETTINGS | {"fastmath": False})
    _expire_with_all_kernels(dispatcher)
    return dispatcher


def inlined(function: Callable[..., Any]) -> Any:
    """Compile `function` into its callers (small arithmetic that must not cost a call)."""
    return compiled_with_cache(function, inline="always", **SETTINGS)


def kernel_sources() -> list[Path]:
    """The files that machine code depends on: private modules, the laws, and what these take from elsewhere (the settings
    above, tables of constants, types of arrays)."""
    package = Path(__file__).parents[1]
    beside = [path for name in ("compiled.py", "tables.py", "arrays.py") for path in package.rglob(name)]
    return sorted([*package.rglob("_[a-z]*.py"), *(package / "material").glob("*.py"), *beside])


def _fingerprint(files: list[Path]) -> bytes:
    """Of what is in the files."""
    digest = hashlib.blake2b(digest_size=16)
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()


_PACKAGE_STAMP = _fingerprint(kernel_sources())


def _expire_with_all_kernels(dispatcher: Any) -> None:
    """Let a cached kernel expire when the text of any file with kernels changes, and only then.

    Numba looks at the file of the kernel only and would keep machine code that has an old callee from another file
    compiled into it; and at its date, so that all would be compiled again whenever pliant is installed again.
    """
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _PACKAGE_STAMP
