"""From gathered JSON values to the columns of events: kinds, devices, times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope import schema
from kinetoscope.reading.accounts import account
from kinetoscope.reading.columns import Codes, Columns, Flags, Flows, Ints, Thread
from kinetoscope.reading.decode import Decoded
from kinetoscope.reading.gather import FIELDS, Gatherer
from kinetoscope.reading.kept import FIELDS as KEPT
from kinetoscope.reading.kept import NAMES, Kept
from kinetoscope.reading.progress import Listener, Progress, Pulse, ignore
from kinetoscope.reading.threads import threads_of
from kinetoscope.reading.values import MISSING, integer

_LARGE = 1_000_000_000  # ns; a recording that counts from its own start may well begin at 0
_LATEST_BASE = 1 << 62  # ns; the year 2116
_EVENT_PHASES = {"X": "event", "i": "instant", "I": "instant", "n": "instant", "C": "counter"}


def build(decoded: Decoded, kinds: schema.KindTable | None = None, tell: Listener = ignore) -> Columns:
    """Classify what was decoded.

    Parameters
    ----------
    decoded : Decoded
    kinds : KindTable, optional
        Which kind each category is; the product's own table by default.
    tell : callable, optional
        Hears that it goes on, when it takes long.

    Returns
    -------
    Columns
    """
    raw = decoded.columns
    pulse = Pulse(tell, Progress("link", 0, 0, raw.count))
    raw.pair_begins_and_ends()
    names, name_texts = raw.texts("name")
    pulse.beat()
    kind, linking = _kinds(raw, names, name_texts, kinds or schema.KindTable())
    bad = _unreadable(decoded)
    rows = np.flatnonzero((kind >= 0) & ~bad)
    pulse.beat()
    arguments = _Arguments(raw, rows, pulse)
    threads, thread_of = threads_of(raw)
    base = _base(decoded.metadata)
    kept_kind = kind[rows]
    times, origin = _timing(raw, rows, kept_kind, base)
    thread = thread_of[raw.array("thread")[rows]]
    pulse.beat()
    device, stream = _places(arguments, thread, threads, kept_kind)
    return Columns(
        id=rows.astype(np.int64),
        kind=kept_kind,
        category=raw.array("category")[rows],
        name=names[rows],
        thread=thread,
        **times,
        unfinished=arguments.flags("unfinished") & (kept_kind != schema.CODE["memory"]),
        device=device,
        stream=stream,
        **_arguments(raw, arguments, kept_kind),
        categories=raw.categories.listed,
        names=name_texts,
        threads=threads,
        flows=_flows(raw, linking, thread_of, base - origin),
        origin_ns=origin,
        accounts=account(raw, kind, linking, bad),
    )


def _unreadable(decoded: Decoded) -> Flags:
    """Return which events could not be read."""
    found = np.zeros(decoded.columns.count, bool)
    found[[position for position, _ in decoded.unreadable]] = True
    return found


def _arguments(raw: Gatherer, arguments: _Arguments, kind: npt.NDArray[np.int8]) -> dict[str, Any]:
    """Return the ids that tie events to each other, the launch figures of device work, and what is kept of a few kinds of event."""
    external = arguments.integers("external_id")
    return {
        "correlation": np.maximum(arguments.integers("correlation", 0), 0),
        "external_id": _first_given(external, arguments.integers("old_external_id")),
        "sequence_number": arguments.integers("sequence_number"),
        "forward_thread": arguments.integers("forward_thread"),
        "collective": arguments.flags("collective"),
        "details": _details(arguments),
        "kept": _kept(raw, arguments, kind),
        "extras": sorted(raw.extras),
        "shapes": {key: raw.texts(f"device.{key}")[1] for key in ("grid", "block")},
    }


def _kinds(
    raw: Gatherer, names: Codes, texts: list[str], table: schema.KindTable
) -> tuple[npt.NDArray[np.int8], Flags]:
    """Return the kind code of every event, -1 for what is no event, and which flow ends tie forward to backward."""
    category = raw.array("category")
    of_category = {code: (text, table.of_category(text)) for code, text in enumerate(raw.categories.listed)}
    codes = np.array([schema.CODE.get(of_category[c][1], -1) for c in range(len(of_category))] or [-1], np.int8)
    kind = codes[category] if raw.count else np.empty(0, np.int8)
    for code, (text, _) in of_category.items():
        for prefix, other in table.exceptions(text):
            matching = np.array([name.startswith(prefix) for name in texts], bool)
            kind[(category == code) & matching[names]] = schema.CODE[other]
    phase = raw.array("phase")
    complete = phase == raw.phases.get("X", -1)
    memory = np.array([name in NAMES for name in texts] or [False], bool)[names] if raw.count else complete
    # only complete events are of a timed kind; marks in time are memory records, counters, or "other"
    instant = ~complete
    kind[instant] = schema.CODE["other"]
    kind[memory & (complete | instant)] = schema.CODE["memory"]
    kind[phase == raw.phases.get("C", -1)] = schema.CODE["counter"]
    events = np.isin(phase, [code for text, code in raw.phases.items() if text in _EVENT_PHASES])
    # a mark without a time marks nothing; a range without one is kept, and counted as untimed
    kind[~events | (~complete & (raw.array("ts") == MISSING))] = -1
    flow = np.isin(phase, [code for text, code in raw.phases.items() if text in ("s", "f", "t")])
    linking = np.array(
        [table.links_forward_to_backward(of_category[c][0]) for c in range(len(of_category))] or [False], bool
    )
    return kind, flow & linking[category] if raw.count else flow


class _Arguments:
    """Arguments spread over the kept rows."""

    def __init__(self, raw: Gatherer, rows: Ints, pulse: Pulse) -> None:
        self._raw, self._rows, self._pulse = raw, rows, pulse
        self._places: dict[str, tuple[Ints, Ints | slice]] = {}

    def place(self, group: str) -> tuple[Ints, Ints | slice]:
        """Return the kept rows whose events are in a group, and where the group has them."""
        if group not in self._places:
            held = self._raw.array(f"{group}.row")
            at = np.searchsorted(self._rows, held)
            kept = np.append(self._rows, -1)[at] == held
            self._places[group] = (at, slice(None)) if kept.all() else (at[kept], np.flatnonzero(kept))
        return self._places[group]

    def _spread(self, key: str, missing: Any, values_of: Callable[[str], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        found = np.broadcast_to(missing, self._rows.shape)
        for group, fields in FIELDS.items():
            given = values_of(f"{group}.{key}") if key in fields else found[:0]
            some = given[:1] if given.strides == (0,) else given
            # NaN is not itself: where it is what is missing, any number differs
            if (some != missing if missing == missing else some == some).any():
                # what no event has takes no memory
                found = found if found.flags.owndata else found.copy()
                at, place = self.place(group)
                found[at] = given[place]
        self._pulse.beat()
        return found

    def integers(self, key: str, missing: int = -1) -> Ints:
        return self._spread(key, np.int64(missing), self._raw.array)

    def floats(self, key: str) -> npt.NDArray[np.float64]:
        return self._spread(key, np.float64(np.nan), self._raw.array)

    def flags(self, key: str) -> Flags:
        return self._spread(key, np.bool_(False), self._raw.array)

    def texts(self, key: str) -> Codes:
        """Return codes of texts; the empty text is none."""

        def codes_of(place: str) -> Codes:
            codes, texts = self._raw.texts(place)
            empty = np.array([not text for text in texts] or [True], bool)
            return np.where(empty[codes], -1, codes).astype(np.int32)

        return self._spread(key, np.int32(-1), codes_of)


def _first_given(values: Ints, others: Ints) -> Ints:
    """Return values, and others in place of those that are not given; the values themselves where there are no others."""
    return np.where(values >= 0, values, others) if (others >= 0).any() else values


def _details(arguments: _Arguments) -> dict[str, npt.NDArray[Any]]:
    """Return the launch figures of device work."""
    size = arguments.integers("bytes")
    return {
        "grid": arguments.texts("grid"),
        "block": arguments.texts("block"),
        "registers": arguments.integers("registers"),
        "shared_memory": arguments.integers("shared_memory"),
        "blocks_per_sm": arguments.floats("blocks_per_sm"),
        "occupancy": arguments.floats("occupancy"),
        "bytes": _first_given(size, arguments.integers("size")),
        "bandwidth": arguments.floats("bandwidth"),
    }


def _kept(raw: Gatherer, arguments: _Arguments, kind: npt.NDArray[np.int8]) -> dict[str, Kept]:
    """Return the kept arguments of all events of some kinds."""
    found = {}
    for name, fields in KEPT.items():
        at, place = arguments.place(f"kept.{name}")
        values = raw.array(f"kept.{name}").reshape(-1, len(fields))[place]
        own = kind[at] == schema.CODE[name]
        rows, values = (at, values) if own.all() else (at[own], values[own])
        if rows.size:
            rows.flags.writeable = values.flags.writeable = False
            found[name] = Kept(rows, values)
    return found


def _base(metadata: dict[str, Any]) -> int:
    """Return what the file's times count from, in ns since 1970."""
    base = integer(metadata.get("baseTimeNanoseconds", 0))
    return base if 0 < base < _LATEST_BASE else 0


def _timing(raw: Gatherer, rows: Ints, kind: npt.NDArray[np.int8], base: int) -> tuple[dict[str, Any], int]:
    """Return when the kept events were, counted from the trace's origin, and that."""
    start, duration, usable = _times(raw, rows, base)
    complete = raw.array("phase")[rows] == raw.phases.get("X", -1)
    timed = usable & complete
    origin = _origin(start, timed & np.isin(kind, schema.TIMED), usable)
    times = {"start": np.where(usable, start - origin, 0), "duration": np.where(usable, duration, 0)}
    return times | {"timed": timed, "complete": complete}, origin


def _times(raw: Gatherer, rows: Ints, base: int) -> tuple[Ints, Ints, Flags]:
    """Return absolute starts, lengths, and whether both are usable."""
    start = raw.array("ts")[rows]
    duration = raw.array("dur")[rows]
    complete = raw.array("phase")[rows] == raw.phases.get("X", -1)
    usable = (start != MISSING) & ((duration != MISSING) | ~complete)
    # a stamp that was lost is written as 0
    others = start[usable & (start != 0)]
    if others.size and np.median(others) > _LARGE:
        usable &= ~((start == 0) & (duration == 0) & complete)
    duration = np.where((duration == MISSING) | ~complete, 0, duration)
    start = np.where(usable, start, 0)
    return start + base, duration, usable


def _origin(start: Ints, timed: Flags, usable: Flags) -> int:
    """Return the absolute ns that times count from: the first timed host or device event."""
    for mask in (timed, usable):
        if mask.any():
            return int(start[mask].min())
    return 0


def _places(
    arguments: _Arguments, thread: Codes, threads: list[Thread], kind: npt.NDArray[np.int8]
) -> tuple[Ints, Ints]:
    """Return device and stream of device rows: from the arguments, else from the row of the recording."""
    on_device = np.isin(kind, [*schema.WORK, schema.CODE["device_range"], schema.CODE["sync"]])
    pids = np.array([integer(t.pid) for t in threads] or [-1], np.int64)
    tids = np.array([t.tid for t in threads] or [-1], np.int64)
    device = arguments.integers("device")
    device = np.where(device >= 0, device, arguments.integers("in_device"))
    stream = arguments.integers("stream")
    if thread.size:
        device = np.where(device >= 0, device, pids[thread])
        stream = np.where(stream != -1, stream, tids[thread])
    return np.where(on_device, device, -1), np.where(on_device, stream, -1)


def _flows(raw: Gatherer, linking: Flags, thread_of: Codes, shift: int) -> Flows:
    held = raw.array("flow.row")
    kept = linking[held] & (raw.array("ts")[held] != MISSING)
    rows = held[kept]
    phase = raw.array("phase")[rows]
    return Flows(
        flow=raw.array("flow")[kept],
        thread=thread_of[raw.array("thread")[rows]],
        time=raw.array("ts")[rows] + shift,
        start=phase == raw.phases.get("s", -1),
    )
