"""The critical path of each period: the one chain of host and device time that ends when the period does, and fills it exactly.

Definition: ``docs/definitions.md``, "Critical path". The walk goes back from the end of the period. On a stream it takes whole runs of works that
waited for each other, so that it takes as many turns as the path changes sides, not as many as there are events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, schema
from kinetoscope.idle.host_time import DOING, UNTRACED
from kinetoscope.idle.open_ranges import cut_at
from kinetoscope.idle.waits import waited_for, waits_before

if TYPE_CHECKING:
    from kinetoscope.idle.host_time import HostTime
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ON_DEVICE = (
    *("compute", "communication", "memcpy", "memset"),
    *("device scheduling", "other streams", "stream dependency", "launch latency"),
)
KINDS = (*ON_DEVICE, *DOING)
"""Kinds of stretches: first those of the device's side, then the host's."""

CODE = {kind: code for code, kind in enumerate(KINDS)}
_FIRST_OF_HOST = len(ON_DEVICE)
_STREAM, _WAIT, _LAUNCH, _NOTHING = range(4)
_NEVER = -(2**62)


@dataclass(frozen=True)
class Stretches:
    """Stretches of critical paths by time, one entry each.

    Parameters
    ----------
    period : ndarray of int64
        Position of the period: of the step, or of the window's piece where there are no steps.
    start, end : ndarray of int64
        ns.
    kind : ndarray of int8
        Index into :data:`KINDS`.
    row : ndarray of int64
        Row of the event that the time was spent in: the work, the host event; of what lies between, the work that waited; -1 for none.
    """

    period: Index
    start: Index
    end: Index
    kind: npt.NDArray[np.int8]
    row: Index

    def __len__(self) -> int:
        return int(self.start.size)

    def take(self, chosen: Flags) -> Stretches:
        """Return some of the stretches."""
        return Stretches(self.period[chosen], self.start[chosen], self.end[chosen], self.kind[chosen], self.row[chosen])


@dataclass(frozen=True)
class _Works:
    """Device work of positive length by device, stream and start, and what each waited for last.

    ``why`` tells which: the work before on the stream, a work of another stream (``other``), or the launch; ``head`` is where the run begins in
    which each work waited for the one before.
    """

    row: Index
    start: Index
    end: Index
    launch: Index
    why: npt.NDArray[np.int64]
    other: Index
    head: Index
    by_end: Index


def _works(trace: LinkedTrace) -> _Works:
    columns = trace.columns
    real = columns.duration[trace.work] > 0
    row, launch = trace.work[real], trace.launch_of_work[real]
    order = np.lexsort((columns.id[row], columns.start[row], columns.stream[row], columns.device[row]))
    row, launch = row[order], launch[order]
    start, end = columns.start[row], columns.end[row]
    fresh = np.ones(row.size, bool)
    fresh[1:] = (columns.device[row][1:] != columns.device[row][:-1]) | (
        columns.stream[row][1:] != columns.stream[row][:-1]
    )
    before = np.full(row.size, _NEVER, np.int64)
    before[1:] = end[:-1]
    before[fresh] = _NEVER
    called = np.where(launch >= 0, columns.start[np.maximum(launch, 0)] if len(columns) else launch, _NEVER)
    other = _waited_work(trace, row, launch)
    waited = np.where(other >= 0, end[np.maximum(other, 0)] if row.size else other, _NEVER)
    # whatever it is, it can hold a work up no longer than until it starts; of equals, the first in this order
    choice = np.minimum(np.stack([before, waited, called]), start)
    why = np.where(choice.max(axis=0, initial=_NEVER) == _NEVER, _NOTHING, choice.argmax(axis=0)) if row.size else row
    head = np.maximum.accumulate(np.where(why != _STREAM, np.arange(row.size), 0)) if row.size else row
    return _Works(row, start, end, launch, why, other, head, np.argsort(end, kind="stable"))


def _waited_work(trace: LinkedTrace, row: Index, launch: Index) -> Index:
    """Return the position of the last-ended work of the stream that each work was told to wait for, -1 for none."""
    columns = trace.columns
    found = np.full(row.size, -1, np.int64)
    known = np.flatnonzero(launch >= 0)
    if not trace.stream_waits.row.size or not known.size:
        return found
    pair, on = waits_before(trace, row[known])
    start, end = columns.start[row], columns.end[row]
    best = np.full(row.size, _NEVER, np.int64)
    for device, stream in np.unique(np.stack([columns.device[row[known[pair]]], on], axis=1), axis=0).tolist():
        asked = known[pair[(on == stream) & (columns.device[row[known[pair]]] == device)]]
        own = np.flatnonzero((columns.device[row] == device) & (columns.stream[row] == stream))
        if not own.size:
            continue
        own = own[np.argsort(end[own], kind="stable")]
        at = np.searchsorted(end[own], start[asked], side="right") - 1
        asked, last = asked[at >= 0], own[at[at >= 0]]
        later = end[last] > best[asked]
        best[asked[later]], found[asked[later]] = end[last[later]], last[later]
    return found


class _Walk:
    """The walks back from the ends of all periods; keeps what they pass, to be cut into stretches at once."""

    def __init__(self, trace: LinkedTrace) -> None:
        self.trace = trace
        self.works = _works(trace)
        self.linked = _linked_threads(trace)
        #: period, first and last work of a run, until when
        self.runs: list[tuple[int, int, int, int]] = []
        #: period, kind, row, start, end: what is known already
        self.known: list[tuple[int, int, int, int, int]] = []
        #: period, thread, start, end
        self.host: list[tuple[int, int, int, int]] = []
        self._blocking = self._waits_of_host()

    def _waits_of_host(self) -> dict[int, tuple[Index, Index]]:
        """Return, by thread, ends and positions of the works that its blocking calls waited for, by end."""
        trace, columns = self.trace, self.trace.columns
        place = np.full(len(trace) + 1, -1, np.int64)
        place[self.works.row] = np.arange(self.works.row.size)
        calls = np.flatnonzero(trace.host_time.blocking & columns.timed)
        work = place[waited_for(trace, calls)]
        calls, work = calls[work >= 0], work[work >= 0]
        inside = (self.works.end[work] <= columns.end[calls]) & (self.works.end[work] > columns.start[calls])
        calls, work = calls[inside], work[inside]
        found = {}
        for thread in np.unique(columns.thread[calls]).tolist():
            own = work[columns.thread[calls] == thread]
            own = own[np.argsort(self.works.end[own], kind="stable")]
            found[thread] = (self.works.end[own], own)
        return found

    def back(self, period: int, start: int, end: int) -> None:
        """Walk from the end of a period to its start."""
        works = self.works
        last = int(np.searchsorted(works.end[works.by_end], end, side="right")) - 1
        work = int(works.by_end[last]) if last >= 0 else -1
        if work < 0 or works.end[work] <= start:
            self._main(period, start, end)
            return
        at = int(works.end[work])
        if at < end:
            self._main(period, at, end)
        while at > start and work >= 0:
            at, thread = self._device(period, start, work, at)
            if at > start:
                at, work = self._host(period, start, thread, at)

    def _main(self, period: int, start: int, end: int) -> None:
        parts = self.trace.host_time.on_main_thread(np.array([start]), np.array([end]))
        for thread, low, high in zip(*(part.tolist() for part in parts[1:]), strict=True):
            self.host.append((period, thread, low, high))

    def _device(self, period: int, start: int, work: int, at: int) -> tuple[int, int]:
        """Pass device work; return when and on which thread the host comes in, or the start of the period."""
        works = self.works
        while True:
            head = int(works.head[work])
            low = head + int(np.searchsorted(works.start[head : work + 1], start, side="right")) - 1
            self.runs.append((period, max(low, head), work, at))
            if low >= head:
                return start, -1
            begin = int(works.start[head])
            if works.why[head] != _WAIT:
                return self._launch(period, start, head, begin)
            work = int(works.other[head])
            at = int(works.end[work])
            self._add(period, "stream dependency", int(works.row[head]), max(at, start), begin)
            if at <= start:
                return start, -1

    def _launch(self, period: int, start: int, work: int, begin: int) -> tuple[int, int]:
        """Pass the launch of a work; where it is not recorded, the main thread comes in at once."""
        call = int(self.works.launch[work])
        if call < 0:
            return begin, -1
        columns = self.trace.columns
        called = min(int(columns.start[call]), begin)
        returned = min(max(int(columns.end[call]), called), begin)
        self._add(period, "launch latency", int(self.works.row[work]), max(returned, start), begin)
        kind = "synchronization" if self.trace.host_time.blocking[call] else "launch calls"
        self._add(period, kind, call, max(called, start), max(returned, start))
        return max(called, start), int(columns.thread[call])

    def _add(self, period: int, kind: str, row: int, start: int, end: int) -> None:
        if end > start:
            self.known.append((period, CODE[kind], row, start, end))

    def _host(self, period: int, start: int, thread: int, at: int) -> tuple[int, int]:
        """Pass host time, back to the end of a work that a blocking call waited for; return when, and that work.

        Where there is none since the period began, return its start and -1.
        """
        if thread < 0:
            thread = int(self.trace.host_time.on_main_thread(np.array([at - 1]), np.array([at]))[1][0])
        best, work = start, -1
        for each in (thread, *self.linked.get(thread, ())):
            ends, works = self._blocking.get(each, (_EMPTY, _EMPTY))
            last = int(np.searchsorted(ends, at, side="right")) - 1
            if last >= 0 and ends[last] > best:
                best, work = int(ends[last]), int(works[last])
        if at > best:
            self.host.append((period, thread, best, at))
        return best, work


_EMPTY = np.empty(0, np.int64)


def _linked_threads(trace: LinkedTrace) -> dict[int, tuple[int, ...]]:
    """Return which threads work for each other: those that forward–backward links tie."""
    columns, forward = trace.columns, trace.forward_row
    backward = np.flatnonzero(forward >= 0)
    pairs = {
        (one, other)
        for one, other in np.unique(
            np.stack([columns.thread[backward], columns.thread[forward[backward]]], axis=1), axis=0
        ).tolist()
        if one != other
    }
    pairs |= {(other, one) for one, other in pairs}
    return {thread: tuple(sorted(b for a, b in pairs if a == thread)) for thread in {a for a, _ in pairs}}


def build(trace: LinkedTrace) -> Stretches:
    """Find the critical path of every period.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    Stretches
        They tile each period: of the steps, or of the window where there are none.
    """
    steps = trace.steps_table
    start, end = (steps.start, steps.end) if len(steps) else trace.window
    walk = _Walk(trace)
    for period, (low, high) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        if high > low:
            walk.back(period, low, high)
    parts = [_of_runs(walk, start), _of_known(walk), *_of_host(walk)]
    periods, starts, ends, kinds, rows = (np.concatenate([part[i] for part in parts]) for i in range(5))
    return _joined(*_beside_other_streams(trace, (periods, starts, ends, kinds, rows)))


def _beside_other_streams(trace: LinkedTrace, parts: _Part) -> _Part:
    """Tell from device scheduling what other streams of the device worked in meanwhile: the work may have waited for them, recorded or not."""
    period, start, end, kind, row = parts
    for device in trace.devices:
        on = (kind == CODE["device scheduling"]) & (row >= 0) & (end > start)
        own = np.flatnonzero(on & (trace.columns.device[np.maximum(row, 0)] == device.device))
        piece, low, high = cut_at(start[own], end[own], np.sort(np.concatenate(device.busy)))
        busy = intervals.covered_before(device.busy, high) > intervals.covered_before(device.busy, low)
        named = np.where(busy, CODE["other streams"], CODE["device scheduling"])
        rest = np.ones(start.size, bool)
        rest[own] = False
        cut = (period[own][piece], low, high, named, row[own][piece])
        period, start, end, kind, row = (
            np.concatenate([values[rest], part])
            for values, part in zip((period, start, end, kind, row), cut, strict=True)
        )
    return period, start, end, kind, row


_Part = tuple[Index, Index, Index, Index, Index]


def _of_known(walk: _Walk) -> _Part:
    period, kind, row, start, end = np.array(walk.known, np.int64).reshape(-1, 5).T
    return period, start, end, kind, row


def _of_runs(walk: _Walk, begins: Index) -> _Part:
    """Return the works of runs, and what lies between them."""
    works, trace = walk.works, walk.trace
    period, low, high, until = np.array(walk.runs, np.int64).reshape(-1, 4).T
    count = high - low + 1
    run = np.repeat(np.arange(low.size), count)
    at = np.arange(run.size) - np.repeat(np.cumsum(count) - count, count) + low[run]
    last = at == high[run]
    following = np.where(last, until[run], works.start[np.minimum(at + 1, max(works.start.size - 1, 0))])
    begin = begins[period[run]]
    start = np.minimum(np.maximum(works.start[at], begin), following)
    end = np.maximum(np.minimum(works.end[at], following), start)
    row = works.row[at]
    behind = np.where(last, row, works.row[np.minimum(at + 1, max(works.row.size - 1, 0))])
    waiting = np.full(at.size, CODE["device scheduling"])
    kinds = [_kind_of_work(trace)[row], waiting]
    return tuple(  # type: ignore[return-value]
        np.concatenate(pair)
        for pair in ((period[run], period[run]), (start, end), (end, np.maximum(following, end)), kinds, (row, behind))
    )


def _kind_of_work(trace: LinkedTrace) -> Index:
    """Return the kind of each device work, by row."""
    names = {schema.CODE["kernel"]: "compute", schema.CODE["memcpy"]: "memcpy", schema.CODE["memset"]: "memset"}
    kind = np.full(len(trace), -1, np.int64)
    for code, name in names.items():
        kind[trace.work[trace.columns.kind[trace.work] == code]] = CODE[name]
    kind[trace.work[trace.communication]] = CODE["communication"]
    return kind


def _of_host(walk: _Walk) -> list[_Part]:
    """Cut host time by what was done, on the thread itself or on one that works for it."""
    host = walk.trace.host_time
    period, thread, start, end = np.array(walk.host, np.int64).reshape(-1, 4).T
    piece, start, end = host.cut(thread, start, end)
    period, thread = period[piece], thread[piece]
    for each, linked in walk.linked.items():
        for other in linked:
            mine = np.where(thread == each, other, thread)
            piece, start, end = host.cut(mine, start, end)
            period, thread = period[piece], thread[piece]
    what, row, working = _doing(host, thread, start)
    for each, linked in walk.linked.items():
        for other in linked:
            idle = np.flatnonzero((thread == each) & ~working)
            instead = _doing(host, np.full(idle.size, other), start[idle])
            taken = instead[2]
            what[idle[taken]], row[idle[taken]] = instead[0][taken], instead[1][taken]
            working[idle[taken]] = True
    silent = what == UNTRACED
    piece, main, low, high = host.on_main_thread(start[silent], end[silent])
    of = period[silent][piece]
    piece, low, high = host.cut(main, low, high)
    main_what, main_row = host.doing(main[piece], low)
    return [
        (period[~silent], start[~silent], end[~silent], what[~silent].astype(np.int64) + _FIRST_OF_HOST, row[~silent]),
        (of[piece], low, high, main_what.astype(np.int64) + _FIRST_OF_HOST, main_row),
    ]


def _doing(host: HostTime, thread: Index, time: Index) -> tuple[npt.NDArray[np.int8], Index, Flags]:
    """Return what threads did, the event that says so, and whether that is work: an op or an API call, not only Python or an annotation."""
    what, row = host.doing(thread, time)
    calls = what < DOING.index("host work")
    return what, row, calls | ((what == DOING.index("host work")) & (host.blame(thread, time).op >= 0))


def _joined(period: Index, start: Index, end: Index, kind: Index, row: Index) -> Stretches:
    """Sort by time, leave out what has no length, and join neighbours that agree."""
    order = np.lexsort((start, period))
    order = order[end[order] > start[order]]
    period, start, end, kind, row = (values[order] for values in (period, start, end, kind, row))
    fresh = np.ones(start.size, bool)
    fresh[1:] = (period[1:] != period[:-1]) | (kind[1:] != kind[:-1]) | (row[1:] != row[:-1]) | (start[1:] != end[:-1])
    first = np.flatnonzero(fresh)
    last = np.append(first[1:], start.size) - 1 if first.size else first
    return Stretches(period[first], start[first], end[last], kind[first].astype(np.int8), row[first])
