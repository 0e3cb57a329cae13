"""Figures of a device that come from how its kernels were launched: SM efficiency and achieved occupancy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals
from kinetoscope.devices import properties

if TYPE_CHECKING:
    from kinetoscope.devices import Device
    from kinetoscope.trace import Trace

_DEFAULT_SHARED_MEMORY = 49152


def sm_efficiency_pct(trace: Trace, device: Device) -> float:
    """Return how well the running kernels could fill the device.

    Parameters
    ----------
    trace : Trace
    device : Device

    Returns
    -------
    float
        Integral over the window of min(1, Σ blocks per SM of the kernels running) / window, in %; NaN when no kernel has the figure.
    """
    time, level = fill_level(trace, device)
    length = intervals.measure(trace.window)
    if not time.size or not length:
        return float("nan")
    inside = intervals.covered_before(trace.window, time)
    return float(100.0 * (level[:-1] * np.diff(inside)).sum() / length)


def fill_level(trace: Trace, device: Device) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return how full the device is over time: min(1, Σ blocks per SM of the kernels running).

    Parameters
    ----------
    trace : Trace
    device : Device

    Returns
    -------
    time : ndarray of int64
        Instants in order, ns; empty when no kernel has the figure.
    level : ndarray of float64
        From each instant on.
    """
    blocks = trace.columns.details["blocks_per_sm"][device.rows]
    chosen = device.kernel & np.isfinite(blocks) & (blocks > 0)
    start, end, weight = device.start[chosen], device.end[chosen], blocks[chosen]
    # counted in millionths, so that adding and taking away leaves exactly nothing
    units = np.rint(weight * 1e6).astype(np.int64)
    at = np.concatenate([start, end])
    order = np.argsort(at, kind="stable")
    level = np.cumsum(np.concatenate([units, -units])[order])
    return at[order], np.minimum(level, 1_000_000) / 1e6


def occupancy_pct(trace: Trace, device: Device) -> float:
    """Return the achieved occupancy that the recorder estimated, weighted by kernel time.

    A recorded 0 with more shared memory than the device's default limit is unknown, not 0; missing stays missing.

    Parameters
    ----------
    trace : Trace
    device : Device

    Returns
    -------
    float
        %; NaN when no kernel of the window has the figure.
    """
    details = trace.columns.details
    occupancy, shared = details["occupancy"][device.rows], details["shared_memory"][device.rows]
    limit = properties(trace.metadata, device.device).get("sharedMemPerBlock", _DEFAULT_SHARED_MEMORY)
    unknown = (occupancy == 0) & (shared > (limit if isinstance(limit, int) else _DEFAULT_SHARED_MEMORY))
    chosen = device.kernel & np.isfinite(occupancy) & ~unknown
    start, end = device.start[chosen], device.end[chosen]
    length = intervals.covered_before(trace.window, end) - intervals.covered_before(trace.window, start)
    total = length.sum()
    return float((occupancy[chosen] * length).sum() / total) if total else float("nan")
