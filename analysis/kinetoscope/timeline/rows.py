"""Lay the events of a trace on rows on which none overlaps another, so that a row can be searched by time and drawn from left to right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting

Index = npt.NDArray[np.int64]

_ROUNDS = 64
"""How many rows deeper crossing events may be pushed; beyond that they share a row."""


@dataclass(frozen=True)
class Rows:
    """Events by row and time, one entry each.

    Parameters
    ----------
    start, end : ndarray of int64
        ns from the trace's origin; ``end >= start``. Within a row both are sorted.
    event : ndarray of int64
        Row of the trace's columns, or the gap's number on idle rows.
    name : ndarray of int32
    kind : ndarray of uint8
        Code on the wire.
    unfinished : ndarray of bool
    reach : ndarray of int64
        Latest end on the row so far: the end itself, unless so many ranges cross that some share a row.
    first : ndarray of int64
        Where each row begins; one more entry than rows.
    """

    start: Index
    end: Index
    event: Index
    name: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    unfinished: npt.NDArray[np.bool_]
    reach: Index
    first: Index

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.first.size - 1)

    def row(self, number: int) -> slice:
        """Return where the events of a row stand."""
        return slice(int(self.first[number]), int(self.first[number + 1]))

    def within(self, number: int, start: int, end: int) -> tuple[int, int]:
        """Return the range of entries of a row that touch ``[start, end)``."""
        part = self.row(number)
        low = int(np.searchsorted(self.reach[part], start, side="left"))
        high = int(np.searchsorted(self.start[part], end, side="left"))
        # an event that ended exactly at the start is not in the window, one of no length at the start is
        while low < high and self.reach[part.start + low] == start and self.start[part.start + low] < start:
            low += 1
        return part.start + low, part.start + max(high, low)


def nest(lane: Index, start: Index, end: Index, tie: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Give each event the row of its lane that it is drawn on: its depth, pushed down where ranges cross.

    Parameters
    ----------
    lane, start, end : ndarray of int64
        Lane number, start and end of each event.
    tie : ndarray of int8
        Rank among events of equal start and length.

    Returns
    -------
    ndarray of int64
        Row within the lane, from 0.
    """
    order = nesting.order(lane, start, end, tie)
    lane, start, end = lane[order], start[order], end[order]
    depth = nesting.depths(nesting.parents(lane, end)).astype(np.int64)
    after: Index | None = None
    for _ in range(_ROUNDS):
        late = _overlapping(lane, depth, start, end)
        if not late.size:
            break
        # what moves down takes along what it contains
        after = nesting.after_subtree(lane, end) if after is None else after
        moves = np.bincount(late, minlength=order.size + 1) - np.bincount(after[late], minlength=order.size + 1)
        depth += np.cumsum(moves)[:-1]
    result = np.empty(order.size, np.int64)
    result[order] = depth
    return result


def reach_by_row(row: Index, end: Index) -> Index:
    """Return the running maximum of the ends on each row.

    Parameters
    ----------
    row, end : ndarray of int64
        Row number and end of each event, sorted by row and time.

    Returns
    -------
    ndarray of int64
    """
    if end.size == 0:
        return end
    # rows are set apart by more than any time, so that one running maximum starts anew on each
    low = int(end.min())
    apart = int(end.max()) - low + 1
    dense = np.concatenate([[0], np.cumsum(np.diff(row) != 0)])
    return np.asarray(np.maximum.accumulate(dense * apart + (end - low)) - dense * apart + low, np.int64)


def _overlapping(lane: Index, depth: Index, start: Index, end: Index) -> Index:
    """Find the events to move down: those that begin before an earlier one on the same lane and depth has ended.

    Of several in a row every other one stays, since the one before it may make room by moving.
    """
    if start.size == 0:
        return np.empty(0, np.int64)
    row = lane * (int(depth.max()) + 1) + depth
    # ranges come ordered by start within a lane, and a stable sort keeps that order within a row
    order = np.argsort(row.astype(np.uint16) if int(row.max()) < 1 << 16 else row, kind="stable")
    reach = reach_by_row(row[order], end[order])
    late = np.zeros(order.size, bool)
    late[1:] = (np.diff(row[order]) == 0) & (start[order][1:] < reach[:-1])
    place = np.flatnonzero(late)
    begins = np.concatenate([[True], np.diff(place) != 1]) if place.size else np.zeros(0, bool)
    run = np.maximum.accumulate(np.where(begins, np.arange(place.size), 0))
    return order[place[(np.arange(place.size) - run) % 2 == 0]]
