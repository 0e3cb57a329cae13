"""Counters that a trace's events make: queue depth, utilization, SM efficiency and memory of each device over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, launching
from kinetoscope.device_figures import fill_level
from kinetoscope.memory import curve
from kinetoscope.timeline.counters import Counter, counter_lane

if TYPE_CHECKING:
    from kinetoscope.devices import Device
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_PARTS = 4_000
"""Parts of the recording that utilization and SM efficiency are means of."""
_SHORTEST_NS = 10_000


def counters(trace: Trace) -> list[Counter]:
    """Return the counters of all devices.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    list of Counter
        By device: utilization and SM efficiency, as means over parts of the recording, and queue depth; then memory, where it was recorded.
    """
    found = []
    for device in trace.devices:
        edges = _edges(trace)
        if edges.size > 1:
            found.append(_utilization(device, edges))
            found += _efficiency(trace, device, edges)
        depth = launching.queue_depth(trace, device.device)
        if depth.time.size:
            found.append(counter_lane("Queue depth", "works", depth.time, depth.value, device.device))
    return found + [counter_lane(*one) for one in curve.series(trace)]


def _edges(trace: Trace) -> Index:
    """Return where the parts begin and end."""
    columns = trace.columns
    end = int(max(columns.end[columns.timed].max(initial=0), 0))
    step = max(_SHORTEST_NS, -(-end // _PARTS))
    return np.arange(0, end + step, step, dtype=np.int64)


def _utilization(device: Device, edges: Index) -> Counter:
    share = np.diff(intervals.covered_before(device.busy, edges)) / np.diff(edges)
    return _means("Utilization", 100.0 * share, edges, device)


def _efficiency(trace: Trace, device: Device, edges: Index) -> list[Counter]:
    time, level = fill_level(trace, device)
    if not time.size:
        return []
    # the integral up to each change, then up to each edge
    done = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(time))])
    at = np.clip(np.searchsorted(time, edges, side="right") - 1, 0, time.size - 1)
    integral = done[at] + level[at] * np.clip(edges - time[at], 0, None)
    return [_means("SM efficiency", 100.0 * np.diff(integral) / np.diff(edges), edges, device)]


def _means(title: str, values: npt.NDArray[np.float64], edges: Index, device: Device) -> Counter:
    return counter_lane(title, "%", edges, np.append(np.round(values, 3), np.nan), device.device)
