"""Causes of idle time: the cases by hand, and what must hold for any trace."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
import pytest

import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.idle import causes, open_ranges
from tables import rows, trace_of

if TYPE_CHECKING:
    from pathlib import Path

Story = list[tuple[str, float, str | None]]


def stories(trace: ks.Trace, who: str = "op") -> dict[tuple[float, float], Story]:
    """Return each gap's segments: cause, length in µs, and who is to blame."""
    found: dict[tuple[float, float], Story] = {
        (gap.start_us, gap.start_us + gap.duration_us): [] for gap in trace.view("gaps").itertuples()
    }
    bounds = list(found)
    for gap, cause, length, name in rows(trace, "idle_segments", "gap", "cause", "duration_us", who):
        found[bounds[gap]].append((cause, length, name))
    return found


def host_work() -> TraceBuilder:
    """Return the case "Host work"."""
    return (
        TraceBuilder()
        .step(0, 0, 100)
        .op(0, 10, "A")
        .launch(2, 4, 1)
        .kernel(10, 30, correlation=1)
        .op(50, 80, "B")
        .launch(60, 65, 2)
        .kernel(70, 90, correlation=2)
    )


def test_host_work_launch_calls_and_latency() -> None:
    trace = trace_of(host_work())
    assert stories(trace) == {
        (0, 10): [("host work", 2, "A"), ("launch calls", 2, "A"), ("launch latency", 6, "A")],
        (30, 70): [
            ("untraced host", 20, None),
            ("host work", 10, "B"),
            ("launch calls", 5, "B"),
            ("launch latency", 5, "B"),
        ],
        (90, 100): [("untraced host", 10, None)],
    }
    sums = rows(trace, "idle", "device", "cause", "count", "total_us", "longest_us", "share_pct")
    assert sums == [
        (0, "untraced host", 2, 30, 20, 50),
        (0, "host work", 2, 12, 10, 20),
        (0, "launch latency", 2, 11, 6, pytest.approx(100 * 11 / 60)),
        (0, "launch calls", 2, 7, 5, pytest.approx(100 * 7 / 60)),
    ]


def test_synchronization_is_named_by_its_op() -> None:
    builder = TraceBuilder().step(0, 0, 100).op(28, 52, "aten::item").launch(30, 50, name="cudaStreamSynchronize")
    builder.launch(1, 2, 1).kernel(10, 40, correlation=1).op(66, 75, "C").launch(70, 72, 2)
    trace = trace_of(builder.kernel(80, 100, correlation=2))
    assert stories(trace) == {
        (0, 10): [("untraced host", 1, None), ("launch calls", 1, None), ("launch latency", 8, None)],
        (40, 80): [
            ("synchronization", 10, "aten::item"),
            ("host work", 2, "aten::item"),
            ("untraced host", 14, None),
            ("host work", 4, "C"),
            ("launch calls", 2, "C"),
            ("launch latency", 8, "C"),
        ],
    }
    main = rows(trace, "gaps", "cause", "cause_us", "op", "event_name")
    assert main == [("launch latency", 8, None, "cudaLaunchKernel"), ("untraced host", 14, None, None)]


def test_a_blocking_copy_ends_the_gap() -> None:
    builder = TraceBuilder().step(0, 0, 100).launch(0, 1, 1).kernel(0, 20, correlation=1).op(30, 70, "aten::copy_")
    builder.launch(35, 65, 2, name="cudaMemcpyAsync")
    trace = trace_of(builder.memcpy(60, 64, name="Memcpy HtoD (Pageable -> Device)", correlation=2))
    assert stories(trace) == {
        (20, 60): [
            ("untraced host", 10, None),
            ("host work", 5, "aten::copy_"),
            ("synchronization", 25, "aten::copy_"),
        ],
        (64, 100): [
            ("synchronization", 1, "aten::copy_"),
            ("host work", 5, "aten::copy_"),
            ("untraced host", 30, None),
        ],
    }


def test_a_pinned_copy_does_not_block() -> None:
    builder = TraceBuilder().step(0, 0, 100).launch(0, 1, 1).kernel(0, 20, correlation=1)
    trace = trace_of(builder.launch(35, 65, 2, name="cudaMemcpyAsync").memcpy(60, 100, correlation=2))
    assert stories(trace) == {(20, 60): [("untraced host", 15, None), ("launch calls", 25, None)]}


def test_data_loading_counts_whatever_runs_inside() -> None:
    builder = TraceBuilder().loader(40, 90).op(60, 70, "aten::stack").kernel(0, 40, correlation=9)
    trace = trace_of(builder.op(95, 106, "D").launch(100, 104, 2).kernel(110, 120, correlation=2))
    assert stories(trace)[(40, 110)] == [
        ("data loading", 20, None),
        ("data loading", 10, "aten::stack"),
        ("data loading", 20, None),
        ("untraced host", 5, None),
        ("host work", 5, "D"),
        ("launch calls", 4, "D"),
        ("launch latency", 6, "D"),
    ]
    (loader,) = [row for row in rows(trace, "idle", "annotation", "total_us", by="annotation") if row[0]]
    assert loader == ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 50)
    assert ("data loading", 50) in rows(trace, "idle", "cause", "total_us")


def test_where_the_launching_thread_shows_nothing_the_main_thread_may() -> None:
    builder = TraceBuilder().step(0, 0, 100).annotation(30, 100, "backward").kernel(10, 40, correlation=1)
    builder.op(60, 80, "MulBackward0", tid=2).launch(65, 68, 2, tid=2).kernel(72, 90, correlation=2)
    trace = trace_of(builder)
    assert stories(trace, "annotation") == {
        (40, 72): [
            ("host work", 20, "backward"),
            ("host work", 5, None),
            ("launch calls", 3, None),
            ("launch latency", 4, None),
        ],
        (90, 100): [("host work", 10, "backward")],
    }
    assert [name for _, _, name in stories(trace)[(40, 72)]] == [None, *["MulBackward0"] * 3]


def test_queued_work_waits_for_the_device() -> None:
    builder = TraceBuilder().launch(0, 1, 1).launch(1, 2, 2).kernel(10, 30, correlation=1).kernel(33, 40, correlation=2)
    assert stories(trace_of(builder)) == {
        (0, 10): [("launch calls", 1, None), ("launch latency", 9, None)],
        (30, 33): [("device scheduling", 3, None)],
    }


def wait_between_streams(stream: int) -> TraceBuilder:
    """Return work on stream 7 that was told to wait for another stream, where stream 20 ends where the gap begins."""
    builder = TraceBuilder().launch(0, 1, 1).launch(2, 3, 2).launch(6, 7, 3)
    builder.kernel(10, 20, correlation=1, stream=7).kernel(10, 30, correlation=2, stream=20)
    args = {"stream": 7, "device": 0, "wait_on_stream": stream}
    builder.complete("cuda_sync", "Stream Wait Event", (4, 5), (0, 7), args)
    return builder.kernel(33, 40, correlation=3, stream=7)


@pytest.mark.parametrize(("stream", "cause"), [(20, "stream dependency"), (8, "device scheduling")])
def test_a_recorded_wait_for_the_stream_that_ends_there_is_a_dependency(
    stream: int, cause: str, tmp_path: Path
) -> None:
    trace = ks.load(wait_between_streams(stream).write(tmp_path / "t.json"))
    assert stories(trace)[(30, 33)] == [(cause, 3, None)]


def test_inside_a_graph_even_while_the_launch_call_still_runs() -> None:
    builder = TraceBuilder().step(0, 0, 40).launch(5, 39, 1, name="cudaGraphLaunch")
    assert stories(trace_of(builder.kernel(20, 30, correlation=1).kernel(32, 40, correlation=1))) == {
        (0, 20): [("untraced host", 5, None), ("launch calls", 15, None)],
        (30, 32): [("inside a graph", 2, None)],
    }


def test_work_of_unknown_launch() -> None:
    trace = trace_of(TraceBuilder().kernel(0, 10, correlation=1).kernel(20, 30, correlation=2))
    assert stories(trace) == {(10, 20): [("no launch recorded", 10, None)]}


def test_allocation() -> None:
    builder = TraceBuilder().launch(0, 1, 1).kernel(0, 40, correlation=1).op(40, 80, "E")
    builder.launch(45, 65, name="cudaMalloc").launch(70, 72, 2).kernel(75, 90, correlation=2)
    assert stories(trace_of(builder)) == {
        (40, 75): [
            ("host work", 5, "E"),
            ("memory allocation", 20, "E"),
            ("host work", 5, "E"),
            ("launch calls", 2, "E"),
            ("launch latency", 3, "E"),
        ]
    }


def test_late_start() -> None:
    builder = TraceBuilder().step(0, 0, 6000).launch(10, 12, 1).kernel(5000, 5100, correlation=1)
    trace = trace_of(builder)
    assert stories(trace)[(0, 5000)] == [
        ("untraced host", 10, None),
        ("launch calls", 2, None),
        ("late start", 4988, None),
    ]


def test_an_edge_between_two_periods() -> None:
    builder = TraceBuilder().step(0, 0, 100).step(1, 150, 250)
    builder.launch(2, 4, 1).kernel(10, 90, correlation=1).launch(160, 162, 2).kernel(180, 200, correlation=2)
    trace = trace_of(builder)
    assert stories(trace) == {
        (0, 10): [("untraced host", 2, None), ("launch calls", 2, None), ("launch latency", 6, None)],
        (90, 100): [("untraced host", 10, None)],
        (150, 180): [("untraced host", 10, None), ("launch calls", 2, None), ("launch latency", 18, None)],
        (200, 250): [("untraced host", 50, None)],
    }
    assert rows(trace, "idle", "step", "total_us", by="step") == [(0, 20), (1, 80)]


def test_python_on_the_stack() -> None:
    trace = trace_of(host_work().python(0, 100))
    found = stories(trace, "source")
    line = "train.py(7): step"
    assert [segment[:2] for segment in found[(30, 70)]] == [
        ("host python", 20),
        ("host work", 10),
        ("launch calls", 5),
        ("launch latency", 5),
    ]
    assert found[(90, 100)] == [("host python", 10, line)]
    assert rows(trace, "idle", "source", "total_us", by="source") == [(line, 60)]
    assert any("Python" in note for note in trace.view("idle").attrs["notes"])


def test_the_source_is_the_users_line_not_the_librarys() -> None:
    builder = (
        TraceBuilder().python(0, 100, "train.py(7): step").python(10, 90, "torch/nn/modules/linear.py(125): forward")
    )
    builder.python(20, 80, "<built-in function linear>").kernel(0, 10, correlation=9)
    trace = trace_of(builder.launch(70, 75, 1).kernel(90, 100, correlation=1))
    assert {row[0] for row in rows(trace, "idle", "source", by="source")} == {"train.py(7): step"}


def test_a_backward_op_is_blamed_on_its_forward_ops_module() -> None:
    builder = TraceBuilder().python(0, 20, "nn.Module: Linear_3").op(5, 10, "aten::linear", seq=4, fwd_thread=0)
    builder.kernel(0, 30, correlation=9).op(30, 60, "AddmmBackward0", tid=2, seq=4, fwd_thread=1)
    trace = trace_of(builder.op(40, 55, "aten::mm", tid=2).launch(50, 52, 1, tid=2).kernel(70, 80, correlation=1))
    assert rows(trace, "idle", "module", "total_us", by="module") == [("nn.Module: Linear_3", 40)]


def test_a_module_that_runs_again_inside_a_backward_op_is_its_own_answer() -> None:
    builder = TraceBuilder().python(0, 20, "nn.Module: Block_0").op(5, 10, "CheckpointFunction", seq=4, fwd_thread=0)
    builder.kernel(0, 30, correlation=9).op(30, 60, "CheckpointFunctionBackward", tid=2, seq=4, fwd_thread=1)
    builder.python(35, 55, "nn.Module: Linear_3", tid=2)
    trace = trace_of(builder.launch(50, 52, 1, tid=2).kernel(70, 80, correlation=1))
    found = dict(rows(trace, "idle", "module", "total_us", by="module"))
    assert found == {"nn.Module: Linear_3": 35, "nn.Module: Block_0": 5}


def test_compiling_is_told_from_running_compiled_code() -> None:
    frame = "torch/_dynamo/convert_frame.py(520): compile"
    builder = TraceBuilder().kernel(0, 10, correlation=9).python(10, 40, frame).op(20, 30, "aten::op")
    builder.annotation(40, 60, "Torch-Compiled Region: 0/0").launch(70, 75, 1)
    trace = trace_of(builder.kernel(75, 80, correlation=1))
    assert rows(trace, "idle", "cause", "total_us") == [
        ("compilation", 30),
        ("host work", 20),
        ("untraced host", 10),
        ("launch calls", 5),
    ]


def test_a_time_range_cuts_segments() -> None:
    trace = trace_of(host_work())
    assert rows(trace, "idle", "cause", "total_us", start_us=40, end_us=62) == [
        ("untraced host", 10),
        ("host work", 10),
        ("launch calls", 2),
    ]


def test_segments_can_be_asked_for_by_what_they_name() -> None:
    trace = trace_of(host_work())
    assert rows(trace, "idle_segments", "start_us", cause="host work", op="B") == [(50,)]
    assert rows(trace, "idle_segments", "start_us", op="") == [(30,), (90,)]
    assert rows(trace, "idle_tree", "cause", "op", "total_us")[:2] == [
        ("untraced host", None, 30),
        ("host work", "B", 10),
    ]


def test_too_many_parts_stop_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_ranges, "MOST_PARTS", 0)
    with pytest.raises(ks.KinetoscopeError, match="more than 0 parts"):
        trace_of(host_work()).view("idle")


def blocking_calls(count: int) -> TraceBuilder:
    """Return ops that each launch a kernel and wait for it; steps begin and end in gaps."""
    builder = TraceBuilder()
    for i in range(count):
        at = 40 * i
        builder.op(at, at + 38, f"op {i % 5}").launch(at + 2, at + 6, i + 1).kernel(at + 10, at + 22, correlation=i + 1)
        builder.launch(at + 8, at + 30, name="cudaStreamSynchronize").op(at + 31, at + 33, "small", tid=2)
    for step in range(5):
        builder.step(step, 8 * count * step + 1, 8 * count * (step + 1))
    return builder


@pytest.mark.parametrize(("gaps", "parts"), [(1, 1), (7, 3), (64, 1 << 18)])
def test_gaps_that_are_looked_at_some_at_a_time_have_the_same_causes(
    gaps: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = trace_of(blocking_calls(200)).idle_segments
    monkeypatch.setattr(causes, "_GAPS", gaps)
    monkeypatch.setattr(causes, "_BLOCK", parts)
    cut = trace_of(blocking_calls(200)).idle_segments
    assert len(cut) > 1000
    for item in fields(cut):
        one, other = getattr(whole, item.name), getattr(cut, item.name)
        assert one.dtype == other.dtype, item.name
        assert np.array_equal(one, other), item.name


def test_too_many_parts_are_counted_over_all_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "_GAPS", 1)
    monkeypatch.setattr(open_ranges, "MOST_PARTS", 200)
    with pytest.raises(ks.KinetoscopeError, match="more than 200 parts"):
        trace_of(blocking_calls(200)).view("idle")


def test_finding_causes_takes_little_more_memory_than_keeping_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causes, "_GAPS", 200)
    trace = trace_of(blocking_calls(4_000))
    host, _ = trace.host_time, trace.forward_row
    # what was asked once is kept and counts no more
    causes.build(trace, host)
    tracemalloc.start()
    found = causes.build(trace, host)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    held = sum(getattr(found, item.name).nbytes for item in fields(found))
    assert held / len(found) <= 53
    assert len(found) > 20_000
    assert peak < 2 * held


def test_the_story_names_what_took_most_not_what_lasted_longest() -> None:
    builder = (
        TraceBuilder().kernel(0, 10, correlation=9).op(10, 14, "A").op(14, 17, "B").op(18, 21, "B").op(22, 23, "A")
    )
    trace = trace_of(builder.launch(30, 31, 1).kernel(31, 40, correlation=1))
    columns = ("cause", "cause_us", "event_name", "event_us", "op", "event_id")
    assert rows(trace, "gaps", *columns) == [("host work", 11, "B", 6, "B", 2)]


def test_no_device_no_causes() -> None:
    trace = trace_of(TraceBuilder().op(0, 10))
    assert trace.view("idle").empty
    assert trace.view("idle").attrs["notes"]
    assert trace.view("idle_segments").empty
