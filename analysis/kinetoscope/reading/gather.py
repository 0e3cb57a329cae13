"""Gather decoded records into plain columns, piece by piece.

Names and categories are numbered once; arguments are kept only for the events that have them. The gatherer knows what records look like, not what
events mean: that is :mod:`kinetoscope.reading.classify`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope.reading import kept, packed, records, values
from kinetoscope.reading.packed import EXACT_ID, NotPlainError
from kinetoscope.reading.values import EXACT_TIME, MISSING, Numbering

PAIRED_END = "E (paired)"
"""Phase of an end that has closed its begin."""

_UNFINISHED = (False, "false")
_FLOW_PHASES = frozenset("stf")
_HEADING = attrgetter("ph", "cat", "pid", "tid")
_NAME, _ARGUMENTS, _FLOW = attrgetter("name"), attrgetter("args"), attrgetter("id")
_COLLECTIVE, _GRID, _BLOCK = attrgetter("collective"), attrgetter("grid"), attrgetter("block")
_START, _LENGTH, _FINISHED = attrgetter("ts"), attrgetter("dur"), attrgetter("finished")

_LINKS = ("correlation", "external_id", "old_external_id")
_SIZES = ("bytes", "size")
_FIGURES = ("blocks_per_sm", "occupancy", "bandwidth")
_SHAPES = ("grid", "block")
_EXTRAS = {"shapes": "shapes", "stacks": "stack"}

FIELDS: dict[str, tuple[str, ...]] = {
    "host": (*_LINKS, *_SIZES, "sequence_number", "forward_thread", "unfinished"),
    "device": (
        *_LINKS,
        *_SIZES,
        *_FIGURES,
        *("device", "in_device", "stream", "registers", "shared_memory", *_SHAPES, "collective", "unfinished"),
    ),
    "frame": ("unfinished",),
    "name": ("label",),
    "nothing": (),
}
"""Arguments that are kept, by group of categories; the others are decoded when they are asked for."""

_GROUPS = list(FIELDS)
_NO_IDS = (*_FIGURES, *_SHAPES, "collective", "unfinished")
_IDS = {group: tuple(name for name in FIELDS[group] if name not in _NO_IDS) for group in ("host", "device")}
_DESCRIBED = ("phase", "category", "thread")
_NO_ARGUMENTS = records.KeptArguments()
_DESCRIPTIONS = len(_DESCRIBED) + 3


class Gatherer:
    """Columns that grow by pieces.

    Parameters
    ----------
    group_of : callable
        Tells the group of a category, a key of :data:`FIELDS`.
    kind_of : callable, optional
        Tells the kind of a category.

    Attributes
    ----------
    count : int
        Events so far.
    extras : set of str
        ``shapes`` and ``stacks``, where some event has them.
    """

    def __init__(self, group_of: Callable[[str], str], kind_of: Callable[[str], str] = str) -> None:
        self.count = 0
        self._group_of, self._kind_of = group_of, kind_of
        self._headings = Numbering(lambda heading: heading)
        self._described: list[tuple[int, int, int, int, bool, bool]] = []
        self._syncs = False
        self.phases = Numbering(values.as_text)
        self.categories = Numbering(values.as_text)
        self.threads = Numbering(lambda key: key)
        self.names = Numbering(values.as_text)
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._texts: dict[str, Numbering] = {}
        self.extras: set[str] = set()

    # --- taking in ------------------------------------------------------------------------------------------------------------------

    def add(self, events: Sequence[Any]) -> None:
        """Take in one piece of records of any kind."""
        group, flows, found = self._head(events)
        found["ts"] = values.nanoseconds(list(map(_START, events)))
        found["dur"] = values.nanoseconds(list(map(_LENGTH, events)))
        found["flow"] = values.integers([events[row].id for row in flows.tolist()])
        self._put_all(found)
        for number, name in enumerate(_GROUPS):
            if not FIELDS[name]:
                continue
            rows = np.flatnonzero(group == number)
            arguments = [events[row].args for row in rows.tolist()]
            given = [argument is not None for argument in arguments]
            if not all(given):
                rows, arguments = rows[given], list(compress(arguments, given))
            self._put(f"{name}.row", rows + self.count)
            for key in FIELDS[name]:
                self._take(f"{name}.{key}", key, arguments)
            if name == "host":
                self._look_for_extras(arguments)
        for kind, rows in self._kept_rows(found).items():
            self._keep(kind, rows, [events[row].args or _NO_ARGUMENTS for row in rows.tolist()])
        self.count += len(events)

    def add_plain(self, events: Sequence[Any], plain: records.Plain) -> None:
        """Take in one piece of plain records: the same as :meth:`add`, much faster.

        Parameters
        ----------
        events : sequence of records
        plain : Plain
            Their types.

        Raises
        ------
        NotPlainError
            When a number is too large for the doubles of plain records, or an event has arguments that are kept and not in them; nothing of the
            piece is taken in then.
        """
        count = len(events)
        group, flows, found = self._head(events)
        kept_rows = self._kept_rows(found)
        if not kept_rows.keys() <= plain.kept:
            raise NotPlainError("kept", frozenset(kept_rows))
        found["ts"] = _starts(events, plain)
        flow = np.fromiter(map(_FLOW, map(events.__getitem__, flows.tolist())), np.float64, flows.size)
        if np.abs(flow).max(initial=0) >= EXACT_ID:
            raise NotPlainError("flow ids")
        found["dur"] = values.doubles_to_nanoseconds(np.fromiter(map(_LENGTH, events), np.float64, count))
        found["flow"] = flow.astype(np.int64)
        arguments = list(map(_ARGUMENTS, events))
        shapes: list[Any] = []
        for name in ("host", "device"):
            rows, some = _of_group(group, name, arguments)
            if some:
                found[f"{name}.row"] = rows + self.count
                numbers = packed.columns(some, _IDS[name], _FIGURES if name == "device" else ())
                found |= {f"{name}.{key}": column for key, column in numbers.items()}
                shapes = some if name == "device" else []
        self._put_all(found)
        if shapes:
            self._put("device.collective", _given(list(map(_COLLECTIVE, shapes))))
            self._texts_of("device.grid", list(map(_GRID, shapes)))
            self._texts_of("device.block", list(map(_BLOCK, shapes)))
        self._take_few(group, arguments, plain)
        for kind, rows in kept_rows.items():
            self._keep(kind, rows, list(map(arguments.__getitem__, rows.tolist())))
        self.count += count

    def _take_few(self, group: npt.NDArray[np.int8], arguments: list[Any], plain: records.Plain) -> None:
        """Keep what few plain records have: labels of processes and threads, and frames that were not finished."""
        rows, some = _of_group(group, "name", arguments)
        given = [argument is not plain.no_arguments for argument in some]
        if any(given):
            self._put("name.row", rows[given] + self.count)
            self._take("name.label", "label", list(compress(some, given)))
        rows, some = _of_group(group, "frame", arguments)
        unfinished = ~np.fromiter(map(_FINISHED, some), bool, len(some))
        if unfinished.any():
            self._put("frame.row", rows[unfinished] + self.count)
            self._put("frame.unfinished", unfinished[unfinished])

    def _head(self, events: Sequence[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64], dict[str, Any]]:
        """Number headings and names; return each event's group, the rows that have flow ids, and what to keep."""
        heading = self._headings.codes(map(_HEADING, events), len(events))
        for phase, category, pid, tid in self._headings.listed[len(self._described) :]:
            codes = (self.phases[phase], self.categories[category], self.threads[pid, tid])
            group = _GROUPS.index(self._group_of(self.categories.listed[codes[1]]))
            sync = self._kind_of(self.categories.listed[codes[1]]) == "sync"
            self._syncs |= sync
            self._described.append((*codes, group, phase in _FLOW_PHASES, sync))
        *_, groups, flowing, _ = self._descriptions.T
        flows = np.flatnonzero(flowing.astype(bool)[heading])
        name = self.names.codes(map(_NAME, events), len(events))
        return (
            groups.astype(np.int8)[heading],
            flows,
            {"heading": heading, "name": name, "flow.row": flows + self.count},
        )

    @property
    def _descriptions(self) -> npt.NDArray[np.int32]:
        """What is known of each heading."""
        return np.array(self._described, np.int32).reshape(-1, _DESCRIPTIONS)

    def _kept_rows(self, found: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.int64]]:
        """Return the events of a piece of which arguments are kept, by their kind."""
        chosen: dict[str, npt.NDArray[np.bool_]] = {}
        codes = [self.names[name] for name in kept.NAMES if name in self.names]
        if codes:
            chosen["memory"] = np.any([found["name"] == code for code in codes], axis=0)
        if self._syncs:
            chosen["sync"] = self._descriptions[:, -1].astype(bool)[found["heading"]]
        return {kind: np.flatnonzero(flags) for kind, flags in chosen.items() if flags.any()}

    def _keep(self, kind: str, rows: npt.NDArray[np.int64], arguments: list[Any]) -> None:
        self._put(f"kept.{kind}.row", rows + self.count)
        self._put(f"kept.{kind}", kept.table(kind, arguments))

    def look_for_extras(self, events: Sequence[records.ExtrasEvent]) -> None:
        """Note which extras the recording has."""
        host = {text for text in {event.cat for event in events} if self._group_of(values.as_text(text)) == "host"}
        self._look_for_extras([event.args for event in events if event.cat in host and event.args is not None])

    def _look_for_extras(self, arguments: list[Any]) -> None:
        """Note which extras the recording has: shapes, and call stacks in the arguments."""
        for extra, field in _EXTRAS.items():
            if extra not in self.extras and any(map(records.is_given, map(attrgetter(field), arguments))):
                self.extras.add(extra)

    def _take(self, place: str, key: str, arguments: list[Any]) -> None:
        """Keep one argument of some events."""
        if key in _FIGURES:
            self._put(place, values.floats(list(map(attrgetter(key), arguments))))
        elif key == "unfinished":
            self._put(place, np.array([a.finished in _UNFINISHED for a in arguments], bool))
        elif key == "collective":
            self._put(place, np.array([bool(a.collective) for a in arguments], bool))
        elif key == "label":
            self._texts_of(place, [values.as_text(a.label if a.label is not None else a.labels) for a in arguments])
        elif key in _SHAPES:
            self._texts_of(place, [values.shape_text(getattr(a, key)) for a in arguments])
        else:
            self._put(place, values.integers(list(map(attrgetter(key), arguments))))

    def _texts_of(self, key: str, texts: list[Any]) -> None:
        self._put(key, self._texts.setdefault(key, Numbering(_clean)).codes(texts, len(texts)))

    def _put(self, key: str, column: npt.NDArray[Any]) -> None:
        self._parts.setdefault(key, []).append(column)

    def _put_all(self, found: dict[str, npt.NDArray[Any]]) -> None:
        for key, column in found.items():
            self._put(key, column)

    # --- giving out -----------------------------------------------------------------------------------------------------------------

    def array(self, key: str) -> npt.NDArray[Any]:
        """Return a column of all pieces."""
        parts = self._parts.setdefault(key, [])
        if not parts and key in _DESCRIBED:
            described = self._descriptions[:, _DESCRIBED.index(key)]
            parts.append(described[self.array("heading")])
        if len(parts) > 1:
            parts[:] = [_joined(parts)]
        return parts[0] if parts else np.empty(0, np.int64)

    def pair_begins_and_ends(self) -> None:
        """Make a complete event of each begin that has an end on its thread."""
        from kinetoscope.reading import pairs

        if not {"B", "E"} <= self.phases.keys():
            return
        phase, time = self.array("phase"), self.array("ts")
        begins, ends = phase == self.phases.get("B", -1), phase == self.phases.get("E", -1)
        rows = np.flatnonzero((begins | ends) & (time != MISSING))
        begin, end = pairs.match(self.array("thread")[rows].astype(np.int64), time[rows], begins[rows])
        phase[rows[begin]] = self.phases["X"]
        phase[rows[end]] = self.phases[PAIRED_END]
        self.array("dur")[rows[begin]] = time[rows[end]] - time[rows[begin]]

    def texts(self, key: str) -> tuple[npt.NDArray[np.int32], list[str]]:
        """Return a text column as codes and the distinct texts they number."""
        numbering = self.names if key == "name" else self._texts.get(key)
        return self.array(key).astype(np.int32, copy=False), numbering.listed if numbering else []


def _starts(events: Sequence[Any], plain: records.Plain) -> npt.NDArray[np.int64]:
    """Return the starts of plain records, ns."""
    starts = map(_START, events)
    if plain.times == "text":
        exact = values.texts_to_nanoseconds(list(map(bytes, starts))) if events else np.empty(0, np.int64)
        if exact is None:
            raise NotPlainError("texts")
        return exact
    doubles = np.fromiter(starts, np.float64, len(events))
    if plain.times == "double" and np.nanmax(np.abs(doubles), initial=0) > EXACT_TIME:
        raise NotPlainError("times")
    return values.doubles_to_nanoseconds(doubles)


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the parts of a column as one array; one value where it is the same everywhere."""
    if all(part.strides == (0,) and part.size for part in parts) and len({part[0] for part in parts}) == 1:
        return np.broadcast_to(parts[0][0], sum(map(len, parts)))
    return np.concatenate(parts)


def _given(found: list[Any]) -> npt.NDArray[np.bool_]:
    """Return which of some values say something; mostly none does."""
    return (
        np.zeros(len(found), bool)
        if found.count(None) == len(found)
        else np.fromiter(map(bool, found), bool, len(found))
    )


def _of_group(group: npt.NDArray[np.int8], name: str, arguments: list[Any]) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Return the rows of one group and their arguments."""
    rows = np.flatnonzero(group == _GROUPS.index(name))
    return rows, list(map(arguments.__getitem__, rows.tolist()))


def _clean(value: Any) -> str:
    return "" if value is records.NO_SHAPE else values.shape_text(value)
