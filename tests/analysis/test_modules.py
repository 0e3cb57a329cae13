"""Modules, compiled regions and graphs, by hand, and beside a sum over every work of real traces."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given

import corpus
import kinetoscope as ks
import random_traces
from build import TraceBuilder
from kinetoscope.trace import Trace
from tables import rows, trace_of

DEVICE = ("name", "forward_us", "backward_us", "device_self_us", "device_total_us")


def trained() -> TraceBuilder:
    """Return a module's forward op on one thread, its backward op on another, and an optimizer's op outside."""
    builder = TraceBuilder().python(0, 20, "nn.Module: Linear_0")
    builder.op(2, 18, "aten::linear", seq=5).launch(3, 4, 1).kernel(30, 40, correlation=1)
    builder.op(50, 80, "AddmmBackward0", tid=2, seq=5, fwd_thread=1)
    builder.launch(52, 53, 2, tid=2).kernel(55, 75, correlation=2).launch(54, 55, 3, tid=2).kernel(
        75, 80, correlation=3
    )
    builder.op(90, 95, "optimizer").launch(91, 92, 4)
    return builder.kernel(93, 100, correlation=4)


def test_forward_and_backward_by_module() -> None:
    trace = trace_of(trained())
    assert rows(trace, "modules", *DEVICE) == [("Linear_0", 10, 25, 35, 35), (None, 7, 0, 7, 7)]
    assert rows(trace, "modules", "class", "forward_us", "backward_us", by="class") == [
        ("Linear", 10, 25),
        (None, 7, 0),
    ]
    assert rows(trace, "kernels", "module", "total_us", by="module") == [("Linear_0", 35), (None, 7)]
    assert rows(trace, "operators", "module", "device_self_us", by="module") == [("Linear_0", 35), (None, 7)]


def test_a_flow_ties_backward_to_forward() -> None:
    builder = TraceBuilder().python(0, 20, "nn.Module: A_0").op(2, 18, "forward")
    builder.op(50, 80, "backward", tid=2, fwd_thread=1).flow("fwdbwd", 1, (2, 1, 1), (50, 1, 2))
    builder.launch(52, 53, 2, tid=2).kernel(55, 75, correlation=2)
    assert rows(trace_of(builder), "modules", *DEVICE) == [("A_0", 0, 20, 20, 20)]


def test_a_tree_with_its_totals() -> None:
    builder = TraceBuilder()
    for start in (0, 100):
        builder.python(start, start + 50, "nn.Module: Net_0").op(start + 40, start + 45, "own")
        builder.launch(start + 41, start + 42, start + 1).kernel(start + 60, start + 63, correlation=start + 1)
        for number, at in enumerate((start + 5, start + 20)):
            builder.python(at, at + 10, f"nn.Module: Linear_{number}").op(at + 1, at + 9, "aten::linear")
            builder.launch(at + 2, at + 3, at).kernel(at + 60, at + 64 + number, correlation=at)
    columns = ("id", "parent", "depth", "name", "path", "calls", "host_total_us", "host_self_us", "device_total_us")
    assert rows(trace_of(builder), "modules", *columns) == [
        (0, None, 0, "Net_0", "Net_0", 2, 100, 60, 24),
        (1, 0, 1, "Linear_1", "Net_0/Linear_1", 2, 20, 20, 10),
        (2, 0, 1, "Linear_0", "Net_0/Linear_0", 2, 20, 20, 8),
    ]
    classes = rows(trace_of(builder), "modules", "class", "calls", "device_self_us", "device_total_us", by="class")
    assert classes == [("Linear", 4, 18, 18), ("Net", 2, 6, 24)]


def test_what_a_backward_op_runs_again_belongs_to_the_module() -> None:
    """Activation checkpointing: Block_0 runs once forward, and again under the backward op, on its thread."""
    builder = TraceBuilder().python(0, 40, "nn.Module: Net_0").python(5, 35, "nn.Module: Block_0")
    builder.op(10, 30, "Checkpoint", seq=1).launch(12, 13, 1).kernel(20, 22, correlation=1)
    builder.op(50, 90, "CheckpointBackward", tid=2, seq=1, fwd_thread=1)
    builder.python(55, 70, "nn.Module: Block_0", tid=2).op(56, 60, "again", tid=2).launch(57, 58, 2, tid=2)
    builder.kernel(60, 64, correlation=2).launch(75, 76, 3, tid=2).kernel(80, 88, correlation=3)
    found = rows(trace_of(builder), "modules", "path", "calls", "host_total_us", "forward_us", "backward_us")
    assert found == [("Net_0", 1, 40, 0, 0), ("Net_0/Block_0", 2, 45, 2, 12)]


def test_a_graph_is_a_node_below_the_module_that_launched_it() -> None:
    builder = TraceBuilder().python(0, 50, "nn.Module: Net_0").launch(10, 20, 500, name="cudaGraphLaunch")
    for start, stream in ((100, 7), (110, 101), (120, 102), (130, 103)):
        builder.kernel(start, start + 10, correlation=500, stream=stream)
    trace = trace_of(builder)
    assert rows(trace, "modules", "path", "sort", "calls", "device_self_us", "device_total_us") == [
        ("Net_0", "module", 1, 0, 40),
        ("Net_0/cudaGraphLaunch", "graph", 1, 40, 40),
    ]
    assert rows(trace, "kernels", "stream", "total_us", by="stream") == [(7, 10), (101, 10), (102, 10), (103, 10)]


def test_compiled_regions_are_nodes() -> None:
    builder = TraceBuilder().python(0, 50, "nn.Module: Net_0").op(5, 45, "Torch-Compiled Region: 0/0")
    builder.annotation(6, 44, "## Call CompiledFxGraph abc ##").op(
        10, 20, "triton_poi_fused_add_3", kernel_backend="triton"
    )
    builder.launch(12, 13, 1).kernel(30, 37, name="triton_poi_fused_add_3", correlation=1)
    builder.launch(14, 15, 2).kernel(40, 45, name="triton_poi_fused_add_12", correlation=2)
    trace = trace_of(builder)
    assert rows(trace, "modules", "depth", "sort", "device_total_us") == [
        (0, "module", 12),
        (1, "compiled region", 12),
        (2, "compiled region", 12),
    ]
    found = rows(trace, "kernels", "family", "kernel_backend", "calls", "total_us", by="family")
    assert found == [("triton_poi_fused_add", "triton", 2, 12)]
    assert len(trace.view("kernel_calls", family="triton_poi_fused_add")) == 2


def test_without_frames_the_hierarchy_of_torchscript_stands_in() -> None:
    builder = TraceBuilder()
    for start, text in ((0, "SELF(Net)::forward.conv(Conv2d)::forward"), (10, "SELF(Net)::forward"), (20, None)):
        more: dict[str, Any] = {} if text is None else {"Module Hierarchy": text}
        builder.op(start, start + 8, "op", **more).launch(start + 1, start + 2, start + 1)
        builder.kernel(start + 30, start + 33, correlation=start + 1)
    found = rows(trace_of(builder), "modules", "path", "class", "device_self_us", "device_total_us")
    assert found == [
        ("SELF(Net)", "SELF(Net)", 3, 6),
        ("SELF(Net)/conv(Conv2d)", "conv(Conv2d)", 3, 3),
        (None, None, 3, 3),
    ]


def test_without_any_module_annotations_stand_in() -> None:
    builder = TraceBuilder().step(1, 0, 50).annotation(5, 40, "forward pass").op(10, 30).launch(12, 13, 1)
    trace = trace_of(builder.kernel(20, 26, correlation=1))
    assert rows(trace, "modules", "name", "sort", "device_self_us") == [("forward pass", "annotation", 6)]
    assert "annotations stand for modules" in trace.view("modules").attrs["notes"][0]


@given(random_traces.traces())
def test_own_device_work_adds_up(builder: TraceBuilder) -> None:
    trace = trace_of(builder)
    work = int(trace.columns.duration[trace.work].sum())
    for by in ("tree", "class"):
        frame = trace.view("modules", by=by)
        assert round(frame["device_self_us"].sum() * 1000) == work
        assert (frame["device_total_us"] >= frame["device_self_us"]).all()
    for step in trace.steps_table.number.tolist():
        kernels = trace.view("kernels", step=step)["total_us"].sum()
        assert round(trace.view("modules", step=step)["device_self_us"].sum() * 1000) == round(kernels * 1000)


def allocating() -> TraceBuilder:
    """Return two calls of a module within another, and what GPU 0 and the host hold meanwhile."""
    builder = TraceBuilder().python(0, 100, "nn.Module: Net_0")
    builder.python(10, 30, "nn.Module: Linear_0").python(40, 60, "nn.Module: Linear_0")
    for at, size, allocated in (
        *((5, 100, 1100), (15, 50, 1150), (20, 30, 1180), (25, -50, 1130)),
        *((45, 7, 1137), (60, 500, 1637), (150, 9, 1646)),
    ):
        builder.memory(at, size, allocated=allocated, device_type=1, device=0)
    return builder.memory(50, 9999, device_type=0, device=-1)


def test_memory_of_a_call_is_counted_from_where_it_began() -> None:
    trace = trace_of(allocating())
    columns = ("name", "peak_memory_bytes", "memory_device")
    # 1637 - 1000; the larger of 1180 - 1100 and 1137 - 1130: what comes at the end of a call is outside
    assert rows(trace, "modules", *columns) == [("Net_0", 637, "cuda:0"), ("Linear_0", 80, "cuda:0")]
    assert rows(trace, "modules", *columns, start_us=40, end_us=60) == [
        ("Net_0", None, None),
        ("Linear_0", 7, "cuda:0"),
    ]
    assert rows(trace, "modules", "class", *columns[1:], by="class") == [
        ("Net", 637, "cuda:0"),
        ("Linear", 80, "cuda:0"),
    ]


def test_memory_of_the_host_counts_where_no_other_was_recorded() -> None:
    builder = TraceBuilder().python(0, 10, "nn.Module: A_0").memory(5, 64, device_type=0, device=-1).memory(6, -64)
    assert rows(trace_of(builder), "modules", "peak_memory_bytes", "memory_device") == [(0, "cuda:0")]
    builder = TraceBuilder().python(0, 10, "nn.Module: A_0").memory(5, 64, device_type=0, device=-1)
    assert rows(trace_of(builder), "modules", "peak_memory_bytes", "memory_device") == [(64, "cpu")]
    assert rows(trace_of(trained()), "modules", "peak_memory_bytes", "memory_device") == [(None, None), (None, None)]


@pytest.mark.parametrize("name", ["h100_qwen", "mi300_qwen"])
def test_memory_of_real_modules_is_that_of_a_replay(name: str) -> None:
    trace = ks.load(corpus.trace_path(name))
    frame = trace.view("modules")
    (curve,) = (one for one in trace.memory.curves if not one.device.host)
    host = trace.columns
    frames: dict[str, int] = {}
    for row in trace.host.rows.tolist():
        text = host.names[host.name[row]]
        if text.startswith("nn.Module: "):
            level = most = curve.before
            for time, allocated in zip(curve.time.tolist(), curve.allocated.tolist(), strict=True):
                if time < host.start[row]:
                    level = most = allocated
                elif time < host.end[row]:
                    most = max(most, allocated)
            frames[text.removeprefix("nn.Module: ")] = max(
                most - level, frames.get(text.removeprefix("nn.Module: "), 0)
            )
    named = frame.dropna(subset=["peak_memory_bytes"]).groupby("name", observed=True)["peak_memory_bytes"].max()
    assert named.to_dict() == frames
    assert max(frames.values()) > 0


def by_hand(trace: Trace) -> dict[str | None, list[int]]:
    """Add up forward and backward work by module name, looking at one work after the other."""
    columns = trace.columns
    frames: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    backward: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for row in trace.host.rows.tolist():
        name, span = columns.names[columns.name[row]], (int(columns.start[row]), int(columns.end[row]))
        group = re.search(r"^nn\.Module: (.*)|.*(?:Torch-Compiled Region|CompiledFxGraph).*", name)
        if group and (name.startswith("nn.Module: ") or columns.kind[row] in (0, 1)):
            frames[int(columns.thread[row])].append((*span, group[1] or name))
        if columns.kind[row] == 0 and trace.forward_row[row] >= 0:
            backward[int(columns.thread[row])].append((*span, int(trace.forward_row[row])))

    def innermost(ranges: list[tuple[int, int, Any]], time: int) -> tuple[int, int, Any] | None:
        return next((one for one in reversed(ranges) if one[0] <= time < one[1]), None)

    found: dict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for place, row in enumerate(trace.work.tolist()):
        call = int(trace.launch_of_work[place])
        call = call if call >= 0 else int(trace.op_of_work[place])
        module, of_backward = None, None
        if call >= 0:
            thread, time = int(columns.thread[call]), int(columns.start[call])
            frame, of_backward = innermost(frames[thread], time), innermost(backward[thread], time)
            module = frame[2] if frame else None
            if of_backward and (frame is None or of_backward[0] > frame[0]):
                forward = of_backward[2]
                partner = innermost(frames[int(columns.thread[forward])], int(columns.start[forward]))
                module = partner[2] if partner else module
        found[module][int(of_backward is not None)] += int(columns.duration[row])
    return found


@pytest.mark.parametrize("name", ["h100_bert", "mi300_resnet_ddp", "b200_eager"])
def test_real_traces(name: str) -> None:
    trace = ks.load(corpus.trace_path(name))
    frame = trace.view("modules")
    assert round(frame["device_self_us"].sum() * 1000) == int(trace.columns.duration[trace.work].sum())
    mine: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for row in frame.astype(object).where(frame.notna(), None).to_dict("records"):
        mine[row["name"]][0] += round(row["forward_us"] * 1000)
        mine[row["name"]][1] += round(row["backward_us"] * 1000)
    assert {key: value for key, value in mine.items() if any(value)} == dict(by_hand(trace))
