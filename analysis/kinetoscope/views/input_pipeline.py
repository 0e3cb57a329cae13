"""The input pipeline: time in the data loader, whether the device waited meanwhile, and the copies to the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import copying, intervals, schema
from kinetoscope.frames import optional
from kinetoscope.idle.causes import CODE
from kinetoscope.naming import matching
from kinetoscope.schema import Column
from kinetoscope.views.common import pct, us
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_COLUMNS = (
    Column("step", "", "integer", "Step; missing where there are no steps: then the row is the whole window."),
    Column("period_us", "µs", "number", "Length of the step's period."),
    Column("batches", "", "integer", "Data loader ranges that end in it."),
    Column("loader_us", "µs", "number", "Time in data loader ranges, on any thread."),
    Column("loader_pct", "%", "number", "Its part of the period."),
    Column("loader_idle_us", "µs", "number", "Part of it during which no device worked."),
    Column("waited_us", "µs", "number", "Idle time of the devices whose cause is data loading, mean over devices."),
    Column("copies", "", "integer", "Copies from host to device launched in the step."),
    Column("copied_bytes", "bytes", "integer", "Bytes that they moved."),
    Column("copy_us", "µs", "number", "Their lengths added up."),
    Column("gb_per_s", "GB/s", "number", "Bytes / that time."),
    Column("pageable_bytes", "bytes", "integer", "Bytes from pageable memory: such copies make the host wait."),
    Column("copy_hidden_us", "µs", "number", "Time of the copies during which a kernel ran on the device."),
)


def input_pipeline(trace: Trace) -> pd.DataFrame:
    """Look at how the data came to the device, step by step.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per step in time order; without steps one row for the window.
    """
    steps = trace.steps_table
    if len(steps):
        number, start, end = steps.number, steps.start, steps.end
    else:
        start, end = trace.window
        number = np.full(start.size, -1, np.int64)
    frame = pd.DataFrame({"step": optional(number), "period_us": us(end - start)})
    for name, values in {**_loader(trace, start, end), **_copies(trace, start.size)}.items():
        frame[name] = values
    frame = frame[[column.name for column in _COLUMNS]]
    frame.attrs["notes"] = _notes(frame)
    return frame


def _loader(trace: Trace, start: Index, end: Index) -> dict[str, Any]:
    """Return what the data loader did in each period."""
    columns = trace.columns
    annotation = (columns.kind == schema.CODE["annotation"]) & columns.timed
    rows = np.flatnonzero(annotation & matching(columns.names, "data_loader")[columns.name])
    ranges = intervals.union(columns.start[rows], columns.end[rows])
    busy = intervals.merge(*(device.busy for device in trace.devices))
    alone = intervals.subtract(ranges, busy)
    ended = np.sort(columns.end[rows])
    loading = _within(ranges, start, end)
    return {
        "batches": np.searchsorted(ended, end, side="right") - np.searchsorted(ended, start, side="right"),
        "loader_us": us(loading),
        "loader_pct": pct(loading, end - start),
        "loader_idle_us": us(_within(alone, start, end)) if trace.devices else np.full(start.size, np.nan),
        "waited_us": _waited(trace, start),
    }


def _within(ranges: intervals.IntervalSet, start: Index, end: Index) -> Index:
    return intervals.covered_before(ranges, end) - intervals.covered_before(ranges, start)


def _waited(trace: Trace, start: Index) -> npt.NDArray[np.float64]:
    """Return idle time by data loading in each period, as a mean over the devices."""
    segments = trace.idle_segments
    chosen = segments.cause == CODE["data loading"]
    if not trace.devices:
        return np.full(start.size, np.nan)
    # segments are cut at the borders of periods
    at = np.searchsorted(start, segments.start[chosen], side="right") - 1
    total = np.bincount(at[at >= 0], weights=(segments.end - segments.start)[chosen][at >= 0], minlength=start.size)
    return us(np.rint(total / len(trace.devices)))


def _copies(trace: Trace, size: int) -> dict[str, Any]:
    """Return the copies from host to device that each step launched."""
    table = copying.build(trace)
    step = table.step if len(trace.steps_table) else np.zeros(table.row.size, np.int64)
    chosen = (table.direction == copying.DIRECTIONS.index("HtoD")) & (step >= 0) & (step < size)
    step = step[chosen]
    moved = np.maximum(table.bytes[chosen], 0)
    length = trace.columns.duration[table.row[chosen]]
    pageable = table.memory[chosen] == copying.MEMORIES.index("pageable")

    def total(values: npt.NDArray[Any]) -> Index:
        return np.bincount(step, weights=values, minlength=size).astype(np.int64)

    time, size_moved = total(length), total(moved)
    with np.errstate(divide="ignore", invalid="ignore"):
        speed = np.where(time > 0, np.round(size_moved / time, 3), np.nan)
    return {
        "copies": np.bincount(step, minlength=size),
        "copied_bytes": size_moved,
        "copy_us": us(time),
        "gb_per_s": speed,
        "pageable_bytes": total(moved * pageable),
        "copy_hidden_us": us(total(copying.hidden(trace, table)[chosen])),
    }


def _notes(frame: pd.DataFrame) -> list[str]:
    if frame["batches"].sum():
        return []
    return ["No data loader range was recorded: batches come from elsewhere, or outside the recording."]


VIEW = View("input_pipeline", "Input pipeline", input_pipeline, _COLUMNS)
