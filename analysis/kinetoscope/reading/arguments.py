"""Arguments of events beyond those in the columns: read from the file when they are first asked for, and kept.

One pass over the file reads any number of arguments, so whoever needs several asks for all of them at once. What is not asked for is passed over
by the decoder without being built.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter, is_not, ne
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from kinetoscope.errors import UnreadableError
from kinetoscope.reading import cache, records, stream, values
from kinetoscope.reading import text as json_text
from kinetoscope.reading.columns import Columns, Ints
from kinetoscope.reading.decode import choose, no_garbage_collection
from kinetoscope.reading.files import Limits, read_text
from kinetoscope.reading.intake import Document
from kinetoscope.reading.kept import FIELDS
from kinetoscope.reading.losses import Losses
from kinetoscope.reading.recorded import salvage
from kinetoscope.reading.storage import Fingerprint
from kinetoscope.source import Source

Kind = Literal["integer", "number", "json"]

MISSING = values.MISSING
"""Stands for an integer that is not given."""

_ABSENT = msgspec.Raw(b"")
_DTYPES: dict[Kind, Any] = {"integer": np.int64, "number": np.float64, "json": np.int32}
_NOTHING: dict[Kind, Any] = {"integer": MISSING, "number": float("nan"), "json": -1}
_ARGUMENTS = attrgetter("args")


@dataclass(frozen=True)
class Argument:
    """One argument of all events that have it.

    Parameters
    ----------
    kind : {"integer", "number", "json"}
    rows : ndarray of int64
        Rows of the columns whose events have the argument, in order.
    values : ndarray
        Of those rows: int64 (:data:`MISSING` for what is no integer), float64 (NaN for what is no number), or int32 that index ``texts``.
    distinct : list
        For ``json``: the distinct values, as Python has them.
    """

    kind: Kind
    rows: Ints
    values: npt.NDArray[Any]
    distinct: list[Any] = field(default_factory=list)

    def at(self, rows: Ints) -> npt.NDArray[Any]:
        """Return the values of some rows.

        Parameters
        ----------
        rows : ndarray of int64
            Rows of the columns, in any order.

        Returns
        -------
        ndarray
            As ``values``; :data:`MISSING`, NaN or -1 where the event has no such argument.
        """
        if not self.rows.size:
            return np.full(rows.shape, _NOTHING[self.kind], _DTYPES[self.kind])
        place = np.minimum(np.searchsorted(self.rows, rows), self.rows.size - 1)
        return np.where(self.rows[place] == rows, self.values[place], _NOTHING[self.kind]).astype(_DTYPES[self.kind])


class Arguments:
    """The arguments of a trace's events.

    Parameters
    ----------
    source : Source
    columns : Columns
    text : bytes or None
        JSON text of a trace that is in no file.
    place : Path or None
        File of the cache that holds the trace's columns, beside which arguments are kept.
    fingerprint : Fingerprint or None
        The file as it was when the columns were read: from another one no arguments are read.
    """

    def __init__(
        self,
        source: Source,
        columns: Columns,
        text: bytes | None = None,
        place: Path | None = None,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        self._source, self._columns, self._text = source, columns, text
        self._place, self._fingerprint = place, fingerprint
        self._found: dict[tuple[str, Kind], Argument] = {}

    def get(self, name: str, kind: Kind = "json") -> Argument:
        """Return one argument, read now unless it was read before.

        Parameters
        ----------
        name : str
            As the file has it, such as ``"Input Dims"``.
        kind : {"integer", "number", "json"}

        Returns
        -------
        Argument
            Without rows where no event has such an argument.

        Raises
        ------
        UnreadableError
            When the file is no longer the one that was read.
        """
        return self.read({name: kind})[name]

    def of(self, rows: Ints, wanted: Mapping[str, Kind]) -> dict[str, npt.NDArray[Any]]:
        """Return several arguments of some events, without a pass over the file where they were kept when it was first read.

        Parameters
        ----------
        rows : ndarray of int64
            Rows of the columns.
        wanted : mapping of str to {"integer", "number", "json"}
            Names of arguments, and what they are wanted as.

        Returns
        -------
        dict of str to ndarray
            What :meth:`Argument.at` returns of these rows.
        """
        if not rows.size:
            return {name: np.empty(0, _DTYPES[kind]) for name, kind in wanted.items()}
        found = self._of_kept(rows, wanted)
        return found or {name: argument.at(rows) for name, argument in self.read(wanted).items()}

    def _of_kept(self, rows: Ints, wanted: Mapping[str, Kind]) -> dict[str, npt.NDArray[Any]]:
        """Return arguments that were kept; nothing where one of them, or of one of the rows, was not."""
        for kind, names in FIELDS.items():
            held = self._columns.kept.get(kind) if wanted.keys() <= names.keys() else None
            if held is None or set(wanted.values()) != {"integer"}:
                continue
            place = np.minimum(np.searchsorted(held.rows, rows), held.rows.size - 1)
            if (held.rows[place] == rows).all():
                return {name: held.values[place, list(names).index(name)] for name in wanted}
        return {}

    def read(self, wanted: Mapping[str, Kind]) -> dict[str, Argument]:
        """Return several arguments, of which those that were not read before are read in one pass.

        Parameters
        ----------
        wanted : mapping of str to {"integer", "number", "json"}
            Names of arguments, and what they are wanted as.

        Returns
        -------
        dict of str to Argument
        """
        for name, kind in wanted.items():
            kept = self._kept(name, kind)
            if kept:
                self._found[name, kind] = kept
        new = {name: kind for name, kind in wanted.items() if (name, kind) not in self._found}
        if new:
            self._check()
            for name, argument in self._read(new).items():
                self._found[name, argument.kind] = argument
                self._keep(name, argument)
        return {name: self._found[name, kind] for name, kind in wanted.items()}

    def _kept(self, name: str, kind: Kind) -> Argument | None:
        """Return an argument that the cache has."""
        if self._place is None or (name, kind) in self._found:
            return None
        found = cache.load_argument(self._place, name, kind)
        return Argument(kind, *found) if found else None

    def _keep(self, name: str, argument: Argument) -> None:
        if self._place and len(self._columns) >= cache.LEAST_EVENTS:
            cache.keep_argument(self._place, name, argument.kind, (argument.rows, argument.values, argument.distinct))

    def _check(self) -> None:
        """Refuse to read another file than the one that the columns are from."""
        if self._fingerprint and Fingerprint.of(self._source.path) != self._fingerprint:
            raise UnreadableError(
                "the file has changed since it was read", where=self._source.path, hint="load it again"
            )

    def _read(self, wanted: dict[str, Kind]) -> dict[str, Argument]:
        """Read arguments from the file: as a sound one, else as the whole text it is, else as a damaged one."""
        for way in (self._streamed, self._whole, self._damaged):
            found = [_Taken(name, kind) for name, kind in wanted.items()]
            with contextlib.suppress(stream.UnsureError, *records.BAD_JSON), no_garbage_collection():
                way(_Taking(found))
                return {taken.name: taken.argument(self._columns.id) for taken in found}
        raise AssertionError("the last way takes any text")

    def _streamed(self, taking: _Taking) -> None:
        if self._text is not None or self._source.document:
            raise stream.UnsureError
        for piece in stream.pieces(self._source.path, Limits().text_bytes):
            taking.document(Document.of(piece))

    def _all_text(self) -> bytes:
        text = read_text(self._source.path) if self._text is None else self._text
        return choose(text, self._source.document, Losses())

    def _whole(self, taking: _Taking) -> None:
        text = self._all_text()
        head = json_text.head_end(text)
        for document in json_text.whole_documents(text, head):
            taking.document(Document(*document))

    def _damaged(self, taking: _Taking) -> None:
        salvage(self._all_text(), taking.objects)


class _Taken:
    """What has been taken of one argument.

    Parameters
    ----------
    name : str
    kind : {"integer", "number", "json"}
    """

    def __init__(self, name: str, kind: Kind) -> None:
        self.name, self.kind = name, kind
        self._positions: list[npt.NDArray[np.int64]] = []
        self._values: list[npt.NDArray[Any]] = []
        self._numbering = values.Numbering(_spelled_alike)

    def take(self, positions: npt.NDArray[np.int64], texts: list[bytes]) -> None:
        """Take the JSON texts of the argument of some events."""
        if texts:
            self._positions.append(positions)
            self._values.append(self._converted(texts))

    def _converted(self, texts: list[bytes]) -> npt.NDArray[Any]:
        if self.kind == "json":
            return self._numbering.codes(texts, len(texts))
        return _integers(texts) if self.kind == "integer" else _numbers(texts)

    def argument(self, kept: Ints) -> Argument:
        """Return the argument of the events that are rows of the columns."""
        positions = np.concatenate([np.empty(0, np.int64), *self._positions])
        found = np.concatenate([np.empty(0, _DTYPES[self.kind]), *self._values])
        rows = np.searchsorted(kept, positions)
        held = np.append(kept, -1)[rows] == positions
        distinct = [msgspec.json.decode(text) for text in self._numbering.listed]
        return Argument(self.kind, rows[held], found[held], distinct)


class _Taking:
    """Takes arguments out of events, document by document."""

    def __init__(self, taken: list[_Taken]) -> None:
        self._taken = taken
        self._count = 0
        fields = [
            (f"argument_{i}", msgspec.Raw, msgspec.field(default=_ABSENT, name=t.name)) for i, t in enumerate(taken)
        ]
        arguments = msgspec.defstruct("Asked", fields, frozen=True, gc=False)
        self._event = msgspec.defstruct("AskedEvent", [("args", arguments | None, None)], gc=False)
        self._none = arguments()

    def document(self, document: Document) -> None:
        """Take in a document of whole events."""
        try:
            events = document.decode(self._event)
        except msgspec.ValidationError:
            self.objects([msgspec.json.decode(raw) for raw in document.decode(msgspec.Raw)])
            return
        arguments = [found or self._none for found in map(_ARGUMENTS, events)]
        # most events have none of them
        some = np.flatnonzero(np.fromiter(map(ne, arguments, repeat(self._none)), bool, len(arguments)))
        arguments = list(map(arguments.__getitem__, some.tolist()))
        for i, taken in enumerate(self._taken):
            raws = list(map(attrgetter(f"argument_{i}"), arguments))
            given = np.flatnonzero(np.fromiter(map(is_not, raws, repeat(_ABSENT)), bool, len(raws)))
            taken.take(some[given] + self._count, list(map(bytes, map(raws.__getitem__, given.tolist()))))
        self._count += len(events)

    def objects(self, events: list[Any]) -> None:
        """Take in events that were read one by one."""
        for taken in self._taken:
            found = list(_given(events, taken.name))
            positions = np.array([place for place, _ in found], np.int64) + self._count
            taken.take(positions, [msgspec.json.encode(value) for _, value in found])
        self._count += len(events)


def _given(events: Iterable[Any], name: str) -> Iterator[tuple[int, Any]]:
    """Give the events that have an argument, with its value."""
    for place, event in enumerate(events):
        arguments = event.get("args") if isinstance(event, dict) else None
        if isinstance(arguments, dict) and name in arguments:
            yield place, arguments[name]


def _spelled_alike(text: bytes) -> bytes:
    """Return JSON without its blanks, so that equal values are equal texts."""
    return msgspec.json.encode(msgspec.json.decode(text))


def _integers(texts: list[bytes]) -> npt.NDArray[np.int64]:
    try:
        return np.array(list(map(int, texts)), np.int64)
    except (ValueError, OverflowError):
        return np.array([values.exact_integer(msgspec.json.decode(text)) for text in texts], np.int64)


def _numbers(texts: list[bytes]) -> npt.NDArray[np.float64]:
    try:
        return np.array(list(map(float, texts)), np.float64)
    except ValueError:
        return np.array([values.number(msgspec.json.decode(text)) for text in texts], np.float64)
