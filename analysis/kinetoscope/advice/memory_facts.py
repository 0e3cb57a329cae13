"""The facts about memory that advice weighs. Devices are never added up: the one where a fact is worst is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope.advice.unknown import UnknownError
from kinetoscope.memory import growth
from kinetoscope.naming import matching
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.memory.curve import Curve
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_LARGE_BLOCK = 1 << 20
"""Bytes from which on the host's allocator asks the system for memory of a block's own."""


def _curves(trace: Trace) -> list[Curve]:
    if not trace.memory.curves:
        raise UnknownError("no memory events were recorded (profile_memory=True)")
    return trace.memory.curves


def _steady(trace: Trace) -> tuple[int, Curve | None]:
    _curves(trace)
    if (~trace.steps_table.incomplete[1:]).sum() < 2:
        raise UnknownError("there are fewer than two complete steps after the first")
    return growth.steady_growth(trace)


def memory_growth_per_step_bytes(trace: Trace) -> float:
    """Least growth of the complete steps after the first, where all of them grow; of the device where it is largest."""
    return float(_steady(trace)[0])


def memory_growth_device(trace: Trace) -> str:
    """Device of that growth."""
    curve = _steady(trace)[1]
    return curve.device.name if curve else "none"


def memory_growth_op(trace: Trace) -> str:
    """Op whose blocks make most of that growth."""
    frame = trace.view("memory_growth", by="caller", device=memory_growth_device(trace))
    known = frame["caller"].dropna()
    return str(known.iloc[0]) if len(known) else "no known op"


def _unused(trace: Trace) -> tuple[int, int, str]:
    """Return unused reserved bytes, peak reserved bytes and name of the device where most is unused."""
    found = [
        (int(curve.reserved.max()) - int(curve.allocated.max()), int(curve.reserved.max()), curve.device.name)
        for curve in _curves(trace)
        if curve.reserved is not None and curve.recorded
    ]
    if not found:
        raise UnknownError("no reserved totals were recorded")
    return max(found)


def unused_reserved_bytes(trace: Trace) -> float:
    """Peak reserved − peak allocated, of the device where it is largest."""
    return float(_unused(trace)[0])


def unused_reserved_pct(trace: Trace) -> float:
    """That as a share of peak reserved."""
    unused, reserved, _ = _unused(trace)
    return 100.0 * unused / max(reserved, 1)


def unused_reserved_device(trace: Trace) -> str:
    """The device."""
    return _unused(trace)[2]


def _fullest(trace: Trace) -> tuple[float, str]:
    _curves(trace)
    frame = trace.view("memory").dropna(subset=["peak_pct"])
    if not len(frame):
        raise UnknownError("the file does not tell totals, or how much memory the device has")
    row = frame.loc[frame["peak_pct"].idxmax()]
    return float(row["peak_pct"]), str(row["device"])


def memory_peak_pct(trace: Trace) -> float:
    """Peak reserved, else allocated, as a share of the device's memory; of the fullest device."""
    return _fullest(trace)[0]


def memory_peak_device(trace: Trace) -> str:
    """The fullest device."""
    return _fullest(trace)[1]


def allocation_retries(trace: Trace) -> float:
    """Allocations within one op for which the caching allocator first gave memory back to the driver, and asked again."""
    columns = trace.columns
    calls = columns.timed & (columns.kind == CODE["api_call"])
    if not calls.any():
        raise UnknownError("no API calls were recorded")
    takes = matching(columns.names, "device_allocation_call")[columns.name]
    rows = np.flatnonzero(calls & (takes | matching(columns.names, "device_free_call")[columns.name]))
    op = trace.op_of_call[rows]
    rows, op = rows[op >= 0], op[op >= 0]
    order = np.lexsort((columns.start[rows], op))
    rows, op, taking = rows[order], op[order], takes[rows[order]]
    if not rows.size:
        return 0.0
    first = np.flatnonzero(np.append(True, op[1:] != op[:-1]))
    taken: Index = np.cumsum(taking) - taking
    earlier: Index = taken - np.repeat(taken[first], np.diff(np.append(first, op.size)))
    behind_free = np.append(False, ~taking[:-1])
    return float((taking & behind_free & (earlier > 0)).sum())


def host_churn_per_step_bytes(trace: Trace) -> float:
    """Blocks of the host's memory of at least 1 MiB that are allocated and freed within a step, per step after the first."""
    _curves(trace)
    memory, later = trace.memory, len(trace.steps_table) - 1
    if later < 1:
        raise UnknownError("there is no step after the first")
    if not memory.blocks.addressed:
        raise UnknownError("no addresses were recorded")
    host = np.array([one.host for one in memory.events.devices], bool)
    blocks = memory.blocks
    chosen = growth.churned(memory) & host[blocks.device] & (blocks.bytes >= _LARGE_BLOCK) & (memory.block_step > 0)
    return float(blocks.bytes[chosen].sum()) / later


FACTS: dict[str, Callable[[Trace], float | str]] = {
    function.__name__: function
    for function in (
        memory_growth_per_step_bytes,
        memory_growth_device,
        memory_growth_op,
        unused_reserved_bytes,
        unused_reserved_pct,
        unused_reserved_device,
        memory_peak_pct,
        memory_peak_device,
        allocation_retries,
        host_churn_per_step_bytes,
    )
}
