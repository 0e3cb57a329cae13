"""Figures beside the raw ones: traces with durations repaired, or with the device's clock moved. The raw trace stays what is shown by default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import schema

if TYPE_CHECKING:
    from kinetoscope.reading.columns import Columns
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_MOST = 1000


def impossible_rows(trace: Trace) -> tuple[Index, Index]:
    """Find device work of impossible length, and where it should end.

    Works are impossible when they end later than every other event of the file by more than the longest other device event, and at least two later
    works of its own stream start inside each. The repaired end is the start of the next work on the stream.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    rows : ndarray of int64
        Rows of the columns.
    end : ndarray of int64
        Repaired ends, ns.
    """
    columns, work = trace.columns, trace.work
    following, suspect = _followed(columns, work)
    timed = np.flatnonzero(columns.timed & np.isin(columns.kind, schema.TIMED))
    latest = timed[np.argsort(-columns.end[timed], kind="stable")][: _MOST + 1]
    place = np.full(len(trace), -1, np.int64)
    place[work] = np.arange(work.size)
    # a run of suspects at the very end of the recording
    bad = (place[latest] >= 0) & suspect[place[latest]] if work.size else np.zeros(latest.size, bool)
    run = int(np.argmin(bad)) if not bad.all() else latest.size - 1
    if run < 1:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # for each number of works taken off the end: how much later they end, and the longest work that remains
    gap = columns.end[latest[:run]] - columns.end[latest[1 : run + 1]]
    rest = columns.duration[np.setdiff1d(work, latest[:run])].max(initial=0)
    kept = np.append(np.maximum.accumulate(columns.duration[latest[:run]][::-1])[::-1][1:], 0)
    counts = np.flatnonzero(gap > np.maximum(kept, rest)) + 1
    chosen = latest[: counts[-1]] if counts.size else latest[:0]
    return chosen, columns.start[following[place[chosen]]]


def _followed(columns: Columns, work: Index) -> tuple[Index, npt.NDArray[np.bool_]]:
    """Return the next work on each one's stream (-1 for none), and which have two later ones that start inside them."""
    order = np.lexsort((columns.start[work], columns.stream[work], columns.device[work]))
    rows = work[order]
    following = np.full(work.size, -1, np.int64)
    suspect = np.zeros(work.size, bool)
    for ahead in (1, 2):
        if work.size <= ahead:
            break
        one, other = rows[:-ahead], rows[ahead:]
        same = (columns.stream[one] == columns.stream[other]) & (columns.device[one] == columns.device[other])
        if ahead == 1:
            following[order[:-1]] = np.where(same, other, -1)
        else:
            suspect[order[:-2]] = same & (columns.start[other] < columns.end[one])
    return following, suspect


def clock_shift(trace: Trace) -> int:
    """Return by how many ns the device's times must move so that no work begins before its launch; 0 when none does."""
    columns, launch = trace.columns, trace.launch_of_work
    owned = launch >= 0
    if not owned.any():
        return 0
    delay = columns.start[trace.work[owned]] - columns.start[launch[owned]]
    return int(max(-delay.min(), 0))


def _repair_durations(trace: Trace) -> Columns:
    rows, end = impossible_rows(trace)
    duration = trace.columns.duration.copy()
    duration[rows] = end - trace.columns.start[rows]
    return replace(trace.columns, duration=duration)


def _shift_clock(trace: Trace) -> Columns:
    kinds = (*schema.WORK, schema.CODE["device_range"], schema.CODE["sync"])
    moved = np.isin(trace.columns.kind, kinds)
    return replace(trace.columns, start=trace.columns.start + moved * clock_shift(trace))


FIXES: dict[str, Callable[[Trace], Columns]] = {"durations": _repair_durations, "clock": _shift_clock}
"""Fixes by name, in the order in which they are applied."""


def available(trace: Trace) -> dict[str, int]:
    """Return the fixes that would change a trace, and how many events each is about."""
    columns, launch = trace.columns, trace.launch_of_work
    owned = launch >= 0
    early = int((columns.start[trace.work[owned]] < columns.start[launch[owned]]).sum())
    counts = {"durations": impossible_rows(trace)[0].size, "clock": early}
    return {name: count for name, count in counts.items() if count}
