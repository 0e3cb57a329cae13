"""The reference reproduces what is known of the real traces and of the samples; other tests may then rely on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import corpus
import reference
from build import TraceBuilder

if TYPE_CHECKING:
    from pathlib import Path

#: Known of the corpus, and not among the reference's questions.
NOT_COMPUTED = {"trace", "planned_gaps", "top_ops_by_device_self", "top_ops_by_host_self"}

#: Where the stored figure leaves a rule out. In this trace one gap of 1 µs ends with a kernel on stream 7, which was told
#: between its launch and the one before it on that stream to wait for stream 20, whose work ends where the gap begins:
#: a stream dependency, stored as device scheduling.
DISPUTED = {"a100_alexnet": ("device scheduling", "stream dependency", 1_000)}


def comparable(value: Any) -> Any:
    """Leave out what the reference does not compute."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in NOT_COMPUTED}
    return [comparable(item) for item in value] if isinstance(value, list) else value


@corpus.parametrize(largest_mb=1.0)
def test_reference_gives_the_known_figures(known: corpus.Known) -> None:
    expected = comparable(known.expected)
    if known.id in DISPUTED:
        stored, right, time = DISPUTED[known.id]
        causes = expected["devices"]["0"]["idle_by_cause_ns"]
        causes[stored] -= time
        causes[right] = causes.get(right, 0) + time
    assert reference.figures(known.path) == expected


@pytest.mark.parametrize("known", corpus.samples(), ids=lambda known: known.id)
def test_reference_gives_the_stored_figures_of_a_sample(known: corpus.Known) -> None:
    assert reference.figures(known.path) == comparable(known.expected)


@pytest.mark.parametrize("known", corpus.planned(), ids=lambda known: known.id)
def test_gaps_that_were_made_on_purpose_are_found(known: corpus.Known) -> None:
    (device,) = reference.figures(known.path)["devices"].values()
    planned = sorted((gap["duration_ns"] for gap in known.expected["planned_gaps"]), reverse=True)
    assert planned[:5] == device["longest_gaps_ns"]


def test_periods_and_tails(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 100).step(1, 100, 200)
    for correlation, launched, start, end in (
        (1, 5, 20, 60),
        (2, 90, 110, 150),
        (3, 120, 150, 180),
        (4, 130, 200, 260),
    ):
        trace.launch(launched, launched + 1, correlation).kernel(start, end, correlation=correlation)
    steps = reference.figures(trace.write(tmp_path / "t.json"))["steps"]
    assert [(step["period_ns"], step["tail_ns"]) for step in steps] == [(150_000, 50_000), (110_000, 60_000)]
    assert [sum(step["split_ns"].values()) for step in steps] == [150_000, 110_000]


def test_two_streams(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 200).kernel(0, 100, stream=7).kernel(50, 150, stream=20)
    device = reference.figures(trace.write(tmp_path / "t.json.gz"))["devices"]["0"]
    assert (device["busy_ns"], device["summed_ns"], device["idle_ns"], device["gaps"]) == (150_000, 200_000, 50_000, 1)


def test_times_are_exact(tmp_path: Path) -> None:
    trace = TraceBuilder(rank=None)
    for start, end in (("000.125", "000.525"), ("000.600", "000.900"), ("000.950", "001.150")):
        trace.kernel(f"1716000000000{start}", f"1716000000000{end}")
    device = reference.figures(trace.write(tmp_path / "t.json"))["devices"]["0"]
    assert sorted(device["longest_gaps_ns"]) == [50, 75]


def idle_of(trace: TraceBuilder, folder: Path) -> dict[str, float]:
    """Return device 0's idle time by cause, in µs."""
    causes = reference.figures(trace.write(folder / "t.json"))["devices"]["0"]["idle_by_cause_ns"]
    return {cause: time / 1000 for cause, time in causes.items()}


def test_idle_by_host_work(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 100)
    trace.op(0, 10, "A").launch(2, 4, 1).kernel(10, 30, correlation=1)
    trace.op(50, 80, "B").launch(60, 65, 2).kernel(70, 90, correlation=2)
    assert idle_of(trace, tmp_path) == {
        "untraced host": 30,
        "host work": 12,
        "launch latency": 11,
        "launch calls": 7,
    }


def test_idle_by_synchronization(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 100).op(28, 52, "aten::item").launch(30, 50, name="cudaStreamSynchronize")
    trace.launch(1, 2, 1).kernel(10, 40, correlation=1)
    trace.op(66, 75, "C").launch(70, 72, 2).kernel(80, 100, correlation=2)
    assert idle_of(trace, tmp_path) == {
        "launch latency": 16,
        "untraced host": 15,
        "synchronization": 10,
        "host work": 6,
        "launch calls": 3,
    }


def test_idle_inside_a_graph(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 40).launch(5, 39, 500, name="cudaGraphLaunch")
    trace.kernel(20, 30, correlation=500).kernel(32, 40, correlation=500)
    assert idle_of(trace, tmp_path) == {"launch calls": 15, "untraced host": 5, "inside a graph": 2}


def test_idle_of_a_late_start(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 6000).launch(10, 12, 1).kernel(5000, 5100, correlation=1)
    assert idle_of(trace, tmp_path) == {"late start": 4988, "untraced host": 910, "launch calls": 2}


def test_idle_on_the_backward_thread(tmp_path: Path) -> None:
    trace = TraceBuilder().step(0, 0, 100).annotation(30, 100, "backward").kernel(10, 40, correlation=9)
    trace.op(60, 80, "MulBackward0", tid=2).launch(65, 68, 1, tid=2).kernel(72, 90, correlation=1)
    assert idle_of(trace, tmp_path) == {"host work": 35, "launch latency": 4, "launch calls": 3}
