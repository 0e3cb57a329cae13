"""Which range of a thread is the innermost open one at an instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting
from kinetoscope.errors import LimitError

Index = npt.NDArray[np.int64]

MOST_PARTS = 20_000_000
"""Parts that time is cut into at most: some 5 GB."""


class OpenRanges:
    """Some host ranges, ready to be asked which of them is the innermost open one on a thread at an instant.

    Of ranges that cross, the one that started last counts as the innermost. A range is open from its start on, and no longer at its end.

    Parameters
    ----------
    rows : ndarray of int64
        What :meth:`at` answers with, one per range, in nesting order (:func:`kinetoscope.nesting.order`).
    thread, start, end : ndarray of int64
        Of each range; times in ns.
    """

    def __init__(self, rows: Index, thread: Index, start: Index, end: Index) -> None:
        self._rows, self._start, self._end = rows.astype(np.int32), start, end
        self._parent: npt.NDArray[Any] = nesting.parents(thread, end).astype(np.int32)
        found, first = np.unique(thread, return_index=True)
        bounds = np.append(first, thread.size).tolist()
        self._parts = {number: (bounds[i], bounds[i + 1]) for i, number in enumerate(found.tolist())}

    def at(self, thread: Index, time: Index) -> Index:
        """Return the innermost open range at each of some instants.

        Parameters
        ----------
        thread, time : ndarray of int64
            Thread number and ns of each question.

        Returns
        -------
        ndarray of int64
            Rows; -1 where nothing is open.
        """
        nearest = np.full(time.size, -1, np.int64)
        for number in np.unique(thread).tolist():
            low, high = self._parts.get(number, (0, 0))
            asked = np.flatnonzero(thread == number)
            at = low + np.searchsorted(self._start[low:high], time[asked], side="right") - 1
            nearest[asked] = np.where(at >= low, at, -1)
        # open at t is what contains [t, t + 1)
        found = nesting.enclosing(self._end, self._parent, nearest, time + 1)
        # few bytes are held of each range, and what is answered may be counted with
        return np.where(found >= 0, self._rows[np.maximum(found, 0)] if self._rows.size else -1, -1).astype(np.int64)


class Changes:
    """The instants at which a thread's open ranges change.

    Parameters
    ----------
    thread, start, end : ndarray of int64
        Of the ranges.
    """

    def __init__(self, thread: Index, start: Index, end: Index) -> None:
        order = np.argsort(thread, kind="stable")
        found, first = np.unique(thread[order], return_index=True)
        bounds = np.append(first, thread.size).tolist()
        times, at = [], 0
        self._parts = {}
        for i, number in enumerate(found.tolist()):
            own = order[bounds[i] : bounds[i + 1]]
            own = own[end[own] > start[own]]
            changes = np.concatenate([start[own], end[own]])
            changes.sort(
                kind="stable"
            )  # two runs that are nearly in order: faster than finding the different ones first
            changes = changes[np.append(True, changes[1:] != changes[:-1])] if changes.size else changes
            self._parts[number] = (at, at + changes.size)
            times.append(changes)
            at += changes.size
        self._times = np.concatenate([np.empty(0, np.int64), *times])

    def cut(self, thread: Index, start: Index, end: Index) -> tuple[Index, Index, Index]:
        """Cut pieces of time at the changes of their threads.

        Parameters
        ----------
        thread, start, end : ndarray of int64
            Of the pieces, each of positive length.

        Returns
        -------
        piece, start, end : ndarray of int64
            For each part, which piece it is of, and its bounds; the parts tile the pieces, in order.
        """
        low, high = np.zeros(start.size, np.int64), np.zeros(start.size, np.int64)
        for number in np.unique(thread).tolist():
            first, last = self._parts.get(number, (0, 0))
            asked = np.flatnonzero(thread == number)
            own = self._times[first:last]
            low[asked] = first + np.searchsorted(own, start[asked], side="right")
            high[asked] = first + np.searchsorted(own, end[asked], side="left")
        return _split(start, end, self._times, low, high)


def cut_at(start: Index, end: Index, instants: Index) -> tuple[Index, Index, Index]:
    """Cut pieces of time at some sorted instants.

    Parameters
    ----------
    start, end : ndarray of int64
        Of the pieces.
    instants : ndarray of int64

    Returns
    -------
    piece, start, end : ndarray of int64
        As :meth:`Changes.cut` returns them.
    """
    low = np.searchsorted(instants, start, side="right")
    high = np.searchsorted(instants, end, side="left")
    return _split(start, end, instants, low, high)


def check_parts(count: int) -> None:
    """Refuse to cut time into more parts than can be looked at.

    Parameters
    ----------
    count : int

    Raises
    ------
    LimitError
    """
    if count > MOST_PARTS:
        raise LimitError(
            f"time would be cut into more than {MOST_PARTS:,} parts: too many devices for so many host events",
            hint="the causes of idle time are found for each device of a file; record fewer devices in one file",
        )


def _split(start: Index, end: Index, times: Index, low: Index, high: Index) -> tuple[Index, Index, Index]:
    """Cut each piece at ``times[low:high]``."""
    inner = np.maximum(high - low, 0)
    check_parts(int(inner.sum()))
    parts = inner + 1
    first = np.cumsum(parts) - parts
    piece = np.repeat(np.arange(start.size, dtype=np.int64), parts)
    position = np.arange(piece.size, dtype=np.int64) - first[piece]
    cuts = low[piece] + position
    begins = np.where(
        position == 0, start[piece], times[np.clip(cuts - 1, 0, max(times.size - 1, 0))] if times.size else 0
    )
    ends = np.where(
        position == inner[piece], end[piece], times[np.clip(cuts, 0, max(times.size - 1, 0))] if times.size else 0
    )
    return piece, begins, ends
