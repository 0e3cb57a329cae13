"""Flame: the picture's rows are those of Python; it zooms by click and keys, and a frame leads to its source and the timeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import corpus
from browser import asked, reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from build import TraceBuilder

if TYPE_CHECKING:
    from pathlib import Path

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
UNITS = {"device": "device_total_us", "host": "host_total_us", "idle": "idle_total_us"}


@pytest.fixture
def flame(shown: Callable[..., Profiler]) -> Profiler:
    """Return the flame of the GPU sample, by host time: the widest frame is at the left."""
    return shown(run=GPU, view="flame", weight="host").ready("flame")


def table(profiler: Profiler) -> list[int]:
    """Show the rows as a table, all unfolded; return their values."""
    profiler.tab.get_by_role("button", name="Table", exact=True).click()
    profiler.get("frame-row").first.wait_for()
    profiler.tab.locator("[role=treegrid]").focus()
    profiler.press("Home")
    for _ in range(120):
        profiler.press("ArrowRight", "ArrowDown")
    return profiler.get("frame-row").evaluate_all("(rows) => rows.map((row) => +row.dataset.value)")


@pytest.mark.parametrize("weight", UNITS)
def test_the_table_has_the_values_of_python(shown: Callable[..., Profiler], weight: str) -> None:
    profiler = shown(run=GPU, view="flame", weight=weight, stackless="shown").ready("flame")
    expected = asked.view(TRACE, "stacks", weight=weight)
    roots = expected[expected["depth"] == 0]
    whole = sum(asked.nanoseconds(roots, UNITS[weight]))
    title = profiler.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"
    assert sorted(table(profiler)) == sorted(asked.nanoseconds(expected, UNITS[weight]))


@pytest.mark.parametrize("form", ["inverted", "file"])
def test_the_other_forms(shown: Callable[..., Profiler], form: str) -> None:
    profiler = shown(run=GPU, view="flame", form=form, weight="host").ready("flame")
    expected = asked.view(TRACE, "stacks", form=form, weight="host")
    assert profiler.tab.locator(".flame-picture").get_attribute("data-rows") == str(len(expected))
    column = "host_total_us" if form == "inverted" else "host_self_us"
    rows = expected[expected["depth"] == 0] if form == "inverted" else expected
    whole = sum(asked.nanoseconds(rows, column))
    title = profiler.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"


def test_what_has_no_stack_is_hidden_where_it_is_most(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="flame", weight="device").ready("flame")
    expected = asked.view(TRACE, "stacks", weight="device")
    bare = expected["name"].isna()
    share = 100 * expected["device_self_us"][bare].sum() / expected["device_self_us"].sum()
    assert share > 50
    hidden = profiler.wait("flame-hidden")
    assert f"{share:.1f}%" in reading.plain(hidden.inner_text())
    stacks = sorted(asked.nanoseconds(expected[~bare], "device_total_us"))
    assert sorted(table(profiler)) == stacks
    toggle = profiler.get("flame-stackless")
    assert toggle.get_attribute("aria-pressed") == "true"
    assert f"{share:.1f}%" in reading.plain(toggle.inner_text())
    hidden.get_by_role("button", name="Show it").click()
    profiler.wait_for_address(stackless="shown")
    hidden.wait_for(state="detached")
    # Last, though it is the widest.
    roots = profiler.tab.locator("[data-testid=frame-row][aria-level='1']")
    assert roots.last.inner_text().startswith("without a stack")
    toggle.click()
    profiler.wait_for_address(stackless="hidden")
    profiler.wait("flame-hidden")
    assert toggle.get_attribute("aria-pressed") == "true"


def test_what_has_no_stack_is_last_and_hatched(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="flame", weight="device", stackless="shown").ready("flame")
    canvas = profiler.get("flame-canvas")
    width = canvas.evaluate("(canvas) => canvas.clientWidth")
    canvas.hover(position={"x": width - 4, "y": 8})
    assert "without a stack" in profiler.wait("icicle-tip").inner_text() or "51.5" in reading.plain(
        profiler.get("icicle-tip").inner_text()
    )
    colours = """(canvas) => {
      const { width } = canvas;
      const { data } = canvas.getContext('2d').getImageData(Math.floor(width * 0.9), 4, Math.floor(width * 0.08), 1);
      const found = new Set();
      for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
      return found.size;
    }"""
    assert canvas.evaluate(colours) > 1


@pytest.mark.parametrize("within", ["start", "launch", "run"])
def test_stacks_of_a_selection(shown: Callable[..., Profiler], within: str) -> None:
    start, end = 6_000_000, 9_000_000
    address = {"filter": f"{start}-{end}", "within": within, "weight": "device", "stackless": "shown"}
    profiler = shown(run=GPU, view="flame", **address).ready("flame")
    profiler.wait("within")
    expected = asked.view(TRACE, "stacks", weight="device", start_us=start / 1000, end_us=end / 1000, within=within)
    whole = sum(asked.nanoseconds(expected, "device_self_us"))
    title = profiler.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"
    assert "in the chosen time" in profiler.tab.locator(".verdict").inner_text()
    assert sorted(table(profiler)) == sorted(asked.nanoseconds(expected, "device_total_us"))


def test_another_selection_forgets_the_zoom(flame: Profiler) -> None:
    flame.get("flame-canvas").click(position={"x": 40, "y": 28})
    flame.wait("crumbs")
    flame.show("overview")
    flame.get("step-bar").nth(1).click()
    flame.wait("filter-chip")
    flame.show("flame")
    assert flame.get("crumbs").count() == 0
    flame.wait_for_address(zoom=None)
    step = int(flame.address()["filter"].split("@")[0])
    expected = asked.view(TRACE, "stacks", weight="host", step=step)
    whole = sum(asked.nanoseconds(expected, "host_self_us"))
    title = flame.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"


def test_zoom_by_click_and_back(flame: Profiler) -> None:
    expected = asked.view(TRACE, "stacks", weight="host")
    flame.get("flame-canvas").click(position={"x": 40, "y": 28})
    widest = expected[expected["depth"] == 0].sort_values("host_total_us", ascending=False)["id"].iloc[0]
    inner = expected[expected["parent"] == widest].sort_values("host_total_us", ascending=False).iloc[0]
    flame.wait_for_address(zoom=str(inner["id"]))
    assert "train_step" in flame.wait("crumbs").inner_text()
    details = flame.wait("frame-details")
    place = details.get_by_test_id("frame-place")
    place.wait_for()
    assert place.inner_text() == f"{inner['file']}:{inner['line']}"
    assert details.locator("a").count() == 0
    flame.get("crumbs").get_by_role("button", name="All").click()
    flame.wait_for_address(zoom=None)


def test_keys_walk_zoom_and_go_back(flame: Profiler) -> None:
    flame.tab.locator(".icicle").focus()
    flame.press("ArrowDown", "ArrowDown", "Enter")
    flame.wait("crumbs")
    flame.wait("frame-details")
    zoomed = flame.tab.locator(".crumbs b").inner_text()
    flame.press("Backspace")
    flame.tab.locator(".crumbs b", has_text=zoomed).wait_for(state="detached")
    flame.press("/")
    assert flame.frame.evaluate("() => document.activeElement.dataset.testid") == "search-box"


def test_search_dims_the_rest(flame: Profiler) -> None:
    expected = asked.view(TRACE, "stacks", weight="host")
    flame.get("search-box").fill("linear")
    flame.wait_for_address(flames="linear")
    hits = expected["name"].astype(object).map(lambda name: isinstance(name, str) and "linear" in name.lower()).sum()
    assert 0 < hits < len(expected)
    picture = flame.tab.locator(f".flame-picture[data-pale='{len(expected) - hits}']")
    picture.wait_for()


def test_the_mouse_tells_exact_figures(flame: Profiler) -> None:
    expected = asked.view(TRACE, "stacks", weight="host")
    widest = expected[expected["depth"] == 0].sort_values("host_total_us", ascending=False).iloc[0]
    flame.get("flame-canvas").hover(position={"x": 40, "y": 8})
    told = reading.plain(flame.wait("icicle-tip").inner_text()).replace(" ", "")
    exact = asked.nanoseconds(widest.to_frame().T, "host_total_us")[0]
    assert f"{exact / 1000:.3f}µs" in told


def test_a_frame_is_found_in_the_timeline(flame: Profiler) -> None:
    flame.get("flame-canvas").click(position={"x": 40, "y": 28})
    flame.wait("frame-details").get_by_role("button", name="Show in timeline").click()
    flame.ready("timeline")
    count = flame.tab.locator("[data-testid=search-count][data-total]")
    count.wait_for()
    assert int(count.get_attribute("data-total") or 0) > 0


def test_paths_and_missing_stacks(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    name = "/home/ada/<b>x</b>/" + "long" * 1200 + ".py(7): step"
    trace = TraceBuilder(with_stack=1).python(0, 1000, name).op(10, 100, "aten::relu")
    trace.write(tmp_path / "stacks" / "worker0.1750000000000.pt.trace.json")
    TraceBuilder().op(10, 100, "aten::relu").write(tmp_path / "none" / "worker0.1750000000000.pt.trace.json")
    board = session_boards(tmp_path)
    profiler = visit(board, run="stacks", view="flame").ready("flame")
    profiler.get("flame-canvas").click(position={"x": 40, "y": 8})
    link = profiler.wait("frame-details").locator("a")
    link.wait_for()
    assert (link.get_attribute("href") or "").startswith("vscode://file/home/ada/%3Cb%3Ex%3C/b%3E/")
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert profiler.frame.evaluate(wide) <= 0
    profiler = visit(board, run="none", view="flame").ready("flame")
    assert "with_stack=True" in profiler.wait("table-note").inner_text()
