"""Light and dark follow TensorBoard's switch; neither has an accessibility finding that matters."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe

from browser.profiler import NOUNS, PAGES, Profiler
from browser.tb import TensorBoard

GPU = "gpu_training_synthetic"
PAPER = "() => getComputedStyle(document.body).backgroundColor"
CANVAS = """() => {
  const canvas = document.querySelector('canvas.stage-bars');
  const { data } = canvas.getContext('2d').getImageData(0, canvas.height - 2, 1, 1);
  return data[0] + data[1] + data[2];
}"""


def lightness(colour: str) -> int:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def turn(profiler: Profiler, theme: str) -> None:
    """Choose a theme where people choose it: in TensorBoard's own bar."""
    profiler.page.locator("app-header-dark-mode-toggle button").first.click()
    profiler.page.get_by_role("menuitem", name=theme).click()
    profiler.frame.wait_for_function(
        "(theme) => document.documentElement.dataset.theme === theme", arg=theme.lower(), timeout=20_000
    )


def test_tensorboards_switch(samples: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(samples, run=GPU, view="timeline").ready("timeline")
    before = profiler.picture()
    assert lightness(profiler.frame.evaluate(PAPER)) > 600
    assert profiler.frame.evaluate(CANVAS) > 600
    turn(profiler, "Dark")
    dark = profiler.picture()
    assert lightness(profiler.frame.evaluate(PAPER)) < 150
    assert profiler.frame.evaluate(CANVAS) < 150
    assert dark[:2] == before[:2]
    assert dark[2] != before[2]
    turn(profiler, "Light")
    assert profiler.picture() == before


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_nothing_serious(samples: TensorBoard, visit: Callable[..., Profiler], theme: str) -> None:
    profiler = visit(samples, run=GPU).ready("overview")
    turn(profiler, theme)
    found: list[str] = []
    for page in PAGES:
        profiler.show(page)
        if page == "timeline":
            profiler.click(profiler.find("kernel", "op"))
            profiler.wait("drawer").locator(".details-columns").wait_for()
        if page == "kernels":
            profiler.get("kernel-row").first.click()
            profiler.get("call-row").first.wait_for()
        if page in ("operators", "modules"):
            profiler.get(NOUNS[page]).first.click()
            profiler.wait("drawer").locator("dl.facts").first.wait_for()
        if page == "flame":
            profiler.tab.locator(".icicle").focus()
            profiler.press("ArrowDown", "ArrowRight", "Enter")
            profiler.wait("frame-details").locator("dl.facts").first.wait_for()
        found += serious(profiler, page)
    profiler.press("?")
    profiler.wait("help")
    found += serious(profiler, "help")
    assert found == []


@pytest.mark.parametrize("view", ["overview", "kernels"])
def test_axe_on_a_trace_of_the_host_only(shown: Callable[..., Profiler], view: str) -> None:
    profiler = shown(run="cpu_training_workers0", view=view)
    profiler.wait(f"page-{view}")
    assert serious(profiler, view) == []


def serious(profiler: Profiler, where: str) -> list[str]:
    """Return the findings of axe that may not be, a line each."""
    profiler.page.mouse.move(2, 2)
    answer = Axe().run(profiler.frame).response
    return [
        f"{where}: {finding['id']} {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for finding in answer["violations"]
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
    ]
