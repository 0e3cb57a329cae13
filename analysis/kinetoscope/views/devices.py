"""How busy each device was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kinetoscope import device_figures, intervals
from kinetoscope.devices import properties
from kinetoscope.schema import Column
from kinetoscope.views.common import no_device_note
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("device", "", "integer", "Device number, as recorded."),
    Column(
        "window_us",
        "µs",
        "number",
        "Time that is looked at: the union of the steps' periods, else from the first to the last timed event.",
    ),
    Column("busy_us", "µs", "number", "Time in the window in which the device had work on at least one stream."),
    Column(
        "idle_us",
        "µs",
        "number",
        "Window − busy: nothing ran on any stream. An upper bound where work was not recorded.",
    ),
    Column("utilization_pct", "%", "number", "Busy / window."),
    Column("compute_us", "µs", "number", "Time with at least one compute kernel running."),
    Column("exposed_communication_us", "µs", "number", "Time with communication and no compute kernel running."),
    Column("exposed_copy_us", "µs", "number", "Time with copies or memory sets and no kernel running."),
    Column("summed_us", "µs", "number", "Lengths of all work added up, overlaps counted each time."),
    Column("span_us", "µs", "number", "From the first to the last work of the device in the whole recording."),
    Column("communication_us", "µs", "number", "Time with at least one communication kernel running."),
    Column("concurrency", "", "number", "Summed / busy: how many works ran at once on average."),
    Column("gaps", "", "integer", "Idle gaps in the window."),
    Column(
        "sm_efficiency_pct",
        "%",
        "number",
        "Integral over the window of min(1, blocks per SM of the running kernels) / window.",
    ),
    Column(
        "occupancy_pct",
        "%",
        "number",
        "Recorded estimate of achieved occupancy, weighted by kernel time; unknown values left out.",
    ),
    Column(
        "occupancy_unknown",
        "",
        "integer",
        "Kernels of the window of which the estimate is unknown: 0 was recorded because of their shared memory.",
    ),
    Column(
        "tensor_cores_pct",
        "%",
        "number",
        "Part of the kernel time in kernels that use the matrix units, of those of which the name tells.",
    ),
    Column("name", "", "text", "Name of the device; missing when it is not recorded."),
    Column("capability", "", "text", "Compute capability of the device."),
    Column("memory_bytes", "bytes", "integer", "Memory of the device."),
    Column("sm_count", "", "integer", "Streaming multiprocessors of the device."),
)

_DTYPES = {"integer": "int64", "number": "float64", "text": "str"}
_MAYBE_MISSING = ("memory_bytes", "sm_count")


def devices(trace: Trace) -> pd.DataFrame:
    """Tell for each device how long it was busy, and with what.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per device with work; columns as in the registry, times in µs.
        ``compute_us + exposed_communication_us + exposed_copy_us + idle_us == window_us``, exactly.
    """
    window = trace.window
    length = intervals.measure(window)
    rows = []
    for device in trace.devices:
        busy = intervals.measure(intervals.intersect(device.busy, window))
        kernels = intervals.measure(intervals.intersect(device.kernels, window))
        compute = intervals.measure(intervals.intersect(device.compute, window))
        communication = intervals.measure(intervals.intersect(device.communication, window))
        summed = intervals.summed(device.start, device.end, window)
        figures = {
            "window_us": length,
            "busy_us": busy,
            "idle_us": length - busy,
            "compute_us": compute,
            "exposed_communication_us": kernels - compute,
            "exposed_copy_us": busy - kernels,
            "summed_us": summed,
            "span_us": int(device.end.max() - device.start.min()),
            "communication_us": communication,
        }
        row: dict[str, Any] = {name: ns / 1000.0 for name, ns in figures.items()}
        row["device"] = device.device
        row["utilization_pct"] = 100.0 * busy / length if length else np.nan
        row["concurrency"] = summed / busy if busy else np.nan
        row["gaps"] = intervals.subtract(window, device.busy)[0].size
        row["sm_efficiency_pct"] = device_figures.sm_efficiency_pct(trace, device)
        row["occupancy_pct"], row["occupancy_unknown"] = device_figures.occupancy_pct(trace, device)
        row["tensor_cores_pct"] = device_figures.tensor_cores_pct(trace, device)
        rows.append({**row, **_recorded(trace, device.device)})
    names = [column.name for column in _COLUMNS]
    types = {column.name: _DTYPES[column.type] for column in _COLUMNS} | dict.fromkeys(_MAYBE_MISSING, "Int64")
    frame = pd.DataFrame(rows, columns=names).astype(types)
    frame.attrs["notes"] = no_device_note(trace)
    return frame


def _recorded(trace: Trace, device: int) -> dict[str, Any]:
    """Return what the file says of a device."""
    found = properties(trace.metadata, device)
    major, minor = found.get("computeMajor"), found.get("computeMinor")
    numbers = {"memory_bytes": found.get("totalGlobalMem"), "sm_count": found.get("numSms")}
    return {
        "name": str(found["name"]) if found.get("name") else None,
        "capability": f"{major}.{minor}" if isinstance(major, int) and isinstance(minor, int) else None,
        **{key: value if type(value) is int and 0 <= value < 2**63 else pd.NA for key, value in numbers.items()},
    }


VIEW = View("devices", "Devices", devices, _COLUMNS)
