"""How far reading has come, told to whoever wants to know."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_EVERY_S = 0.3

Stage = Literal["start", "read", "decode", "link", "done"]


@dataclass(frozen=True)
class Progress:
    """One report.

    Parameters
    ----------
    stage : {"start", "read", "decode", "link", "done"}
    bytes_done, bytes_total : int
        Of the stage: bytes of the file in ``read`` and ``decode``; of its JSON text in ``decode`` where it had to be mended.
    events : int
        Events decoded so far.
    """

    stage: Stage
    bytes_done: int = 0
    bytes_total: int = 0
    events: int = 0


Listener = Callable[[Progress], None]


class Pulse:
    """Says now and then that a stage goes on, when it takes long.

    Parameters
    ----------
    tell : callable
    report : Progress
        What is told.
    """

    def __init__(self, tell: Listener, report: Progress) -> None:
        self._tell, self._report, self._last = tell, report, time.monotonic()

    def beat(self) -> None:
        """Tell, if nothing was told for a while."""
        now = time.monotonic()
        if now - self._last >= _EVERY_S:
            self._last = now
            self._tell(self._report)


def ignore(_: Progress) -> None:
    """Listen to nothing."""
