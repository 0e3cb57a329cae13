"""Memory of real traces, and of one recorded here and now, against a plain replay of their events."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import corpus
import kinetoscope as ks
from kinetoscope.memory.categories import CATEGORIES

REAL = ("h100_qwen", "mi300_qwen", "h100_timesformer", "h100_bert", "v100_resnet50_workers0")
DEVICE_TYPES = {0: "cpu", 1: "cuda", 6: "hip"}
ALL = 10**9
KIB = 1024

Event = dict[str, Any]


def events_of(path: Path) -> list[Event]:
    """Return the events of a file."""
    text = path.read_bytes()
    found: list[Event] = json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)["traceEvents"]
    return found


def replay(events: list[Event]) -> dict[str, dict[str, Any]]:
    """Follow memory events one by one, by the book: levels, and what is live at the first largest one, by device."""
    found: dict[str, dict[str, Any]] = {}
    for event in sorted((event for event in events if event.get("name") == "[memory]"), key=lambda one: one["ts"]):
        given = event["args"]
        name = DEVICE_TYPES[given["Device Type"]] + (f":{given['Device Id']}" if given["Device Id"] >= 0 else "")
        one = found.setdefault(name, {"levels": [], "reserved": [], "live": {}, "at_peak": [], "peak": -(2**62)})
        before = one["levels"][-1] if one["levels"] else 0
        level = given.get("Total Allocated", before + given["Bytes"])
        one["levels"].append(level)
        one["reserved"].append(given.get("Total Reserved"))
        if given["Bytes"] < 0:
            one["live"].pop(given.get("Addr"), None)
        elif "Addr" in given:
            one["live"][given["Addr"]] = event
        if level > one["peak"]:
            one |= {"peak": level, "at_peak": list(one["live"].values())}
    return found


def innermost_op(event: Event, ops: list[Event]) -> str | None:
    """Return the op around an event that began last."""
    holding = [op for op in ops if op["tid"] == event["tid"] and op["ts"] <= event["ts"] < op["ts"] + op["dur"]]
    return max(holding, key=lambda op: (op["ts"], -op["dur"]))["name"] if holding else None


def check(trace: ks.Trace, events: list[Event]) -> None:
    """Compare curves, peaks and what is live at them."""
    expected = replay(events)
    summary = trace.view("memory").set_index("device")
    assert set(summary.index) == set(expected)
    ops = [event for event in events if event.get("ph") == "X" and event.get("cat") in ("cpu_op", "Operator")]
    for device, one in expected.items():
        curve = trace.view("memory_timeline", device=device, points=ALL)
        assert curve["allocated_bytes"].tolist() == one["levels"]
        assert summary.loc[device, "peak_allocated_bytes"] == one["peak"]
        if device != "cpu" and one["reserved"][0] is not None:
            assert curve["reserved_bytes"].tolist() == one["reserved"]
        by_op: dict[str | None, int] = defaultdict(int)
        for event in one["at_peak"]:
            by_op[innermost_op(event, ops)] += event["args"]["Bytes"]
        by_op[None] += one["peak"] - sum(by_op.values())
        live = trace.view("memory_peak", device=device)
        ours = {None if pd.isna(op) else op: size for op, size in zip(live["op"], live["bytes"], strict=True)}
        assert ours == {op: size for op, size in by_op.items() if size}
        parts = trace.view("memory_timeline", by="category", device=device, points=ALL)
        assert (parts[[f"{name}_bytes" for name in CATEGORIES]].sum(axis=1) == parts["allocated_bytes"]).all()


@pytest.mark.parametrize("name", REAL)
def test_real_curves_and_peaks_are_those_of_a_replay(name: str) -> None:
    path = corpus.trace_path(name)
    check(ks.load(path), events_of(path))


def test_old_recordings_have_curves_and_no_blocks() -> None:
    trace = ks.load(corpus.trace_path("v100_resnet50_workers0"))
    frame = trace.view("allocations")
    assert len(frame) == 0
    assert "there are curves, and no blocks" in frame.attrs["notes"][1]
    # figures that the removed plugin showed of this trace
    sums = trace.view("memory_by_op", device="cuda:0").set_index("op")
    assert sums.loc["aten::empty", ["allocated_bytes", "allocations"]].tolist() == [33_203_886 * KIB, 2694]
    assert sums.loc["aten::threshold_backward", "allocated_bytes"] == 7_217_280 * KIB
    assert sums.loc["aten::cudnn_convolution", ["allocated_bytes", "net_bytes"]].tolist() == [
        8_362_752 * KIB,
        4_844_874 * KIB,
    ]


@pytest.mark.parametrize("points", [12, 100, 2000])
def test_a_thinned_curve_keeps_its_extremes(points: int) -> None:
    trace = ks.load(corpus.trace_path("v100_resnet50_workers0"))
    whole, thin = (trace.view("memory_timeline", device="cuda:0", points=count) for count in (ALL, points))
    assert len(thin) <= points
    for column in ("time_us", "allocated_bytes"):
        assert thin[column].iloc[[0, -1]].tolist() == whole[column].iloc[[0, -1]].tolist()
        assert (thin[column].min(), thin[column].max()) == (whole[column].min(), whole[column].max())
    known = set(zip(whole["time_us"], whole["allocated_bytes"], strict=True))
    assert known.issuperset(zip(thin["time_us"], thin["allocated_bytes"], strict=True))
    # zoomed in far enough, every event is there
    start, end = whole["time_us"].iloc[[100, 109]]
    near = trace.view("memory_timeline", device="cuda:0", points=points, start_us=start, end_us=end + 0.001)
    assert near["allocated_bytes"].tolist() == whole["allocated_bytes"].iloc[100:110].tolist()


# --- recorded here and now ------------------------------------------------------------------------------------------------------------

STEPS, KEPT = 4, 1000


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a small training on the CPU, with PyTorch's own memory timeline of it in both forms beside it."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: tests that record a trace are skipped")
    folder = tmp_path_factory.mktemp("recorded")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64))
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.utils.data.TensorDataset(torch.randn(64 * STEPS, 256), torch.randint(0, 64, (64 * STEPS,)))
    kept = []

    def keep_something() -> None:
        kept.append(torch.zeros(KEPT))

    def train_step(x: Any, y: Any) -> None:
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        keep_something()

    # without a schedule, whose steps would end the recording; the markers are our own
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, with_stack=True, record_shapes=True
    ) as profiler:
        batches = iter(torch.utils.data.DataLoader(data, batch_size=64))
        for number in range(STEPS):
            with torch.profiler.record_function(f"ProfilerStep#{number}"):
                train_step(*next(batches))
    path = folder / "worker.pt.trace.json"
    profiler.export_chrome_trace(str(path))
    for name in ("memory.json", "memory.raw.json.gz"):
        profiler.export_memory_timeline(str(folder / name), device="cpu")
    return path


torch_warns = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@torch_warns
def test_a_fresh_recording_is_that_of_a_replay(recorded: Path) -> None:
    check(ks.load(recorded), events_of(recorded))


@torch_warns
def test_the_peak_of_a_fresh_recording_is_explained(recorded: Path) -> None:
    trace = ks.load(recorded)
    by_op = trace.view("memory_peak", by="op")
    assert by_op.loc[by_op["op"].notna(), "share_pct"].sum() > 99
    by_source = trace.view("memory_peak", by="source")
    own = by_source["source"].str.contains(r"test_memory_replay\.py\(\d+\): (?:train_step|keep_something|recorded)")
    assert by_source.loc[own.fillna(False).astype(bool), "share_pct"].sum() > 99


@torch_warns
def test_growth_of_a_fresh_recording_is_what_is_kept(recorded: Path) -> None:
    trace = ks.load(recorded)
    steps = trace.view("memory_steps").iloc[2:]
    assert (steps["growth_bytes"] >= KEPT * 4).all()
    grown = trace.view("memory_growth", by="source").iloc[0]
    assert "keep_something" in grown["source"]
    assert (grown["growth_bytes"], grown["steps_grown"]) == (KEPT * 4 * (STEPS - 1), STEPS - 1)


@torch_warns
def test_categories_are_those_of_pytorch_where_both_can_tell(recorded: Path) -> None:
    trace = ks.load(recorded)
    theirs = trace.view("memory_exported", file="memory.raw.json.gz", points=ALL).set_index("time_us")
    ours = trace.view("memory_timeline", by="category", points=ALL).drop_duplicates("time_us", keep="last")
    at = ours["time_us"].iloc[np.linspace(0, len(ours) - 1, 200).astype(int)]
    ours = ours.set_index("time_us")
    for category in ("gradient_bytes", "optimizer_state_bytes"):
        peak = theirs.loc[theirs.index <= at.max(), category].max()
        assert ours[category].max() == peak > 0
    optimizer = theirs["optimizer_state_bytes"].reindex(at, method="ffill").to_numpy()
    late = at.to_numpy() > at.max() / 2
    assert (ours.loc[at, "optimizer_state_bytes"].to_numpy() == optimizer)[late].all()


@torch_warns
def test_the_two_exported_forms_agree(recorded: Path) -> None:
    trace = ks.load(recorded)
    frame = trace.view("memory_exported", points=ALL)
    last = frame.groupby("file", observed=True).last()
    assert list(last.index) == ["memory.json", "memory.raw.json.gz"]
    assert last.drop(columns="time_us").nunique().eq(1).all()
    # whole µs in one, ns in the other
    assert abs(last["time_us"].diff().iloc[1]) < 1
    end = trace.view("memory_timeline", points=ALL)["time_us"].iloc[-1]
    assert last["time_us"].iloc[1] == pytest.approx(end, abs=0.001)
