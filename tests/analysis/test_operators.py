"""Operators, by hand, as properties, and beside what torch itself says of a trace that it wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetoscope as ks
import random_traces
from build import TraceBuilder
from tables import rows, trace_of

HOST = ("name", "calls", "host_total_us", "host_self_us")
TIMES = ("name", "host_total_us", "host_self_us", "device_total_us", "device_self_us", "launch_us")


def nested() -> TraceBuilder:
    builder = TraceBuilder().op(0, 20, "aten::linear").op(2, 18, "aten::addmm").launch(5, 8, 1)
    return builder.kernel(30, 40, correlation=1)


def test_nested_ops() -> None:
    assert rows(trace_of(nested()), "operators", *TIMES) == [
        ("aten::addmm", 16, 16, 10, 10, 3),
        ("aten::linear", 20, 4, 10, 0, 0),
    ]


def test_a_name_nested_in_itself_counts_once() -> None:
    builder = TraceBuilder().op(0, 30, "aten::sub").op(5, 15, "aten::sub").launch(6, 7, 1).kernel(8, 12, correlation=1)
    (row,) = trace_of(builder).view("operators").to_dict("records")
    assert (row["calls"], row["host_total_us"], row["host_self_us"]) == (2, 30, 30)
    assert (row["device_total_us"], row["device_self_us"], row["longest_id"]) == (4, 4, 0)


def test_ranges_of_no_length_and_equal_ones() -> None:
    builder = TraceBuilder().op(10, 20, "a").op(10, 20, "b").op(20, 20, "c").op(20, 30, "d")
    trace = trace_of(builder)
    assert sorted(rows(trace, "operators", *HOST)) == [
        ("a", 1, 10, 0),
        ("b", 1, 10, 10),
        ("c", 1, 0, 0),
        ("d", 1, 10, 10),
    ]
    ops = trace.program.ops
    names = [trace.columns.names[code] for code in trace.columns.name[ops.rows]]
    parent = {
        name: names[place] if place >= 0 else None for name, place in zip(names, ops.parent.tolist(), strict=True)
    }
    assert parent == {"a": None, "b": "a", "c": "d", "d": None}


def test_crossing_ranges_share_nothing() -> None:
    builder = TraceBuilder().op(0, 10, "first").annotation(5, 15, "second").op(6, 9, "inner")
    assert sorted(rows(trace_of(builder), "operators", *HOST)) == [
        ("first", 1, 10, 5),
        ("inner", 1, 3, 3),
        ("second", 1, 10, 7),
    ]


def test_python_frames_and_calls_do_not_interrupt_an_op() -> None:
    builder = TraceBuilder().op(0, 20, "op").python(2, 10).launch(4, 8, name="cudaMalloc").launch(5, 6, name="inner")
    (row,) = trace_of(builder).view("operators").to_dict("records")
    assert (row["host_self_us"], row["launch_us"], row["host_self_no_api_us"]) == (20, 4, 16)


def test_work_of_no_op_is_a_row_of_its_own() -> None:
    builder = nested().launch(50, 51, 2).kernel(52, 60, correlation=2).memcpy(70, 75, correlation=99)
    found = rows(trace_of(builder), "operators", "name", "owned", "calls", "device_self_us")
    assert found == [("aten::addmm", True, 1, 10), (None, False, 0, 13), ("aten::linear", True, 1, 0)] or found == [
        (None, False, 0, 13),
        ("aten::addmm", True, 1, 10),
        ("aten::linear", True, 1, 0),
    ]


def test_keys() -> None:
    builder = TraceBuilder(record_shapes=1)
    builder.python(0, 100, "train.py(3): step").python(0, 90, "torch/nn/x.py(7): call")
    for start, shape in ((0, [[2, 3]]), (10, [[2, 3]]), (20, [[4, 3]])):
        builder.op(start, start + 5, "aten::mm", seq=1, **{"Input Dims": shape, "Input type": ["float"]})
    builder.annotation(40, 60, "Optimizer.step#Adam.step").op(45, 50, "aten::mm")
    builder.op(70, 80, "aten::mm", tid=2, fwd_thread=1, seq=1)
    trace = trace_of(builder)
    assert rows(trace, "operators", "name", "shapes", "calls", by="shapes") == [
        ("aten::mm", None, 2),
        ("Optimizer.step#Adam.step", None, 1),
        ("aten::mm", "[[2, 3]]", 2),
        ("aten::mm", "[[4, 3]]", 1),
    ]
    assert rows(trace, "operators", "phase", "calls", "host_self_us", by="phase") == [
        ("optimizer", 2, 20),
        ("forward", 3, 15),
        ("backward", 1, 10),
    ]
    assert {(name, stack) for name, stack in rows(trace, "operators", "name", "stack", by="stack")} == {
        ("aten::mm", "train.py(3): step"),
        ("Optimizer.step#Adam.step", "train.py(3): step"),
        ("aten::mm", None),
    }
    assert rows(trace, "operators", "thread", "calls", by="thread") == [("thread 1", 5), ("thread 2", 1)]
    assert ('["float"]', 3) in rows(trace, "operators", "dtype", "calls", by="dtype")


def shaped() -> TraceBuilder:
    """Return two calls of an op with one shape and one with another, each with a kernel, and one of another op."""
    builder = TraceBuilder()
    for number, (name, shape) in enumerate((("mm", 4), ("mm", 8), ("mm", 4), ("add", 4))):
        at = 100 * number
        builder.op(at, at + 10 + number, name, **{"Input Dims": [[shape, shape]]})
        builder.launch(at + 1, at + 2, number + 1).kernel(at + 20, at + 25 + number, correlation=number + 1)
    return builder


def test_what_is_behind_a_row() -> None:
    trace = trace_of(shaped())
    columns = ("name", "shapes", "calls", "device_self_us", "longest_id")
    table = rows(trace, "operators", *columns, by="shapes")
    ((*row, event),) = (one for one in table if one[:2] == ("mm", "[[4, 4]]"))
    assert row == ["mm", "[[4, 4]]", 2, 12]
    asked: dict[str, Any] = {"op_like": event, "alike": "shapes"}
    assert rows(trace, "kernels", "calls", "total_us", **asked) == [(2, 12)]
    assert rows(trace, "kernel_calls", "duration_us", **asked) == [(5,), (7,)]
    assert rows(trace, "operator_calls", "start_us", "duration_us", "device_self_us", **asked) == [
        (0, 10, 5),
        (200, 12, 7),
    ]
    assert rows(trace, "operators", *columns[:3], by="shapes", **asked) == [("mm", "[[4, 4]]", 2)]
    # by name, both shapes are alike
    assert (
        rows(trace, "operators", "shapes", "calls", by="shapes", op_like=event)
        == [("[[8, 8]]", 1), ("[[4, 4]]", 2)][::-1]
    )
    assert rows(trace, "kernels", "calls", op_like=10**6) == []
    assert rows(trace, "operator_calls", "start_us", longest=1) == [(300,)]
    assert trace.view("operator_calls", longest=1).attrs["notes"] == ["3 shorter calls are left out."]


def test_a_row_whose_calls_are_outside_the_selection_can_be_asked_for() -> None:
    trace = trace_of(shaped())
    ((calls, event),) = rows(trace, "operators", "calls", "longest_id", start_us=20, end_us=50)
    assert calls == 0
    assert rows(trace, "kernels", "total_us", op_like=event, start_us=20, end_us=50) == [(5,)]


@given(random_traces.traces(), st.sampled_from(["name", "thread", "phase", "name,phase", "shapes"]))
def test_rows_are_what_is_behind_them(builder: TraceBuilder, by: str) -> None:
    trace = trace_of(builder)
    for row in trace.view("operators", by=by).query("owned").to_dict("records"):
        asked = {"op_like": row["longest_id"], "alike": by}
        calls = trace.view("operator_calls", **asked)
        assert len(calls) == row["calls"]
        assert round(calls["device_self_us"].sum() * 1000) == round(row["device_self_us"] * 1000)
        alone = trace.view("operators", by="name,thread", **asked)
        assert round(alone["host_self_us"].sum() * 1000) == round(row["host_self_us"] * 1000)
        assert alone["owned"].all()
        assert (alone["calls"] > 0).all()
        names = trace.view("operators", by="name", **asked)
        assert set(names["name"]) == ({row["name"]} if "name" in row else set(names["name"]))


def test_selections() -> None:
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200)
    builder.op(10, 30, "early").launch(12, 14, 1).kernel(90, 130, correlation=1)
    builder.op(70, 100, "late").launch(75, 77, 2).kernel(130, 150, correlation=2)
    trace = trace_of(builder)

    def figures(**asked: Any) -> dict[Any, tuple[float, float]]:
        frame = trace.view("operators", **asked)
        named = frame[frame["name"].astype("str").isin(["early", "late"])]
        return {row["name"]: (row["host_self_us"], row["device_self_us"]) for row in named.to_dict("records")}

    assert figures() == {"early": (20, 40), "late": (30, 20)}
    assert figures(step=0) == figures()  # step 0 launched both
    assert figures(start_us=100) == {"late": (0, 20)}
    assert figures(start_us=60, end_us=129) == {"early": (0, 40), "late": (30, 0)}
    assert figures(start_us=70, end_us=76, within="launch") == {"late": (30, 20)}
    assert figures(start_us=20, end_us=135, within="run") == {"early": (10, 40), "late": (30, 5)}
    # the period of step 0 ends with its work
    assert figures(step=1, within="run") == {}
    assert figures(step=0, within="run") == {"early": (20, 40), "late": (30, 20)}


@given(random_traces.traces(), st.integers(0, 60))
def test_sums(builder: TraceBuilder, cut: int) -> None:
    trace = trace_of(builder)
    frame = trace.view("operators")
    work = int(trace.columns.duration[trace.work].sum())
    assert round(frame["device_self_us"].sum() * 1000) == work
    # every instant with something open is one row's own
    ops = trace.program.ops
    instants = {
        (int(thread), time)
        for thread, start, end in zip(ops.thread, ops.start, ops.end, strict=True)
        for time in range(int(start), int(end), 1000)
    }
    assert round(frame["host_self_us"].sum()) == len(instants)
    assert (frame["launch_us"] <= frame["host_self_us"]).all()
    assert (frame["device_self_us"] <= frame["device_total_us"]).all()
    for by in ("phase", "thread", "module", "name,module"):
        other = trace.view("operators", by=by)
        for column in ("host_self_us", "device_self_us", "calls", "launch_us"):
            assert round(other[column].sum() * 1000) == round(frame[column].sum() * 1000), (by, column)
    before, behind = (trace.view("operators", within="run", **part) for part in ({"end_us": cut}, {"start_us": cut}))
    for column in ("host_self_us", "device_self_us", "launch_us"):
        assert round((before[column].sum() + behind[column].sum()) * 1000) == round(frame[column].sum() * 1000)


@given(random_traces.traces())
def test_self_time_is_what_started_last(builder: TraceBuilder) -> None:
    """Each instant's owner, by looking at every range."""
    trace = trace_of(builder)
    ops = trace.program.ops
    owner, start, end = ops.pieces
    for place, low, high in zip(owner.tolist(), start.tolist(), end.tolist(), strict=True):
        open_then = [
            i
            for i in range(len(ops))
            if ops.thread[i] == ops.thread[place] and ops.start[i] <= low and ops.end[i] >= high and ops.end[i] > low
        ]
        assert place == max(open_then)


# --- beside torch ---------------------------------------------------------------------------------------------------------------------------------

LEFT_OUT = ("[memory]", "aten::is_leaf", "aten::output_nr", "aten::_version")


def merged(path: Path) -> Path:
    """Rewrite a trace as torch counts it: without what it leaves out, and ranges whose only child has their name merged with it."""
    document = json.loads(path.read_text(encoding="utf-8"))
    kept = [
        event
        for event in document["traceEvents"]
        if event.get("name") not in LEFT_OUT and not str(event.get("name")).startswith("profiler::_record_function_")
    ]
    host = [event for event in kept if event.get("cat") in ("cpu_op", "user_annotation")]
    host.sort(key=lambda event: (event["tid"], event["ts"], -event["dur"]))
    children: dict[int, list[Any]] = {}
    stack: list[Any] = []
    for event in host:
        while stack and (
            stack[-1]["tid"] != event["tid"] or stack[-1]["ts"] + stack[-1]["dur"] < event["ts"] + event["dur"]
        ):
            stack.pop()
        if stack:
            children.setdefault(id(stack[-1]), []).append(event)
        stack.append(event)
    gone = {
        id(below[0])
        for event in host
        if len(below := children.get(id(event), [])) == 1 and below[0]["name"] == event["name"]
    }
    document["traceEvents"] = [event for event in kept if id(event) not in gone]
    changed = path.with_name("merged.json")
    changed.write_text(json.dumps(document), encoding="utf-8")
    return changed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_torch_counts_the_same(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    profiler = torch.profiler
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 900, 4)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True) as recorded:
        for _ in range(3):
            loss = model(torch.randn(2, 3, 32, 32)).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    path = tmp_path / "trace.json"
    recorded.export_chrome_trace(str(path))
    frame = ks.load(merged(path)).view("operators").set_index("name")
    averages = {row.key: row for row in recorded.key_averages()}
    assert len(averages) > 20
    assert set(averages) == set(frame.index.astype("str"))
    for name, row in averages.items():
        mine = frame.loc[name]
        assert mine["calls"] == row.count, name
        # torch rounds each event's time to ns on its own
        assert mine["host_self_no_api_us"] == pytest.approx(row.self_cpu_time_total, abs=0.01 * row.count), name
        assert mine["host_total_us"] == pytest.approx(row.cpu_time_total, abs=0.01 * row.count), name


def test_a_range_whose_work_was_launched_before_it_says_so() -> None:
    builder = TraceBuilder().op(0, 10, "mm").launch(1, 2, 1).kernel(50, 60, correlation=1).kernel(60, 90)
    trace = trace_of(builder)
    for view in ("operators", "modules", "stacks"):

        def told(view: str = view, **asked: Any) -> bool:
            return any("within=launch" in note for note in trace.view(view, **asked).attrs["notes"])

        assert told(start_us=40, end_us=100)
        assert not told()
        assert not told(start_us=0, end_us=60)
        assert not told(start_us=0, end_us=60, within="launch")
