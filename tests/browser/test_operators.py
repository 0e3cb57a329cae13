"""Operators: every grouping, its totals, the filter and the drawer say what Python says; rows lead to kernels and the timeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import corpus
from browser import asked, reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from build import TraceBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
GROUPINGS = (
    "name",
    "shapes",
    "dtype",
    "stack",
    "source",
    "name,source",
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


def exact(text: str) -> int:
    """Return the nanoseconds of what a figure says on hover."""
    return round(float(reading.plain(text).replace(" ", "").removesuffix("µs")) * 1000)


def part(profiler: Profiler, name: str) -> Locator:
    """Return a table of the drawer, once it is there."""
    found = profiler.get("drawer").locator(f"[data-testid=part-{name}][data-count]")
    found.wait_for()
    return found


def column_of(part: Locator, place: int) -> list[int]:
    """Return a column of times of a table of the drawer; sorts it, so that what is not drawn would be the least."""
    texts = part.get_by_test_id("part-row").evaluate_all(
        "(rows, place) => rows.map((row) => row.cells[place].title)", place
    )
    return [exact(text) for text in texts]


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
    assert part(operators, "kernels").get_attribute("data-count") == str((kernels["op"] == name).sum())
    shapes = asked.view(TRACE, "operators", by="shapes")
    found = part(operators, "operators-shapes")
    # the sample has no shapes
    assert found.get_attribute("data-count") == str((shapes[shapes["name"] == name]["shapes"].notna()).sum()) == "0"
    figures = drawer.get_by_test_id("operator-figures").evaluate(
        "(list) => [...list.querySelectorAll('dd')].map((one) => one.title).join('|')"
    )
    for column in ("host_self_us", "device_self_us", "launch_us"):
        told = f"{asked.nanoseconds(row.to_frame().T, column)[0] / 1000:.3f}µs"
        assert told in reading.plain(figures).replace(" ", ""), column


def widest(frame: Any, few: int) -> Any:
    """Return the rows of operators with most device work of their own."""
    return frame[frame["owned"] & (frame["device_self_us"] > 0)].head(few)


def agrees(profiler: Profiler, path: Path, by: str, row: Any) -> None:
    """Check that every part of the drawer is about one row of the operators."""
    op = {"op_like": int(row["longest_id"]), "alike": by}
    device = asked.nanoseconds(row.to_frame().T, "device_self_us")[0]
    kernels = part(profiler, "kernels")
    expected = asked.view(path, "kernels", by="name", **op)
    assert kernels.get_attribute("data-count") == str(len(expected))
    listed = column_of(kernels, 2)
    assert listed == sorted(asked.nanoseconds(expected, "total_us"), reverse=True)[: len(listed)]
    rest = kernels.get_by_test_id("part-kernels-rest")
    unlisted = exact(rest.get_attribute("title") or "") if rest.count() else 0
    assert sum(asked.nanoseconds(expected, "total_us")) + unlisted == device
    if len(listed) == len(expected):
        assert sum(listed) + unlisted == device
    if "name" in row.index:
        calls = profiler.tab.locator("[data-testid=operator-calls][data-count]")
        calls.wait_for()
        assert calls.get_attribute("data-count") == str(min(2000, row["calls"]))
    inner = {"shapes", "stack"} - {by} if "name" in row.index else {"name", "source"} - {by}
    for one in sorted(inner):
        table = asked.view(path, "operators", by=one, **op)
        own = table[(table["calls"] > 0) | (table["device_self_us"] > 0)]
        found = part(profiler, f"operators-{one}")
        # one row without a value is no table
        count = len(own) if own[one].notna().any() else 0
        assert found.get_attribute("data-count") == str(count), one
        assert sum(asked.nanoseconds(own, "device_self_us")) == device, one


@pytest.mark.parametrize(
    "by", ["name", "shapes", "dtype", "stack", "source", "module", "name,module", "thread", "phase"]
)
def test_all_of_the_drawer_is_of_the_row(shown: Callable[..., Profiler], by: str) -> None:
    keys = {} if by == "name" else {"ops": by}
    operators = shown(run=GPU, view="operators", **keys).ready("operators")
    expected = asked.view(TRACE, "operators", by=by)
    operators.tab.locator(".aside", has_text=f"{len(expected)} row").wait_for()
    for index, row in widest(expected, 3).iterrows():
        operators.get("operator-row").nth(int(index)).click()
        operators.wait("operator-details")
        assert (
            exact(cells(operators, "Device self")[int(index)])
            == asked.nanoseconds(row.to_frame().T, "device_self_us")[0]
        )
        operators.wait_for_select(f"operator:{by}:")
        agrees(operators, TRACE, by, row)
        operators.press("Escape")
        operators.get("drawer").wait_for(state="detached")


@pytest.mark.parametrize("by", ["shapes", "dtype", "phase"])
def test_all_of_the_drawer_is_of_the_row_of_a_real_trace(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], by: str
) -> None:
    path = corpus.trace_path("v100_resnet50_workers0")
    profiler = visit(session_boards(path.parent), view="operators", ops=by).ready("operators")
    expected = asked.view(path, "operators", by=by)
    for index, row in widest(expected, 4).iterrows():
        profiler.get("operator-row").nth(int(index)).click()
        profiler.wait("operator-details")
        agrees(profiler, path, by, row)
        profiler.press("Escape")
        profiler.get("drawer").wait_for(state="detached")


def test_operations_that_are_not_known_say_why(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler]
) -> None:
    path = corpus.trace_path("v100_resnet50_workers0")
    window = {"viewport": {"width": 1400, "height": 900}}
    profiler = visit(session_boards(path.parent), context=window, view="operators", ops="shapes").ready("operators")
    page = profiler.get("page-operators").bounding_box()
    for title in ("Tensor cores", "TFLOP/s"):
        head = profiler.tab.locator("[data-testid=page-operators] th", has_text=title).bounding_box()
        assert head
        assert page
        assert head["x"] + head["width"] <= page["x"] + page["width"], title
    profiler.get("operator-row").nth(2).click()
    assert "no formula for this operator" in profiler.wait("operator-flops").inner_text()


def test_an_operator_of_a_module_opens_within_it(shown: Callable[..., Profiler]) -> None:
    operators = shown(run=GPU, view="operators", ops="module").ready("operators")
    table = asked.view(TRACE, "operators", by="module")
    row = int(np.flatnonzero(table["module"].notna())[0])
    operators.get("operator-row").nth(row).click()
    part(operators, "operators-name").get_by_test_id("part-row").first.click()
    operators.wait_for_select("operator:name,module:")
    assert "Module" in operators.wait("operator-figures").inner_text()


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
    part(operators, "kernels").get_by_test_id("part-row").first.click()
    operators.wait_for_select("kernel:name:")
    operators.get("call-row").first.wait_for()
    # the calls of this row, and not all of the kernel
    key = json.loads(operators.address()["select"].removeprefix("kernel:name:"))
    alike = {"like": key["like"], "op_like": key["op_like"], "alike": key["alike"]}
    calls = asked.view(TRACE, "kernel_calls", **alike)
    assert set(calls["op"]) == {"aten::addmm"}
    assert f"{len(calls)} call" in reading.plain(operators.get("drawer").inner_text())


def test_calls_that_are_not_shown_are_told(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder()
    for at in range(2100):
        trace.op(10 * at, 10 * at + 5, "aten::relu")
    trace.op(30_000, 30_010, "aten::mm").write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="operators").ready("operators")
    profiler.get("operator-row").filter(has_text="aten::relu").click()
    cut = profiler.wait("operator-calls-note")
    assert cut.inner_text() == "100 shorter calls are left out."
    assert profiler.get("operator-calls").get_attribute("data-count") == "2000"
    profiler.get("operator-row").filter(has_text="aten::mm").click()
    profiler.tab.locator("[data-testid=operator-calls][data-count='1']").wait_for()
    assert profiler.get("operator-calls-note").count() == 0


def test_an_operator_without_a_name_is_an_operator(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder().op(10, 100, "").launch(20, 30, 1).kernel(40, 90, correlation=1).op(110, 120, "aten::mm")
    trace.write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="operators").ready("operators")
    assert names(profiler)[0] == "(no name)"
    profiler.get("operator-row").first.click()
    assert profiler.wait("operator-details").locator("h2").inner_text() == "(no name)"
    assert part(profiler, "kernels").get_attribute("data-count") == "1"


def test_work_that_was_launched_before_a_range_has_a_way_out(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder().kernel(200, 500, name="earlier", correlation=99)
    trace.op(210, 300, "aten::mm").launch(220, 230, 1).kernel(900, 950, correlation=1)
    path = trace.write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="operators", filter="0-400000").ready("operators")
    assert "100.0" in reading.plain(profiler.tab.locator(".verdict").inner_text())
    note = profiler.wait("note-launched")
    assert "within=launch" not in profiler.get("table-note").first.inner_text()
    note.click()
    profiler.wait_for_address(within="launch")
    profiler.get("note-launched").wait_for(state="detached")
    expected = asked.view(path, "operators", start_us=0.0, end_us=400.0, within="launch")
    titles = profiler.tab.locator(".verdict b[title]").evaluate_all("(all) => all.map((one) => one.title)")
    assert microseconds(expected, "device_self_us") in [reading.plain(text).replace(" ", "") for text in titles]


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
