"""The profiler's tab in a page: what tests do with it, and how they wait for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from playwright.sync_api import Frame, FrameLocator, Locator, Page

    from browser.tb import TensorBoard

FRAME = "iframe[src*='plugin_entry.html?name=kinetoscope']"
PAGES = ("overview", "timeline", "idle", "kernels", "operators", "modules", "flame", "memory")
NOUNS = {
    "overview": "verdict",
    "timeline": "timeline-canvas",
    "idle": "gap-histogram",
    "kernels": "kernel-row",
    "operators": "operator-row",
    "modules": "module-row",
    "flame": "flame-canvas",
    "memory": "memory-curve",
}
#: Longest wait for a state of the page, ms.
PATIENCE = 20_000

#: Resolves when the timeline has drawn the same finished picture in four frames on end.
SETTLED = """() => new Promise((done) => {
  let still = 0, last = '';
  const look = () => {
    const told = window.__tl && !window.__tl.stats().busy ? JSON.stringify([__tl.view(), __tl.stats()]) : '';
    still = told !== '' && told === last ? still + 1 : 0;
    last = told;
    if (still < 4) requestAnimationFrame(look); else done(true);
  };
  look();
})"""

#: Pixels of the bars as one number.
PIXELS = """() => {
  const canvas = document.querySelector('canvas.stage-bars');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let hash = 2166136261;
  for (const octet of data) hash = Math.imul(hash ^ octet, 16777619);
  return `${canvas.width}x${canvas.height}:${hash >>> 0}`;
}"""

#: Some point of the canvas over an event that passes a test; scans a grid of pixels.
FIND = """([kinds, named]) => {
  const { width, height } = window.__tl.stats();
  for (let y = 2; y < height; y += 4) {
    for (let x = 2; x < width; x += 3) {
      const hit = window.__tl.hit(x, y);
      if (!hit || hit.merged) continue;
      // 'idle' stands for idle time of every cause
      if (kinds.length && !kinds.includes(hit.kind.replace(/^idle .*/, 'idle'))) continue;
      if (named && !hit.name.includes(named)) continue;
      const row = window.__tl.row(hit.row);
      const middle = row.y + row.height / 2;
      if (window.__tl.hit(x + 1, middle)?.id === hit.id) return { ...hit, x: x + 1, y: middle };
    }
  }
  return null;
}"""


class Profiler:
    """Our tab of a TensorBoard in a browser's page.

    Parameters
    ----------
    page
        A fresh page.
    tensorboard
        Where it goes.
    """

    def __init__(self, page: Page, tensorboard: TensorBoard) -> None:
        self.page = page
        self.tensorboard = tensorboard

    def open(self, *, host: str | None = None, **keys: object) -> Profiler:
        """Go to the tab with some keys in the address."""
        self.page.goto(self.tensorboard.address(host=host, **keys))
        return self

    def navigate(self, **keys: object) -> Profiler:
        """Change some keys of the address, as a click on a link within the page does; None takes a key out."""
        now = {**self.address(), **keys}
        return self.reset(**{key: value for key, value in now.items() if value is not None})

    def reset(self, **keys: object) -> Profiler:
        """Go to an address with these keys alone, without loading TensorBoard anew."""
        self.page.evaluate("(hash) => { location.hash = hash; }", self.tensorboard.address(**keys).partition("#")[2])
        return self

    @property
    def tab(self) -> FrameLocator:
        return self.page.frame_locator(FRAME)

    @property
    def frame(self) -> Frame:
        """The frame itself, for questions in JavaScript."""
        element = self.page.wait_for_selector(FRAME, state="attached", timeout=PATIENCE)
        frame = element.content_frame() if element else None
        assert frame
        return frame

    def get(self, test_id: str) -> Locator:
        return self.tab.get_by_test_id(test_id)

    def wait(self, test_id: str) -> Locator:
        """Return what has a test id, as soon as it is in sight."""
        found = self.get(test_id).first
        found.wait_for(timeout=PATIENCE)
        return found

    def show(self, page: str) -> Profiler:
        """Turn to a page by its rail, and wait for its contents."""
        self.wait(f"rail-{page}").click()
        return self.ready(page)

    def ready(self, page: str) -> Profiler:
        """Wait until a page tells what it has to tell."""
        self.wait(f"page-{page}")
        # Without a device the page of idle time has the critical path alone.
        nouns = (NOUNS[page], "path-verdict") if page == "idle" else (NOUNS[page],)
        self.tab.locator(", ".join(f"[data-testid={one}]" for one in nouns)).first.wait_for(timeout=PATIENCE)
        if page == "timeline":
            self.settled()
        return self

    def settled(self) -> None:
        """Wait until the timeline is drawn and nothing more is on its way."""
        self.frame.wait_for_function("() => window.__tl && window.__tl.stats().width > 0", timeout=PATIENCE)
        self.frame.evaluate(SETTLED)

    def view(self) -> dict[str, float]:
        return self.frame.evaluate("() => window.__tl.view()")

    def stats(self) -> dict[str, Any]:
        return self.frame.evaluate("() => window.__tl.stats()")

    def picture(self) -> tuple[dict[str, float], dict[str, Any], str]:
        """Return all that tells one picture of the timeline from another."""
        self.settled()
        return self.view(), self.stats(), self.frame.evaluate(PIXELS)

    def find(self, *kinds: str, named: str = "") -> dict[str, Any]:
        """Return an event in sight, with a point of the canvas where it is."""
        found = self.frame.evaluate(FIND, [list(kinds), named])
        assert found, f"nothing of {kinds} {named!r} in sight"
        return found

    def at(self, row: int, start: float, length: float = 0) -> dict[str, Any] | None:
        """Return what the timeline shows on a row in the middle of a time, None where there is nothing."""
        view, stats = self.view(), self.stats()
        place = self.frame.evaluate("(row) => window.__tl.row(row)", row)
        assert place, f"row {row} is folded away"
        x = (start + length / 2 - view["t0"]) / (view["t1"] - view["t0"]) * stats["width"]
        y = place["y"] + place["height"] / 2
        hit = self.frame.evaluate("([x, y]) => window.__tl.hit(x, y)", [x, y])
        return hit and {"x": x, "y": y, **hit}

    def click(self, spot: dict[str, Any]) -> None:
        """Click a point of the timeline's canvas."""
        self.get("timeline-canvas").click(position={"x": spot["x"], "y": spot["y"]})

    def focus_timeline(self) -> None:
        """Give the timeline the keys, with nothing selected."""
        self.frame.evaluate("() => document.querySelector('[role=application]').focus()")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def address(self) -> dict[str, str]:
        """Return our keys in TensorBoard's address."""
        found = re.findall(r"p\.kinetoscope\.([^=&]+)=([^&]*)", self.page.url)
        return {unquote(key): unquote(value) for key, value in found}

    def wait_for_address(self, **keys: str | None) -> None:
        """Wait until the address holds some of our keys; None stands for not at all."""

        def holds(_: str) -> bool:
            now = self.address()
            return all(now.get(key) == value for key, value in keys.items())

        self.page.wait_for_url(holds, timeout=PATIENCE)

    def pick(self, picker: str, value: str) -> None:
        """Choose another run, rank or span."""
        self.wait(f"picker-{picker}").click()
        options = self.get(f"picker-{picker}-option")
        options.first.wait_for()
        self.tab.locator(f"[data-testid=picker-{picker}-option][data-value='{value}']").click()

    def picked(self) -> dict[str, str]:
        """Return what the pickers say."""
        return {
            name: self.tab.locator(f"[data-testid=picker-{name}] .picker-value").inner_text()
            for name in ("run", "rank", "span")
        }

    def wait_for_select(self, start: str) -> None:
        """Wait until the address holds a selection that starts so."""
        self.page.wait_for_url(lambda _: self.address().get("select", "").startswith(start), timeout=PATIENCE)
