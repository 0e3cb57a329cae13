"""Figures that lie: impossible durations and shifted clocks are found, and can be fixed beside the raw figures."""

import pytest

import kinetoscope as ks
from build import TraceBuilder
from tables import rows, severity_of, trace_of


def test_an_impossible_duration_is_found_and_can_be_repaired():
    builder = TraceBuilder().step(0, 0, 100).kernel(0, 10, name="K1").kernel(20, 3_000_020, name="K2")
    trace = trace_of(builder.kernel(40, 50, name="K3").kernel(60, 70, name="K4"))
    raw = dict(rows(trace, "kernels", "name", "total_us"))
    assert raw == {"K2": 3_000_000, "K1": 10, "K3": 10, "K4": 10}
    assert rows(trace, "devices", "busy_us", "window_us") == [(90, 100)]
    found = trace.health().set_index("check").loc["impossible durations"]
    assert (found["severity"], found["count"]) == ("error", 1)
    assert found["share_pct"] > 99.99
    assert rows(trace, "health_events", "name", check="impossible durations") == [("K2",)]
    repaired = trace.fixed("durations")
    assert dict(rows(repaired, "kernels", "name", "total_us")) == {"K2": 20, "K1": 10, "K3": 10, "K4": 10}
    assert rows(repaired, "devices", "busy_us", "utilization_pct") == [(50, 50)]
    assert severity_of(repaired, "impossible durations") == "ok"
    assert rows(trace, "devices", "busy_us") == [(90,)], "the raw trace stays as it is"


def test_several_impossible_durations_are_all_found():
    builder = TraceBuilder()
    for i in range(20):
        builder.kernel(10 * i, 10 * i + 5, name=f"k{i}")
    for i, end in ((2, 9_000_000), (7, 8_000_000), (11, 7_000_000)):
        builder.events[i]["dur"] = end
    trace = trace_of(builder)
    assert sorted(name for (name,) in rows(trace, "health_events", "name", check="impossible durations")) == [
        "k11",
        "k2",
        "k7",
    ]
    assert trace.fixed("durations").kernels["duration_ns"].sum() == 17 * 5_000 + 3 * 10_000


def test_a_long_last_collective_is_not_impossible():
    trace = trace_of(TraceBuilder().kernel(0, 10).kernel(20, 30).kernel(40, 1_000_000, name="ncclDevKernel_AllReduce"))
    assert severity_of(trace, "impossible durations") == "ok"


def test_ranges_and_synchronization_are_no_work():
    builder = TraceBuilder().step(0, 0, 100).kernel(10, 20).kernel(30, 40)
    builder.complete("gpu_user_annotation", "x", (10, 40), (0, 7), {}).complete(
        "cuda_sync", "Stream Sync", (0, 100), (0, 7), {"stream": 7}
    )
    assert rows(trace_of(builder), "devices", "busy_us", "utilization_pct") == [(20, 20)]


def test_a_shifted_device_clock_is_found_and_can_be_moved():
    builder = TraceBuilder()
    for i in range(10):
        builder.launch(100 * i + 50, 100 * i + 55, i + 1).kernel(100 * i + 20, 100 * i + 40, correlation=i + 1)
    trace = trace_of(builder)
    found = trace.health().set_index("check").loc["clock errors"]
    assert (found["severity"], found["count"]) == ("error", 10)
    moved = trace.fixed("clock")
    assert moved.launches["delay_ns"].min() == 0
    assert severity_of(moved, "clock errors") == "ok"
    assert moved.kernels["duration_ns"].sum() == trace.kernels["duration_ns"].sum()


def test_a_late_start_is_found_with_its_share_of_the_window():
    trace = trace_of(TraceBuilder().step(0, 0, 6000).launch(10, 12, 1).kernel(5000, 5100, correlation=1))
    found = trace.health().set_index("check").loc["late start"]
    assert found["severity"] == "warning"
    assert round(found["share_pct"], 1) == 83.1


def test_unknown_fixes_are_named():
    with pytest.raises(ks.KinetoscopeError, match="durations, clock"):
        trace_of(TraceBuilder()).fixed("magic")
