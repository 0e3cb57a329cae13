"""Answers to the page's questions about one trace, as bytes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetoscope.errors import ChoiceError, KinetoscopeError, UnreadableError
from kinetoscope.timeline import Timeline
from kinetoscope.views import registry
from kinetoscope_tb.encoding import encode, exact
from kinetoscope_tb.info import Fix, info
from kinetoscope_tb.problems import describe
from kinetoscope_tb.tables import table

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

JSON = "application/json"
BINARY = "application/octet-stream"

Parameters = dict[str, Any]


class Reply(NamedTuple):
    """Status, type and bytes of an answer."""

    status: int
    content_type: str
    body: bytes


class Answers:
    """Answers of one trace; several threads may ask at once.

    Parameters
    ----------
    trace : Trace
    file : str
        What the page calls the file.
    fixes : list of Fix
        Fixes that would change the recording, and which of them this trace has.
    """

    def __init__(self, trace: Trace, file: str, fixes: list[Fix]) -> None:
        self._trace = trace
        self._lock = threading.Lock()
        self._laid_out: Timeline | None = None
        self._routes: dict[str, Callable[[Parameters], Any]] = {
            "view": self._view,
            "info": lambda _: info(trace, file, fixes),
            "lanes": lambda _: self._timeline.lanes(),
            "names": lambda _: {"names": self._timeline.names()},
            "tile": lambda given: self._timeline.tile(given["rows"], given["t0"], given["t1"], given["px"]),
            "longest": lambda given: self._timeline.longest(given["entry"], given["count"]),
            "event": self._event,
            "neighbor": lambda given: self._timeline.neighbor(given["id"], given["by"]),
            "search": lambda given: self._timeline.search(given["q"], given["limit"], exact=given["exact"]),
            "area": lambda given: self._timeline.area(given["rows"], given["t0"], given["t1"]),
            "path": lambda given: self._timeline.path(given["t0"], given["t1"], given["px"]),
            "minimap": lambda given: self._timeline.minimap(given["px"]),
        }

    def answer(self, route: str, parameters: Parameters) -> Reply:
        """Answer a request.

        Parameters
        ----------
        route : str
            One of the data routes of ``docs/wire.md``.
        parameters : dict
            Its parameters, checked and in their types, but for what only the trace can tell.

        Returns
        -------
        Reply
            Errors that are meant for people included.
        """
        try:
            found = self._routes[route](parameters)
        except KinetoscopeError as error:
            return Reply(_status(route, parameters, error), JSON, encode({"error": describe(error)}))
        if isinstance(found, bytes):
            return Reply(200, BINARY, found)
        return Reply(200, JSON, encode(found))

    def lay_out(self) -> None:
        """Prepare the timeline before anybody asks for it; whoever asks hears of an error, so it is of no interest here."""
        with contextlib.suppress(Exception):
            _ = self._timeline

    @property
    def _timeline(self) -> Timeline:
        """The trace laid out on rows, by whoever asks first."""
        with self._lock:
            if self._laid_out is None:
                timeline = Timeline(self._trace)
                timeline.lanes()
                self._laid_out = timeline
            return self._laid_out

    def _view(self, given: Parameters) -> dict[str, Any]:
        view = registry.get(given["view"])
        return table(self._trace, view, view.run(self._trace, **_asked(view, given["parameters"])))

    def _event(self, given: Parameters) -> dict[str, Any]:
        found = dict(self._timeline.event(given["id"]))
        found["args"] = exact(found["args"])
        return found


def _asked(view: registry.View, given: dict[str, str]) -> dict[str, str]:
    """Leave out empty values where they ask for nothing: a choice always has a value, and so does a time."""
    types = {parameter.name: parameter.type for parameter in view.parameters}
    return {
        name: value
        for name, value in given.items()
        if value != "" or types.get(name) not in ("token", "time", "amount")
    }


def _status(route: str, parameters: Parameters, error: KinetoscopeError) -> int:
    """Return the HTTP status of an error: 404 for what is not there, 400 for what cannot be asked, 409 for a file that has changed."""
    if isinstance(error, UnreadableError):
        return 409
    if not isinstance(error, ChoiceError):
        return 500
    missing = (
        parameters["view"] not in registry.views() if route == "view" else route in ("event", "longest", "neighbor")
    )
    return 404 if missing else 400
