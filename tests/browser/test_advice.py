"""Overview: the verdict names what the device waits for; findings come ranked, with figures and the way to their evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import corpus
from browser import asked, reading
from browser.profiler import Profiler
from browser.tb import TensorBoard
from browser.test_theme import turn

CPU = "cpu_training_workers0"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace that data loading and a blocking call hold up."""
    return asked.story().write(tmp_path_factory.mktemp("told") / "worker0.1750000000000.pt.trace.json")


@pytest.fixture(scope="module")
def board(told: Path, session_boards: Callable[..., TensorBoard]) -> TensorBoard:
    return session_boards(told.parent)


def test_the_verdict_leads_to_the_cause(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board).ready("overview")
    verdict = profiler.get("verdict")
    verdict.get_by_role("button", name="29.8").wait_for()
    assert (
        verdict.inner_text().replace("\u202f", " ")
        == (
            "A step takes 1.00 ms in the median (±0.0 %). The GPU works 43.3 % of the steps and idles 56.7 %: "
            "in 29.8 % it waits for data loading, in 12.5 % it stands empty behind blocking calls. "
        ).strip()
    )
    causes = asked.view(told, "idle").set_index("cause")["total_us"]
    window = asked.view(told, "devices")["window_us"].iloc[0]
    assert round(100 * causes["data loading"] / window, 1) == 29.8
    verdict.get_by_role("button", name="12.5").click()
    profiler.ready("idle")
    profiler.wait_for_address(view="idle", idle='{"cause":"synchronization"}')
    profiler.tab.locator("[data-testid=tree-row][aria-selected=true]").wait_for()
    profiler.page.go_back()
    profiler.ready("overview")


def test_findings_are_those_of_the_command_line(board: TensorBoard, told: Path, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board).ready("overview")
    profiler.wait("finding")
    advice = asked.view(told, "advice")
    found = advice[advice["status"] == "found"]
    rules = profiler.get("finding").evaluate_all("(all) => all.map((one) => one.dataset.rule)")
    assert rules == list(found["rule"])
    for row in found.itertuples():
        item = profiler.tab.locator(f"[data-testid=finding][data-rule={row.rule}]")
        assert row.claim in item.inner_text()
        gain = item.get_by_test_id("finding-gain")
        if row.gain_us == row.gain_us:
            assert int(gain.get_attribute("data-gain-ns") or 0) == reading.nanoseconds(row.gain_us)
        else:
            assert gain.count() == 0
        item.locator("summary").click()
        link = item.locator("a")
        assert [link.get_attribute(name) for name in ("href", "target", "rel")] == [
            row.link,
            "_blank",
            "noopener noreferrer",
        ]
        assert row.fix in item.inner_text()
    for status in ("fine", "unknown"):
        listed = profiler.get(f"advice-{status}").locator("li")
        assert listed.count() == (advice["status"] == status).sum()
        assert not listed.first.is_visible()
        profiler.get(f"advice-{status}").locator("summary").click()
        assert listed.first.is_visible()


def test_show_me_opens_the_evidence(board: TensorBoard, visit: Callable[..., Profiler]) -> None:
    profiler = visit(board).ready("overview")
    places = {
        "input_bound": {"view": "idle", "idle": '{"cause":"data loading"}'},
        "loader_workers": {"view": "idle", "part": "input"},
        "sync_per_step": {"view": "idle", "part": "blocking"},
        "stacks": {"view": "idle", "tree": "source"},
    }
    for rule, address in places.items():
        profiler.wait("finding")
        profiler.tab.locator(f"[data-rule={rule}]").get_by_test_id("finding-show").click()
        profiler.wait_for_address(**address)
        profiler.wait("page-idle")
        profiler.page.go_back()
        profiler.ready("overview")
    profiler.wait("finding").get_by_role("button", name="Longest, in timeline").click()
    profiler.ready("timeline")
    profiler.wait_for_select("gap:")


def test_the_host_alone_could_not_be_checked(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=CPU).ready("overview")
    advice = asked.view(min((corpus.SAMPLES / CPU).glob("*.gz")), "advice")
    unknown = profiler.wait("advice-unknown")
    assert f"({(advice['status'] == 'unknown').sum()})" in unknown.locator("summary").inner_text()
    assert profiler.get("finding").count() == (advice["status"] == "found").sum()


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_nothing_serious(board: TensorBoard, visit: Callable[..., Profiler], theme: str) -> None:
    profiler = visit(board).ready("overview")
    turn(profiler, theme)
    profiler.wait("finding")
    for summary in profiler.tab.locator("#findings summary").all():
        summary.click()
    found = [
        f"{one['id']} {one['nodes'][0]['html'][:200]}"
        for one in Axe().run(profiler.frame).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert found == []
