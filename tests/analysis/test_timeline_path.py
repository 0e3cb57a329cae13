"""The critical path over the timeline, and the counters of devices, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from build import TraceBuilder
from kinetoscope.timeline import Timeline, measures
from tables import trace_of


def step() -> TraceBuilder:
    """Return a step of 50 µs: an op, its launch, and a kernel that ends with the step."""
    builder = TraceBuilder().step(0, 0, 50).op(5, 20, "A").launch(10, 14, 1)
    return builder.kernel(18, 50, name="K", correlation=1, args={"blocks per SM": 0.5})


def test_the_path_goes_from_row_to_row() -> None:
    timeline = Timeline(trace_of(step()))
    path = timeline.path(0, 50_000, 1000)
    assert path["kind"] == ["untraced host", "host work", "launch calls", "launch latency", "compute"]
    assert path["start_ns"] == [0, 5_000, 10_000, 14_000, 18_000]
    assert path["end_ns"] == [5_000, 10_000, 14_000, 18_000, 50_000]
    assert path["stretches"] == 5
    rows = {lane["kind"]: lane["first_row"] for lane in timeline.lanes()["lanes"]}
    # the launch waits on the kernel's row; nothing was recorded before the op, and no row is before it
    assert path["row"][0] is None
    assert path["row"][3:] == [rows["stream"], rows["stream"]]
    assert path["row"][1] >= rows["thread"]


def test_stretches_within_a_pixel_are_one_on_the_row_of_the_longest() -> None:
    timeline = Timeline(trace_of(step()))
    path = timeline.path(0, 50_000, 2)
    # [0, 25) holds the begins of all five; the kernel is the longest
    assert (path["start_ns"], path["end_ns"], path["kind"]) == ([0], [50_000], ["compute"])
    assert path["stretches"] == 5


def test_a_window_cuts_the_path() -> None:
    path = Timeline(trace_of(step())).path(12_000, 16_000, 1000)
    assert (path["start_ns"], path["end_ns"]) == ([12_000, 14_000], [14_000, 16_000])


def test_counters_of_a_device() -> None:
    trace = trace_of(step())
    found = {counter.title: counter for counter in measures.counters(trace)}
    assert list(found) == ["Utilization", "SM efficiency", "Queue depth"]
    # parts of 10 µs: the kernel runs from 18 to 50
    assert found["Utilization"].value[:5].tolist() == [0, 20, 100, 100, 100]
    assert found["SM efficiency"].value[:5].tolist() == [0, 10, 50, 50, 50]
    depth = found["Queue depth"]
    assert list(zip(depth.time.tolist(), depth.value.tolist(), strict=True)) == [(10_000, 1), (50_000, 0)]


def test_means_of_the_parts_are_the_means_of_the_whole() -> None:
    builder = TraceBuilder()
    rng = np.random.default_rng(5)
    at = 0.0
    for number in range(300):
        length = int(rng.integers(1, 40))
        builder.kernel(
            int(at), int(at) + length, args={"blocks per SM": float(rng.integers(1, 20)) / 10}, stream=number % 3
        )
        at += float(rng.integers(0, 30))
    trace = trace_of(builder)
    device = trace.view("devices").iloc[0]
    span = trace.columns.end.max()
    for counter, column in zip(measures.counters(trace)[:2], ("utilization_pct", "sm_efficiency_pct"), strict=True):
        edges, value = counter.time, counter.value[:-1]
        total = (value * np.diff(edges)).sum() / span
        assert total == pytest.approx(device[column], rel=1e-4)


def test_without_devices_there_are_no_counters() -> None:
    assert measures.counters(trace_of(TraceBuilder().op(0, 10))) == []
