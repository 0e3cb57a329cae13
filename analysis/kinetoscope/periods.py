"""Steps: their host ranges, the periods that tile the run, and the window that utilization is measured in.

Definitions: ``docs/definitions.md``, "Steps" and "Busy, idle, utilization".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, schema
from kinetoscope.reading.columns import Columns

Index = npt.NDArray[np.int64]

_INCOMPLETE_BELOW = 0.8


@dataclass(frozen=True)
class Steps:
    """Steps in time order, one entry each; times in ns.

    Parameters
    ----------
    number : ndarray of int64
        The N of ``ProfilerStep#N``.
    row : ndarray of int64
        Row of the marker.
    host_start, host_end : ndarray of int64
        The marker.
    start, end : ndarray of int64
        The period.
    tail : ndarray of int64
        Device work after the marker's end.
    works : ndarray of int64
        Device works launched in the step.
    incomplete : ndarray of bool
    nested : ndarray of int64
        Rows of markers left out because they lie inside another one or overlap one on another thread.
    """

    number: Index
    row: Index
    host_start: Index
    host_end: Index
    start: Index
    end: Index
    tail: Index
    works: Index
    incomplete: npt.NDArray[np.bool_]
    nested: Index

    def __len__(self) -> int:
        return int(self.row.size)

    def holding(self, times: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return the step whose host range holds each instant, -1 for none."""
        return _holding(self.host_start, self.host_end, times)

    def period_holding(self, times: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Return the step whose period holds each instant, -1 for none."""
        return _holding(self.start, self.end, times)


def _holding(start: Index, end: Index, times: npt.ArrayLike) -> npt.NDArray[np.intp]:
    at = np.asarray(times, np.int64)
    if start.size == 0:
        return np.full(at.shape, -1, np.intp)
    index = np.searchsorted(start, at, side="right") - 1
    return np.where((index >= 0) & (at < end[np.maximum(index, 0)]), index, -1)


def markers(columns: Columns) -> tuple[Index, Index, Index]:
    """Find the step markers.

    Returns
    -------
    rows : ndarray of int64
        Rows of the markers, in time order.
    numbers : ndarray of int64
        Their step numbers.
    nested : ndarray of int64
        Rows of markers that are annotations only, because they lie inside another or overlap an earlier one on another thread.
    """
    pattern = schema.pattern("step_marker")
    number_of = {code: int(found.group(1)) for code, text in enumerate(columns.names) if (found := pattern.match(text))}
    rows = np.flatnonzero(
        columns.timed
        & (columns.kind == schema.CODE["annotation"])
        & np.isin(columns.name, list(number_of))
        & (columns.duration >= 0)
    )
    rows = rows[np.lexsort((-columns.duration[rows], columns.start[rows]))]
    kept: list[int] = []
    end, thread = -(2**62), -1
    for row in rows.tolist():  # a handful of markers, each decided by the one before
        inside = columns.start[row] < end and (columns.end[row] <= end or columns.thread[row] != thread)
        if not inside:
            kept.append(row)
            end, thread = int(columns.end[row]), int(columns.thread[row])
    found_rows = np.array(kept, np.int64)
    numbers = np.array([number_of[int(columns.name[row])] for row in kept], np.int64)
    return found_rows, numbers, np.setdiff1d(rows, found_rows)


def build(columns: Columns, work: Index, launch: Index) -> tuple[Steps, Index]:
    """Compute the steps, and the step of each device work.

    Parameters
    ----------
    columns : Columns
    work : ndarray of int64
        Rows of the timed device work.
    launch : ndarray of int64
        Row of the owning API call of each of them, -1 for none.

    Returns
    -------
    steps : Steps
    step_of_work : ndarray of int64
        Position of the step whose host range holds the start of the owning call; -1 for none.
    """
    row, number, nested = markers(columns)
    host_start, host_end = columns.start[row], columns.end[row]
    call_start = columns.start[np.maximum(launch, 0)] if work.size else np.empty(0, np.int64)
    step = np.where(launch >= 0, _holding(host_start, host_end, call_start), -1).astype(np.int64)
    count = row.size
    works = np.bincount(step[step >= 0], minlength=count).astype(np.int64)
    work_end = np.full(count, -(2**62), np.int64)
    np.maximum.at(work_end, step[step >= 0], columns.end[work][step >= 0])
    tail = np.where(works > 0, np.maximum(work_end - host_end, 0), 0)
    start, end = _periods(host_start, np.maximum(host_end, work_end), _before_first(columns, work, step))
    incomplete = np.zeros(count, bool)
    if count > 1:
        incomplete[-1] = works[-1] < _INCOMPLETE_BELOW * works[-2]
    return Steps(number, row, host_start, host_end, start, end, tail, works, incomplete, nested), step


def _before_first(columns: Columns, work: Index, step: Index) -> int:
    """Return the end of the last device work of no step that ended no later than the first step's work began."""
    first = work[step == 0]
    if first.size == 0:
        return -(2**62)
    ends = columns.end[work[step < 0]]
    before = ends[ends <= columns.start[first].min()]
    return int(before.max()) if before.size else -(2**62)


def _periods(host_start: Index, reach: Index, before: int) -> tuple[Index, Index]:
    """Return periods: each from its host start or the end before, if later, to what it reaches."""
    if reach.size == 0:
        return host_start, reach
    # a period's end is at least its own start, which is at least the end before: a running maximum
    previous = np.maximum.accumulate(np.concatenate([[before], np.maximum(reach, host_start)[:-1]]))
    start = np.maximum(host_start, previous)
    return start, np.maximum(reach, start)


def window(columns: Columns, steps: Steps) -> intervals.IntervalSet:
    """Return the time that utilization is measured in: the periods, else from the first to the last timed event."""
    if len(steps):
        return intervals.union(steps.start, steps.end)
    rows = np.flatnonzero(columns.timed & np.isin(columns.kind, schema.TIMED))
    if rows.size == 0:
        return intervals.empty()
    return intervals.union([columns.start[rows].min()], [columns.end[rows].max()])
