"""Copies of a trace as arrays: direction, kind of host memory, bytes, and what of them computing hid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, schema

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]

DIRECTIONS = ("HtoD", "DtoH", "DtoD", "PtoP", "HtoH", "other")
MEMORIES = ("pageable", "pinned")


@dataclass(frozen=True)
class Copies:
    """Copies by device and start, one entry each.

    Parameters
    ----------
    row : ndarray of int64
        Row of the device work.
    direction : ndarray of int32
        Index into :data:`DIRECTIONS`.
    memory : ndarray of int32
        Index into :data:`MEMORIES`; -1 where no host memory takes part, or its kind is not told.
    bytes : ndarray of int64
        -1 where not recorded.
    step : ndarray of int64
        Position of the step that launched it, -1 for none.
    """

    row: Index
    direction: npt.NDArray[np.int32]
    memory: npt.NDArray[np.int32]
    bytes: Index
    step: Index


def build(trace: LinkedTrace) -> Copies:
    """Find the copies of a trace; memory sets are none."""
    columns = trace.columns
    chosen = columns.kind[trace.work] == schema.CODE["memcpy"]
    row = trace.work[chosen]
    used, code = np.unique(columns.name[row], return_inverse=True)
    told = [_of_name(columns.names[name]) for name in used.tolist()]
    direction, memory = np.array(told, np.int32).reshape(-1, 2)[code.ravel()].T
    return Copies(row, direction, memory, columns.details["bytes"][row], trace.step_of_work[chosen])


def _of_name(name: str) -> tuple[int, int]:
    """Return the direction and the host memory that a copy's name tells."""
    found = schema.pattern("copy_direction").search(name)
    words = schema.pattern("copy_direction_words").search(name)
    short = found.group(1) if found else "to".join(word[0] for word in words.groups()) if words else ""
    known = {direction.lower(): place for place, direction in enumerate(DIRECTIONS)}
    direction = known.get(short.lower(), len(DIRECTIONS) - 1)
    ends = schema.pattern("copy_memory").search(name)
    told = [end.lower() for end in ends.groups()] if ends else []
    return direction, next((place for place, kind in enumerate(MEMORIES) if kind in told), -1)


def hidden(trace: LinkedTrace, table: Copies) -> Index:
    """Return how long a kernel ran on the device during each copy, ns."""
    columns = trace.columns
    start, end = columns.start[table.row], np.maximum(columns.end[table.row], columns.start[table.row])
    covered = np.zeros(table.row.size, np.int64)
    for device in trace.devices:
        own = columns.device[table.row] == device.device
        inside = intervals.covered_before(device.kernels, end[own])
        covered[own] = inside - intervals.covered_before(device.kernels, start[own])
    return covered
