"""The text of a sound file, block by block, cut into pieces of whole events; never all of it at once.

Whatever is out of the ordinary (damaged or nested packing, a second document, backslashes that may stand for themselves, no event list at the
beginning) ends the stream with :class:`UnsureError`: the file is then read as a whole, by the ways that mend and that know the reasons.
"""

from __future__ import annotations

import contextlib
import queue
import re
import threading
from collections import deque
from collections.abc import Generator, Iterator
from typing import BinaryIO, NamedTuple

from isal import igzip_lib

from kinetoscope.reading import storage
from kinetoscope.reading import text as json_text
from kinetoscope.reading.files import BROKEN_GZIP, BYTE_ORDER_MARK, GZIP, taken, too_long

_BLOCK = 1 << 20
_AHEAD = 4
_FEW = 1 << 18
"""Smaller packed files are unpacked without a thread."""
_LONGEST_EVENT = 16 << 20
"""Bytes of an event, or of what stands in front of the first, beyond which the file is read as a whole."""
_NEAR = 1 << 16


class UnsureError(Exception):
    """The file has to be read as a whole."""


class Block(NamedTuple):
    """Some text, and how many bytes of the file have been read for it and before."""

    text: bytes
    read: int


class Piece(NamedTuple):
    """A JSON document of its own: a list of events, or with the last ones all that stands around the list too.

    Parameters
    ----------
    text : bytes
    last : bool
    read : int
        Bytes of the file that have been read so far.
    """

    text: bytes
    last: bool
    read: int


def pieces(path: str, most: int) -> Iterator[Piece]:
    """Cut the text of a file into documents.

    Parameters
    ----------
    path : str
    most : int
        Bytes of text that are read at most.

    Yields
    ------
    Piece

    Raises
    ------
    UnsureError
        At any time; what came before is then not to be trusted either.
    UnreadableError
        When the file cannot be read.
    LimitError
        When there is more text.
    """
    found = _Cutter()
    size = 0
    with storage.of(path).open(path) as file, contextlib.closing(_blocks(file, path)) as blocks:
        for block in blocks:
            size += len(block.text)
            if size > most:
                raise too_long(path, most)
            yield from found.take(block)
    yield found.end()


class _Cutter:
    """Cuts blocks of text into pieces."""

    def __init__(self) -> None:
        self._head = b""
        self._rest = b""
        self._border: re.Pattern[bytes] | None = None
        self._backslash = self._escape = False
        self._block = Block(b"", 0)
        self._before = b""

    def take(self, block: Block) -> Iterator[Piece]:
        """Take in the next block; give the whole events of the one before, now that it is not the last."""
        if self._block.text:
            yield from self._cut()
        self._block = block

    def end(self) -> Piece:
        """Return the last events, and what stands around the list."""
        text = self._next()
        if self._border is None or (self._backslash and not self._escape):
            raise UnsureError
        rest = self._rest + text
        if json_text.LIST_KEY in rest:
            # a second list takes the place of the first, all of it
            raise UnsureError
        return Piece(self._head + rest, True, self._block.read)

    def _cut(self) -> Iterator[Piece]:
        """Give the whole events of a block, and keep what is behind them."""
        text = self._next()
        cut = _last(self._border, text) if self._border else None
        if cut is None:
            self._rest += text
            if len(self._rest) > _LONGEST_EVENT:
                raise UnsureError
            return
        view = memoryview(text)
        piece = b"".join((b"[", self._rest, view[: cut.start(1)], b"]"))
        self._rest = bytes(view[cut.end(1) :])
        yield Piece(piece, False, self._block.read)

    def _next(self) -> bytes:
        """Return the text of the block, from the beginning of the list on."""
        text = self._block.text
        self._watch(text)
        return text if self._border else self._begin(self._rest + text)

    def _begin(self, text: bytes) -> bytes:
        """Look for the list in the first text; return what is behind its beginning, or all where it has none yet."""
        self._rest = b""
        text = text.removeprefix(BYTE_ORDER_MARK)
        head = json_text.head_end(text)
        key = json_text.first_key(text, head) if head >= 0 else None
        if key is None:
            return text
        self._head, self._border = text[:head], json_text.border(key)
        return text[head:]

    def _watch(self, text: bytes) -> None:
        """Look for backslashes: where none escapes a quote or another one, they may stand for themselves."""
        if self._escape:
            return
        if b"\\" in text or self._before:
            joined = self._before + text
            self._backslash = True
            self._escape = b"\\\\" in joined or b'\\"' in joined
        self._before = b"\\" if text.endswith(b"\\") else b""


def _last(border: re.Pattern[bytes], text: bytes) -> re.Match[bytes] | None:
    """Return the last border in a text."""
    for start in (max(len(text) - _NEAR, 0), 0):
        found = deque(border.finditer(text, start), maxlen=1)
        if found:
            return found[0]
    return None


def _blocks(file: BinaryIO, path: str) -> Generator[Block]:
    """Read and unpack a file."""
    first = taken(file, _BLOCK, path)
    if not first.startswith(GZIP):
        return _plain(file, path, first)
    unpacked = _unpacked(file, path, first)
    return unpacked if len(first) < _FEW else _ahead(unpacked)


def _plain(file: BinaryIO, path: str, block: bytes) -> Generator[Block]:
    read = 0
    while block:
        read += len(block)
        yield Block(block, read)
        block = taken(file, _BLOCK, path)


def _unpacked(file: BinaryIO, path: str, feed: bytes) -> Generator[Block]:
    """Unpack all members of a gzip file."""
    read, began = len(feed), False
    try:
        while feed.startswith(GZIP):
            member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
            while not member.eof:
                text = member.decompress(feed, _BLOCK)
                feed = b""
                if text:
                    if not began and text.startswith(GZIP):
                        raise UnsureError
                    began = True
                    yield Block(text, read)
                if member.needs_input and not member.eof:
                    feed = taken(file, _BLOCK, path)
                    read += len(feed)
                    if not feed:
                        raise UnsureError
            feed = member.unused_data or taken(file, _BLOCK, path)
            if len(feed) < len(GZIP):
                feed += taken(file, _BLOCK, path)
            read = max(read, file.tell())
    except BROKEN_GZIP as error:
        raise UnsureError from error
    if feed:
        raise UnsureError


def _ahead(blocks: Iterator[Block]) -> Generator[Block]:
    """Unpack in a thread, some blocks ahead of the one that is decoded."""
    ready: queue.Queue[Block | BaseException | None] = queue.Queue(_AHEAD)
    stop = threading.Event()

    def offer(item: Block | BaseException | None) -> None:
        while not stop.is_set():
            try:
                ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return

    def work() -> None:
        try:
            for block in blocks:
                offer(block)
                if stop.is_set():
                    return
            offer(None)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the reader raises it
            offer(error)

    thread = threading.Thread(target=work, name="kinetoscope-unpack", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        thread.join()
