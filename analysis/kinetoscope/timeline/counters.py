"""Counter lanes: a value over time, as steps. A tile keeps the least and the most of each bucket, so that no peak is lost at any zoom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Counter:
    """A value that holds from each of some instants until the next; build one with :func:`counter_lane`.

    Parameters
    ----------
    title : str
    unit : str
        What it counts, such as ``"bytes"``; ``""`` for a bare number.
    time : ndarray of int64
        ns from the trace's origin, ascending, none twice.
    value : ndarray of float64
        From each time on; NaN where it is not known.
    device : int or None
        The device it belongs to: its lane stands below that device's.
    """

    title: str
    unit: str
    time: Index
    value: Values
    device: int | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Least and most value; None where no value is known."""
        known = self.value[~np.isnan(self.value)]
        return (float(known.min()), float(known.max())) if known.size else None


@dataclass(frozen=True)
class Points:
    """Where the picture of a counter changes; each holds until the next.

    Parameters
    ----------
    start : ndarray of int64
        ns.
    low, high : ndarray of float64
        Least and most from here on; equal unless changes were merged; NaN where nothing is known.
    changes : ndarray of int64
        How many changes it stands for: 1, more where they were merged, 0 where a value merely goes on.
    """

    start: Index
    low: Values
    high: Values
    changes: Index


def counter_lane(
    title: str, unit: str, times: npt.ArrayLike, values: npt.ArrayLike, device: int | None = None
) -> Counter:
    """Return a counter from samples in any order.

    Parameters
    ----------
    title, unit : str
    times : array_like of int
        ns from the trace's origin. Of several samples at one time the last given counts.
    values : array_like of float
        The value from each time on. What is not finite is not known.
    device : int, optional

    Returns
    -------
    Counter

    Raises
    ------
    ValueError
        When there are more times than values, or fewer.
    """
    time, value = np.asarray(times, np.int64), np.asarray(values, np.float64)
    if time.shape != value.shape or time.ndim != 1:
        raise ValueError(f"{title}: {time.size} times for {value.size} values")
    order = np.argsort(time, kind="stable")
    time, value = time[order], np.where(np.isfinite(value[order]), value[order], np.nan)
    last = np.append(time[1:] != time[:-1], True)[: time.size]
    return Counter(title, unit, time[last], value[last], device)


def cut(counter: Counter, window: tuple[int, int], quantum: float) -> Points:
    """Return what of a counter is seen in a window.

    Parameters
    ----------
    counter : Counter
    window : tuple of int
        ``[start, end)`` in ns.
    quantum : float
        Width of a bucket, ns: several changes in one become its least and most value.

    Returns
    -------
    Points
    """
    low, high = np.searchsorted(counter.time, window, side="left").tolist()
    time, value = counter.time[low:high], counter.value[low:high]
    before = counter.value[low - 1] if low else np.nan
    carried = Points(*(np.array([one]) for one in (window[0], before, before, 0)))
    if not time.size:
        return carried if low else _nothing()
    bucket = np.floor(time / quantum)
    heads = np.flatnonzero(np.append(True, bucket[1:] != bucket[:-1]))
    changes = np.diff(np.append(heads, time.size))
    held = np.append(before, value[:-1])[heads]
    many = changes > 1
    least, most = np.fmin.reduceat(value, heads), np.fmax.reduceat(value, heads)
    begin = np.where(many, np.maximum(np.floor(bucket[heads] * quantum), window[0]), time[heads]).astype(np.int64)
    # a merged bucket shows the value it began with too, as far as one was known
    seen = Points(
        begin, np.where(many, np.fmin(least, held), least), np.where(many, np.fmax(most, held), most), changes
    )
    last = value[np.append(heads[1:], time.size) - 1]
    stop = np.ceil((bucket[heads] + 1) * quantum).astype(np.int64)
    rest = many & (np.append(begin[1:], window[1]) > stop)
    after = Points(stop[rest], last[rest], last[rest], np.zeros(int(rest.sum()), np.int64))
    return _in_order(carried, seen, after) if low and begin[0] > window[0] else _in_order(seen, after)


def _nothing() -> Points:
    none = np.empty(0, np.float64)
    return Points(np.empty(0, np.int64), none, none, np.empty(0, np.int64))


def _in_order(*parts: Points) -> Points:
    start, low, high, changes = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "low", "high", "changes")
    )
    order = np.argsort(start, kind="stable")
    return Points(start[order], low[order], high[order], changes[order])
