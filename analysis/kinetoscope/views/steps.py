"""Where each step's time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kinetoscope import intervals, schema
from kinetoscope.naming import matching
from kinetoscope.schema import Column
from kinetoscope.views.common import us
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

SPLIT = (
    "compute_us",
    "communication_us",
    "memcpy_us",
    "memset_us",
    "api_us",
    "data_loader_us",
    "op_us",
    "python_us",
    "unrecorded_us",
)
"""The nine columns that sum to ``period_us``: at each instant the first that holds, over all devices and threads."""

_COLUMNS = (
    Column("step", "", "integer", "Number of the step, as in ProfilerStep#N."),
    Column("start_us", "µs", "number", "Start of the period, from the trace's origin."),
    Column("host_us", "µs", "number", "Length of the step's marker on the host."),
    Column(
        "period_us",
        "µs",
        "number",
        "Step time: from the marker's start, or the end of the period before if later, to the end of the last device work it launched, or the marker's end if later.",
    ),
    Column("tail_us", "µs", "number", "Device work after the marker's end."),
    Column(
        "incomplete",
        "",
        "boolean",
        "A last step with fewer than 80 % of the device works of the step before; left out of means.",
    ),
    Column("compute_us", "µs", "number", "A compute kernel is running."),
    Column("communication_us", "µs", "number", "Communication is running, and no compute kernel."),
    Column("memcpy_us", "µs", "number", "A copy is running, and no kernel."),
    Column("memset_us", "µs", "number", "A memory set is running, and neither kernel nor copy."),
    Column("api_us", "µs", "number", "The device is idle; a host thread is in a call of the device's API."),
    Column("data_loader_us", "µs", "number", "None of these; a host thread waits for the data loader."),
    Column("op_us", "µs", "number", "None of these; a host thread is in an op or annotation."),
    Column("python_us", "µs", "number", "None of these; a host thread is in a recorded Python frame."),
    Column("unrecorded_us", "µs", "number", "Nothing was recorded."),
)


def steps(trace: Trace) -> pd.DataFrame:
    """Split each step's period by what was going on.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per step, times in µs. The nine columns of :data:`SPLIT` sum to ``period_us``, exactly.
    """
    table = trace.steps_table
    split = split_ns(trace, table.start, table.end)
    frame = pd.DataFrame(
        {
            "step": table.number,
            "start_us": us(table.start),
            "host_us": us(table.host_end - table.host_start),
            "period_us": us(table.end - table.start),
            "tail_us": us(table.tail),
            "incomplete": table.incomplete,
            **{name: us(split[i]) for i, name in enumerate(SPLIT)},
        }
    )
    notes = []
    if not len(table):
        notes.append(
            "No steps: the trace has no ProfilerStep#N marker. Call step() on the profiler once per iteration."
        )
    if table.nested.size:
        notes.append(
            f"{table.nested.size} step markers lie inside or across another one; they are shown as annotations, not as steps."
        )
    frame.attrs["notes"] = notes
    return frame


def split_ns(
    trace: Trace, start: intervals.Times, end: intervals.Times
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return the nine parts of each of some stretches of time.

    Parameters
    ----------
    trace : Trace
    start, end : ndarray of int64
        The stretches, ns.

    Returns
    -------
    ndarray of int64, shape (9, number of stretches)
        In the order of :data:`SPLIT`.
    """
    covered = intervals.empty()
    before = np.zeros(start.size, np.int64)
    parts = []
    for layer in _layers(trace):
        covered = intervals.merge(covered, layer)
        now = intervals.covered_before(covered, end) - intervals.covered_before(covered, start)
        parts.append(now - before)
        before = now
    parts.append(end - start - before)
    return np.stack(parts)


def _layers(trace: Trace) -> list[intervals.IntervalSet]:
    """Return what is looked for first to last, the step markers excepted."""
    columns = trace.columns
    names = columns.names
    timed = columns.timed & (columns.duration > 0)
    step_name = matching(names, "step_marker")
    annotation = columns.kind == schema.CODE["annotation"]
    marker = annotation & step_name[columns.name]
    host = timed & ~marker
    op = columns.kind == schema.CODE["op"]
    loader = host & annotation & matching(names, "data_loader")[columns.name]
    collective = np.zeros(len(columns), bool)
    collective[trace.work[trace.communication]] = True
    kernel = timed & (columns.kind == schema.CODE["kernel"])
    chosen = (
        kernel & ~collective,
        collective,
        timed & (columns.kind == schema.CODE["memcpy"]),
        timed & (columns.kind == schema.CODE["memset"]),
        host & (columns.kind == schema.CODE["api_call"]),
        loader,
        host & (op | annotation),
        host & (columns.kind == schema.CODE["python"]),
    )
    return [intervals.union(columns.start[rows], columns.end[rows]) for rows in chosen]


VIEW = View("steps", "Steps", steps, _COLUMNS)
