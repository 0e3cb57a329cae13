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
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]


def told_to_wait(trace: LinkedTrace, table: GapTable, gaps: Index) -> npt.NDArray[np.bool_]:
    """Tell which gaps end with work whose stream was told to wait for a stream whose work ends where the gap begins.

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
    told = np.zeros(gaps.size, bool)
    if not trace.stream_waits.row.size or not gaps.size:
        return told
    work = table.next[gaps]
    pair, on = waits_before(trace, work)
    hit = _ends_there(trace, trace.columns.device[work[pair]], on, table.start[gaps[pair]])
    told[pair[hit]] = True
    return told


def waits_before(trace: LinkedTrace, work: Index) -> tuple[Index, Index]:
    """Find the recorded waits that hold up device work: those of its stream between its launch and that of the work before it on its stream.

    Parameters
    ----------
    trace : Trace
    work : ndarray of int64
        Rows of device work of known launch.

    Returns
    -------
    work, stream : ndarray of int64
        For each wait, the position of the work in what was given, and the stream that is waited for.
    """
    waits, columns = trace.stream_waits, trace.columns
    owner = np.full(len(trace), -1, np.int64)
    owner[trace.work] = trace.launch_of_work
    launched = columns.start[owner[work]]
    since = _launch_before(trace, work, launched)
    low, high = np.zeros(work.size, np.int64), np.zeros(work.size, np.int64)
    order = np.lexsort((columns.start[waits.row], columns.stream[waits.row], columns.device[waits.row]))
    row, on = waits.row[order], waits.on[order]
    places = np.stack([columns.device[row], columns.stream[row]], axis=1)
    for device, stream in np.unique(places, axis=0).tolist():
        asked = np.flatnonzero((columns.device[work] == device) & (columns.stream[work] == stream))
        own = np.flatnonzero((places == (device, stream)).all(axis=1))
        low[asked] = own[0] + np.searchsorted(columns.start[row[own]], since[asked], side="left")
        high[asked] = own[0] + np.searchsorted(columns.start[row[own]], launched[asked], side="right")
    count = np.maximum(high - low, 0)
    pair = np.repeat(np.arange(work.size, dtype=np.int64), count)
    wait = np.repeat(low - (np.cumsum(count) - count), count) + np.arange(pair.size)
    return pair, on[wait]


def waited_for(trace: LinkedTrace, calls: Index) -> Index:
    """Find what blocking calls waited for.

    Parameters
    ----------
    trace : Trace
    calls : ndarray of int64
        Rows of the calls.

    Returns
    -------
    ndarray of int64
        Row of the call's own copy, else of the device work that ended last within the call; -1 where none did.
    """
    columns = trace.columns
    works = trace.work[np.argsort(columns.end[trace.work], kind="stable")]
    if not works.size or not calls.size:
        return np.full(calls.size, -1, np.int64)
    start, end = columns.start[calls], columns.end[calls]
    last = works[np.maximum(np.searchsorted(columns.end[works], end, side="right") - 1, 0)]
    within = (columns.end[last] > start) & (columns.end[last] <= end)
    own = np.full(len(trace), -1, np.int64)
    owned = trace.launch_of_work >= 0
    own[trace.launch_of_work[owned]] = trace.work[owned]
    return np.where(own[calls] >= 0, own[calls], np.where(within, last, -1))


def _launch_before(trace: LinkedTrace, work: Index, default: Index) -> Index:
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


def _ends_there(trace: LinkedTrace, device: Index, stream: Index, time: Index) -> npt.NDArray[np.bool_]:
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


def stream_waits(trace: LinkedTrace) -> StreamWaits:
    """Find the recorded waits of streams for each other's events."""
    columns = trace.columns
    found = (columns.kind == CODE["sync"]) & matching(columns.names, "stream_wait")[columns.name]
    row = np.flatnonzero(found & columns.timed)
    return StreamWaits(row, trace.arguments.of(row, {"wait_on_stream": "integer"})["wait_on_stream"])
