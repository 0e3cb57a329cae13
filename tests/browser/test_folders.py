"""Log folders as they are: empty, of other things, with broken files in them, and changing while people look."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import corpus
from browser.conftest import Watch
from browser.profiler import PAGES, PATIENCE, Profiler
from browser.tb import TensorBoard
from build import TraceBuilder

GPU = sorted((corpus.SAMPLES / "gpu_training_synthetic").glob("*.gz"))
NAME = "worker0.1750000000000.pt.trace.json"


def small(kernels: int = 3) -> TraceBuilder:
    """Return a trace of one step with some kernels."""
    trace = TraceBuilder().step(0, 0, 100 * kernels + 100)
    for number in range(kernels):
        at = 100 * number
        trace.op(at + 5, at + 50, "aten::mm").launch(at + 10, at + 20, number + 1)
        trace.kernel(at + 30, at + 60, name="gemm", correlation=number + 1)
    return trace


def test_an_empty_folder(boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path) -> None:
    logdir = tmp_path / "log"
    logdir.mkdir()
    profiler = visit(boards(logdir))
    empty = profiler.wait("empty")
    assert str(logdir) in empty.inner_text()
    assert f'tensorboard_trace_handler("{logdir}")' in empty.inner_text()
    compile(empty.locator("pre").inner_text(), "snippet", "exec")
    for page in PAGES:
        assert profiler.get(f"rail-{page}").get_attribute("aria-disabled") == "true"
    small().write(logdir / "run" / NAME)
    empty.get_by_role("button", name="Look again").click()
    profiler.ready("overview")


def test_a_trace_in_the_log_folder_itself(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    small().write(tmp_path / "mine" / NAME)
    profiler = visit(boards(tmp_path / "mine")).ready("overview")
    assert profiler.picked()["run"] == "mine"


def test_a_folder_of_scalars_only(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    write_scalars(tmp_path / "log" / "run")
    profiler = visit(boards(tmp_path / "log", "--reload_interval=1"))
    assert "No traces in this folder yet" in profiler.wait("empty").inner_text()
    profiler.page.goto(profiler.tensorboard.url + "/#timeseries")
    profiler.page.get_by_text("loss").first.wait_for()


def write_scalars(folder: Path) -> None:
    """Write what a training loop logs with TensorBoard's own writer."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for step in range(3):
        value = Summary.Value(tag="loss", simple_value=1.0 / (step + 1))
        writer.add_event(Event(wall_time=1.75e9 + step, step=step, summary=Summary(value=[value])))
    writer.close()


def test_a_missing_folder(boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path) -> None:
    profiler = visit(boards(tmp_path / "later"))
    problem = profiler.wait("problem")
    assert "later" in problem.inner_text()
    small().write(tmp_path / "later" / "run" / NAME)
    problem.get_by_role("button", name="Try again").click()
    profiler.ready("overview")


def test_broken_traces_beside_good_ones(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    logdir = tmp_path / "log"
    for name in ("a_good", "z_good"):
        small().write(logdir / name / NAME)
    broken = logdir / "m_broken" / f"{NAME}.gz"
    broken.parent.mkdir()
    broken.write_bytes(b"this is no gzip and no JSON either")
    profiler = visit(boards(logdir)).ready("overview")
    profiler.pick("run", "m_broken")
    problem = profiler.wait("problem")
    told = problem.inner_text()
    assert broken.name in told
    assert problem.locator("p").count() >= 3, f"no hint in {told!r}"
    assert profiler.get("rail-timeline").is_visible()
    profiler.pick("run", "z_good")
    profiler.ready("overview")
    profiler.show("kernels")
    assert profiler.get("problem").count() == 0


def test_a_truncated_trace_says_so(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    whole = GPU[0].read_bytes()
    path = tmp_path / "log" / "run" / GPU[0].name
    path.parent.mkdir(parents=True)
    path.write_bytes(whole[: len(whole) * 2 // 3])
    profiler = visit(boards(tmp_path / "log"))
    ended = profiler.tab.locator("[data-testid=problem], [data-testid=health-strip]").first
    ended.wait_for(timeout=PATIENCE)
    told = ended.inner_text().lower()
    assert any(word in told for word in ("cut off", "truncated", "incomplete", "ends early", "ends in")), told


def test_a_file_that_is_replaced_while_open(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    path = small(3).write(tmp_path / "log" / "run" / NAME)
    profiler = visit(boards(tmp_path / "log"), view="kernels").ready("kernels")
    assert profiler.get("kernel-row").locator("td.number").first.inner_text() == "3"
    fresh = small(5).write(tmp_path / "fresh" / NAME)
    os.utime(fresh, (2e9, 2e9))
    fresh.replace(path)
    banner = profiler.wait("changed")
    assert profiler.get("kernel-row").locator("td.number").first.inner_text() == "3"
    banner.get_by_role("button", name="Reload").click()
    banner.wait_for(state="detached")
    profiler.ready("kernels")
    assert profiler.get("kernel-row").locator("td.number").first.inner_text() == "5"


def test_a_new_run_comes_with_tensorboards_reload_button(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    small().write(tmp_path / "log" / "first" / NAME)
    profiler = visit(boards(tmp_path / "log")).ready("overview")
    assert profiler.get("picker-run").is_disabled()
    small(5).write(tmp_path / "log" / "second" / NAME)
    profiler.page.locator("app-header-reload button").click()
    profiler.tab.locator("[data-testid=picker-run]:not([disabled])").wait_for(timeout=PATIENCE)
    assert profiler.picked()["run"] == "first"
    profiler.pick("run", "second")
    profiler.ready("overview")
    profiler.wait_for_address(run="second")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here that look like files")
def test_cancel_while_loading(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    """A pipe that nobody writes into never gets further than its first byte."""
    path = small().write(tmp_path / "log" / "run" / NAME)
    board = boards(tmp_path / "log")
    profiler = visit(board).ready("overview")
    profiler.page.goto("about:blank")
    other = small(4).write(tmp_path / "log" / "other" / NAME)
    profiler.open(run="other")
    profiler.page.wait_for_load_state()
    profiler.tab.locator("[data-testid=verdict]").wait_for()
    profiler.page.locator("app-header-reload button").click()
    profiler.tab.locator("[data-testid=picker-run]:not([disabled])").wait_for(timeout=PATIENCE)
    other.unlink()
    os.mkfifo(other)
    profiler.pick("run", "other")
    loading = profiler.wait("loading")
    assert NAME in loading.inner_text()
    loading.get_by_role("button", name="Cancel").click()
    profiler.tab.get_by_text("Loading was cancelled").wait_for()
    other.unlink()
    shutil.copy(path, other)
    profiler.tab.get_by_role("button", name="Load it").click()
    profiler.ready("overview")


def test_a_server_that_is_gone(
    boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], watch: Watch, tmp_path: Path
) -> None:
    small().write(tmp_path / "log" / "run" / NAME)
    board = boards(tmp_path / "log")
    profiler = visit(board).ready("overview")
    watch.allowed += ["ERR_CONNECTION_REFUSED", "Failed to fetch", "net::", "HttpErrorResponse", "Http failure"]
    board.stop()
    profiler.get("rail-timeline").click()
    problem = profiler.wait("problem")
    assert "TensorBoard does not answer" in problem.inner_text()
    assert "tensorboard command" in problem.inner_text()
