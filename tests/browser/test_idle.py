"""GPU idle: bars, rows and figures are the gaps that Python finds, and each leads to its place in the timeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import corpus
from browser import asked, reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from browser.test_hostile import hostile, unharmed
from browser.test_theme import turn
from build import TraceBuilder

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
    assert int(idle.get("idle-total").get_attribute("data-total-ns") or 0) == total
    assert f"in {len(known)} gaps" in reading.plain(idle.tab.locator(".headline").inner_text())
    assert reading.plain(idle.get("tree-total").get_attribute("title") or "") == f"{total / 1000:.3f}µs"


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
    assert hit["kind"].startswith("idle ")
    assert (hit["id"], hit["merged"]) == (gap, False)
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
    columns = ["next_name", "launch_name", "previous_name", "ended_by", "cause", "op", "module", "source", "event_name"]
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
    head = idle.tab.locator(".grid:not(.tree) thead th button.sort")
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


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace whose gaps have causes that can be told by hand."""
    return asked.story().write(tmp_path_factory.mktemp("told") / "worker0.1750000000000.pt.trace.json")


@pytest.fixture(scope="module")
def board(told: Path, session_boards: Callable[..., TensorBoard]) -> TensorBoard:
    return session_boards(told.parent)


def tree_rows(profiler: Profiler) -> list[tuple[str, int, int, int]]:
    """Return key, time, count and longest of the rows of the tree that are in sight."""
    return [
        (key, int(total), int(count), int(longest))
        for key, total, count, longest in profiler.get("tree-row").evaluate_all(
            "(rows) => rows.map((row) => [row.dataset.key, row.dataset.totalNs, row.dataset.count, row.dataset.longestNs])"
        )
    ]


def test_causes_are_what_the_command_line_says(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="idle").ready("idle")
    causes = asked.view(told, "idle")
    sums = list(zip(causes["cause"], asked.nanoseconds(causes, "total_us"), strict=True))
    legend = profiler.get("cause").evaluate_all("(all) => all.map((one) => [one.dataset.cause, +one.dataset.totalNs])")
    assert [tuple(one) for one in legend] == sums
    assert reading.plain(profiler.get("cause").first.inner_text()).replace("\xa0", " ") == "Data loading 298µs 52.6%"
    assert "a step" in profiler.tab.locator(".headline").inner_text()
    longest = asked.nanoseconds(causes, "longest_us")
    expected = [
        (f'{{"cause":"{cause}"}}', total, count, most)
        for (cause, total), count, most in zip(sums, causes["count"], longest, strict=True)
    ]
    assert tree_rows(profiler) == expected
    notes = profiler.get("idle-notes").inner_text()
    assert all(note in notes for note in causes.attrs["notes"])


@pytest.mark.parametrize("order", ["cause", "source"])
def test_rows_of_the_tree_add_up(board: TensorBoard, told: Path, visit: Callable[..., Profiler], order: str) -> None:
    profiler = visit(board, view="idle", tree=order).ready("idle")
    profiler.get("tree-row").first.wait_for()
    profiler.tab.get_by_role("treegrid").focus()
    for _ in range(40):  # every row is opened on the way down
        profiler.press("ArrowDown", "ArrowRight")
    rows = profiler.get("tree-row").evaluate_all(
        "(rows) => rows.map((row) => [+row.dataset.depth, +row.dataset.totalNs, row.getAttribute('aria-expanded')])"
    )
    leaves = asked.view(told, "idle_tree")
    closed = [total for depth, total, expanded in rows if expanded is None]
    assert sorted(closed) == sorted(asked.nanoseconds(leaves, "total_us"))
    for at, (depth, total, expanded) in enumerate(rows):
        if expanded is None:
            continue
        inside = []
        for below, part, _ in rows[at + 1 :]:
            if below <= depth:
                break
            if below == depth + 1:
                inside.append(part)
        assert sum(inside) == total


def test_a_row_of_the_tree_lists_its_gaps(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="idle").ready("idle")
    profiler.get("tree-row").first.wait_for()
    profiler.tab.get_by_role("treegrid").focus()
    profiler.press("ArrowDown", "ArrowDown", "Enter")
    profiler.wait_for_address(idle='{"cause":"synchronization"}')
    profiler.tab.locator("[data-testid=gap-row][data-part-ns]").first.wait_for()
    parts = profiler.get("gap-row").evaluate_all("(rows) => rows.map((row) => [+row.dataset.gap, +row.dataset.partNs])")
    assert sorted(map(tuple, parts)) == [(1, 125_000), (3, 125_000)]
    segments = asked.view(told, "idle_segments", cause="synchronization")
    assert sum(part for _, part in parts) == sum(asked.nanoseconds(segments, "duration_us"))
    again = visit(board, view="idle", idle='{"cause":"host work","op":"aten::item"}').ready("idle")
    chosen = again.tab.locator("[data-testid=tree-row][aria-selected=true]")
    chosen.wait_for()
    assert "aten::item" in chosen.inner_text()
    again.get("idle-chip").click()
    again.wait_for_address(idle=None)


def test_a_gap_tells_its_story(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="idle").ready("idle")
    row = profiler.tab.locator("[data-testid=gap-row][data-gap='1']")
    assert "blocked in cudaStreamSynchronize inside aten::item, called from train.py:81" in row.inner_text()
    row.click()
    profiler.ready("timeline")
    story = profiler.wait("gap-story")
    assert story.inner_text().replace("\u202f", " ") == (
        "142 µs: the host was blocked in cudaStreamSynchronize inside aten::item, called from train.py:81 (main), "
        "for 88.0 % of it; the next kernel was launched 133 µs into the gap by cudaLaunchKernel and began 9.00 µs later."
    )
    segments = asked.view(told, "idle_segments", gap=1)
    profiler.get("segment-row").first.wait_for()
    shown = profiler.get("segment-row").evaluate_all("(rows) => rows.map((row) => row.dataset.cause)")
    assert shown == list(segments["cause"])
    assert profiler.get("segment-bar").locator("span").count() == len(segments)
    story.get_by_role("button", name="cudaStreamSynchronize").click()
    profiler.wait_for_address(select=f"event:{int(segments['event_id'].iloc[0])}")


def test_launches_and_blocking_calls(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="idle", part="launches")
    summary = asked.view(told, "launch_summary")
    card = profiler.wait("launch-summary").locator("[data-key=launch_bound_pct] dd")
    assert card.get_attribute("title") == f"{summary['launch_bound_pct'].iloc[0]} %"
    profiler.get("launch-row").first.wait_for()
    assert profiler.get("launch-row").count() == len(asked.view(told, "launches", by="op"))
    profiler.get("launches-by").select_option("name")
    profiler.wait_for_address(launches="name")
    profiler.get("tab-launches").focus()
    profiler.press("ArrowRight")
    profiler.wait_for_address(part="blocking")
    profiler.wait("held-group").click()
    profiler.wait_for_address(reason=".item()")
    calls = asked.view(told, "syncs")
    assert profiler.get("held-call").count() == len(calls)
    profiler.get("held-call").first.click()
    profiler.ready("timeline")
    profiler.wait_for_select("event:")
    assert int(profiler.address()["select"].split(":")[1]) in set(calls["id"])


def test_input_and_critical_path(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="idle", part="input")
    profiler.wait("input-row")
    assert profiler.get("input-row").count() == len(asked.view(told, "input_pipeline"))
    profiler.get("tab-path").click()
    profiler.wait("path-kind")
    path = asked.view(told, "critical_path")
    shown = profiler.get("path-kind").evaluate_all(
        "(all) => all.map((one) => [one.dataset.kind, +one.dataset.totalNs])"
    )
    assert [tuple(one) for one in shown] == list(zip(path["kind"], asked.nanoseconds(path, "total_us"), strict=True))
    assert "A step takes 1.00 ms" in profiler.get("path-verdict").inner_text().replace("\u202f", " ")
    profiler.get("path-step").select_option("1")
    profiler.wait("filter-chip")
    profiler.get("path-kind").filter(has_text="Synchronization").click()
    profiler.wait_for_address(kind="synchronization")
    profiler.wait("path-event").click()
    profiler.ready("timeline")
    profiler.wait_for_select("event:")
    profiler.wait("rail-idle").click()
    profiler.wait("show-path").click()
    profiler.ready("timeline")
    profiler.wait_for_address(path="1")


def test_without_steps_the_path_is_that_of_the_recording(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder().op(0, 100, "aten::mm").launch(20, 30, 1).kernel(40, 900, correlation=1)
    trace.write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="idle", part="path")
    profiler.wait("path-kind").first.click()
    profiler.wait("path-event")
    heads = profiler.tab.locator(".grid thead th").all_inner_texts()
    assert sum(head.startswith("Recording") for head in heads) == 2
    assert not any(head.startswith("A step") for head in heads)


def test_the_page_of_a_tiny_window_and_of_hostile_names(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    hostile().write(tmp_path / "worker0.1750000000000.pt.trace.json")
    settings = {"viewport": {"width": 700, "height": 450}, "device_scale_factor": 2}
    profiler = visit(session_boards(tmp_path), context=settings, view="idle").ready("idle")
    for part in ("causes", "launches", "blocking", "input", "path"):
        profiler.get(f"tab-{part}").click()
        profiler.wait(f"part-{part}").locator("tr[data-testid], .grid-empty").first.wait_for()
        unharmed(profiler, part)
        heights = profiler.tab.locator(".grid tbody tr[data-testid]").evaluate_all(
            "(rows) => rows.map((row) => row.getBoundingClientRect().height)"
        )
        assert max(heights, default=0) <= 26, part
    profiler.get("tab-causes").click()
    for row in range(profiler.get("gap-row").count()):
        profiler.get("tab-causes").wait_for()
        profiler.get("gap-row").nth(row).click()
        profiler.wait("gap-story")
        unharmed(profiler, f"gap {row}")
        profiler.page.go_back()
        profiler.ready("idle")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_nothing_serious_in_any_part(board: TensorBoard, visit: Callable[..., Profiler], theme: str) -> None:
    profiler = visit(board, view="idle").ready("idle")
    turn(profiler, theme)
    found: list[str] = []
    for part in ("causes", "launches", "blocking", "input", "path"):
        profiler.get(f"tab-{part}").click()
        profiler.wait(f"part-{part}").locator("tr[data-testid]").first.wait_for()
        if part == "causes":
            profiler.get("twist").first.click()
            profiler.get("cause").first.click()
        if part == "path":
            profiler.get("path-kind").first.click()
            profiler.wait("path-event")
        results = Axe().run(profiler.frame).response["violations"]
        found += [f"{part}: {one['id']} {one['nodes'][0]['html'][:200]}" for one in results if serious(one)]
    assert found == []


def serious(finding: dict[str, object]) -> bool:
    return finding["impact"] in ("serious", "critical")
