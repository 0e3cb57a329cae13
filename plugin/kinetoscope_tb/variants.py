"""One trace as it was recorded, and with fixes: each combination that somebody asks for is made when it is asked for."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kinetoscope.errors import ChoiceError
from kinetoscope.health.fixes import FIXES, available
from kinetoscope_tb.answers import JSON, Answers, Parameters, Reply
from kinetoscope_tb.encoding import encode
from kinetoscope_tb.problems import describe

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_MOST_FIXED = 2


class Variants:
    """Answers of a trace with any fixes; several threads may ask at once.

    Parameters
    ----------
    trace : Trace
        As it was recorded.
    file : str
        What the page calls the file.
    """

    def __init__(self, trace: Trace, file: str) -> None:
        self._trace = trace
        self._file = file
        self._available = available(trace)
        self._lock = threading.Lock()
        self._raw = self._make(())
        self._fixed: dict[tuple[str, ...], Answers] = {}

    def answer(self, route: str, parameters: Parameters) -> Reply:
        """Answer a request.

        Parameters
        ----------
        route : str
            One of the data routes of ``docs/wire.md``.
        parameters : dict
            Its parameters; ``fix`` is a list of the fixes to apply.

        Returns
        -------
        Reply
        """
        asked = parameters["fix"]
        unknown = next((name for name in asked if name not in FIXES), None)
        if unknown is not None:
            return Reply(400, JSON, encode({"error": describe(ChoiceError.of("fix", unknown, FIXES))}))
        return self._of(tuple(name for name in self._available if name in asked)).answer(route, parameters)

    def lay_out(self) -> None:
        """Prepare the timeline of the recording before anybody asks for it."""
        self._raw.lay_out()

    def _of(self, applied: tuple[str, ...]) -> Answers:
        """Return who answers with some fixes, which all change something; the last few are kept."""
        if not applied:
            return self._raw
        with self._lock:
            found = self._fixed.pop(applied, None) or self._make(applied)
            self._fixed[applied] = found
            if len(self._fixed) > _MOST_FIXED:
                del self._fixed[next(iter(self._fixed))]
            return found

    def _make(self, applied: tuple[str, ...]) -> Answers:
        trace = self._trace.fixed(*applied)
        counts = self._available.items()
        return Answers(
            trace,
            self._file,
            [{"fix": name, "events": int(events), "applied": name in applied} for name, events in counts],
        )
