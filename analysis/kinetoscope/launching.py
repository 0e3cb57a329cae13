"""Launches as arrays: how long the device waited for each, how many works were queued, and which time the host's launching bounds.

Definitions: ``docs/definitions.md``, "Launches".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import links, schema
from kinetoscope.idle.causes import CODE
from kinetoscope.naming import matching

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_BOUND_BY = ("launch calls", "launch latency", "host work", "host python")


@dataclass(frozen=True)
class Launches:
    """The launches of a trace in file order, one entry each.

    Parameters
    ----------
    row : ndarray of int64
        Row of the API call.
    first : ndarray of int64
        Row of its first device work, -1 where none was recorded.
    delay : ndarray of int64
        Start of that work − start of the call, ns; 0 without one. Negative is a clock error.
    works : ndarray of int64
        Device works that it owns.
    device_time : ndarray of int64
        Their lengths added up, ns.
    short : ndarray of int64
        Kernels among them that are shorter than the call.
    graph : ndarray of bool
        Whether the call launches a graph.
    """

    row: Index
    first: Index
    delay: Index
    works: Index
    device_time: Index
    short: Index
    graph: Flags

    def __len__(self) -> int:
        return int(self.row.size)


def build(trace: LinkedTrace) -> Launches:
    """Measure the launches of a trace."""
    columns, rows, owner = trace.columns, trace.launches_rows, trace.launch_of_work
    size = len(trace)
    first = links.first_by_key(owner, columns.start[trace.work], rows, np.ones(rows.size, bool))
    first_row = np.where(first >= 0, trace.work[np.maximum(first, 0)] if trace.work.size else -1, -1)
    delay = columns.start[np.maximum(first_row, 0)] - columns.start[rows] if rows.size else rows
    owned = owner >= 0
    works = np.bincount(owner[owned], minlength=size).astype(np.int64)
    time = np.zeros(size, np.int64)
    np.add.at(time, owner[owned], columns.duration[trace.work[owned]])
    short = np.bincount(owner[short_kernels(trace)], minlength=size).astype(np.int64)
    graph = matching(columns.names, "graph_launch")[columns.name[rows]]
    return Launches(
        rows, first_row, np.where(first_row >= 0, delay, 0), works[rows], time[rows], short[rows], np.asarray(graph)
    )


def short_kernels(trace: LinkedTrace) -> Flags:
    """Tell which of ``trace.work`` are kernels shorter than the call that launched them."""
    columns, owner = trace.columns, trace.launch_of_work
    kernel = columns.kind[trace.work] == schema.CODE["kernel"]
    call = columns.duration[np.maximum(owner, 0)] if len(columns) else owner
    return np.asarray(kernel & (owner >= 0) & (columns.duration[trace.work] < call))


@dataclass(frozen=True)
class Series:
    """A step function of time.

    Parameters
    ----------
    time : ndarray of int64
        Instants at which the value changes, ns, rising.
    value : ndarray
        What it is from that instant on; before the first it is 0.
    """

    time: Index
    value: npt.NDArray[np.generic]


def level(time: Index, change: Index) -> Series:
    """Add up changes into a step function.

    Parameters
    ----------
    time, change : ndarray of int64
        Instants in any order, and by how much the value changes at each.

    Returns
    -------
    Series
        Only instants at which the value does change.
    """
    order = np.argsort(time, kind="stable")
    at, value = time[order], np.cumsum(change[order])
    last = np.ones(at.size, bool)
    last[:-1] = at[1:] != at[:-1]
    at, value = at[last], value[last]
    fresh = np.ones(at.size, bool)
    fresh[1:] = value[1:] != value[:-1]
    if at.size:
        fresh[0] = value[0] != 0
    return Series(at[fresh], value[fresh])


def queue_depth(trace: LinkedTrace, device: int, stream: int | None = None) -> Series:
    """Count the works that are launched and not yet finished.

    A work counts from the start of its launch call to its end; where the call is not in the file, or comes after the work began, from its start.

    Parameters
    ----------
    trace : Trace
    device : int
    stream : int, optional
        Of one stream only.

    Returns
    -------
    Series
    """
    columns = trace.columns
    chosen = columns.device[trace.work] == device
    if stream is not None:
        chosen &= columns.stream[trace.work] == stream
    rows, owner = trace.work[chosen], trace.launch_of_work[chosen]
    start = columns.start[rows]
    called = np.where(owner >= 0, np.minimum(columns.start[np.maximum(owner, 0)], start), start)
    one = np.ones(rows.size, np.int64)
    return level(np.concatenate([called, np.maximum(columns.end[rows], start)]), np.concatenate([one, -one]))


def mean_level(series: Series, start: int, end: int) -> float:
    """Return the mean of a step function over time; NaN of no time."""
    if end <= start or not series.time.size:
        return float("nan")
    at = np.clip(np.append(series.time, end), start, end)
    return float((series.value.astype(np.float64) * np.diff(at)).sum() / (end - start))


def launch_bound(trace: LinkedTrace) -> Flags:
    """Tell which idle segments are bound by launching.

    Returns
    -------
    ndarray of bool
        One per segment of ``trace.idle_segments``: launching or host time, in a gap whose works before and behind are both shorter than the time
        between the starts of their two calls.
    """
    columns, table, segments = trace.columns, trace.gap_table, trace.idle_segments
    owner = np.full(len(trace) + 1, -1, np.int64)
    owner[trace.work] = trace.launch_of_work
    before, behind = owner[table.previous], table.launch
    known = (before >= 0) & (behind >= 0)
    if not known.any():
        return np.zeros(len(segments), bool)
    start, length = columns.start, columns.duration
    apart = start[np.maximum(behind, 0)] - start[np.maximum(before, 0)]
    longest = np.maximum(length[np.maximum(table.previous, 0)], length[np.maximum(table.next, 0)])
    bound = known & (longest < apart)
    return np.asarray(bound[segments.gap] & np.isin(segments.cause, [CODE[cause] for cause in _BOUND_BY]))
