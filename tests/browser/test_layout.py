"""Small windows, magnified pages, an address that is not localhost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from browser.conftest import INSECURE
from browser.profiler import PAGES, Profiler
from browser.tb import TensorBoard

GPU = "gpu_training_synthetic"
#: 200 % of a window of 1400 by 900 pixels leaves half of them.
SIZES = {"900": (900, 700, 1), "200%": (700, 450, 2)}
#: What sticks out of the window, or is cut by a box that does not scroll.
CUT = """() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (one) => {
    for (let box = one; box && box !== document.body; box = box.parentElement)
      if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
    return false;
  };
  const controls = [...document.querySelectorAll('button, input, select, .status span, .chip, h2')];
  return controls
    .filter((one) => one.getClientRects().length && !one.closest('.offscreen') && !scrolls(one))
    .filter((one) => { const { left, right } = one.getBoundingClientRect(); return left < -1 || right > wide + 1; })
    .map((one) => `${one.tagName} ${one.className} ${one.dataset.testid ?? ''} ${one.textContent.slice(0, 40)}`);
}"""
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES.keys())
def test_small_windows(samples: TensorBoard, visit: Callable[..., Profiler], size: tuple[int, int, int]) -> None:
    width, height, scale = size
    settings = {"viewport": {"width": width, "height": height}, "device_scale_factor": scale}
    profiler = visit(samples, context=settings, run=GPU)
    cut: list[str] = []
    for page in PAGES:
        profiler.show(page)
        if page == "timeline":
            spot = profiler.find("kernel", "op", "idle")
            profiler.click(spot)
            profiler.wait("drawer").locator(".details-columns").wait_for()
        if page == "kernels":
            profiler.get("kernel-row").first.click()
            profiler.get("call-row").first.wait_for()
        assert profiler.frame.evaluate(WIDER) <= 0, page
        cut += [f"{page}: {one}" for one in profiler.frame.evaluate(CUT)]
        for control in ("picker-run", "picker-rank", "picker-span", "search-box", *(f"rail-{one}" for one in PAGES)):
            assert profiler.get(control).is_visible(), (page, control)
        if profiler.get("drawer").count():
            profiler.get("drawer").get_by_label("Close details").click()
    assert cut == []


def test_the_timeline_keeps_room_in_a_low_window(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    settings = {"viewport": {"width": 700, "height": 450}, "device_scale_factor": 2}
    profiler = visit(samples, context=settings, run=GPU, view="timeline").ready("timeline")
    profiler.click(profiler.find("kernel", "op", "idle"))
    profiler.wait("drawer").locator(".details-columns").wait_for()
    profiler.settled()
    assert profiler.stats()["height"] >= 40
    assert profiler.stats()["width"] >= 300


def test_resizing_redraws(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="timeline").ready("timeline")
    before = profiler.stats()["width"]
    profiler.page.set_viewport_size({"width": 1000, "height": 700})
    profiler.frame.wait_for_function("(before) => window.__tl.stats().width < before", arg=before)
    profiler.settled()
    assert profiler.stats()["rects"] > 0
    assert profiler.view()["t0"] == 0


def test_a_tab_that_was_hidden_comes_back(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="timeline", at="5000000-9000000").ready("timeline")
    before = profiler.picture()
    profiler.page.evaluate("location.hash = 'timeseries'")
    profiler.frame.wait_for_function("() => innerHeight === 0", timeout=20_000)
    profiler.page.go_back()
    profiler.frame.wait_for_function("() => innerHeight > 0", timeout=20_000)
    assert profiler.picture() == before


def test_an_origin_that_is_not_secure(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, host=INSECURE, run=GPU, view="kernels").ready("kernels")
    assert profiler.frame.evaluate("() => [isSecureContext, typeof navigator.clipboard]") == [False, "undefined"]
    profiler.get("kernel-row").first.click()
    copy = profiler.wait("drawer").get_by_role("button", name="Copy name")
    copy.click()
    profiler.tab.get_by_text("Copied").or_(profiler.tab.get_by_text("Not allowed here")).wait_for()
    profiler.get("search-box").focus()
    name = profiler.get("drawer").locator("h2").get_attribute("title")
    profiler.press("ControlOrMeta+v")
    assert profiler.get("search-box").input_value() == name
    profiler.press("Escape")
    profiler.show("timeline")
    assert profiler.stats()["rects"] > 0
