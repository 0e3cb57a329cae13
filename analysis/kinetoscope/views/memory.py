"""Memory of each device: peaks, what is left at the end, growth by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kinetoscope.devices import properties
from kinetoscope.memory import growth
from kinetoscope.reading.values import integer
from kinetoscope.schema import Column
from kinetoscope.views.common import pct
from kinetoscope.views.memory_keys import DEVICE_COLUMN, notes
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.memory.curve import Curve
    from kinetoscope.trace import Trace

_COLUMNS = (
    DEVICE_COLUMN,
    Column("peak_allocated_bytes", "bytes", "integer", "The most that was allocated."),
    Column("peak_us", "µs", "number", "When it was first reached, from the trace's origin."),
    Column(
        "peak_reserved_bytes",
        "bytes",
        "integer",
        "The most that the caching allocator held; missing where there is none.",
    ),
    Column(
        "unused_reserved_bytes", "bytes", "integer", "Peak reserved − peak allocated: what even the peak left unused."
    ),
    Column("capacity_bytes", "bytes", "integer", "Memory of the device, as far as the file says."),
    Column(
        "peak_pct",
        "%",
        "number",
        "Peak reserved, else allocated, as a part of it; missing where totals were not recorded.",
    ),
    Column("start_allocated_bytes", "bytes", "integer", "Allocated before the first event."),
    Column("end_allocated_bytes", "bytes", "integer", "Allocated after the last event."),
    Column("allocations", "", "integer", "Allocations recorded."),
    Column("frees", "", "integer", "Frees recorded."),
    Column("open_blocks", "", "integer", "Blocks that were not freed; missing where no addresses were recorded."),
    Column("open_bytes", "bytes", "integer", "Bytes of those."),
    Column("steps", "", "integer", "Steps."),
    Column(
        "growth_bytes_per_step",
        "bytes",
        "number",
        "Live at the end of a step's host range − the same of the step before: mean over the steps after the first.",
    ),
    Column(
        "unmatched_frees",
        "",
        "integer",
        "Frees at an address that was free already, left out of blocks; missing where no addresses were recorded.",
    ),
    Column(
        "jumps",
        "",
        "integer",
        "Recorded totals that do not follow from the event before: threads overtook each other, or events are missing.",
    ),
    Column("recorded_totals", "", "boolean", "Whether totals were recorded; else bytes are added up from 0."),
)


def memory(trace: Trace) -> pd.DataFrame:
    """Measure the memory of each device; devices are never added up.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per device that memory events tell of, the host's memory last.
    """
    rows = [_row(trace, number, curve) for number, curve in enumerate(trace.memory.curves)]
    frame = pd.DataFrame(rows, columns=[column.name for column in _COLUMNS])
    for column in _COLUMNS:
        if column.type == "integer":
            frame[column.name] = frame[column.name].astype("Int64")
    frame.attrs["notes"] = notes(trace, blocks=True)
    return frame


def _row(trace: Trace, number: int, curve: Curve) -> dict[str, Any]:
    size = trace.memory.events.bytes[curve.event]
    blocks = trace.memory.blocks
    left = blocks.open & (blocks.device == number)
    peak, capacity = int(curve.allocated[curve.peak]), capacity_of(trace, curve)
    reserved = None if curve.reserved is None else int(curve.reserved.max())
    grown = growth.levels(trace, curve).growth[1:]
    return {
        "device": curve.device.name,
        "peak_allocated_bytes": peak,
        "peak_us": int(curve.time[curve.peak]) / 1000,
        "peak_reserved_bytes": reserved,
        "unused_reserved_bytes": None if reserved is None else reserved - peak,
        "capacity_bytes": capacity,
        # bytes added up from 0 leave out what was there before
        "peak_pct": float(pct(peak if reserved is None else reserved, capacity or 0)) if curve.recorded else np.nan,
        "start_allocated_bytes": curve.before,
        "end_allocated_bytes": int(curve.allocated[-1]),
        "allocations": int((size > 0).sum()),
        "frees": int((size < 0).sum()),
        "open_blocks": int(left.sum()) if blocks.addressed else None,
        "open_bytes": int(blocks.bytes[left].sum()) if blocks.addressed else None,
        "steps": len(trace.steps_table),
        "growth_bytes_per_step": float(grown.mean()) if grown.size else np.nan,
        "unmatched_frees": int((trace.memory.events.device[blocks.unmatched] == number).sum())
        if blocks.addressed
        else None,
        "jumps": curve.jumps,
        "recorded_totals": curve.recorded,
    }


def capacity_of(trace: Trace, curve: Curve) -> int | None:
    """Return how much memory a device has, in bytes; None where the file does not say, and for the host."""
    if curve.device.host or curve.device.index < 0:
        return None
    found = integer(properties(trace.metadata, curve.device.index).get("totalGlobalMem"))
    return found if found > 0 else None


VIEW = View("memory", "Memory, per device", memory, _COLUMNS)
