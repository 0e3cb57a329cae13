"""Measure how the timeline follows the hand: a real TensorBoard on a large made trace, in Chromium, panned and zoomed for some seconds.

Usage: python benchmarks/browser.py [--events N] [--seconds S] [--size 1600x900] [--logdir FOLDER] [--quick]

Prints one JSON object. ``script_ms`` is the page's own work for a frame, from its call to the picture handed over; frames per second are those that
the browser has shown, on a processor alone, with whatever else this machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
# this file's own folder would put it in the way of the tests' package of the same name
OURS = [str(ROOT / folder) for folder in ("tools", "tests", "analysis", "plugin")]
sys.path[:] = [*OURS, *(path for path in sys.path if Path(path or ".").resolve() != ROOT / "benchmarks")]

import numpy as np  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

import find_chromium  # noqa: E402
from browser.profiler import Profiler  # noqa: E402
from browser.tb import TensorBoard  # noqa: E402
from dense import dense, write  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVENTS, FEW = 1_000_000, 50_000
#: Longest time to read the trace, ms.
READ_MS = 300_000
#: Parts of the recording in view: from all of it to single events.
ZOOMS = (1, 4, 10, 100, 1_000)
#: Collects what each frame shows and how long after the one before it came.
RECORD = """() => {
  window.__tl.measure();
  performance.clearMeasures();
  window.recorded = { frames: [], bars: [] };
  let last = performance.now();
  const tick = (now) => {
    window.recorded.frames.push(now - last);
    window.recorded.bars.push(window.__tl.stats().rects);
    last = now;
    window.ticking = requestAnimationFrame(tick);
  };
  window.ticking = requestAnimationFrame(tick);
}"""
STOP = """() => {
  cancelAnimationFrame(window.ticking);
  const script = performance.getEntriesByName('timeline-frame').map((one) => one.duration);
  return { frames: window.recorded.frames.slice(1), bars: window.recorded.bars.slice(1), script };
}"""


def main(words: list[str]) -> int:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--seconds", type=float, default=4.0, help="at each zoom")
    parser.add_argument("--size", default="1600x900", help="pixels of the window")
    parser.add_argument("--logdir", type=Path, help="look at these traces instead of a made one")
    parser.add_argument("--quick", action="store_true", help=f"{FEW} events, one second at each zoom")
    given = parser.parse_args(words)
    if given.quick:
        given.events, given.seconds = FEW, 1.0
    with tempfile.TemporaryDirectory() as folder:
        logdir = given.logdir or Path(folder) / "log"
        if not given.logdir:
            (logdir / "run").mkdir(parents=True)
            write(dense(given.events), logdir / "run" / "dense.1750000000000.pt.trace.json")
        tensorboard = TensorBoard(logdir, cache=Path(folder) / "cache")
        try:
            print(json.dumps(_measured(tensorboard, given), indent=1))
        finally:
            tensorboard.stop()
    return 0


def _measured(tensorboard: TensorBoard, given: argparse.Namespace) -> dict[str, Any]:
    before = os.getloadavg()[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium.find(), args=["--no-sandbox", "--disable-gpu", "--font-render-hinting=none"]
        )
        try:
            zooms = _zooms(browser, tensorboard, given)
        finally:
            browser.close()
    load = {"before": round(before, 2), "after": round(os.getloadavg()[0], 2)}
    return {"events": None if given.logdir else given.events, "size": given.size, "zooms": zooms, "load": load}


def _zooms(browser: Browser, tensorboard: TensorBoard, given: argparse.Namespace) -> list[dict[str, Any]]:
    width, height = map(int, given.size.split("x"))
    context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="no-preference")
    profiler = Profiler(context.new_page(), tensorboard).open(view="timeline")
    profiler.tab.get_by_test_id("timeline-canvas").wait_for(timeout=READ_MS)
    profiler.settled()
    whole = profiler.view()
    found = []
    for zoom in ZOOMS:
        span, middle = (whole["t1"] - whole["t0"]) / zoom, (whole["t0"] + whole["t1"]) * 0.4
        start = max(0.0, middle - span / 2)
        profiler.navigate(at=f"{round(start)}-{round(start + span)}")
        profiler.settled()
        box = profiler.get("timeline-canvas").bounding_box()
        assert box
        profiler.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 60)
        profiler.focus_timeline()
        profiler.frame.evaluate(RECORD)
        _drive(profiler, given.seconds)
        found.append({"zoom": zoom, **_told(profiler.frame.evaluate(STOP))})
    return found


def _drive(profiler: Profiler, seconds: float) -> None:
    """Pan to and fro by keys and by wheel, and zoom a little."""
    end = time.monotonic() + seconds
    way = 0
    while time.monotonic() < end:
        key = "dawsad"[way % 6]
        way += 1
        profiler.page.keyboard.down(key)
        for _ in range(3):
            profiler.page.keyboard.down("Shift")
            profiler.page.mouse.wheel(0, 40 if way % 2 else -40)
            profiler.page.keyboard.up("Shift")
            profiler.page.wait_for_timeout(30)
        profiler.page.keyboard.up(key)


def _told(recorded: dict[str, list[float]]) -> dict[str, Any]:
    frames = recorded["frames"] or [float("nan")]
    return {
        "frames_per_second": round(1000 * len(frames) / sum(frames), 1),
        "frame_ms": _spread(frames),
        "script_ms": _spread(recorded["script"] or [float("nan")]),
        "frames_painted": len(recorded["script"]),
        "bars": _spread(recorded["bars"] or [0.0]),
    }


def _spread(values: list[float]) -> dict[str, float]:
    median, tail = np.percentile(values, [50, 95]).tolist()
    return {"p50": round(median, 1), "p95": round(tail, 1), "max": round(max(values), 1)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
