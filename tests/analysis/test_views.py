"""The views by hand: devices, gaps, kernels; and what must hold for any trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import TraceBuilder
from kinetoscope.errors import ChoiceError
from kinetoscope.views import registry
from tables import SPLIT, rows, trace_of


def test_two_streams_overlap():
    trace = trace_of(TraceBuilder().step(0, 0, 200).kernel(0, 100).kernel(50, 150, stream=20))
    device = trace.view("devices").iloc[0]
    assert (device["busy_us"], device["utilization_pct"], device["summed_us"], device["gaps"]) == (150, 75, 200, 1)
    assert device["concurrency"] == pytest.approx(200 / 150)


def test_kernels_that_overlap_on_one_stream_are_both_kept():
    trace = trace_of(TraceBuilder().kernel(0, 100).kernel(90, 150))
    device = trace.view("devices").iloc[0]
    assert (device["busy_us"], device["summed_us"]) == (150, 160)
    assert len(trace.view("kernel_calls")) == 2


def test_gaps_name_what_ended_them_and_its_launch():
    builder = TraceBuilder().step(0, 0, 100)
    builder.op(0, 10, "A").launch(2, 4, 1).op(50, 80, "B").launch(60, 65, 2)
    builder.kernel(10, 30, name="K1", correlation=1).kernel(70, 90, name="K2", correlation=2)
    found = rows(
        trace_of(builder), "gaps", "start_us", "duration_us", "ended_by", "next_name", "launch_delay_us", "step"
    )
    assert found == [
        (0, 10, "kernel", "K1", 8.0, 0),
        (30, 40, "kernel", "K2", 10.0, 0),
        (90, 10, "window end", None, None, 0),
    ]


def test_a_gap_at_a_periods_edge_knows_the_next_work():
    builder = TraceBuilder().step(0, 0, 100).step(1, 150, 250).launch(2, 4, 1).launch(160, 162, 2)
    builder.kernel(10, 90, correlation=1, name="K1").kernel(180, 200, correlation=2, name="K2")
    found = rows(trace_of(builder), "gaps", "start_us", "duration_us", "ended_by", "next_name", "previous_name", "step")
    assert found == [
        (0, 10, "kernel", "K1", None, 0),
        (90, 10, "window end", "K2", "K1", 0),
        (150, 30, "kernel", "K2", "K1", 1),
        (200, 50, "window end", None, "K2", 1),
    ]


def test_of_works_that_start_together_the_one_launched_first_ends_the_gap():
    builder = TraceBuilder().step(0, 0, 100).launch(5, 6, 2, name="second").launch(1, 2, 1, name="first")
    builder.kernel(50, 60, correlation=2, stream=1, name="late").memcpy(50, 55, correlation=1, stream=2, name="early")
    builder.launch(0, 1, 3).kernel(50, 50, correlation=3, stream=3, name="empty")
    first = rows(trace_of(builder), "gaps", "next_name", "ended_by", "launch_delay_us")[0]
    assert first == ("early", "memcpy", 49.0)


def test_without_steps_the_window_is_the_recording():
    trace = trace_of(TraceBuilder().op(0, 10).kernel(20, 30).op(40, 60, tid=2))
    assert rows(trace, "gaps", "start_us", "duration_us", "step") == [(0, 20, None), (30, 30, None)]
    assert trace.view("steps").empty
    assert "ProfilerStep#N" in trace.view("steps").attrs["notes"][0]


def test_kernel_tables_group_by_every_token():
    builder = TraceBuilder().step(4, 0, 100)
    for i, (name, op, stream) in enumerate(
        (("gemm", "aten::mm", 7), ("gemm", "aten::addmm", 7), ("relu_kernel", "aten::relu", 9)), 1
    ):
        builder.op(10 * i, 10 * i + 9, op).launch(10 * i + 1, 10 * i + 2, i)
        builder.kernel(
            10 * i + 3,
            10 * i + 3 + i,
            name=name,
            correlation=i,
            stream=stream,
            args={"grid": [i, 1, 1], "block": [32, 1, 1]},
        )
    trace = trace_of(builder)
    assert rows(trace, "kernels", "name", "calls", "total_us", "mean_us", "min_us", "max_us", "share_pct") == [
        ("gemm", 2, 3, 1.5, 1, 2, 50),
        ("relu_kernel", 1, 3, 3, 3, 3, 50),
    ]
    assert rows(trace, "kernels", "op", "total_us", by="op") == [("aten::relu", 3), ("aten::addmm", 2), ("aten::mm", 1)]
    assert rows(trace, "kernels", "name", "op", by="name,op")[0] == ("relu_kernel", "aten::relu")
    assert rows(trace, "kernels", "grid", "block", by="config")[0] == ("3, 1, 1", "32, 1, 1")
    assert rows(trace, "kernels", "device", "stream", "calls", by="stream") == [(0, 7, 2), (0, 9, 1)]
    assert rows(trace, "kernels", "step", "calls", by="step") == [(4, 3)]
    assert dict(rows(trace, "kernels", "category", "calls", by="category")) == {"matrix multiply": 2, "elementwise": 1}


def test_a_range_chooses_events_that_start_in_it():
    trace = trace_of(TraceBuilder().op(0, 100).kernel(10, 20).kernel(30, 40).kernel(50, 60))
    assert rows(trace, "kernels", "calls", start_us=10, end_us=50) == [(2,)]
    assert rows(trace, "gaps", "start_us", start_us=15, end_us=45) == [(20,), (40,)]


def test_unknown_occupancy_is_left_out_not_counted_as_0():
    builder = TraceBuilder().kernel(
        0, 10, args={"est. achieved occupancy %": 0, "shared memory": 160_000, "blocks per SM": 0.5}
    )
    builder.kernel(10, 20, args={"est. achieved occupancy %": 50, "shared memory": 0, "blocks per SM": "inf"})
    device = trace_of(builder).view("devices").iloc[0]
    assert device["occupancy_pct"] == 50
    assert device["sm_efficiency_pct"] == 25


def test_sm_efficiency_adds_concurrent_kernels_up_to_one():
    builder = (
        TraceBuilder()
        .kernel(0, 10, args={"blocks per SM": 0.6})
        .kernel(5, 15, stream=9, args={"blocks per SM": 0.6})
        .op(0, 20)
    )
    assert trace_of(builder).view("devices").iloc[0]["sm_efficiency_pct"] == pytest.approx(
        100 * (5 * 0.6 + 5 * 1 + 5 * 0.6) / 20
    )


def test_nothing_recorded_is_no_0_percent():
    figures = dict(rows(trace_of(TraceBuilder().op(0, 10)), "overview", "metric", "value"))
    assert not any(metric.startswith("utilization") for metric in figures)
    assert figures["attributed_pct"] is None


@pytest.mark.parametrize(
    ("builder", "said"),
    [
        (TraceBuilder().op(0, 1), "only the host was recorded"),
        (TraceBuilder().launch(0, 1, 1, name="cudaDeviceSynchronize"), "launched nothing"),
        (TraceBuilder().launch(0, 1, 1), "1 launch calls"),
    ],
)
def test_three_kinds_of_no_device_work_are_told_apart(builder, said):
    assert said in trace_of(builder).view("devices").attrs["notes"][0]


def test_empty_traces_have_empty_views():
    trace = trace_of(TraceBuilder())
    for name, view in registry.views().items():
        frame = trace.view(name)
        assert name in ("overview", "health", "advice") or frame.empty
        assert len(view.describe(frame)) == len(frame.columns)


@pytest.mark.parametrize("name", list(registry.views()))
def test_every_column_of_a_view_is_documented(name):
    view = registry.get(name)
    by = next((parameter for parameter in view.parameters if parameter.name == "by"), None)
    trace = trace_of(TraceBuilder().step(0, 0, 10).launch(0, 1, 1).kernel(2, 3, correlation=1))
    for token in by.choices if by else (None,):
        frame = view.run(trace, **({"by": token} if token else {}))
        for column in view.describe(frame):
            assert column.description.endswith("."), column
            assert column.type in ("number", "integer", "text", "boolean")
            assert not column.name.endswith("_us") or column.unit == "µs"


def test_wrong_choices_list_the_right_ones():
    trace = trace_of(TraceBuilder())
    with pytest.raises(ChoiceError, match="kernels"):
        trace.view("kernel")
    with pytest.raises(ChoiceError, match="name,op"):
        trace.view("kernels", by="nam")
    for view, asked in (
        ("memory_peak", {"at_us": 1e99}),
        ("operator_calls", {"op_like": "inf"}),
        ("allocations", {"largest": -4}),
        ("stacks", {"min_share_pct": -3}),
        ("kernels", {"start_us": 500, "end_us": 100}),
    ):
        with pytest.raises(ChoiceError, match=f"^{next(iter(asked))} must"):
            trace.view(view, **asked)
    with pytest.raises(ChoiceError, match="start_us"):
        trace.view("kernels", begin=3)
    with pytest.raises(ChoiceError, match="number"):
        trace.view("kernels", start_us="x")


WORKS = st.lists(
    st.tuples(
        st.sampled_from(["kernel", "nccl", "memcpy", "memset"]),
        st.integers(0, 200),
        st.integers(0, 40),
        st.integers(0, 2),
        st.integers(0, 1),
    ),
    max_size=25,
)
HOSTS = st.lists(
    st.tuples(
        st.sampled_from(["op", "launch", "loader", "python", "annotation"]),
        st.integers(0, 200),
        st.integers(0, 60),
        st.integers(1, 2),
    ),
    max_size=15,
)
STEPS = st.lists(st.integers(5, 60), max_size=4)


@given(WORKS, HOSTS, STEPS)
def test_figures_add_up_whatever_was_recorded(works, host, lengths):
    builder, at = TraceBuilder(), 0
    for number, length in enumerate(lengths):
        builder.step(number, at, at + length - 2)
        at += length
    for i, (kind, start, length, stream, device) in enumerate(works, 1):
        name = {"nccl": "ncclDevKernel_x"}.get(kind, kind)
        getattr(builder, kind if kind.startswith("mem") else "kernel")(
            start, start + length, name=name, stream=stream, device=device, correlation=i
        )
    for i, (kind, start, length, tid) in enumerate(host, 1):
        more = (
            {"correlation": i} if kind == "launch" else {"name": kind} if kind in ("annotation", "op", "python") else {}
        )
        getattr(builder, kind)(start, start + length, tid=tid, **more)
    trace = trace_of(builder)
    steps, devices, gaps = trace.view("steps"), trace.view("devices"), trace.view("gaps")
    assert np.allclose(steps[[f"{part}_us" for part in SPLIT]].sum(axis=1), steps["period_us"], rtol=0, atol=1e-6)
    assert (steps["start_us"].to_numpy()[1:] >= (steps["start_us"] + steps["period_us"]).to_numpy()[:-1] - 1e-9).all()
    parts = devices[["compute_us", "exposed_communication_us", "exposed_copy_us", "idle_us"]].sum(axis=1)
    assert np.allclose(parts, devices["window_us"], rtol=0, atol=1e-6)
    for device in devices.itertuples():
        own = gaps[gaps["device"] == device.device]
        assert own["duration_us"].sum() == pytest.approx(device.idle_us, abs=1e-6)
        assert (own["duration_us"] > 0).all()
    kernels = trace.kernels["duration_ns"].sum() / 1000
    for token in ("name", "op", "name,op", "config", "stream", "step", "category"):
        table = trace.view("kernels", by=token)
        assert table["total_us"].sum() == pytest.approx(kernels)
        assert table["calls"].sum() == len(trace.kernels)


@given(WORKS)
def test_views_leave_the_trace_as_it_was(works):
    builder = TraceBuilder()
    for kind, start, length, stream, device in works:
        builder.kernel(start, start + length, stream=stream, device=device, name=kind)
    trace = trace_of(builder)
    before = trace.events.copy(deep=True)
    for name in registry.views():
        trace.view(name)
    assert trace.events.equals(before)
    with pytest.raises(ValueError, match="read-only"):
        trace.columns.start[:] = 0
