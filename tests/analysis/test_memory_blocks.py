"""Pairing of allocations with frees, thinning of curves, phases and categories: by hand, and against plain programs on random events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import random_traces
from build import TraceBuilder
from kinetoscope.memory.blocks import STATES, pair
from kinetoscope.memory.curve import curves, thinned
from kinetoscope.memory.events import MemoryDevice, MemoryEvents
from kinetoscope.phases import PHASES, phase_of, stretches
from kinetoscope.reading.arguments import MISSING
from tables import rows, trace_of

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
HOST = {"device_type": 0, "device": -1}

Given = list[tuple[int, int, int | None]]


def events_of(given_events: Given) -> MemoryEvents:
    """Return events of (device, bytes, address), one every ns."""
    device, size, address = (
        (np.array(part, object) for part in zip(*given_events, strict=True)) if given_events else ([],) * 3
    )
    count = len(given_events)
    at = np.arange(count, dtype=np.int64)
    where = np.array([MISSING if one is None else one for one in address], np.int64)
    missing = np.full(count, MISSING)
    devices = tuple(MemoryDevice(1, number, f"cuda:{number}", False) for number in range(2))
    number, size = np.array(device, np.int64), np.array(size, np.int64)
    return MemoryEvents(at, at, at * 0, number, size, where, missing, missing.copy(), devices, 0, at[:0])


def one_by_one(given_events: Given) -> tuple[list[tuple[int, int, int, str]], int]:
    """Pair events the plain way: begin, end, bytes and state of each block; and frees that fit none."""
    blocks, live, seen, unmatched = [], {}, set(), 0
    for at, (device, size, address) in enumerate(given_events):
        key = (device, address)
        if address is None or size == 0:
            continue
        if size > 0:
            if key in live:
                blocks.append((live[key], at, given_events[live[key]][1], "lost"))
            live[key] = at
        elif key in live:
            begun = live.pop(key)
            blocks.append((begun, at, given_events[begun][1], "freed"))
        elif key not in seen:
            blocks.append((-1, at, -size, "before recording"))
        else:
            unmatched += 1
        seen.add(key)
    blocks += [(at, len(given_events), given_events[at][1], "open") for at in live.values()]
    return sorted(blocks), unmatched


event = st.tuples(st.integers(0, 1), st.integers(-2, 2).map(lambda size: size * 8), st.sampled_from([1, 2, 3, None]))


@settings(max_examples=300)
@given(st.lists(event, max_size=30))
def test_pairs_are_those_found_one_by_one(given_events: Given) -> None:
    blocks = pair(events_of(given_events))
    state = [STATES[code] for code in blocks.state.tolist()]
    found = zip(blocks.allocation.tolist(), blocks.end.tolist(), blocks.bytes.tolist(), state, strict=True)
    expected, unmatched = one_by_one(given_events)
    assert sorted(found) == expected
    assert blocks.unmatched.size == unmatched
    assert (np.diff(blocks.allocation) >= 0).all()


@given(st.lists(event, min_size=1, max_size=30), st.integers(-1, 30))
def test_live_blocks_have_begun_and_are_not_over(given_events: Given, at: int) -> None:
    blocks = pair(events_of(given_events))
    for device in (0, 1):
        expected = [
            i
            for i, (begun, end) in enumerate(zip(blocks.allocation.tolist(), blocks.end.tolist(), strict=True))
            if blocks.device[i] == device and begun <= at < end
        ]
        assert blocks.live(at, device).tolist() == expected


samples = st.lists(
    st.tuples(st.integers(0, 1000), st.integers(-50, 50), st.integers(-50, 50)), min_size=1, max_size=200
)


@settings(max_examples=200)
@given(samples, st.integers(6, 60))
def test_thinning_keeps_the_ends_and_the_extremes(given_samples: list[tuple[int, int, int]], points: int) -> None:
    time, one, other = (np.array(part, np.int64) for part in zip(*sorted(given_samples), strict=True))
    kept = thinned(time, [one, other], points)
    assert kept.size <= max(points, 6)
    assert (np.diff(kept) > 0).all()
    assert kept[0] == 0
    assert kept[-1] == time.size - 1
    for values in (one, other):
        assert values[kept].min() == values.min()
        assert values[kept].max() == values.max()


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=1, max_size=30), st.integers(0, 100))
def test_totals_that_are_left_out_follow_from_the_bytes(given_events: list[tuple[int, bool]], before: int) -> None:
    events = events_of([(0, size, 1) for size, _ in given_events])
    events = replace(events, devices=events.devices[:1])
    level = before + np.cumsum(events.bytes)
    told = np.array([given for _, given in given_events])
    events.allocated[told] = level[told]
    curve = curves(events)[0]
    assert curve.allocated.tolist() == (level if told.any() else level - before).tolist()
    assert curve.jumps == 0


# --- phases ---------------------------------------------------------------------------------------------------------------------------


def phases(builder: TraceBuilder) -> dict[str, str]:
    """Return the phase of each host event by its name."""
    trace = trace_of(builder)
    code = phase_of(trace, trace.host.rows)
    names = [trace.columns.names[i] for i in trace.columns.name[trace.host.rows].tolist()]
    return {name: PHASES[i] for name, i in zip(names, code.tolist(), strict=True)}


def test_the_innermost_mark_decides() -> None:
    builder = TraceBuilder().annotation(0, 100, "Optimizer.step#SGD.step").op(1, 9, "aten::add_")
    # a closure within the optimizer's step
    builder.python(10, 50, "nn.Module: Net_0").op(11, 20, "aten::mm", seq=1)
    builder.op(60, 90, "MmBackward0", seq=1, fwd_thread=1).op(61, 70, "aten::mul").python(71, 89, "nn.Module: Net_1")
    builder.op(72, 80, "aten::again", seq=2)
    builder.annotation(200, 300, LOADER).op(210, 220, "aten::stack", seq=3)
    builder.op(310, 330, "aten::relu", seq=3).op(312, 320, "aten::empty").op(340, 350, "aten::zeros")
    builder.op(400, 420, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad").op(
        401, 410, "aten::clone"
    )
    assert phases(builder) == {
        "Optimizer.step#SGD.step": "optimizer",
        "aten::add_": "optimizer",
        "nn.Module: Net_0": "forward",
        "aten::mm": "forward",
        "MmBackward0": "backward",
        "aten::mul": "backward",
        "nn.Module: Net_1": "backward",
        "aten::again": "backward",
        LOADER: "data",
        "aten::stack": "data",
        "aten::relu": "forward",
        "aten::empty": "forward",
        "aten::zeros": "other",
        "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad": "backward",
        "aten::clone": "backward",
    }


def test_phases_over_time() -> None:
    builder = TraceBuilder().annotation(0, 30, LOADER).python(20, 50, "nn.Module: Net_0").op(25, 28, "aten::mm", seq=1)
    builder.python(60, 70, "nn.Module: Net_0")  # nothing between: one stretch of forward
    builder.op(65, 90, "MmBackward0", tid=2, seq=1, fwd_thread=1).annotation(85, 99, "Optimizer.step#SGD.step")
    builder.op(200, 210, "aten::zeros")
    trace = trace_of(builder)
    found = [("data", 0, 20, None), ("forward", 20, 65, None), ("backward", 65, 90, None), ("optimizer", 90, 99, None)]
    assert rows(trace, "phase_ranges", "phase", "start_us", "end_us", "step") == found
    assert rows(trace, "phase_ranges", "phase", longest=1) == [("forward",)]
    assert trace.view("phase_ranges", longest=1).attrs["notes"] == ["3 shorter stretches are left out."]
    assert rows(trace, "phase_ranges", "phase", start_us=20, end_us=65) == [("forward",)]
    assert rows(trace, "phase_ranges", "phase", start_us=19, end_us=66) == [("data",), ("forward",), ("backward",)]
    builder.step(1, 0, 55).step(2, 55, 100)
    found[1:2] = [("forward", 20, 50, 1), ("forward", 60, 65, 2)]
    assert [row[:3] for row in rows(trace_of(builder), "phase_ranges", "phase", "start_us", "end_us")] == [
        row[:3] for row in found
    ]
    assert rows(trace_of(TraceBuilder().op(0, 1)), "phase_ranges", "phase") == []


@given(random_traces.traces())
def test_stretches_of_phases_do_not_overlap(builder: TraceBuilder) -> None:
    trace = trace_of(builder)
    found = stretches(trace)
    assert (found.end > found.start).all()
    assert (found.start[1:] >= found.end[:-1]).all()
    # whatever the innermost event of a thread is in, the instant is in that phase or in one that goes before it
    for row in trace.host.rows.tolist():
        start = int(trace.columns.start[row])
        own = phase_of(trace, np.array([row]))[0]
        if PHASES[own] != "other" and trace.columns.duration[row] > 0:
            assert ((found.start <= start) & (start < found.end)).sum() == 1


def test_no_event_has_no_phase() -> None:
    trace = trace_of(TraceBuilder().op(0, 1))
    assert [PHASES[code] for code in phase_of(trace, np.array([-1, 0])).tolist()] == ["other", "other"]
    assert phase_of(trace_of(TraceBuilder()), np.array([], np.int64)).size == 0


# --- categories -----------------------------------------------------------------------------------------------------------------------


def step(builder: TraceBuilder, start: int) -> TraceBuilder:
    """Add a training step of 100 µs: data to 10, forward to 30, backward to 60, optimizer to 80."""
    builder.step(start // 100, start, start + 100).annotation(start + 1, start + 10, LOADER)
    builder.op(start + 11, start + 30, "aten::mm", seq=start + 1)
    builder.op(start + 31, start + 60, "MmBackward0", seq=start + 1, fwd_thread=1)
    return builder.annotation(start + 61, start + 80, "Optimizer.step#Adam.step").op(
        start + 90, start + 95, "aten::ones"
    )


#: when it is allocated and freed (µs, None: never) in two steps of 100 µs, and what it is.
BLOCKS = [
    (5, 95, "input"),
    (5, None, "input"),
    (15, 25, "temporary"),
    (15, 35, "activation"),
    (15, 150, "activation"),
    (15, None, "activation"),
    (35, 55, "temporary"),
    (35, 60.5, "temporary"),
    (35, 70, "gradient"),
    (35, 170, "gradient"),
    (65, 75, "temporary"),
    (65, 105, "temporary"),
    (65, 112, "optimizer_state"),
    (65, None, "optimizer_state"),
    (165, None, "optimizer_state"),
    (92, 96, "temporary"),
    (92, 110, "unknown"),
    (92, None, "unknown"),
    (None, 50, "unknown"),
]


@pytest.mark.parametrize(("begin", "end", "category"), BLOCKS)
def test_categories_follow_from_phases_and_lifetimes(begin: float | None, end: float | None, category: str) -> None:
    builder = step(step(TraceBuilder(), 0), 100)
    for at, size in ((begin, 64), (end, -64)):
        if at is not None:
            builder.memory(at, size, addr=1, **HOST)
    assert rows(trace_of(builder), "allocations", "category") == [(category,)]


def test_without_steps_the_same_rules_hold_as_far_as_they_can() -> None:
    builder = (
        TraceBuilder()
        .op(0, 10, "aten::mm", seq=1)
        .op(20, 30, "MmBackward0", seq=1, fwd_thread=1)
        .op(40, 50, "aten::ones")
    )
    for number, (begin, end) in enumerate(((5, 25), (6, 8), (25, 60), (45, 46))):
        builder.memory(begin, 64, addr=number, **HOST).memory(end, -64, addr=number, **HOST)
    found = dict(rows(trace_of(builder), "allocations", "from_us", "category"))
    assert found == {5: "activation", 6: "temporary", 25: "temporary", 45: "unknown"}


def test_backward_work_of_another_step_makes_no_activation() -> None:
    builder = TraceBuilder().step(0, 0, 100).op(10, 20, "aten::mm", seq=1).step(1, 100, 200)
    builder.op(110, 120, "MmBackward0", seq=1, fwd_thread=1)
    builder.memory(15, 64, addr=1).memory(190, -64, addr=1)
    assert rows(trace_of(builder), "allocations", "category") == [("unknown",)]


def test_what_backward_leaves_at_the_end_of_the_recording_is_a_gradient() -> None:
    builder = TraceBuilder().op(10, 20, "MmBackward0", seq=1, fwd_thread=1)
    builder.memory(15, 64, addr=1).memory(16, 64, addr=2).memory(17, -64, addr=2)
    assert rows(trace_of(builder), "allocations", "category") == [("gradient",), ("temporary",)]


def test_a_copy_makes_no_input_of_all_else_that_a_python_function_allocates() -> None:
    builder = TraceBuilder().python(0, 100, "train.py(5): step").op(10, 40, "aten::copy_")
    builder.launch(12, 20, 1, name="cudaMemcpyAsync").memcpy(30, 40, correlation=1).op(50, 60, "aten::ones")
    assert rows(trace_of(builder.memory(55, 64, addr=1)), "allocations", "category") == [("unknown",)]


def test_what_is_copied_from_the_host_is_input() -> None:
    builder = TraceBuilder().op(0, 50, "aten::_to_copy").op(1, 9, "aten::empty_strided").op(10, 49, "aten::copy_")
    builder.launch(12, 20, 1, name="cudaMemcpyAsync").memcpy(30, 40, correlation=1)
    builder.op(60, 90, "aten::_to_copy").op(61, 69, "aten::empty_strided")
    trace = trace_of(builder.memory(5, 64, addr=1).memory(65, 64, addr=2))
    assert rows(trace, "allocations", "category") == [("input",), ("unknown",)]
