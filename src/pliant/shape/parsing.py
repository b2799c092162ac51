"""Triangles out of STL and Wavefront OBJ files: two formats so loose that a small reader is the safest."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pliant.shape.topology import FloatArray, IntArray

_STL_HEADER, _STL_RECORD = 84, 50


def parsed_stl(content: bytes) -> tuple[FloatArray, IntArray]:
    """Corners (3 t, 3) and triangles (t, 3) of an STL file; corners are not shared.

    A file is binary exactly when its length fits the number of triangles in its header: the word "solid" at the
    beginning says nothing, many programs write it into binary files too.
    """
    if len(content) >= _STL_HEADER:
        count = int.from_bytes(content[80:84], "little")
        if count and len(content) >= _STL_HEADER + _STL_RECORD * count and not _looks_like_text(content):
            records = np.frombuffer(content, dtype=np.uint8, count=_STL_RECORD * count, offset=_STL_HEADER)
            numbers = records.reshape(count, _STL_RECORD)[:, 12:48].copy().view("<f4")
            return _soup(numbers.reshape(-1, 3).astype(np.float64))
    words = content.decode("ascii", errors="replace").split()
    at = [k for k, word in enumerate(words) if word.lower() == "vertex"]
    if not at or len(at) % 3:
        raise ValueError("neither binary STL of the length it claims nor text with three vertices per facet")
    return _soup(np.array([words[k + 1 : k + 4] for k in at], dtype=np.float64))


def parsed_obj(content: bytes) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and triangles (t, 3) of an OBJ file; polygons are cut as fans, negative indices count back."""
    points: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in content.decode(errors="replace").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            points.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            ids = [int(word.split("/")[0]) for word in words[1:]]
            if 0 in ids:
                raise ValueError(f"face {len(triangles)} refers to vertex 0, and vertices count from 1")
            corners = [i - 1 if i > 0 else len(points) + i for i in ids]
            triangles += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    if not points:
        raise ValueError("no vertices")
    if triangles and not 0 <= min(map(min, triangles)) <= max(map(max, triangles)) < len(points):
        raise ValueError("a face refers to a vertex that does not exist")
    return np.array(points), np.array(triangles, dtype=np.int32).reshape(-1, 3)


def _looks_like_text(content: bytes) -> bool:
    return content[:5].lower() == b"solid" and b"vertex" in content[:1000] and b"\0" not in content[:1000]


def _soup(corners: FloatArray) -> tuple[FloatArray, IntArray]:
    return corners, np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
