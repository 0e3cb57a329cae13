"""Figures of a device that come from how its kernels were launched, and from their names: SM efficiency, occupancy, matrix units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, tensor_cores
from kinetoscope.devices import properties

if TYPE_CHECKING:
    from kinetoscope.devices import Device
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

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


def occupancy_of(trace: Trace, rows: Index) -> tuple[npt.NDArray[np.float64], Flags]:
    """Return the recorded estimate of achieved occupancy of kernels, and of which it is unknown.

    A recorded 0 with more shared memory than the device's default limit is unknown, not 0, and so is what is no percentage. Where nothing is recorded it is missing, and not counted
    as unknown.

    Parameters
    ----------
    trace : Trace
    rows : ndarray of int64
        Rows of kernels.

    Returns
    -------
    occupancy : ndarray of float64
        %; NaN where it is unknown or missing.
    unknown : ndarray of bool
    """
    columns = trace.columns
    occupancy, shared = columns.details["occupancy"][rows], columns.details["shared_memory"][rows]
    limit = np.full(rows.size, _DEFAULT_SHARED_MEMORY, np.int64)
    for device in np.unique(columns.device[rows]).tolist():
        own = properties(trace.metadata, device).get("sharedMemPerBlock", _DEFAULT_SHARED_MEMORY)
        if isinstance(own, int):
            limit[columns.device[rows] == device] = min(own, 2**62)
    unknown = np.asarray(((occupancy == 0) & (shared > limit)) | (occupancy < 0) | (occupancy > 100))
    return np.where(unknown | ~np.isfinite(occupancy), np.nan, occupancy), unknown


def occupancy_pct(trace: Trace, device: Device) -> tuple[float, int]:
    """Return the achieved occupancy that the recorder estimated, weighted by kernel time, and of how many kernels it is unknown.

    Parameters
    ----------
    trace : Trace
    device : Device

    Returns
    -------
    float
        %; NaN when no kernel of the window has the figure.
    int
    """
    occupancy, unknown = occupancy_of(trace, device.rows[device.kernel])
    length = _kernel_time(trace, device)
    known = np.isfinite(occupancy)
    total = length[known].sum()
    mean = float((occupancy[known] * length[known]).sum() / total) if total else float("nan")
    return mean, int((unknown & (length > 0)).sum())


def tensor_cores_pct(trace: Trace, device: Device) -> float:
    """Return the part of the device's kernel time in the window in kernels that use the matrix units.

    Parameters
    ----------
    trace : Trace
    device : Device

    Returns
    -------
    float
        % of the time of kernels of which the name tells; NaN when it tells of none.
    """
    used = tensor_cores.used(trace, device.rows[device.kernel])
    length = _kernel_time(trace, device)
    told = length[used != tensor_cores.UNKNOWN].sum()
    return float(100.0 * length[used == tensor_cores.YES].sum() / told) if told else float("nan")


def _kernel_time(trace: Trace, device: Device) -> Index:
    """Return how much of each kernel of a device lies in the window, ns."""
    start, end = device.start[device.kernel], device.end[device.kernel]
    return intervals.covered_before(trace.window, end) - intervals.covered_before(trace.window, start)
