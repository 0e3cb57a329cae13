"""Hardware counters that CUPTI's range profiler recorded, one value a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import optional
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, in_range, names_of, of_value, texts_of, us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_CATEGORY = "cuda_profiler_range"
_MOST_NAMES = 32
_NO_METRIC = frozenset({"device", "context", "stream", "correlation", "external id"})

_COLUMNS = (
    Column("id", "", "integer", "Event id of the range."),
    Column("name", "", "text", "Name of the range: the kernel, where each kernel is a range."),
    Column("device", "", "integer", "Device."),
    Column("start_us", "µs", "number", "Start of the range, from the trace's origin."),
    Column("duration_us", "µs", "number", "Length of the range; the recorder runs kernels several times for it."),
    Column("metric", "", "text", "Counter, as recorded."),
    Column("value", "", "number", "Its value, in its own unit."),
    Column("ranges", "", "integer", "Ranges that have the counter."),
    Column("total", "", "number", "Their values added up: meaningful for counts, not for ratios."),
    Column("mean", "", "number", "Mean of their values."),
)

_BY = Parameter(
    "by",
    "token",
    "What a row is: a value, or all of a counter, by name of the range too.",
    ("value", "name", "metric"),
    "value",
)


def counters(
    trace: Trace,
    by: str = "value",
    metric: str | None = None,
    name: str | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """List recorded hardware counters, or sum them.

    Parameters
    ----------
    trace : Trace
    by : {"value", "name", "metric"}
        A row for each range and counter; for each name of ranges and counter; for each counter.
    metric, name : str, optional
        Only this counter, only ranges of this name.
    start_us, end_us : float, optional
        Only ranges that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        By time of the range and in the counters' recorded order; sums by name and counter.
    """
    rows = _ranges(trace)
    frame = _values(trace, rows)
    start = np.rint(frame["start_us"].to_numpy() * 1000).astype(np.int64)
    chosen = in_range(start, start_us, end_us) & of_value(frame["metric"], metric) & of_value(frame["name"], name)
    frame = frame[chosen].reset_index(drop=True)
    if by != "value":
        keys = ["name", "metric"] if by == "name" else ["metric"]
        grouped = frame.groupby(keys, observed=True, sort=False)["value"]
        frame = grouped.agg(ranges="size", total="sum", mean="mean").reset_index()
    frame.attrs["notes"] = [] if rows.size else ["No hardware counters were recorded."]
    return frame


def _ranges(trace: Trace) -> npt.NDArray[np.int64]:
    """Return the rows of the profiler's ranges in time order."""
    columns = trace.columns
    category = np.array([text.lower() == _CATEGORY for text in columns.categories] or [False], bool)
    rows = np.flatnonzero(category[columns.category]) if len(trace) else np.empty(0, np.int64)
    return rows[np.argsort(columns.start[rows], kind="stable")]


def _values(trace: Trace, rows: npt.NDArray[np.int64]) -> pd.DataFrame:
    """Return a row for each range and counter."""
    columns, metrics = trace.columns, _metrics(trace, rows)
    found = trace.arguments.read(dict.fromkeys(metrics, "number")) if metrics else {}
    values = np.stack([found[key].at(rows) for key in metrics], axis=1) if metrics else np.empty((rows.size, 0))
    place, code = np.nonzero(np.isfinite(values))
    at = rows[place]
    return pd.DataFrame(
        {
            "id": columns.id[at],
            "name": names_of(trace, at),
            "device": _devices(trace, at),
            "start_us": us(columns.start[at]),
            "duration_us": us(columns.duration[at]),
            "metric": texts_of(code.astype(np.int64), metrics),
            "value": values[place, code],
        }
    )


def _metrics(trace: Trace, rows: npt.NDArray[np.int64]) -> list[str]:
    """Return the arguments of ranges that are counters: what one event of each name has."""
    _, first = np.unique(trace.columns.name[rows], return_index=True)
    found: dict[str, None] = {}
    for place in np.sort(first)[:_MOST_NAMES].tolist():
        arguments = trace.recorded(int(trace.columns.id[rows[place]])).get("args")
        if isinstance(arguments, dict):
            found.update(dict.fromkeys(key for key in arguments if key.lower() not in _NO_METRIC))
    return list(found)


def _devices(trace: Trace, rows: npt.NDArray[np.int64]) -> pd.arrays.IntegerArray:
    """Return the device of ranges: recorders write it as their process."""
    pids = [
        int(thread.pid) if thread.pid.isdecimal() and len(thread.pid) < 10 else -1 for thread in trace.columns.threads
    ]
    own = trace.columns.device[rows]
    return optional(np.where(own >= 0, own, np.array(pids or [-1], np.int64)[trace.columns.thread[rows]]))


VIEW = View(
    "counters",
    "Hardware counters",
    counters,
    _COLUMNS,
    (
        _BY,
        Parameter("metric", "text", "Only this counter."),
        Parameter("name", "text", "Only ranges of exactly this name."),
        *RANGE,
    ),
)
