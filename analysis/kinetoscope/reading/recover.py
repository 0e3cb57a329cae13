"""Read what can be read of a damaged trace, and say what could not.

Nothing here runs for a file that the compiled decoder takes as it stands. Damage is mended where it is: bytes that are no UTF-8 and raw control
characters in the whole text, the rest event by event by the lenient reader, so that one bad event costs only itself.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kinetoscope.reading import records
from kinetoscope.reading import text as json_text
from kinetoscope.reading.lenient import EndOfTextError, Reader, dumps, simple
from kinetoscope.reading.losses import EXAMPLE, Losses, example_at

_SMALL_PIECE = 1 << 18
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CPLUSPLUS_EVENT = re.compile(rb'\{\r?\n\s*"ph": "X", "cat": "')


def literal_backslashes(text: bytes) -> bool:
    """Tell whether every backslash of a text stands for itself.

    Old C++ writers copied Windows paths as they were. Such a file has that writer's layout, and no escaped backslash and no escaped quote
    anywhere, since the writer escaped nothing.
    """
    if b"\\" not in text or b"\\\\" in text or b'\\"' in text:
        return False
    return _CPLUSPLUS_EVENT.search(text) is not None


def double_backslashes(text: bytes, losses: Losses) -> bytes:
    """Escape every backslash, so that it comes back as it is."""
    first = text.index(b"\\")
    losses.add("backslash", first, example_at(text, first), text.count(b"\\"))
    return text.replace(b"\\", b"\\\\")


def mend_bytes(text: bytes, losses: Losses) -> bytes:
    """Replace what is no UTF-8, and escape raw control characters.

    Parameters
    ----------
    text : bytes
    losses : Losses
        Told of each.

    Returns
    -------
    bytes
    """
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        count = 0

        def replace(_: UnicodeError) -> tuple[str, int]:
            nonlocal count
            count += 1
            return codecs.replace_errors(_)  # type: ignore[return-value]

        codecs.register_error("kinetoscope.count", replace)
        mended = text.decode("utf-8", "kinetoscope.count")
        losses.add("encoding", error.start, example_at(text, error.start), count)
        text = mended.encode("utf-8")
    control = _CONTROL.search(text)
    if control:
        mended_text, count = _CONTROL.subn(lambda found: b"\\u%04x" % found.group()[0], text)
        losses.add("control", control.start(), example_at(text, control.start()), count)
        text = mended_text
    return text


@dataclass
class Salvaged:
    """What was read of one document.

    Parameters
    ----------
    metadata : dict
    end : int
        Where the document ends in the text; the text's end when it never does.
    closed : bool
        Whether the event list was closed.
    """

    metadata: dict[str, Any] = field(default_factory=dict)
    end: int = 0
    closed: bool = False


Take = Callable[[list[Any]], None]


_BAD_RECORD: tuple[type[Exception], ...] = (*records.BAD_JSON, ValueError)


class Salvage:
    """Read a damaged document piece by piece.

    Parameters
    ----------
    text : bytes
    head : int
        Offset behind the ``[`` of the event list.
    losses : Losses
        Told of what is mended and lost.
    read : callable
        Turns the strict JSON of one event into what is wanted of it.
    """

    def __init__(self, text: bytes, head: int, losses: Losses, read: Callable[[bytes], Any] = records.read_one) -> None:
        self._text, self._head, self._losses = text, head, losses
        self._result = Salvaged(end=len(text))
        self._head_text = ""
        key = re.escape(json_text.first_key(text, head) or b'"ph"')
        self._border = re.compile(rb"\}\s*,*\s*(?=\{\s*" + key + rb"\s*:)")
        self._read = read
        typed = records.ExactEvent if read is records.read_one else Any
        self._list: msgspec.json.Decoder[Any] = msgspec.json.Decoder(list[typed])  # type: ignore[valid-type]

    def run(self, take: Take) -> Salvaged:
        """Read all events.

        Parameters
        ----------
        take : callable
            Gets lists of records, in the file's order.

        Returns
        -------
        Salvaged
        """
        if self._text[: self._head].strip() != b"[":
            self._head_text = self._text[: self._head].decode("utf-8", "replace") + "]"
            self._result.metadata |= self._pairs(Reader(self._head_text))
            self._result.metadata.pop("traceEvents", None)
        at = self._head
        while at < len(self._text) and not self._result.closed:
            cut = self._border.search(self._text, at + _SMALL_PIECE) if at + _SMALL_PIECE < len(self._text) else None
            end = cut.start() + 1 if cut else len(self._text)
            take(self._piece(at, end))
            at = cut.end() if cut else end
        if not self._result.closed:
            self._losses.add("cut", len(self._text), example_at(self._text, len(self._text)))
        return self._result

    def _piece(self, start: int, end: int) -> list[Any]:
        """Read a piece as one, else event by event."""
        if end < len(self._text):
            try:
                return self._list.decode(b"[" + self._text[start:end] + b"]")
            except records.BAD_JSON:
                pass
        events: list[Any] = []
        for begin, stop in self._chunks(start, end):
            if self._result.closed:
                break
            try:
                events.append(self._read(self._text[begin:stop]))
            except msgspec.ValidationError as error:
                self._losses.add("lost", begin, str(error))
                events.append(records.LOST)
            except records.BAD_JSON:
                events += self._lenient(begin, stop)
        return events

    def _chunks(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut a piece at the borders of events; the commas between them are in no chunk."""
        at = start
        for border in self._border.finditer(self._text, start, end):
            yield at, border.start() + 1
            at = border.end()
        yield at, end

    def _lenient(self, start: int, end: int) -> list[Any]:
        """Read all values of a chunk, mended where they can be."""
        chunk = self._text[start:end].decode("utf-8", "replace")
        reader = Reader(chunk)
        events: list[Any] = []
        try:
            while begin := reader.skip():
                if begin == "]":
                    reader.at += 1
                    self._close(reader, start)
                    break
                before = reader.at
                events.append(self._record(reader.value(), start, chunk[before : reader.at]))
        except EndOfTextError:
            if end == len(self._text):
                return events
            self._losses.add("lost", start, chunk[:EXAMPLE])
            events.append(records.LOST)
        except ValueError:
            self._losses.add("lost", start, chunk[:EXAMPLE])
            events.append(records.LOST)
        return events

    def _record(self, value: Any, start: int, source: str) -> Any:
        """Turn a leniently read value into a record; say so when the text had to be mended."""
        try:
            record = self._read(dumps(value))
        except _BAD_RECORD:
            self._losses.add("lost", start, source[:EXAMPLE])
            return records.LOST
        try:
            msgspec.json.decode(source)
        except records.BAD_JSON:
            self._losses.add("repaired", start, source[:EXAMPLE])
        return record

    def _close(self, reader: Reader, start: int) -> None:
        """Read what stands behind the event list, and note where the document ends."""
        self._result.closed = True
        if self._text[: self._head].strip() != b"[":
            self._result.metadata |= self._pairs(reader)
        self._result.end = start + len(reader.text[: reader.at].encode("utf-8"))

    def _pairs(self, reader: Reader) -> dict[str, Any]:
        """Read keys and values up to the end of an object, as far as they go."""
        found: dict[str, Any] = {}
        try:
            if reader.skip() == "{" and reader.at < 64:
                reader.at += 1
            while (begin := reader.skip()) and begin != "}":
                key, value = reader.pair(0)
                found[key] = simple(value)
            if not begin and reader.text is not self._head_text:
                self._losses.add("cut", len(self._text), example_at(self._text, len(self._text)))
            reader.at += 1
        except ValueError as error:
            self._losses.add("metadata", self._head, str(error))
        return found
