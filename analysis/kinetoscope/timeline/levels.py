"""Rows merged beforehand at coarser and coarser times, so that a tile of everything costs no more than a tile of a little.

A run is some neighbours on a row that are drawn as one. It keeps how many events it stands for, how much time they cover, and which is the
longest. Merging runs again shows the same as merging the events, since a level's buckets are never wider than a tile's. Runs follow each other
on a row without a gap in the numbers of their entries, so that the first entry of each tells how many events it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope.timeline.rows import Entries, Rows, narrow, touching

Index = npt.NDArray[np.int64]

FEWEST = 100_000
"""Below this many events merging beforehand is not worth its time."""

_FIRST_NS = 1_000
_STEP = 2
#: A level is kept when it has at most this share of the runs of the one before: all levels together then have at most two thirds of the events.
_SHRINK = 0.4
#: How many runs are looked at, in stretches of so many, to tell how many a level would have.
_SAMPLE, _STRETCH = 200_000, 4_000


@dataclass(frozen=True)
class Runs:
    """Runs of neighbouring events, by row and start.

    Parameters
    ----------
    row : ndarray of int
    start, end : ndarray of int64
        Of the first event, and the latest end, ns.
    head : ndarray of int
        The first event, as an entry of the rows.
    events : ndarray of int
        How many events it stands for.
    busy : ndarray of int
        ns that they cover.
    longest : ndarray of int
        The longest event, as an entry of the rows; where buckets are longer than 2 s, one of about that length.
    most : ndarray of int
        Its length, ns.
    """

    row: npt.NDArray[Any]
    start: Index
    end: Index
    head: npt.NDArray[Any]
    events: npt.NDArray[Any]
    busy: npt.NDArray[Any]
    longest: npt.NDArray[Any]
    most: npt.NDArray[Any]

    @property
    def size(self) -> int:
        """Number of runs."""
        return int(self.start.size)

    def part(self, chosen: slice) -> Runs:
        """Return some of the runs."""
        return Runs(**{name: column[chosen] for name, column in vars(self).items()})


@dataclass(frozen=True)
class Level:
    """All rows as runs, 28 bytes each.

    Parameters
    ----------
    quantum : int
        Width of the buckets that were merged, ns.
    first : ndarray of int64
        Where each row begins; one more entry than rows.
    head : ndarray of int32
        First entry of each run, and behind the last one the number of entries.
    start : ndarray of int64
    length, busy, most : ndarray of uint32 or int64
    longest : ndarray of int32
    reach : dict of int to ndarray of int64
        As in :class:`~kinetoscope.timeline.rows.Rows`.
    """

    quantum: int
    first: Index
    head: Entries
    start: Index
    length: npt.NDArray[Any]
    busy: npt.NDArray[Any]
    most: npt.NDArray[Any]
    longest: Entries
    reach: dict[int, Index]

    def ends(self, at: Index) -> Index:
        """Return the ends of some runs, ns."""
        return np.asarray(self.start[at] + self.length[at])

    def cut(self, numbers: Index, window: tuple[int, int]) -> Runs:
        """Return the runs of some rows that touch a window."""
        reach = {place: self.reach[number] for place, number in enumerate(numbers.tolist()) if number in self.reach}
        bounds = self.first[numbers], self.first[numbers + 1]
        low, high = touching(bounds, window, self.start.__getitem__, self.ends, reach)
        parts = [slice(*bound) for bound in zip(low.tolist(), high.tolist(), strict=True)]
        start, length, head = (_joined(column, parts) for column in (self.start, self.length, self.head))
        return Runs(
            row=np.repeat(numbers, high - low),
            start=start,
            end=start + length,
            head=head,
            events=_joined(self.head[1:], parts) - head,
            busy=_joined(self.busy, parts),
            longest=_joined(self.longest, parts),
            most=_joined(self.most, parts),
        )


def _joined(column: npt.NDArray[Any], parts: Sequence[slice]) -> npt.NDArray[Any]:
    return np.concatenate([column[:0], *(column[part] for part in parts)])


def cut(rows: Rows, levels: Sequence[Level], numbers: Index, window: tuple[int, int], quantum: float) -> Runs:
    """Return the runs of some rows that touch a window, merged no coarser than asked for.

    Parameters
    ----------
    rows : Rows
    levels : sequence of Level
        Finest first.
    numbers : ndarray of int64
        Row numbers, ascending.
    window : tuple of int
        ``[start, end)`` in ns.
    quantum : float
        Widest bucket, ns.

    Returns
    -------
    Runs
    """
    for level in reversed(levels):
        if level.quantum <= quantum:
            return level.cut(numbers, window)
    low, high = rows.within(numbers, *window)
    parts = [np.arange(*bound, dtype=np.int32) for bound in zip(low.tolist(), high.tolist(), strict=True)]
    return single(rows, np.concatenate([np.empty(0, np.int32), *parts]), np.repeat(numbers, high - low))


def single(rows: Rows, entry: npt.NDArray[Any], row: npt.NDArray[Any]) -> Runs:
    """Return entries as runs of one event each."""
    start, length = rows.look_up("start", entry, row), rows.lengths(entry, row)
    one = np.broadcast_to(np.int32(1), entry.size)
    return Runs(row, start, start + length, entry, one, length, entry, length)


def merge(runs: Runs, quantum: float) -> Runs:
    """Merge the runs that are shorter than a bucket and start in the same one of their row.

    Parameters
    ----------
    runs : Runs
    quantum : float
        Width of a bucket, ns; the first one starts at 0.

    Returns
    -------
    Runs
    """
    opens = _opens(runs, quantum)
    heads = np.flatnonzero(opens)
    if heads.size == runs.size:
        return runs
    best = _longest(runs.most, heads, quantum)
    return Runs(
        row=runs.row[heads],
        start=runs.start[heads],
        end=np.maximum.reduceat(runs.end, heads),
        head=runs.head[heads],
        events=np.add.reduceat(runs.events, heads, dtype=np.int64),
        busy=np.add.reduceat(runs.busy, heads, dtype=np.int64),
        longest=runs.longest[best],
        most=runs.most[best],
    )


def _opens(runs: Runs, quantum: float) -> npt.NDArray[np.bool_]:
    """Tell where a new run begins."""
    opens = np.ones(runs.size, bool)
    if runs.size:
        bucket = runs.start // int(quantum) if quantum == int(quantum) else np.floor(runs.start / quantum)
        wide = runs.end - runs.start >= quantum
        np.not_equal(runs.row[1:], runs.row[:-1], out=opens[1:])
        opens[1:] |= (bucket[1:] != bucket[:-1]) | wide[1:] | wide[:-1]
    return opens


def _longest(length: npt.NDArray[Any], heads: Index, quantum: float) -> Index:
    """Return the position of the longest entry of each group, the first of equals."""
    # length and position in one number; only lengths below a bucket compete, the others are alone
    shift = max(0, int(quantum).bit_length() - 31)
    size = np.minimum(length >> shift, (1 << 31) - 1).astype(np.int64)
    best = np.maximum.reduceat((size << 32) | np.arange((1 << 32) - 1, (1 << 32) - 1 - size.size, -1), heads)
    return np.asarray(((1 << 32) - 1) - (best & ((1 << 32) - 1)))


def build(rows: Rows) -> list[Level]:
    """Merge rows at coarser and coarser times, keeping the levels that are much smaller than the one before.

    Parameters
    ----------
    rows : Rows

    Returns
    -------
    list of Level
        Finest first; the events themselves are none of them.
    """
    levels: list[Level] = []
    if rows.bar.size < FEWEST:
        return levels
    every = np.arange(rows.bar.size, dtype=np.int32)
    runs = single(rows, every, np.repeat(np.arange(rows.count, dtype=np.int32), np.diff(rows.first)))
    span = int(runs.end.max() - runs.start.min())
    quantum = _FIRST_NS
    while quantum < span // 64:
        if _shrinks(runs, quantum):
            runs = merge(runs, quantum)
            levels.append(_packed(rows, runs, quantum))
        quantum *= _STEP
    return levels


def _shrinks(runs: Runs, quantum: int) -> bool:
    """Tell from a sample whether a level would be much smaller than the runs it is made of."""
    step = max(1, runs.size // _SAMPLE) * _STRETCH
    parts = [runs.part(slice(low, low + _STRETCH)) for low in range(0, runs.size, step)]
    kept = sum(int(_opens(part, quantum).sum()) for part in parts)
    return kept <= _SHRINK * sum(part.size for part in parts)


def _packed(rows: Rows, runs: Runs, quantum: int) -> Level:
    """Return runs of all rows in few bytes, to be searched by row and time."""
    first = np.searchsorted(runs.row, np.arange(rows.count + 1)).astype(np.int64)
    reach = {number: np.maximum.accumulate(runs.end[first[number] : first[number + 1]]) for number in rows.reach}
    return Level(
        quantum=quantum,
        first=first,
        head=np.append(runs.head, rows.bar.size).astype(np.int32),
        start=runs.start,
        length=narrow(runs.end - runs.start),
        busy=narrow(runs.busy),
        most=narrow(runs.most),
        longest=runs.longest.astype(np.int32),
        reach=reach,
    )
