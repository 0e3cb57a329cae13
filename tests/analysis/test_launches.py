"""Launches, blocking calls, copies and the input pipeline, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from build import TraceBuilder
from kinetoscope import launching
from tables import rows, trace_of

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def queued() -> TraceBuilder:
    """Return three launches of op A: a long kernel, one shorter than its call, and one whose work was not recorded."""
    builder = TraceBuilder().step(0, 0, 100).op(0, 40, "A")
    builder.launch(2, 6, 1).kernel(10, 30, name="long", correlation=1)
    builder.launch(8, 20, 2).kernel(30, 34, name="short", correlation=2)
    return builder.launch(24, 26, 3)


def test_each_launch_has_its_delay_and_its_work() -> None:
    found = rows(
        trace_of(queued()), "launches", "start_us", "duration_us", "delay_us", "works", "work_name", "op", "step"
    )
    assert found == [
        (2, 4, 8, 1, "long", "A", 0),
        (8, 12, 22, 1, "short", "A", 0),
        (24, 2, None, 0, None, "A", 0),
    ]
    (sums,) = rows(
        trace_of(queued()),
        "launches",
        "op",
        "calls",
        "host_us",
        "works",
        "device_us",
        "short_kernels",
        "without_work",
        by="op",
    )
    assert sums == ("A", 3, 18, 2, 24, 1, 1)


def test_negative_delays_are_counted_and_left_out_of_means() -> None:
    builder = (
        TraceBuilder().launch(0, 2, 1).kernel(10, 12, correlation=1).launch(20, 22, 2).kernel(15, 30, correlation=2)
    )
    trace = trace_of(builder)
    columns = ("mean_delay_us", "median_delay_us", "max_delay_us", "negative_delays")
    assert rows(trace, "launches", *columns, by="name") == [(10, 10, 10, 1)]
    assert "1 launches have work that begins before them" in trace.view("launches").attrs["notes"][0]


def test_a_summary_per_device() -> None:
    (row,) = trace_of(queued()).view("launch_summary").to_dict("records")
    assert (row["launches"], row["works"], row["kernels"], row["short_kernels"], row["short_kernels_pct"]) == (
        2,
        2,
        2,
        1,
        50,
    )
    # one from 2 to 8, two from 8 to 30, one from 30 to 34; over the span from 10 to 34
    assert (row["max_queue_depth"], row["mean_queue_depth"]) == (2, pytest.approx((2 * 20 + 1 * 4) / 24))


def test_graph_launches_are_groups() -> None:
    builder = TraceBuilder().launch(0, 2, 1, name="cudaGraphLaunch")
    for start in (10, 20, 30):
        builder.kernel(start, start + 5, correlation=1)
    trace = trace_of(builder)
    assert rows(trace, "launches", "name", "graph", "works", "device_us") == [("cudaGraphLaunch", True, 3, 15)]
    assert rows(trace, "launch_summary", "graph_launches", "graph_works") == [(1, 3)]


def test_queue_depth_is_a_step_function() -> None:
    depth = launching.queue_depth(trace_of(queued()), 0)
    assert list(zip((depth.time / 1000).tolist(), depth.value.tolist(), strict=True)) == [
        (2, 1),
        (8, 2),
        (30, 1),
        (34, 0),
    ]
    assert launching.queue_depth(trace_of(queued()), 0, stream=8).time.size == 0


def test_queue_depth_counts_work_of_unknown_launch_from_its_start() -> None:
    depth = launching.queue_depth(trace_of(TraceBuilder().kernel(5, 9)), 0)
    # the trace's first event is its origin
    assert list(zip((depth.time / 1000).tolist(), depth.value.tolist(), strict=True)) == [(0, 1), (4, 0)]


def launch_bound(kernel: int) -> list[tuple[float, float]]:
    """Return launch-bound time and its share, of two kernels of some length that are launched 20 µs apart."""
    builder = TraceBuilder().step(0, 0, 50).launch(0, 2, 1).kernel(2, 2 + kernel, correlation=1)
    builder.launch(20, 22, 2).kernel(22, 22 + kernel, correlation=2)
    return rows(trace_of(builder.op(12, 24, "A")), "launch_summary", "launch_bound_us", "launch_bound_pct")


def test_launch_bound_time_lies_between_work_shorter_than_the_time_between_the_launches() -> None:
    # gap [12, 22): 8 µs of op A and 2 µs of the launch call; the time after the second kernel has no launch behind it
    assert launch_bound(10) == [(10, 20)]
    # gap [21, 22): of the second launch call; kernels of 19 µs are still shorter than 20 µs
    assert launch_bound(19) == [(1, 2)]
    assert launch_bound(20) == [(0, 0)]


def syncs() -> TraceBuilder:
    """Return an ``.item()`` and a ``.cpu()`` from a training line, and a plain synchronization."""
    builder = TraceBuilder().step(0, 0, 200).python(0, 100, "train.py(81): step")
    builder.launch(0, 1, 1).kernel(5, 40, name="work", correlation=1)
    builder.op(10, 50, "aten::item").op(12, 48, "aten::_local_scalar_dense").launch(
        14, 46, name="cudaStreamSynchronize"
    )
    builder.op(60, 90, "aten::to").op(61, 89, "aten::_to_copy").op(62, 88, "aten::copy_")
    builder.launch(64, 84, 2, name="cudaMemcpyAsync")
    builder.memcpy(70, 80, name="Memcpy DtoH (Device -> Pageable)", correlation=2, bytes=20_000)
    return builder.launch(150, 160, name="cudaDeviceSynchronize")


def test_blocking_calls_say_why_and_what_they_waited_for() -> None:
    columns = ("start_us", "duration_us", "busy_us", "idle_us", "reason", "waited_for", "source")
    assert rows(trace_of(syncs()), "syncs", *columns) == [
        (14, 32, 26, 6, ".item()", "work", "train.py(81): step"),
        (64, 20, 10, 10, "copy to or from the host", "Memcpy DtoH (Device -> Pageable)", "train.py(81): step"),
        (150, 10, 0, 10, "explicit synchronize", None, None),
    ]
    paths = [path for (path,) in rows(trace_of(syncs()), "syncs", "path")]
    assert paths == ["aten::item > aten::_local_scalar_dense", "aten::to > aten::_to_copy > aten::copy_", None]
    sums = rows(trace_of(syncs()), "syncs", "reason", "calls", "total_us", "idle_us", by="reason")
    assert sums[0] == (".item()", 1, 32, 6)


def test_masks_and_nonzero_are_told_from_plain_copies() -> None:
    builder = TraceBuilder().op(0, 50, "aten::nonzero").op(5, 45, "aten::copy_")
    trace = trace_of(builder.launch(10, 40, name="cudaStreamSynchronize"))
    assert rows(trace, "syncs", "reason") == [("nonzero or masking",)]


def test_copies_by_direction_and_memory() -> None:
    builder = TraceBuilder().kernel(0, 15)
    builder.memcpy(10, 20, name="Memcpy HtoD (Pinned -> Device)", bytes=50_000, stream=8)
    builder.memcpy(30, 40, name="Memcpy HtoD (Pageable -> Device)", bytes=10_000, stream=8)
    builder.memcpy(50, 52, name="CopyDeviceToHost", bytes=4_000, stream=8)
    columns = ("direction", "memory", "copies", "bytes", "total_us", "gb_per_s", "hidden_us", "exposed_us")
    assert rows(trace_of(builder), "copies", *columns) == [
        ("HtoD", "pinned", 1, 50_000, 10, 5, 5, 5),
        ("HtoD", "pageable", 1, 10_000, 10, 1, 0, 10),
        ("DtoH", None, 1, 4_000, 2, 2, 0, 2),
    ]


def test_the_input_pipeline_step_by_step() -> None:
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200)
    builder.loader(0, 30).op(32, 50, "aten::to").launch(34, 36, 1, name="cudaMemcpyAsync")
    builder.memcpy(38, 48, name="Memcpy HtoD (Pinned -> Device)", correlation=1, bytes=30_000)
    builder.launch(60, 62, 2).kernel(64, 90, correlation=2).loader(110, 130)
    builder.launch(101, 103, 3).kernel(105, 125, correlation=3)
    first, second = trace_of(builder).view("input_pipeline").to_dict("records")
    assert (first["step"], first["batches"], first["loader_us"], first["loader_pct"]) == (0, 1, 30, 30)
    assert (first["loader_idle_us"], first["waited_us"]) == (30, 30)
    assert (first["copies"], first["copied_bytes"], first["gb_per_s"], first["pageable_bytes"]) == (1, 30_000, 3, 0)
    # the device works until 125, so that only the last 5 µs of the loader's time are idle
    assert (second["loader_us"], second["loader_idle_us"], second["waited_us"], second["copies"]) == (20, 5, 5, 0)


def test_no_loader_is_said() -> None:
    trace = trace_of(TraceBuilder().step(0, 0, 10).launch(0, 1, 1).kernel(2, 4, correlation=1))
    assert trace.view("input_pipeline").attrs["notes"]
    assert np.isnan(trace.view("input_pipeline")["gb_per_s"]).all()


def test_api_calls_by_kind() -> None:
    builder = syncs().launch(170, 175, name="cudaMalloc").launch(180, 181, name="cudaGetDevice")
    trace = trace_of(builder)
    assert rows(trace, "api_calls", "start_us", kind="blocking") == [(14,), (64,), (150,)]
    assert rows(trace, "api_calls", "name", "kind", "calls", "total_us", by="name")[-2:] == [
        ("cudaLaunchKernel", "launch", 1, 1),
        ("cudaGetDevice", "other", 1, 1),
    ]
    assert rows(trace, "api_calls", "name", "duration_us", kind="allocation") == [("cudaMalloc", 5)]
