"""Begin and end events (``B``, ``E``) of other writers, paired to complete ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]


def match(thread: Index, time: Index, begins: npt.NDArray[np.bool_]) -> tuple[Index, Index]:
    """Pair begins with ends on each thread, as brackets.

    An end that closes nothing, and a begin that is never closed, stay alone.

    Parameters
    ----------
    thread, time : ndarray of int64
        Of each event, in file order; the file need not be in order of time.
    begins : ndarray of bool
        Which of them begin something.

    Returns
    -------
    begin, end : ndarray of int64
        Positions of the pairs.
    """
    order = np.lexsort((np.arange(time.size), time, thread))
    level = _levels(thread[order], begins[order])
    # an end that takes the level below all before it closes nothing; without those every end has its begin
    lowest = _running_minimum(thread[order], level)
    alone = ~begins[order] & (level < np.minimum(lowest, 0))
    order = order[~alone]
    opens = begins[order]
    level = _levels(thread[order], opens) + ~opens
    by_level = np.lexsort((np.arange(order.size), level, thread[order]))
    rows, is_begin = order[by_level], opens[by_level]
    same = (np.diff(thread[rows]) == 0) & (np.diff(level[by_level]) == 0)
    paired = np.flatnonzero(same & is_begin[:-1] & ~is_begin[1:])
    return rows[paired], rows[paired + 1]


def _levels(thread: Index, begins: npt.NDArray[np.bool_]) -> Index:
    """Return how many ranges are open behind each event of its thread."""
    steps = np.where(begins, 1, -1)
    total = np.cumsum(steps)
    first = np.flatnonzero(np.concatenate([[True], np.diff(thread) != 0])) if thread.size else np.empty(0, np.int64)
    before = (total - steps)[first]
    return np.asarray(total - np.repeat(before, np.diff(np.append(first, thread.size))), np.int64)


def _running_minimum(thread: Index, level: Index) -> Index:
    """Return the lowest level among the earlier events of each thread, 0 for the first."""
    if level.size == 0:
        return level
    apart = int(level.max() - level.min()) + 2
    dense = np.concatenate([[0], np.cumsum(np.diff(thread) != 0)])
    # threads are set apart downwards, so that one running minimum starts anew on each
    running = np.minimum.accumulate(level - dense * apart) + dense * apart
    earlier = np.concatenate([[0], running[:-1]])
    earlier[np.concatenate([[True], np.diff(thread) != 0])] = 0
    return np.asarray(earlier, np.int64)
