"""Flame: the picture's rows are those of Python; it zooms by click and keys, and a frame leads to its source and the timeline."""

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

    from playwright.sync_api import Route

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))
UNITS = {"device": "device_total_us", "host": "host_total_us", "idle": "idle_total_us"}


@pytest.fixture
def flame(shown: Callable[..., Profiler]) -> Profiler:
    """Return the flame of the GPU sample, by host time: the widest frame is at the left."""
    return shown(run=GPU, view="flame", weight="host").ready("flame")


def table(profiler: Profiler) -> list[int]:
    """Show the rows as a table, all unfolded; return their values."""
    profiler.tab.get_by_role("button", name="Table", exact=True).click()
    profiler.get("frame-row").first.wait_for()
    profiler.tab.locator("[role=treegrid]").focus()
    profiler.press("Home")
    for _ in range(120):
        profiler.press("ArrowRight", "ArrowDown")
    return profiler.get("frame-row").evaluate_all("(rows) => rows.map((row) => +row.dataset.value)")


@pytest.mark.parametrize("weight", UNITS)
def test_the_table_has_the_values_of_python(shown: Callable[..., Profiler], weight: str) -> None:
    profiler = shown(run=GPU, view="flame", weight=weight, stackless="shown").ready("flame")
    expected = asked.view(TRACE, "stacks", weight=weight)
    roots = expected[expected["depth"] == 0]
    whole = sum(asked.nanoseconds(roots, UNITS[weight]))
    title = profiler.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"
    assert sorted(table(profiler)) == sorted(asked.nanoseconds(expected, UNITS[weight]))


@pytest.mark.parametrize("form", ["inverted", "file"])
def test_the_other_forms(shown: Callable[..., Profiler], form: str) -> None:
    profiler = shown(run=GPU, view="flame", form=form, weight="host").ready("flame")
    expected = asked.view(TRACE, "stacks", form=form, weight="host")
    assert profiler.tab.locator(".flame-picture").get_attribute("data-rows") == str(len(expected))
    column = "host_total_us" if form == "inverted" else "host_self_us"
    rows = expected[expected["depth"] == 0] if form == "inverted" else expected
    whole = sum(asked.nanoseconds(rows, column))
    title = profiler.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"


def test_what_has_no_stack_is_hidden_where_it_is_most(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="flame", weight="device").ready("flame")
    expected = asked.view(TRACE, "stacks", weight="device")
    bare = expected["name"].isna()
    share = 100 * expected["device_self_us"][bare].sum() / expected["device_self_us"].sum()
    assert share > 50
    hidden = profiler.wait("flame-hidden")
    assert f"{share:.1f}%" in reading.plain(hidden.inner_text())
    stacks = sorted(asked.nanoseconds(expected[~bare], "device_total_us"))
    assert sorted(table(profiler)) == stacks
    toggle = profiler.get("flame-stackless")
    assert toggle.get_attribute("aria-pressed") == "true"
    assert f"{share:.1f}%" in reading.plain(toggle.inner_text())
    hidden.get_by_role("button", name="Show it").click()
    profiler.wait_for_address(stackless="shown")
    hidden.wait_for(state="detached")
    # Last, though it is the widest.
    roots = profiler.tab.locator("[data-testid=frame-row][aria-level='1']")
    assert roots.last.inner_text().startswith("without a stack")
    toggle.click()
    profiler.wait_for_address(stackless="hidden")
    profiler.wait("flame-hidden")
    assert toggle.get_attribute("aria-pressed") == "true"


def test_what_has_no_stack_is_last_and_hatched(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="flame", weight="device", stackless="shown").ready("flame")
    canvas = profiler.get("flame-canvas")
    width = canvas.evaluate("(canvas) => canvas.clientWidth")
    canvas.hover(position={"x": width - 4, "y": 8})
    assert "without a stack" in profiler.wait("icicle-tip").inner_text() or "51.5" in reading.plain(
        profiler.get("icicle-tip").inner_text()
    )
    colours = """(canvas) => {
      const { width } = canvas;
      const { data } = canvas.getContext('2d').getImageData(Math.floor(width * 0.9), 4, Math.floor(width * 0.08), 1);
      const found = new Set();
      for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
      return found.size;
    }"""
    assert canvas.evaluate(colours) > 1


@pytest.mark.parametrize("within", ["start", "launch", "run"])
def test_stacks_of_a_selection(shown: Callable[..., Profiler], within: str) -> None:
    start, end = 6_000_000, 9_000_000
    address = {"filter": f"{start}-{end}", "within": within, "weight": "device", "stackless": "shown"}
    profiler = shown(run=GPU, view="flame", **address).ready("flame")
    profiler.wait("within")
    expected = asked.view(TRACE, "stacks", weight="device", start_us=start / 1000, end_us=end / 1000, within=within)
    whole = sum(asked.nanoseconds(expected, "device_self_us"))
    title = profiler.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"
    assert "in the chosen time" in profiler.tab.locator(".verdict").inner_text()
    assert sorted(table(profiler)) == sorted(asked.nanoseconds(expected, "device_total_us"))


def test_another_selection_forgets_the_zoom(flame: Profiler) -> None:
    flame.get("flame-canvas").click(position={"x": 40, "y": 28})
    flame.wait("crumbs")
    flame.show("overview")
    flame.get("step-bar").nth(1).click()
    flame.wait("filter-chip")
    flame.show("flame")
    assert flame.get("crumbs").count() == 0
    flame.wait_for_address(zoom=None)
    step = int(flame.address()["filter"].split("@")[0])
    expected = asked.view(TRACE, "stacks", weight="host", step=step)
    whole = sum(asked.nanoseconds(expected, "host_self_us"))
    title = flame.tab.locator(".verdict b").get_attribute("title") or ""
    assert reading.plain(title).replace(" ", "") == f"{whole / 1000:.3f}µs"


def test_zoom_by_click_and_back(flame: Profiler) -> None:
    expected = asked.view(TRACE, "stacks", weight="host")
    flame.get("flame-canvas").click(position={"x": 40, "y": 28})
    widest = expected[expected["depth"] == 0].sort_values("host_total_us", ascending=False)["id"].iloc[0]
    inner = expected[expected["parent"] == widest].sort_values("host_total_us", ascending=False).iloc[0]
    flame.wait_for_address(zoom=str(inner["node"]))
    assert "train_step" in flame.wait("crumbs").inner_text()
    details = flame.wait("frame-details")
    place = details.get_by_test_id("frame-place")
    place.wait_for()
    assert place.inner_text() == f"{inner['file']}:{inner['line']}"
    assert details.locator("a").count() == 0
    flame.get("crumbs").get_by_role("button", name="All").click()
    flame.wait_for_address(zoom=None)


def test_keys_walk_zoom_and_go_back(flame: Profiler) -> None:
    flame.tab.locator(".icicle").focus()
    flame.press("ArrowDown", "ArrowDown", "Enter")
    flame.wait("crumbs")
    flame.wait("frame-details")
    zoomed = flame.tab.locator(".crumbs b").inner_text()
    flame.press("Backspace")
    flame.tab.locator(".crumbs b", has_text=zoomed).wait_for(state="detached")
    flame.press("/")
    assert flame.frame.evaluate("() => document.activeElement.dataset.testid") == "search-box"


def test_zooming_asks_for_finer_stacks_and_keeps_the_picture_meanwhile(flame: Profiler) -> None:
    whole = asked.view(TRACE, "stacks", weight="host")
    node = whole[whole["name"] == "nn.Module: Net_0"].iloc[0]
    finer = asked.view(TRACE, "stacks", weight="host", root=int(node["node"]))
    assert len(finer) > len(whole)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    flame.page.route("**/view?*root=*", hold)
    canvas = flame.get("flame-canvas")
    width = canvas.evaluate("(canvas) => canvas.clientWidth")
    before = whole[(whole["depth"] == 2) & (whole["host_total_us"] > node["host_total_us"])]["host_total_us"].sum()
    left = width * (before + node["host_total_us"] / 2) / whole["host_total_us"].iloc[0]
    canvas.click(position={"x": float(left), "y": 2 * 19 + 8})
    flame.wait_for_address(zoom=str(node["node"]))
    picture = flame.tab.locator(".flame-picture")
    flame.tab.get_by_role("progressbar").wait_for()
    assert picture.get_attribute("data-rows") == str(len(whole))
    assert picture.get_attribute("data-refined") == "false"
    assert "Net_0" in flame.get("crumbs").locator("b").inner_text()
    share = flame.get("crumb-share").inner_text()
    assert f"{100 * node['host_total_us'] / whole['host_total_us'].iloc[0]:.1f}%" in reading.plain(share)
    for route in held:
        route.continue_()
    flame.page.unroute("**/view?*root=*", hold)
    flame.tab.locator(f".flame-picture[data-refined=true][data-rows='{len(finer)}']").wait_for()
    # Shares stay those of the whole.
    assert flame.get("crumb-share").inner_text() == share
    assert flame.tab.get_by_role("progressbar").count() == 0


def test_what_is_smaller_can_be_opened(shown: Callable[..., Profiler]) -> None:
    flame = shown(run=GPU, view="flame", weight="host", least=5).ready("flame")
    expected = asked.view(TRACE, "stacks", weight="host", min_share_pct=5)
    step = expected[expected["name"] == "train.py(36): train_step"].iloc[0]
    small = expected[(expected["name"] == "(smaller)") & (expected["node"] == step["node"])].iloc[0]
    exact = asked.nanoseconds(small.to_frame().T, "host_total_us")[0]
    table(flame)
    flame.tab.locator(f"[data-testid=frame-row][data-value='{exact}']").click()
    flame.page.wait_for_url(lambda _: flame.address().get("zoom", "").startswith(f"{step['node']}~"))
    told = reading.plain(flame.get("crumb-share").get_attribute("title") or "").replace(" ", "")
    assert told == f"{exact / 1000:.3f}µs"
    # What the sum was made of, all of it: rows one level below it add up to it.
    flame.tab.locator("[data-testid=frame-row]", has_text="backward").wait_for()
    rows = flame.tab.locator("[data-testid=frame-row][aria-level='2']")
    values = rows.evaluate_all("(rows) => rows.map((row) => +row.dataset.value)")
    assert sum(values) == exact
    assert len(values) > 2
    assert flame.get("frame-details").count() == 0
    link = flame.address()
    flame.reset(run=GPU, view="overview").ready("overview")
    flame.reset(**link).ready("flame")
    flame.tab.locator(".flame-picture[data-refined=true]").wait_for()
    again = reading.plain(flame.wait("crumb-share").get_attribute("title") or "").replace(" ", "")
    assert again == told


def test_the_least_share(flame: Profiler) -> None:
    flame.get("flame-least").select_option("0.01")
    flame.wait_for_address(least="0.01")
    rows = len(asked.view(TRACE, "stacks", weight="host", min_share_pct=0.01))
    flame.tab.locator(f".flame-picture[data-rows='{rows}']").wait_for()
    assert rows > len(asked.view(TRACE, "stacks", weight="host"))


def test_search_reaches_frames_too_small_to_be_drawn(flame: Profiler) -> None:
    drawn = asked.view(TRACE, "stacks", weight="host")
    expected = asked.view(TRACE, "stacks", weight="host", find="linear")
    fits = expected["name"].str.contains("Linear", na=False)
    assert 0 < drawn["name"].str.contains("Linear", na=False).sum() < fits.sum()
    flame.get("search-box").fill("linear")
    flame.wait_for_address(flames="linear")
    flame.tab.locator(f".flame-picture[data-pale='{len(expected) - fits.sum()}']").wait_for()
    found = flame.tab.locator(f"[data-testid=flame-found][data-frames='{fits.sum()}']")
    found.wait_for()
    # None is within another one here: together they have what each has.
    total = sum(asked.nanoseconds(expected[fits], "host_total_us"))
    title = reading.plain(found.locator("b").get_attribute("title") or "").replace(" ", "")
    assert title.startswith(f"{total / 1000:.3f}µs")
    whole = sum(asked.nanoseconds(expected, "host_self_us"))
    assert f"({100 * total / whole:.1f}%" in reading.plain(found.inner_text())
    nodes = [str(node) for node in expected["node"][fits]]
    flame.press("Enter")
    flame.page.wait_for_url(lambda _: flame.address().get("select", "").startswith(f"frame:{nodes[0]}:"))
    flame.tab.locator(".icicle").focus()
    flame.press("n")
    flame.page.wait_for_url(lambda _: flame.address().get("select", "").startswith(f"frame:{nodes[1]}:"))
    assert flame.get("flame-found-at").inner_text() == f"2 of {len(nodes)}"
    flame.press("N", "N")
    flame.page.wait_for_url(lambda _: flame.address().get("select", "").startswith(f"frame:{nodes[-1]}:"))
    flame.get("search-box").fill("nothing is called so")
    flame.tab.locator("[data-testid=flame-found][data-frames='0']", has_text="fits").wait_for()


def test_a_frame_has_its_own_figures_first(shown: Callable[..., Profiler]) -> None:
    expected = asked.view(TRACE, "stacks", weight="device", min_share_pct=0)
    places = expected[expected["name"] == "nn.Module: Net_0"].iloc[0]
    select = f'frame:{places["node"]}:"nn.Module: Net_0"'
    flame = shown(run=GPU, view="flame", weight="device", select=select).ready("flame")
    here = flame.wait("frame-here")
    titles = here.locator("dd").evaluate_all("(cells) => cells.map((cell) => cell.title)")
    told = reading.plain(" ".join(titles)).replace(" ", "")
    for column in ("device_total_us", "device_self_us", "host_total_us", "host_self_us"):
        value = asked.nanoseconds(places.to_frame().T, column)[0]
        assert f"{value / 1000:.3f}µs" in told
    share = 100 * places["device_total_us"] / expected["device_self_us"].sum()
    assert f"{share:.1f}%" in reading.plain(here.inner_text())
    path = flame.get("frame-path").locator("li")
    assert [text.split(" (")[0] for text in path.all_inner_texts()] == ["train_step", "main"]
    assert flame.wait("frame-everywhere").get_attribute("data-places") == "1"
    path.first.get_by_role("button").click()
    flame.wait_for_address(zoom=str(places["node"] - 3))
    assert "train_step" in flame.get("crumbs").locator("b").inner_text()


def test_the_mouse_tells_exact_figures(flame: Profiler) -> None:
    expected = asked.view(TRACE, "stacks", weight="host")
    widest = expected[expected["depth"] == 0].sort_values("host_total_us", ascending=False).iloc[0]
    flame.get("flame-canvas").hover(position={"x": 40, "y": 8})
    told = reading.plain(flame.wait("icicle-tip").inner_text()).replace(" ", "")
    exact = asked.nanoseconds(widest.to_frame().T, "host_total_us")[0]
    assert f"{exact / 1000:.3f}µs" in told


OBJECT = "<built-in method to of Tensor object at 0x7f{}>"


def story() -> TraceBuilder:
    """Return two steps that call the same frames, the longer ones in a test and not in the step; and an idle thread."""
    trace = TraceBuilder(with_stack=1).python(0, 2000, "train.py(1): main")
    for step, at in enumerate((0, 1000)):
        trace.step(step, at, at + 1000).python(at + 10, at + 300, "train.py(9): train")
        trace.python(at + 20, at + 60 + 20 * step, OBJECT.format(at)).python(at + 400, at + 900, "train.py(5): test")
        trace.python(at + 410, at + 800, OBJECT.format(at + 1)).launch(at + 30, at + 40, step + 1)
        trace.kernel(at + 50, at + 250, correlation=step + 1)
    trace.kernel(500, 1000, correlation=77)
    return trace.python(0, 2000, "threading.py(3): wait", tid=2)


@pytest.fixture(scope="module")
def told(session_boards: Callable[..., TensorBoard], tmp_path_factory: pytest.TempPathFactory) -> TensorBoard:
    folder = tmp_path_factory.mktemp("told")
    story().write(folder / "told" / "worker0.1750000000000.pt.trace.json")
    return session_boards(folder)


def test_a_place_is_shown_in_the_timeline(told: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(told, run="told", view="flame", weight="host", thread="thread 1", flames="Tensor").ready("flame")
    profiler.tab.locator("[data-testid=flame-found][data-frames='2']").wait_for()
    # The one in the step: shorter than that in the test, and without the address that its events are called by.
    profiler.press("n", "n")
    profiler.tab.locator(".details-title h2", has_text="Tensor object>").wait_for()
    assert "train (train.py:9)" in profiler.wait("frame-path").inner_text()
    profiler.wait("frame-details").get_by_role("button", name="Show in timeline").click()
    profiler.ready("timeline")
    profiler.tab.locator(".details-title h2", has_text=OBJECT.format(1000)).wait_for()
    count = profiler.tab.locator("[data-testid=search-count][data-total='4']", has_text="3 of 4")
    count.wait_for()
    view = profiler.view()
    assert view["t0"] < 1_020_000 < 1_100_000 < view["t1"] < 2_000_000


def test_a_place_is_shown_in_the_chosen_step(told: TensorBoard, visit: Callable[..., Profiler]) -> None:
    address = {"weight": "host", "thread": "thread 1", "filter": "0@0-1000000", "flames": "Tensor -x"}
    profiler = visit(told, run="told", view="flame", **address).ready("flame")
    profiler.tab.locator("[data-testid=flame-found][data-frames='2']").wait_for()
    profiler.press("n", "n")
    profiler.wait("frame-details").get_by_role("button", name="Show in timeline").click()
    profiler.ready("timeline")
    profiler.tab.locator(".details-title h2", has_text=OBJECT.format(0)).wait_for()
    profiler.tab.locator("[data-testid=search-count][data-total='2']", has_text="1 of 2").wait_for()
    # A search of one's own is one over everything again.
    profiler.get("search-box").fill("train")
    profiler.wait_for_address(qat=None)


def test_the_stacks_of_one_thread(told: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(told, run="told", view="flame", weight="host").ready("flame")
    threads = profiler.wait("flame-thread").locator("option")
    assert threads.all_inner_texts() == ["All threads", "thread 1", "thread 2"]
    exact = "(b) => b.title.replace(/\\s/g, '')"
    assert profiler.tab.locator(".verdict b").evaluate(exact) == "4000.000µs"
    profiler.get("flame-thread").select_option("thread 2")
    profiler.tab.locator(".verdict", has_text="on one thread").wait_for()
    assert profiler.tab.locator(".verdict b").evaluate(exact) == "2000.000µs"
    assert table(profiler) == [2_000_000]
    assert profiler.address()["thread"] == "thread 2"


def test_what_has_no_stack_says_why(told: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(told, run="told", view="flame", stackless="shown").ready("flame")
    canvas = profiler.get("flame-canvas")
    width = canvas.evaluate("(canvas) => canvas.clientWidth")
    canvas.click(position={"x": width - 4, "y": 8})
    why = profiler.wait("frame-without")
    assert "launch call was not recorded" in why.inner_text()
    # 500 µs of 900.
    assert "55.6%" in reading.plain(why.inner_text())
    profiler.wait_for_address(select="frame:null")
    why.get_by_role("button", name="Show operators too").click()
    profiler.wait_for_address(frames="all")


def test_paths_and_missing_stacks(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler], tmp_path: Path
) -> None:
    name = "/home/ada/<b>x</b>/" + "long" * 1200 + ".py(7): step"
    trace = TraceBuilder(with_stack=1).python(0, 1000, name).op(10, 100, "aten::relu")
    trace.write(tmp_path / "stacks" / "worker0.1750000000000.pt.trace.json")
    TraceBuilder().op(10, 100, "aten::relu").write(tmp_path / "none" / "worker0.1750000000000.pt.trace.json")
    board = session_boards(tmp_path)
    profiler = visit(board, run="stacks", view="flame").ready("flame")
    profiler.get("flame-canvas").click(position={"x": 40, "y": 8})
    link = profiler.wait("frame-details").locator("a")
    link.wait_for()
    assert (link.get_attribute("href") or "").startswith("vscode://file/home/ada/%3Cb%3Ex%3C/b%3E/")
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert profiler.frame.evaluate(wide) <= 0
    profiler = visit(board, run="none", view="flame").ready("flame")
    assert "with_stack=True" in profiler.wait("table-note").inner_text()
