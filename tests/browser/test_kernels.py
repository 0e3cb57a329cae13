"""Kernels: every grouping, the filter, the order and the totals are those of Python; a call leads to the timeline."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import corpus
from browser import reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from build import TraceBuilder

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
GROUPINGS = (
    "name",
    "op",
    "name,op",
    "config",
    "stream",
    "step",
    "category",
    "module",
    "name,module",
    "family",
    "source",
    "name,source",
)


@pytest.fixture
def kernels(shown: Callable[..., Profiler]) -> Profiler:
    """Return the page of kernels of the GPU sample."""
    return shown(run=GPU, view="kernels").ready("kernels")


def footer(profiler: Profiler) -> dict[str, str]:
    """Return the totals row by column title, times exact."""
    heads = profiler.tab.locator(".grid thead th").all_inner_texts()
    cells = profiler.tab.locator(".grid tfoot td")
    exact = cells.evaluate_all(
        "(cells) => cells.map((cell) => cell.querySelector('[title]')?.getAttribute('title') ?? cell.innerText)"
    )
    titles = [head.split(",")[0].strip() for head in heads]
    return {title: reading.plain(text).replace(" ", "") for title, text in zip(titles, exact, strict=True)}


def cells(profiler: Profiler, title: str) -> list[str]:
    """Return the texts of a column."""
    heads = profiler.tab.locator(".grid thead th").all_inner_texts()
    place = next(i for i, head in enumerate(heads) if head.split(",")[0].strip() == title)
    return profiler.get("kernel-row").evaluate_all(
        "(rows, place) => rows.map((row) => row.cells[place].innerText)", place
    )


def names(profiler: Profiler) -> list[str]:
    """Return the names of the rows in sight, in full."""
    return (
        profiler.get("kernel-row")
        .locator("td:first-child .name")
        .evaluate_all("(cells) => cells.map((cell) => cell.title)")
    )


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_and_totals_are_those_of_python(kernels: Profiler, by: str) -> None:
    expected = reading.view(TRACE, "kernels", by=by).sort_values("total_us", ascending=False, kind="stable")
    kernels.get("group-by").select_option(by)
    kernels.wait_for_address(by=None if by == "name" else by)
    count = f"{len(expected)} row{'' if len(expected) == 1 else 's'}"
    kernels.tab.locator(".aside", has_text=count).wait_for()
    assert kernels.get("kernel-row").count() == len(expected)
    total = footer(kernels)
    assert total["Calls"] == str(expected["calls"].sum())
    exact = sum(reading.nanoseconds(value) for value in expected["total_us"])
    assert total["Total"] == f"{exact / 1000:.3f}µs"
    assert total["Share"] == "100.0%"
    calls = cells(kernels, "Calls")
    assert [int(reading.plain(text)) for text in calls] == expected["calls"].tolist()


def test_a_source_line_tells_its_kernels(shown: Callable[..., Profiler]) -> None:
    kernels = shown(run=GPU, view="kernels", by="source").ready("kernels")
    both = reading.view(TRACE, "kernels", by="name,source")
    lines = reading.view(TRACE, "kernels", by="source")
    row = int(lines["source"].notna().to_numpy().argmax())
    line = str(lines["source"].iloc[row])
    kernels.get("kernel-row").nth(row).click()
    kernels.wait_for_select("kernel:source:")
    details = kernels.wait("line-details")
    found = details.locator("[data-testid=part-kernels][data-count]")
    found.wait_for()
    assert found.get_attribute("data-count") == str((both["source"] == line).sum())
    file, number = line.partition(":")[0].rstrip(")").split("(")
    assert f"{file}:{number}" in kernels.get("source-place").inner_text()
    assert details.get_by_role("link", name="Open in VS Code").count() == int(file.startswith("/"))
    found.get_by_test_id("part-row").first.click()
    kernels.wait_for_select("kernel:name,source:")
    name = str(both[both["source"] == line]["name"].iloc[0])
    lines = kernels.tab.locator("[data-testid=part-lines][data-count]")
    lines.wait_for()
    assert lines.get_attribute("data-count") == str((both["name"] == name).sum())


def test_the_copy_button_stands_beside_the_name(kernels: Profiler) -> None:
    cell = kernels.get("kernel-row").first.locator(".name-cell")
    cell.hover()
    name, copy = cell.locator(".name").bounding_box(), cell.locator(".copy").bounding_box()
    assert name
    assert copy
    assert name["x"] + name["width"] <= copy["x"]
    assert cell.locator(".copy").evaluate("(one) => getComputedStyle(one).opacity") == "1"


def test_the_page_agrees_with_the_wire_and_the_headline(kernels: Profiler) -> None:
    expected = reading.view(TRACE, "kernels")
    headline = reading.plain(kernels.tab.locator(".verdict").inner_text())
    assert headline.startswith(f"{expected['calls'].sum()} kernel calls")
    assert f"in {len(expected)} rows" in headline
    assert names(kernels) == expected["name"].tolist()


def test_sort_both_ways_and_by_name(kernels: Profiler) -> None:
    expected = reading.view(TRACE, "kernels")
    kernels.tab.locator("th button.sort", has_text="Max").click()
    kernels.wait_for_address(sort="-max_us")
    slowest = expected.sort_values("max_us", ascending=False, kind="stable")["name"].tolist()
    assert names(kernels)[0] == slowest[0]
    kernels.tab.locator("th button.sort", has_text="Max").click()
    kernels.wait_for_address(sort="max_us")
    least = expected["max_us"].min()
    assert names(kernels)[0] in set(expected["name"][expected["max_us"] == least])
    kernels.tab.locator("th button.sort", has_text="Kernel").click()
    kernels.wait_for_address(sort="name")
    assert kernels.tab.locator("th[aria-sort=ascending]").inner_text().startswith("Kernel")


def test_words_wanted_and_refused(kernels: Profiler) -> None:
    expected = reading.view(TRACE, "kernels")
    lower = expected["name"].str.lower()
    for query in ("gemm", "-gemm", "elementwise -vectorized"):
        words = query.split()
        kept = lower.map(
            lambda text, words=words: all((word.strip("-") in text) != word.startswith("-") for word in words)
        )
        kernels.get("search-box").fill(query)
        kernels.wait_for_address(kernels=query)
        assert names(kernels) == expected["name"][kept].tolist(), query
        assert footer(kernels)["Calls"] == str(expected["calls"][kept].sum())
        assert f"{kept.sum()} of {len(expected)} rows" in reading.plain(kernels.get("page-kernels").inner_text())
    kernels.get("search-box").fill("nothing like this")
    kernels.tab.get_by_text("No kernel matches the filter.").wait_for()


def test_a_row_opens_its_calls_and_a_call_the_timeline(kernels: Profiler) -> None:
    name = names(kernels)[0]
    calls = reading.view(TRACE, "kernel_calls", name=name).sort_values("duration_us", ascending=False)
    kernels.get("kernel-row").first.click()
    drawer = kernels.wait("drawer")
    kernels.get("call-row").first.wait_for()
    assert f"{len(calls)} calls" in reading.plain(drawer.inner_text())
    bars = drawer.locator(".histogram-slot[data-count]").evaluate_all("(bars) => bars.map((bar) => +bar.dataset.count)")
    assert sum(bars) == len(calls)
    kernels.get("call-row").first.click()
    kernels.ready("timeline")
    view = kernels.view()
    start = reading.nanoseconds(calls["start_us"].iloc[0])
    length = reading.nanoseconds(calls["duration_us"].iloc[0])
    assert view["t0"] <= start < start + length <= view["t1"]
    assert view["t1"] - view["t0"] < 50 * max(length, 1_000)
    kernels.wait_for_address(select=f"event:{int(calls['id'].iloc[0])}")
    event = reading.timeline(TRACE).event(int(calls["id"].iloc[0]))
    hit = kernels.at(event["row"], start, length)
    assert hit
    assert hit["id"] == event["id"]


def test_find_in_timeline_searches_the_whole_name(kernels: Profiler) -> None:
    row = 3
    name = names(kernels)[row]
    kernels.get("kernel-row").nth(row).click()
    kernels.wait("drawer").get_by_role("button", name="Find in timeline").click()
    kernels.ready("timeline")
    kernels.tab.locator("[data-testid=search-count][data-total]").wait_for()
    total = reading.timeline(TRACE).search(name, exact=True)["total"]
    assert kernels.get("search-count").get_attribute("data-total") == str(total)


def test_exported_rows_are_the_rows_shown(kernels: Profiler) -> None:
    kernels.get("search-box").fill("gemm")
    kernels.wait_for_address(kernels="gemm")
    with kernels.page.expect_download() as waiting:
        kernels.get("export-csv").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    expected = reading.view(TRACE, "kernels")
    assert lines[0].split(",") == list(expected.columns)
    assert len(lines) - 1 == expected["name"].str.contains("gemm").sum()


def test_the_category_of_each_kernel(kernels: Profiler) -> None:
    expected = reading.view(TRACE, "kernels")
    assert cells(kernels, "Category") == expected["category"].astype(str).tolist()
    kernels.get("kernel-row").first.click()
    assert str(expected["category"].iloc[0]) in kernels.wait("kernel-launched").inner_text()


def test_what_kernels_were_launched_with(kernels: Profiler) -> None:
    expected = reading.view(TRACE, "kernels")
    assert cells(kernels, "Tensor cores") == expected["tensor_cores"].tolist()
    shown = [reading.plain(text) for text in cells(kernels, "Occupancy")]
    assert [text == "—" for text in shown] == expected["occupancy_pct"].isna().tolist()
    kernels.get("kernel-row").first.click()
    launched = kernels.wait("kernel-launched")
    calls = reading.view(TRACE, "kernel_calls", name=expected["name"].iloc[0])
    told = launched.inner_text()
    for column in ("op", "registers"):
        assert str(calls[column].mode()[0]) in told, column


@pytest.mark.parametrize("by", [by for by in GROUPINGS if "source" not in by])
def test_every_grouping_opens_its_calls(kernels: Profiler, by: str) -> None:
    expected = reading.view(TRACE, "kernels", by=by).sort_values("total_us", ascending=False, kind="stable")
    kernels.get("group-by").select_option(by)
    kernels.tab.locator(".aside", has_text=f"{len(expected)} row").wait_for()
    kernels.get("kernel-row").first.click()
    kernels.get("call-row").first.wait_for()
    calls = int(expected["calls"].iloc[0])
    assert f"{calls} call" in reading.plain(kernels.get("drawer").inner_text())


def test_counters_are_listed_where_recorded(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder().op(0, 900, "aten::mm")
    for at, value in ((10, 4), (100, 6)):
        args = {"smsp__inst_executed.sum": value, "device": 0}
        trace.raw(
            {
                "ph": "X",
                "cat": "cuda_profiler_range",
                "name": "gemm",
                "pid": 0,
                "tid": 0,
                "ts": at,
                "dur": 50,
                "args": args,
            }
        )
    trace.write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="kernels")
    row = profiler.wait("counter-row")
    assert [text.strip() for text in row.locator("td").all_inner_texts()] == [
        "smsp__inst_executed.sum",
        "2",
        "10.0",
        "5.00",
    ]
