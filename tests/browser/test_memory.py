"""Memory: figures on the page are those of Python, an instant and a range are asked for exactly, and blocks lead to their operators."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

import corpus
from browser import asked, reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from browser.test_hostile import NAMES, hostile, unharmed
from browser.test_idle import serious
from browser.test_theme import turn
from build import TraceBuilder

CPU = "cpu_training_workers0"
TRACE = min((corpus.SAMPLES / CPU).glob("worker0*.gz"))
MIB = 2**20
HOST = {"device_type": 0, "device": -1}
#: Colour of the band of phases at a place of the curve.
BAND = """(x) => {
  const canvas = document.querySelector('.memory-chart canvas');
  const ratio = canvas.width / canvas.clientWidth;
  const y = canvas.clientHeight - 20 - 5;
  const [red, green, blue] = canvas.getContext('2d').getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}"""
PARTS = ("live", "growth", "totals", "map")


def steady() -> TraceBuilder:
    """Return two steps of 1 ms of which each keeps 1 MiB; 4 MiB more are allocated by ``aten::mm`` at 200 and freed at 500."""
    trace = TraceBuilder(
        profile_memory=1, with_stack=1, deviceProperties=[{"id": 0, "name": "GPU", "totalGlobalMem": 64 * MIB}]
    )
    for step, at in enumerate((0, 1000)):
        base = (8 + step) * MIB
        trace.step(step, at, at + 990).python(at + 1, at + 980, "train.py(7): train")
        trace.op(at + 100, at + 120, "aten::keep").op(at + 190, at + 220, "aten::mm").op(
            at + 490, at + 510, "aten::sum"
        )
        more = {"reserved": 16 * MIB}
        trace.memory(at + 110, MIB, allocated=base + MIB, addr=0x1000000 + at * MIB, **more)
        trace.memory(at + 200, 4 * MIB, allocated=base + 5 * MIB, addr=0x9000000, **more)
        trace.memory(at + 500, -4 * MIB, allocated=base + MIB, addr=0x9000000, **more)
    trace.memory(1600, 4096, addr=0x10, **HOST)
    return trace.launch(1700, 1710, 1).kernel(1720, 1900, correlation=1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return steady().write(tmp_path_factory.mktemp("memory") / "worker0.1750000000000.pt.trace.json")


@pytest.fixture(scope="module")
def board(path: Path, session_boards: Callable[..., TensorBoard]) -> TensorBoard:
    return session_boards(path.parent)


def rows_of(profiler: Profiler, kind: str = "live") -> dict[str | None, int]:
    """Return bytes by group, once the table that is asked for is there."""
    profiler.wait(f"{kind}-row")
    found = profiler.get(f"{kind}-row").evaluate_all(
        "(rows) => rows.map((row) => [row.dataset.key ?? null, +row.dataset.bytes])"
    )
    return dict(found)


def place(profiler: Profiler, time: float, test_id: str = "memory-curve") -> float:
    """Return where a time is on a picture, in pixels from its left."""
    data = profiler.wait(test_id).evaluate("(box) => ({...box.dataset})")
    left, right, t0, t1 = (float(data[key]) for key in ("left", "right", "t0", "t1"))
    return left + (time - t0) / (t1 - t0) * (right - left)


def live(path: Path, **parameters: Any) -> dict[str | None, int]:
    table = asked.view(path, "memory_peak", by="caller", **parameters)
    return {None if key != key else key: int(size) for key, size in zip(table["caller"], table["bytes"], strict=True)}


def test_figures_are_those_of_the_command_line(board: TensorBoard, path: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory").ready("memory")
    said = reading.plain(profiler.get("memory-verdict").inner_text()).replace("\u202f", "")
    assert said == "cuda:0 peaks at 14.0MiB allocated, at 1.200ms; 16.0MiB were reserved, 25.0% of its 64.0MiB."
    table = asked.view(path, "memory")
    figures = (
        profiler.get("memory-figures")
        .locator(".card")
        .evaluate_all("(all) => all.map((one) => [one.dataset.key, one.querySelector('dd').title])")
    )
    for key, exact in figures:
        shown = reading.plain(exact).removesuffix(" bytes").removesuffix(" byte")
        assert int(shown) == round(table[key].iloc[0]), key
    assert (
        rows_of(profiler) == live(path, device="cuda:0") == {None: 8 * MIB, "aten::keep": 2 * MIB, "aten::mm": 4 * MIB}
    )
    assert profiler.get("live-total").get_attribute("data-bytes") == str(14 * MIB)


def test_devices_are_apart(board: TensorBoard, path: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory").ready("memory")
    profiler.get("memory-device").select_option("cpu")
    profiler.wait_for_address(memdev="cpu")
    profiler.tab.locator("[data-testid=live-total][data-bytes='4096']").wait_for()
    assert rows_of(profiler) == live(path, device="cpu")
    assert "4.00" in profiler.get("memory-verdict").inner_text()


def test_an_instant_is_picked_by_click_and_by_key(
    board: TensorBoard, path: Path, visit: Callable[..., Profiler]
) -> None:
    profiler = visit(board, view="memory").ready("memory")
    profiler.get("memory-curve").click(position={"x": place(profiler, 700_000), "y": 90})
    profiler.tab.locator(f"[data-testid=live-total][data-bytes='{9 * MIB}']").wait_for()
    at = int(profiler.address().get("memat") or profiler.page.wait_for_url("**memat**") or profiler.address()["memat"])
    assert 690_000 < at < 710_000
    assert rows_of(profiler) == live(path, device="cuda:0", at_us=at / 1000) == {None: 8 * MIB, "aten::keep": MIB}
    profiler.tab.locator(".memory-slider").focus()
    profiler.press("ArrowRight", "ArrowRight")
    profiler.wait_for_address(memat="1200000")
    profiler.press("Home")
    profiler.wait_for_address(memat=None)
    profiler.tab.locator(f"[data-testid=live-total][data-bytes='{14 * MIB}']").wait_for()
    profiler.get("memory-to-timeline").click()
    profiler.ready("timeline")
    view = profiler.view()
    assert view["t0"] < 1_200_000 < view["t1"]


def test_a_step_narrows_curve_instant_and_totals(
    board: TensorBoard, path: Path, visit: Callable[..., Profiler]
) -> None:
    profiler = visit(board, view="memory", filter="0@0-990000").ready("memory")
    profiler.tab.locator(f"[data-testid=live-total][data-bytes='{13 * MIB}']").wait_for()
    assert "the peak of the chosen time" in profiler.get("live-total").inner_text()
    assert rows_of(profiler) == live(path, device="cuda:0", at_us=200)
    assert profiler.get("memory-curve").get_attribute("data-t1") == "990000"
    profiler.get("tab-totals").click()
    profiler.wait("total-row")
    expected = asked.view(path, "memory_by_op", by="caller", device="cuda:0", step=0)
    assert profiler.get("total-row").count() == len(expected) == 3


def test_dragging_zooms_to_exactly_that_range(board: TensorBoard, path: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory", mempart="map").ready("memory")
    curve = profiler.get("memory-curve")
    box = curve.bounding_box()
    assert box
    with profiler.page.expect_response(
        lambda answer: "view=memory_timeline" in answer.url and "start_us" in answer.url
    ) as found:
        profiler.page.mouse.move(box["x"] + place(profiler, 150_000), box["y"] + 80)
        profiler.page.mouse.down()
        profiler.page.mouse.move(box["x"] + place(profiler, 600_000), box["y"] + 90, steps=4)
        profiler.page.mouse.up()
    profiler.wait("memory-unzoom")
    profiler.page.wait_for_url("**memzoom**")
    t0, t1 = (int(part) for part in profiler.address()["memzoom"].split("-"))
    assert 140_000 < t0 < 160_000 < 590_000 < t1 < 610_000
    answer = found.value.json()
    expected = asked.view(path, "memory_timeline", device="cuda:0", start_us=t0 / 1000, end_us=t1 / 1000)
    assert answer["data"]["allocated_bytes"] == list(expected["allocated_bytes"]) == [9 * MIB, 13 * MIB, 9 * MIB]
    assert profiler.get("memory-map").get_attribute("data-t0") == str(t0)
    profiler.get("memory-unzoom").click()
    profiler.wait_for_address(memzoom=None)


def test_the_mouse_learns_what_changed(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory").ready("memory")
    profiler.get("memory-curve").hover(position={"x": place(profiler, 300_000), "y": 90})
    change = profiler.wait("memory-change")
    assert "aten::mm" in change.inner_text()
    assert "+4.00MiB" in reading.plain(change.inner_text())
    assert reading.plain(f"{13 * MIB}") in reading.plain(profiler.get("memory-tip").inner_text())


@pytest.mark.parametrize("layout", ["size", "address"])
def test_a_block_of_the_map_leads_to_its_operator(
    board: TensorBoard, path: Path, visit: Callable[..., Profiler], layout: str
) -> None:
    profiler = visit(board, view="memory", mempart="map", memlay=layout).ready("memory")
    map_ = profiler.wait("memory-map")
    # 6 MiB are the whole height: 4 MiB at the bottom by size, between the others by address
    middle = map_.evaluate("(box) => box.clientHeight / 2")
    map_.click(position={"x": place(profiler, 350_000, "memory-map"), "y": middle})
    profiler.wait("block-details")
    profiler.wait_for_select("block:")
    told = profiler.get("drawer").inner_text()
    assert profiler.get("block-details").get_attribute("data-bytes") == str(4 * MIB)
    assert "0x9000000" in told
    assert "aten::mm" in told
    assert "train.py:7" in told
    blocks = asked.view(path, "allocations", op="aten::mm", device="cuda:0")
    assert list(blocks["bytes"]) == [4 * MIB] * 2
    profiler.get("block-to-timeline").click()
    profiler.ready("timeline")
    profiler.wait_for_address(select=f"event:{int(blocks['op_id'].iloc[0])}")
    view = profiler.view()
    assert view["t0"] < 190_000 < 220_000 < view["t1"]


def test_a_group_lists_its_blocks(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory").ready("memory")
    profiler.wait("block-row")
    profiler.tab.locator("[data-testid=live-row][data-key='aten::keep']").click()
    profiler.wait_for_address(memgroup="=aten::keep")
    profiler.wait("memory-group")
    profiler.tab.get_by_text("2 blocks", exact=True).wait_for()
    profiler.get("memory-by").select_option("source")
    profiler.wait_for_address(memby="source", memgroup=None)
    profiler.tab.locator("[data-testid=live-row][data-key='train.py(7): train']").wait_for()
    profiler.get("block-row").first.click()
    assert profiler.wait("block-details").get_attribute("data-bytes") == str(4 * MIB)


def test_phases_are_a_band_below_the_curve(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=CPU, view="memory").ready("memory")
    phases = asked.view(TRACE, "phase_ranges")
    legend = profiler.wait("phase-legend").locator("li").all_inner_texts()
    words = {"data": "Data loading", "forward": "Forward", "backward": "Backward", "optimizer": "Optimizer"}
    assert {text.strip() for text in legend[1:]} == {words[phase] for phase in phases["phase"].unique()}
    steps = asked.view(TRACE, "steps")
    lengths = phases["end_us"] - phases["start_us"]
    for phase in phases["phase"].unique():
        longest = phases.loc[lengths[phases["phase"] == phase].idxmax()]
        middle = 500 * (longest["start_us"] + longest["end_us"])
        x = place(profiler, middle)
        profiler.get("memory-curve").hover(position={"x": x, "y": 120})
        told = profiler.wait("memory-phase").inner_text()
        assert words[phase] in told
        begun = middle / 1000 - steps["start_us"]
        inside = steps[(begun >= 0) & (begun < steps["host_us"])]
        assert ("outside all steps" if inside.empty else f"step {inside['step'].iloc[0]}") in told
        colour = profiler.frame.evaluate(BAND, x)
        swatch = (
            profiler.get("memory-phase").locator(".swatch").evaluate("(one) => getComputedStyle(one).backgroundColor")
        )
        assert colour == swatch, phase


def test_doubts_about_the_figures_are_told_where_there_are_any(
    board: TensorBoard, session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    profiler = visit(board, view="memory").ready("memory")
    assert profiler.tab.locator("[data-key=unmatched_frees], [data-key=jumps]").count() == 0
    trace = steady()
    trace.memory(1650, -MIB, allocated=9 * MIB, addr=0x5, reserved=16 * MIB)
    trace.memory(1660, -MIB, allocated=8 * MIB, addr=0x5, reserved=16 * MIB)
    trace.memory(1670, MIB, allocated=30 * MIB, addr=0x6, reserved=32 * MIB)
    path = trace.write(tmp_path / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="memory").ready("memory")
    table = asked.view(path, "memory")
    for key in ("unmatched_frees", "jumps"):
        expected = int(table[key].iloc[0])
        assert expected > 0, key
        card = profiler.tab.locator(f".card[data-key={key}]")
        assert reading.plain(card.locator("dd").inner_text()) == str(expected)
        assert card.locator("[title]").first.get_attribute("title")


def test_growth_and_churn(board: TensorBoard, path: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory", mempart="growth").ready("memory")
    profiler.wait("memory-step")
    assert profiler.get("memory-step").count() == len(asked.view(path, "memory_steps", device="cuda:0"))
    grows = reading.plain(profiler.wait("growth-row").inner_text()).split()
    assert grows[:3] == ["aten::keep", "1.00MiB", "1.00MiB"]
    churns = reading.plain(profiler.wait("churn-row").inner_text()).split()
    assert churns[:3] == ["aten::mm", "4.00MiB", "1.00"]
    assert profiler.get("growth-row").count() == profiler.get("churn-row").count() == 1


def test_curves_without_blocks_say_why(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler]
) -> None:
    trace = corpus.trace_path("v100_resnet50_workers0")
    profiler = visit(session_boards(trace.parent), view="memory").ready("memory")
    assert "there are curves, and no blocks" in profiler.get("idle-notes").inner_text()
    assert "profile_memory=True" in profiler.wait("no-blocks").inner_text()
    profiler.get("tab-map").click()
    profiler.wait("no-blocks")
    profiler.get("tab-totals").click()
    profiler.wait("total-row")
    assert profiler.get("total-row").count() > 3


def test_real_blocks(session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler]) -> None:
    trace = corpus.trace_path("h100_qwen")
    profiler = visit(session_boards(trace.parent), view="memory", memcurve="category").ready("memory")
    assert rows_of(profiler) == live(Path(trace), device="cuda:0")
    profiler.get("tab-map").click()
    profiler.wait("memory-map")
    blocks = len(asked.view(Path(trace), "allocations", device="cuda:0"))
    assert f"{blocks} blocks" in reading.plain(profiler.wait("part-map").inner_text())


def test_without_memory_events_the_page_is_greyed(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    TraceBuilder().step(0, 0, 100).op(1, 50).write(tmp_path / "worker0.1750000000000.pt.trace.json")
    (tmp_path / "snapshot.pickle").write_bytes(b"\x80\x04N.")
    profiler = visit(session_boards(tmp_path)).ready("overview")
    rail = profiler.get("rail-memory")
    assert rail.get_attribute("aria-disabled") == "true"
    reason = rail.get_attribute("title") or ""
    assert reason.startswith("No memory events recorded: profile_memory=True.")
    assert "snapshot.pickle" in reason
    assert "tools/snapshot_to_trace.py" in reason


def test_an_export_is_shown_without_memory_events(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    base = 1_750_000_000_000_000_000
    trace = TraceBuilder(base_ns=base).step(0, 0, 100).op(1, 90)
    path = trace.write(tmp_path / "worker0.1750000000000.pt.trace.json")
    times, parts = [base // 1000 + 10, base // 1000 + 40], [[0, 4096, *[0] * 7], [0, 4096, 0, 0, 0, 512, *[0] * 3]]
    (tmp_path / "cuda.mem.json").write_text(json.dumps([times, parts]))
    profiler = visit(session_boards(tmp_path), view="memory").ready("memory")
    legend = profiler.wait("memory-legend").inner_text().split("\n")
    exported = asked.view(path, "memory_exported").filter(like="_bytes").drop(columns="allocated_bytes")
    told = [name.removesuffix("_bytes").replace("_", " ") for name in exported.columns[exported.any()]]
    assert set(told) == {one.strip() for one in legend[:-1] if one.strip()}
    assert len(told) == 2
    profiler.get("memory-curve").hover(position={"x": place(profiler, 60_000), "y": 90})
    assert "4608bytes" in reading.plain(profiler.wait("memory-tip").inner_text()).replace(" ", "")


def test_hostile_names_are_text(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    hostile().write(tmp_path / "worker0.1750000000000.pt.trace.json")
    settings = {"viewport": {"width": 700, "height": 450}, "device_scale_factor": 2}
    profiler = visit(session_boards(tmp_path), context=settings, view="memory").ready("memory")
    for part in PARTS:
        profiler.get(f"tab-{part}").click()
        ended = profiler.wait(f"part-{part}").locator("tr[data-testid], [data-testid=memory-map]").first
        ended.wait_for()
        unharmed(profiler, part)
        heights = profiler.tab.locator(".grid tbody tr[data-testid]").evaluate_all(
            "(rows) => rows.map((row) => row.getBoundingClientRect().height)"
        )
        assert max(heights, default=0) <= 26, part
    profiler.get("tab-live").click()
    profiler.wait("block-row")
    shown = profiler.get("live-row").evaluate_all("(rows) => rows.map((row) => row.dataset.key ?? null)")
    assert NAMES[0] in shown
    for row in range(profiler.get("live-row").count()):
        profiler.get("live-row").nth(row).click()
        profiler.wait("memory-group")
        profiler.get("block-row").first.click()
        profiler.wait("block-details")
        unharmed(profiler, f"row {row}")
        profiler.press("Escape")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_nothing_serious_in_any_part(
    samples: TensorBoard, visit: Callable[..., Profiler], theme: str
) -> None:
    profiler = visit(samples, run=CPU, view="memory", memcurve="category").ready("memory")
    turn(profiler, theme)
    found: list[str] = []
    for part in PARTS:
        profiler.get(f"tab-{part}").click()
        profiler.wait(f"part-{part}").locator("tr[data-testid], [data-testid=memory-map]").first.wait_for()
        if part == "live":
            profiler.get("block-row").first.click()
            profiler.wait("block-details")
        results = Axe().run(profiler.frame).response["violations"]
        found += [f"{part}: {one['id']} {one['nodes'][0]['html'][:200]}" for one in results if serious(one)]
    assert found == []
