"""The device side of a trace: which work is communication, and what each device was busy with when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, schema
from kinetoscope.naming import matching
from kinetoscope.reading.columns import Columns

Index = npt.NDArray[np.int64]


def communication(columns: Columns, work: Index, op_of_work: Index) -> npt.NDArray[np.bool_]:
    """Tell which device work is communication.

    A kernel that carries a collective's name, whose owning op is a collective, or whose own name says so (``data/names.json``).

    Parameters
    ----------
    columns : Columns
    work : ndarray of int64
        Rows of device work.
    op_of_work : ndarray of int64
        Row of the owning op of each, -1 for none.

    Returns
    -------
    ndarray of bool
    """
    if work.size == 0:
        return np.zeros(0, bool)
    kernel_name = matching(columns.names, "collective_kernel")
    op_name = matching(columns.names, "collective_op")
    by_op = (op_of_work >= 0) & op_name[columns.name[np.maximum(op_of_work, 0)]]
    kernel = columns.kind[work] == schema.CODE["kernel"]
    return np.asarray(kernel & (columns.collective[work] | by_op | kernel_name[columns.name[work]]))


def properties(metadata: dict[str, Any], device: int) -> dict[str, Any]:
    """Return what a file says of a device, by its id; empty when it says nothing.

    ROCm numbers the devices of events and those that it describes differently. Where no description has the number, and all are alike but for theirs,
    one is as good as another.

    Parameters
    ----------
    metadata : dict
        What the file says beside its events.
    device : int

    Returns
    -------
    dict
    """
    listed = metadata.get("deviceProperties")
    if not isinstance(listed, list):
        return {}
    known = [entry for entry in listed if isinstance(entry, dict)]
    found = next((entry for entry in known if entry.get("id") == device), None)
    if found is not None or not known:
        return found or {}
    first, *others = ({name: value for name, value in entry.items() if name != "id"} for entry in known)
    return first if all(other == first for other in others) else {}


@dataclass(frozen=True)
class Device:
    """What one device did over the whole recording.

    Parameters
    ----------
    device : int
        Number as recorded.
    rows : ndarray of int64
        Rows of its work, by start.
    start, end : ndarray of int64
        Of that work, ns.
    kernel, collective : ndarray of bool
        Which of it is a kernel, and which of those is communication.
    """

    device: int
    rows: Index
    start: Index
    end: Index
    kernel: npt.NDArray[np.bool_]
    collective: npt.NDArray[np.bool_]

    @cached_property
    def busy(self) -> intervals.IntervalSet:
        """Union of all work."""
        return intervals.union(self.start, self.end)

    @cached_property
    def compute(self) -> intervals.IntervalSet:
        """Union of the kernels that compute."""
        chosen = self.kernel & ~self.collective
        return intervals.union(self.start[chosen], self.end[chosen])

    @cached_property
    def communication(self) -> intervals.IntervalSet:
        """Union of the communication kernels."""
        return intervals.union(self.start[self.collective], self.end[self.collective])

    @cached_property
    def kernels(self) -> intervals.IntervalSet:
        """Union of all kernels."""
        return intervals.union(self.start[self.kernel], self.end[self.kernel])


def build(columns: Columns, work: Index, collective: npt.NDArray[np.bool_]) -> list[Device]:
    """Split device work by device.

    Parameters
    ----------
    columns : Columns
    work : ndarray of int64
        Rows of device work, by device and start.
    collective : ndarray of bool
        Which of it is communication.

    Returns
    -------
    list of Device
        By device number.
    """
    numbers = columns.device[work]
    kernel = columns.kind[work] == schema.CODE["kernel"]
    start, end = columns.start[work], columns.end[work]
    found, first = np.unique(numbers, return_index=True)
    bounds = np.append(first, work.size)
    parts = (slice(bounds[i], bounds[i + 1]) for i in range(found.size))
    return [
        Device(int(number), work[part], start[part], end[part], kernel[part], collective[part])
        for number, part in zip(found.tolist(), parts, strict=True)
    ]
