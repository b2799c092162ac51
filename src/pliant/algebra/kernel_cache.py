"""Where compiled kernels are kept: beside pliant's own files, in the user's cache folder, or in a private temporary folder.

Numba takes the first of the first two that it may write to, and refuses to work where there is none: in a container whose user
has no home, or on a robot with a disk that is read only. Machine code is kept as pickles, so whoever may write to the folder
can run code as the user who reads it. A temporary folder is therefore taken only if nobody else can write to it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from pliant.errors import PliantWarning


def compiled_with_cache(function: Callable[..., Any], **settings: Any) -> Any:
    """`numba.njit` with a cache on disk; where there is no place for one that is safe, without."""
    try:
        return numba.njit(cache=True, **settings)(function)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
    folder = private_folder()
    if folder is None:
        return numba.njit(**settings)(function)
    with _kept_in(folder):
        return numba.njit(cache=True, **settings)(function)


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Numba asks for the folder when a function is decorated; other packages' kernels go on as they did."""
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@lru_cache(maxsize=1)
def private_folder() -> Path | None:
    """A temporary folder that belongs to this user alone, the same for all processes where that is safe; None without one.

    Warns, once: kernels would be compiled again after the next restart of the machine, or in every process.
    """
    place, how_long = _lasting_folder(), "until temporary files are cleared"
    if place is None:
        place, how_long = _folder_of_this_process(), "for this process only"
    what = f"are kept in {place}, {how_long}" if place else "are not kept: every process compiles them again"
    warnings.warn(
        f"neither pliant's own folder nor your cache folder can be written to, so compiled kernels {what}; "
        "set NUMBA_CACHE_DIR to a folder of yours",
        PliantWarning,
        stacklevel=2,
    )
    return place


def _lasting_folder() -> Path | None:
    """One folder per user, if it is ours alone."""
    if not hasattr(os, "geteuid"):
        return None
    try:
        place = Path(tempfile.gettempdir()) / f"pliant-kernels-{os.geteuid()}"
        if not place.is_symlink() and not place.exists():
            place.mkdir(mode=0o700)
        return place if is_private(place) else None
    except OSError:
        return None


def _folder_of_this_process() -> Path | None:
    """A folder that goes when the process goes."""
    try:
        place = Path(tempfile.mkdtemp(prefix="pliant-kernels-"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place if is_private(place) else None


def is_private(folder: Path) -> bool:
    """Whether it is a folder, not a link to one, that only this user can write to, in one where nobody else can replace it."""
    own, above = folder.lstat(), folder.parent.stat()
    if not hasattr(os, "geteuid"):  # Windows: a user's temporary folder is its own
        return stat.S_ISDIR(own.st_mode)
    replaceable = above.st_mode & (stat.S_IWOTH | stat.S_IWGRP) and not above.st_mode & stat.S_ISVTX
    ours = own.st_uid == os.geteuid() and not own.st_mode & 0o077
    return stat.S_ISDIR(own.st_mode) and ours and not replaceable and os.access(folder, os.W_OK | os.X_OK)
