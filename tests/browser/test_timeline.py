"""The timeline: search counts what Python counts, selection tells everything, keys and mouse steer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import corpus
from browser import reading
from browser.profiler import Profiler
from browser.tb import TensorBoard

if TYPE_CHECKING:
    import pandas as pd

GPU = "gpu_training_synthetic"
CPU = "cpu_training_workers0"


def first_file(run: str) -> Path:
    """Return the trace that the page shows first of a run."""
    return min((corpus.SAMPLES / run).glob("worker0*.gz"))


@pytest.fixture
def gpu(shown: Callable[..., Profiler]) -> Profiler:
    """Return the timeline of the GPU sample, with the keys in it."""
    profiler = shown(run=GPU, view="timeline").ready("timeline")
    profiler.focus_timeline()
    return profiler


@pytest.mark.parametrize(("run", "text"), [(CPU, "relu"), (GPU, "gemm")])
def test_search_counts_what_python_counts(shown: Callable[..., Profiler], run: str, text: str) -> None:
    expected = reading.timeline(first_file(run)).search(text)["total"]
    assert expected == len(named_events(run, text)) > 0
    profiler = shown(run=run, view="timeline").ready("timeline")
    profiler.press("/")
    profiler.page.keyboard.type(text)
    count = profiler.wait("search-count")
    profiler.tab.locator("[data-testid=search-count][data-total]").wait_for()
    assert int(count.get_attribute("data-total") or -1) == expected
    assert reading.plain(count.inner_text()).split()[0] == str(expected)
    profiler.settled()
    stats = profiler.stats()
    assert 0 < stats["matched"] <= stats["rects"]


def named_events(run: str, text: str) -> pd.DataFrame:
    """Return the events that are drawn as bars and have a text in their name, counted from the frame of all events."""
    events = reading.trace(first_file(run)).events
    drawn = events["timed"] & ~events["kind"].isin(["counter", "memory", "trace"])
    return events[drawn & events["name"].str.contains(text, case=False, regex=False)]


def test_search_marks_as_many_events_as_python_counts(shown: Callable[..., Profiler]) -> None:
    """Where nothing is merged a marked bar is an event; a few small windows hold all of them."""
    found = named_events(CPU, "relu")
    starts = found["start_ns"].to_numpy()
    ends = starts + found["duration_ns"].to_numpy()
    profiler = shown(run=CPU, view="timeline", q="relu").ready("timeline")
    profiler.tab.locator("[data-testid=search-count][data-total]").wait_for()
    seen: set[int] = set()
    while len(seen) < len(found):
        first = min(start for at, start in enumerate(starts) if at not in seen)
        window = (int(first) - 1_000, int(first) + 39_000)
        profiler.navigate(at=f"{window[0]}-{window[1]}")
        profiler.settled()
        inside = {at for at in range(len(found)) if starts[at] < window[1] and ends[at] > window[0]}
        stats = profiler.stats()
        assert stats["merged"] == 0
        assert stats["matched"] == len(inside), window
        seen |= inside


def test_hits_keep_their_marks_when_bars_are_merged(shown: Callable[..., Profiler]) -> None:
    """A bar of several events has the name of its longest one: every hit is marked in its row all the same."""
    profiler = shown(run=CPU, view="timeline", q="relu").ready("timeline")
    profiler.tab.locator("[data-testid=search-count][data-total]").wait_for()
    profiler.settled()
    assert profiler.stats()["hits"] > 0
    profiler.get("search-box").fill("no such name anywhere")
    profiler.tab.locator("[data-testid=search-count][data-total='0']").wait_for()
    profiler.settled()
    assert profiler.stats()["hits"] == 0


def test_going_through_the_hits(shown: Callable[..., Profiler]) -> None:
    total = len(named_events(CPU, "relu"))
    profiler = shown(run=CPU, view="timeline").ready("timeline")
    profiler.get("search-box").fill("relu")
    profiler.tab.locator("[data-testid=search-count][data-total]").wait_for()
    profiler.press("Enter")
    assert "relu" in profiler.wait("drawer").locator("h2").inner_text().lower()
    assert reading.plain(profiler.get("search-count").inner_text()) == f"1 of {total}"
    profiler.press("Enter", "Enter", "Shift+Enter")
    assert reading.plain(profiler.get("search-count").inner_text()) == f"2 of {total}"
    profiler.get("search-box").fill("no such name anywhere")
    profiler.tab.locator("[data-testid=search-count][data-total='0']").wait_for()
    profiler.settled()
    assert profiler.stats()["matched"] == 0


def test_selection_tells_everything(gpu: Profiler) -> None:
    spot = gpu.find("kernel")
    gpu.click(spot)
    drawer = gpu.wait("drawer")
    drawer.get_by_text("Launched by").wait_for()
    event = reading.trace(first_file(GPU)).events.loc[spot["id"]]
    told = reading.plain(drawer.inner_text())
    assert drawer.locator("h2").get_attribute("title") == event["name"]
    duration = drawer.locator("dd").first
    assert reading.plain(duration.get_attribute("title") or "") == f"{event['duration_ns'] / 1000:.3f}µs"
    assert f"GPU {int(event['device'])}, stream {int(event['stream'])}" in told
    assert str(int(event["correlation"])) in told
    assert "cudaLaunchKernel" in told
    assert gpu.get("spoken").inner_text().startswith(str(event["name"]))


def test_arrows_from_launch_to_kernel(gpu: Profiler) -> None:
    """The overlay gets ink between launch and kernel that the selection alone does not make."""
    spot = gpu.find("kernel")
    gpu.click(spot)
    drawer = gpu.wait("drawer")
    launch = drawer.locator(".link", has_text="Launched by").locator("button.ref")
    launch.wait_for()
    gpu.settled()
    between = """([from, to]) => {
      const canvas = document.querySelector('canvas.stage-overlay');
      const { data } = canvas.getContext('2d').getImageData(0, from, canvas.width, to - from);
      const accent = getComputedStyle(canvas).getPropertyValue('--accent').trim();
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16));
      let found = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 200 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24) found++;
      return found;
    }"""
    kernel = gpu.frame.evaluate("(row) => window.__tl.row(row)", spot["row"])
    edge = int(kernel["y"] + kernel["height"] + 4)
    linked = gpu.frame.evaluate(between, [edge, edge + 12])
    gpu.press("Escape")
    gpu.get("drawer").wait_for(state="detached")
    gpu.settled()
    assert linked >= 10 > gpu.frame.evaluate(between, [edge, edge + 12])


def test_an_area_as_a_table(gpu: Profiler) -> None:
    canvas = gpu.get("timeline-canvas").bounding_box()
    assert canvas
    gpu.page.mouse.move(canvas["x"] + 200, canvas["y"] + 30)
    gpu.page.mouse.down()
    gpu.page.mouse.move(canvas["x"] + 700, canvas["y"] + 200, steps=4)
    gpu.page.mouse.up()
    rows = gpu.get("area-row")
    rows.first.wait_for()
    gpu.wait_for_select("area:")
    _, listed, window = gpu.address()["select"].split(":")
    t0, t1 = map(int, window.split("-"))
    expected = reading.timeline(first_file(GPU)).area(rows_of(listed), t0, t1)
    assert f"{expected['events']} events" in reading.plain(gpu.get("drawer").inner_text())
    assert rows.count() == min(len(expected["rows"]), rows.count())


def rows_of(listed: str) -> list[int]:
    """Return the rows that ``0-4,7`` stands for."""
    rows: list[int] = []
    for part in listed.split(","):
        first, _, last = part.partition("-")
        rows += range(int(first), int(last or first) + 1)
    return rows


def test_dragging_the_ruler_and_the_minimap(gpu: Profiler) -> None:
    whole = gpu.view()
    ruler = gpu.get("ruler").bounding_box()
    assert ruler
    gpu.page.mouse.move(ruler["x"] + 300, ruler["y"] + 10)
    gpu.page.mouse.down()
    gpu.page.mouse.move(ruler["x"] + 400, ruler["y"] + 10, steps=4)
    gpu.page.mouse.up()
    gpu.settled()
    narrow = gpu.view()
    share = (narrow["t1"] - narrow["t0"]) / (whole["t1"] - whole["t0"])
    assert share == pytest.approx(100 / ruler["width"], rel=0.02)
    assert narrow["t0"] == pytest.approx(300 / ruler["width"] * whole["t1"], rel=0.02)
    gpu.get("minimap").click(position={"x": ruler["width"] * 0.75, "y": 6})
    gpu.settled()
    moved = gpu.view()
    assert moved["t1"] - moved["t0"] == pytest.approx(narrow["t1"] - narrow["t0"])
    assert moved["t0"] < whole["t1"] * 0.75 < moved["t1"]


def test_wheels(gpu: Profiler) -> None:
    whole = gpu.view()
    canvas = gpu.get("timeline-canvas").bounding_box()
    assert canvas
    gpu.page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + 100)
    gpu.page.keyboard.down("Control")
    gpu.page.mouse.wheel(0, -240)
    gpu.page.keyboard.up("Control")
    gpu.settled()
    closer = gpu.view()
    assert closer["t1"] - closer["t0"] < (whole["t1"] - whole["t0"]) * 0.8
    gpu.page.keyboard.down("Shift")
    gpu.page.mouse.wheel(0, 200)
    gpu.page.keyboard.up("Shift")
    gpu.settled()
    panned = gpu.view()
    assert panned["t0"] > closer["t0"]
    assert panned["t1"] - panned["t0"] == pytest.approx(closer["t1"] - closer["t0"])


def test_a_folded_lane_stays_folded(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    gpu = visit(samples, run=GPU, view="timeline").ready("timeline")
    lane = gpu.tab.locator("button.lane").first
    before = gpu.stats()["rects"]
    lane.click()
    gpu.settled()
    assert lane.get_attribute("aria-expanded") == "false"
    assert gpu.stats()["rects"] < before
    gpu.show("overview")
    gpu.show("timeline")
    assert gpu.tab.locator("button.lane").first.get_attribute("aria-expanded") == "false"


def test_what_goes_on_beyond_the_tile_is_not_told_as_shorter(shown: Callable[..., Profiler]) -> None:
    """A tile cuts a long bar at its ends; the length of the cut piece is nobody's length."""
    gap = reading.view(first_file(GPU), "gaps").sort_values("duration_us", ascending=False).iloc[0]
    middle = reading.nanoseconds(gap["start_us"] + gap["duration_us"] / 2)
    profiler = shown(run=GPU, view="timeline", at=f"{middle - 100_000}-{middle + 100_000}").ready("timeline")
    spot = profiler.find("idle")
    profiler.get("timeline-canvas").hover(position={"x": spot["x"], "y": spot["y"]})
    told = reading.plain(profiler.tab.locator(".tooltip").inner_text())
    assert f"{gap['duration_us']:.3f}µs" in told or "at least" in told, told


def test_a_cut_bar_fits_by_its_true_ends(shown: Callable[..., Profiler]) -> None:
    """Picked once or twice: what is measured is the gap, never the piece of it in the tile."""
    gap = reading.view(first_file(GPU), "gaps").sort_values("duration_us", ascending=False).iloc[0]
    start, length = reading.nanoseconds(gap["start_us"]), reading.nanoseconds(gap["duration_us"])
    middle = start + length // 2
    profiler = shown(run=GPU, view="timeline", at=f"{middle - 50_000}-{middle + 50_000}").ready("timeline")
    spot = profiler.find("idle")
    profiler.click(spot)
    profiler.wait("drawer").locator(".details-columns").wait_for()
    profiler.settled()
    profiler.click({**spot, "y": spot["y"] + 1})
    profiler.press("f")
    profiler.settled()
    view = profiler.view()
    assert view["t0"] <= start < start + length <= view["t1"]
