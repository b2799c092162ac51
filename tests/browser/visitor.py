"""A person with a browser."""

from __future__ import annotations

import io
import os
import time

import numpy as np
import pytest
from PIL import Image

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]

COUNT_UPDATES = """
window.pliantUpdates = {};
const Plain = window.Worker;
window.Worker = class extends Plain {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", (event) => {
      for (const message of event.data.messages ?? [])
        if (message.updates?.vertices)
          window.pliantUpdates[message.name] = (window.pliantUpdates[message.name] ?? 0) + 1;
    });
  }
};
window.pliantFrames = 0;
const tick = () => { window.pliantFrames += 1; requestAnimationFrame(tick); };
requestAnimationFrame(tick);
"""
"""Counts, in the page, vertices that arrived decoded from the server, by the name of the mesh; and drawn frames."""


def missing(what: str) -> None:
    """Skip with a reason, or fail where a browser is required (PLIANT_REQUIRE_BROWSER, as in CI)."""
    if os.environ.get("PLIANT_REQUIRE_BROWSER"):
        pytest.fail(what)
    pytest.skip(what)


class Visitor:
    """A browser tab at a page of pliant, as a person uses it."""

    def __init__(self, context, page, address=None) -> None:
        """page: in this process, or None where it is served by another one at `address`."""
        self.page, self.tab = page, context.new_page()
        self.requests, self.complaints = [], []
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("websocket", lambda socket: self.requests.append(socket.url))
        self.tab.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.goto(address or page.address)
        self.until(
            lambda: (page is None or page.server.get_clients()) and self.canvas() is not None, "the page connects"
        )
        self.until(lambda: self.robot_pixels().sum() > 2000, "the robot is drawn")

    @property
    def camera(self):
        return next(iter(self.page.server.get_clients().values())).camera

    def until(self, holds, what, seconds=180.0):
        """Wait for a condition, letting the browser's events come in."""
        end = time.monotonic() + seconds
        while not (value := holds()):
            assert time.monotonic() < end, f"never: {what}"
            self.tab.wait_for_timeout(100)
        return value

    def canvas(self):
        """Place and size [px] of the view of the robot: the largest canvas."""
        boxes = [box for item in self.tab.locator("canvas").all() if (box := item.bounding_box())]
        return max(boxes, key=lambda box: box["width"] * box["height"], default=None)

    def picture(self) -> np.ndarray:
        """The view of the robot as it is now, [h, w, 3]."""
        box = self.canvas()
        shot = self.tab.screenshot(clip=box, scale="css")
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def robot_pixels(self) -> np.ndarray:
        """Which pixels have the robot's colour: blue that is neither grey nor as bright as the gizmo."""
        r, g, b = self.picture().transpose(2, 0, 1)
        return (b > r + 35) & (g > r + 15) & (b > g)

    def pixel(self, point) -> tuple[float, float]:
        """Where a point in space [m] is in the tab."""
        camera, box = self.camera, self.canvas()
        w, x, y, z = camera.wxyz
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        seen = rotation.T @ (np.asarray(point) - camera.position)
        focal = box["height"] / 2 / np.tan(camera.fov / 2)
        u, v = focal * seen[:2] / seen[2]
        return box["x"] + box["width"] / 2 + u, box["y"] + box["height"] / 2 + v

    def drag(self, start, end, steps=12) -> None:
        """Drag the mouse from one point in space to another."""
        (x, y), (u, v) = self.pixel(start), self.pixel(end)
        mouse = self.tab.mouse
        mouse.move(x, y)
        mouse.down()
        for share in np.linspace(0, 1, steps + 1)[1:]:
            mouse.move(x + share * (u - x), y + share * (v - y))
            self.tab.wait_for_timeout(30)
        mouse.up()

    def error(self) -> float:
        """What the page says that the first effector is away from its target [mm]."""
        return float(self.tab.locator(".pliant-error").first.inner_text())

    def press(self, name) -> None:
        """Press a button."""
        self.tab.get_by_role("button", name=name, exact=True).click()

    def updates(self) -> int:
        """How often new vertices of a body have arrived in the page."""
        counts = self.tab.evaluate("window.pliantUpdates")
        return max((count for name, count in counts.items() if name.startswith("/robot/body")), default=0)
