"""The critical path, by hand and for any trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

import corpus
import kinetoscope as ks
from build import TraceBuilder
from random_traces import traces
from tables import rows, trace_of

if TYPE_CHECKING:
    from pathlib import Path


def path(trace: ks.Trace) -> list[tuple[float, float, str, str | None]]:
    """Return the stretches: start, length, kind, event."""
    return rows(trace, "critical_path_stretches", "start_us", "duration_us", "kind", "name")


def test_from_the_last_work_over_its_launch_to_the_host() -> None:
    builder = TraceBuilder().step(0, 0, 50).op(5, 20, "A").launch(10, 14, 1).kernel(18, 60, name="K", correlation=1)
    assert path(trace_of(builder)) == [
        (0, 5, "untraced host", None),
        (5, 5, "host work", "A"),
        (10, 4, "launch calls", "cudaLaunchKernel"),
        (14, 4, "launch latency", "K"),
        (18, 42, "compute", "K"),
    ]


def test_queued_work_runs_back_along_its_stream() -> None:
    builder = TraceBuilder().step(0, 0, 50).launch(0, 1, 1).launch(1, 2, 2).launch(2, 3, 3)
    builder.kernel(10, 20, name="A", correlation=1).kernel(22, 30, name="B", correlation=2)
    builder.memcpy(30, 40, name="Memcpy DtoD", correlation=3)
    trace = trace_of(builder)
    assert path(trace) == [
        (0, 1, "launch calls", "cudaLaunchKernel"),
        (1, 9, "launch latency", "A"),
        (10, 10, "compute", "A"),
        (20, 2, "device scheduling", "B"),
        (22, 8, "compute", "B"),
        (30, 10, "memcpy", "Memcpy DtoD"),
        (40, 10, "untraced host", None),
    ]
    sums = rows(trace, "critical_path", "kind", "side", "count", "total_us", "share_pct", "gain_us")
    assert sums[0] == ("compute", "device", 2, 18, 36, 18)
    assert sum(row[3] for row in sums) == 50


def test_a_blocking_call_leads_to_the_work_it_waited_for() -> None:
    builder = TraceBuilder().step(0, 0, 100).launch(0, 2, 1).kernel(5, 40, name="A", correlation=1)
    builder.op(10, 50, "aten::item").launch(12, 46, name="cudaStreamSynchronize").op(60, 80, "B")
    builder.launch(62, 64, 2).kernel(70, 90, name="C", correlation=2)
    assert path(trace_of(builder)) == [
        (0, 2, "launch calls", "cudaLaunchKernel"),
        (2, 3, "launch latency", "A"),
        (5, 35, "compute", "A"),
        (40, 6, "synchronization", "cudaStreamSynchronize"),
        (46, 4, "host work", "aten::item"),
        (50, 10, "untraced host", None),
        (60, 2, "host work", "B"),
        (62, 2, "launch calls", "cudaLaunchKernel"),
        (64, 6, "launch latency", "C"),
        (70, 20, "compute", "C"),
        (90, 10, "untraced host", None),
    ]


def test_a_recorded_wait_leads_to_the_other_stream(tmp_path: Path) -> None:
    builder = TraceBuilder().step(0, 0, 60).launch(0, 1, 1).launch(2, 3, 2).launch(6, 7, 3)
    builder.kernel(10, 20, name="A", correlation=1, stream=7).kernel(10, 40, name="B", correlation=2, stream=20)
    wait = {"stream": 7, "device": 0, "wait_on_stream": 20}
    builder.complete("cuda_sync", "Stream Wait Event", (4, 5), (0, 7), wait)
    trace = ks.load(builder.kernel(43, 60, name="C", correlation=3, stream=7).write(tmp_path / "t.json"))
    assert path(trace) == [
        (0, 1, "launch calls", "cudaLaunchKernel"),
        (1, 1, "untraced host", None),
        (2, 1, "launch calls", "cudaLaunchKernel"),
        (3, 7, "launch latency", "B"),
        (10, 30, "compute", "B"),
        (40, 3, "stream dependency", "C"),
        (43, 17, "compute", "C"),
    ]


def test_the_backward_thread_works_for_the_main_thread() -> None:
    builder = TraceBuilder().step(0, 0, 100).op(0, 20, "aten::mul", seq=3, fwd_thread=0)
    builder.annotation(30, 90, "backward").op(40, 70, "MulBackward0", tid=2, seq=3, fwd_thread=1)
    found = path(trace_of(builder))
    assert found == [
        (0, 20, "host work", "aten::mul"),
        (20, 10, "untraced host", None),
        (30, 10, "host work", "backward"),
        (40, 30, "host work", "MulBackward0"),
        (70, 20, "host work", "backward"),
        (90, 10, "untraced host", None),
    ]


def test_work_launched_before_the_recording_hands_over_to_the_main_thread() -> None:
    builder = TraceBuilder().op(0, 30, "A").kernel(10, 50, name="K", correlation=9)
    assert path(trace_of(builder)) == [(0, 10, "host work", "A"), (10, 40, "compute", "K")]


def test_each_period_has_its_own_path() -> None:
    builder = TraceBuilder().step(0, 0, 40).step(1, 40, 80)
    for number, start in ((1, 5), (2, 45)):
        builder.launch(start, start + 1, number).kernel(start + 5, start + 30, name="K", correlation=number)
    trace = trace_of(builder)
    assert rows(trace, "critical_path", "step", "kind", "total_us", by="step")[:1] == [(0, "compute", 25)]
    assert rows(trace, "critical_path", "total_us", step=1)[0] == (25,)
    assert sum(total for (total,) in rows(trace, "critical_path", "total_us", step=1)) == 40


def check(trace: ks.Trace) -> None:
    """The stretches tile each period."""
    steps = trace.steps_table
    bounds = (steps.start, steps.end) if len(steps) else trace.window
    stretches = trace.critical_path
    assert (stretches.end > stretches.start).all()
    for period, (start, end) in enumerate(zip(*(bound.tolist() for bound in bounds), strict=True)):
        own = stretches.take(stretches.period == period)
        if end > start:
            assert own.start[0] == start
            assert own.end[-1] == end
            assert (own.start[1:] == own.end[:-1]).all()


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(builder=traces())
def test_the_path_fills_each_period(builder: TraceBuilder) -> None:
    check(trace_of(builder))


#: In these the device never waits for the host: each period begins and ends within queued work.
DEVICE_ONLY = {"mi300_resnet_ddp"}


@corpus.parametrize(largest_mb=50.0)
def test_real_traces(known: corpus.Known) -> None:
    trace = ks.load(known.path)
    check(trace)
    sides = set(trace.view("critical_path")["side"])
    if trace.work.size and trace.host.rows.size:
        assert sides == ({"device"} if known.id in DEVICE_ONLY else {"device", "host"})


def test_no_events_no_path() -> None:
    assert trace_of(TraceBuilder()).view("critical_path").empty


@pytest.mark.parametrize("by", ["kind", "name", "step"])
def test_every_grouping_adds_up(by: str) -> None:
    builder = TraceBuilder().step(0, 0, 50).op(5, 20, "A").launch(10, 14, 1).kernel(18, 60, name="K", correlation=1)
    assert sum(total for (total,) in rows(trace_of(builder), "critical_path", "total_us", by=by)) == 60


def test_waiting_beside_another_stream_that_works_is_told_apart() -> None:
    builder = TraceBuilder().step(0, 0, 60).launch(0, 1, 1).launch(1, 2, 2).launch(2, 3, 3)
    builder.kernel(10, 20, name="A", correlation=1).kernel(12, 40, name="nccl", correlation=2, stream=20)
    assert path(trace_of(builder.kernel(45, 60, name="B", correlation=3)))[-4:] == [
        (10, 10, "compute", "A"),
        (20, 20, "other streams", "B"),
        (40, 5, "device scheduling", "B"),
        (45, 15, "compute", "B"),
    ]
