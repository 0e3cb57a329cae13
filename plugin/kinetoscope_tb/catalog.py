"""Which traces there are: looked for in the background, listed at once.

Links to folders and files inside the log folder are followed on purpose: whoever may write there may also copy a trace there. What a request
names is an id, and ids stand only for files that were found; no text of a request becomes part of a path.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kinetoscope_tb.locations import Root
from kinetoscope_tb.problems import Problem, describe, problem

if TYPE_CHECKING:
    from kinetoscope.job import Job
    from kinetoscope.reading.discover import Problem as LeftOut

logger = logging.getLogger("kinetoscope")

_MOST_PROBLEMS = 200
_LOOK_AGAIN_S = 5.0


@dataclass(frozen=True)
class Entry:
    """A trace that was found: what a worker needs to open it, and what the page calls it."""

    trace: str
    path: str
    run: str
    rank: int | None
    span: str
    worker: str
    ranks_found: int
    file: str


@dataclass
class _Listing:
    """What one look at the folders gave."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, str]] = field(default_factory=list)
    folders: int = 0
    entries: dict[str, Entry] = field(default_factory=dict)


class Catalog:
    """The traces below some folders.

    Nothing is looked for before somebody asks, and nobody who asks waits.

    Parameters
    ----------
    roots : list of Root
    shown : str
        The log folder as people know it.
    """

    def __init__(self, roots: list[Root], shown: str) -> None:
        self._roots = roots
        self._shown = shown
        self._lock = threading.Lock()
        self._listing = _Listing()
        self._state = "new"
        self._again = False
        self._generation = 0
        self._error: Problem | None = None
        self._finished = 0.0
        self._first = threading.Event()

    @property
    def active(self) -> bool:
        """Tell whether the tab has something to show, or may have.

        Starts looking when nobody has yet, and looks again from time to time while nothing was found; never waits.
        """
        with self._lock:
            stale = time.monotonic() - self._finished > _LOOK_AGAIN_S
            if self._state == "new" or (stale and not self._listing.entries and self._state != "scanning"):
                self._start()
            return bool(self._listing.entries) or not self._first.is_set()

    def listing(self, *, refresh: bool = False) -> dict[str, Any]:
        """Return ``Runs`` of ``docs/wire.md`` as far as it is known.

        Parameters
        ----------
        refresh : bool
            Look at the folders again.
        """
        with self._lock:
            if refresh or self._state == "new":
                self._start()
            found = self._listing
            return {
                "state": self._state,
                "logdir": self._shown,
                "folders": found.folders,
                "generation": self._generation,
                "runs": found.runs,
                "problems": found.problems,
                "error": self._error,
            }

    def find(self, trace: str, wait_s: float = 5.0) -> Entry | None:
        """Return the trace of an id, or None.

        Parameters
        ----------
        trace : str
        wait_s : float
            How long to wait where the folders have not been looked at yet: a page may outlive the TensorBoard that it came from.
        """
        with self._lock:
            if self._state == "new":
                self._start()
        self._first.wait(wait_s)
        with self._lock:
            return self._listing.entries.get(trace)

    def _start(self) -> None:
        """Look, or once more after the look that is under way; called with the lock held."""
        if self._state == "scanning":
            self._again = True
            return
        self._state = "scanning"
        threading.Thread(target=self._scan, name="kinetoscope-catalog", daemon=True).start()

    def _scan(self) -> None:
        while True:
            try:
                listing, error = _look(self._roots)
            except Exception as unexpected:
                logger.exception("looking for traces failed")
                listing, error = _Listing(), describe(unexpected)
            with self._lock:
                if listing.entries != self._listing.entries or (error is None) != (self._error is None):
                    self._generation += 1
                self._listing, self._error = listing, error
                self._finished = time.monotonic()
                self._first.set()
                if not self._again:
                    self._state = "failed" if error else "ready"
                    return
                self._again = False


def _look(roots: list[Root]) -> tuple[_Listing, Problem | None]:
    """Look into all folders; an error of one is a problem, of all of them the answer."""
    from kinetoscope import open_logdir
    from kinetoscope.errors import KinetoscopeError

    if not roots:
        return _Listing(), problem(
            "no-logdir",
            "TensorBoard was started without a log folder.",
            "Start it with --logdir and the folder that holds the traces.",
        )
    listing = _Listing()
    errors: list[Problem] = []
    for root in roots:
        try:
            _add(listing, root, open_logdir(root.path))
        except KinetoscopeError as error:
            errors.append(describe(error))
    if len(errors) == len(roots):
        return listing, errors[0]
    listing.problems[:0] = [{"file": one["where"], "code": one["code"], "message": one["message"]} for one in errors]
    left_out = len(listing.problems) - _MOST_PROBLEMS
    if left_out > 0:
        listing.problems[_MOST_PROBLEMS:] = [
            {"file": "", "code": "more", "message": f"and {left_out:,} more files that are no traces"}
        ]
    return listing, None


def _add(listing: _Listing, root: Root, job: Job) -> None:
    """Add what one folder holds."""
    listing.folders += job.folders
    listing.problems += [{"file": _about(root, one), "code": one.code, "message": one.message} for one in job.problems]
    for run in job.runs:
        name = root.run(run.name)
        ranks: list[dict[str, Any]] = []
        for rank in run.ranks:
            spans = []
            for source in rank.spans:
                file = root.file(source.path)
                entry = Entry(
                    _id(name, file, source.document),
                    source.path,
                    name,
                    source.rank,
                    source.span,
                    source.worker,
                    source.ranks_found,
                    file,
                )
                listing.entries[entry.trace] = entry
                spans.append({"span": source.span, "trace": entry.trace, "file": file, "bytes": _size(source.path)})
            ranks.append({"rank": rank.rank, "label": rank.label, "worker": rank.worker, "spans": spans})
        listing.runs.append({"name": name, "ranks": ranks})


def _id(run: str, file: str, document: int) -> str:
    """Return an id that is the same for everybody who looks at the same folder, also after a restart."""
    parts = (run, file, str(document)) if document else (run, file)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def _size(path: str) -> int:
    from kinetoscope.errors import UnreadableError
    from kinetoscope.reading.storage import Fingerprint

    try:
        return Fingerprint.of(path).bytes
    except UnreadableError:
        return 0


def _about(root: Root, one: LeftOut) -> str:
    """Return what a remark is about: a file, or a run where it is about its ranks."""
    return root.run(one.path) if one.code in ("missing-ranks", "two-writers") else root.file(one.path)
