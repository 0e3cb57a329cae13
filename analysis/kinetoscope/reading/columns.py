"""The columns of a trace's events, one row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope.reading.kept import Kept

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

_ARRAYS = frozenset(
    (
        *("id", "kind", "category", "name", "thread", "start", "duration", "timed", "complete", "unfinished"),
        *("device", "stream", "correlation", "external_id", "sequence_number", "forward_thread", "collective"),
    )
)


class Account(NamedTuple):
    """What became of some of the file's events.

    Parameters
    ----------
    what : str
        The events: phase and category.
    reason : str
        What they are kept as, or why they are left out.
    events : int
        How many.
    kept : bool
    """

    what: str
    reason: str
    events: int
    kept: bool


class Thread(NamedTuple):
    """A row of the recording: a host thread, or a device's stream as the file has it."""

    pid: str
    tid: int
    process_name: str
    name: str


@dataclass(frozen=True)
class Flows:
    """Ends of forward–backward flows: ``start`` marks the forward end."""

    flow: Ints
    thread: Codes
    time: Ints
    start: Flags


@dataclass(frozen=True)
class Columns:
    """Columns of the kept events, one row each, in file order. Times in ns from ``origin_ns``; -1 is "none" for ids and codes.

    ``correlation`` is 0 where there is none. ``kind`` holds codes of :data:`kinetoscope.schema.KINDS`; ``category`` and ``name`` index
    ``categories`` and ``names``; ``thread`` indexes ``threads``. ``kept`` has further arguments of a few kinds of event.
    """

    id: Ints
    kind: npt.NDArray[np.int8]
    category: Codes
    name: Codes
    thread: Codes
    start: Ints
    duration: Ints
    timed: Flags
    complete: Flags
    unfinished: Flags
    device: Ints
    stream: Ints
    correlation: Ints
    external_id: Ints
    sequence_number: Ints
    forward_thread: Ints
    collective: Flags
    details: Mapping[str, npt.NDArray[Any]]
    shapes: dict[str, list[str]]
    extras: list[str]
    categories: list[str]
    names: list[str]
    threads: list[Thread]
    flows: Flows
    origin_ns: int
    accounts: list[Account]
    kept: Mapping[str, Kept] = field(default_factory=dict)

    @cached_property
    def end(self) -> Ints:
        """Ends of the events, ns."""
        end = self.start + self.duration
        end.flags.writeable = False
        return end

    @classmethod
    def lazy(cls, ready: dict[str, Any], read: Callable[[str], npt.NDArray[Any]]) -> Columns:
        """Return columns of which those that are not ready are read when they are first used.

        Parameters
        ----------
        ready : dict
            Attributes that are there already.
        read : callable
            Returns the array of an attribute.

        Returns
        -------
        Columns
        """
        made = object.__new__(cls)
        made.__dict__.update(ready, _read=read)
        return made

    def __getattr__(self, name: str) -> Any:
        read = self.__dict__.get("_read")
        if read is None or name not in _ARRAYS:
            raise AttributeError(name)
        values = read(name)
        values.flags.writeable = False
        self.__dict__[name] = values
        return values

    def __len__(self) -> int:
        return int(self.id.size)
