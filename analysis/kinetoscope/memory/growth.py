"""Memory and steps: what is live at their ends, which blocks make it grow, which come and go within one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.memory import Memory
    from kinetoscope.memory.curve import Curve

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class StepLevels:
    """Memory of one device by step; bytes.

    Parameters
    ----------
    live : ndarray of int64
        Allocated at the end of the step's host range.
    growth : ndarray of int64
        That − the same of the step before; of the first step, − what was allocated at its start.
    peak : ndarray of int64
        The most allocated within the host range.
    peak_time : ndarray of int64
        When that was first reached, ns; the start of the range where it was reached before.
    allocated, freed : ndarray of int64
        Bytes of the events in the host range.
    """

    live: Index
    growth: Index
    peak: Index
    peak_time: Index
    allocated: Index
    freed: Index


def levels(trace: LinkedTrace, curve: Curve) -> StepLevels:
    """Measure one device's memory by step."""
    steps = trace.steps_table
    first, last = (curve.entry(time, included=False) for time in (steps.host_start, steps.host_end))
    live, start = curve.level(last), curve.level(first)
    growth = live - np.concatenate([start[:1], live[:-1]])
    peak, peak_time = start.copy(), steps.host_start.copy()
    for i, (low, high) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):  # a handful of steps
        inside = curve.allocated[low + 1 : high + 1]
        if inside.size and inside.max() > peak[i]:
            peak[i], peak_time[i] = inside.max(), curve.time[low + 1 + int(np.argmax(inside))]
    size = trace.memory.events.bytes[curve.event]
    taken, given = (np.concatenate([[0], np.cumsum(np.maximum(part, 0))]) for part in (size, -size))
    return StepLevels(
        live,
        growth,
        peak,
        peak_time,
        (taken[last + 1] - taken[first + 1]).astype(np.int64),
        (given[last + 1] - given[first + 1]).astype(np.int64),
    )


def step_ends(memory: Memory, blocks: Index) -> tuple[Index, Index]:
    """Return at which steps' ends blocks are live: those from one position up to before another."""
    ends = np.searchsorted(memory.events.time, memory.trace.steps_table.host_end, side="left")
    table = memory.blocks
    low = np.searchsorted(ends, table.allocation[blocks], side="right")
    high = np.searchsorted(ends, table.end[blocks], side="right")
    return low.astype(np.int64), high.astype(np.int64)


def outliving(memory: Memory) -> Flags:
    """Tell which blocks were allocated in a step and are live at the end of its host range."""
    low, high = step_ends(memory, np.arange(len(memory.blocks)))
    step = memory.block_step
    return (step >= 0) & (low <= step) & (step < high)


def churned(memory: Memory) -> Flags:
    """Tell which blocks were allocated and freed within one step's host range."""
    blocks = memory.blocks
    both = np.flatnonzero((blocks.allocation >= 0) & (blocks.free >= 0))
    found = np.zeros(len(blocks), bool)
    begun = memory.owners.step[blocks.allocation[both]]
    found[both] = (begun >= 0) & (begun == memory.owners.step[blocks.free[both]])
    return found


def growth_by(memory: Memory, device: int, codes: Index, count: int) -> tuple[Index, Index]:
    """Share out the growth of a device's steps among the blocks behind it.

    Parameters
    ----------
    memory : Memory
    device : int
        Index of the device.
    codes : ndarray of int64
        What each block is counted under, from 0.
    count : int
        How many codes there are.

    Returns
    -------
    growth, blocks : ndarray of int64
        By code and step after the first: bytes and blocks that are live at its end and were not at that of the step before, less those that
        were and are no longer.
    """
    own = np.flatnonzero(memory.blocks.device == device)
    low, high = step_ends(memory, own)
    steps = len(memory.trace.steps_table)
    growth, number = np.zeros((count, steps + 1), np.int64), np.zeros((count, steps + 1), np.int64)
    lasts = low < high
    own, low, high = own[lasts], low[lasts], high[lasts]
    size = memory.blocks.bytes[own]
    np.add.at(growth, (codes[own], low), size)
    np.add.at(growth, (codes[own], high), -size)
    np.add.at(number, (codes[own], low), 1)
    np.add.at(number, (codes[own], high), -1)
    return growth[:, 1:steps], number[:, 1:steps]


def steady_growth(trace: LinkedTrace) -> tuple[int, Curve | None]:
    """Return the least growth of the complete steps after the first, of the device where it is largest, and that device's curve.

    Returns
    -------
    bytes : int
        0 where no device grows in each of at least two such steps.
    curve : Curve or None
    """
    best: tuple[int, Curve | None] = (0, None)
    complete = ~trace.steps_table.incomplete[1:]
    for curve in trace.memory.curves:
        growth = levels(trace, curve).growth[1:][complete]
        least = int(growth.min()) if growth.size > 1 else 0
        best = (least, curve) if least > best[0] else best
    return best
