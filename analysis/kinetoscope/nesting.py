"""Which range holds which: trees of nested ranges on threads, without a loop over events.

Ranges are *ordered* when they are sorted by thread, then start, then longer first, then ties by the caller's rule (ops before API calls, then
file order). In that order X contains Y when X comes no later than Y, is on its thread, and ends no earlier. The innermost range that contains Y
is thus the nearest earlier one on the thread that ends no earlier. Crossing ranges, which overlap without containment, need no special case.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]


def order(thread: npt.NDArray[np.int64], start: Index, end: Index, tie: npt.NDArray[np.int8]) -> Index:
    """Sort ranges as the other functions of this module need them.

    Parameters
    ----------
    thread, start, end : ndarray of int64
        Thread number, start and end of each range.
    tie : ndarray of int8
        Rank among ranges of equal start and length: lower comes first; equal ranks keep their order.

    Returns
    -------
    ndarray of int64
        Positions in order.
    """
    return np.lexsort((tie, start - end, start, thread)).astype(np.int64, copy=False)


def parents(thread: npt.NDArray[np.int64], end: Index) -> Index:
    """Find the innermost earlier range that contains each one.

    Parameters
    ----------
    thread, end : ndarray of int64
        Of ordered ranges.

    Returns
    -------
    ndarray of int64
        Position of the parent in the same order, -1 for roots.
    """
    size = end.size
    candidate = np.arange(-1, size - 1, dtype=np.int64)
    if size == 0:
        return candidate
    first = np.empty(size, bool)
    first[0] = True
    np.not_equal(thread[1:], thread[:-1], out=first[1:])
    candidate[first] = -1
    return _climb(candidate, end, candidate, end)


def after_subtree(thread: npt.NDArray[np.int64], end: Index) -> Index:
    """Find where the ranges end that each one contains.

    Parameters
    ----------
    thread, end : ndarray of int64
        Of ordered ranges.

    Returns
    -------
    ndarray of int64
        Position behind the last range of each one's subtree: of the next on the thread that ends later, or of the next thread.
    """
    size = end.size
    backward_end, backward_thread = end[::-1], thread[::-1]
    candidate = np.arange(-1, size - 1, dtype=np.int64)
    if size:
        candidate[np.concatenate([[True], np.diff(backward_thread) != 0])] = -1
    # a later range that ends together with this one still lies in it, so the search is for one that ends at least 1 later
    later = _climb(candidate, backward_end + 1, candidate, backward_end)
    last = np.searchsorted(thread, thread, side="right")
    return np.where(later >= 0, size - 1 - later, last[::-1]).astype(np.int64)[::-1]


def enclosing(holder_end: Index, holder_parent: Index, nearest: Index, end: Index) -> Index:
    """Find the innermost holder of each query range.

    Parameters
    ----------
    holder_end, holder_parent : ndarray of int64
        Ends of the ordered holders, and their :func:`parents`.
    nearest : ndarray of int64
        For each query, the position of the last holder on its thread that comes no later in the order; -1 where there is none.
    end : ndarray of int64
        End of each query.

    Returns
    -------
    ndarray of int64
        Position of the holder, -1 where none contains the query.
    """
    return _climb(nearest.astype(np.int64, copy=True), end, holder_parent, holder_end)


def _climb(candidate: Index, end: Index, jump: Index, jump_end: Index) -> Index:
    """Follow jumps from each candidate until it ends no earlier than the range it is for.

    ``jump`` may be ``candidate`` itself: whatever a candidate has skipped so far ends before the candidate does, hence before the range it is
    for, so that unfinished jumps are safe to follow, and each round about doubles their reach.
    """
    active = np.flatnonzero(candidate >= 0)
    while active.size:
        at = candidate[active]
        short = jump_end[at] < end[active]
        active, at = active[short], at[short]
        candidate[active] = jump[at]
        active = active[candidate[active] >= 0]
    return candidate


def nearest_before(holder: npt.NDArray[np.bool_], thread: npt.NDArray[np.int64]) -> Index:
    """For ordered ranges of which some are holders, find the last holder before or at each, on its thread.

    Parameters
    ----------
    holder : ndarray of bool
    thread : ndarray of int64
        Both of ordered ranges, holders and queries together.

    Returns
    -------
    ndarray of int64
        Position counted among the holders alone; -1 where none comes before on the thread. A holder finds itself.
    """
    seen = np.cumsum(holder) - 1
    if seen.size == 0:
        return seen.astype(np.int64)
    holder_thread = thread[holder]
    known = seen >= 0
    same = np.zeros(seen.size, bool)
    same[known] = holder_thread[seen[known]] == thread[known]
    return np.where(same, seen, -1).astype(np.int64)


def depths(parent: Index) -> npt.NDArray[np.int32]:
    """Count the ancestors of each range.

    Parameters
    ----------
    parent : ndarray of int64
        As :func:`parents` gives it.

    Returns
    -------
    ndarray of int32
        0 for roots.
    """
    depth = np.zeros(parent.size, np.int32)
    at = parent.copy()
    active = np.flatnonzero(at >= 0)
    reach = (parent >= 0).astype(np.int32)
    # pointer doubling: reach[i] = generations between i and at[i]
    while active.size:
        depth = reach.copy()
        target = at[active]
        reach[active] = depth[active] + depth[target]
        step = at.copy()
        at[active] = step[target]
        active = active[at[active] >= 0]
    return reach
