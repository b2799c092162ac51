"""Values that no sensible user gives, and what they may lead to: an error of pliant's own, or something that is usable."""

from __future__ import annotations

import warnings

import numpy as np

from pliant.errors import PliantError

VALUES = {
    "none": None,
    "empty text": "",
    "text": "abc",
    "number as text": "1.0",
    "bytes": b"x",
    "nan": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "minus one": -1,
    "zero": 0,
    "half": 0.5,
    "huge": 1e308,
    "tiny": 1e-320,
    "huge whole": 2**70,
    "yes": True,
    "complex": 1 + 2j,
    "empty list": [],
    "one": [1.0],
    "two": [1.0, 2.0],
    "four": [1.0, 2.0, 3.0, 4.0],
    "three nans": [float("nan")] * 3,
    "three texts": ["a", "b", "c"],
    "three huge": [1e300, -1e300, 1e300],
    "ragged": [[1.0], [1.0, 2.0]],
    "matrix": np.ones((2, 2)),
    "empty array": np.empty((0, 3)),
    "dictionary": {"a": 1},
    "object": object(),
    "function": len,
    "class": dict,
}


def refused_or_made(action):
    """What the action gives, or None where pliant refuses it with an error that names a remedy; anything else raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return action()
        except PliantError as error:
            refusal = error
    assert refusal.what
    assert refusal.remedy
    return None
