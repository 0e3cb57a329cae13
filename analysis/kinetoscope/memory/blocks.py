"""Blocks of memory: which free belongs to which allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope.reading.arguments import MISSING

if TYPE_CHECKING:
    from kinetoscope.memory.events import MemoryEvents

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

STATES = ("freed", "open", "lost", "before recording")
"""What is known of a block's ends: both; it was never freed; its free was not recorded; its allocation came before the recording."""


@dataclass(frozen=True)
class Blocks:
    """Blocks by the place of their allocation; those from before the recording first.

    Parameters
    ----------
    allocation : ndarray of int64
        Position of the allocation among the memory events, -1 for a block from before the recording.
    free : ndarray of int64
        Position of the free, -1 where none was recorded.
    end : ndarray of int64
        Position of the event with which the block is over; the number of events for an open one.
    device, address, bytes : ndarray of int64
        Device as :class:`~kinetoscope.memory.events.MemoryEvents` numbers it.
    addressed : bool
        Whether any event has an address; without, there are no blocks.
    unmatched : ndarray of int64
        Positions of frees at an address that was free already.
    mismatched : int
        Blocks freed with another number of bytes than they were allocated with.
    """

    allocation: Index
    free: Index
    end: Index
    device: Index
    address: Index
    bytes: Index
    addressed: bool
    unmatched: Index
    mismatched: int
    events: int

    def __len__(self) -> int:
        return int(self.bytes.size)

    @property
    def open(self) -> Flags:
        """Which were not freed by the end of the recording."""
        return self.end == self.events

    @property
    def lost(self) -> Flags:
        """Which were over before their address was allocated again, nobody knows when."""
        return (self.free < 0) & ~self.open

    @property
    def state(self) -> npt.NDArray[np.int8]:
        """Index into :data:`STATES`."""
        found = np.zeros(len(self), np.int8)
        found[self.open], found[self.lost], found[self.allocation < 0] = 1, 2, 3
        return found

    def live(self, event: int, device: int) -> Index:
        """Return the blocks of a device that are live after an event; -1 for before the first."""
        return np.flatnonzero((self.device == device) & (self.allocation <= event) & (self.end > event))


def pair(events: MemoryEvents) -> Blocks:
    """Pair allocations with frees by device and address."""
    known = events.address != MISSING
    at = np.flatnonzero(known & (events.bytes != 0))
    at = at[np.lexsort((events.address[at], events.device[at]))]
    device, address, size = events.device[at], events.address[at], events.bytes[at]
    allocates = size > 0
    follows = np.zeros(at.size, bool)
    follows[1:] = (device[1:] == device[:-1]) & (address[1:] == address[:-1])
    after = np.append(follows[1:], False)
    closes = np.append(allocates[:-1] & ~allocates[1:] & follows[1:], False)[: at.size]
    following = np.append(at[1:], -1)[: at.size]
    count = len(events)
    begun = np.flatnonzero(allocates)
    earlier = np.flatnonzero(~allocates & ~follows)
    freed_again = follows & ~allocates & ~np.append(False, allocates[:-1])[: at.size]
    allocation = np.concatenate([np.full(earlier.size, -1, np.int64), at[begun]])
    free = np.concatenate([at[earlier], np.where(closes, following, -1)[begun]])
    end = np.concatenate([at[earlier], np.where(after, following, count)[begun]])
    chosen = np.concatenate([earlier, begun])
    order = np.lexsort((end, allocation))
    wrong = closes[:-1] & (size[:-1] != -size[1:]) if at.size else closes
    return Blocks(
        allocation[order],
        free[order],
        end[order],
        device[chosen][order],
        address[chosen][order],
        np.abs(size[chosen])[order],
        bool(known.any()),
        np.sort(at[freed_again]),
        int(wrong.sum()),
        count,
    )
