"""Who launched what: pure algorithms on arrays.

The rules are those of ``docs/definitions.md``, "Who launched what". All results are positions in the caller's arrays, -1 for none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]


def first_by_key(keys: Index, rank: Index, wanted: Index, valid: npt.NDArray[np.bool_]) -> Index:
    """For each wanted key, find the entry of that key with the least rank.

    Parameters
    ----------
    keys, rank : ndarray of int64
        Of the entries to choose from.
    wanted : ndarray of int64
        Keys to look up.
    valid : ndarray of bool
        Which of the wanted keys may join at all.

    Returns
    -------
    ndarray of int64
        Positions among the entries; -1 where no entry has the key.
    """
    if keys.size == 0:
        return np.full(wanted.size, -1, np.int64)
    order = np.lexsort((rank, keys))
    ordered = keys[order]
    at = np.minimum(np.searchsorted(ordered, wanted), ordered.size - 1)
    return np.where(valid & (ordered[at] == wanted), order[at], -1)


def last_by_key_before(keys: Index, rank: Index, wanted: Index, before: Index) -> Index:
    """For each wanted key, find the entry of that key with the greatest rank below a limit.

    Parameters
    ----------
    keys, rank : ndarray of int64
        Of the entries to choose from.
    wanted, before : ndarray of int64
        Key, and the limit that the entry's rank must be below.

    Returns
    -------
    ndarray of int64
        Positions among the entries; -1 where none fits.
    """
    if keys.size == 0 or wanted.size == 0:
        return np.full(wanted.size, -1, np.int64)
    # sort entries and limits together: a limit comes before an entry of the same rank
    both_key = np.concatenate([keys, wanted])
    both_rank = np.concatenate([rank, before])
    query = np.concatenate([np.zeros(keys.size, np.int8), np.ones(wanted.size, np.int8)])
    order = np.lexsort((1 - query, both_rank, both_key))
    place = np.where(query[order] == 0, np.arange(order.size), -1)
    last = np.maximum.accumulate(place)
    found = np.full(wanted.size, -1, np.int64)
    asked = query[order] == 1
    entry = np.where(last[asked] >= 0, order[np.maximum(last[asked], 0)], -1)
    found[order[asked] - keys.size] = entry
    right = (found >= 0) & (keys[np.maximum(found, 0)] == wanted)
    return np.where(right, found, -1)


def count_of(owner: Index, size: int) -> Index:
    """Count how often each position is an owner.

    Parameters
    ----------
    owner : ndarray of int64
        Positions, -1 for none.
    size : int
        How many positions there are.

    Returns
    -------
    ndarray of int64
    """
    return np.bincount(owner[owner >= 0], minlength=size).astype(np.int64)


def present(known: tuple[Index, ...], wanted: tuple[Index, ...]) -> npt.NDArray[np.bool_]:
    """Tell which wanted keys of several parts are among the known ones.

    Parameters
    ----------
    known, wanted : tuple of ndarray of int64
        The parts of the keys: as many arrays on both sides.

    Returns
    -------
    ndarray of bool
        One per wanted key.
    """
    size = known[0].size
    code = np.zeros(size + wanted[0].size, np.int64)
    for one, other in zip(known, wanted, strict=True):
        part = np.unique(np.concatenate([one, other]), return_inverse=True)[1]
        # numbered anew after each part, so that the codes stay below the square of the count
        code = np.unique(code * (part.max(initial=0) + 1) + part, return_inverse=True)[1]
    return np.isin(code[size:], code[:size])
