"""Make the pictures of the README and the docs: `python docs/make_pictures.py`."""

from __future__ import annotations

from pathlib import Path

from pliant import Simulation, State
from pliant.gallery import cantilever
from pliant.motion import Dynamics
from pliant.view import film_bodies

HERE = Path(__file__).parent


def swinging_beam() -> None:
    """The silicone beam of the gallery, straight at first, falls under its own weight and swings."""
    robot = cantilever.build()
    simulation = Simulation(robot, step=0.01, motion=Dynamics(robot, 0.01, method="newton"))
    states: list[State] = [simulation.state]
    simulation.run(1.2, callback=lambda run: states.append(run.state))
    film_bodies(robot, states[::2], HERE / "beam.gif", title="120 mm of silicone, let go", view=(10, -75))


if __name__ == "__main__":
    swinging_beam()
