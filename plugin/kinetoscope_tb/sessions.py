"""Opened traces: each in a worker of its own, a few at a time."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kinetoscope_tb.client import Answer, Worker
from kinetoscope_tb.messages import Head
from kinetoscope_tb.problems import Problem, describe, refuse

if TYPE_CHECKING:
    from kinetoscope.reading.storage import Fingerprint
    from kinetoscope_tb.catalog import Catalog, Entry

logger = logging.getLogger("kinetoscope")

State = Literal["queued", "loading", "ready", "failed", "cancelled"]

_MAX_OPEN = 4
_TIMEOUT_S = 120.0
_LOOK_S = 1.0


def max_open() -> int:
    """Return how many traces may be open at once: ``KINETOSCOPE_MAX_OPEN``, 4 by default."""
    given = os.environ.get("KINETOSCOPE_MAX_OPEN", "")
    return max(1, int(given)) if given.isdecimal() else _MAX_OPEN


@dataclass
class Session:
    """One trace that somebody has asked for."""

    entry: Entry
    state: State = "queued"
    stage: str = "start"
    bytes_done: int = 0
    bytes_total: int = 0
    events: int = 0
    began: float = field(default_factory=time.monotonic)
    finished: float | None = None
    used: float = field(default_factory=time.monotonic)
    worker: Worker | None = None
    error: Problem | None = None
    info: bytes | None = None
    fingerprint: tuple[int, int, int] | None = None
    looked: float = 0.0
    changed: bool = False

    @property
    def elapsed_ms(self) -> int:
        """Time from the request to the end of loading, or to now."""
        return round(1000 * ((self.finished or time.monotonic()) - self.began))

    def report(self) -> dict[str, Any]:
        """Return ``Session`` of ``docs/wire.md``."""
        return {
            "state": self.state,
            "stage": self.stage,
            "bytes_done": self.bytes_done,
            "bytes_total": self.bytes_total,
            "events": self.events,
            "elapsed_ms": self.elapsed_ms,
            "changed": self.changed,
            "error": self.error,
            "info": msgspec.Raw(self.info) if self.info is not None else None,
        }

    def end(self, state: State, error: Problem | None = None) -> Worker | None:
        """Leave the worker, which the caller has to close, and stay in a last state."""
        worker, self.worker = self.worker, None
        self.state, self.error, self.finished = state, error, time.monotonic()
        return worker


class Sessions:
    """The traces that are open.

    Parameters
    ----------
    catalog : Catalog
    limit : int
        Traces open at once; the one that was not used for longest is closed for a new one.
    timeout_s : float
        The longest that an answer may take.
    """

    def __init__(self, catalog: Catalog, limit: int | None = None, timeout_s: float = _TIMEOUT_S) -> None:
        self._catalog = catalog
        self._limit = max_open() if limit is None else limit
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {}
        self._spare: Worker | None = None
        self._closed = False
        atexit.register(self.close)

    def report(self, trace: str) -> dict[str, Any]:
        """Return how far a trace is; open it when nobody has yet.

        Parameters
        ----------
        trace : str
            Its id.

        Returns
        -------
        dict
            ``Session`` of ``docs/wire.md``.

        Raises
        ------
        Refusal
            When there is no such trace.
        """
        with self._lock:
            session = self._sessions.get(trace)
        if session is None:
            entry = self._entry(trace)
            with self._lock:
                session = self._sessions.setdefault(trace, Session(entry))
        self._look(session)
        with self._lock:
            session.used = time.monotonic()
            self._start_queued()
            return session.report()

    def ask(self, trace: str, route: str, parameters: dict[str, Any]) -> Answer:
        """Ask an open trace.

        Parameters
        ----------
        trace : str
        route : str
        parameters : dict

        Returns
        -------
        Answer

        Raises
        ------
        Refusal
            When the trace is unknown or not open, or the answer takes too long.
        """
        with self._lock:
            session = self._sessions.get(trace)
            worker = session.worker if session and session.state == "ready" else None
            if session:
                session.used = time.monotonic()
        if worker is None:
            self._entry(trace)
            now = session.state if session else "not open"
            raise refuse(
                409,
                "not-loaded",
                f"The trace is not loaded (it is {now}).",
                "Ask for its session first, and wait until it is ready.",
            )
        return worker.ask(route, parameters, self._timeout_s)

    def cancel(self, trace: str) -> None:
        """Stop loading a trace; one that is loaded stays so."""
        with self._lock:
            session = self._sessions.get(trace)
            if session and session.state in ("queued", "loading"):
                self._end(session, "cancelled")
        if session is None:
            self._entry(trace)

    def reload(self, trace: str) -> None:
        """Forget a trace and load it again as it is now."""
        entry = self._entry(trace)
        with self._lock:
            old = self._sessions.pop(trace, None)
            self._sessions[trace] = Session(entry)
            if old:
                self._end(old, "cancelled")
            self._start_queued()

    def warm(self) -> None:
        """Have a worker ready that has imported everything, so that opening a trace is quick."""
        with self._lock:
            if self._closed or (self._spare and self._spare.alive):
                return
            try:
                self._spare = Worker()
            except OSError as error:
                logger.warning("no worker could be started: %s", error)

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._closed = True
            workers = [self._spare, *(session.end("cancelled") for session in self._sessions.values())]
            self._spare = None
        running = [worker for worker in workers if worker]
        for worker in running:
            worker.close()
        for worker in running:
            worker.join()
        atexit.unregister(self.close)

    def _entry(self, trace: str) -> Entry:
        entry = self._catalog.find(trace)
        if entry is None:
            with self._lock:
                session = self._sessions.get(trace)
            entry = session.entry if session else None
        if entry is None:
            raise refuse(
                404,
                "unknown-trace",
                "There is no such trace in the log folder.",
                "Choose one from the list; it may have been moved or deleted.",
            )
        return entry

    # --- all that follows is called with the lock held, except where said otherwise ---------------------------------------------------

    def _start_queued(self) -> None:
        """Start what waits, as far as there is room."""
        if self._closed:
            return
        for session in [one for one in self._sessions.values() if one.state == "queued"]:
            if not self._make_room():
                return
            self._start(session)

    def _make_room(self) -> bool:
        """Close the loaded trace that was not used for longest where too many are open; tell whether there is room."""
        held = {trace: one for trace, one in self._sessions.items() if one.worker}
        if len(held) < self._limit:
            return True
        idle = [trace for trace, one in held.items() if one.state == "ready"]
        if not idle:
            return False
        oldest = min(idle, key=lambda trace: held[trace].used)
        self._end(self._sessions.pop(oldest), "cancelled")
        return True

    def _start(self, session: Session) -> None:
        try:
            worker = self._spare if self._spare and self._spare.alive else Worker()
        except OSError as error:
            self._end(session, "failed", describe(error))
            return
        self._spare = None
        session.worker, session.state = worker, "loading"
        worker.open(
            session.entry,
            lambda head, body: self._heard(session, worker, head, body),
            lambda: self._died(session, worker),
        )

    def _end(self, session: Session, state: State, error: Problem | None = None) -> None:
        worker = session.end(state, error)
        if worker:
            worker.close()

    # --- called by the worker's reading thread ----------------------------------------------------------------------------------------

    def _heard(self, session: Session, worker: Worker, head: Head, body: bytes) -> None:
        """Take a report about loading."""
        with self._lock:
            if session.worker is not worker:
                return
            if head["say"] == "progress":
                session.stage, session.events = head["stage"], max(session.events, head["events"])
                session.bytes_done, session.bytes_total = head["bytes_done"], head["bytes_total"]
            elif head["say"] == "failed":
                self._end(session, "failed", head["problem"])
            elif head["say"] == "ready":
                session.state, session.stage, session.finished = "ready", "done", time.monotonic()
                session.info, session.fingerprint = body, tuple(head["fingerprint"])
                session.events = head["events"]
            if head["say"] != "progress":
                self._start_queued()
        if head["say"] == "ready":
            self.warm()  # for the next trace; only now, so that it does not take the processor from this one

    def _died(self, session: Session, worker: Worker) -> None:
        """Take note that a worker is gone."""
        with self._lock:
            if session.worker is not worker:
                return
            session.end("failed", worker.obituary(session.entry.file))
            logger.warning(
                "the worker of %s ended: %s", session.entry.file, session.error["message"] if session.error else ""
            )
            self._start_queued()

    # --- called without the lock --------------------------------------------------------------------------------------------------------

    def _look(self, session: Session) -> None:
        """See whether the file is still the one that was loaded, at most once a second."""
        with self._lock:
            due = session.state == "ready" and time.monotonic() - session.looked > _LOOK_S
            if due:
                session.looked = time.monotonic()
        if due:
            now = _fingerprint(session.entry.path)
            session.changed = now is None or (now.bytes, now.modified_ns, now.inode) != session.fingerprint


def _fingerprint(path: str) -> Fingerprint | None:
    from kinetoscope.errors import UnreadableError
    from kinetoscope.reading.storage import Fingerprint

    try:
        return Fingerprint.of(path)
    except UnreadableError:
        return None
