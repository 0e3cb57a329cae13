"""From JSON text to columns, by a compiled decoder and typed records.

``decode(text) -> Decoded`` is the whole interface: bytes in, columns out. The text is taken in pieces (:mod:`kinetoscope.reading.text`), each
decoded into records and gathered into columns at once, so that no more than one piece is ever held as objects.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
import numpy as np

from kinetoscope import schema
from kinetoscope.errors import DamagedTraceError, LimitError, NotATraceError
from kinetoscope.reading import records
from kinetoscope.reading import text as json_text
from kinetoscope.reading.files import Limits
from kinetoscope.reading.gather import Gatherer
from kinetoscope.reading.losses import Loss, Losses, example_at
from kinetoscope.reading.progress import Listener, Progress, ignore
from kinetoscope.reading.recover import Salvage, double_backslashes, literal_backslashes, mend_bytes

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
    losses : list of Loss
        What was mended or lost; empty for a sound file.
    """

    columns: Gatherer
    metadata: dict[str, Any]
    unreadable: list[tuple[int, str]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)


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


def decode(
    text: bytes,
    where: str = "",
    tell: Listener = ignore,
    losses: Losses | None = None,
    document: int = 0,
    piece_bytes: int = json_text.PIECE,
) -> Decoded:
    """Decode the JSON text of a trace.

    Parameters
    ----------
    text : bytes
        UTF-8 JSON: an object with ``traceEvents``, or a bare list of events.
    where : str
        The file, for messages.
    tell : callable, optional
        Hears of progress in bytes of the text.
    losses : Losses, optional
        What was already lost before there was text.
    document : int
        Which trace, of a file that holds several.
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
        When the JSON is cut or malformed, and not one event can be read.
    """
    losses = losses or Losses()
    text = choose(text, document, losses)
    head = json_text.head_end(text)
    if head < 0:
        raise _no_trace(text, where)
    with _no_garbage_collection():
        decoded = _decoded(text, head, tell, losses, (piece_bytes, where))
    decoded.losses = losses.listed()
    if decoded.columns.count == len(decoded.unreadable) and (losses.found or decoded.unreadable):
        raise _broken(text, losses, where)
    return decoded


def _decoded(text: bytes, head: int, tell: Listener, losses: Losses, options: tuple[int, str]) -> Decoded:
    """Decode a document by the compiled decoder, or mended where that refuses it."""
    piece_bytes, where = options
    try:
        decoded = _decode_pieces(text, head, tell, piece_bytes, where)
    except records.BAD_JSON:
        decoded = _mended(text, tell, losses, where)
    if not decoded.columns.count and text.find(b'"traceEvents"', head) >= 0:
        # a second list of that name has taken the place of the first
        decoded = _salvaged(text, tell, losses, where)
    return decoded


def choose(text: bytes, document: int, losses: Losses) -> bytes:
    """Return the text of one document of a file.

    Parameters
    ----------
    text : bytes
        All text of the file.
    document : int
        Which, from 0; the first without a look for others.
    losses : Losses
        Told of others, and of backslashes that are taken as they stand.

    Returns
    -------
    bytes
    """
    if document:
        places = json_text.documents(text)
        start, end = places[min(document, len(places) - 1)]
        losses.add("document", start, example_at(text, start + 40), len(places) - 1)
        text = text[start:end]
    if literal_backslashes(text):
        text = double_backslashes(text, losses)
    return text


def _mended(text: bytes, tell: Listener, losses: Losses, where: str) -> Decoded:
    """Decode a text that the compiled decoder refuses: its first document, then with mended bytes, then event by event."""
    places = json_text.documents(text)
    if len(places) > 1 and json_text.head_end(text[places[1][0] :]) >= 0:
        losses.add("document", places[1][0], example_at(text, places[1][0] + 40), len(places) - 1)
        text = text[: places[0][1]]
    text = mend_bytes(text, losses)
    head = json_text.head_end(text)
    try:
        # a border between pieces may have been none
        return _decode_pieces(text, head, tell, len(text), where)
    except records.BAD_JSON:
        pass
    return _salvaged(text, tell, losses, where)


def _salvaged(text: bytes, tell: Listener, losses: Losses, where: str) -> Decoded:
    """Decode a damaged text event by event."""
    decoded = Decoded(Gatherer(schema.KindTable().argument_group), {})

    def take(events: list[Any]) -> None:
        first = decoded.columns.count
        decoded.unreadable += [(first + i, "not readable") for i, event in enumerate(events) if event is records.LOST]
        decoded.columns.add(events)
        _check_limit(decoded.columns.count, where)
        tell(Progress("decode", len(text), len(text), decoded.columns.count))

    head = json_text.head_end(text)
    found = Salvage(text, head, losses).run(take)
    decoded.metadata = found.metadata
    if text[found.end :].strip():
        losses.add("trailing", found.end, example_at(text, found.end + 40))
    if not losses.found:
        losses.add("separator", head, "")
    return decoded


@dataclass(frozen=True)
class Document:
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


def _documents(text: bytes, head: int, size: int) -> Iterator[tuple[json_text.Piece, Document]]:
    """Cut the text into documents; the last one also holds what stands behind the events."""
    bare = text[:head].strip() == b"["
    for piece in json_text.pieces(text, head, size):
        yield piece, Document(json_text.piece_document(text, head, piece), piece.last and not bare)


def _decode_pieces(text: bytes, head: int, tell: Listener, size: int, where: str) -> Decoded:
    """Decode piece by piece."""
    columns = Gatherer(schema.KindTable().argument_group)
    unreadable: list[tuple[int, str]] = []
    metadata: dict[str, Any] = {}
    for piece, document in _documents(text, head, size):
        columns.add(_typed(document, columns.count, unreadable))
        metadata |= document.metadata()
        _check_limit(columns.count, where)
        tell(Progress("decode", piece.end, len(text), columns.count))
    return Decoded(columns, metadata, unreadable)


def _check_limit(events: int, where: str) -> None:
    """Stop where a file holds more events than are read at most."""
    most = Limits().events
    if events > most:
        raise LimitError(
            f"holds more than {most:,} events", where=where, hint="raise the limit with KINETOSCOPE_MAX_EVENTS"
        )


def _typed(document: Document, first: int, unreadable: list[tuple[int, str]]) -> list[Any]:
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


def _one_by_one(document: Document, first: int, unreadable: list[tuple[int, str]]) -> list[Any]:
    """Decode events singly, so that one odd event costs only itself."""
    events: list[Any] = []
    for position, raw in enumerate(document.decode(msgspec.Raw), first):
        try:
            events.append(records.read_one(raw))
        except msgspec.ValidationError as error:
            events.append(records.LOST)
            unreadable.append((position, str(error)))
    return events


def _no_trace(text: bytes, where: str) -> NotATraceError | DamagedTraceError:
    """Say what a text without an event list is instead."""
    try:
        found = msgspec.json.decode(text)
    except records.BAD_JSON as error:
        start = text[:40].decode("utf-8", "replace").strip()
        if start.startswith(("{", "[")):
            what = f"its JSON breaks off or is malformed, and holds no event list: {error}"
            return DamagedTraceError(what, where=where, hint="was the job stopped while it wrote?")
        return NotATraceError(
            f"no JSON: it begins with {start[:24]!r}", where=where, hint="expected a trace written by torch.profiler"
        )
    if isinstance(found, dict) and "traceEvents" in found:
        kind = type(found["traceEvents"]).__name__
        return NotATraceError(f"JSON, but no trace: 'traceEvents' is no list but a {kind}", where=where)
    if isinstance(found, dict):
        keys = ", ".join(sorted(map(str, found))[:6]) or "none"
        return NotATraceError(f"JSON, but no trace: the key 'traceEvents' is missing (keys: {keys})", where=where)
    return NotATraceError(
        f"JSON, but no trace: a {type(found).__name__}, not an object with 'traceEvents'", where=where
    )


def _broken(text: bytes, losses: Losses, where: str) -> DamagedTraceError:
    """Say what is wrong with a trace of which nothing could be read."""
    cut = bool({"cut", "gzip"} & set(losses.found))
    what = (
        "its JSON is cut off before the first event ends"
        if cut
        else "its JSON is malformed, and no event could be read"
    )
    hint = "was the job stopped while it wrote?" if cut else "which program wrote it?"
    return DamagedTraceError(f"{what} ({len(text):,} bytes of text)", where=where, hint=hint)
