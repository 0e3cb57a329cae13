"""Blocks of memory, one by one: the largest, those of an op, those live in a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import ids, step_numbers, texts
from kinetoscope.health.finding import counted
from kinetoscope.memory.blocks import STATES
from kinetoscope.schema import Column
from kinetoscope.views.common import STEP, of_value, step_note, us
from kinetoscope.views.memory_keys import (
    DEVICE,
    DEVICE_COLUMN,
    KEY_COLUMNS,
    KEYS,
    codes_of_events,
    device_names,
    notes,
    values,
)
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_LARGEST = 10_000
_COLUMNS = (
    Column("id", "", "integer", "Event id of the allocation; missing for a block from before the recording."),
    DEVICE_COLUMN,
    Column("address", "", "text", "Address, in hexadecimal."),
    Column("bytes", "bytes", "integer", "Size."),
    Column("from_us", "µs", "number", "When it was allocated; missing when that was before the recording."),
    Column("to_us", "µs", "number", "When it was freed; missing when that is not known."),
    Column("lifetime_us", "µs", "number", "Time between; missing when one of them is."),
    Column(
        "state", "", "text", "freed, open (not freed by the end), lost (its free was not recorded), before recording."
    ),
    Column("step", "", "integer", "Step whose host range holds the allocation."),
    *KEY_COLUMNS,
    Column("op_id", "", "integer", "Event id of the innermost op at the allocation."),
)
_FILTERS = (
    DEVICE,
    STEP,
    Parameter("start_us", "time", "Only blocks that are live at this time or later."),
    Parameter("end_us", "time", "Only blocks that were allocated before this."),
    Parameter("min_bytes", "amount", "Only blocks of at least this size."),
    *(Parameter(key, "text", f"Only blocks whose {key} is exactly this.") for key in KEYS),
    Parameter("state", "text", "Only blocks of this state."),
    Parameter("largest", "amount", "The most rows: the largest blocks. The others are counted.", default=_LARGEST),
)


def allocations(trace: Trace, **filters: Any) -> pd.DataFrame:
    """List blocks.

    Parameters
    ----------
    trace : Trace
    **filters
        ``device, step, start_us, end_us, min_bytes, op, caller, module, source, annotation, phase, category, state``: only blocks that fit all
        that are given. ``largest``: the most rows.

    Returns
    -------
    pandas.DataFrame
        In order of allocation.
    """
    blocks = trace.memory.blocks
    told = notes(trace, blocks=True, device=filters.get("device")) + step_note(trace, filters.get("step"))
    chosen = _chosen(trace, filters)
    most = int(filters["largest"])
    if chosen.size > most:
        size = blocks.bytes[chosen]
        kept = np.sort(np.lexsort((chosen, -size))[:most])
        rest = int(size.sum()) - int(size[kept].sum())
        told.append(
            f"The {most:,} largest of {counted(chosen.size, 'block')} are shown; the others have {rest:,} bytes in all."
        )
        chosen = chosen[kept]
    frame = _frame(trace, chosen)
    frame.attrs["notes"] = told
    return frame


def _chosen(trace: Trace, filters: dict[str, Any]) -> Index:
    """Return the blocks that fit, in order of allocation."""
    blocks, events = trace.memory.blocks, trace.memory.events
    fits = np.ones(len(blocks), bool)
    if filters.get("device") is not None:
        fits &= of_value(pd.Series(device_names(trace, blocks.device)), filters["device"])
    if filters.get("min_bytes") is not None:
        fits &= blocks.bytes >= filters["min_bytes"]
    if filters.get("state") is not None:
        fits &= of_value(pd.Series(texts(blocks.state.astype(np.int32), list(STATES))), filters["state"])
    time = np.append(events.time, np.iinfo(np.int64).max)
    if filters.get("end_us") is not None:
        fits &= (blocks.allocation < 0) | (time[blocks.allocation] < round(filters["end_us"] * 1000))
    if filters.get("start_us") is not None:
        fits &= time[blocks.end] > round(filters["start_us"] * 1000)
    chosen = np.flatnonzero(fits)
    for key in ("step", *KEYS):
        if filters.get(key) is not None and chosen.size:
            codes = codes_of_events(trace, blocks.allocation[chosen], key)
            chosen = chosen[of_value(pd.Series(values(trace, codes, key)), filters[key])]
    return chosen


def _frame(trace: Trace, chosen: Index) -> pd.DataFrame:
    blocks, events = trace.memory.blocks, trace.memory.events
    begun, freed = blocks.allocation[chosen], blocks.free[chosen]
    row = np.append(events.row, -1)
    time = np.append(us(events.time), np.nan)
    who = {key: values(trace, codes_of_events(trace, begun, key), key) for key in KEYS}
    op = np.append(trace.memory.owners.op, -1)
    return pd.DataFrame(
        {
            "id": ids(trace, row[begun]),
            "device": device_names(trace, blocks.device[chosen]),
            "address": [f"0x{address % 2**64:x}" for address in blocks.address[chosen].tolist()],
            "bytes": blocks.bytes[chosen],
            "from_us": time[begun],
            "to_us": time[freed],
            "lifetime_us": us(_lengths(events.time, begun, freed)),
            "state": texts(blocks.state[chosen].astype(np.int32), list(STATES)),
            "step": step_numbers(trace, trace.memory.block_step[chosen]),
            **who,
            "op_id": ids(trace, op[begun]),
        }
    )


def _lengths(time: Index, begun: Index, freed: Index) -> npt.NDArray[np.float64]:
    """Return times between events in ns, NaN where one is missing."""
    known = (begun >= 0) & (freed >= 0)
    found = np.full(begun.size, np.nan)
    found[known] = time[freed[known]] - time[begun[known]]
    return found


VIEW = View("allocations", "Blocks of memory", allocations, _COLUMNS, _FILTERS)
