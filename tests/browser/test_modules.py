"""Modules: the tree, the picture above it and the drawer say what Python says."""

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


@pytest.fixture
def modules(shown: Callable[..., Profiler]) -> Profiler:
    """Return the page of modules of the GPU sample."""
    return shown(run=GPU, view="modules").ready("modules")


def unfold(profiler: Profiler) -> None:
    """Open all rows."""
    folded = profiler.get("twist").filter(has_text="▸")
    while folded.count():
        folded.first.click()


def test_the_tree_is_that_of_python(modules: Profiler) -> None:
    expected = asked.view(TRACE, "modules")
    unfold(modules)
    rows = modules.get("module-row")
    shown = rows.evaluate_all(
        "(rows) => rows.map((row) => [row.dataset.id ?? null, +row.getAttribute('aria-level') - 1, row.cells[2].title])"
    )
    assert len(shown) == len(expected)
    values = asked.nanoseconds(expected, "device_total_us")
    ids = ["" if missing else str(one) for one, missing in zip(expected["id"], expected["id"].isna(), strict=True)]
    depths = expected["depth"].fillna(0).astype(int).tolist()
    known = {one: [depth, f"{value / 1000:.3f}µs"] for one, depth, value in zip(ids, depths, values, strict=True)}
    assert {number or "": [depth, reading.plain(exact).replace(" ", "")] for number, depth, exact in shown} == known


def test_the_headline_and_the_totals(modules: Profiler) -> None:
    expected = asked.view(TRACE, "modules")
    exact = sum(asked.nanoseconds(expected, "device_self_us"))
    titles = modules.tab.locator(".verdict b[title]").evaluate_all("(all) => all.map((one) => one.title)")
    assert reading.plain(titles[0]).replace(" ", "") == f"{exact / 1000:.3f}µs"
    foot = modules.tab.locator(".tree tfoot td [title]").evaluate_all("(all) => all.map((one) => one.title)")
    assert reading.plain(foot[0]).replace(" ", "") == f"{exact / 1000:.3f}µs"


def test_the_picture_and_the_tree_are_linked(modules: Profiler) -> None:
    expected = asked.view(TRACE, "modules")
    widest = expected[expected["depth"] == 0].sort_values("device_total_us", ascending=False)
    root = widest[widest["id"].notna()].iloc[0]
    modules.get("module-strip").click(position={"x": 30, "y": 8})
    modules.wait_for_address(select=f"module:{root['id']}")
    current = modules.tab.locator("[data-testid=module-row].current")
    assert current.get_attribute("data-id") == str(root["id"])
    details = modules.wait("module-details")
    assert root["name"] in details.locator("h2").inner_text()
    part = details.locator("[data-testid=part-operators-name-module][data-count]")
    part.wait_for()
    rows = asked.view(TRACE, "operators", by="name,module")
    below = (
        rows["module"]
        .astype(object)
        .map(lambda path: isinstance(path, str) and (path == root["path"] or path.startswith(f"{root['path']}/")))
    )
    # a row for each operator, however many modules it is in
    own = rows[below]
    assert len(own) > own["name"].nunique()
    assert part.get_attribute("data-count") == str(own["name"].nunique())
    most = own.groupby("name", observed=True)["device_self_us"].sum().max()
    first = part.get_by_test_id("part-row").first.locator("td").nth(2).get_attribute("title")
    assert reading.plain(first or "").replace(" ", "") == f"{most:.3f}µs"


def test_classes_and_the_search(modules: Profiler) -> None:
    expected = asked.view(TRACE, "modules", by="class")
    modules.tab.get_by_role("button", name="Classes").click()
    modules.wait_for_address(mods="class")
    modules.tab.locator(".aside", has_text=f"{len(expected)} rows").wait_for()
    assert modules.get("module-row").count() == len(expected)
    modules.tab.get_by_role("button", name="Tree").click()
    modules.get("search-box").fill("linear")
    modules.wait_for_address(modules="linear")
    tree = asked.view(TRACE, "modules")
    hits = tree["name"].astype(object).map(lambda name: isinstance(name, str) and "linear" in name.lower()).sum()
    assert modules.get("module-row").filter(has_text="Linear").count() == hits
    told = f"{modules.get('module-row').count()} of {len(tree)} rows"
    assert modules.get("module-count").inner_text() == told
    assert modules.get("module-row").count() < len(tree)


def test_what_backward_runs_again_is_explained_where_it_is_more(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder(with_stack=1).python(0, 50, "nn.Module: Net_0").python(5, 30, "nn.Module: Block_0")
    trace.op(10, 20, "fwd", seq=7, fwd_thread=0).launch(11, 12, 1).kernel(20, 40, correlation=1)
    trace.op(50, 200, "Backward0", seq=7, fwd_thread=1, tid=2).python(55, 170, "nn.Module: Block_0", tid=2)
    path = trace.op(56, 60, "again", tid=2).write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    table = asked.view(path, "modules").set_index("name")
    assert table["host_total_us"]["Block_0"] > table["host_total_us"]["Net_0"]
    profiler = visit(session_boards(tmp_path), view="modules").ready("modules")
    unfold(profiler)
    heads = profiler.tab.locator(".tree thead th").all_inner_texts()
    place = next(i for i, head in enumerate(heads) if head.startswith("Host total"))
    titles = profiler.get("module-row").evaluate_all(
        "(rows, place) => Object.fromEntries(rows.map((row) => [row.cells[0].title, row.cells[place].title]))", place
    )
    assert "What backward runs again counts too" in titles["Net_0/Block_0"]
    assert "again" not in titles["Net_0"]


def test_peak_memory_of_modules(modules: Profiler) -> None:
    expected = asked.view(TRACE, "modules")
    known = expected[expected["peak_memory_bytes"].notna()]
    assert len(known) > 5
    unfold(modules)
    heads = modules.tab.locator(".tree thead th").all_inner_texts()
    place = heads.index("Peak memory")
    shown = modules.get("module-row").evaluate_all(
        "(rows, place) => rows.map((row) => [row.dataset.id, row.cells[place].title])", place
    )
    exact = {
        str(row.id): f"{row.peak_memory_bytes}bytes on {row.memory_device}".replace(" ", "")
        for row in known.itertuples()
    }
    assert {one: reading.plain(text).replace(" ", "") for one, text in shown if one in exact} == exact
    modules.tab.locator("[data-testid=module-row][data-id='0']").click()
    facts = modules.wait("module-details").locator("dl.facts")
    assert "Peak memory" in facts.inner_text()
    assert str(known["memory_device"].iloc[0]) in facts.inner_text()


def test_compiled_regions_and_graphs_are_named(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder(with_stack=1).step(1, 0, 1000).python(5, 900, "nn.Module: Net_0")
    trace.op(10, 300, "Torch-Compiled Region: 0/0").launch(20, 30, 1).kernel(40, 90, correlation=1)
    trace.launch(400, 420, 2, name="cudaGraphLaunch").kernel(430, 530, correlation=2).kernel(540, 600, correlation=2)
    trace.kernel(700, 800, name="orphan", correlation=99)
    trace.write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="modules").ready("modules")
    unfold(profiler)
    text = profiler.get("page-modules").inner_text()
    for word in ("Net_0", "Torch-Compiled Region: 0/0", "compiled", "cudaGraphLaunch", "graph", "outside all modules"):
        assert word in text, word


def test_without_modules_the_next_step_is_told(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    TraceBuilder().op(10, 100, "aten::relu").write(tmp_path / "run" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), view="modules")
    assert "with_stack=True" in profiler.wait("no-modules").inner_text()
