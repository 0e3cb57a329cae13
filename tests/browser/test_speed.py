"""How long people wait, and whether the picture follows the hand. Bounds are generous; the figures are printed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corpus
from browser.profiler import Profiler
from browser.tb import TensorBoard
from dense import dense, write

if TYPE_CHECKING:
    import pytest

#: Seconds in which keys and wheel move the picture.
DRIVEN_S = 3.0
RECORD = """() => {
  window.frames_ = [];
  let last = performance.now();
  const tick = (now) => { window.frames_.push(now - last); last = now; window.ticking = requestAnimationFrame(tick); };
  window.ticking = requestAnimationFrame(tick);
}"""
MEASURED = "() => performance.getEntriesByName('timeline-frame').map((one) => one.duration)"
#: Events of a trace that fills the screen.
DENSE = 400_000
STOP = "() => { cancelAnimationFrame(window.ticking); return window.frames_.slice(1); }"


def largest() -> Path:
    """Return the largest trace there is."""
    paths = [known.path for known in (*corpus.known(), *corpus.samples()) if known.path.is_file()]
    return max(paths, key=lambda path: path.stat().st_size)


def test_the_picture_follows_the_hand(
    session_boards: Callable[..., TensorBoard],
    visit: Callable[..., Profiler],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = largest()
    run = tmp_path / "log" / "run"
    run.mkdir(parents=True)
    (run / path.name).symlink_to(path)
    profiler = visit(session_boards(tmp_path / "log"), context={"reduced_motion": "no-preference"}, view="timeline")
    profiler.ready("timeline")
    box = profiler.get("timeline-canvas").bounding_box()
    assert box
    profiler.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 80)
    profiler.focus_timeline()
    profiler.frame.evaluate(RECORD)
    drive(profiler)
    deltas = sorted(profiler.frame.evaluate(STOP))
    median, tail = deltas[len(deltas) // 2], deltas[int(len(deltas) * 0.95)]
    events = profiler.stats()["events"]
    with capsys.disabled():
        print(
            f"\n{path.parent.name}: {len(deltas)} frames, median {median:.1f} ms, 95 % {tail:.1f} ms,"
            f" longest {deltas[-1]:.0f} ms, {events} events in view at the end"
        )
    assert median < 50
    assert tail < 250


def drive(profiler: Profiler) -> None:
    """Zoom and pan by keys and wheel for a while."""
    end = time.monotonic() + DRIVEN_S
    keys = ["w", "d", "s", "a"]
    while time.monotonic() < end:
        key = keys[0]
        keys = [*keys[1:], key]
        profiler.page.keyboard.down(key)
        for _ in range(4):
            profiler.page.keyboard.down("Control")
            profiler.page.mouse.wheel(0, -60 if key in "wd" else 60)
            profiler.page.keyboard.up("Control")
        profiler.page.keyboard.up(key)


def test_a_dense_picture_is_painted_in_time(
    boards: Callable[..., TensorBoard],
    visit: Callable[..., Profiler],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Some ten thousands of bars, each frame anew: 8 ms of script a frame where nothing else runs."""
    run = tmp_path / "log" / "run"
    run.mkdir(parents=True)
    write(dense(DENSE), run / "dense.1750000000000.pt.trace.json")
    settings = {"reduced_motion": "no-preference", "viewport": {"width": 2400, "height": 1700}}
    profiler = visit(boards(tmp_path / "log"), context=settings, view="timeline").ready("timeline")
    box = profiler.get("timeline-canvas").bounding_box()
    assert box
    profiler.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 80)
    profiler.focus_timeline()
    bars = profiler.stats()["rects"]
    profiler.frame.evaluate("() => { window.__tl.measure(); performance.clearMeasures(); }")
    drive(profiler)
    script = sorted(profiler.frame.evaluate(MEASURED))
    median, tail = script[len(script) // 2], script[int(len(script) * 0.95)]
    with capsys.disabled():
        print(f"\n{DENSE} events, {bars} bars: {len(script)} frames, script median {median:.1f} ms, 95 % {tail:.1f} ms")
    assert bars > 30_000
    assert median < 40


def test_from_click_to_picture(
    boards: Callable[..., TensorBoard],
    visit: Callable[..., Profiler],
    capsys: pytest.CaptureFixture[str],
    record_property: Callable[[str, Any], None],
) -> None:
    path = corpus.trace_path("h100_timesformer")
    board = boards(path.parent)
    begin = time.monotonic()
    profiler = visit(board, view="timeline")
    profiler.wait("rail-timeline")
    ours = time.monotonic()
    profiler.ready("timeline")
    drawn = time.monotonic()
    profiler.show("overview")
    click = time.monotonic()
    profiler.show("timeline")
    again = time.monotonic()
    figures = {"page": ours - begin, "load": drawn - ours, "all": drawn - begin, "again": again - click}
    for name, seconds in figures.items():
        record_property(name, round(seconds, 2))
    with capsys.disabled():
        print(
            f"\nh100_timesformer: TensorBoard's page {figures['page']:.2f} s, from there to the drawn timeline"
            f" {figures['load']:.2f} s, in all {figures['all']:.2f} s; once loaded {figures['again']:.2f} s"
        )
    assert profiler.stats()["rects"] > 100
    assert figures["all"] < 6
