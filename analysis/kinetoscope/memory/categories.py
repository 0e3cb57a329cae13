"""What blocks are for, as far as the times and phases of their allocation and free tell. Rules: ``docs/definitions.md``, "Memory"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import copying
from kinetoscope.phases import PHASE, phase_of
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.memory.blocks import Blocks
    from kinetoscope.memory.events import MemoryEvents
    from kinetoscope.memory.owners import Owners

Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]

CATEGORIES = ("optimizer_state", "input", "temporary", "activation", "gradient", "unknown")
"""What a block can be told to be."""

CATEGORY = {name: code for code, name in enumerate(CATEGORIES)}


def of_blocks(trace: LinkedTrace, events: MemoryEvents, owners: Owners, blocks: Blocks) -> Codes:
    """Return the category of each block, as an index into :data:`CATEGORIES`."""
    found = np.full(len(blocks), CATEGORY["unknown"], np.int8)
    known = np.flatnonzero(blocks.allocation >= 0)
    if not known.size:
        return found
    at, end = blocks.allocation[known], blocks.end[known]
    phase, step, begun = owners.phase[at], owners.step[at], events.time[at]
    freed = blocks.free[known] >= 0
    over = np.where(end < len(events), events.time[np.minimum(end, len(events) - 1)], np.iinfo(np.int64).max)
    step_end = np.append(trace.steps_table.host_end, np.iinfo(np.int64).max)[step]
    forward, backward, optimizer = (phase == PHASE[name] for name in ("forward", "backward", "optimizer"))
    begins = {name: _beginnings(trace, PHASE[name]) for name in ("forward", "backward", "optimizer")}
    next_of = {name: _next(begins[name], begun) for name in begins}
    same_step = (step < 0) | (trace.steps_table.holding(next_of["backward"]) == step)
    rules: tuple[tuple[str, Flags], ...] = (
        ("input", (phase == PHASE["data"]) | _copied_from_host(trace, owners.op[at])),
        ("gradient", backward & (over > np.minimum(next_of["forward"], next_of["optimizer"]))),
        ("optimizer_state", optimizer & (over > np.minimum(next_of["forward"], next_of["backward"]))),
        ("gradient", backward & ~freed & (end == len(events))),
        ("optimizer_state", optimizer & ~freed & (end == len(events))),
        ("activation", forward & (next_of["backward"] < over) & same_step),
        ("temporary", backward | optimizer | (forward & freed & (over < step_end))),
        ("temporary", freed & (step >= 0) & (over < step_end)),
    )
    code = np.full(known.size, -1, np.int8)
    for name, fits in rules:
        code[(code < 0) & fits] = CATEGORY[name]
    found[known] = np.where(code >= 0, code, CATEGORY["unknown"])
    return found


def _beginnings(trace: LinkedTrace, phase: int) -> Index:
    """Return when work of a phase begins, sorted: events of the phase that lie in no other event of it."""
    host = trace.host
    of = phase_of(trace, host.rows)
    inside = (host.parent >= 0) & (of[np.maximum(host.parent, 0)] == phase) if of.size else np.zeros(0, bool)
    return np.sort(trace.columns.start[host.rows[(of == phase) & ~inside]])


def _next(begins: Index, time: Index) -> Index:
    """Return the first beginning after each instant; the largest number where there is none."""
    return np.append(begins, np.iinfo(np.int64).max)[np.searchsorted(begins, time, side="right")]


def _copied_from_host(trace: LinkedTrace, op: Index) -> Flags:
    """Tell which ops lie in an op that holds the launch of a copy from the host."""
    table = copying.build(trace)
    position = np.flatnonzero(np.isin(trace.work, table.row[table.direction == copying.DIRECTIONS.index("HtoD")]))
    copier = trace.op_of_work[position]
    above = trace.parent_row[copier[copier >= 0]]
    above = above[(above >= 0) & (trace.columns.kind[above] == CODE["op"])]
    own = np.where(op >= 0, trace.parent_row[np.maximum(op, 0)], -1) if len(trace) else op
    return np.isin(own, above)
