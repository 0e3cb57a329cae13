"""Open a trace file, unpack it, and know again whether it is still the same file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isal import igzip, igzip_lib

from kinetoscope.errors import DamagedTraceError, NotATraceError, UnreadableError
from kinetoscope.reading.progress import Listener, Progress, ignore

_BLOCK = 1 << 22
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LAYERS = 3
_ISAL_ERROR: Any = igzip_lib.IsalError
_BROKEN_GZIP: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, _ISAL_ERROR)


@dataclass(frozen=True)
class Fingerprint:
    """What tells that a file is still the one that was read.

    Parameters
    ----------
    bytes : int
        Size on disk.
    modified_ns : int
        Time of the last change.
    inode : int
        Number of the file: differs when it was replaced.
    """

    bytes: int
    modified_ns: int
    inode: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Fingerprint:
        """Take the fingerprint of a file.

        Raises
        ------
        UnreadableError
            When the file is not there or may not be looked at.
        """
        try:
            found = Path(path).stat()
        except OSError as error:
            raise unreadable(path, error) from error
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


def unreadable(path: str | os.PathLike[str], error: OSError) -> UnreadableError:
    """Say in the product's own words why the system would not open a path."""
    reasons = {
        FileNotFoundError: ("no such file or folder", "check the path"),
        PermissionError: ("no permission to read it", "change its permissions or run as its owner"),
        IsADirectoryError: ("is a folder, not a file", "give a file in it, or open the folder as a log directory"),
    }
    message, hint = reasons.get(type(error), (error.strerror or str(error), ""))
    return UnreadableError(message, where=os.fspath(path), hint=hint)


def read_text(path: str | os.PathLike[str], tell: Listener = ignore) -> bytes:
    """Read a file and unpack gzip, told by content, up to three layers deep.

    Parameters
    ----------
    path : str or path
    tell : callable, optional
        Hears of progress in bytes of the file.

    Returns
    -------
    bytes
        JSON text.

    Raises
    ------
    UnreadableError
        When the file cannot be opened or read.
    NotATraceError
        When the file is empty.
    DamagedTraceError
        When gzip data is cut or broken.
    """
    where = os.fspath(path)
    data = _read(Path(path), tell)
    for _ in range(_LAYERS):
        if not data.startswith(_GZIP):
            break
        data = _inflate(data, where)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data.strip():
        raise NotATraceError("the file is empty", where=where, hint="was the job stopped before the trace was written?")
    return data


def head(path: str | os.PathLike[str], size: int = 1 << 16) -> bytes:
    """Return the first bytes of a file's text, unpacked as far as they go.

    Parameters
    ----------
    path : str or path
    size : int
        Bytes to read from the file.

    Returns
    -------
    bytes
        Empty when nothing can be unpacked.

    Raises
    ------
    UnreadableError
        When the file cannot be opened or read.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(size)
    except OSError as error:
        raise unreadable(path, error) from error
    for _ in range(_LAYERS):
        if not data.startswith(_GZIP):
            break
        try:
            data = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(data, 16 * size)
        except _BROKEN_GZIP:
            return b""
    return data.removeprefix(_BYTE_ORDER_MARK)


def _read(path: Path, tell: Listener) -> bytes:
    """Read all bytes of a file in blocks."""
    try:
        total = path.stat().st_size
        blocks: list[bytes] = []
        done = 0
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                blocks.append(block)
                done += len(block)
                tell(Progress("read", done, max(total, done)))
    except OSError as error:
        raise unreadable(path, error) from error
    return b"".join(blocks)


def _inflate(data: bytes, where: str) -> bytes:
    """Unpack all members of gzip data."""
    try:
        return bytes(igzip.decompress(data))  # type: ignore[no-untyped-call]
    except _BROKEN_GZIP as error:
        hint = "was the job stopped while it wrote? copy or record it again"
        raise DamagedTraceError(f"its gzip data is cut or broken: {error}", where=where, hint=hint) from error
