"""Algebra of half-open intervals ``[start, end)`` on int64 arrays.

An *interval set* is a pair of equally long int64 arrays ``(starts, ends)``, sorted, disjoint and not touching: what :func:`union` returns.
All other functions take and return such sets. Everything is vectorized, O(n log n), and exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]
IntervalSet = tuple[Times, Times]


def empty() -> IntervalSet:
    """Return the interval set that holds nothing."""
    return np.empty(0, np.int64), np.empty(0, np.int64)


def union(starts: npt.ArrayLike, ends: npt.ArrayLike) -> IntervalSet:
    """Merge intervals in any order into an interval set.

    Parameters
    ----------
    starts, ends : array_like of int64
        Any intervals; those of no or negative length are left out.

    Returns
    -------
    IntervalSet
        Sorted; overlapping and touching intervals are one.
    """
    first = np.asarray(starts, np.int64)
    last = np.asarray(ends, np.int64)
    real = last > first
    if not real.all():
        first, last = first[real], last[real]
    if first.size == 0:
        return empty()
    order = np.argsort(first, kind="stable")
    first, last = first[order], last[order]
    reach = np.maximum.accumulate(last)
    opens = np.empty(first.size, bool)
    opens[0] = True
    np.greater(first[1:], reach[:-1], out=opens[1:])
    heads = np.flatnonzero(opens)
    tails = np.append(heads[1:], first.size) - 1
    return first[heads], reach[tails]


def merge(*sets: IntervalSet) -> IntervalSet:
    """Return the union of several interval sets."""
    if not sets:
        return empty()
    return union(np.concatenate([s[0] for s in sets]), np.concatenate([s[1] for s in sets]))


def complement(covered: IntervalSet, start: int, end: int) -> IntervalSet:
    """Return what of ``[start, end)`` an interval set leaves open."""
    starts, ends = clip(covered, start, end)
    return drop_empty(np.append(np.int64(start), ends), np.append(starts, np.int64(end)))


def clip(intervals: IntervalSet, start: int, end: int) -> IntervalSet:
    """Cut an interval set to ``[start, end)``."""
    starts, ends = intervals
    low = int(np.searchsorted(ends, start, side="right"))
    high = int(np.searchsorted(starts, end, side="left"))
    return drop_empty(np.maximum(starts[low:high], start), np.minimum(ends[low:high], end))


def drop_empty(starts: Times, ends: Times) -> IntervalSet:
    """Leave out intervals of no length."""
    real = ends > starts
    return starts[real], ends[real]


def intersect(one: IntervalSet, other: IntervalSet) -> IntervalSet:
    """Return what two interval sets have in common."""
    if one[0].size == 0 or other[0].size == 0:
        return empty()
    # every piece starts where the later of two overlapping intervals starts
    low = np.searchsorted(other[1], one[0], side="right")
    high = np.searchsorted(other[0], one[1], side="left")
    counts = np.maximum(high - low, 0)
    left = np.repeat(np.arange(one[0].size), counts)
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    right = np.repeat(low, counts) + offset
    return drop_empty(np.maximum(one[0][left], other[0][right]), np.minimum(one[1][left], other[1][right]))


def subtract(one: IntervalSet, other: IntervalSet) -> IntervalSet:
    """Return what of the first interval set the second does not cover."""
    if one[0].size == 0:
        return one
    return intersect(one, complement(other, int(one[0][0]), int(one[1][-1])))


def measure(intervals: IntervalSet) -> int:
    """Return the total length."""
    return int((intervals[1] - intervals[0]).sum())


def covered_before(intervals: IntervalSet, times: npt.ArrayLike) -> Times:
    """Return how much of an interval set lies before each of some instants.

    Parameters
    ----------
    intervals : IntervalSet
    times : array_like of int64

    Returns
    -------
    ndarray of int64
        Of the shape of ``times``. ``covered_before(b) - covered_before(a)`` is the length inside ``[a, b)``.
    """
    at = np.asarray(times, np.int64)
    starts, ends = intervals
    if starts.size == 0:
        return np.zeros(at.shape, np.int64)
    done = np.concatenate([[0], np.cumsum(ends - starts)])
    index = np.searchsorted(starts, at, side="right")
    # the last interval that has begun may still be open at that instant
    last = np.maximum(index - 1, 0)
    open_part = np.where(index > 0, np.maximum(ends[last] - np.maximum(at, starts[last]), 0), 0)
    return np.asarray(done[index] - open_part, np.int64)


def summed(starts: npt.NDArray[Any], ends: npt.NDArray[Any], window: IntervalSet) -> int:
    """Return the total length of intervals that may overlap, cut to a window.

    Parameters
    ----------
    starts, ends : ndarray of int64
        Any intervals; negative lengths count as nothing.
    window : IntervalSet

    Returns
    -------
    int
    """
    last = np.maximum(ends, starts)
    return int((covered_before(window, last) - covered_before(window, starts)).sum())
