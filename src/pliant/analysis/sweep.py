"""Any function of design parameters over a table of variants.

A study is a Python file with two names: `variants`, a list of {parameter: value} (or {parameter: values}, all combinations),
and `evaluate(**variant)`, which gives {result: number}. It is loaded anew by every worker, so nothing but its path and a
variant travels; on a cluster the file has to be where the workers are.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

from pliant.analysis.campaign import Campaign, Rows
from pliant.analysis.table import Table
from pliant.errors import FileError, InputError

Variant = dict[str, Any]


class Study:
    """A file with `variants` and `evaluate`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).resolve()
        if not self.path.is_file():
            raise FileError(f"there is no file {self.path}", remedy="give a Python file with variants and evaluate")
        spec = importlib.util.spec_from_file_location(f"pliant_study_{self.path.stem}", self.path)
        if spec is None or spec.loader is None:
            raise FileError(f"{self.path} is no Python file", remedy="give a file that ends with .py", path=self.path)
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:  # whatever a user's file does wrong is said in one line
            raise FileError(
                f"{self.path.name} cannot be loaded: {error!r}", remedy="run it with python first", path=self.path
            ) from error
        for name in ("variants", "evaluate"):
            if not hasattr(module, name):
                raise InputError(f"{self.path.name} has no {name}", remedy="define variants and evaluate(**variant)")
        self.variants = as_variants(module.variants)
        self.evaluate: Callable[..., Mapping[str, float]] = module.evaluate
        self.costs: tuple[str, ...] = tuple(getattr(module, "smaller_is_better", ()))
        """Names of results of which less is better; of all others more is."""


def as_variants(given: Any) -> list[Variant]:
    """A list of variants; a mapping of lists is all combinations."""
    if isinstance(given, Mapping):
        lists = [list(values) for values in given.values()]
        made = [dict(zip(given, values, strict=True)) for values in itertools.product(*lists)]
    else:
        made = [dict(one) for one in given]
    if not made:
        raise InputError("there are no variants", remedy="give a list of {parameter: value}")
    for number, one in enumerate(made):
        try:
            json.dumps(one)
        except TypeError as error:
            raise InputError(
                f"variant {number}: {error}", remedy="give numbers and texts (float(x) of numpy's)"
            ) from error
    return made


@lru_cache(maxsize=4)
def _loaded(path: str) -> Study:
    return Study(path)


def evaluate(path: str, number: int, variant: Variant) -> Rows:
    """One row: the number of the variant, its numbers, and what came out."""
    found = _loaded(path).evaluate(**variant)
    if not isinstance(found, Mapping):
        raise InputError(f"variant {number} gave {found!r}", remedy="give {name: number}")
    shown = {name: float(value) for name, value in variant.items() if isinstance(value, (int, float))}
    return [{"variant": float(number), **shown, **{name: float(value) for name, value in found.items()}}]


def sweep(
    study: Study,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    journal: Path | None = None,
    resume: bool = False,
    show: bool = True,
) -> Table:
    """One row per variant of a study, in their order; others as in `Campaign.run`."""
    jobs = [{"path": str(study.path), "number": k, "variant": one} for k, one in enumerate(study.variants)]
    found = Campaign(study.path.stem, evaluate, jobs).run(
        executor=executor, workers=workers, journal=journal, resume=resume, show=show
    )
    return Table.of_rows(row for rows in found for row in rows)


def best_of(table: Table, results: Sequence[str], costs: Sequence[str] = ()) -> list[int]:
    """Rows that no other row beats in all of these results (Pareto); costs: those of which less is better."""
    values = [tuple((-1.0 if name in costs else 1.0) * table[name][k] for name in results) for k in range(len(table))]
    return [
        k for k, one in enumerate(values)
        if all(v == v for v in one) and not any(
            all(o >= v for o, v in zip(other, one, strict=True)) and other != one for other in values
        )
    ]  # fmt: skip
