"""Columns of a table: chosen by mouse and keyboard, remembered by the browser, and left out of exports."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe

import corpus
from browser import reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from browser.test_idle import serious
from browser.test_theme import turn

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
#: A browser that keeps nothing of ours.
FORGETFUL = """for (const name of ['getItem', 'setItem']) {
  const own = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...rest) {
    if (String(key).startsWith('kinetoscope.')) throw new DOMException('refused', 'SecurityError');
    return own.call(this, key, ...rest);
  };
}"""


def titles(profiler: Profiler) -> list[str]:
    """Return the titles of the first table, without units."""
    heads = profiler.tab.locator(".grid").first.locator("thead th").all_inner_texts()
    return [head.split(",")[0].strip() for head in heads]


def hide(profiler: Profiler, *columns: str) -> None:
    """Turn columns of the first table off or on, and close the list."""
    profiler.get("columns").first.click()
    for column in columns:
        profiler.get("column-list").get_by_label(column, exact=True).click()
    profiler.press("Escape")
    profiler.get("column-list").wait_for(state="detached")


def test_by_keyboard_alone(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="kernels").ready("kernels")
    before = titles(profiler)
    profiler.get("kernel-row").first.click()
    profiler.get("call-row").first.wait_for()
    profiler.get("columns").focus()
    profiler.press("Enter")
    profiler.wait("column-list")
    focused = "() => document.activeElement.dataset.column"
    assert profiler.frame.evaluate(focused) == "category"
    profiler.press("Space", "ArrowDown", "ArrowDown", "Space")
    assert profiler.frame.evaluate(focused) == "total_us"
    assert titles(profiler) == [one for one in before if one not in ("Category", "Total")]
    profiler.press("Escape")
    profiler.get("column-list").wait_for(state="detached")
    assert profiler.frame.evaluate("() => document.activeElement.dataset.testid") == "columns"
    # Escape was the list's: what is selected stays.
    assert profiler.get("drawer").is_visible()
    profiler.press("Enter", "End")
    assert profiler.frame.evaluate("() => document.activeElement.dataset.testid") == "columns-reset"
    profiler.press("Escape")
    assert profiler.get("drawer").is_visible()
    profiler.press("Enter", "End", "Enter")
    assert titles(profiler) == before


def test_remembered_and_left_out_of_the_export(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="kernels").ready("kernels")
    before = titles(profiler)
    hide(profiler, "Min", "Max")
    left = [one for one in before if one not in ("Min", "Max")]
    assert titles(profiler) == left
    told = profiler.get("export-csv").get_attribute("title") or ""
    assert "hidden are left out" in told
    with profiler.page.expect_download() as waiting:
        profiler.get("export-csv").click()
    expected = reading.view(TRACE, "kernels").drop(columns=["min_us", "max_us"])
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].split(",") == list(expected.columns)
    profiler.page.reload()
    profiler.ready("kernels")
    assert titles(profiler) == left
    profiler.get("group-by").select_option("op")
    profiler.tab.locator("th", has_text="Operator").wait_for()
    assert not {"Min", "Max"} & set(titles(profiler))
    profiler.show("operators")
    assert "Calls" in titles(profiler)
    assert profiler.get("columns").get_attribute("title") == "Columns"


def test_totals_stay_below_their_columns(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="kernels").ready("kernels")
    hide(profiler, "Calls", "Category")
    foot = profiler.tab.locator(".grid tfoot td").all_inner_texts()
    assert len(foot) == len(titles(profiler))
    assert foot[titles(profiler).index("Share")].replace("\u202f", "") == "100.0%"


def test_a_tree_has_it_too(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="modules").ready("modules")
    assert "Host self" in titles(profiler)
    profiler.get("columns").click()
    assert profiler.get("column-list").get_by_label("Module", exact=True).is_disabled()
    profiler.press("Escape")
    hide(profiler, "Host self", "Forward")
    assert not {"Host self", "Forward"} & set(titles(profiler))
    cells = profiler.get("module-row").first.locator("td").count()
    assert cells == len(titles(profiler))


def test_where_the_browser_keeps_nothing(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="overview").ready("overview")
    profiler.page.context.add_init_script(FORGETFUL)
    profiler.page.reload()
    profiler.ready("overview").show("kernels")
    hide(profiler, "Min")
    assert "Min" not in titles(profiler)
    profiler.show("operators").show("kernels")
    assert "Min" not in titles(profiler)
    profiler.page.reload()
    profiler.ready("kernels")
    assert "Min" in titles(profiler)


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_nothing_serious_in_the_list(
    samples: TensorBoard, visit: Callable[..., Profiler], theme: str
) -> None:
    profiler = visit(samples, run=GPU, view="kernels").ready("kernels")
    turn(profiler, theme)
    hide(profiler, "Min")
    profiler.get("columns").click()
    profiler.wait("column-list")
    results = Axe().run(profiler.frame).response["violations"]
    assert [f"{one['id']} {one['nodes'][0]['html'][:200]}" for one in results if serious(one)] == []


@pytest.mark.parametrize("size", [(900, 700), (700, 330)])
def test_the_list_is_whole_in_small_windows(
    samples: TensorBoard, visit: Callable[..., Profiler], size: tuple[int, int]
) -> None:
    settings = {"viewport": {"width": size[0], "height": size[1]}}
    profiler = visit(samples, context=settings, run=GPU, view="kernels").ready("kernels")
    profiler.get("columns").click()
    inside = """(list) => {
      const { left, right, top, bottom } = list.getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    }"""
    assert profiler.wait("column-list").evaluate(inside)
    profiler.press("End")
    assert profiler.frame.evaluate("() => document.activeElement.dataset.column") == "tensor_cores"
