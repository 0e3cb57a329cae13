"""Every page opens and has something to say, however TensorBoard was started."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import corpus
from browser import asked, reading
from browser.conftest import Watch
from browser.profiler import PAGES, Profiler
from browser.tb import TensorBoard

GPU = "gpu_training_synthetic"
CPU = "cpu_training_workers0"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
HOST = min((corpus.SAMPLES / CPU).glob("worker0*.gz"))
SMOKE = {"fast": (), "plain": ("--load_fast=false",), "prefix": ("--path_prefix", "/x")}


def test_all_pages_of_a_gpu_trace(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU)
    for page in PAGES:
        profiler.show(page)
        label = profiler.get("synthetic")
        assert label.is_visible(), page
        assert "Synthetic trace" in label.inner_text()
        assert profiler.get("problem").count() == 0
        assert profiler.get(f"rail-{page}").get_attribute("aria-current") == "page"
    profiler.show("kernels")
    assert profiler.get("kernel-row").count() > 5
    profiler.show("overview")
    assert "%" in profiler.get("verdict").inner_text()
    assert profiler.get("step-bar").count() > 1


def test_a_trace_of_the_host_only(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=CPU).ready("overview")
    assert profiler.get("synthetic").count() == 0
    assert "No GPU work" in profiler.get("verdict").inner_text()
    profiler.show("timeline")
    assert profiler.stats()["rects"] > 100
    rail = profiler.get("rail-kernels")
    assert rail.get_attribute("aria-disabled") == "true"
    assert "No device work" in (rail.get_attribute("title") or "")
    rail.click(force=True)
    assert profiler.get("page-timeline").is_visible()
    profiler.press("g", "k")
    assert profiler.get("page-timeline").is_visible()
    told = visit(samples, run=CPU, view="kernels").wait("page-kernels")
    assert "No device work" in told.inner_text()


def test_the_critical_path_of_the_host_is_in_reach(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=CPU).ready("overview")
    rail = profiler.get("rail-idle")
    assert rail.inner_text() == "Critical path"
    assert "No device work" in (rail.get_attribute("title") or "")
    profiler.press("g", "i")
    profiler.wait("path-kind")
    assert profiler.get("tab-causes").count() == 0
    assert "all of it on the host" in profiler.get("path-verdict").inner_text()
    path = asked.view(HOST, "critical_path")
    totals = profiler.get("path-kind").evaluate_all("(all) => all.map((one) => +one.dataset.totalNs)")
    assert sorted(totals) == sorted(asked.nanoseconds(path, "total_us"))
    profiler.get("show-path").click()
    profiler.ready("timeline")


@pytest.mark.parametrize("options", SMOKE.values(), ids=SMOKE.keys())
def test_however_tensorboard_was_started(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], watch: Watch, options: tuple[str, ...]
) -> None:
    watch.allowed.append("/font-roboto/")  # TensorBoard's own style sheet forgets the prefix
    board = boards(corpus.SAMPLES / GPU, *options)
    profiler = visit(board)
    for page in PAGES:
        profiler.show(page)
    # A page that is closed while answers are on their way breaks the pipe, and TensorBoard says so.
    for last in ("live-row", "block-row", "phase-legend"):
        profiler.wait(last)
    profiler.page.close()
    board.stop()
    said = "".join(board.said)
    assert "Traceback" not in said
    assert "In 3.0, this" not in said


def test_the_first_visit_needs_no_address(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples)
    profiler.page.goto("about:blank")
    profiler.page.goto(samples.url + "/")
    profiler.ready("overview")
    assert profiler.page.get_by_role("tab", name="PyTorch Profiler").count() == 1


def test_every_figure_of_the_verdict_leads_somewhere(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU).ready("overview")
    figures = profiler.get("verdict").locator("button.figure")
    assert figures.count() >= 3
    waits = figures.nth(2)
    waits.click()
    profiler.ready("idle")
    profiler.page.go_back()
    profiler.ready("overview")


def test_a_step_narrows_every_page(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU).ready("overview")
    step = profiler.get("step-bar").nth(1)
    number = step.get_attribute("data-step")
    step.click()
    profiler.wait("filter-chip")
    assert f"Step {number}" in profiler.get("filter-chip").inner_text()
    profiler.show("kernels")
    calls = reading.view(TRACE, "kernels", step=int(number or -1))["calls"].sum()
    assert reading.plain(profiler.tab.locator(".verdict").inner_text()).startswith(f"{calls} kernel calls")
    profiler.show("timeline")
    narrowed = profiler.view()
    profiler.get("filter-chip").get_by_label("Clear the time range").click()
    profiler.settled()
    whole = profiler.view()
    assert narrowed["t1"] - narrowed["t0"] < whole["t1"] - whole["t0"]
