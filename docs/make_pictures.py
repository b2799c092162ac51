"""Make the pictures of the README and the docs: `python docs/make_pictures.py` (pliant[test] and Chromium).

`python docs/make_pictures.py sights FOLDER [ROBOT ...]` saves what one sees first of the page of every robot.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from pliant.gallery import Choices, all_robots, find

HERE = Path(__file__).parent
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@contextmanager
def shown(robot: str, width: int = 1280, height: int = 800) -> Iterator[tuple[Any, Tab]]:
    """The page of a robot, and a browser's tab that shows it, without the browser's remarks about drawing in software."""
    with find(robot).page(Choices()) as served, sync_playwright() as playwright:
        served.open(port=8799)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SOFTWARE)
        tab = browser.new_page(viewport={"width": width, "height": height})
        tab.goto(served.address)
        tab.locator(".pliant-word").wait_for(timeout=120_000)
        tab.wait_for_timeout(8_000)
        for note in tab.locator(".mantine-Notification-closeButton").all():
            note.click()
        tab.wait_for_timeout(4_000)
        yield served, tab
        browser.close()


def sights(folder: Path, names: list[str]) -> None:
    """What one sees first of every robot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or list(all_robots):
        with shown(name) as (_, tab):
            tab.screenshot(path=folder / f"{name}.png")
        print(folder / f"{name}.png", flush=True)


def page() -> None:
    """The page of the diamond robot, following its square, as a browser shows it after ten seconds."""
    with shown("diamond") as (_, tab):
        tab.screenshot(path=HERE / "page.jpg", type="jpeg", quality=85)


def robot(pictures: int = 35, steps: int = 9) -> None:
    """The trunk once round its circle, as the page draws it; so many pictures with so many steps between them."""
    with shown("trunk", 1160, 620) as (served, tab):
        session, frames = served.session, []
        session.pause()
        for grip in served._scene.grips:
            grip.gizmo.active_axes = (False, False, False)
        tab.get_by_text("Names", exact=True).click()
        for _ in range(pictures):
            for _ in range(steps):
                session.advance()
            tab.wait_for_timeout(1_200)  # until it is sent, received and drawn
            picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
            frames.append(picture.crop((310, 0, 770, 620)))
        palette = frames[0].quantize(160, method=Image.Quantize.FASTOCTREE)
        drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
        drawn[0].save(HERE / "robot.gif", save_all=True, append_images=drawn[1:], duration=90, loop=0, optimize=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["sights"]:
        sights(Path(sys.argv[2]), sys.argv[3:])
    else:
        page()
        robot()
