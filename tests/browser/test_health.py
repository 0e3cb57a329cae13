"""What was recorded badly is said first, and leads to the events behind it; fixes are off until somebody wants them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import corpus
from browser import reading
from browser.profiler import Profiler
from browser.tb import TensorBoard

GPU = "gpu_training_synthetic"
TRACE = min((corpus.SAMPLES / GPU).glob("worker0*.gz"))


def checks(path: Path) -> dict[str, str]:
    """Return the severity of each check; whether all ranks are there only the folder tells."""
    table = reading.view(path, "health")
    table = table[table["check"] != "ranks"]
    return dict(zip(table["check"], table["severity"], strict=True))


def told(profiler: Profiler) -> dict[str, str]:
    """Return the severity of each check as the page lists them."""
    toggle = profiler.wait("health-toggle")
    if toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    profiler.wait("health-row")
    found = dict(
        profiler.get("health-row").evaluate_all(
            "(rows) => rows.map((row) => [row.dataset.check, row.dataset.severity])"
        )
    )
    found.pop("ranks", None)
    return found


def test_the_checks_are_those_of_python(shown: Callable[..., Profiler]) -> None:
    profiler = shown(run=GPU, view="overview").ready("overview")
    assert told(profiler) == checks(TRACE)
    worst = profiler.get("health-strip").get_attribute("data-worst")
    assert worst == reading.view(TRACE, "health")["severity"].iloc[0]


def test_a_finding_leads_to_its_events(
    session_boards: Callable[..., TensorBoard], visit: Callable[..., Profiler]
) -> None:
    path = corpus.trace_path("mi300_resnet_ddp")
    profiler = visit(session_boards(path.parent)).ready("overview")
    assert told(profiler) == checks(path)
    show = profiler.get("health-row").get_by_test_id("health-show").first
    check = show.get_attribute("data-check")
    show.click()
    profiler.ready("timeline")
    total = len(reading.view(path, "health_events", check=check))
    count = profiler.tab.locator("[data-testid=marked-count][data-total]")
    count.wait_for()
    assert count.get_attribute("data-total") == str(total)
