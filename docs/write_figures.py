"""Write measured figures into the pages: each comes from one command, and stands on one page.

    python docs/write_figures.py                            fill the blocks of all pages again
    python docs/write_figures.py qp                         measure first, by the command of that name
    python docs/write_figures.py fem --repeats 8 --mesh diamond.vtk      further options go to the command

docs/figures/NAME.json has the figures of a command, with the command itself, the machine and the day. docs/figures/*.md are
blocks of text with places for them. A page shows a block between <!-- figures NAME --> and <!-- end -->; what stands there is
never edited by hand. Places in a block:

    {qp.warm_median_us_8:.0f}            a value, formatted as Python does
    {realtime.command_p999_us/1e3:.2f}   a value in another unit: over a number
    {min modes.frequency_*:.4f}          the smallest (max: the largest) of several
    {qp@command} {qp@machine} {qp@date}  where they come from
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
BLOCK = re.compile(r"(<!-- figures (\w+) -->\n).*?(<!-- end -->)", re.S)
PLACE = re.compile(
    r"\{(?:(?P<file>\w+)@(?P<what>\w+)|(?:(?P<pick>min|max) )?(?P<name>[\w.*]+)"
    r"(?:/(?P<unit>[0-9][0-9.e+-]*))?:(?P<format>[^{}]*))\}"
)


@dataclass(frozen=True)
class Source:
    """A command that writes figures to the file after `option`, and those of its figures that are kept."""

    command: str
    kept: str = "*"
    option: str = "--json"


SOURCES = {
    "fem": Source("pliant bench fem --no-large"),
    "slabs": Source("pliant bench fem", "fem.*k.*"),
    "pardiso": Source("pliant bench fem --no-large", "*.factor_over_pardiso"),
    "inverse": Source("pliant bench inverse"),
    "qp": Source("pliant bench qp"),
    "realtime": Source("pliant bench realtime"),
    "springs": Source("pliant bench springs"),
    "imports": Source("python benchmarks/import_time.py"),
    "validation": Source("pytest -n 2 tests/validation", option="--figures"),
    "largilliere2015": Source("pliant paper largilliere2015"),
    "cronos": Source("pliant paper cronos"),
}
"""By the name of the file."""


def measure(name: str, *options: str) -> None:
    """Run a command, with further options, and keep its figures."""
    from pliant.doctor import machine

    source = SOURCES[name]
    program, *arguments = source.command.split()
    start = {
        "pliant": [sys.executable, "-m", "pliant.cli"],
        "pytest": [sys.executable, "-m", "pytest"],
        "python": [sys.executable],
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        # what it draws goes to the folder that is thrown away
        drawn = ["--out", folder] if arguments[0] == "paper" else []
        command = [*start[program], *arguments, *options, *drawn, source.option, str(file)]
        subprocess.run(command, check=True, cwd=DOCS.parent)
        figures = json.loads(file.read_text())
    record = {
        "command": " ".join([source.command, *map(_without_folder, options)]),
        "machine": machine(),
        "date": date.today().isoformat(),
        "figures": [figure for figure in figures if fnmatch(figure["name"], source.kept)],
    }
    (FIGURES / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def _without_folder(option: str) -> str:
    """A path on this machine as a reader has it: its name, or DATA for a folder."""
    path = Path(option)
    return ("DATA" if path.is_dir() else path.name) if path.is_absolute() else option


@dataclass(frozen=True)
class Book:
    """All figures: values by name, and what is told about each file."""

    values: dict[str, float]
    about: dict[str, dict[str, str]]

    @classmethod
    def read(cls) -> Book:
        """From docs/figures; a name stands in one file only."""
        values: dict[str, float] = {}
        about = {}
        for path in sorted(FIGURES.glob("*.json")):
            record = json.loads(path.read_text())
            about[path.stem] = {key: value for key, value in record.items() if key != "figures"}
            for figure in record["figures"]:
                if figure["name"] in values:
                    raise SystemExit(f"{path.name}: {figure['name']} stands in another file too; keep it in one")
                values[figure["name"]] = figure["value"]
        return cls(values, about)

    def names(self, pattern: str) -> list[str]:
        """Figures that a place means."""
        found = [name for name in self.values if fnmatch(name, pattern)]
        if not found:
            raise SystemExit(f"there is no figure {pattern}; measure it: see SOURCES")
        return found

    def filled(self, text: str) -> str:
        """The text with all its places filled."""
        return PLACE.sub(self._value, text)

    def _value(self, place: re.Match[str]) -> str:
        if place["file"]:
            return self.about[place["file"]][place["what"]]
        values = [self.values[name] for name in self.names(place["name"])]
        value = {"min": min, "max": max}[place["pick"]](values) if place["pick"] else values[0]
        value /= float(place["unit"] or 1)
        return re.sub(r"e([+-])0*(\d)", lambda e: f"e{e[1].strip('+')}{e[2]}", format(value, place["format"]))


def pages() -> list[Path]:
    """All that may have blocks."""
    return [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Names and texts, with their places open, of the blocks of a page."""
    for block in BLOCK.finditer(page.read_text()):
        yield block[2], (FIGURES / f"{block[2]}.md").read_text()


def used(page: Path, book: Book) -> set[str]:
    """Figures that a page shows."""
    places = [place for _, text in blocks(page) for place in PLACE.finditer(text) if place["name"]]
    return {name for place in places for name in book.names(place["name"])}


def written(page: Path, book: Book) -> str:
    """The page as it should be."""

    def block(found: re.Match[str]) -> str:
        return found[1] + book.filled((FIGURES / f"{found[2]}.md").read_text()) + found[3]

    return BLOCK.sub(block, page.read_text())


def main(arguments: list[str]) -> None:
    """Measure what is named, then write all pages."""
    named = [a for a in arguments if a in SOURCES]
    options = [a for a in arguments if a not in SOURCES]
    if options and len(named) != 1:
        raise SystemExit(f"{options[0]} is no name; choose among {', '.join(SOURCES)}")
    for name in named:
        measure(name, *options)
    book = Book.read()
    for page in pages():
        text = written(page, book)
        if text != page.read_text():
            page.write_text(text)
            print(f"written: {page.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main(sys.argv[1:])
