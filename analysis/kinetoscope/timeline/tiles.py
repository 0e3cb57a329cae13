"""Tiles: what of some rows is seen in a window of time, merged to what the screen can show, as bytes.

Events shorter than a pixel are merged per row and pixel, and the merged bar keeps how many they are and how much of the pixel they cover, so
that busy and idle stay visible at any zoom. Layout of the bytes: ``docs/wire.md``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kinetoscope.timeline import counters
from kinetoscope.timeline.counters import Counter, Points
from kinetoscope.timeline.levels import Level, Runs, cut, merge
from kinetoscope.timeline.rows import Rows

Index = npt.NDArray[np.int64]

MERGED, BEFORE, AFTER, UNFINISHED = 1, 2, 4, 8
_MAGIC = b"KTL2"
_KINDS_VERSION = 2
_HEADER = struct.Struct("<4sIIIddddI10s2x")

#: Bytes that a tile may take on the way, where it travels packed.
BUDGET = 460_000
#: About how many a merged bar and an event take there where times are told to a part of a bucket, and a point of a counter. Measured.
_ROUGH, _POINT = (3.3, 5.5), 14.0
#: Part of the budget that counters may take.
_POINTS_SHARE = 0.2
#: Where times to the ns take too much, they are told to this part of a bucket.
_PARTS = 16
_SHADES = 31


@dataclass(frozen=True)
class Content:
    """What tiles are made of.

    Parameters
    ----------
    rows : Rows
    levels : sequence of Level
        The rows, merged beforehand.
    counters : mapping of int to Counter
        By row; those rows have no bars.
    """

    rows: Rows
    levels: Sequence[Level]
    counters: Mapping[int, Counter]


def pack(content: Content, chosen: Sequence[int], window: tuple[int, int], px: int) -> bytes:
    """Return a tile as bytes.

    Parameters
    ----------
    content : Content
    chosen : sequence of int
        Row numbers.
    window : tuple of int
        ``[start, end)`` in ns.
    px : int
        Pixels that the window is wide.

    Returns
    -------
    bytes
    """
    t0, t1 = window
    numbers = np.array(sorted(set(chosen)), np.int64)
    quantum = max((t1 - t0) / px, 1.0)
    runs = merge(cut(content.rows, content.levels, numbers, window, quantum), quantum)
    points = _points(content, numbers, window, quantum)
    while _bytes(runs, points, _ROUGH) > BUDGET and quantum < t1 - t0:
        quantum *= 2
        runs, points = merge(runs, quantum), _points(content, numbers, window, quantum)
    tick = _tick(t1 - t0, quantum, exact=_bytes(runs, points, _exact(quantum)) <= BUDGET)
    bars, widths = _bars(content.rows, runs, window, (quantum, tick))
    steps, more = _steps(points, t0, tick)
    size = sum(one.start.size for one in points.values())
    header = _HEADER.pack(
        _MAGIC,
        runs.size,
        numbers.size,
        _KINDS_VERSION,
        float(t0),
        float(t1),
        quantum,
        tick,
        size,
        bytes([*widths, *more]),
    )
    return b"".join([header, _table(numbers, runs, points), *bars, *steps, *_values(points)])


def _points(content: Content, numbers: Index, window: tuple[int, int], quantum: float) -> dict[int, Points]:
    """Cut the counters, in buckets so long that they leave room for the bars."""
    drawn = [number for number in numbers.tolist() if number in content.counters]
    while True:
        points = {number: counters.cut(content.counters[number], window, quantum) for number in drawn}
        taken = sum(one.start.size for one in points.values()) * _POINT
        if taken <= BUDGET * _POINTS_SHARE or quantum >= window[1] - window[0]:
            return points
        quantum *= 2


def _bytes(runs: Runs, points: Mapping[int, Points], each: tuple[float, float]) -> float:
    """Return about how many bytes a tile takes on the way, from what a merged bar and an event take."""
    merged = int(np.count_nonzero(runs.events > 1))
    steps = sum(one.start.size for one in points.values())
    return merged * each[0] + (runs.size - merged) * each[1] + steps * _POINT


def _exact(quantum: float) -> tuple[float, float]:
    """Return about how many bytes a merged bar and an event take with times to the ns: the more, the longer a pixel is."""
    return 4.0, 3.2 + 0.33 * math.log2(quantum)


def _tick(length: int, quantum: float, *, exact: bool) -> float:
    """Return the ns per unit of time: 1, unless the window takes more than 32 bits then, or the tile too many bytes."""
    tick = 1.0
    while length / tick >= 2**32 or (not exact and tick * 2 * _PARTS <= quantum):
        tick *= 2
    return tick


def _table(numbers: Index, runs: Runs, points: Mapping[int, Points]) -> bytes:
    """Return row, number of bars, first entry and number of points of each row."""
    low = np.searchsorted(runs.row, numbers)
    count = np.searchsorted(runs.row, numbers, side="right") - low
    entry = np.append(runs.head, 0)[low]
    steps = [points[number].start.size if number in points else 0 for number in numbers.tolist()]
    return np.stack([numbers, count, np.where(count > 0, entry, 0), steps], axis=1).astype("<u4").tobytes()


def _bars(rows: Rows, runs: Runs, window: tuple[int, int], units: tuple[float, float]) -> tuple[list[bytes], list[int]]:
    """Return the columns of the bars, and how many bytes each takes a bar."""
    quantum, tick = units
    merged = runs.events > 1
    start, end, covered = _snapped(runs, merged, quantum)
    busy = np.where(merged, _shares(covered / np.maximum(end - start, 1)), 255)
    start, end = np.clip(start, *window), np.clip(end, *window)
    flags = np.where(
        merged,
        MERGED,
        BEFORE * (runs.start < window[0])
        + AFTER * (runs.end > window[1])
        + UNFINISHED * rows.look_up("unfinished", runs.longest, runs.row),
    )
    begin, stop = (start - window[0]) // int(tick), (end - window[0]) // int(tick)
    fresh = np.append(True, runs.row[1:] != runs.row[:-1])[: runs.size]
    pause = begin - np.where(fresh, 0, np.append(0, stop[:-1])[: runs.size])
    columns = (
        pause,
        stop - begin,
        _steps_of_ids(rows, runs, merged),
        rows.look_up("name", runs.longest, runs.row),
        runs.events - 1,
        rows.look_up("kind", runs.longest, runs.row),
        busy,
        flags,
    )
    return _planes(columns)


def _shares(share: npt.NDArray[np.float64]) -> Index:
    """Return shares as 0 to 255, in steps that an eye can tell apart; what has any length shows."""
    return np.clip(np.ceil(_SHADES * share), 0, _SHADES).astype(np.int64) * 255 // _SHADES


def _snapped(runs: Runs, merged: npt.NDArray[np.bool_], quantum: float) -> tuple[Index, Index, npt.NDArray[np.float64]]:
    """Return starts, ends and covered time as they are drawn.

    Merged runs take their bucket, as far as their neighbours leave it. What reaches into the next bucket counts there when that one is merged too,
    so that levels, whose buckets are others, leave no pattern; else the run is drawn to its end.
    """
    bucket = np.floor(runs.start / quantum)
    stop = ((bucket + 1) * quantum).astype(np.int64)
    apart = runs.row[1:] != runs.row[:-1]
    handed = merged[1:] & merged[:-1] & ~apart & (bucket[1:] == bucket[:-1] + 1)
    open_left, open_right = np.int64(-(2**62)), np.int64(2**62)
    before = np.append(open_left, np.where(apart | handed, open_left, runs.end[:-1]))[: runs.size]
    after = np.append(np.where(apart, open_right, runs.start[1:]), open_right)[: runs.size]
    hands_on = np.append(handed, False)[: runs.size]
    low = np.maximum((bucket * quantum).astype(np.int64), before)
    high = np.minimum(np.where(hands_on, stop, np.maximum(stop, runs.end)), after)
    over = np.where(hands_on, np.maximum(runs.end - stop, 0), 0) / np.maximum(runs.end - runs.start, 1)
    busy = runs.busy * (1 - over)
    busy[1:] += (runs.busy * over)[:-1]
    start = np.where(merged, np.minimum(low, runs.start), runs.start)
    return start, np.where(merged, np.maximum(high, start), runs.end), busy


def _steps_of_ids(rows: Rows, runs: Runs, merged: npt.NDArray[np.bool_]) -> Index:
    """Return how much each id is above the last one; a merged run tells none."""
    found = np.flatnonzero(~merged)
    ids = rows.look_up("id", runs.longest[found], runs.row[found])
    steps = np.zeros(runs.size, np.int64)
    steps[found] = np.diff(ids, prepend=0)
    return steps


def _steps(points: Mapping[int, Points], t0: int, tick: float) -> tuple[list[bytes], list[int]]:
    """Return starts and changes of counters, and how many bytes each takes a point."""
    none = np.empty(0, np.int64)
    start = [np.diff((one.start - t0) // int(tick), prepend=0) for one in points.values()]
    return _planes((np.concatenate([none, *start]), np.concatenate([none, *(one.changes for one in points.values())])))


def _values(points: Mapping[int, Points]) -> list[bytes]:
    """Return the values of counters."""
    return [
        np.concatenate([np.empty(0), *(getattr(one, name) for one in points.values())]).astype("<f8").tobytes()
        for name in ("low", "high")
    ]


def _planes(columns: Sequence[npt.NDArray[np.generic]]) -> tuple[list[bytes], list[int]]:
    """Return columns of 32 bits byte by byte, the lowest bytes first, without those that are 0 throughout: so they pack best."""
    planes, widths = [], []
    for column in columns:
        words = column.astype(np.int64).astype("<u4")
        width = (int(np.bitwise_or.reduce(words)).bit_length() + 7) // 8 if words.size else 0
        octets = words.view(np.uint8).reshape(-1, 4)
        planes += [np.ascontiguousarray(octets[:, place]).tobytes() for place in range(width)]
        widths.append(width)
    return planes, widths
