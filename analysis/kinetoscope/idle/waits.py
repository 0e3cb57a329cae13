"""Waits between streams: which work's stream was told to wait for the work that ended just before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope.links import present
from kinetoscope.naming import matching
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.idle.gaps import GapTable
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]


def told_to_wait(trace: Trace, table: GapTable, gaps: Index) -> npt.NDArray[np.bool_]:
    """Tell which gaps end with work whose stream was told to wait for a stream whose work ends where the gap begins.

    The wait must stand between the launch of the work and that of the work before it on its stream.

    Parameters
    ----------
    trace : Trace
    table : GapTable
    gaps : ndarray of int64
        Positions of gaps that end with work of known launch.

    Returns
    -------
    ndarray of bool
        One per gap asked for.
    """
    waits = trace.stream_waits
    told = np.zeros(gaps.size, bool)
    if not waits.row.size or not gaps.size:
        return told
    columns = trace.columns
    work = table.next[gaps]
    launched = columns.start[table.launch[gaps]]
    since = _launch_before(trace, work, launched)
    low, high = np.zeros(gaps.size, np.int64), np.zeros(gaps.size, np.int64)
    start, stream, device = columns.start[waits.row], columns.stream[waits.row], columns.device[waits.row]
    order = np.lexsort((start, stream, device))
    start, stream, device, on = start[order], stream[order], device[order], waits.on[order]
    for number in np.unique(columns.device[work]).tolist():
        for each in np.unique(columns.stream[work]).tolist():
            asked = np.flatnonzero((columns.device[work] == number) & (columns.stream[work] == each))
            own = np.flatnonzero((device == number) & (stream == each))
            if own.size and asked.size:
                low[asked] = own[0] + np.searchsorted(start[own], since[asked], side="left")
                high[asked] = own[0] + np.searchsorted(start[own], launched[asked], side="right")
    count = np.maximum(high - low, 0)
    pair = np.repeat(np.arange(gaps.size), count)
    wait = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(pair.size)
    hit = _ends_there(trace, columns.device[work[pair]], on[wait], table.start[gaps[pair]])
    told[pair[hit]] = True
    return told


def _launch_before(trace: Trace, work: Index, default: Index) -> Index:
    """Return the start of the launch of the work before each one on its stream; where that is not known, the default."""
    columns, rows = trace.columns, trace.work
    real = columns.duration[rows] > 0
    rows, launch = rows[real], trace.launch_of_work[real]
    order = np.lexsort((columns.id[rows], columns.start[rows], columns.stream[rows], columns.device[rows]))
    rows, launch = rows[order], launch[order]
    start = columns.start[rows]
    # the work before is the last that starts earlier, so of works that start together all have the same one
    same = np.zeros(rows.size, bool)
    for of in (columns.stream[rows], columns.device[rows]):
        same[1:] |= of[1:] != of[:-1]
    fresh = np.ones(rows.size, bool)
    fresh[1:] = same[1:] | (start[1:] != start[:-1])
    group = np.maximum.accumulate(np.where(fresh, np.arange(rows.size), 0))
    before = np.where(same[group] | (group == 0), -1, group - 1)
    place = np.full(len(trace), -1, np.int64)
    place[rows] = np.arange(rows.size)
    earlier = before[place[work]]
    called = np.where(earlier >= 0, launch[np.maximum(earlier, 0)], -1)
    return np.where(called >= 0, columns.start[np.maximum(called, 0)], default)


def _ends_there(trace: Trace, device: Index, stream: Index, time: Index) -> npt.NDArray[np.bool_]:
    """Tell whether some work of a device's stream ends at an instant."""
    columns, rows = trace.columns, trace.work
    rows = rows[columns.duration[rows] > 0]
    return present((columns.device[rows], columns.stream[rows], columns.end[rows]), (device, stream, time))


@dataclass(frozen=True)
class StreamWaits:
    """Recorded waits of streams for each other.

    Parameters
    ----------
    row : ndarray of int64
        Row of each wait; its stream is the one that waits.
    on : ndarray of int64
        The stream that it waits for.
    """

    row: Index
    on: Index


def stream_waits(trace: Trace) -> StreamWaits:
    """Find the recorded waits of streams for each other's events."""
    columns = trace.columns
    found = (columns.kind == CODE["sync"]) & matching(columns.names, "stream_wait")[columns.name]
    row = np.flatnonzero(found & columns.timed)
    on = [trace.recorded(int(columns.id[i])).get("args", {}).get("wait_on_stream", -1) for i in row.tolist()]
    return StreamWaits(row, np.array(on, np.int64))
