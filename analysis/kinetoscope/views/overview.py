"""The figures that a verdict is built from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from kinetoscope import intervals, links, schema
from kinetoscope.schema import Column
from kinetoscope.views.common import no_device_note
from kinetoscope.views.devices import devices
from kinetoscope.views.registry import View
from kinetoscope.views.steps import SPLIT, steps

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Row = tuple[str, Any, str, str]

_COLUMNS = (
    Column("metric", "", "text", "What is measured; a part after a colon is a device."),
    Column("value", "", "number", "Its value; missing when not recorded."),
    Column("unit", "", "text", "Unit of the value."),
    Column("definition", "", "text", "What exactly it is."),
)

_SPLIT_WORDS = {
    "compute_us": "a compute kernel is running",
    "communication_us": "communication is running and no compute kernel",
    "memcpy_us": "a copy is running and no kernel",
    "memset_us": "a memory set is running and nothing else on a device",
    "api_us": "devices are idle and a host thread is in a call of the device's API",
    "data_loader_us": "none of these holds and a host thread waits for the data loader",
    "op_us": "none of these holds and a host thread is in an op or annotation",
    "python_us": "none of these holds and a host thread is in a recorded Python frame",
    "unrecorded_us": "nothing was recorded",
}


def overview(trace: Trace) -> pd.DataFrame:
    """Give the figures of the first page.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per figure. Means and medians are over complete steps.
    """
    rows = [*_recording(trace), *_step_rows(trace), *_device_rows(trace), *_launch_rows(trace)]
    frame = pd.DataFrame(rows, columns=[column.name for column in _COLUMNS])
    frame["value"] = frame["value"].astype("float64")
    frame.attrs["notes"] = no_device_note(trace)
    return frame


def _recording(trace: Trace) -> list[Row]:
    columns = trace.columns
    ends = columns.end[columns.timed]
    kernels = int((columns.kind[trace.work] == schema.CODE["kernel"]).sum())
    return [
        ("events", len(trace), "", "Events of the file that are kept; names, links and launch arrows are not events."),
        (
            "recorded_us",
            float(ends.max()) / 1000 if ends.size else None,
            "µs",
            "From the first timed event to the end of the last.",
        ),
        (
            "window_us",
            intervals.measure(trace.window) / 1000,
            "µs",
            "Time that utilization is measured in: the union of the steps' periods, else first to last timed event.",
        ),
        ("kernels", kernels, "", "Kernels run on all devices in the whole recording."),
        ("devices", len(trace.devices), "", "Devices with recorded work."),
    ]


def _step_rows(trace: Trace) -> list[Row]:
    table = steps(trace)
    whole = table[~table["incomplete"]]
    rows: list[Row] = [
        ("steps", len(table), "", "Steps: ProfilerStep#N markers that lie in no other."),
        (
            "incomplete_steps",
            int(table["incomplete"].sum()),
            "",
            "Last steps with fewer than 80 % of the device works of the step before; left out of means.",
        ),
    ]
    if whole.empty:
        return rows
    period = whole["period_us"]
    rows += [
        ("step_time_mean_us", period.mean(), "µs", "Mean period of the complete steps."),
        ("step_time_median_us", period.median(), "µs", "Median period of the complete steps."),
        (
            "step_time_deviation_pct",
            100 * period.std(ddof=0) / period.mean() if len(period) > 1 and period.mean() else None,
            "%",
            "Standard deviation of the periods / their mean; needs two steps.",
        ),
        ("host_step_mean_us", whole["host_us"].mean(), "µs", "Mean length of the step markers on the host."),
    ]
    rows += [
        (f"step_{name}", whole[name].mean(), "µs", f"Mean time per step in which {_SPLIT_WORDS[name]}.")
        for name in SPLIT
    ]
    return rows


def _device_rows(trace: Trace) -> list[Row]:
    table = devices(trace)
    rows: list[Row] = []
    for device in table.itertuples():
        rows += [
            (
                f"utilization_pct:{device.device}",
                device.utilization_pct,
                "%",
                "Time with work on at least one stream / window.",
            ),
            (f"idle_us:{device.device}", device.idle_us, "µs", "Window without work on any stream."),
            (f"gaps:{device.device}", device.gaps, "", "Stretches of idle time."),
            (
                f"sm_efficiency_pct:{device.device}",
                device.sm_efficiency_pct,
                "%",
                "Integral of min(1, blocks per SM of the running kernels) / window.",
            ),
            (
                f"occupancy_pct:{device.device}",
                device.occupancy_pct,
                "%",
                "Recorded estimate of achieved occupancy, weighted by kernel time.",
            ),
        ]
    return rows


def _launch_rows(trace: Trace) -> list[Row]:
    launches = trace.launches_rows
    served = links.count_of(trace.launch_of_work, len(trace))[launches] > 0
    without = int((trace.launch_of_work < 0).sum())
    attributed = trace.columns.duration[trace.work]
    total = int(attributed.sum())
    owned = int(attributed[trace.op_of_work >= 0].sum())
    return [
        ("launches", launches.size, "", "API calls that launch device work, by the work they own or by name."),
        ("launches_without_work", int((~served).sum()), "", "Launches whose device work is not in the file."),
        (
            "works_without_launch",
            without,
            "",
            "Device works whose launch call is not in the file: launched before the recording, or lost.",
        ),
        (
            "attributed_pct",
            100 * owned / total if total else None,
            "%",
            "Device time that an op owns / all device time.",
        ),
    ]


VIEW = View("overview", "Overview", overview, _COLUMNS)
