"""The critical path as the timeline draws it: from stretch to stretch, each on the row of its event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope.critical_path import KINDS

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]


def path(trace: Trace, row_of_event: npt.NDArray[Any], window: tuple[int, int], px: int) -> dict[str, Any]:
    """Return the stretches of the critical paths in a window.

    Parameters
    ----------
    trace : Trace
    row_of_event : ndarray of int
        Row of the timeline that shows each row of the columns, -1 for none.
    window : tuple of int
        ``[start, end)`` in ns.
    px : int
        Stretches that begin in the same of so many parts are drawn as one, on the row of the longest.

    Returns
    -------
    dict
        ``Path`` of ``docs/wire.md``.
    """
    found = trace.critical_path
    low = int(np.searchsorted(found.end, window[0], side="right"))
    high = int(np.searchsorted(found.start, window[1], side="left"))
    start = np.maximum(found.start[low:high], window[0])
    end = np.minimum(found.end[low:high], window[1])
    row = np.where(found.row[low:high] >= 0, row_of_event[np.maximum(found.row[low:high], 0)] if len(trace) else -1, -1)
    first = np.arange(start.size)
    longest = first
    if start.size > px:
        part = (start - window[0]) * px // max(window[1] - window[0], 1)
        first = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
        order = np.lexsort((end - start, row >= 0, part))
        longest = order[np.append(first[1:], start.size) - 1]
    last = np.append(first[1:], start.size) - 1 if first.size else first
    drawn = _carried(row[longest])
    return {
        "start_ns": start[first].tolist(),
        "end_ns": end[last].tolist(),
        "row": [int(one) if one >= 0 else None for one in drawn.tolist()],
        "kind": [KINDS[code] for code in found.kind[low:high][longest].tolist()],
        "stretches": int(start.size),
    }


def _carried(row: Index) -> Index:
    """Return rows in which what has none stays on that of the stretch before."""
    place = np.maximum.accumulate(np.where(row >= 0, np.arange(row.size), -1)) if row.size else row
    return np.where(place >= 0, row[np.maximum(place, 0)], -1) if row.size else row
