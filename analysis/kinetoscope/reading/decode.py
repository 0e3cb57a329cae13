"""From JSON text to columns, by a compiled decoder and typed records.

``decode(text) -> Decoded`` is the whole interface: bytes in, columns out. The text is taken in pieces (:mod:`kinetoscope.reading.text`), each
decoded into records and gathered into columns at once, so that no more than one piece is ever held as objects.
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
import numpy as np

from kinetoscope.errors import DamagedTraceError, NotATraceError
from kinetoscope.reading import records
from kinetoscope.reading import text as json_text
from kinetoscope.reading.gather import Gatherer
from kinetoscope.reading.progress import Listener, Progress, ignore

_DETAIL_PIECE = 1 << 20
_EXACT_LIMIT = 8.0e12  # µs; above this a double's step is too wide to tell ns apart


@dataclass
class Decoded:
    """What a file holds.

    Parameters
    ----------
    columns : Gatherer
        The gathered columns, not yet classified.
    metadata : dict
        Everything in the document beside the events.
    unreadable : list of tuple of int and str
        Position and reason of events that no record fits.
    """

    columns: Gatherer
    metadata: dict[str, Any]
    unreadable: list[tuple[int, str]] = field(default_factory=list)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Pause the cyclic collector: the records hold no cycles, and it would walk millions of them again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def decode(text: bytes, where: str = "", tell: Listener = ignore, piece_bytes: int = json_text.PIECE) -> Decoded:
    """Decode the JSON text of a trace.

    Parameters
    ----------
    text : bytes
        UTF-8 JSON: an object with ``traceEvents``, or a bare list of events.
    where : str
        The file, for messages.
    tell : callable, optional
        Hears of progress in bytes of the text.
    piece_bytes : int
        Least size of a piece.

    Returns
    -------
    Decoded

    Raises
    ------
    NotATraceError
        When the text is no JSON, or JSON of another kind.
    DamagedTraceError
        When the JSON is cut or malformed.
    """
    head = json_text.head_end(text)
    if head < 0:
        raise _no_trace(text, where)
    with _no_garbage_collection():
        try:
            return _decode_pieces(text, head, tell, piece_bytes)
        except msgspec.DecodeError:
            # a border between pieces may have been none: as one piece it is right or it is broken
            try:
                return _decode_pieces(text, head, tell, len(text))
            except msgspec.DecodeError as error:
                raise _broken(text, error, where) from error


@dataclass(frozen=True)
class _Document:
    """A piece of the text as JSON of its own.

    ``wrapped``: an object with the list of events in it, not the bare list.
    """

    text: bytes
    wrapped: bool

    def decode(self, record: Any) -> list[Any]:
        """Return the events as records of one type."""
        found = _decoder(record, self.wrapped).decode(self.text)
        return list(found.traceEvents) if self.wrapped else list(found)

    def metadata(self) -> dict[str, Any]:
        """Return what stands beside the events."""
        if not self.wrapped:
            return {}
        raws = msgspec.json.decode(self.text, type=dict[str, msgspec.Raw])
        raws.pop("traceEvents", None)
        return {key: msgspec.json.decode(raw) for key, raw in raws.items()}


@cache
def _decoder(record: Any, wrapped: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder for a list of records, bare or inside an object."""
    kind: Any = list[record]
    if wrapped:
        kind = msgspec.defstruct("Document", [("traceEvents", kind, msgspec.field(default_factory=list))])
    return msgspec.json.Decoder(kind)


def _documents(text: bytes, head: int, size: int) -> Iterator[tuple[json_text.Piece, _Document]]:
    """Cut the text into documents; the last one also holds what stands behind the events."""
    bare = text[:head].strip() == b"["
    for piece in json_text.pieces(text, head, size):
        yield piece, _Document(json_text.piece_document(text, head, piece), piece.last and not bare)


def _decode_pieces(text: bytes, head: int, tell: Listener, size: int) -> Decoded:
    """Decode piece by piece."""
    columns = Gatherer()
    unreadable: list[tuple[int, str]] = []
    metadata: dict[str, Any] = {}
    for piece, document in _documents(text, head, size):
        columns.add(_typed(document, columns.count, unreadable))
        metadata |= document.metadata()
        tell(Progress("decode", piece.end, len(text), columns.count))
    return Decoded(columns, metadata, unreadable)


def _typed(document: _Document, first: int, unreadable: list[tuple[int, str]]) -> list[Any]:
    """Decode the events of a document by the narrowest record that fits them all."""
    try:
        events = document.decode(records.Event)
        if _needs_exact(events):
            events = document.decode(records.ExactEvent)
    except msgspec.ValidationError:
        return _one_by_one(document, first, unreadable)
    return events


def _needs_exact(events: list[records.Event]) -> bool:
    """Tell whether a time has a fraction that doubles may have bent."""
    times = [event.ts for event in events if type(event.ts) is float]
    return bool(times) and float(np.abs(np.array(times)).max()) > _EXACT_LIMIT


def _one_by_one(document: _Document, first: int, unreadable: list[tuple[int, str]]) -> list[Any]:
    """Decode events singly, so that one odd event costs only itself."""
    exact = msgspec.json.Decoder(records.ExactEvent)
    loose = msgspec.json.Decoder(records.LooseEvent)
    events: list[Any] = []
    for position, raw in enumerate(document.decode(msgspec.Raw), first):
        try:
            events.append(exact.decode(raw))
        except msgspec.ValidationError:
            try:
                read = loose.decode(raw)
                fields = (getattr(read, name) for name in records.LooseEvent.__struct_fields__)
                events.append(records.ExactEvent(*fields))
            except msgspec.ValidationError as error:
                events.append(records.ExactEvent())
                unreadable.append((position, str(error)))
    return events


class RecordedEvents:
    """The events as a file has them, found by position without decoding those before.

    Parameters
    ----------
    text : bytes
        JSON text of the file.
    """

    def __init__(self, text: bytes) -> None:
        self.size = len(text)
        self._text = text
        self._head = json_text.head_end(text)
        self._bare = text[: self._head].strip() == b"["
        self._pieces = list(json_text.pieces(text, self._head, _DETAIL_PIECE))
        self._firsts: list[int] = [0]

    def get(self, position: int) -> dict[str, Any]:
        """Return one event.

        Parameters
        ----------
        position : int
            Place in the event list.

        Returns
        -------
        dict
            The JSON object; empty when the file has no such event.
        """
        number = bisect_right(self._firsts, position) - 1
        while number < len(self._pieces):
            raws = self._document(number).decode(msgspec.Raw)
            if number + 1 == len(self._firsts):
                self._firsts.append(self._firsts[number] + len(raws))
            if position < self._firsts[number] + len(raws):
                found = msgspec.json.decode(raws[position - self._firsts[number]])
                return found if isinstance(found, dict) else {}
            number += 1
        return {}

    def _document(self, number: int) -> _Document:
        piece = self._pieces[number]
        return _Document(json_text.piece_document(self._text, self._head, piece), piece.last and not self._bare)


def _no_trace(text: bytes, where: str) -> NotATraceError | DamagedTraceError:
    """Say what a text without an event list is instead."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        start = text[:40].decode("utf-8", "replace").strip()
        if start.startswith(("{", "[")):
            return _broken(text, error, where)
        return NotATraceError(
            f"no JSON: it begins with {start[:24]!r}", where=where, hint="expected a trace written by torch.profiler"
        )
    if isinstance(found, dict):
        keys = ", ".join(sorted(map(str, found))[:6]) or "none"
        return NotATraceError(f"JSON, but no trace: the key 'traceEvents' is missing (keys: {keys})", where=where)
    return NotATraceError(
        f"JSON, but no trace: a {type(found).__name__}, not an object with 'traceEvents'", where=where
    )


def _broken(text: bytes, error: Exception, where: str) -> DamagedTraceError:
    """Say where JSON breaks off."""
    cut = not text.rstrip().endswith((b"}", b"]"))
    what = "its JSON is cut off" if cut else "its JSON is malformed"
    hint = "was the job stopped while it wrote?" if cut else "which program wrote it?"
    return DamagedTraceError(f"{what} ({len(text):,} bytes of text): {error}", where=where, hint=hint)
