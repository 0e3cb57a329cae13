"""Read a trace file and unpack it."""

from __future__ import annotations

import contextlib
import os
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from isal import igzip_lib

from kinetoscope.errors import ChoiceError, DamagedTraceError, LimitError, NotATraceError
from kinetoscope.reading import storage
from kinetoscope.reading.losses import Losses
from kinetoscope.reading.progress import Listener, Progress, ignore

_BLOCK = 1 << 22
_UNPACKED_BLOCK = 1 << 26
GZIP = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LAYERS = 3
_GZIP_HEADER = 10
_HEADER_CHECKSUM, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_DAMAGED_BLOCK = 1 << 12
_ISAL_ERROR: Any = igzip_lib.IsalError
BROKEN_GZIP: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, _ISAL_ERROR)
"""What unpacking raises on data that is damaged."""


@dataclass(frozen=True)
class Limits:
    """How much of a file is read at most.

    Parameters
    ----------
    text_bytes : int
        Unpacked JSON text; beyond it reading stops with an error. ``KINETOSCOPE_MAX_BYTES`` sets the default.
    events : int
        Events; ``KINETOSCOPE_MAX_EVENTS`` sets the default.
    """

    text_bytes: int = field(default_factory=lambda: _environment("KINETOSCOPE_MAX_BYTES", 16 << 30))
    events: int = field(default_factory=lambda: _environment("KINETOSCOPE_MAX_EVENTS", 100_000_000))


def _environment(name: str, default: int) -> int:
    """Return a limit that the environment sets, or the default."""
    text = os.environ.get(name, "")
    if text and not (text.isascii() and text.isdigit()):
        raise ChoiceError(f"{name} must be a whole number, not {text!r}")
    return int(text) if text else default


def read_text(
    path: str | os.PathLike[str], tell: Listener = ignore, losses: Losses | None = None, limits: Limits | None = None
) -> bytes:
    """Read a file and unpack gzip, told by content, up to three layers deep.

    Parameters
    ----------
    path : str or path
    tell : callable, optional
        Hears of progress in bytes of the file.
    losses : Losses, optional
        Told when packed data ends early or is broken; what came before is kept.
    limits : Limits, optional

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
        When nothing can be unpacked.
    LimitError
        When there is more text than the limit.
    """
    where = os.fspath(path)
    most = (limits or Limits()).text_bytes
    data = _read(where, tell)
    for _ in range(_LAYERS):
        if not data.startswith(GZIP):
            break
        data = _inflate(data, where, losses or Losses(), most)
    if len(data) > most:
        raise too_long(where, most)
    data = data.removeprefix(BYTE_ORDER_MARK)
    if not data[:_BLOCK].strip() and not data.strip():
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
    with storage.of(path).open(os.fspath(path)) as file:
        data = taken(file, size, os.fspath(path))
    return unpacked_head(data, 16 * size).removeprefix(BYTE_ORDER_MARK)


def unpacked_head(data: bytes, most: int = 1 << 20, layers: int = _LAYERS) -> bytes:
    """Unpack the beginning of packed data as far as it goes.

    Parameters
    ----------
    data : bytes
        Begin of a file; text that is not packed comes back as it is.
    most : int
        Most bytes to unpack.
    layers : int
        How often to unpack at most.

    Returns
    -------
    bytes
        Empty when nothing can be unpacked.
    """
    for _ in range(layers):
        if not data.startswith(GZIP):
            break
        try:
            data = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP).decompress(data, most)
        except BROKEN_GZIP:
            return b""
    return data


def taken(file: BinaryIO, size: int, where: str) -> bytes:
    """Read some bytes of an open file; what the system says against it is an :class:`UnreadableError`."""
    try:
        return file.read(size)
    except OSError as error:
        raise storage.unreadable(where, error) from error


def _read(path: str, tell: Listener) -> bytes:
    """Read all bytes of a file in blocks."""
    place = storage.of(path)
    total = place.fingerprint(path).bytes
    blocks: list[bytes] = []
    done = 0
    with place.open(path) as file:
        while block := taken(file, _BLOCK, path):
            blocks.append(block)
            done += len(block)
            tell(Progress("read", done, max(total, done)))
    return b"".join(blocks)


def _inflate(data: bytes, where: str, losses: Losses, most: int) -> bytes:
    """Unpack all members of gzip data, as far as they are whole."""
    blocks: list[bytes] = []
    size = 0
    try:
        while data.startswith(GZIP):
            member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
            feed = data
            while not member.eof:
                block = member.decompress(feed, _UNPACKED_BLOCK)
                feed = b""
                blocks.append(block)
                size += len(block)
                if size > most:
                    raise too_long(where, most)
                if member.needs_input and not member.eof:
                    raise EOFError("the data ends inside a member")
            data = member.unused_data
        if data.strip(b"\0"):
            losses.add("gzip", size, "bytes that are no gzip data follow")
    except BROKEN_GZIP as error:
        if not size:
            blocks = [_as_far_as_it_goes(data)]
            size = len(blocks[0])
        if not size:
            hint = "was the job stopped while it wrote? copy or record it again"
            raise DamagedTraceError(f"its gzip data is cut or broken: {error}", where=where, hint=hint) from error
        losses.add("gzip", size, str(error))
    return b"".join(blocks)


def _as_far_as_it_goes(data: bytes) -> bytes:
    """Unpack one member without a look at its checksum, until something is wrong."""
    if len(data) < _GZIP_HEADER:
        return b""
    at, flags = _GZIP_HEADER, data[3]
    if flags & _EXTRA:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            at = data.find(b"\0", at) + 1
    at += 2 if flags & _HEADER_CHECKSUM else 0
    plain = zlib.decompressobj(-zlib.MAX_WBITS)
    blocks: list[bytes] = []
    with contextlib.suppress(zlib.error):
        # block by block, so that what came before the damage is kept
        blocks.extend(plain.decompress(data[i : i + _DAMAGED_BLOCK]) for i in range(at, len(data), _DAMAGED_BLOCK))
    return b"".join(blocks)


def too_long(where: str, most: int) -> LimitError:
    """Say that a file holds more text than is read at most."""
    hint = "raise the limit with KINETOSCOPE_MAX_BYTES, in bytes"
    return LimitError(f"holds more than {most:,} bytes of text", where=where, hint=hint)
