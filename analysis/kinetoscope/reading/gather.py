"""Gather decoded records into plain columns, piece by piece.

Names and categories are numbered once; arguments are kept only for the events that have them. The gatherer knows JSON's odd ways (an id may be
int, float or text), not what events mean: that is :mod:`kinetoscope.reading.columns`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = np.iinfo(np.int64).min
"""A time that is not usable."""

PAIRED_END = "E (paired)"
"""Phase of an end that has closed its begin."""

_INT64 = 2**63 - 1
_NO_EXTRA = (b"", b"null", b"[]", b'""')
_MOST_DIGITS = 20
_UNFINISHED = (False, "false")
_PHASE, _CATEGORY, _NAME = attrgetter("ph"), attrgetter("cat"), attrgetter("name")
_THREAD, _START, _LENGTH, _FLOW = attrgetter("pid", "tid"), attrgetter("ts"), attrgetter("dur"), attrgetter("id")


_LINKS = ("correlation", "external_id", "old_external_id")
_SIZES = ("bytes", "size")
_FIGURES = ("blocks_per_sm", "occupancy", "bandwidth")

FIELDS: dict[str, tuple[str, ...]] = {
    "host": (*_LINKS, *_SIZES, "sequence_number", "forward_thread", "unfinished"),
    "device": (
        *_LINKS,
        *_SIZES,
        *_FIGURES,
        *("device", "in_device", "stream", "registers", "shared_memory", "grid", "block", "collective", "unfinished"),
    ),
    "frame": ("unfinished",),
    "name": ("label",),
    "nothing": (),
}
"""Arguments that are kept, by group of categories; the others are decoded when a single event is asked for."""


class Numbering(dict[Any, int]):
    """Numbers values as they come: ``numbering[value]`` is the value's code.

    Parameters
    ----------
    clean : callable
        Returns the value that another one stands for, such as the text of a number.

    Attributes
    ----------
    listed : list
        The values by code.
    """

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        super().__init__()
        self.listed: list[Any] = []
        self._clean = clean

    def __missing__(self, value: Any) -> int:
        cleaned = self._clean(value)
        code = self.get(cleaned, len(self.listed))
        if code == len(self.listed):
            self.listed.append(cleaned)
            self[cleaned] = code
        self[value] = code
        return code

    def codes(self, values: Iterable[Any], count: int) -> npt.NDArray[np.int32]:
        """Return the codes of some values."""
        return np.fromiter(map(self.__getitem__, values), np.int32, count)


class Gatherer:
    """Columns that grow by pieces.

    Parameters
    ----------
    group_of : callable
        Tells the group of a category, a key of :data:`FIELDS`.

    Attributes
    ----------
    count : int
        Events so far.
    extras : set of str
        ``shapes`` and ``stacks``, where some event has them.
    """

    def __init__(self, group_of: Callable[[str], str]) -> None:
        self.count = 0
        self._group_of = group_of
        self._groups: list[int] = []
        self.phases = Numbering(_text)
        self.categories = Numbering(_text)
        self.threads = Numbering(lambda key: key)
        self.names = Numbering(_text)
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._texts: dict[str, Numbering] = {}
        self.extras: set[str] = set()

    def add(self, events: Sequence[Any]) -> None:
        """Take in one piece of records."""
        count = len(events)
        category = self.categories.codes(map(_CATEGORY, events), count)
        self._put("phase", self.phases.codes(map(_PHASE, events), count))
        self._put("category", category)
        self._put("thread", self.threads.codes(map(_THREAD, events), count))
        self._put("name", self.names.codes(map(_NAME, events), count))
        self._put("ts", nanoseconds(list(map(_START, events))))
        self._put("dur", nanoseconds(list(map(_LENGTH, events))))
        self._put("flow", integers(list(map(_FLOW, events))))
        self._take_arguments(events, category)
        self.count += count

    def _take_arguments(self, events: Sequence[Any], category: npt.NDArray[np.int32]) -> None:
        """Keep the arguments that each group of categories is asked for, beside the positions of the events that have them."""
        for text in self.categories.listed[len(self._groups) :]:
            self._groups.append(list(FIELDS).index(self._group_of(text)))
        group = np.array(self._groups, np.int8)[category]
        for number, name in enumerate(FIELDS):
            if not FIELDS[name]:
                continue
            rows = np.flatnonzero(group == number)
            arguments = [events[row].args for row in rows.tolist()]
            if None in arguments:
                rows = rows[[argument is not None for argument in arguments]]
                arguments = [argument for argument in arguments if argument is not None]
            self._put(f"{name}.row", rows + self.count)
            for key in FIELDS[name]:
                self._take(f"{name}.{key}", key, arguments)
            if name == "host":
                self._look_for_extras(arguments)

    def _look_for_extras(self, arguments: list[Any]) -> None:
        """Note which extras the recording has: shapes, and call stacks in the arguments."""
        for extra, get in (("shapes", attrgetter("shapes")), ("stacks", attrgetter("stack"))):
            if extra not in self.extras and any(bytes(get(a)) not in _NO_EXTRA for a in arguments):
                self.extras.add(extra)

    def _take(self, place: str, key: str, arguments: list[Any]) -> None:
        """Keep one argument of some events."""
        if key in _FIGURES:
            self._put(place, floats(list(map(attrgetter(key), arguments))))
        elif key == "unfinished":
            self._put(place, np.array([a.finished in _UNFINISHED for a in arguments], bool))
        elif key == "collective":
            self._put(place, np.array([bool(a.collective) for a in arguments], bool))
        elif key == "label":
            self._texts_of(place, [_text(a.label if a.label is not None else a.labels) for a in arguments])
        elif key in ("grid", "block"):
            self._texts_of(place, [_shape(getattr(a, key)) for a in arguments])
        else:
            self._put(place, integers(list(map(attrgetter(key), arguments))))

    def _texts_of(self, key: str, values: list[str]) -> None:
        self._put(key, self._texts.setdefault(key, Numbering(_text)).codes(values, len(values)))

    def _put(self, key: str, values: npt.NDArray[Any]) -> None:
        self._parts.setdefault(key, []).append(values)

    def array(self, key: str) -> npt.NDArray[Any]:
        """Return a column of all pieces."""
        parts = self._parts.setdefault(key, [])
        if len(parts) > 1:
            parts[:] = [np.concatenate(parts)]
        return parts[0] if parts else np.empty(0, np.int64)

    def pair_begins_and_ends(self) -> None:
        """Make a complete event of each begin that has an end on its thread."""
        from kinetoscope.reading import pairs

        phase, time = self.array("phase"), self.array("ts")
        begins, ends = phase == self.phases.get("B", -1), phase == self.phases.get("E", -1)
        rows = np.flatnonzero((begins | ends) & (time != MISSING))
        if not rows.size:
            return
        begin, end = pairs.match(self.array("thread")[rows].astype(np.int64), time[rows], begins[rows])
        phase[rows[begin]] = self.phases["X"]
        phase[rows[end]] = self.phases[PAIRED_END]
        self.array("dur")[rows[begin]] = time[rows[end]] - time[rows[begin]]

    def texts(self, key: str) -> tuple[npt.NDArray[np.int32], list[str]]:
        """Return a text column as codes and the distinct texts they number."""
        numbering = self.names if key == "name" else self._texts.get(key)
        return self.array(key).astype(np.int32, copy=False), numbering.listed if numbering else []


def _text(value: Any) -> str:
    """Return any JSON value as text; nothing as the empty text."""
    return "" if value is None else value if isinstance(value, str) else str(value)


def _shape(value: Any) -> str:
    """Return a launch shape as ``x, y, z``."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return _text(value).strip("[]")


def integers(values: list[Any]) -> npt.NDArray[np.int64]:
    """Return ids as int64, -1 for what is none.

    Parameters
    ----------
    values : list of int, float, str or None

    Returns
    -------
    ndarray of int64
        Unsigned 64-bit ids keep their bits.
    """
    try:
        return np.array(values, np.int64)
    except (TypeError, ValueError, OverflowError):
        return np.array([integer(value) for value in values], np.int64)


def integer(value: Any) -> int:
    """Return one id as a signed 64-bit integer, -1 for what is none."""
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            return -1
    if isinstance(value, float):
        value = int(value) if abs(value) < _INT64 else -1
    if not isinstance(value, int):
        return -1
    if abs(value) > _INT64:
        value = (value + 2**63) % 2**64 - 2**63
    return int(value)


def floats(values: list[Any]) -> npt.NDArray[np.float64]:
    """Return figures as doubles, NaN for what is none.

    Parameters
    ----------
    values : list of int, float, str or None

    Returns
    -------
    ndarray of float64
    """
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([_float(value) for value in values], np.float64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def nanoseconds(values: list[Any]) -> npt.NDArray[np.int64]:
    """Convert times from µs to ns, exactly.

    Parameters
    ----------
    values : list of int, float, Decimal, str or None
        Times in µs. Doubles must be below 2^43 in size, or whole: others come as Decimal.

    Returns
    -------
    ndarray of int64
        ns; :data:`MISSING` where there is no usable time.
    """
    kinds = set(map(type, values))
    if not kinds <= {int, float}:
        return np.array([_nanosecond(value) for value in values], np.int64)
    try:
        times = np.array(values, np.float64)
    except OverflowError:
        return np.array([_nanosecond(value) for value in values], np.int64)
    usable = np.abs(times) < _INT64 // 1000
    times = np.where(usable, times, 0.0)
    whole = np.trunc(times)
    # a double holds whole µs and three digits exactly enough apart; together it does not
    exact = whole.astype(np.int64) * 1000 + np.rint((times - whole) * 1000).astype(np.int64)
    return np.where(usable, exact, MISSING)


def _nanosecond(value: Any) -> int:
    """Convert one time from µs to ns by decimal arithmetic."""
    if value is None or isinstance(value, bool):
        return int(MISSING)
    try:
        scaled = Decimal(value if not isinstance(value, float) else repr(value))
        # a time of that size is none, and its digits would fill the memory
        if not scaled.is_finite() or scaled.adjusted() > _MOST_DIGITS:
            return int(MISSING)
        found = int((scaled * 1000).to_integral_value())
    except (ArithmeticError, ValueError):
        return int(MISSING)
    return found if abs(found) < _INT64 else int(MISSING)
