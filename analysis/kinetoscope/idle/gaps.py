"""Idle gaps of devices as arrays: where they lie, and what ended each one.

A gap is a maximal stretch of the window without work on any stream of the device. It ends at the work of positive length that starts there
(several: the one launched first, then file order), or at an edge of the window; then what follows is the device's next work, if any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, schema

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]

ENDED_BY = ("kernel", "memcpy", "memset", "window end")
_NEVER = 2**62


@dataclass(frozen=True)
class GapTable:
    """Gaps by device and time, one entry each; rows are rows of the trace's columns, -1 for none.

    Parameters
    ----------
    device, stream : ndarray of int64
        The stream says whose gap it is only where gaps are by stream.
    start, end : ndarray of int64
        ns.
    next, launch, previous : ndarray of int64
        The work that follows, the API call that owns it, the work that ended last before.
    ended_by : ndarray of int8
        Index into :data:`ENDED_BY`.
    """

    device: Index
    stream: Index
    start: Index
    end: Index
    next: Index
    launch: Index
    previous: Index
    ended_by: npt.NDArray[np.int8]


def build(trace: LinkedTrace, *, by_stream: bool = False) -> GapTable:
    """Find the gaps of all devices of a trace, or of all their streams.

    Parameters
    ----------
    trace : Trace
    by_stream : bool
        Gaps of each stream: a stretch of the window without work on that stream.

    Returns
    -------
    GapTable
    """
    launch_of = np.full(len(trace), -1, np.int64)
    launch_of[trace.work] = trace.launch_of_work
    parts = [
        _of_rows(trace, device.device, rows, launch_of)
        for device in trace.devices
        for rows in (_by_stream(trace, device.rows) if by_stream else [device.rows])
    ]
    if not parts:
        nothing = np.empty(0, np.int64)
        return GapTable(nothing, nothing, nothing, nothing, nothing, nothing, nothing, np.empty(0, np.int8))
    device, stream, start, end, following, previous, ended_by = (np.concatenate(c) for c in zip(*parts, strict=True))
    launch = np.where(following >= 0, launch_of[np.maximum(following, 0)], -1)
    return GapTable(device, stream, start, end, following, launch, previous, ended_by.astype(np.int8))


def _by_stream(trace: LinkedTrace, rows: Index) -> list[Index]:
    stream = trace.columns.stream[rows]
    return [rows[stream == number] for number in np.unique(stream).tolist()]


def _of_rows(trace: LinkedTrace, device: int, rows: Index, launch_of: Index) -> tuple[Index, ...]:
    """Return device, stream, start, end, next, previous and end reason of the gaps between some works of a device."""
    columns = trace.columns
    stream = columns.stream[rows[0]]
    rows = rows[columns.duration[rows] > 0]
    start, end = intervals.subtract(trace.window, intervals.union(columns.start[rows], columns.end[rows]))
    launch = launch_of[rows]
    launched = np.where(launch >= 0, columns.start[np.maximum(launch, 0)], _NEVER)
    by_start = rows[np.lexsort((columns.id[rows], launched, columns.start[rows]))]
    at = np.searchsorted(columns.start[by_start], end)
    following = np.append(by_start, -1)[at]
    touching = (following >= 0) & (columns.start[np.maximum(following, 0)] == end)
    kind = np.select(
        [columns.kind[np.maximum(following, 0)] == schema.CODE[name] for name in ENDED_BY[:3]], [0, 1, 2], 3
    )
    by_end = rows[np.lexsort((columns.id[rows], columns.end[rows]))]
    previous = np.append(by_end, -1)[np.searchsorted(columns.end[by_end], start, side="right") - 1]
    same = np.full((2, start.size), [[device], [stream]], np.int64)
    return same[0], same[1], start, end, following, previous, np.where(touching, kind, 3)
