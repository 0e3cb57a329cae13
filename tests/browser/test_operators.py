"""Operators: every grouping, its totals, the filter and the drawer say what Python says; rows lead to kernels and the timeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
GROUPINGS = (
    "name",
    "shapes",
    "dtype",
    "stack",
    "module",
    "name,module",
    "thread",
    "name,thread",
    "phase",
    "name,phase",
)


@pytest.fixture
def operators(shown: Callable[..., Profiler]) -> Profiler:
    """Return the page of operators of the GPU sample."""
    return shown(run=GPU, view="operators").ready("operators")


def footer(profiler: Profiler) -> dict[str, str]:
    """Return the totals row by column title, times exact."""
    heads = profiler.tab.locator("[data-testid=page-operators] .grid thead th").all_inner_texts()
    exact = profiler.tab.locator("[data-testid=page-operators] .grid tfoot td").evaluate_all(
        "(cells) => cells.map((cell) => cell.querySelector('[title]')?.getAttribute('title') ?? cell.innerText)"
    )
    titles = [head.split(",")[0].strip() for head in heads]
    return {title: reading.plain(text).replace(" ", "") for title, text in zip(titles, exact, strict=True)}


def microseconds(frame: Any, column: str) -> str:
    """Return the exact sum of a column, as the page prints it."""
    return f"{sum(asked.nanoseconds(frame, column)) / 1000:.3f}µs"


def cells(profiler: Profiler, title: str) -> list[str]:
    """Return what a column shows on hover, in the rows in sight."""
    heads = profiler.tab.locator("[data-testid=page-operators] .grid thead th").all_inner_texts()
    place = next(i for i, head in enumerate(heads) if head.split(",")[0].strip() == title)
    return profiler.get("operator-row").evaluate_all(
        "(rows, place) => rows.map((row) => row.cells[place].title || row.cells[place].innerText)", place
    )


def names(profiler: Profiler) -> list[str]:
    return [
        text.removesuffix("Copy").strip()
        for text in profiler.get("operator-row").locator("td:first-child").all_inner_texts()
    ]


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_and_totals_are_those_of_python(operators: Profiler, by: str) -> None:
    expected = asked.view(TRACE, "operators", by=by)
    operators.get("group-by").select_option(by)
    operators.wait_for_address(ops=None if by == "name" else by)
    count = f"{len(expected)} row{'' if len(expected) == 1 else 's'}"
    operators.tab.locator(".aside", has_text=count).wait_for()
    total = footer(operators)
    assert total["Calls"] == str(expected["calls"].sum())
    assert total["Device self"] == microseconds(expected, "device_self_us")
    assert total["Host self"] == microseconds(expected, "host_self_us")
    first = [reading.plain(text).replace(" ", "") for text in cells(operators, "Device self")]
    shown = [f"{value / 1000:.3f}µs" for value in asked.nanoseconds(expected, "device_self_us")]
    assert first == shown[: len(first)]


def test_the_headline_is_the_total(operators: Profiler) -> None:
    expected = asked.view(TRACE, "operators")
    headline = operators.tab.locator("[data-testid=page-operators] .verdict")
    assert reading.plain(headline.inner_text()).startswith(f"{expected['calls'].sum()} operator calls")
    exact = [
        reading.plain(text).replace(" ", "")
        for text in headline.locator("b[title]").evaluate_all("(all) => all.map((one) => one.title)")
    ]
    assert exact[:2] == [microseconds(expected, "host_self_us"), microseconds(expected, "device_self_us")]


def test_words_wanted_and_refused_and_the_order(operators: Profiler) -> None:
    expected = asked.view(TRACE, "operators")
    kept = expected[
        expected["name"].astype(str).str.contains("aten::") & ~expected["name"].astype(str).str.contains("mm")
    ]
    operators.get("search-box").fill("aten:: -mm")
    operators.wait_for_address(operators="aten:: -mm")
    assert names(operators) == kept["name"].tolist()[: len(names(operators))]
    assert footer(operators)["Calls"] == str(kept["calls"].sum())
    operators.tab.locator("th button.sort", has_text="Calls").click()
    operators.wait_for_address(opsort="-calls")
    most = kept.sort_values("calls", ascending=False, kind="stable")["name"].tolist()
    assert names(operators)[0] == most[0]


def test_a_row_tells_its_calls_kernels_and_shapes(operators: Profiler) -> None:
    name = "aten::mm"
    operators.get("operator-row").filter(has_text=name).first.click()
    operators.wait_for_select("operator:name:")
    drawer = operators.wait("drawer")
    calls = drawer.locator("[data-testid=operator-calls][data-count]")
    calls.wait_for()
    row = asked.view(TRACE, "operators").set_index("name").loc[name]
    assert calls.get_attribute("data-count") == str(row["calls"])
    kernels = asked.view(TRACE, "kernels", by="name,op")
    part = drawer.locator("[data-testid=part-kernels-name-op][data-count]")
    part.wait_for()
    assert part.get_attribute("data-count") == str((kernels["op"] == name).sum())
    shapes = asked.view(TRACE, "operators", by="shapes")
    part = drawer.locator("[data-testid=part-operators-shapes][data-count]")
    part.wait_for()
    assert part.get_attribute("data-count") == str((shapes["name"] == name).sum())
    figures = drawer.locator("dl.facts").first.evaluate(
        "(list) => [...list.querySelectorAll('dd')].map((one) => one.title).join('|')"
    )
    for column in ("host_self_us", "device_self_us", "launch_us"):
        exact = f"{asked.nanoseconds(row.to_frame().T, column)[0] / 1000:.3f}µs"
        assert exact in reading.plain(figures).replace(" ", ""), column


def test_a_kernel_of_the_drawer_opens_and_the_timeline_finds_the_operator(operators: Profiler) -> None:
    operators.get("operator-row").filter(has_text="aten::addmm").first.click()
    drawer = operators.wait("drawer")
    drawer.get_by_role("button", name="Show in timeline").click()
    operators.ready("timeline")
    operators.tab.locator("[data-testid=search-count][data-total]").wait_for()
    total = reading.timeline(TRACE).search("aten::addmm", exact=True)["total"]
    assert operators.get("search-count").get_attribute("data-total") == str(total)
    operators.page.go_back()
    operators.ready("operators")
    operators.get("operator-row").filter(has_text="aten::addmm").first.click()
    operators.tab.locator("[data-testid=part-kernels-name-op] [data-testid=part-row]").first.click()
    operators.wait_for_select("kernel:name,op:")
    operators.get("call-row").first.wait_for()


def test_calls_that_are_not_shown_are_told(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder()
    for at in range(2100):
        trace.op(10 * at, 10 * at + 5, "aten::relu")
    trace.op(30_000, 30_010, "aten::mm").write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="operators").ready("operators")
    profiler.get("operator-row").filter(has_text="aten::relu").click()
    cut = profiler.wait("operator-calls-cut")
    assert reading.plain(cut.inner_text()) == "Of the first 2000 of 2100 events of this name, by time."
    assert profiler.get("operator-calls").get_attribute("data-count") == "2000"
    profiler.get("operator-row").filter(has_text="aten::mm").click()
    profiler.tab.locator("[data-testid=operator-calls][data-count='1']").wait_for()
    assert profiler.get("operator-calls-cut").count() == 0


def test_only_this_and_export(operators: Profiler) -> None:
    operators.get("operator-row").filter(has_text="aten::addmm").first.click()
    operators.wait("drawer").get_by_role("button", name="Only this").click()
    operators.wait_for_address(operators="aten::addmm")
    with operators.page.expect_download() as waiting:
        operators.get("export-csv").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    expected = asked.view(TRACE, "operators")
    assert lines[0].split(",") == list(expected.columns)
    assert len(lines) - 1 == expected["name"].astype(str).str.contains("aten::addmm").sum()


@pytest.mark.parametrize("within", ["start", "launch", "run"])
@pytest.mark.parametrize("view", ["operators", "kernels", "modules"])
def test_what_belongs_to_a_range(shown: Callable[..., Profiler], view: str, within: str) -> None:
    start, end = 6_000_000, 9_000_000
    profiler = shown(run=GPU, view=view, filter=f"{start}-{end}", within=within).ready(view)
    profiler.wait("within")
    column = "total_us" if view == "kernels" else "device_self_us"
    expected = asked.view(TRACE, view, start_us=start / 1000, end_us=end / 1000, within=within)
    titles = profiler.tab.locator(".verdict b[title]").evaluate_all("(all) => all.map((one) => one.title)")
    assert microseconds(expected, column) in [reading.plain(text).replace(" ", "") for text in titles]


def test_work_of_no_operator_is_a_row(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder().step(1, 0, 1000).op(10, 100, "aten::relu").launch(20, 30, 1).kernel(40, 90, correlation=1)
    trace.kernel(200, 500, name="orphan", correlation=99)
    trace.write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="operators").ready("operators")
    row = profiler.tab.locator("[data-testid=operator-row][data-owned=false]")
    assert "unattributed device work" in row.inner_text()
    assert "85.7" in reading.plain(profiler.tab.locator(".verdict").inner_text())
    row.click()
    assert "was not recorded" in profiler.wait("drawer").inner_text()
    profiler.get("group-by").select_option("shapes")
    note = profiler.wait("table-note")
    assert "record_shapes=True" in note.inner_text()
