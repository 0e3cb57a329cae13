"""Causes of idle time: what must hold for any trace, and on real ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import corpus
import kinetoscope as ks
import reference
from random_traces import traces

if TYPE_CHECKING:
    from pathlib import Path

    from build import TraceBuilder


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(builder=traces())
def test_segments_tile_each_gap_and_equal_the_plain_reference(builder: TraceBuilder, tmp_path: Path) -> None:
    path = builder.write(tmp_path / "t.json")
    trace = ks.load(path)
    check(trace)
    known = reference.figures(path)["devices"]
    assert causes_of(trace) == {name: device["idle_by_cause_ns"] for name, device in known.items()}


def check(trace: ks.Trace) -> None:
    """Segments tile the gaps, and every grouping adds up to the idle time."""
    table, segments = trace.gap_table, trace.idle_segments
    assert (segments.end > segments.start).all()
    last = {}
    for gap, start, end in zip(segments.gap.tolist(), segments.start.tolist(), segments.end.tolist(), strict=True):
        assert start == last.get(gap, table.start[gap])
        last[gap] = end
    assert last == dict(enumerate(table.end.tolist()))
    idle = trace.view("devices").set_index("device")["idle_us"]
    for by in ("cause", "op", "module", "source", "annotation", "step", "thread"):
        sums = trace.view("idle", by=by).groupby("device")["total_us"].sum()
        for device, total in sums.items():
            assert round(total * 1000) == round(idle[device] * 1000)


def causes_of(trace: ks.Trace) -> dict[str, dict[str, int]]:
    """Return idle time by cause as the known figures write it."""
    found: dict[str, Counter[str]] = {str(row.device): Counter() for row in trace.view("devices").itertuples()}
    for row in trace.view("idle").itertuples():
        found[str(row.device)][row.cause] += round(row.total_us * 1000)
    return {name: dict(causes) for name, causes in found.items()}


#: Figures that leave a rule out; see ``tests/test_reference.py``.
DISPUTED = {"a100_alexnet"}


@corpus.parametrize(largest_mb=50.0)
def test_real_traces(known: corpus.Known) -> None:
    trace = ks.load(known.path)
    check(trace)
    if known.id not in DISPUTED:
        assert causes_of(trace) == {name: one["idle_by_cause_ns"] for name, one in known.expected["devices"].items()}


@pytest.mark.parametrize(("name", "loading"), [("v100_resnet50_workers0", True), ("v100_resnet50_workers4", False)])
def test_the_loader_is_to_blame_only_where_it_runs_in_the_main_process(name: str, loading: bool) -> None:
    first = ks.load(corpus.trace_path(name)).view("idle")["cause"].iloc[0]
    assert (first == "data loading") == loading


#: HolisticTraceAnalysis' idle classes per stream, µs: host_wait, kernel_wait, other (its head of 2026, without rounding).
PEER = {
    "v100_resnet50_workers0": {7: (318_934, 8_529, 0)},
    "a100_nccl": {7: (355_485, 1_414, 0), 40: (381_488, 0, 0)},
    "a100_rank3_of_8": {
        7: (102_154, 14_226, 32_183),
        20: (346_996, 621, 7_470),
        21: (237_710, 71, 0),
        22: (271_786, 1_253, 0),
    },
    "mi250_rocm": {0: (8_763, 0, 0)},
    "h100_timesformer": {7: (725, 835, 0)},
    "b200_eager": {7: (72_470, 351, 0)},
}
_DELAY_NS = 30_000


@pytest.mark.parametrize("name", PEER)
def test_gaps_by_stream_give_the_peers_classes(name: str) -> None:
    """The peer looks at what ends a gap of a stream: a launch that came after its beginning, else a short gap, else the rest.

    It differs in three ways. It leaves out what the last of several steps launched, and the time before the first and after the last work. It
    adds up ``start − end of the work before``, which is negative where works of a stream overlap: those cancel idle time (b200_eager). And it
    counts the time between periods, which belongs to no step and is no part of the window (a100_nccl, a100_rank3_of_8).
    """
    trace = ks.load(corpus.trace_path(name))
    columns, steps = trace.columns, trace.steps_table
    launched = columns.start[np.maximum(trace.launch_of_work, 0)]
    last = steps.host_start[-1] if len(steps) > 1 else 2**62
    kept = (len(steps) < 2) | ((trace.launch_of_work >= 0) & (launched < last))
    ids = set(columns.id[trace.work[kept]].tolist())
    found = trace.view("gaps", by="stream")
    found = found[found["next_id"].isin(ids) & found["previous_id"].isin(ids)]
    for stream, expected in PEER[name].items():
        own = found[found["stream"] == stream]
        length = np.rint(own["duration_us"] * 1000)
        host = own["launch_delay_us"].to_numpy() < own["duration_us"].to_numpy()
        short = ~host & (length < _DELAY_NS).to_numpy()
        rows = trace.work[kept & (columns.stream[trace.work] == stream)]
        overlap = np.maximum(columns.end[rows][:-1] - columns.start[rows][1:], 0).sum()
        classes = [length[chosen].sum() for chosen in (host, short, ~host & ~short)]
        classes[1] -= overlap
        between = (steps.start[1:] - steps.end[:-1]).sum() if len(steps) > 1 else 0
        assert [round(ns / 1000) for ns in classes] == pytest.approx(expected, abs=round(between / 1000))
