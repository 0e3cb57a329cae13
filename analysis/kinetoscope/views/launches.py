"""Launches: one by one, by what they have in common, and per device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import intervals, launching
from kinetoscope.frames import ids, step_numbers
from kinetoscope.schema import CODE, Column
from kinetoscope.views.common import RANGE, STEP, in_range, names_of, no_device_note, of_value, pct, step_note, us
from kinetoscope.views.idle_keys import KEY_COLUMNS, key_values
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_KEYS = ("name", "op", "module", "source", "annotation", "step", "thread")
_WHO = {column.name: column for column in KEY_COLUMNS}

_CALLS = (
    Column("id", "", "integer", "Event id of the call."),
    Column("name", "", "text", "Name of the API call."),
    Column("start_us", "µs", "number", "Start of the call, from the trace's origin."),
    Column("duration_us", "µs", "number", "How long the call took on the host."),
    Column("delay_us", "µs", "number", "Start of its first device work − its start; missing when none was recorded."),
    Column("works", "", "integer", "Device works that it launched; 0 when none was recorded."),
    Column("device_us", "µs", "number", "Lengths of those works added up."),
    Column("short_kernels", "", "integer", "Kernels among them that are shorter than the call."),
    Column("graph", "", "boolean", "True where the call launches a graph."),
    Column("work_name", "", "text", "Name of its first device work."),
    Column("work_id", "", "integer", "Event id of that work."),
    Column("op", "", "text", "Innermost op around the call on its thread."),
    _WHO["module"],
    _WHO["source"],
    _WHO["annotation"],
    _WHO["step"],
    Column("thread", "", "text", "Host thread of the call."),
    Column("calls", "", "integer", "Launches."),
    Column("host_us", "µs", "number", "Lengths of the calls added up."),
    Column("mean_delay_us", "µs", "number", "Mean delay; negative ones, which are clock errors, are left out."),
    Column("median_delay_us", "µs", "number", "Median delay; negative ones are left out."),
    Column("max_delay_us", "µs", "number", "Longest delay."),
    Column("negative_delays", "", "integer", "Launches whose work began before the call: clock errors."),
    Column("without_work", "", "integer", "Launches without recorded device work."),
)

_BY = Parameter("by", "token", "What a row is: one call, or all that have this in common.", ("call", *_KEYS), "call")


def launches(
    trace: Trace,
    by: str = "call",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """List the launches, or sum them.

    Parameters
    ----------
    trace : Trace
    by : {"call", "name", "op", "module", "source", "annotation", "step", "thread"}
        What a row is.
    step : float, optional
        Only launches whose call starts in this step's host range.
    start_us, end_us : float, optional
        Only launches whose call starts in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        Calls in time order; sums by host time, longest first, steps in their order.
    """
    table = trace.launch_table
    start = trace.columns.start[table.row]
    steps = step_numbers(trace, trace.steps_table.holding(start))
    chosen = np.flatnonzero(in_range(start, start_us, end_us) & of_value(pd.Series(steps), step))
    frame = _calls(trace, chosen, steps) if by == "call" else _sums(trace, chosen, steps, by)
    frame.attrs["notes"] = _notes(trace) or step_note(trace, step)
    return frame


def _calls(trace: Trace, chosen: Index, steps: pd.arrays.IntegerArray) -> pd.DataFrame:
    columns, table = trace.columns, trace.launch_table
    chosen = chosen[np.argsort(columns.start[table.row[chosen]], kind="stable")]
    rows, first = table.row[chosen], table.first[chosen]
    return pd.DataFrame(
        {
            "id": columns.id[rows],
            "name": names_of(trace, rows),
            "start_us": us(columns.start[rows]),
            "duration_us": us(columns.duration[rows]),
            "delay_us": np.where(first >= 0, us(table.delay[chosen]), np.nan),
            "works": table.works[chosen],
            "device_us": us(table.device_time[chosen]),
            "short_kernels": table.short[chosen],
            "graph": table.graph[chosen],
            "work_name": names_of(trace, first),
            "work_id": ids(trace, first),
            **key_values(trace, rows, ("op", "module", "source", "annotation")),
            "step": steps[chosen],
            **key_values(trace, rows, ("thread",)),
        }
    )


def _sums(trace: Trace, chosen: Index, steps: pd.arrays.IntegerArray, by: str) -> pd.DataFrame:
    columns, table = trace.columns, trace.launch_table
    rows, first, delay = table.row[chosen], table.first[chosen], table.delay[chosen]
    key: Any = steps[chosen] if by == "step" else key_values(trace, rows, (by,))[by]
    sound = np.where((first >= 0) & (delay >= 0), us(delay), np.nan)
    frame = pd.DataFrame(
        {
            by: key,
            "host": columns.duration[rows],
            "works": table.works[chosen],
            "device": table.device_time[chosen],
            "short_kernels": table.short[chosen],
            "delay": sound,
            "negative": (first >= 0) & (delay < 0),
            "silent": first < 0,
        }
    )
    grouped = frame.groupby(by, observed=True, dropna=False, sort=by == "step")
    result = grouped.agg(
        calls=("host", "size"),
        host_us=("host", "sum"),
        works=("works", "sum"),
        device_us=("device", "sum"),
        short_kernels=("short_kernels", "sum"),
        mean_delay_us=("delay", "mean"),
        median_delay_us=("delay", "median"),
        max_delay_us=("delay", "max"),
        negative_delays=("negative", "sum"),
        without_work=("silent", "sum"),
    ).reset_index()
    result["host_us"], result["device_us"] = us(result["host_us"]), us(result["device_us"])
    result["mean_delay_us"] = result["mean_delay_us"].round(3)
    return result if by == "step" else result.sort_values("host_us", ascending=False, kind="stable", ignore_index=True)


def _notes(trace: Trace) -> list[str]:
    if not trace.launches_rows.size:
        return no_device_note(trace) or ["No launch calls were recorded."]
    negative = int(((trace.launch_table.first >= 0) & (trace.launch_table.delay < 0)).sum())
    if not negative:
        return []
    return [f"{negative:,} launches have work that begins before them: clock errors, left out of means of the delay."]


_SUMMARY = (
    Column("device", "", "integer", "Device."),
    Column("launches", "", "integer", "Launch calls that own work of the device."),
    Column("works", "", "integer", "Device works."),
    Column("median_delay_us", "µs", "number", "Median delay from a launch to its first work; negative ones left out."),
    Column("negative_delays", "", "integer", "Launches whose work began before the call: clock errors."),
    Column("kernels", "", "integer", "Kernels of known launch."),
    Column("short_kernels", "", "integer", "Kernels shorter than the call that launched them."),
    Column("short_kernels_pct", "%", "number", "Their part of the kernels of known launch."),
    Column("graph_launches", "", "integer", "Launches of graphs."),
    Column("graph_works", "", "integer", "Device works of graphs."),
    Column("mean_queue_depth", "", "number", "Works launched and not yet finished, mean over the span of the device."),
    Column("max_queue_depth", "", "integer", "The most at one time."),
    Column(
        "launch_bound_us",
        "µs",
        "number",
        "Idle time in launching or on the host, between works that are shorter than the time between their launches.",
    ),
    Column("launch_bound_pct", "%", "number", "Its part of the window."),
)


def launch_summary(trace: Trace) -> pd.DataFrame:
    """Measure how well each device is kept supplied with work.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per device.
    """
    bound = launching.launch_bound(trace)
    frame = pd.DataFrame([_of_device(trace, number, bound) for number in (one.device for one in trace.devices)])
    frame = frame.reindex(columns=[column.name for column in _SUMMARY])
    frame.attrs["notes"] = no_device_note(trace)
    return frame


def _of_device(trace: Trace, number: int, bound: npt.NDArray[np.bool_]) -> dict[str, Any]:
    columns, table, segments = trace.columns, trace.launch_table, trace.idle_segments
    owns = (table.first >= 0) & (columns.device[np.maximum(table.first, 0)] == number)
    delay = table.delay[owns]
    work = columns.device[trace.work] == number
    kernel = work & (trace.launch_of_work >= 0) & (columns.kind[trace.work] == CODE["kernel"])
    short = int((kernel & launching.short_kernels(trace)).sum())
    depth = launching.queue_depth(trace, number)
    rows = trace.work[work]
    chosen = bound & (trace.gap_table.device[segments.gap] == number)
    time = int((segments.end - segments.start)[chosen].sum())
    return {
        "device": number,
        "launches": int(owns.sum()),
        "works": rows.size,
        "median_delay_us": float(np.median(delay[delay >= 0])) / 1000 if (delay >= 0).any() else float("nan"),
        "negative_delays": int((delay < 0).sum()),
        "kernels": int(kernel.sum()),
        "short_kernels": short,
        "short_kernels_pct": float(pct(short, kernel.sum())),
        "graph_launches": int(table.graph[owns].sum()),
        "graph_works": int(table.works[owns & table.graph].sum()),
        "mean_queue_depth": launching.mean_level(depth, int(columns.start[rows].min()), int(columns.end[rows].max())),
        "max_queue_depth": int(depth.value.max(initial=0)),
        "launch_bound_us": time / 1000,
        "launch_bound_pct": float(pct(time, intervals.measure(trace.window))),
    }


VIEW = View("launches", "Launches", launches, _CALLS, (_BY, STEP, *RANGE))
SUMMARY = View("launch_summary", "Launching, per device", launch_summary, _SUMMARY)
