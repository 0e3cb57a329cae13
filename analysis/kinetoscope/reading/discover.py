"""Find the traces below a path, and tell run, rank and span of each, from names and the first bytes of the files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from kinetoscope.errors import UnreadableError
from kinetoscope.reading import storage
from kinetoscope.reading.files import head, unpacked_head

_HANDLER_NAME = re.compile(r"^(?P<worker>.*?)(?:\.(?P<stamp>\d+))?\.pt\.trace\.json(?:\.gz)?$", re.IGNORECASE)
_MAYBE = re.compile(r"\.(?:json|gz)$", re.IGNORECASE)
_SUFFIXES = re.compile(r"(?:\.trace)?(?:\.json)?(?:\.gz)?$", re.IGNORECASE)
_RANK_IN_NAME = re.compile(r"(?:^|[^a-z])(?:rank|worker)[-_]?\[?(\d{1,9})", re.IGNORECASE)
_RANK_IN_FILE = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*?"rank"\s*:\s*"?(\d{1,9})(?!\d)')
_RANK_IN_ARGUMENTS = re.compile(rb'"Collective name"[^{}]*"Rank"\s*:\s*(\d{1,9})(?!\d)')
_WORLD_SIZE = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*?"world_size"\s*:\s*"?(\d{1,9})(?!\d)')
_NEXT_DOCUMENT = re.compile(rb'[}\]]\s*\{\s*"(?:schemaVersion|traceEvents)"')
_NO_RANK = re.compile(r"async_llm", re.IGNORECASE)
_TRACE_SIGNS = (b'"traceEvents"', b'"schemaVersion"')
_GZIP = b"\x1f\x8b"
_SMALL = 64 << 20
_MILLISECONDS_BELOW = 10**15


@dataclass(frozen=True)
class TraceFile:
    """A file that holds a trace, or should.

    Parameters
    ----------
    path : str
    run : str
        Its folder relative to the log directory; ``"."`` for the directory itself.
    worker : str
        Name of the process, as the file name has it.
    rank : int or None
        Rank of the process: the user's, else from the file's ``distributedInfo``, else from a collective's arguments, else from its name, else from
        its folder's.
    stamp : int
        When it was written, ns since 1970; 0 when the name does not say.
    bytes : int
        Size on disk.
    world_size : int
        How many ranks the job has, as far as the file's beginning says; 0 when it does not.
    documents : int
        How many traces the file seems to hold, one behind the other.
    """

    path: str
    run: str
    worker: str
    rank: int | None
    stamp: int
    bytes: int
    world_size: int = 0
    documents: int = 1


@dataclass(frozen=True)
class Problem:
    """A file or folder that is left out, and why."""

    path: str
    code: str
    message: str


@dataclass
class Found:
    """What a search has found."""

    files: list[TraceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    folders: int = 0


Ranks = Mapping[str, int] | Callable[[str], int | None]
"""Ranks that the user gives: by pattern of the file's name or path (``*`` stands for anything), or by a function of the path."""


def discover(path: str | os.PathLike[str], ranks: Ranks | None = None) -> Found:
    """Find all traces below a path.

    Parameters
    ----------
    path : str or path
        A trace file, or a log directory with runs in folders of any depth. Links to folders are followed, loops are not. An address such as
        ``s3://bucket/folder`` is read through fsspec.
    ranks : mapping or callable, optional
        Ranks where the user knows better than the files.

    Returns
    -------
    Found

    Raises
    ------
    UnreadableError
        When the path is not there or cannot be listed.
    """
    root = os.fspath(path) if storage.is_remote(path) else os.fspath(Path(path).expanduser())
    place = storage.of(root)
    search = _Search(place, ranks)
    if not place.is_folder(root):
        if place.is_special(root):
            raise UnreadableError(
                "is a pipe or device, not a file", where=root, hint="give the path of a file or folder"
            )
        search.found.files.append(search.describe(root, "."))
        return search.found
    for folder in place.walk(root, search.note):
        search.found.folders += 1
        run = place.relative(folder.path, root)
        for name in folder.names:
            if _MAYBE.search(name):
                search.consider(place.join(folder.path, name), run)
    return search.found


class _Search:
    """One look through a storage."""

    def __init__(self, place: storage.Storage, ranks: Ranks | None) -> None:
        self.found = Found()
        self._place, self._ranks = place, ranks

    def note(self, error: UnreadableError) -> None:
        """Remember what could not be looked at."""
        self.found.problems.append(Problem(error.where, error.code, error.message))

    def consider(self, path: str, run: str) -> None:
        """Add a file if it is a trace, or should be one by its name."""
        if self._place.is_special(path):
            self.found.problems.append(Problem(path, "not-a-file", "not a regular file"))
            return
        try:
            begin = head(path)
            if _HANDLER_NAME.match(_name(path)) or _looks_like_trace(begin):
                self.found.files.append(self.describe(path, run, begin))
            else:
                self.found.problems.append(Problem(path, "not-a-trace", "no trace: its beginning has no 'traceEvents'"))
        except UnreadableError as error:
            self.note(error)

    def describe(self, path: str, run: str, begin: bytes | None = None) -> TraceFile:
        """Tell run, worker, rank and span stamp of a trace file."""
        begin = head(path) if begin is None else begin
        match = _HANDLER_NAME.match(_name(path))
        worker = match["worker"] if match else _SUFFIXES.sub("", _name(path))
        stamp = int(match["stamp"]) if match and match["stamp"] else 0
        size = _WORLD_SIZE.search(begin)
        return TraceFile(
            path=path,
            run=run,
            worker=worker,
            rank=self._given_rank(path, worker, begin),
            stamp=stamp if stamp >= _MILLISECONDS_BELOW else stamp * 1_000_000,
            bytes=self._place.fingerprint(path).bytes,
            world_size=int(size.group(1)) if size else 0,
            documents=documents_hint(path, self._place),
        )

    def _given_rank(self, path: str, worker: str, begin: bytes) -> int | None:
        """Return the rank: the user's, else what the file says, else its name, else its folder."""
        given = self._ranks(path) if callable(self._ranks) else _mapped(self._ranks or {}, path)
        if given is not None:
            return given
        if _NO_RANK.search(worker):
            return None
        for pattern in (_RANK_IN_FILE, _RANK_IN_ARGUMENTS):
            recorded = pattern.search(begin)
            if recorded:
                return int(recorded.group(1))
        for text in (worker, _name(path.rpartition(_name(path))[0].rstrip("/\\"))):
            named = _RANK_IN_NAME.search(text)
            if named:
                return int(named.group(1))
        return None


def _name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1] if storage.is_remote(path) else Path(path).name


def _mapped(ranks: Mapping[str, int], path: str) -> int | None:
    return next(
        (rank for pattern, rank in ranks.items() if fnmatch(path, pattern) or fnmatch(_name(path), pattern)), None
    )


def _looks_like_trace(begin: bytes) -> bool:
    """Tell from the first bytes of JSON text whether it is a trace."""
    if any(sign in begin for sign in _TRACE_SIGNS):
        return True
    return begin.lstrip()[:1] == b"[" and b'"ph"' in begin


def documents_hint(path: str, place: storage.Storage) -> int:
    """Count the documents of a small local file by the marks that a second one would leave; larger files tell when they are read.

    Parameters
    ----------
    path : str
    place : Storage

    Returns
    -------
    int
    """
    if isinstance(place, storage.Remote) or place.fingerprint(path).bytes > _SMALL:
        return 1
    with place.open(path) as file:
        data = file.read()
    if not data.startswith(_GZIP):
        return 1 + len(_NEXT_DOCUMENT.findall(data))
    if _is_packed_twice(data):
        return 1
    members = (match.start() for match in re.finditer(re.escape(_GZIP + b"\x08"), data) if match.start())
    return 1 + sum(unpacked_head(data[at : at + 4096]).lstrip()[:1] in (b"{", b"[") for at in members)


def _is_packed_twice(data: bytes) -> bool:
    """Tell whether packed data holds packed data, whose own marks would be taken for a second document's."""
    return unpacked_head(data[:4096], layers=1).startswith(_GZIP)
