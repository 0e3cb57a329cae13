"""From gathered JSON values to the columns of events: kinds, threads, devices, times, and an account of every event of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope import schema
from kinetoscope.reading.decode import Decoded
from kinetoscope.reading.gather import FIELDS, MISSING, PAIRED_END, Gatherer, integer

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

_LARGE = 1_000_000_000  # ns; a recording that counts from its own start may well begin at 0
_EVENT_PHASES = {"X": "event", "i": "instant", "I": "instant", "n": "instant", "C": "counter"}
_ARRAYS = frozenset(
    (
        *("id", "kind", "category", "name", "thread", "start", "duration", "timed", "complete", "unfinished"),
        *("device", "stream", "correlation", "external_id", "sequence_number", "forward_thread", "collective"),
    )
)
_NUMBER = re.compile(r"-?\d+(?!.*\d)")


class Account(NamedTuple):
    """What became of some of the file's events.

    Parameters
    ----------
    what : str
        The events: phase and category.
    reason : str
        What they are kept as, or why they are left out.
    events : int
        How many.
    kept : bool
    """

    what: str
    reason: str
    events: int
    kept: bool


class Thread(NamedTuple):
    """A row of the recording: a host thread, or a device's stream as the file has it."""

    pid: str
    tid: int
    process_name: str
    name: str


@dataclass(frozen=True)
class Flows:
    """Ends of forward–backward flows: ``start`` marks the forward end."""

    flow: Ints
    thread: Codes
    time: Ints
    start: Flags


@dataclass(frozen=True)
class Columns:
    """Columns of the kept events, one row each, in file order. Times in ns from ``origin_ns``; -1 is "none" for ids and codes.

    ``correlation`` is 0 where there is none. ``kind`` holds codes of :data:`kinetoscope.schema.KINDS`; ``category`` and ``name`` index
    ``categories`` and ``names``; ``thread`` indexes ``threads``.
    """

    id: Ints
    kind: npt.NDArray[np.int8]
    category: Codes
    name: Codes
    thread: Codes
    start: Ints
    duration: Ints
    timed: Flags
    complete: Flags
    unfinished: Flags
    device: Ints
    stream: Ints
    correlation: Ints
    external_id: Ints
    sequence_number: Ints
    forward_thread: Ints
    collective: Flags
    details: dict[str, npt.NDArray[Any]]
    shapes: dict[str, list[str]]
    categories: list[str]
    names: list[str]
    threads: list[Thread]
    flows: Flows
    origin_ns: int
    accounts: list[Account]

    @cached_property
    def end(self) -> Ints:
        """Ends of the events, ns."""
        end = self.start + self.duration
        end.flags.writeable = False
        return end

    @classmethod
    def lazy(cls, ready: dict[str, Any], read: Callable[[str], npt.NDArray[Any]]) -> Columns:
        """Return columns of which those that are not ready are read when they are first used.

        Parameters
        ----------
        ready : dict
            Attributes that are there already.
        read : callable
            Returns the array of an attribute.

        Returns
        -------
        Columns
        """
        made = object.__new__(cls)
        made.__dict__.update(ready, _read=read)
        return made

    def __getattr__(self, name: str) -> Any:
        read = self.__dict__.get("_read")
        if read is None or name not in _ARRAYS:
            raise AttributeError(name)
        values = read(name)
        values.flags.writeable = False
        self.__dict__[name] = values
        return values

    def __len__(self) -> int:
        return int(self.id.size)


def build(decoded: Decoded, kinds: schema.KindTable | None = None) -> Columns:
    """Classify what was decoded.

    Parameters
    ----------
    decoded : Decoded
    kinds : KindTable, optional
        Which kind each category is; the product's own table by default.

    Returns
    -------
    Columns
    """
    raw = decoded.columns
    raw.pair_begins_and_ends()
    names, name_texts = raw.texts("name")
    kind, linking = _kinds(raw, names, name_texts, kinds or schema.KindTable())
    bad = np.isin(np.arange(raw.count), [position for position, _ in decoded.unreadable])
    rows = np.flatnonzero((kind >= 0) & ~bad)
    arguments = _Arguments(raw, rows)
    threads, thread_of = _threads(raw)
    base = _base(decoded.metadata)
    start, duration, usable = _times(raw, rows, base)
    kept_kind = kind[rows]
    complete = raw.array("phase")[rows] == raw.phases.get("X", -1)
    timed = usable & complete
    origin = _origin(start, timed & np.isin(kept_kind, schema.TIMED), usable)
    thread = thread_of[raw.array("thread")[rows]]
    device, stream = _places(arguments, thread, threads, kept_kind)
    return Columns(
        id=rows.astype(np.int64),
        kind=kept_kind,
        category=raw.array("category")[rows],
        name=names[rows],
        thread=thread,
        start=np.where(usable, start - origin, 0),
        duration=np.where(usable, duration, 0),
        timed=timed,
        complete=complete,
        unfinished=arguments.flags("unfinished") & (kept_kind != schema.CODE["memory"]),
        device=device,
        stream=stream,
        **_arguments(raw, arguments),
        categories=raw.categories.listed,
        names=name_texts,
        threads=threads,
        flows=_flows(raw, linking, thread_of, base - origin),
        origin_ns=origin,
        accounts=_accounts(raw, kind, linking, bad),
    )


def _arguments(raw: Gatherer, arguments: _Arguments) -> dict[str, Any]:
    """Return the ids that tie events to each other, and the launch figures of device work."""
    external = arguments.integers("external_id")
    return {
        "correlation": np.maximum(arguments.integers("correlation", 0), 0),
        "external_id": np.where(external >= 0, external, arguments.integers("old_external_id")),
        "sequence_number": arguments.integers("sequence_number"),
        "forward_thread": arguments.integers("forward_thread"),
        "collective": arguments.flags("collective"),
        "details": _details(arguments),
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
    memory = (
        np.array([name in ("[memory]", "[OutOfMemory]") for name in texts] or [False], bool)[names]
        if raw.count
        else complete
    )
    # only complete events are of a timed kind; marks in time are memory records, counters, or "other"
    instant = ~complete
    kind[instant] = schema.CODE["other"]
    kind[memory & (complete | instant)] = schema.CODE["memory"]
    kind[phase == raw.phases.get("C", -1)] = schema.CODE["counter"]
    events = np.isin(phase, [code for text, code in raw.phases.items() if text in _EVENT_PHASES])
    kind[~events] = -1
    flow = np.isin(phase, [code for text, code in raw.phases.items() if text in ("s", "f", "t")])
    linking = np.array(
        [table.links_forward_to_backward(of_category[c][0]) for c in range(len(of_category))] or [False], bool
    )
    return kind, flow & linking[category] if raw.count else flow


class _Arguments:
    """Arguments spread over the kept rows."""

    def __init__(self, raw: Gatherer, rows: Ints) -> None:
        self._raw, self._rows = raw, rows
        self._places: dict[str, tuple[Ints, Ints]] = {}

    def _place(self, group: str) -> tuple[Ints, Ints]:
        """Return the kept rows whose events are in a group, and where the group has them."""
        if group not in self._places:
            held = self._raw.array(f"{group}.row")
            at = np.searchsorted(self._rows, held)
            kept = np.append(self._rows, -1)[at] == held
            self._places[group] = at[kept], np.flatnonzero(kept)
        return self._places[group]

    def _spread(self, key: str, missing: Any, values_of: Callable[[str], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        found = np.full(self._rows.size, missing)
        for group, fields in FIELDS.items():
            if key in fields:
                at, place = self._place(group)
                found[at] = values_of(f"{group}.{key}")[place]
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
        "bytes": np.where(size >= 0, size, arguments.integers("size")),
        "bandwidth": arguments.floats("bandwidth"),
    }


def _base(metadata: dict[str, Any]) -> int:
    """Return what the file's times count from, in ns since 1970."""
    base = metadata.get("baseTimeNanoseconds", 0)
    try:
        return int(base)
    except (TypeError, ValueError):
        return 0


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


def _thread_number(value: Any) -> int:
    """Return a thread id as an integer: the last one in a text, -1 without one."""
    if isinstance(value, str):
        found = _NUMBER.search(value)
        return integer(int(found.group())) if found else -1
    return integer(value)


def _threads(raw: Gatherer) -> tuple[list[Thread], Codes]:
    """Return the rows of the recording with their names, and the row of each recorded (pid, tid): spellings of one thread are one."""
    rows = raw.array("name.row")
    labels, texts = raw.texts("name.label")
    phase = raw.array("phase")[rows] == raw.phases.get("M", -1)
    names = raw.texts("name")
    names_of_row = names[0][rows]
    process: dict[str, str] = {}
    thread: dict[tuple[str, int], str] = {}
    keys = raw.threads.listed
    owner = raw.array("thread")[rows]
    for i in np.flatnonzero(phase & (labels >= 0)):
        what, (pid, tid), label = names[1][names_of_row[i]], keys[owner[i]], texts[labels[i]].strip()
        if what == "process_name":
            process[_pid(pid)] = label
        elif what == "thread_name":
            thread[_pid(pid), _thread_number(tid)] = label
    rows_of: dict[tuple[str, int], int] = {}
    codes = [rows_of.setdefault((_pid(pid), _thread_number(tid)), len(rows_of)) for pid, tid in keys]
    found = [Thread(pid, tid, process.get(pid, ""), thread.get((pid, tid), "")) for pid, tid in rows_of]
    return found, np.array(codes or [0], np.int32)


def _pid(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)


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
    rows = np.flatnonzero(linking & (raw.array("ts") != MISSING))
    phase = raw.array("phase")[rows]
    return Flows(
        flow=raw.array("flow")[rows],
        thread=thread_of[raw.array("thread")[rows]],
        time=raw.array("ts")[rows] + shift,
        start=phase == raw.phases.get("s", -1),
    )


def _accounts(raw: Gatherer, kind: npt.NDArray[np.int8], linking: Flags, bad: Flags) -> list[Account]:
    """Account for every event of the file."""
    phase_texts = dict(enumerate(raw.phases.listed))
    category_texts = dict(enumerate(raw.categories.listed))
    fate = np.where(bad, 3, np.where(kind >= 0, 0, np.where(linking, 1, 2)))
    widths = (len(phase_texts), len(category_texts), 4)
    if raw.count:
        counts = np.bincount(np.ravel_multi_index((raw.array("phase"), raw.array("category"), fate), widths))
    else:
        counts = np.empty(0, np.int64)
    sums: Counter[tuple[str, str, bool]] = Counter()
    for key in np.flatnonzero(counts).tolist():
        phase, category, what = (int(part) for part in np.unravel_index(key, widths))
        count = int(counts[key])
        text = category_texts[category] or "no category"
        reason, kept = _fate(phase_texts[phase], what)
        sums[f"{phase_texts[phase] or 'no phase'} {text}", reason, kept] += count
    return [Account(what, reason, count, kept) for (what, reason, kept), count in sorted(sums.items())]


def _fate(phase: str, what: int) -> tuple[str, bool]:
    """Say what became of events of a phase."""
    if what == 0:
        return "event", True
    if what == 1:
        return "forward-backward link", True
    if what == 3:
        return "not a readable event", False
    reasons = {
        "M": ("names of processes and threads", True),
        "s": ("launch arrow: the correlation id says the same", False),
        "f": ("launch arrow: the correlation id says the same", False),
        "t": ("launch arrow: the correlation id says the same", False),
        "B": ("begin that is never closed", False),
        "E": ("end that closes nothing", False),
        PAIRED_END: ("end of a begin-end pair", True),
    }
    return reasons.get(phase, ("unknown phase", False))
