"""Take in a trace, one JSON document of whole events after the other."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from kinetoscope import schema
from kinetoscope.errors import LimitError
from kinetoscope.reading import records
from kinetoscope.reading.files import Limits
from kinetoscope.reading.gather import Gatherer
from kinetoscope.reading.packed import NotPlainError
from kinetoscope.reading.stream import Piece
from kinetoscope.reading.values import EXACT_TIME

_REFUSALS = 4
"""Documents of which plain records may fail to hold all events before they are no longer tried."""
_PLACE = re.compile(r"\.([^.`]+)`$")
_EXTRAS = {"shapes": "Input Dims", "stacks": "Call stack"}


@dataclass(frozen=True)
class Document:
    """A piece of the text as JSON of its own.

    ``wrapped``: an object with the list of events in it, not the bare list.
    """

    text: bytes
    wrapped: bool

    @classmethod
    def of(cls, piece: Piece) -> Document:
        """Return a piece of a stream as a document."""
        return cls(piece.text, piece.last and not piece.text.lstrip().startswith(b"["))

    def decode(self, record: Any) -> list[Any]:
        """Return the events as records of one type."""
        found = _decoder(record, wrapped=self.wrapped).decode(self.text)
        return list(found.traceEvents) if self.wrapped else found

    def metadata(self) -> dict[str, Any]:
        """Return what stands beside the events."""
        if not self.wrapped:
            return {}
        raws = msgspec.json.decode(self.text, type=dict[str, msgspec.Raw])
        raws.pop("traceEvents", None)
        return {key: msgspec.json.decode(raw) for key, raw in raws.items()}


@cache
def _decoder(record: Any, *, wrapped: bool) -> msgspec.json.Decoder[Any]:
    """Return the decoder for a list of records, bare or inside an object."""
    kind: Any = list[record]
    if wrapped:
        kind = msgspec.defstruct("Document", [("traceEvents", kind, msgspec.field(default_factory=list))])
    return msgspec.json.Decoder(kind)


class Intake:
    """What has been taken in of a file.

    Parameters
    ----------
    where : str
        The file, for messages.

    Attributes
    ----------
    columns : Gatherer
    metadata : dict
        What stands beside the events.
    unreadable : list of tuple of int and str
        Position and reason of events that no record fits.
    """

    def __init__(self, where: str = "") -> None:
        kinds = schema.KindTable()
        self.columns = Gatherer(kinds.argument_group, kinds.of_category)
        self.metadata: dict[str, Any] = {}
        self.unreadable: list[tuple[int, str]] = []
        self._where = where
        self._limit = Limits().events
        self._times: records.Times = "double"
        self._kept: frozenset[str] = frozenset()
        self._refused: Counter[records.Plain] = Counter()

    def take(self, document: Document) -> None:
        """Take in the events of a document, and what stands around them.

        Raises
        ------
        msgspec.DecodeError, UnicodeDecodeError, RecursionError
            When it is no sound JSON.
        LimitError
            When there are more events than are read at most.
        """
        if not self._take_plain(document):
            self.columns.add(self._typed(document))
        self.metadata |= document.metadata()
        self.check_limit()

    def take_records(self, events: list[Any]) -> None:
        """Take in events that were read one by one, :data:`records.LOST` where one could not be."""
        first = self.columns.count
        self.unreadable += [(first + i, "not readable") for i, event in enumerate(events) if event is records.LOST]
        self.columns.add(events)
        self.check_limit()

    def check_limit(self) -> None:
        """Stop where a file holds more events than are read at most."""
        if self.columns.count > self._limit:
            what = f"holds more than {self._limit:,} events"
            raise LimitError(what, where=self._where, hint="raise the limit with KINETOSCOPE_MAX_EVENTS")

    def _take_plain(self, document: Document) -> bool:
        """Take in a document whose events are all plain; tell whether they are."""
        while True:
            sought = frozenset(_EXTRAS[name] for name in _EXTRAS if name not in self.columns.extras)
            plain = records.plain_records(self._times, sought, self._kept)
            if self._refused[plain] >= _REFUSALS:
                return False
            try:
                self.columns.add_plain(document.decode(plain.event), plain)
            except (msgspec.ValidationError, NotPlainError, OverflowError) as error:
                self._refused[plain] += 1
                if not self._learn(document, error, len(sought)):
                    return False
            else:
                self._refused[plain] = 0
                return True

    def _learn(self, document: Document, error: Exception, sought: int) -> bool:
        """See from why events were refused what the recording has; tell whether other plain records may fit."""
        key = _PLACE.search(str(error))
        if isinstance(error, NotPlainError) and error.args[0] == "kept":
            self._kept |= error.args[1]
            return True
        if isinstance(error, NotPlainError):
            self._times = "whole" if error.args == ("times",) else self._times
            return error.args == ("times",)
        if key and key.group(1) in _EXTRAS.values():
            with contextlib.suppress(msgspec.ValidationError):
                self.columns.look_for_extras(document.decode(records.ExtrasEvent))
            return len(self.columns.extras) > len(_EXTRAS) - sought
        if key and key.group(1) == "ts" and self._times == "whole":
            self._times = "text"
            return True
        return False

    def _typed(self, document: Document) -> list[Any]:
        """Decode the events of a document by the narrowest record that fits them all."""
        try:
            events = document.decode(records.Event)
            if _needs_exact(events):
                events = document.decode(records.ExactEvent)
        except msgspec.ValidationError:
            return self._one_by_one(document)
        return events

    def _one_by_one(self, document: Document) -> list[Any]:
        """Decode events singly, so that one odd event costs only itself."""
        events: list[Any] = []
        for position, raw in enumerate(document.decode(msgspec.Raw), self.columns.count):
            try:
                events.append(records.read_one(raw))
            except msgspec.ValidationError as error:
                events.append(records.LOST)
                self.unreadable.append((position, str(error)))
        return events


def _needs_exact(events: list[records.Event]) -> bool:
    """Tell whether a time has a fraction that doubles may have bent."""
    times = [event.ts for event in events if type(event.ts) is float]
    return bool(times) and float(np.abs(np.array(times)).max()) > EXACT_TIME
