"""All of it by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from browser.profiler import Profiler

GPU = "gpu_training_synthetic"
FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return '';
  return one.dataset.testid || one.getAttribute('role') || one.className || one.tagName.toLowerCase();
}"""
SEEN = """() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== 'none';
}"""


@pytest.fixture
def timeline(shown: Callable[..., Profiler]) -> Profiler:
    """Return the timeline of the GPU sample, with the keys in it and the mouse out of it."""
    profiler = shown(run=GPU, view="timeline").ready("timeline")
    profiler.page.mouse.move(3, 3)
    profiler.focus_timeline()
    return profiler


def span(profiler: Profiler) -> tuple[float, float]:
    profiler.settled()
    view = profiler.view()
    return view["t0"], view["t1"]


def test_w_a_s_d(timeline: Profiler) -> None:
    whole = span(timeline)
    timeline.press("w", "w")
    closer = span(timeline)
    assert whole[0] < closer[0] < closer[1] < whole[1]
    timeline.press("d")
    right = span(timeline)
    assert right[0] > closer[0]
    assert right[1] - right[0] == pytest.approx(closer[1] - closer[0])
    timeline.press("a")
    assert span(timeline) == pytest.approx(closer)
    timeline.press("s")
    wider = span(timeline)
    assert wider[1] - wider[0] > closer[1] - closer[0]
    for back in ("0", "z"):
        timeline.press("w", back)
        assert span(timeline) == whole


def test_f_fits_and_m_measures(timeline: Profiler) -> None:
    spot = timeline.find("kernel")
    timeline.click(spot)
    timeline.wait("drawer").locator(".details-columns").wait_for()
    timeline.press("f")
    fitted = span(timeline)
    hit = timeline.at(spot["row"], (fitted[0] + fitted[1]) / 2)
    assert hit
    assert hit["id"] == spot["id"]
    timeline.press("f")
    tighter = span(timeline)
    assert tighter[1] - tighter[0] < fitted[1] - fitted[0]
    ink = "() => document.querySelector('canvas.stage-overlay').toDataURL()"
    bare = timeline.frame.evaluate(ink)
    timeline.press("m")
    timeline.settled()
    marked = timeline.frame.evaluate(ink)
    assert marked != bare
    timeline.press("m")
    timeline.settled()
    assert timeline.frame.evaluate(ink) == bare


def test_along_and_across_the_rows(timeline: Profiler) -> None:
    spot = timeline.find("kernel")
    timeline.click(spot)
    timeline.wait_for_address(select=f"event:{spot['id']}")
    spoken = timeline.get("spoken")
    timeline.tab.locator("[data-testid=spoken]", has_text=spot["name"][:30]).wait_for()
    timeline.press(".")
    timeline.page.wait_for_url(lambda _: timeline.address().get("select") not in (f"event:{spot['id']}", None))
    following = timeline.address()["select"]
    timeline.press(",")
    timeline.wait_for_address(select=f"event:{spot['id']}")
    timeline.press("ArrowRight")
    timeline.wait_for_address(select=following)
    timeline.press("ArrowLeft")
    timeline.wait_for_address(select=f"event:{spot['id']}")
    timeline.tab.locator("[data-testid=spoken]", has_text="kernel").wait_for()
    assert "GPU 0" in spoken.inner_text()
    # Without the drawer there is room for the rows of the host.
    timeline.press("Escape")
    timeline.wait_for_address(select=None)
    timeline.settled()
    op = timeline.find("op")
    timeline.click(op)
    timeline.wait_for_address(select=f"event:{op['id']}")
    timeline.wait("drawer").get_by_text("Stack, outermost first").wait_for()
    timeline.settled()
    timeline.press("ArrowUp")
    timeline.page.wait_for_url(lambda _: timeline.address().get("select") != f"event:{op['id']}")
    timeline.press("Escape")
    timeline.wait_for_address(select=None)


def test_what_is_in_view_as_a_table(timeline: Profiler) -> None:
    timeline.press("l")
    timeline.get("area-row").first.wait_for()
    timeline.wait_for_select("area:")


def test_everywhere(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="overview").ready("overview")
    for key, page in (
        ("t", "timeline"),
        ("i", "idle"),
        ("k", "kernels"),
        ("p", "operators"),
        ("m", "modules"),
        ("f", "flame"),
        ("o", "overview"),
    ):
        profiler.press("g", key)
        profiler.ready(page)
    profiler.press("?")
    profiler.wait("help")
    assert profiler.frame.evaluate("() => document.activeElement.closest('[data-testid=help]') !== null")
    profiler.press("Escape")
    profiler.get("help").wait_for(state="detached")
    profiler.press("/")
    assert profiler.frame.evaluate(FOCUSED) == "search-box"
    profiler.page.keyboard.type("gk?")
    assert profiler.get("search-box").input_value() == "gk?"
    assert profiler.get("page-overview").is_visible()
    profiler.press("Escape")
    assert profiler.frame.evaluate(FOCUSED) != "search-box"


def test_a_table_by_keyboard(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="kernels").ready("kernels")
    profiler.tab.locator(".grid").first.focus()
    profiler.press("ArrowDown", "ArrowDown", "Enter")
    profiler.get("call-row").first.wait_for()
    second = profiler.get("kernel-row").nth(1)
    assert second.get_attribute("aria-selected") == "true"
    assert profiler.get("drawer").locator("h2").get_attribute("title") == second.locator(".name").get_attribute("title")
    profiler.press("Escape")
    profiler.get("drawer").wait_for(state="detached")


def test_the_tab_key_reaches_everything_that_matters(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="kernels").ready("kernels")
    profiler.get("picker-run").focus()
    reached = []
    unseen = []
    for _ in range(40):
        reached.append(profiler.frame.evaluate(FOCUSED))
        if not profiler.frame.evaluate(SEEN):
            unseen.append(reached[-1])
        if reached[-1] == "group":
            break
        profiler.press("Tab")
    wanted = ["picker-run", "picker-rank", "picker-span", "search-box", "rail-overview", "rail-kernels", "group-by"]
    places = [reached.index(one) for one in wanted]
    assert places == sorted(places), reached
    assert reached[-1] == "group", reached
    assert unseen == []


def test_a_picker_by_keyboard(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU).ready("overview")
    profiler.get("picker-rank").focus()
    profiler.press("Enter")
    profiler.frame.wait_for_function("() => document.activeElement.getAttribute('role') === 'option'")
    profiler.press("ArrowDown", "Enter")
    profiler.wait_for_address(rank="rank 1")
    profiler.ready("overview")
    assert profiler.picked()["rank"] == "1"
    assert profiler.get("picker-rank-option").count() == 0
    assert profiler.frame.evaluate(FOCUSED) == "picker-rank"
