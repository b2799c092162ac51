"""The README does what it says."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs_as_it_stands(capsys):
    """The Python block of the README, verbatim: the finger bends down under air in its upper half, and W is symmetric."""
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.S).group(1)
    names: dict = {}
    exec(compile(code, str(README), "exec"), names)
    assert "('air', 'tip.x', 'tip.y', 'tip.z')" in capsys.readouterr().out
    robot, state, model = names["robot"], names["state"], names["model"]
    blown = robot.displacement(state, "tip")[2]
    robot.set_effort("air", 0.0)
    hanging = robot.displacement(names["pl"].Statics(robot).solve().require().state, "tip")[2]
    assert blown < hanging - 1e-4
    assert abs(model.W - model.W.T).max() <= 1e-10 * abs(model.W).max()


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
