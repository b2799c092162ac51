"""Make the pictures of the README and the docs: `python docs/make_pictures.py` (pliant[test] and Chromium).

`python docs/make_pictures.py sights FOLDER [ROBOT ...]` saves what one sees first of the page of every robot.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page as Tab
from playwright.sync_api import sync_playwright

from pliant.gallery import Choices, all_robots, find

HERE = Path(__file__).parent
SOFTWARE = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@contextmanager
def shown(robot: str, choices: Choices, width: int = 1280, height: int = 800) -> Iterator[Tab]:
    """The page of a robot in a browser, drawn, without the browser's remarks about drawing in software."""
    with find(robot).page(choices) as served, sync_playwright() as playwright:
        served.open(port=8799)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=SOFTWARE)
        tab = browser.new_page(viewport={"width": width, "height": height})
        tab.goto(served.address)
        tab.locator(".pliant-word").wait_for(timeout=120_000)
        tab.wait_for_timeout(8_000)
        for note in tab.locator(".mantine-Notification-closeButton").all():
            note.click()
        tab.wait_for_timeout(4_000)
        yield tab
        browser.close()


def sights(folder: Path, names: list[str]) -> None:
    """What one sees first of every robot."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or list(all_robots):
        with shown(name, Choices()) as tab:
            tab.screenshot(path=folder / f"{name}.png")
        print(folder / f"{name}.png", flush=True)


def page() -> None:
    """The page of the diamond robot, following its square, as a browser shows it after ten seconds."""
    with shown("diamond", Choices(trajectory="square")) as tab:
        tab.screenshot(path=HERE / "page.jpg", type="jpeg", quality=85)


if __name__ == "__main__":
    if sys.argv[1:2] == ["sights"]:
        sights(Path(sys.argv[2]), sys.argv[3:])
    else:
        page()
