"""Names are text: none is run, none breaks the page, whatever stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from browser.profiler import PAGES, Profiler
from browser.tb import TensorBoard
from build import TraceBuilder

RUN = "<img src=x onerror=window.parent.hit=1>\u202egnp.exe"
NAMES = (
    "<img src=x onerror=\"window.hit=1;parent.hit=1;alert('kernel')\">",
    "</script><script>parent.hit=1</script>",
    "javascript:parent.hit=1",
    "\u202ebackwards\u202c \u200f\u2067rtl\u2069",
    "%s %n {{constructor.constructor('parent.hit=1')()}} ${parent.hit=1}",
    '=HYPERLINK("http://example.com","csv")',
    "\x00\x01\x1b[31m control \ufffe\udcff",
    "Z\u0351\u036b\u0343\u032b" * 40,
    "long " + "x" * 100_000,
    "",
)
HIT = (
    "() => [window.hit, window.parent.hit, document.querySelectorAll('img, script:not([type=module]), iframe').length]"
)
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def hostile() -> TraceBuilder:
    """Return a trace whose ops, kernels, annotations and arguments have such names."""
    trace = TraceBuilder(
        deviceProperties=[{"id": 0, "name": NAMES[0], "totalGlobalMem": 1}], trace_name=NAMES[1], host_name=NAMES[0]
    )
    trace.step(1, 0, 10_000)
    for number, name in enumerate(NAMES):
        at = 900 * number
        trace.op(at + 5, at + 500, name, **{name[:200]: name[:5000]}).annotation(at + 1, at + 700, name)
        trace.launch(at + 10, at + 20, number + 1, name=name or "launch")
        trace.kernel(at + 30, at + 400, name=name, correlation=number + 1)
        trace.memory(at + 40, 1024, addr=4096 * (number + 1))
    return trace


@pytest.fixture(scope="module")
def board(session_boards: Callable[..., TensorBoard], tmp_path_factory: pytest.TempPathFactory) -> TensorBoard:
    """Return a TensorBoard on runs with such names."""
    logdir = Path(tmp_path_factory.mktemp("hostile"))
    hostile().write(logdir / RUN / f"{NAMES[2][:20]}{RUN}.1750000000000.pt.trace.json")
    hostile().write(logdir / "plain" / "worker0.1750000000000.pt.trace.json")
    return session_boards(logdir)


def shown(name: str) -> str:
    """Return a name as the page has it: characters that turn the reading direction are shown as such."""
    return re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", name)


def unharmed(profiler: Profiler, where: str) -> None:
    assert profiler.frame.evaluate(HIT) == [None, None, 0], where
    assert profiler.frame.evaluate(WIDER) <= 0, where
    assert profiler.page.evaluate("() => window.hit ?? null") is None


def test_names_are_text(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, run=shown(RUN))
    for page in PAGES:
        profiler.show(page)
        unharmed(profiler, page)
    assert profiler.picked()["run"] == shown(RUN)
    profiler.get("picker-run").click()
    assert shown(RUN) in profiler.get("picker-run-option").all_inner_texts()
    unharmed(profiler, "picker")


def test_kernels_with_such_names(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, run="plain", view="kernels").ready("kernels")
    rows = profiler.get("kernel-row")
    shown = rows.locator("td:first-child .name").evaluate_all("(cells) => cells.map((cell) => cell.textContent)")
    for name in (NAMES[0], NAMES[1], NAMES[2], NAMES[4]):
        assert name in shown
    heights = rows.evaluate_all("(rows) => rows.map((row) => row.getBoundingClientRect().height)")
    assert max(heights) <= 26, heights
    for number in range(rows.count()):
        rows.nth(number).click()
        profiler.wait("drawer").locator(".details-title").wait_for()
        ended = profiler.get("drawer").locator("[data-testid=call-row], [data-testid=problem]").first
        ended.wait_for()
        assert ended.get_attribute("data-testid") == "call-row", f"row {number}: {ended.inner_text()[:200]}"
        unharmed(profiler, f"row {number}")
        assert profiler.get("drawer").get_by_label("Close details").is_visible()
        assert profiler.frame.evaluate("() => document.querySelector('.drawer h2').getBoundingClientRect().height") < 60


@pytest.mark.parametrize(("page", "row"), [("operators", "operator-row"), ("modules", "module-row")])
def test_the_program_with_such_names(board: TensorBoard, visit: Callable[..., Profiler], page: str, row: str) -> None:
    profiler = visit(board, run="plain", view=page).ready(page)
    rows = profiler.get(row)
    heights = rows.evaluate_all("(rows) => rows.map((row) => row.getBoundingClientRect().height)")
    assert max(heights) <= 26, heights
    for number in range(min(rows.count(), 12)):
        rows.nth(number).click()
        profiler.wait("drawer").locator("dl.facts").first.wait_for()
        unharmed(profiler, f"{page} {number}")
        assert profiler.get("problem").count() == 0, number
        assert profiler.get("drawer").get_by_label("Close details").is_visible()
        profiler.get("drawer").get_by_label("Close details").click()


def test_the_flame_with_such_names(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, run="plain", view="flame", frames="all", weight="host").ready("flame")
    for x in range(20, 700, 80):
        profiler.get("flame-canvas").click(position={"x": x, "y": 28})
        profiler.wait("frame-details").locator(".details-columns").wait_for()
        unharmed(profiler, f"flame {x}")
        assert profiler.get("drawer").get_by_label("Close details").is_visible()
        if profiler.get("crumbs").count():
            profiler.get("crumbs").get_by_role("button", name="All").click()


def test_the_timeline_with_such_names(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, run="plain", view="timeline").ready("timeline")
    for start in ("<img", "</script", "\ufffdbackwards", "long"):
        spot = profiler.find("kernel", named=start)
        profiler.get("timeline-canvas").hover(position={"x": spot["x"], "y": spot["y"]})
        profiler.tab.locator(".tooltip").wait_for()
        unharmed(profiler, f"tooltip {start}")
        room = profiler.frame.evaluate(
            "() => { const { left, right, top, bottom } = document.querySelector('.tooltip').getBoundingClientRect();"
            " return [left >= 0, right <= innerWidth, top >= 0, bottom <= innerHeight]; }"
        )
        assert all(room), (start, room)
        profiler.click(spot)
        profiler.wait("drawer").locator(".details-columns").wait_for()
        unharmed(profiler, f"drawer {start}")
    profiler.get("search-box").fill("<img")
    profiler.tab.locator("[data-testid=search-count][data-total]").wait_for()
    assert int(profiler.get("search-count").get_attribute("data-total") or 0) >= 3
    unharmed(profiler, "search")


def test_a_name_too_long_for_an_address_is_found(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, run="plain", view="kernels", kernels="xxxxx").ready("kernels")
    profiler.get("kernel-row").first.click()
    profiler.get("call-row").first.wait_for()
    profiler.wait_for_select("kernel:")
    assert len(profiler.address()["select"]) < 200
    profiler.wait("drawer").get_by_role("button", name="Find in timeline").click()
    profiler.ready("timeline")
    count = profiler.tab.locator("[data-testid=search-count][data-total]")
    count.wait_for()
    # The kernel, its launch, its op and an annotation.
    assert count.get_attribute("data-total") == "4"


def test_an_address_of_such_things(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board, run=NAMES[0], view="kernels", kernels=NAMES[1], by=NAMES[0], rank="__proto__")
    profiler.wait("page-kernels")
    profiler.wait("notice")
    profiler.wait("search-box")
    assert profiler.get("search-box").input_value() == NAMES[1]
    unharmed(profiler, "address")


def test_very_deep_stacks_are_drawn_as_far_as_a_canvas_holds(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    trace = TraceBuilder(with_stack=1)
    for level in range(2500):
        trace.python(level, 10_000 - level, f"deep.py({level % 9}): f")
    trace.write(tmp_path / "deep" / "worker0.1750000000000.pt.trace.json")
    profiler = visit(session_boards(tmp_path), run="deep", view="flame", weight="host", least="0.01").ready("flame")
    assert "1 800 levels more" in profiler.wait("icicle-deeper").inner_text().replace("\u202f", " ").replace(
        "\u2009", " "
    )
    canvas = profiler.get("flame-canvas")
    assert canvas.evaluate("(c) => c.getContext('2d').getImageData(20, 30, 1, 1).data[3]") == 255
