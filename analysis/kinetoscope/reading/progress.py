"""How far reading has come, told to whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["start", "read", "decode", "link", "done"]


@dataclass(frozen=True)
class Progress:
    """One report.

    Parameters
    ----------
    stage : {"start", "read", "decode", "link", "done"}
    bytes_done, bytes_total : int
        Of the stage: bytes of the file in ``read``, bytes of JSON text in ``decode``.
    events : int
        Events decoded so far.
    """

    stage: Stage
    bytes_done: int = 0
    bytes_total: int = 0
    events: int = 0


Listener = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """Listen to nothing."""
