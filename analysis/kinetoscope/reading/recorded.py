"""One event as the file has it, with all its arguments, found by its position."""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import msgspec

from kinetoscope.reading import records, stream
from kinetoscope.reading import text as json_text
from kinetoscope.reading.decode import choose
from kinetoscope.reading.files import Limits, read_text
from kinetoscope.reading.intake import Document
from kinetoscope.reading.losses import Losses
from kinetoscope.reading.recover import Salvage, mend_bytes
from kinetoscope.source import Source

_PIECE = 1 << 20


class RecordedEvents:
    """The events of a file, without decoding those before the one that is asked for.

    Parameters
    ----------
    text : bytes
        JSON text of the file.
    document : int
        Which trace, of a file that holds several.
    """

    def __init__(self, text: bytes, document: int = 0) -> None:
        self._text = choose(text, document, Losses())
        self._head = json_text.head_end(self._text)
        self._bare = self._text[: self._head].strip() == b"["
        self._pieces = list(json_text.pieces(self._text, self._head, _PIECE))
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
        try:
            found = self._sound(position)
        except records.BAD_JSON:
            found = self._damaged(position)
        return found if isinstance(found, dict) else {}

    def _sound(self, position: int) -> Any:
        number = bisect_right(self._firsts, position) - 1
        while number < len(self._pieces):
            piece = self._pieces[number]
            text = json_text.piece_document(self._text, self._head, piece)
            raws = Document(text, piece.last and not self._bare).decode(msgspec.Raw)
            if number + 1 == len(self._firsts):
                self._firsts.append(self._firsts[number] + len(raws))
            if position < self._firsts[number] + len(raws):
                return msgspec.json.decode(raws[position - self._firsts[number]])
            number += 1
        return None

    def _damaged(self, position: int) -> Any:
        """Read the damaged file again, as it was read at first, and keep the one event."""
        seen = 0
        found: Any = None

        def take(events: list[Any]) -> None:
            nonlocal seen, found
            if seen <= position < seen + len(events):
                found = events[position - seen]
            seen += len(events)

        salvage(self._text, take)
        return found


def event_of(source: Source, position: int) -> dict[str, Any]:
    """Return one event of a file, with no more than a piece of its text in memory where the file is sound.

    Parameters
    ----------
    source : Source
    position : int
        Place in the event list.

    Returns
    -------
    dict
        The JSON object; empty when the file has no such event.
    """
    if not source.document:
        with contextlib.suppress(stream.UnsureError, *records.BAD_JSON):
            return _streamed(source.path, position)
    return RecordedEvents(read_text(source.path), source.document).get(position)


def _streamed(path: str, position: int) -> dict[str, Any]:
    found: Any = None
    for piece in stream.pieces(path, Limits().text_bytes):
        # the pieces behind the event are looked through too: only the last one tells that the file is sound
        if position >= 0:
            raws = Document.of(piece).decode(msgspec.Raw)
            found = msgspec.json.decode(raws[position]) if position < len(raws) else None
            position -= len(raws)
    return found if isinstance(found, dict) else {}


def salvage(text: bytes, take: Callable[[list[Any]], None]) -> None:
    """Read all events of a damaged text as objects, as they were read at first.

    Parameters
    ----------
    text : bytes
    take : callable
        Gets lists of events in the file's order; what could not be read is no object.
    """
    places = json_text.documents(text)
    text = mend_bytes(text[: places[0][1]] if len(places) > 1 else text, Losses())
    Salvage(text, json_text.head_end(text), Losses(), msgspec.json.decode).run(take)
