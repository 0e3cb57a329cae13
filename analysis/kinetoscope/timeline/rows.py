"""Lay the events of a trace on rows on which none overlaps another, so that a row can be searched by time and drawn from left to right.

Rows hold numbers of events only, four bytes each. Times, names and kinds stay where they are, in the trace's columns or in its table of gaps,
and are looked up for what is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting

Index = npt.NDArray[np.int64]
Entries = npt.NDArray[np.int32]

_ROUNDS = 64
"""How many rows deeper crossing events may be pushed; beyond that they share a row."""


@dataclass(frozen=True)
class Bars:
    """What rows can be filled with: the events of a trace, or the segments of a lane, one entry each.

    Parameters
    ----------
    id : ndarray of int64
        What the page asks for it by: an event id, or the number of a gap.
    start, duration : ndarray of int64
        ns from the trace's origin; lengths below 0 count as 0.
    name : ndarray of int32
        Index into the timeline's names.
    kind : ndarray of uint8
        Code on the wire; it decides the colour.
    unfinished : ndarray of bool
    """

    id: Index
    start: Index
    duration: Index
    name: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    unfinished: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rows:
    """Bars by row and time, one entry each.

    Parameters
    ----------
    sources : tuple of Bars
    source : ndarray of uint8
        Which of the sources each row is filled from.
    bar : ndarray of int32
        Of each entry, its position in the row's source. Within a row starts are sorted, and ends too unless the row is in ``reach``.
    first : ndarray of int64
        Where each row begins; one more entry than rows.
    reach : dict of int to ndarray of int64
        Of rows that crossing ranges share: the latest end so far at each entry.
    """

    sources: tuple[Bars, ...]
    source: npt.NDArray[np.uint8]
    bar: Entries
    first: Index
    reach: dict[int, Index] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self.first.size - 1)

    def row(self, number: int) -> slice:
        """Return where the entries of a row stand."""
        return slice(int(self.first[number]), int(self.first[number + 1]))

    def row_of(self, entry: int) -> int:
        """Return the row that an entry is on."""
        return int(np.searchsorted(self.first, entry, side="right") - 1)

    def look_up(self, column: str, entry: Index | slice, row: npt.NDArray[Any] | int) -> npt.NDArray[Any]:
        """Return a column of :class:`Bars` for some entries.

        Parameters
        ----------
        column : str
        entry : ndarray of int64 or slice
        row : ndarray of int, or int
            The row of each, or of all of them.

        Returns
        -------
        ndarray
        """
        bar, source = self.bar[entry], np.asarray(self.source[row])
        if source.size == 0:
            return np.zeros(bar.shape, getattr(self.sources[0], column).dtype)
        if (source == source.flat[0]).all():
            return np.asarray(getattr(self.sources[source.flat[0]], column)[bar])
        result = np.empty(bar.shape, getattr(self.sources[0], column).dtype)
        for number, bars in enumerate(self.sources):
            own = source == number
            result[own] = getattr(bars, column)[bar[own]]
        return result

    def lengths(self, entry: Index | slice, row: npt.NDArray[Any] | int) -> Index:
        """Return the length of some entries, ns; never below 0."""
        return np.asarray(np.maximum(self.look_up("duration", entry, row), 0))

    def ends(self, entry: Index, row: npt.NDArray[Any]) -> Index:
        """Return the ends of some entries, ns."""
        return np.asarray(self.look_up("start", entry, row) + self.lengths(entry, row))

    def within(self, numbers: Sequence[int] | Index, start: int, end: int) -> tuple[Index, Index]:
        """Return the ranges of entries of some rows that touch ``[start, end)``: first ones, and those behind the last."""
        every = np.asarray(numbers, np.int64)
        low, high = self.first[every], self.first[every]
        filled = np.flatnonzero(self.first[every + 1] > low)
        row = every[filled]
        low[filled], high[filled] = touching(
            (self.first[row], self.first[row + 1]),
            (start, end),
            lambda at: self.look_up("start", at, row),
            lambda at: self.ends(at, row),
            {place: self.reach[number] for place, number in enumerate(row.tolist()) if number in self.reach},
        )
        return low, high


def touching(
    bounds: tuple[Index, Index],
    window: tuple[int, int],
    start_of: Callable[[Index], Index],
    end_of: Callable[[Index], Index],
    reach: dict[int, Index],
) -> tuple[Index, Index]:
    """Find what touches a window in several sorted stretches at once.

    Parameters
    ----------
    bounds : tuple of ndarray of int64
        First entry of each stretch, and the one behind its last; none is empty where the callables mind.
    window : tuple of int
        ``[start, end)`` in ns.
    start_of, end_of : callable
        Returns starts and ends of entries, one of each stretch.
    reach : dict of int to ndarray of int64
        Latest end so far, of stretches whose ends are not sorted.

    Returns
    -------
    low, high : ndarray of int64
    """
    low = lower_bound(*bounds, window[0], end_of)
    for place, ends in reach.items():
        low[place] = bounds[0][place] + np.searchsorted(ends, window[0], side="left")
    high = np.maximum(lower_bound(*bounds, window[1], start_of), low)
    last = np.maximum(bounds[1] - 1, 0)
    over = low < high
    while over.any():
        # what ended exactly at the start is not in the window, what has no length at the start is
        at = np.minimum(low, last)
        over = (low < high) & (end_of(at) == window[0]) & (start_of(at) < window[0])
        low = low + over
    return low, high


def lower_bound(low: Index, high: Index, wanted: int, value_of: Callable[[Index], Index]) -> Index:
    """Find the first entry of each of several sorted stretches whose value is not below a wanted one."""
    low, high = low.copy(), high.copy()
    last = np.maximum(high - 1, 0)
    while (low < high).any():
        middle = np.minimum((low + high) // 2, last)
        below = (low < high) & (value_of(middle) < wanted)
        high = np.where(below, high, np.minimum(middle, high))
        low = np.where(below, middle + 1, low)
    return low


def nest(lane: npt.NDArray[Any], start: Index, end: Index, tie: npt.NDArray[np.int8]) -> tuple[Index, Index, bool]:
    """Give each event the row of its lane that it is drawn on: its depth, pushed down where ranges cross.

    Parameters
    ----------
    lane, start, end : ndarray of int64
        Lane number, start and end of each event; lanes come one after the other.
    tie : ndarray of int8
        Rank among events of equal start and length.

    Returns
    -------
    order : ndarray of int64
        The events by lane and start.
    depth : ndarray of int64
        Row within the lane, from 0, in that order.
    crowded : bool
        Whether so many cross that some share a row.
    """
    order = _ordered(lane, start, end, tie)
    lane, start, end = lane[order], start[order], end[order]
    depth = nesting.depths(nesting.parents(lane, end)).astype(np.int64)
    after: Index | None = None
    for _ in range(_ROUNDS):
        late = _overlapping(lane, depth, start, end)
        if not late.size:
            return order, depth, False
        # what moves down takes along what it contains
        after = nesting.after_subtree(lane, end) if after is None else after
        moves = np.bincount(late, minlength=order.size + 1) - np.bincount(after[late], minlength=order.size + 1)
        depth += np.cumsum(moves)[:-1]
    return order, depth, bool(_overlapping(lane, depth, start, end).size)


def _ordered(lane: npt.NDArray[Any], start: Index, end: Index, tie: npt.NDArray[np.int8]) -> Index:
    """Sort as :func:`kinetoscope.nesting.order` does; much faster where lanes are nearly in order, as recorders write them."""
    bounds = np.concatenate([[0], np.flatnonzero(np.diff(lane)) + 1, [lane.size]]).tolist()
    parts = [low + np.argsort(start[low:high], kind="stable") for low, high in pairwise(bounds)]
    order = np.concatenate([np.empty(0, np.int64), *parts])
    same = (np.diff(start[order]) == 0) & (np.diff(lane) == 0)
    # only what starts together needs the other keys
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same)[: order.size]) if order.size else order
    among = order[tied]
    order[tied] = among[nesting.order(lane[among], start[among], end[among], tie[among])]
    return order


def reach_by_row(row: npt.NDArray[Any], end: Index) -> Index:
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


def shared_rows(row: npt.NDArray[Any], start: Index, end: Index) -> dict[int, Index]:
    """Find the rows on which something overlaps.

    Parameters
    ----------
    row, start, end : ndarray of int64
        Sorted by row and start.

    Returns
    -------
    dict of int to ndarray of int64
        The latest end so far at each entry of those rows.
    """
    over = np.unique(row[1:][(row[1:] == row[:-1]) & (start[1:] < end[:-1])])
    parts = [np.searchsorted(row, [number, number + 1]) for number in over]
    return {int(number): np.maximum.accumulate(end[low:high]) for number, (low, high) in zip(over, parts, strict=True)}


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return whole numbers from 0 on as 32 bits where they fit."""
    fits = values.size == 0 or int(values.max()) < 1 << 32
    return values.astype(np.uint32) if fits else values.astype(np.int64)


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
