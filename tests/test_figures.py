"""The product's figures are the known ones, to the nanosecond, on every real trace and on the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import corpus
import kinetoscope as ks
from kinetoscope.health.linked import crossing_pairs

if TYPE_CHECKING:
    import pandas as pd

PARTS = {
    "compute": "compute_us",
    "communication": "communication_us",
    "memcpy": "memcpy_us",
    "memset": "memset_us",
    "api": "api_us",
    "data_loader": "data_loader_us",
    "op": "op_us",
    "python": "python_us",
    "unrecorded": "unrecorded_us",
}
DEVICE = ("busy", "idle", "compute", "exposed_communication", "exposed_copy", "summed", "span", "communication")


def ns(microseconds: float) -> int:
    """Return whole nanoseconds; µs with three decimals are exact."""
    return round(float(microseconds) * 1000)


def steps_of(trace: ks.Trace) -> list[dict[str, Any]]:
    """Return the steps as the known figures write them."""
    return [
        {
            "host_ns": ns(row["host_us"]),
            "period_ns": ns(row["period_us"]),
            "tail_ns": ns(row["tail_us"]),
            "split_ns": {part: ns(row[column]) for part, column in PARTS.items()},
        }
        for row in trace.view("steps").to_dict("records")
    ]


def devices_of(trace: ks.Trace) -> dict[str, dict[str, int]]:
    """Return the devices as the known figures write them."""
    return {
        str(row["device"]): {"gaps": row["gaps"], **{f"{name}_ns": ns(row[f"{name}_us"]) for name in DEVICE}}
        for row in trace.view("devices").to_dict("records")
    }


def longest(gaps: pd.DataFrame, device: str) -> list[int]:
    """Return the lengths of a device's five longest gaps."""
    lengths = gaps.loc[gaps["device"].astype(str) == device, "duration_us"]
    return sorted((ns(length) for length in lengths), reverse=True)[:5]


def check_ops(trace: ks.Trace, expected: dict[str, Any]) -> None:
    """Compare operators, where both sides have them."""
    frame = trace.view("operators")
    named = frame[frame["owned"]].set_index("name")
    for row in [*expected.get("top_ops_by_device_self", ()), *expected.get("top_ops_by_host_self", ())]:
        found = named.loc[row["name"]]
        times = {f"{time}_ns": ns(found[f"{time}_us"]) for time in ("host_total", "host_self", "device_self")}
        assert row == {"name": row["name"], "calls": found["calls"], **{key: times[key] for key in times if key in row}}
    rest = ns(frame.loc[~frame["owned"], "device_self_us"].sum())
    assert rest == expected.get("device_ns_unattributed", rest)
    assert ns(frame["device_self_us"].sum()) == int(trace.columns.duration[trace.work].sum())
    crossing = crossing_pairs(trace)[0]
    assert crossing == expected.get("crossing", crossing)


def check(known: corpus.Known) -> None:
    """Compare everything that both sides have."""
    trace, expected = ks.load(known.path), known.expected
    keys = ("host_ns", "period_ns", "tail_ns", "split_ns")
    assert steps_of(trace) == [{key: step[key] for key in keys} for step in expected["steps"]]
    devices = devices_of(trace)
    assert devices == {
        name: {key: device[key] for key in devices.get(name, device)} for name, device in expected["devices"].items()
    }
    check_ops(trace, expected)
    gaps = trace.view("gaps")
    for name, device in expected["devices"].items():
        assert longest(gaps, name) == device["longest_gaps_ns"]
    kernels = trace.view("kernels").set_index("name")
    for kernel in expected["top_kernels"]:
        row = kernels.loc[kernel["name"]]
        assert (row["calls"], ns(row["total_us"])) == (kernel["calls"], kernel["total_ns"])


@corpus.parametrize(largest_mb=3.0)
def test_real_traces(known: corpus.Known) -> None:
    check(known)


@pytest.mark.parametrize("known", corpus.samples(), ids=lambda known: known.id)
def test_samples(known: corpus.Known) -> None:
    check(known)


@pytest.mark.parametrize("known", corpus.planned(), ids=lambda known: known.id)
def test_gaps_made_on_purpose(known: corpus.Known) -> None:
    trace = ks.load(known.path)
    origin = int(trace.origin_ns)
    found = {(origin + ns(row.start_us), ns(row.duration_us)) for row in trace.view("gaps").itertuples()}
    planned = {(gap["start_ns"], gap["duration_ns"]) for gap in known.expected["planned_gaps"]}
    assert planned <= found
