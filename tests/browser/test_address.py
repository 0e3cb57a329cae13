"""The address holds the whole view: it can be shared, goes back and forward, and bad values do no harm."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from browser.conftest import Watch
from browser.profiler import PATIENCE, Profiler
from browser.tb import TensorBoard

GPU = "gpu_training_synthetic"
CPU = "cpu_training_workers0"


def test_the_address_gives_the_same_picture_to_another_person(
    samples: TensorBoard, visit: Callable[..., Profiler]
) -> None:
    mine = visit(samples).ready("overview")
    mine.pick("run", GPU)
    mine.wait_for_address(run=GPU)
    mine.ready("overview")
    mine.pick("rank", "rank 1")
    mine.ready("overview")
    mine.pick("span", "2")
    mine.ready("overview")
    mine.show("timeline")
    mine.focus_timeline()
    mine.press("w", "w", "d")
    mine.settled()
    spot = mine.find("kernel", "op")
    mine.click(spot)
    mine.wait("drawer").locator(".details-columns").wait_for()
    mine.wait_for_address(select=f"event:{spot['id']}", run=GPU, rank="rank 1", span="2", view="timeline")
    view = mine.view()
    assert mine.address()["at"] == f"{int(view['t0'])}-{-int(-view['t1'] // 1)}"
    theirs = visit(samples, **mine.address()).ready("timeline")
    theirs.wait("drawer").locator(".details-columns").wait_for()
    assert theirs.picked() == mine.picked() == {"run": GPU, "rank": "1", "span": "2"}
    # The address holds whole nanoseconds: the first page takes them over too.
    mine.page.mouse.move(5, 5)
    mine.page.reload()
    mine.ready("timeline").wait("drawer").locator(".details-columns").wait_for()
    assert theirs.picture() == mine.picture()
    assert theirs.address() == mine.address()


def test_kernels_and_their_drawer_too(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    mine = visit(samples, run=GPU, view="kernels").ready("kernels")
    mine.get("group-by").select_option("name,op")
    mine.tab.locator("th button.sort", has_text="Mean").click()
    mine.get("search-box").fill("-nccl")
    mine.wait_for_address(by="name,op", sort="-mean_us", kernels="-nccl")
    mine.get("kernel-row").first.click()
    mine.wait_for_select("kernel:name,op:")
    mine.get("call-row").first.wait_for()
    theirs = visit(samples, **mine.address()).ready("kernels")
    theirs.get("call-row").first.wait_for()
    for what in ("kernel-row", "call-row"):
        assert theirs.get(what).all_inner_texts() == mine.get(what).all_inner_texts()
    assert theirs.get("group-by").input_value() == "name,op"
    assert theirs.get("search-box").input_value() == "-nccl"


def test_back_and_forward(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU).ready("overview")
    loads = []
    profiler.page.on("request", lambda request: loads.append(request.url) if request.is_navigation_request() else None)
    for page in ("timeline", "kernels", "idle"):
        profiler.show(page)
    for page in ("kernels", "timeline", "overview"):
        profiler.page.go_back()
        profiler.ready(page)
        profiler.wait_for_address(view=None if page == "overview" else page)
    for page in ("timeline", "kernels"):
        profiler.page.go_forward()
        profiler.ready(page)
    assert loads == []


def test_a_changed_window_does_not_fill_the_history(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU).ready("overview")
    profiler.show("timeline")
    before = profiler.page.evaluate("history.length")
    profiler.focus_timeline()
    profiler.press("w", "w", "a", "d", "s")
    profiler.page.wait_for_url(lambda _: "at" in profiler.address(), timeout=PATIENCE)
    assert profiler.page.evaluate("history.length") == before


BAD = {"at": "9-3", "select": "event:-1", "filter": "5@", "by": "colour", "sort": "!", "split": "x", "device": "first"}


def test_bad_values_fall_back_with_a_notice(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="timeline", q="gemm", **BAD).ready("timeline")
    for key, value in BAD.items():
        notice = profiler.get("notice").filter(has_text=f"{key} “{value}”")
        notice.wait_for()
        assert "left out" in notice.inner_text()
        notice.get_by_label("Dismiss").click()
    assert profiler.get("notice").count() == 0
    assert profiler.get("search-box").input_value() == "gemm"
    assert profiler.view()["t0"] == 0
    profiler.wait_for_address(**dict.fromkeys(BAD), q="gemm", view="timeline")


@pytest.mark.parametrize(
    ("key", "value"), [("view", "nonsense"), ("at", "x"), ("select", 'kernel:name:{"name":'), ("filter", "1-")]
)
def test_bad_values_in_a_page_that_is_open(shown: Callable[..., Profiler], key: str, value: str) -> None:
    profiler = shown(run=GPU, view="timeline").ready("timeline")
    profiler.navigate(**{key: value})
    profiler.ready("overview" if key == "view" else "timeline")
    notice = profiler.get("notice").filter(has_text=f"{key} “{value}”")
    notice.wait_for()
    notice.get_by_label("Dismiss").click()
    notice.wait_for(state="detached")
    profiler.wait_for_address(**{key: None})


def test_names_that_are_not_there(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run="gone", rank="rank 99", span="7").ready("overview")
    notice = profiler.wait("notice")
    assert "gone" in notice.inner_text()
    assert profiler.picked()["run"] != "gone"
    other = visit(samples, run=GPU, rank="rank 9").ready("overview")
    assert "rank 9" in other.wait("notice").inner_text()
    assert other.picked() == {"run": GPU, "rank": "0", "span": "1"}


def test_an_event_that_is_not_in_the_trace(samples: TensorBoard, visit: Callable[..., Profiler], watch: Watch) -> None:
    watch.allowed += ["event?", "404 (NOT FOUND)"]
    profiler = visit(samples, run=GPU, view="timeline", select="event:123456789").ready("timeline")
    problem = profiler.get("drawer").get_by_test_id("problem")
    problem.wait_for()
    assert "123456789" in problem.inner_text()
    profiler.press("Escape")
    profiler.get("drawer").wait_for(state="detached")


def test_what_is_not_ours_is_kept(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU)
    profiler.page.evaluate(
        "location.hash = 'kinetoscope&p.other.key=a%20b&p.kinetoscope.future=1%2C2&p.kinetoscope.run=gpu_training_synthetic'"
    )
    profiler.ready("overview")
    profiler.show("timeline")
    profiler.wait_for_address(view="timeline", future="1,2", run=GPU)
    assert "p.other.key=a%20b" in profiler.page.url


def test_another_trace_forgets_what_means_nothing_in_it(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="timeline", at="100000-900000").ready("timeline")
    profiler.click(profiler.find("idle", "op", "api_call", "kernel", "annotation"))
    profiler.wait("drawer")
    profiler.pick("run", CPU)
    profiler.wait_for_address(run=CPU, at=None, select=None)
    profiler.ready("timeline")
    assert profiler.get("drawer").count() == 0
    assert profiler.view()["t0"] == 0
