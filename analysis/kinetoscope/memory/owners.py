"""Who allocated and freed: op, caller, module, source line, phase and step of each memory event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope.idle.open_ranges import OpenRanges
from kinetoscope.naming import matching
from kinetoscope.phases import phase_of
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.memory.events import MemoryEvents

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Owners:
    """Who was at work at memory events: rows of the trace's columns, -1 for nobody.

    Parameters
    ----------
    op : ndarray of int64
        Innermost op.
    caller : ndarray of int64
        Innermost op that does not merely allocate, else the innermost.
    module, source, annotation : ndarray of int64
        As idle time is blamed on them (:class:`kinetoscope.idle.host_time.Blame`).
    phase : ndarray of int8
        Index into :data:`kinetoscope.phases.PHASES`.
    step : ndarray of int64
        Position of the step whose host range holds the event.
    """

    op: Index
    caller: Index
    module: Index
    source: Index
    annotation: Index
    phase: npt.NDArray[np.int8]
    step: Index


def of_events(trace: LinkedTrace, events: MemoryEvents) -> Owners:
    """Tell who was at work at each memory event."""
    columns = trace.columns
    rows = trace.host.rows
    op = columns.kind[rows] == CODE["op"]
    asks = op & ~matching(columns.names, "allocation_op")[columns.name[rows]]
    thread, time = events.thread, events.time
    blame = trace.host_time.blame(thread, time)
    caller = _ranges(trace, asks).at(thread, time)
    innermost = _ranges(trace, np.ones(rows.size, bool)).at(thread, time)
    return Owners(
        blame.op,
        np.where(caller >= 0, caller, blame.op),
        blame.module,
        blame.source,
        blame.annotation,
        phase_of(trace, innermost),
        trace.steps_table.holding(time).astype(np.int64),
    )


def _ranges(trace: LinkedTrace, chosen: Flags) -> OpenRanges:
    columns, rows = trace.columns, trace.host.rows[chosen]
    return OpenRanges(rows, columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows])
