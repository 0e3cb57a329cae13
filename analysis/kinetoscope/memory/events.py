"""Memory events of a trace as arrays, by time and file order. Definitions: ``docs/definitions.md``, "Memory"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import schema
from kinetoscope.reading.arguments import MISSING

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.reading.arguments import Kind

Index = npt.NDArray[np.int64]

_ARGUMENTS: dict[str, Kind] = {
    "Device Type": "integer",
    "Device Id": "integer",
    "Bytes": "integer",
    "Addr": "integer",
    "Total Allocated": "integer",
    "Total Reserved": "integer",
}


@dataclass(frozen=True)
class MemoryDevice:
    """A device as memory events tell of it.

    Parameters
    ----------
    type, index : int
        ``Device Type`` and ``Device Id`` as recorded.
    name : str
        As torch names it: ``cpu``, ``cuda:0``.
    host : bool
        Whether it is the host's own memory.
    """

    type: int
    index: int
    name: str
    host: bool


@dataclass(frozen=True)
class MemoryEvents:
    """Allocations and frees, by time and file order; :data:`~kinetoscope.reading.arguments.MISSING` for what an event does not say.

    Parameters
    ----------
    row : ndarray of int64
        Rows of the trace's columns.
    time, thread : ndarray of int64
        ns from the trace's origin, and number of the host thread.
    device : ndarray of int64
        Index into ``devices``.
    bytes : ndarray of int64
        Above 0 for an allocation, below 0 for a free.
    address, allocated, reserved : ndarray of int64
        Where, and the device's totals after the event.
    devices : tuple of MemoryDevice
        The host's own memory last.
    unusable : int
        Events left out because they do not say how many bytes, or on which device.
    out_of_memory : ndarray of int64
        Rows of events that tell of an allocation that failed.
    """

    row: Index
    time: Index
    thread: Index
    device: Index
    bytes: Index
    address: Index
    allocated: Index
    reserved: Index
    devices: tuple[MemoryDevice, ...]
    unusable: int
    out_of_memory: Index

    def __len__(self) -> int:
        return int(self.row.size)


def read(trace: LinkedTrace) -> MemoryEvents:
    """Read the memory events of a trace."""
    columns = trace.columns
    code = {name: number for number, name in enumerate(columns.names) if name in ("[memory]", "[OutOfMemory]")}
    memory = columns.kind == schema.CODE["memory"]
    failed = np.flatnonzero(memory & (columns.name == code.get("[OutOfMemory]", -1)))
    rows = np.flatnonzero(memory & (columns.name == code.get("[memory]", -1)))
    if not rows.size:
        none = rows
        return MemoryEvents(none, none, none, none, none, none, none, none, (), 0, failed)
    values = trace.arguments.of(rows, _ARGUMENTS)
    usable = (values["Bytes"] != MISSING) & (values["Device Type"] != MISSING)
    at = np.flatnonzero(usable)
    at = at[np.argsort(columns.start[rows[at]], kind="stable")]
    devices, device = _devices(values["Device Type"][at], values["Device Id"][at])
    row = rows[at]
    size, address, allocated, reserved = (
        values[name][at] for name in ("Bytes", "Addr", "Total Allocated", "Total Reserved")
    )
    thread = columns.thread[row].astype(np.int64)
    return MemoryEvents(
        row,
        columns.start[row],
        thread,
        device,
        size,
        address,
        allocated,
        reserved,
        devices,
        int(rows.size - at.size),
        failed,
    )


def _devices(kind: Index, number: Index) -> tuple[tuple[MemoryDevice, ...], Index]:
    """Return the devices that occur, the host's memory last, and which of them each event is of."""
    import pandas as pd

    # a handful of devices: hashing finds them in a tenth of the time that sorting does
    kinds, types = pd.factorize(kind)
    numbers, indices = pd.factorize(np.where(number == MISSING, -1, number))
    inverse, pairs = pd.factorize(kinds * max(len(indices), 1) + numbers)
    found = [_device(int(types[pair // len(indices)]), int(indices[pair % len(indices)])) for pair in pairs.tolist()]
    order = sorted(range(len(found)), key=lambda i: (found[i].host, found[i].type, found[i].index))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return tuple(found[i] for i in order), place[inverse]


def _device(kind: int, number: int) -> MemoryDevice:
    table = schema.table("device_types")
    known: list[str] = table["types"]
    name = known[kind] if 0 <= kind < len(known) else f"type {kind}"
    return MemoryDevice(kind, number, name if number < 0 else f"{name}:{number}", name in table["host"])
