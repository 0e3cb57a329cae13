"""Rows merged beforehand at coarser and coarser times, so that a tile of everything costs no more than a tile of a little.

A merged rectangle keeps how many events it stands for, how much of it they cover, and which is the longest. Merging merged rectangles again
shows the same as merging the events, since a level's buckets are never wider than a tile's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kinetoscope.timeline.rows import Rows, reach_by_row

Index = npt.NDArray[np.int64]

FEWEST = 100_000
"""Below this many events merging beforehand is not worth its time."""

_FIRST_NS = 1_000
_STEP = 4
_SHRINK = 0.4


@dataclass(frozen=True)
class Level:
    """Rectangles by row and time, one entry each.

    Parameters
    ----------
    quantum : float
        Width of the buckets that were merged, ns; 0 for the events themselves.
    row, start, end : ndarray of int64
    entry : ndarray of int64
        The longest event, as an entry of the rows.
    longest : ndarray of int64
        Its length, ns.
    events : ndarray of int64
        How many events a rectangle stands for.
    busy : ndarray of int64
        ns that they cover.
    reach : ndarray of int64
        Latest end on the row so far.
    first : ndarray of int64
        Where each row begins; one more entry than rows.
    """

    quantum: float
    row: Index
    start: Index
    end: Index
    entry: Index
    longest: Index
    events: Index
    busy: Index
    reach: Index
    first: Index

    def within(self, number: int, start: int, end: int) -> tuple[int, int]:
        """Return the range of entries of a row that touch ``[start, end)``."""
        begin, stop = int(self.first[number]), int(self.first[number + 1])
        low = begin + int(np.searchsorted(self.reach[begin:stop], start, side="left"))
        high = begin + int(np.searchsorted(self.start[begin:stop], end, side="left"))
        # an event that ended exactly at the start is not in the window, one of no length at the start is
        while low < high and self.reach[low] == start and self.start[low] < start:
            low += 1
        return low, max(high, low)

    def take(self, at: Index) -> Level:
        """Return some of the rectangles, in their order, for merging."""
        return replace(
            self,
            row=self.row[at],
            start=self.start[at],
            end=self.end[at],
            entry=self.entry[at],
            longest=self.longest[at],
            events=self.events[at],
            busy=self.busy[at],
        )


def events(rows: Rows) -> Level:
    """Return the events of rows as rectangles of one each."""
    length = rows.end - rows.start
    size = length.size
    row = np.repeat(np.arange(rows.count), np.diff(rows.first))
    every = np.arange(size)
    one = np.broadcast_to(np.int64(1), size)
    return Level(0.0, row, rows.start, rows.end, every, length, one, length, rows.reach, rows.first)


def merge(level: Level, origin: int, quantum: float) -> Level:
    """Merge the rectangles that are shorter than a bucket and start in the same one of their row.

    Parameters
    ----------
    level : Level
        By row and start.
    origin : int
        Start of the first bucket, ns; what starts earlier falls in it.
    quantum : float
        Width of a bucket, ns.

    Returns
    -------
    Level
        Without reach and first.
    """
    if level.start.size == 0:
        return level
    wide = level.end - level.start >= quantum
    bucket = np.floor((np.maximum(level.start, origin) - origin) / quantum).astype(np.int64)
    opens = np.ones(level.start.size, bool)
    opens[1:] = (np.diff(level.row) != 0) | (np.diff(bucket) != 0) | wide[1:] | wide[:-1]
    heads = np.flatnonzero(opens)
    best = _longest(level.longest, heads)
    return Level(
        quantum=quantum,
        row=level.row[heads],
        start=level.start[heads],
        end=np.maximum.reduceat(level.end, heads),
        entry=level.entry[best],
        longest=level.longest[best],
        events=np.add.reduceat(level.events, heads),
        busy=np.add.reduceat(level.busy, heads),
        reach=level.reach[:0],
        first=level.first[:0],
    )


def _longest(length: Index, heads: Index) -> Index:
    """Return the position of the longest entry of each group, the first of equals."""
    group = np.repeat(np.arange(heads.size), np.diff(np.append(heads, length.size)))
    most = np.maximum.reduceat(length, heads)
    hits = np.flatnonzero(length == most[group])
    first = np.concatenate([[True], np.diff(group[hits]) != 0])
    return hits[first]


def build(rows: Rows) -> list[Level]:
    """Merge rows at coarser and coarser times, keeping the levels that are much smaller than the one before.

    Parameters
    ----------
    rows : Rows

    Returns
    -------
    list of Level
        The events first.
    """
    levels = [events(rows)]
    if rows.start.size < FEWEST:
        return levels
    origin, span = int(rows.start.min()), int(rows.end.max() - rows.start.min())
    quantum = _FIRST_NS
    while quantum < span // 64:
        merged = merge(levels[-1], origin, quantum)
        if merged.start.size <= _SHRINK * levels[-1].start.size:
            levels.append(_indexed(merged, rows.count))
        quantum *= _STEP
    return levels


def _indexed(level: Level, count: int) -> Level:
    """Return a level that can be searched by row and time."""
    first = np.searchsorted(level.row, np.arange(count + 1))
    return replace(level, reach=reach_by_row(level.row, level.end), first=first)
