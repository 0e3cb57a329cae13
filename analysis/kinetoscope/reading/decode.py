"""From JSON text to columns, by a compiled decoder and typed records.

``decode_file(path)`` and ``decode(text)`` are the whole interface: bytes in, columns out. The text is taken in pieces
(:mod:`kinetoscope.reading.stream`, :mod:`kinetoscope.reading.text`), each decoded into records and gathered into columns at once, so that no more
than one piece is ever held as objects.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kinetoscope.errors import DamagedTraceError, NotATraceError
from kinetoscope.reading import records, storage, stream
from kinetoscope.reading import text as json_text
from kinetoscope.reading.files import Limits, read_text
from kinetoscope.reading.gather import Gatherer
from kinetoscope.reading.intake import Document, Intake
from kinetoscope.reading.losses import Loss, Losses, example_at
from kinetoscope.reading.progress import Listener, Progress, ignore
from kinetoscope.reading.recover import Salvage, double_backslashes, literal_backslashes, mend_bytes
from kinetoscope.reading.stream import UnsureError


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

    @classmethod
    def of(cls, taken: Intake) -> Decoded:
        """Return all that has been taken in."""
        return cls(taken.columns, taken.metadata, taken.unreadable)


@contextlib.contextmanager
def no_garbage_collection() -> Iterator[None]:
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
    with no_garbage_collection():
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
    taken = Intake(where)

    def take(events: list[Any]) -> None:
        taken.take_records(events)
        tell(Progress("decode", len(text), len(text), taken.columns.count))

    head = json_text.head_end(text)
    found = Salvage(text, head, losses).run(take)
    taken.metadata = found.metadata
    if text[found.end :].strip():
        losses.add("trailing", found.end, example_at(text, found.end + 40))
    if not losses.found:
        losses.add("separator", head, "")
    return Decoded.of(taken)


def _decode_pieces(text: bytes, head: int, tell: Listener, size: int, where: str) -> Decoded:
    """Decode piece by piece."""
    taken = Intake(where)
    done = head
    for document in json_text.whole_documents(text, head, size):
        taken.take(Document(*document))
        done = min(done + len(document[0]), len(text))
        tell(Progress("decode", len(text) if document[1] else done, len(text), taken.columns.count))
    return Decoded.of(taken)


def decode_file(path: str, tell: Listener = ignore, losses: Losses | None = None, document: int = 0) -> Decoded:
    """Decode a file: a sound one block by block, with no more than a piece of its text in memory; any other as a whole, by :func:`decode`.

    Parameters
    ----------
    path : str
    tell : callable, optional
        Hears of progress in bytes of the file.
    losses : Losses, optional
        Told of what is mended or lost.
    document : int
        Which trace, of a file that holds several.

    Returns
    -------
    Decoded

    Raises
    ------
    KinetoscopeError
        When the file cannot be read, or is no trace.
    """
    if not document:
        with contextlib.suppress(UnsureError, *records.BAD_JSON), no_garbage_collection():
            return _streamed(path, tell)
    losses = losses or Losses()
    return decode(read_text(path, tell, losses), path, tell, losses, document)


def _streamed(path: str, tell: Listener) -> Decoded:
    """Decode a sound file block by block."""
    taken = Intake(path)
    total = storage.of(path).fingerprint(path).bytes
    tell(Progress("read", 0, total))
    for piece in stream.pieces(path, Limits().text_bytes):
        taken.take(Document.of(piece))
        tell(Progress("decode", piece.read, max(total, piece.read), taken.columns.count))
    if taken.columns.count == len(taken.unreadable):
        raise UnsureError
    return Decoded.of(taken)


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
