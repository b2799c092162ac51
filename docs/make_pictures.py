"""Make the pictures of the README and the docs: `python docs/make_pictures.py` (pliant[test] and Chromium)."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

from pliant import Simulation, State
from pliant.gallery import Choices, cantilever, find
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


def page() -> None:
    """The page of the diamond robot, following its square, as a browser shows it after ten seconds."""
    software = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with find("diamond").page(Choices(trajectory="square")) as served, sync_playwright() as playwright:
        served.open(port=8799)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=software)
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        tab.goto(served.address)
        tab.wait_for_timeout(10_000)
        for note in tab.locator(".mantine-Notification-closeButton").all():  # about drawing in software
            note.click()
        tab.wait_for_timeout(5_000)
        tab.screenshot(path=HERE / "page.jpg", type="jpeg", quality=85)
        browser.close()


if __name__ == "__main__":
    swinging_beam()
    page()
