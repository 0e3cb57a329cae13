"""Whose time it is: at every instant a thread's time belongs to the range that started last among the open ones.

Of nested ranges that is the innermost; of ranges that cross, the later one, so that none is counted twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting

Index = npt.NDArray[np.int64]


class Pieces(NamedTuple):
    """Stretches of threads' time that each belong to one range.

    Parameters
    ----------
    owner : ndarray of int64
        Position of the range.
    start, end : ndarray of int64
        ns; pieces of one thread do not overlap.
    """

    owner: Index
    start: Index
    end: Index


def pieces(thread: Index, start: Index, end: Index) -> Pieces:
    """Cut the time of threads by whose it is.

    Parameters
    ----------
    thread, start, end : ndarray of int64
        Of ranges in nesting order (:func:`kinetoscope.nesting.order`).

    Returns
    -------
    Pieces
        By thread and time. The pieces of a thread tile the time in which a range is open.
    """
    real = np.flatnonzero(end > start)
    thread, start, end = thread[real], start[real], end[real]
    size = real.size
    if not size:
        return Pieces(real, start, end)
    # what is open behind an end: of what began until then, the last that ends later
    order = np.lexsort((end, thread))
    ending, at = thread[order], end[order]
    nearest = np.empty(size, np.int64)
    found, first = np.unique(thread, return_index=True)
    bounds = np.append(first, size)
    for i in range(found.size):
        low, high = int(bounds[i]), int(bounds[i + 1])
        nearest[low:high] = low + np.searchsorted(start[low:high], at[low:high], side="right") - 1
    behind = nesting.enclosing(end, nesting.parents(thread, end), nearest, at + 1)
    owner = np.concatenate([np.arange(size), behind])
    where, when = np.concatenate([thread, ending]), np.concatenate([start, at])
    # of several at one instant the last is right: starts come in order, and an end finds what began there by itself
    order = np.lexsort((when, where))
    owner, where, when = owner[order], where[order], when[order]
    last = np.ones(owner.size, bool)
    last[:-1] = (when[1:] != when[:-1]) | (where[1:] != where[:-1])
    owner, where, when = owner[last], where[last], when[last]
    until = np.append(when[1:], 0)
    held = owner >= 0
    held[:-1] &= where[1:] == where[:-1]
    held[-1] = False
    return Pieces(real[owner[held]], when[held], until[held])


def subtree_sums(parent: Index, values: Index) -> Index:
    """Add up each range's value and those of all ranges below it.

    Parameters
    ----------
    parent : ndarray of int64
        Position of the parent of each range, -1 for roots, in any order.
    values : ndarray of int64

    Returns
    -------
    ndarray of int64
    """
    total = values.astype(np.int64, copy=True)
    depth = nesting.depths(parent)
    order = np.argsort(depth, kind="stable")
    bounds = np.searchsorted(depth[order], np.arange(depth.max(initial=0) + 2))
    for level in range(int(depth.max(initial=0)), 0, -1):
        rows = order[bounds[level] : bounds[level + 1]]
        np.add.at(total, parent[rows], total[rows])
    return total


def outermost(group: Index, thread: Index, end: Index) -> npt.NDArray[np.bool_]:
    """Tell which ranges lie in no other range of their own group.

    Parameters
    ----------
    group : ndarray of int64
        Number of the group of each range, 0 and up.
    thread, end : ndarray of int64
        Of ranges in nesting order.

    Returns
    -------
    ndarray of bool
    """
    threads = np.unique(thread, return_inverse=True)[1].ravel()
    lane = group * (threads.max(initial=0) + 1) + threads
    order = np.argsort(lane, kind="stable")
    free = np.empty(group.size, bool)
    free[order] = nesting.parents(lane[order], end[order]) < 0
    return free
