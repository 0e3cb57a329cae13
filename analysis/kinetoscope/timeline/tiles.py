"""Tiles: what of some rows is seen in a window of time, merged to what the screen can show, as bytes.

Events shorter than a pixel are merged per row and pixel, and the merged rectangle keeps how many they are and how much of it they cover, so
that busy and idle stay visible at any zoom. Layout of the bytes: ``docs/wire.md``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kinetoscope.timeline.lanes import IDLE
from kinetoscope.timeline.levels import Level, merge
from kinetoscope.timeline.rows import Rows

Index = npt.NDArray[np.int64]

MERGED, BEFORE, AFTER, UNFINISHED = 1, 2, 4, 8
_MAGIC = b"KTL1"
_KINDS_VERSION = 1
_MOST = 60_000
_HEADER = struct.Struct("<4sIIIdddd")


def cut(levels: Sequence[Level], chosen: Sequence[int], window: tuple[int, int], quantum: float) -> Level:
    """Choose and merge what of some rows touches a window.

    Parameters
    ----------
    levels : sequence of Level
        Rows merged beforehand, the events themselves first.
    chosen : sequence of int
        Row numbers, ascending.
    window : tuple of int
        ``[start, end)`` in ns.
    quantum : float
        Width of a bucket in ns: shorter events that start in the same bucket of a row become one rectangle.

    Returns
    -------
    Level
        Times are those of the events, not cut to the window.
    """
    level = next(level for level in reversed(levels) if level.quantum <= quantum)
    parts = [level.within(number, *window) for number in chosen]
    at = np.concatenate([np.empty(0, np.int64), *(np.arange(low, high) for low, high in parts)])
    return merge(level.take(at), window[0], quantum)


def pack(
    rows: Rows, levels: Sequence[Level], ids: Index, chosen: Sequence[int], window: tuple[int, int], px: int
) -> bytes:
    """Return a tile as bytes.

    Parameters
    ----------
    rows : Rows
    levels : sequence of Level
        The rows, merged beforehand.
    ids : ndarray of int64
        Event id of each row of the columns.
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
    ordered = np.array(sorted(set(chosen)), np.int64)
    quantum = max((t1 - t0) / px, 1.0)
    tile = cut(levels, ordered.tolist(), window, quantum)
    while tile.entry.size > _MOST:
        quantum *= 2
        tile = merge(tile, t0, quantum)
    tick = _tick(t1 - t0)
    header = _HEADER.pack(_MAGIC, tile.entry.size, ordered.size, _KINDS_VERSION, float(t0), float(t1), quantum, tick)
    counts = np.bincount(np.searchsorted(ordered, tile.row), minlength=ordered.size)
    table = np.stack([ordered, counts], axis=1)
    kind, event = rows.kind[tile.entry], rows.event[tile.entry]
    idle = kind == IDLE
    number = np.where(idle, event, ids[np.where(idle, 0, event)] if ids.size else event)
    start, end = np.maximum(tile.start, t0), np.minimum(tile.end, t1)
    wide = (table, (start - t0) // tick, (end - start) // tick, number, rows.name[tile.entry], tile.events)
    small = (kind, _busy(tile), _flags(rows, tile, window), np.zeros(tile.entry.size))
    return b"".join(
        [header, *(_column(values, "<u4") for values in wide), *(_column(values, "u1") for values in small)]
    )


def _tick(length: int) -> float:
    """Return the ns per unit of time that let a window be counted in 32 bits."""
    tick = 1.0
    while length / tick >= 2**32:
        tick *= 2
    return tick


def _flags(rows: Rows, tile: Level, window: tuple[int, int]) -> Index:
    merged, before, after = tile.events > 1, tile.start < window[0], tile.end > window[1]
    return np.asarray(MERGED * merged + BEFORE * before + AFTER * after + UNFINISHED * rows.unfinished[tile.entry])


def _busy(tile: Level) -> npt.NDArray[np.float64]:
    """Return the covered share of each rectangle, 0 to 255; what has any length shows."""
    width = np.maximum(tile.end - tile.start, 1)
    return np.where(tile.events > 1, np.clip(np.ceil(255 * tile.busy / width), 0, 255), 255.0)


def _column(values: npt.ArrayLike, dtype: str) -> bytes:
    return np.asarray(values).astype(dtype).tobytes()
