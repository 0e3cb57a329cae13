"""Who launched what: the hand-made cases of launches, ops, steps and backward work."""

import pytest

from build import TraceBuilder
from tables import rows, split, trace_of

LAUNCH_NAMES = (
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
)


def test_every_launch_name_owns_its_kernel_and_an_unknown_correlation_is_an_orphan():
    builder = TraceBuilder()
    for i, name in enumerate(LAUNCH_NAMES, 1):
        builder.op(100 * i, 100 * i + 50, f"aten::op{i}").launch(100 * i + 1, 100 * i + 5, i, name=name)
        builder.kernel(100 * i + 10, 100 * i + 20, correlation=i, stream=0)
    builder.op(700, 750, "aten::op7").launch(701, 705, 7, name="urEnqueueKernelLaunch", category="xpu_runtime").kernel(
        710, 720, correlation=7
    )
    builder.kernel(800, 810, correlation=999)
    trace = trace_of(builder)
    assert trace.kernels["duration_ns"].sum() == 80_000
    assert trace.kernels["launch"].notna().sum() == 7
    assert trace.kernels["op"].notna().sum() == 7
    assert rows(trace, "kernels", "op", "calls", "total_us", by="op").count((None, 1, 10.0)) == 1
    assert (trace.kernels["stream"] == 0).sum() == 6
    assert len(trace.launches) == 7


def test_a_kernels_own_external_id_is_not_believed_where_it_repeats_the_correlation():
    builder = TraceBuilder().op(0, 10, "aten::stranger", external_id=55)
    builder.op(20, 40, "aten::owner", external_id=2).launch(22, 25, 55, args={"External id": 55})
    builder.kernel(50, 60, correlation=55, args={"External id": 55})
    builder.kernel(70, 80, correlation=56, args={"External id": 2})
    builder.kernel(90, 95, correlation=55_000, args={"External id": 55_000})
    trace = trace_of(builder)
    names = trace.ops["name"].astype(str)
    owners = [names[op] if op in names.index else None for op in trace.kernels["op"]]
    assert owners == ["aten::owner", "aten::owner", None]


def test_a_graph_launch_owns_all_its_kernels_once():
    builder = TraceBuilder().launch(50, 95, 500, name="cudaGraphLaunch")
    for start, stream in ((100, 7), (110, 101), (120, 102), (130, 103)):
        builder.kernel(start, start + 10, stream=stream, correlation=500)
    trace = trace_of(builder)
    assert trace.launches["works"].tolist() == [4]
    assert trace.launches["delay_ns"].tolist() == [50_000]
    assert trace.kernels["duration_ns"].sum() == 40_000
    assert trace.kernels["stream"].tolist() == [7, 101, 102, 103]
    assert trace.launches_rows.size == 1


def test_a_graph_launch_without_kernels_is_a_launch_without_work():
    trace = trace_of(TraceBuilder().launch(50, 95, 500, name="cudaGraphLaunch"))
    figures = dict(rows(trace, "overview", "metric", "value"))
    assert (figures["launches"], figures["launches_without_work"]) == (1, 1)
    assert trace.view("devices").empty
    assert "1 launch calls" in trace.view("devices").attrs["notes"][0]


@pytest.mark.parametrize("correlation", [0, None])
def test_correlation_0_and_none_never_join(correlation):
    args = {} if correlation is None else {"correlation": correlation}
    trace = trace_of(TraceBuilder().launch(0, 1, correlation).kernel(2, 3, args=args))
    assert trace.kernels["launch"].isna().all()


def test_several_calls_of_one_id_the_earliest_owns():
    trace = trace_of(TraceBuilder().launch(5, 6, 1).launch(0, 1, 1).kernel(10, 20, correlation=1))
    assert trace.kernels["launch"].tolist() == [1]


def test_the_owner_is_the_innermost_op_on_the_calls_own_thread_annotations_never():
    builder = TraceBuilder().op(0, 100, "outer").annotation(10, 90, "note").op(0, 100, "elsewhere", tid=2)
    builder.launch(20, 30, 1).kernel(40, 50, correlation=1)
    builder.op(60, 70, "too short").launch(65, 75, 2).kernel(80, 85, correlation=2)
    builder.launch(5, 6, 3, tid=3).kernel(90, 91, correlation=3)
    trace = trace_of(builder)
    assert rows(trace, "kernel_calls", "op") == [("outer",), ("outer",), (None,)]


def test_steps_and_tails():
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200)
    for start, end, call, correlation in ((20, 60, 10, 1), (110, 150, 90, 2), (150, 180, 110, 3), (200, 260, 190, 4)):
        builder.launch(call, call + 1, correlation).kernel(start, end, correlation=correlation)
    trace = trace_of(builder)
    assert rows(trace, "steps", "step", "host_us", "period_us", "tail_us") == [(0, 100, 150, 50), (1, 100, 110, 60)]
    assert rows(trace, "kernels", "step", "total_us", by="step") == [(0, 80), (1, 90)]
    assert split(trace) == [{"compute": 80, "api": 2, "unrecorded": 68}, {"compute": 90, "api": 1, "unrecorded": 19}]


def test_the_loader_comes_before_ops_and_after_the_device():
    builder = TraceBuilder().step(0, 0, 100).loader(0, 40).op(45, 95).kernel(60, 90)
    assert split(trace_of(builder)) == [{"compute": 30, "data_loader": 40, "op": 20, "unrecorded": 10}]


def test_all_nine_parts_in_their_order():
    builder = TraceBuilder().step(0, 0, 100).kernel(0, 10).kernel(5, 20, name="ncclKernel_AllReduce", stream=20)
    builder.memcpy(15, 30).memset(25, 35).launch(30, 45, 1).loader(40, 50).op(45, 60).python(55, 70)
    assert split(trace_of(builder)) == [
        {
            "compute": 10,
            "communication": 10,
            "memcpy": 10,
            "memset": 5,
            "api": 10,
            "data_loader": 5,
            "op": 10,
            "python": 10,
            "unrecorded": 30,
        }
    ]


def test_a_marker_inside_another_or_on_another_thread_is_no_step():
    builder = TraceBuilder().step(0, 0, 100).step(7, 20, 30).step(8, 50, 150, tid=2).step(1, 100, 200)
    trace = trace_of(builder)
    assert [step for (step,) in rows(trace, "steps", "step")] == [0, 1]
    assert any("2 step markers" in note for note in trace.view("steps").attrs["notes"])


def test_a_marker_without_a_number_is_an_annotation():
    trace = trace_of(TraceBuilder().annotation(0, 10, "ProfilerStep#weird").annotation(20, 30, "ProfilerStep#3"))
    assert [step for (step,) in rows(trace, "steps", "step")] == [3]


def test_work_launched_before_the_first_step_pushes_its_period_only_when_it_ended_before_the_steps_work_began():
    builder = TraceBuilder().launch(0, 1, 1).kernel(5, 30, correlation=1).kernel(35, 70, stream=9)
    builder.step(0, 10, 100).launch(20, 21, 2).kernel(40, 60, correlation=2)
    assert rows(trace_of(builder), "steps", "start_us", "period_us") == [(30.0, 70.0)]


def test_a_last_step_with_under_80_percent_of_the_works_is_incomplete():
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200)
    for i in range(10):
        builder.launch(i, i + 1, i + 1).kernel(i + 20, i + 21, correlation=i + 1)
    for i in range(7):
        builder.launch(100 + i, 101 + i, 50 + i).kernel(120 + i, 121 + i, correlation=50 + i)
    trace = trace_of(builder)
    assert [value for (value,) in rows(trace, "steps", "incomplete")] == [False, True]
    assert dict(rows(trace, "overview", "metric", "value"))["step_time_mean_us"] == 100


@pytest.mark.parametrize("with_flow", [True, False])
def test_backward_ops_find_their_forward(with_flow):
    builder = TraceBuilder().op(0, 40, "aten::linear", seq=5, fwd_thread=0).op(10, 20, "aten::t", seq=5, fwd_thread=0)
    builder.op(22, 38, "aten::addmm", seq=5, fwd_thread=0).op(50, 60, "aten::late", seq=6, fwd_thread=0)
    builder.op(100, 140, "evaluate_function: AddmmBackward0", seq=5, fwd_thread=1, tid=2)
    builder.op(102, 139, "AddmmBackward0", seq=5, fwd_thread=1, tid=2)
    if with_flow:
        builder.flow("fwdbwd", 1, (0, 1, 1), (102, 1, 2))
    ops = trace_of(builder).ops
    partner = {ops["name"][i]: ops["name"][f] for i, f in ops["forward"].dropna().items()}
    inner = "aten::linear" if with_flow else "aten::addmm"
    assert partner == {"evaluate_function: AddmmBackward0": "aten::addmm", "AddmmBackward0": inner}


def test_equal_and_empty_ranges_nest_by_start_length_and_file_order():
    ops = trace_of(TraceBuilder().op(10, 20, "a").op(10, 20, "b").op(20, 20, "c").op(20, 30, "d")).ops
    parent = {
        ops["name"][i]: None if p is None else ops["name"][p]
        for i, p in ops["parent"].astype(object).where(ops["parent"].notna(), None).items()
    }
    assert parent == {"a": None, "b": "a", "c": "d", "d": None}


def test_peer_copies_and_streams_come_from_the_arguments():
    builder = TraceBuilder().raw(
        {
            "ph": "X",
            "cat": "gpu_memcpy",
            "name": "Memcpy PtoP",
            "pid": 5,
            "tid": "stream 9",
            "ts": 1,
            "dur": 2,
            "args": {"inDevice": 1, "stream": 3},
        }
    )
    builder.raw({"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 5, "dur": 2, "args": {}})
    events = trace_of(builder).events
    assert events["device"].tolist() == [1, 0]
    assert events["stream"].tolist() == [3, 7]


def test_spellings_of_one_thread_are_one_thread():
    builder = TraceBuilder().op(0, 10, "outer", tid="25738").op(2, 5, "inner", tid=25738)
    assert trace_of(builder).ops["parent"].tolist()[1] == 0


def test_communication_is_told_by_name_owner_or_argument():
    builder = TraceBuilder().kernel(0, 50, name="gemm")
    names = (
        "ncclKernel_AllReduce_RING",
        "ncclDevKernel_AllReduce_Sum_f32",
        "void vllm::cross_device_reduce_1stage<float>",
        "NCCLKERNEL_x",
        "oneccl_allreduce",
    )
    for i, name in enumerate(names):
        builder.kernel(30 + 10 * i, 40 + 10 * i, name=name, stream=20)
    trace = trace_of(builder)
    assert trace.kernels["communication"].sum() == 5
    device = trace.view("devices").iloc[0]
    assert (
        device["communication_us"],
        device["exposed_communication_us"],
        device["busy_us"],
        device["compute_us"],
    ) == (50, 30, 80, 50)
    by_owner = TraceBuilder().op(0, 20, "c10d::allreduce_").launch(2, 3, 1).kernel(5, 9, name="generic", correlation=1)
    by_owner.kernel(10, 12, name="plain", args={"Collective name": "allreduce"}).kernel(14, 15, name="nccl_free gemm")
    assert trace_of(by_owner).kernels["communication"].tolist() == [True, True, True]
    assert not trace_of(
        TraceBuilder().kernel(0, 1, name="my_nccl_like").memcpy(2, 3, name="ncclKernel")
    ).communication.any()


def test_annotations_projected_on_the_device_and_sync_rows_are_no_work():
    builder = TraceBuilder().step(0, 0, 100).kernel(10, 20).kernel(30, 40)
    for category, name, start, end in (("gpu_user_annotation", "x", 10, 40), ("cuda_sync", "Stream Sync", 0, 100)):
        builder.complete(category, name, (start, end), (0, 7), {"device": 0, "stream": 7})
    device = trace_of(builder).view("devices").iloc[0]
    assert (device["busy_us"], device["utilization_pct"]) == (20, 20)
