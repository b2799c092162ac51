"""A signal or a kind of event that is recorded: its fields, their units, the names of their rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.checks import as_names, shown, whole
from pliant.errors import InputError
from pliant.exchange import Ring

TIME = "time"


@dataclass(frozen=True)
class Channel:
    """Records of one writer with the field "time" [s] and any others: numbers, or rows of numbers.

    units: of fields; rows: names of the rows of fields; words: for fields of flags (integers), the word of each bit, as
    `EVENT_WORDS` has them for a guard; capacity: how many records fit between writer and recorder (16 s at 1 kHz by
    default: as long as a machine may be busy with something else).
    """

    name: str
    dtype: np.dtype[Any]
    units: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    words: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    capacity: int = 16384

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "dtype", np.dtype(self.dtype))
        except (TypeError, ValueError, SyntaxError):
            raise InputError(
                f"the dtype of channel {shown(self.name)} is {shown(self.dtype)}",
                remedy="give fields, such as [('time', 'f8')]",
            ) from None
        object.__setattr__(self, "capacity", whole(self.capacity, "capacity"))
        names = self.dtype.names or ()
        if not (isinstance(self.name, str) and self.name) or TIME not in names or self.dtype[TIME] != np.dtype("f8"):
            raise InputError(
                f"channel {shown(self.name)} has the fields {list(names)}",
                remedy="give it a name and a field ('time', 'f8')",
            )
        for name in names:
            base = self.dtype[name].base
            if base.kind not in "fiub" or len(self.dtype[name].shape) > 1:
                raise InputError(
                    f"field {name!r} of channel {self.name!r} is {self.dtype[name]}",
                    remedy="give numbers, or one row of numbers",
                )
        for what, given in (("units", self.units), ("rows", self.rows), ("words", self.words)):
            if not isinstance(given, Mapping):
                raise InputError(f"{what} of channel {self.name!r} is {shown(given)}", remedy="give a dict by field")
            unknown = sorted(map(str, set(given) - set(names)))
            if unknown:
                raise InputError(
                    f"{what} of {unknown[0]!r}, which channel {self.name!r} does not have",
                    remedy=f"choose among {list(names)}",
                )

        self._require_meaning()

    def _require_meaning(self) -> None:
        """Rows have names for all of a field, words are of flags."""
        for name, rows in self.rows.items():
            if as_names(rows, f"rows of {name!r}") and (len(rows),) != self.dtype[name].shape:
                raise InputError(
                    f"rows of {name!r} has {len(rows)} names, and the field the shape {self.dtype[name].shape}",
                    remedy="give a name for every row",
                )
        for name, words in self.words.items():
            if self.dtype[name].kind not in "iu" or not isinstance(words, Mapping):
                raise InputError(
                    f"words of {name!r}, which is {self.dtype[name]}", remedy="give a field of integers words"
                )

    def ring(self, name: str | None = None) -> Ring:
        """A ring for these records: a new one, or one that another process has made."""
        return Ring(self.dtype, self.capacity, name)

    def schema(self) -> bytes:
        """JSON schema of the messages."""
        properties: dict[str, Any] = {}
        for name in self.dtype.names or ():
            base, shape = self.dtype[name].base, self.dtype[name].shape
            number = {"type": {"b": "boolean", "f": "number"}.get(base.kind, "integer")}
            entry = {"type": "array", "items": number} if shape else dict(number)
            about = f"[{self.units[name]}]" if name in self.units else ""
            if name in self.rows:
                about += f" {', '.join(self.rows[name])}"
            if about:
                entry["description"] = about.strip()
            properties[name] = entry
            if name in self.words:
                properties[f"{name}_words"] = {"type": "string"}
        return json.dumps({"type": "object", "title": f"pliant.{self.name}", "properties": properties}).encode()

    def metadata(self) -> dict[str, str]:
        """Units, rows, words and the dtype as text, for a reader that wants arrays."""
        return {
            "units": json.dumps(dict(self.units)),
            "rows": json.dumps({key: list(value) for key, value in self.rows.items()}),
            "words": json.dumps({key: {str(k): w for k, w in value.items()} for key, value in self.words.items()}),
            "fields": json.dumps(
                {name: [self.dtype[name].base.str, *self.dtype[name].shape] for name in self.dtype.names or ()}
            ),
        }

    def messages(self, records: NDArray[np.void]) -> list[bytes]:
        """Records [n] as JSON, each; what is not finite is null, because JSON has no word for it."""
        names, columns = [], []
        for name in self.dtype.names or ():
            values = records[name].tolist()
            if records[name].dtype.kind == "f" and not np.isfinite(records[name]).all():
                values = _with_nulls(values)
            names.append(name)
            columns.append(values)
            if name in self.words:
                names.append(f"{name}_words")
                columns.append([self._in_words(name, flags) for flags in values])
        return [json.dumps(dict(zip(names, row, strict=True))).encode() for row in zip(*columns, strict=True)]

    def _in_words(self, name: str, flags: int) -> str:
        return " ".join(word for bit, word in self.words[name].items() if flags & bit)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_nulls(entry) for entry in value]
    return value if np.isfinite(value) else None
