"""Find the traces below a path, and tell run, rank and span of each, from names and the first bytes of the files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kinetoscope.errors import UnreadableError
from kinetoscope.reading.files import head, unreadable

_HANDLER_NAME = re.compile(r"^(?P<worker>.*?)(?:\.(?P<stamp>\d+))?\.pt\.trace\.json(?:\.gz)?$", re.IGNORECASE)
_MAYBE = re.compile(r"\.(?:json|gz)$", re.IGNORECASE)
_SUFFIXES = re.compile(r"(?:\.trace)?(?:\.json)?(?:\.gz)?$", re.IGNORECASE)
_RANK_IN_NAME = re.compile(r"(?:^|[^a-z])(?:rank|worker)[-_]?\[?(\d+)", re.IGNORECASE)
_RANK_IN_FILE = re.compile(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*?"rank"\s*:\s*"?(\d+)')
_NO_RANK = re.compile(r"async_llm", re.IGNORECASE)
_TRACE_SIGNS = (b'"traceEvents"', b'"schemaVersion"')
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
        Rank of the process: from the file's ``distributedInfo``, else its name, else its folder's.
    stamp : int
        When it was written, ns since 1970; 0 when the name does not say.
    bytes : int
        Size on disk.
    """

    path: str
    run: str
    worker: str
    rank: int | None
    stamp: int
    bytes: int


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


def discover(path: str | os.PathLike[str]) -> Found:
    """Find all traces below a path.

    Parameters
    ----------
    path : str or path
        A trace file, or a log directory with runs in folders of any depth. Links to folders are followed, loops are not.

    Returns
    -------
    Found

    Raises
    ------
    UnreadableError
        When the path is not there or cannot be listed.
    """
    root = Path(path).expanduser()
    try:
        is_folder = root.is_dir()
        if not is_folder:
            root.stat()
    except OSError as error:
        raise unreadable(root, error) from error
    found = Found()
    if not is_folder:
        found.files.append(_describe(root, "."))
        return found
    for folder, names in _folders(root, found):
        run = os.path.relpath(folder, root)
        for name in names:
            _consider(Path(folder, name), run, found)
    return found


def _folders(root: Path, found: Found) -> Iterator[tuple[str, list[str]]]:
    """Walk folders, each real one once, links included."""
    seen: set[str] = set()

    def note(error: OSError) -> None:
        if error.filename == os.fspath(root):
            raise unreadable(root, error) from error
        problem = unreadable(error.filename or root, error)
        found.problems.append(Problem(problem.where, problem.code, problem.message))

    for folder, below, names in os.walk(root, followlinks=True, onerror=note):
        real = os.path.realpath(folder)
        if real in seen:
            below.clear()
            continue
        seen.add(real)
        found.folders += 1
        below.sort()
        yield folder, sorted(names)


def _consider(path: Path, run: str, found: Found) -> None:
    """Add a file if it is a trace, or should be one by its name."""
    if not _MAYBE.search(path.name):
        return
    if path.exists() and not path.is_file():
        # a pipe or device would wait for a writer that never comes
        found.problems.append(Problem(os.fspath(path), "not-a-file", "not a regular file"))
        return
    named = _HANDLER_NAME.match(path.name) is not None
    try:
        begin = head(path)
        if named or _looks_like_trace(begin):
            found.files.append(_describe(path, run, begin))
        else:
            found.problems.append(
                Problem(os.fspath(path), "not-a-trace", "no trace: its beginning has no 'traceEvents'")
            )
    except UnreadableError as error:
        found.problems.append(Problem(error.where, error.code, error.message))


def _looks_like_trace(begin: bytes) -> bool:
    """Tell from the first bytes of JSON text whether it is a trace."""
    if any(sign in begin for sign in _TRACE_SIGNS):
        return True
    return begin.lstrip()[:1] == b"[" and b'"ph"' in begin


def _describe(path: Path, run: str, begin: bytes | None = None) -> TraceFile:
    """Tell run, worker, rank and span stamp of a trace file."""
    match = _HANDLER_NAME.match(path.name)
    worker = match["worker"] if match else _SUFFIXES.sub("", path.name)
    stamp = int(match["stamp"]) if match and match["stamp"] else 0
    if stamp < _MILLISECONDS_BELOW:
        stamp *= 1_000_000
    try:
        size = path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from error
    rank = _rank(path, worker, head(path) if begin is None else begin)
    return TraceFile(os.fspath(path), run, worker, rank, stamp, size)


def _rank(path: Path, worker: str, begin: bytes) -> int | None:
    """Return the rank: what the file says, else its name, else its folder."""
    if _NO_RANK.search(worker):
        return None
    recorded = _RANK_IN_FILE.search(begin)
    if recorded:
        return int(recorded.group(1))
    for text in (worker, path.parent.name):
        named = _RANK_IN_NAME.search(text)
        if named:
            return int(named.group(1))
    return None
