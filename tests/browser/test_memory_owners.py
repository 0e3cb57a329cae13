"""Memory: what is named for whom, which device is shown, and what is in sight beside the drawer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from browser import asked, reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from browser.test_memory import HOST, MIB, place, steady
from build import TraceBuilder


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return steady().write(tmp_path_factory.mktemp("memory") / "worker0.1750000000000.pt.trace.json")


@pytest.fixture(scope="module")
def board(path: Path, session_boards: Callable[..., TensorBoard]) -> TensorBoard:
    return session_boards(path.parent)


def test_a_free_is_told_by_who_had_allocated_the_block(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory").ready("memory")
    profiler.get("memory-curve").hover(position={"x": place(profiler, 700_000), "y": 90})
    change = profiler.wait("memory-change").inner_text()
    # aten::sum ran when the block of aten::mm was freed
    assert "-4.00MiB" in reading.plain(change)
    assert "aten::mm" in change
    assert "aten::sum" not in change
    assert "by who had allocated it" in change


def test_what_stays_comes_before_what_happened_to_run(
    board: TensorBoard, path: Path, visit: Callable[..., Profiler]
) -> None:
    profiler = visit(board, view="memory", mempart="totals").ready("memory")
    profiler.wait("total-row")
    heads = [text.strip() for text in profiler.tab.locator("#memory-panel thead th").all_inner_texts()]
    assert heads[:2] == ["Calling operator", "Left at the end"]
    left = asked.view(path, "memory_by_op", by="caller", device="cuda:0").set_index("caller")["left_bytes"]
    shown = profiler.get("total-row").evaluate_all(
        "(rows) => rows.map((row) => [row.cells[0].innerText, +row.cells[1].title])"
    )
    assert dict(shown) == left.astype(int).to_dict()
    help_ = profiler.tab.locator("#memory-panel th", has_text="Net while it ran").locator("[title]")
    assert "whoever had allocated the block" in (help_.get_attribute("title") or "")
    options = profiler.get("memory-by").locator("option").all_inner_texts()
    assert options[:2] == ["Calling operator", "Operator"]


def test_the_fullest_accelerator_is_shown_first(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = steady()
    trace.memory(1650, 40 * MIB, allocated=40 * MIB, addr=0x7, device=1)
    trace.memory(1660, 400 * MIB, addr=0x8, **HOST)
    trace.write(tmp_path / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="memory").ready("memory")
    assert profiler.get("memory-device").input_value() == "cuda:1"


def test_capacity_stays_beside_categories(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, view="memory").ready("memory")
    profiler.tab.get_by_role("button", name="Categories").click()
    profiler.wait_for_address(memcurve="category")
    profiler.get("memory-capacity").click()
    profiler.wait_for_address(memcap="1")
    assert profiler.get("memory-capacity").get_attribute("aria-pressed") == "true"


def test_bytes_below_0_are_explained(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder(profile_memory=1).op(0, 100, "aten::relu").memory(50, -64, addr=0x10, **HOST)
    trace.write(tmp_path / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="memory").ready("memory")
    said = reading.plain(profiler.get("memory-verdict").inner_text())
    assert "only memory from before the recording was freed, 64B of it" in said
    peak = profiler.tab.locator(".card[data-key=peak_allocated_bytes] dd")
    assert "is not known" in (peak.get_attribute("title") or "")


def test_the_drawer_leaves_the_block_in_sight(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    for width in (1400, 900):
        window = {"viewport": {"width": width, "height": 900}}
        profiler = visit(board, context=window, view="memory").ready("memory")
        profiler.wait("block-row")
        profiler.get("block-row").first.click()
        profiler.wait("block-details")
        row = profiler.tab.locator("[data-testid=block-row].current")
        row.wait_for()
        seen = """(row) => {
          const { top, bottom } = row.getBoundingClientRect();
          const end = document.querySelector('.drawer').getBoundingClientRect().top;
          return top >= document.querySelector('.page').getBoundingClientRect().top && bottom <= end;
        }"""
        profiler.frame.wait_for_function(
            f"() => ({seen})(document.querySelector('[data-testid=block-row].current'))", timeout=5000
        )
