"""The README does what it says."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_it_is_short():
    """What it is, two commands, a picture, some twenty lines of code, what it can do, six figures, six limitations; the rest
    is in docs/ (whose code and figures, and these, are tested in test_docs.py)."""
    text = README.read_text()
    assert len(text.splitlines()) <= 120
    code = re.search(r"```python\n(.*?)```", text, re.S).group(1)
    assert len([line for line in code.splitlines() if line]) <= 22
    assert len(re.findall(r"^- ", section(text, "Limitations"), re.M)) == 6
    assert len(re.findall(r"^\| [^|]+\|.*`\w+ .*`", section(text, "Six figures"), re.M)) == 6
    assert text.count("![") == 1


def section(text: str, title: str) -> str:
    """What stands under a heading."""
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_commands_are_those_of_ci():
    """CI runs the README's two commands, so they cannot rot: the page of the main job is opened, fetched and interrupted
    there, and its report is run without a page too."""
    script = (README.parent / ".ci" / "run").read_text()
    plain = script.replace('"$bin/', "").replace('"', "").replace(" --quiet", "")
    commands = re.findall(r"^python3 -m venv \.venv && (.*)$", README.read_text(), re.M)
    assert len(commands) == 2
    for command in commands:
        for part in command.split(" && "):
            assert part.replace(".venv/bin/", "") in plain
    main_job = commands[0].split(" && ")[-1].replace(".venv/bin/", "")
    assert f".ci/visit {main_job}\n" in plain
    assert f"{main_job} --headless" in plain
