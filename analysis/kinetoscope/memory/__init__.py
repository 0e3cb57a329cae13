"""Memory of a trace: curves of each device, blocks, who allocated them and what they are for.

Definitions: ``docs/definitions.md``, "Memory". Everything comes from the ``[memory]`` events that ``profile_memory=True`` records.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope.memory import blocks, categories, curve, events, growth, owners
from kinetoscope.reading import memory_timeline

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]


class Memory:
    """Memory of a trace, each part computed when it is first asked for.

    Parameters
    ----------
    trace : LinkedTrace
    """

    def __init__(self, trace: LinkedTrace) -> None:
        self.trace = trace

    @cached_property
    def events(self) -> events.MemoryEvents:
        """Allocations and frees, by time; the file is read once for them."""
        return events.read(self.trace)

    @cached_property
    def curves(self) -> list[curve.Curve]:
        """Totals of each device over time."""
        return curve.curves(self.events)

    @cached_property
    def blocks(self) -> blocks.Blocks:
        """Blocks, where addresses were recorded."""
        return blocks.pair(self.events)

    @cached_property
    def owners(self) -> owners.Owners:
        """Who was at work at each event."""
        return owners.of_events(self.trace, self.events)

    @cached_property
    def category(self) -> npt.NDArray[np.int8]:
        """Category of each block, as an index into :data:`~kinetoscope.memory.categories.CATEGORIES`."""
        return categories.of_blocks(self.trace, self.events, self.owners, self.blocks)

    @cached_property
    def block_step(self) -> Index:
        """Position of the step that allocated each block, -1 for none."""
        at = self.blocks.allocation
        return np.where(at >= 0, self.owners.step[np.maximum(at, 0)], -1) if len(self.events) else at

    @cached_property
    def block_of_event(self) -> Index:
        """Position of the block that each event begins or frees, -1 for none."""
        found = np.full(len(self.events), -1, np.int64)
        for at in (self.blocks.allocation, self.blocks.free):
            known = np.flatnonzero(at >= 0)
            found[at[known]] = known
        return found

    @cached_property
    def by_category(self) -> npt.NDArray[np.int64]:
        """Bytes of known blocks of each category after each event of the event's own device; shape categories × events.

        What the total holds beyond them is counted as unknown, so that a column sums to the device's total exactly.
        """
        size, rest = len(self.events), categories.CATEGORY["unknown"]
        found = np.zeros((len(categories.CATEGORIES), size), np.int64)
        for code in range(len(categories.CATEGORIES)):
            own = np.flatnonzero((self.category == code) & (self.blocks.allocation >= 0))
            delta = np.zeros(size + 1, np.int64)
            delta[self.blocks.allocation[own]] = self.blocks.bytes[own]
            # the event that ends a lost block begins another one
            np.subtract.at(delta, self.blocks.end[own], self.blocks.bytes[own])
            for one in self.curves:
                found[code, one.event] = np.cumsum(delta[:size][one.event])
        for one in self.curves:
            found[rest, one.event] += one.allocated - found[:, one.event].sum(axis=0)
        return found

    @cached_property
    def beside(self) -> memory_timeline.Beside:
        """Files about memory in the folder of the trace's own."""
        trace: Trace = self.trace  # type: ignore[assignment]
        return memory_timeline.beside(trace.source.path) if trace.fingerprint else memory_timeline.Beside([], [])


__all__ = ["Memory", "blocks", "categories", "curve", "events", "growth", "owners"]
