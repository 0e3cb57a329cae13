"""GPU idle: bars, rows and figures are the gaps that Python finds, and each leads to its place in the timeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import corpus
from browser import reading
from browser.profiler import Profiler
from browser.tb import TensorBoard

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
ATTRIBUTES = "(rows) => rows.map((row) => [+row.dataset.gap, +row.dataset.startNs, +row.dataset.durationNs])"


def gaps() -> dict[int, tuple[int, int]]:
    """Return start and length of each gap by its number."""
    table = reading.view(TRACE, "gaps")
    return {
        int(row.gap): (reading.nanoseconds(row.start_us), reading.nanoseconds(row.duration_us))
        for row in table.itertuples()
    }


@pytest.fixture
def idle(shown: Callable[..., Profiler]) -> Profiler:
    """Return the page of gaps of the GPU sample."""
    return shown(run=GPU, view="idle").ready("idle")


def rows_of(profiler: Profiler) -> dict[int, tuple[int, int]]:
    """Return every row of the gap table, scrolled through from its top."""
    found: dict[int, tuple[int, int]] = {}
    grid = profiler.tab.locator(".grid", has=profiler.get("gap-row"))
    top = 0
    while True:
        grid.evaluate(
            "(box, top) => new Promise((done) => { box.scrollTop = top; requestAnimationFrame(() => requestAnimationFrame(done)); })",
            top,
        )
        found |= {gap: (start, length) for gap, start, length in profiler.get("gap-row").evaluate_all(ATTRIBUTES)}
        room, height = grid.evaluate("(box) => [box.clientHeight, box.scrollHeight]")
        if top + room >= height:
            return found
        top += room // 2


def test_bars_and_rows_are_the_gaps(idle: Profiler) -> None:
    known = gaps()
    bars = idle.get("gap-bar").evaluate_all(
        "(bars) => bars.map((bar) => [+bar.dataset.lowNs, +bar.dataset.highNs, +bar.dataset.count])"
    )
    assert sum(count for _, _, count in bars) == len(known)
    for low, high, count in bars:
        assert count == sum(low <= length < high for _, length in known.values()), (low, high)
    assert rows_of(idle) == known
    total = sum(length for _, length in known.values())
    headline = idle.tab.locator(".headline b")
    assert reading.plain(headline.get_attribute("title") or "") == f"{total / 1000:.3f}µs"
    assert f"in {len(known)} gaps" in reading.plain(idle.tab.locator(".headline").inner_text())
    foot = idle.tab.locator("table.plain tfoot td")
    assert reading.plain(foot.nth(1).inner_text()) == str(len(known))
    assert reading.plain(foot.nth(2).get_attribute("title") or "") == f"{total / 1000:.3f}µs"


def test_a_row_opens_the_timeline_around_its_gap(idle: Profiler) -> None:
    row = idle.get("gap-row").nth(2)
    [[gap, start, length]] = row.evaluate_all(ATTRIBUTES)
    row.click()
    idle.ready("timeline")
    idle.wait("drawer")
    view = idle.view()
    assert view["t0"] < start < start + length < view["t1"]
    assert start - view["t0"] >= 0.2 * length
    assert view["t1"] - start - length >= 0.2 * length
    assert view["t1"] - view["t0"] < 20 * length
    idle.wait_for_address(select=f"gap:{gap}", view="timeline")
    assert "idle for" in idle.get("drawer").inner_text()
    [lane] = [lane for lane in reading.timeline(TRACE).lanes()["lanes"] if lane["kind"] == "idle"]
    hit = idle.at(lane["first_row"], start, length)
    assert hit
    assert (hit["kind"], hit["id"], hit["merged"]) == ("idle", gap, False)
    idle.page.go_back()
    idle.ready("idle")


def test_a_bar_narrows_the_table(idle: Profiler) -> None:
    bar = idle.get("gap-bar").nth(0)
    low, high, count = bar.evaluate("(bar) => [+bar.dataset.lowNs, +bar.dataset.highNs, +bar.dataset.count]")
    bar.click()
    idle.tab.get_by_text("one length only").wait_for()
    shown = rows_of(idle)
    assert len(shown) == count
    assert all(low <= length < high for _, length in shown.values())
    idle.tab.get_by_text("one length only").click()
    assert len(rows_of(idle)) == len(gaps())


def test_the_filter_takes_words_out(idle: Profiler) -> None:
    table = reading.view(TRACE, "gaps")
    columns = ["next_name", "launch_name", "previous_name", "ended_by"]
    text = table[columns].astype(object).fillna("").agg("\n".join, axis=1).str.lower()
    copies = {int(gap) for gap in table["gap"][text.str.contains("memcpy")]}
    everything = {int(gap) for gap in table["gap"]}
    assert copies
    assert copies < everything
    idle.press("/")
    idle.page.keyboard.type("memcpy")
    idle.wait_for_address(gaps="memcpy")
    assert set(rows_of(idle)) == copies
    idle.get("search-box").fill("-memcpy")
    idle.wait_for_address(gaps="-memcpy")
    assert set(rows_of(idle)) == everything - copies


def test_sorting_by_each_column(idle: Profiler) -> None:
    known = gaps()
    head = idle.tab.locator(".grid thead th button.sort")
    titles = [title.split(",")[0].strip() for title in head.all_inner_texts()]
    first = idle.get("gap-row").first
    longest = max(length for _, length in known.values())
    assert int(first.get_attribute("data-duration-ns") or 0) == longest
    head.nth(titles.index("Start")).click()
    idle.tab.locator("th[aria-sort=descending]", has_text="Start").wait_for()
    assert int(first.get_attribute("data-start-ns") or 0) == max(start for start, _ in known.values())
    head.nth(titles.index("Start")).click()
    idle.tab.locator("th[aria-sort=ascending]", has_text="Start").wait_for()
    assert int(first.get_attribute("data-start-ns") or 0) == min(start for start, _ in known.values())


def test_the_real_traces_too(session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler]) -> None:
    path = corpus.trace_path("h100_qwen")
    known = len(reading.view(Path(path), "gaps"))
    profiler = visit(session_boards(path.parent), view="idle").ready("idle")
    counts = profiler.get("gap-bar").evaluate_all("(bars) => bars.map((bar) => +bar.dataset.count)")
    assert sum(counts) == known
