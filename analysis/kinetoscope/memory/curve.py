"""How much memory each device held over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope.reading.arguments import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.memory.events import MemoryDevice, MemoryEvents

Index = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Curve:
    """Totals of one device after each of its events.

    Parameters
    ----------
    device : MemoryDevice
    event : ndarray of int64
        Positions of the device's events among all memory events.
    time : ndarray of int64
        ns; equal times are possible, the later entry holds.
    allocated : ndarray of int64
    reserved : ndarray of int64 or None
        None where nothing was recorded, or the device has no caching allocator; :data:`MISSING` before the first that was.
    before : int
        Allocated before the first event.
    recorded : bool
        Whether totals were recorded; else they are bytes added up from 0.
    jumps : int
        Recorded totals that do not follow from the one before and the event's bytes.
    """

    device: MemoryDevice
    event: Index
    time: Index
    allocated: Index
    reserved: Index | None
    before: int
    recorded: bool
    jumps: int

    @property
    def peak(self) -> int:
        """Entry at which the allocated total is largest for the first time."""
        return int(np.argmax(self.allocated))

    def entry(self, time: npt.ArrayLike, *, included: bool = True) -> Index:
        """Return the last entry up to each of some instants, or before it; -1 before the first."""
        side = "right" if included else "left"
        return np.searchsorted(self.time, np.asarray(time, np.int64), side=side).astype(np.int64) - 1  # type: ignore[call-overload]

    def level(self, entry: Index) -> Index:
        """Return what is allocated after some entries; -1 stands for before the first."""
        return np.where(entry >= 0, self.allocated[np.maximum(entry, 0)], self.before)

    def rises(self, start: Index, end: Index) -> Index:
        """Return the most that was allocated within ranges of time, above what was allocated when each began; bytes.

        Parameters
        ----------
        start, end : ndarray of int64
            ns; an event at the end itself is outside.

        Returns
        -------
        ndarray of int64
            0 where nothing rose.
        """
        first = self.entry(start, included=False)
        low, high = first + 1, np.maximum(self.entry(end, included=False), first) + 1
        found = np.zeros(low.size, np.int64)
        order = np.argsort(low, kind="stable")
        order = order[(high > low)[order]]
        if order.size:
            # every second answer is that of the time between a range and the next
            bounds = np.stack([low[order], high[order]], axis=1).ravel()
            most = np.maximum.reduceat(np.append(self.allocated, self.allocated[-1]), bounds)[::2]
            found[order] = np.maximum(most - self.level(first[order]), 0)
        return found


class Series(NamedTuple):
    """A counter for the timeline: the arguments of :func:`kinetoscope.timeline.counters.counter_lane`, in its order."""

    title: str
    unit: str
    times: Index
    values: npt.NDArray[np.float64]
    device: int | None


def curves(events: MemoryEvents) -> list[Curve]:
    """Return the curve of each device, in the order of ``events.devices``."""
    return [_curve(events, number) for number in range(len(events.devices))]


def _curve(events: MemoryEvents, number: int) -> Curve:
    at = np.flatnonzero(events.device == number)
    size, total = events.bytes[at], events.allocated[at]
    added = np.cumsum(size)
    known = total != MISSING
    entry = np.flatnonzero(known)
    allocated, jumps = added, 0
    if entry.size:
        # between recorded totals the bytes count on from the last one, before the first they count back
        last = np.maximum(np.searchsorted(entry, np.arange(at.size), side="right") - 1, 0)
        offset = total[entry] - added[entry]
        allocated = added + offset[last]
        jumps = int(np.count_nonzero(np.diff(offset)))
    before = int(allocated[0] - size[0])
    return Curve(
        events.devices[number],
        at,
        events.time[at],
        allocated,
        _reserved(events.reserved[at]),
        before,
        bool(entry.size),
        jumps,
    )


def _reserved(recorded: Index) -> Index | None:
    entry = np.flatnonzero(recorded != MISSING)
    if not entry.size or not recorded[entry].any():
        return None
    last = np.searchsorted(entry, np.arange(recorded.size), side="right") - 1
    return np.where(last >= 0, recorded[entry[np.maximum(last, 0)]], MISSING)


def thinned(time: Index, tracks: Sequence[Index], points: int) -> Index:
    """Choose samples that show the shape of values over time: of each stretch the first, the last, and the extremes of each value.

    Parameters
    ----------
    time : ndarray of int64
        Ascending.
    tracks : sequence of ndarray of int64
        Values at those times.
    points : int
        The most to return, at least two and two for each track.

    Returns
    -------
    ndarray of int64
        Positions in order; all of them where they are few enough.
    """
    size, each = time.size, 2 + 2 * len(tracks)
    if size <= max(points, each):
        return np.arange(size, dtype=np.int64)
    count = max(points // each, 1)
    edges = time[0] + ((time[-1] - time[0]) / count * np.arange(count)).astype(np.int64)
    heads = np.unique(np.searchsorted(time, edges, side="left"))
    tails = np.append(heads[1:], size) - 1
    chosen = [heads, tails]
    for values in tracks:
        chosen += [_extreme(values, heads, tails, np.minimum), _extreme(values, heads, tails, np.maximum)]
    return np.unique(np.concatenate(chosen))


def _extreme(values: Index, heads: Index, tails: Index, ufunc: np.ufunc) -> Index:
    """Return where each stretch first has its least or most."""
    extreme = ufunc.reduceat(values, heads)
    hits = np.flatnonzero(values == np.repeat(extreme, tails - heads + 1))
    return hits[np.searchsorted(hits, heads)]


def series(trace: LinkedTrace) -> list[Series]:
    """Return allocated and reserved bytes of each device over time, as counters for the timeline.

    Parameters
    ----------
    trace : LinkedTrace

    Returns
    -------
    list of Series
        Title, unit, times in ns (ascending; of equal ones the last holds), values, and number of the device that the lane belongs to: None for
        the host's memory. Empty where no memory was recorded; such a trace is not read again.
    """
    found = []
    for curve in trace.memory.curves:
        device = None if curve.device.host or curve.device.index < 0 else curve.device.index
        found.append(
            Series(f"Allocated, {curve.device.name}", "bytes", curve.time, curve.allocated.astype(np.float64), device)
        )
        if curve.reserved is not None:
            values = np.where(curve.reserved == MISSING, np.nan, curve.reserved.astype(np.float64))
            found.append(Series(f"Reserved, {curve.device.name}", "bytes", curve.time, values, device))
    return found
