"""Figures beside the raw ones: every data route answers from the recording, and from the fixed trace only when asked to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kinetoscope
from build import TraceBuilder
from kinetoscope_tb.variants import Variants
from wire.serving import Served

ROUTES: dict[str, dict[str, Any]] = {
    "view": {"view": "devices"},
    "lanes": {},
    "names": {},
    "tile": {"rows": "0", "t0": 0, "t1": 100_000, "px": 100},
    "longest": {"entry": 0, "count": 1},
    "event": {"id": 2},
    "neighbor": {"id": 2, "by": 1},
    "search": {"q": "K"},
    "area": {"rows": "0", "t0": 0, "t1": 100_000},
    "path": {"t0": 0, "t1": 100_000, "px": 10},
    "minimap": {"px": 10},
    "info": {},
}


def broken() -> TraceBuilder:
    """Build a stream whose second kernel lost its end, and whose first begins before its launch."""
    trace = TraceBuilder().step(0, 0, 100)
    for number, (start, end) in enumerate(((0, 10), (20, 3_000_020), (40, 50), (60, 70)), 1):
        trace.kernel(start, end, name=f"K{number}", correlation=number, stream=7)
    return trace.launch(1, 2, 1)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    folder = tmp_path_factory.mktemp("log")
    broken().write(folder / "run" / "worker0.1750000000000.pt.trace.json")
    served = Served(folder)
    yield served, served.ready()
    served.close()


def busy(served: Served, trace: str, **fix: str) -> tuple[float, float]:
    data = served.json("view", trace=trace, view="devices", **fix)["data"]
    return data["busy_us"][0], data["window_us"][0]


def test_the_recording_is_what_is_shown_unless_asked(opened: tuple[Served, str]) -> None:
    served, trace = opened
    for _ in range(2):
        assert busy(served, trace) == busy(served, trace, fix="") == (90, 100), "all but the wait for K2"
        assert busy(served, trace, fix="durations") == (50, 100), "K2 ends where K3 begins"


def test_both_fixes_in_any_order(opened: tuple[Served, str]) -> None:
    served, trace = opened
    there = served.json("view", trace=trace, view="kernel_calls", fix="durations,clock")
    assert there["data"] == served.json("view", trace=trace, view="kernel_calls", fix=",clock,durations,clock")["data"]
    assert there["data"]["launch_delay_us"][0] == 0
    assert there["data"]["duration_us"][1] == 20
    clock = served.json("view", trace=trace, view="kernel_calls", fix="clock")
    assert clock["data"]["duration_us"][1] == 3_000_000
    assert served.json("view", trace=trace, view="kernel_calls")["data"]["launch_delay_us"][0] == -1


def test_info_of_the_fixed_trace(opened: tuple[Served, str]) -> None:
    served, trace = opened
    raw, fixed = served.json("info", trace=trace), served.json("info", trace=trace, fix="durations")
    assert raw == served.json("session", trace=trace)["info"]
    both = [{"fix": "durations", "events": 1, "applied": False}, {"fix": "clock", "events": 1, "applied": False}]
    assert raw["fixes"] == both
    assert fixed["fixes"] == [{**both[0], "applied": True}, both[1]]
    assert (raw["end_ns"], fixed["end_ns"]) == (3_000_020_000, 100_000)
    assert raw["health"]["counts"]["error"] == fixed["health"]["counts"]["error"] + 1
    checks = served.json("view", trace=trace, view="health", fix="durations")["data"]
    assert dict(zip(checks["check"], checks["severity"], strict=True))["impossible durations"] == "ok"


def test_the_events_behind_a_check(opened: tuple[Served, str]) -> None:
    served, trace = opened
    found = served.json("view", trace=trace, view="health_events", check="impossible durations")["data"]
    assert (found["name"], found["start_us"], found["duration_us"]) == (["K2"], [20], [3_000_000])
    message = served.problem(400, "view", trace=trace, view="health_events", check="weather")["message"]
    assert "impossible durations" in message


@pytest.mark.parametrize("route", ROUTES)
def test_every_data_route_takes_fixes(opened: tuple[Served, str], route: str) -> None:
    served, trace = opened
    for fix in ("", "durations", "clock", "durations,clock"):
        assert served.get(route, trace=trace, fix=fix, **ROUTES[route]).status_code == 200, fix
    message = served.problem(400, route, trace=trace, fix="durations,weather", **ROUTES[route])["message"]
    assert "durations, clock" in message
    assert served.problem(400, route, trace=trace, fix="x" * 300, **ROUTES[route])["code"] == "bad-parameter"


def test_a_fix_that_changes_nothing_is_the_recording(tmp_path: Path) -> None:
    path = TraceBuilder().kernel(0, 10).kernel(20, 30).write(tmp_path / "a.pt.trace.json")
    variants = Variants(kinetoscope.load(path), "a.pt.trace.json")
    asked = [variants.answer("info", {"fix": fix}).body for fix in ([], ["durations"], ["clock", "durations"])]
    assert len(set(asked)) == 1
    assert variants._fixed == {}


def test_only_some_combinations_are_kept(tmp_path: Path) -> None:
    variants = Variants(kinetoscope.load(broken().write(tmp_path / "a.pt.trace.json")), "a.pt.trace.json")
    for fix in (["durations"], ["clock"], ["durations", "clock"], ["durations"], ["durations"]):
        variants.answer("names", {"fix": fix})
    assert list(variants._fixed) == [("durations", "clock"), ("durations",)]
