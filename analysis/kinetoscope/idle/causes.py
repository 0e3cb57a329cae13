"""What caused idle time: every gap cut into segments that each have one cause, and tile the gap exactly.

The rules are those of ``docs/definitions.md``, "Idle gaps and their causes".
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope.idle.host_time import DOING, UNTRACED, Blame, HostTime
from kinetoscope.idle.open_ranges import check_parts, cut_at
from kinetoscope.idle.waits import told_to_wait
from kinetoscope.links import present

if TYPE_CHECKING:
    from kinetoscope.idle.gaps import GapTable
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Rows = npt.NDArray[Any]
Causes = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]

CAUSES = (
    *DOING,
    "launch latency",
    "inside a graph",
    "device scheduling",
    "stream dependency",
    "late start",
    "no launch recorded",
)
"""Causes of idle time, in the order in which pages list them; ``docs/definitions.md`` says what each means."""

CODE = {cause: code for code, cause in enumerate(CAUSES)}
_GAPS, _BLOCK = 1 << 15, 1 << 18
"""Gaps, and parts of them, that are looked at together."""
LATE_NS = 1_000_000
"""Above this, a device that shows nothing although the launch has returned was probably busy with work that is not recorded."""


@dataclass(frozen=True)
class Segments:
    """Stretches of idle time with one cause, by gap and time; rows of the columns, -1 for none.

    Parameters
    ----------
    gap : ndarray of int64
        Position in the gap table.
    start, end : ndarray of int64
        ns.
    cause : ndarray of int8
        Index into :data:`CAUSES`.
    thread : ndarray of int32
        Host thread that was looked at.
    event : ndarray of int32
        The host event that says so: the blocking call, the loader's range, the op …; of what is not the host's time, the launch.
    op, module, source, annotation : ndarray of int32
        Who is to blame (:class:`~kinetoscope.idle.host_time.Blame`): of what is not the host's time, who launched the work that ended the gap.
    step : ndarray of int32
        Position of the step whose period holds it.
    """

    gap: Index
    start: Index
    end: Index
    cause: Causes
    thread: Rows
    event: Rows
    op: Rows
    module: Rows
    source: Rows
    annotation: Rows
    step: Rows

    def __len__(self) -> int:
        return int(self.gap.size)

    def take(self, chosen: Index | Flags) -> Segments:
        """Return some of the segments."""
        return Segments(**{item.name: getattr(self, item.name)[chosen] for item in fields(self)})

    def runs(self, *keys: npt.NDArray[np.generic]) -> Index:
        """Return where each run of segments begins that follow each other in a gap and agree in all keys."""
        if not len(self):
            return np.empty(0, np.int64)
        fresh = np.ones(len(self), bool)
        fresh[1:] = (self.gap[1:] != self.gap[:-1]) | (self.start[1:] != self.end[:-1])
        for key in keys:
            fresh[1:] |= key[1:] != key[:-1]
        return np.flatnonzero(fresh)


def build(trace: LinkedTrace, host: HostTime) -> Segments:
    """Find the causes of a trace's idle time.

    Parameters
    ----------
    trace : Trace
    host : HostTime

    Returns
    -------
    Segments
        They tile every gap of ``trace.gap_table``.
    """
    gaps = _Gaps(trace, host)
    count = trace.gap_table.start.size
    # some gaps at a time: what one needs on the way is several times of what stays of it
    return _joined([gaps.segments(low, low + _GAPS) for low in range(0, max(count, 1), _GAPS)])


class _Gaps:
    """The gaps of a trace, and what is known of each before the host's time is looked at.

    Parameters
    ----------
    trace : Trace
    host : HostTime
    """

    def __init__(self, trace: LinkedTrace, host: HostTime) -> None:
        self._trace, self._host, self._parts = trace, host, 0
        table, columns = trace.gap_table, trace.columns
        self._whole = _whole(trace, table)
        call = np.maximum(table.launch, 0)
        self._known = (table.launch >= 0) & (self._whole < 0)
        self._edge = (table.next < 0) & (self._whole < 0)
        begin, finish = (columns.start[call], columns.end[call]) if len(columns) else (table.start, table.end)
        self._called = np.where(self._known, np.minimum(np.maximum(begin, table.start), table.end), table.end)
        self._returned = np.where(self._known, np.minimum(np.maximum(finish, self._called), table.end), table.end)
        blocking = host.blocking[call] if len(columns) else np.zeros(call.size, bool)
        self._ends_with_call = np.where(blocking, _code("synchronization"), _code("launch calls"))
        self._late = np.where(table.end - self._returned > LATE_NS, _code("late start"), _code("launch latency"))
        self._owner = np.full(len(trace) + 1, -1, np.int32)
        self._owner[trace.work] = trace.op_of_work

    def segments(self, low: int, high: int) -> Segments:
        """Return the segments of the gaps of some positions."""
        table, called, returned = self._trace.gap_table, self._called, self._returned
        own = slice(low, high)
        known, whole, end = self._known[own], self._whole[own], table.end[own]
        fixed = [
            self._of_launch(low + np.flatnonzero(whole >= 0), table.start, table.end, self._whole),
            self._of_launch(
                low + np.flatnonzero(known & (returned[own] > called[own])), called, returned, self._ends_with_call
            ),
            self._of_launch(low + np.flatnonzero(known & (end > returned[own])), returned, table.end, self._late),
        ]
        waited = low + np.flatnonzero(known & (called[own] > table.start[own]))
        thread = self._trace.columns.thread[table.launch[waited]].astype(np.int64)
        on_launching = self._host_time(waited, thread, table.start[waited], called[waited])
        at_edge = low + np.flatnonzero(self._edge[own])
        piece, thread, start, end = self._host.on_main_thread(table.start[at_edge], table.end[at_edge])
        on_main = self._host_time(at_edge[piece], thread, start, end)
        return _in_order(self._trace, _joined([*fixed, on_launching, on_main]))

    def _host_time(self, gap: Index, thread: Index, start: Index, end: Index) -> Segments:
        """Return what the host did in some pieces of time; where their own thread shows nothing, the main thread may."""
        host = self._host
        piece, start, end = host.cut(thread, start, end)
        self._parts += start.size
        check_parts(self._parts)
        blocks = map(_slice, range(0, max(start.size, 1), _BLOCK))
        # a block at a time, so that what neighbours share is joined before the next is looked at
        return _joined([_block(host, gap[piece[at]], thread[piece[at]], start[at], end[at]) for at in blocks])

    def _of_launch(self, gap: Index, start: Index, end: Index, cause: Causes) -> Segments:
        """Return segments that belong to the launch of the work behind their gaps; ``start``, ``end`` and ``cause`` are by gap."""
        columns, table = self._trace.columns, self._trace.gap_table
        launch = table.launch[gap]
        thread = np.where(launch >= 0, columns.thread[np.maximum(launch, 0)], -1).astype(np.int64)
        time = np.where(launch >= 0, columns.start[np.maximum(launch, 0)], 0)
        who = self._host.blame(thread, time)
        op = np.where(launch >= 0, who.op, self._owner[table.next[gap]])
        return _segments(gap, (start[gap], end[gap]), (cause[gap], launch), thread, replace(who, op=op))


def _code(cause: str) -> np.int8:
    return np.int8(CODE[cause])


def _whole(trace: LinkedTrace, table: GapTable) -> Causes:
    """Return the cause of gaps that have one for all their length, -1 for the others."""
    columns = trace.columns
    cause = np.full(table.start.size, -1, np.int8)
    if not cause.size:
        return cause
    known = table.launch >= 0
    queued = known & (columns.end[np.maximum(table.launch, 0)] <= table.start)
    late = queued & (table.end - table.start > LATE_NS)
    waits = np.flatnonzero(queued & ~late)
    cause[queued] = CODE["device scheduling"]
    cause[waits[told_to_wait(trace, table, waits)]] = CODE["stream dependency"]
    cause[late] = CODE["late start"]
    cause[(table.next >= 0) & ~known] = CODE["no launch recorded"]
    cause[known & _same_call_before(trace, table)] = CODE["inside a graph"]
    return cause


def _same_call_before(trace: LinkedTrace, table: GapTable) -> Flags:
    """Tell before which gaps a work ends that the same call launched as the work behind it."""
    columns, work, launch = trace.columns, trace.work, trace.launch_of_work
    real = columns.duration[work] > 0
    ends = (columns.device[work[real]], columns.end[work[real]], launch[real])
    return present(ends, (table.device, table.start, table.launch))


def _slice(low: int) -> slice:
    return slice(low, low + _BLOCK)


def _block(host: HostTime, gap: Index, thread: Index, start: Index, end: Index) -> Segments:
    """Return segments of parts of time in which no event of their thread begins or ends."""
    what, event = host.doing(thread, start)
    silent = what == UNTRACED
    found = _at_work(
        host, gap[~silent], thread[~silent], (start[~silent], end[~silent]), (what[~silent], event[~silent])
    )
    piece, main, start, end = host.on_main_thread(start[silent], end[silent])
    gap = gap[silent][piece]
    piece, start, end = host.cut(main, start, end)
    gap, main = gap[piece], main[piece]
    found = _joined([found, _at_work(host, gap, main, (start, end), host.doing(main, start))])
    return _without_borders(found.take(np.lexsort((found.start, found.gap))))


def _without_borders(found: Segments) -> Segments:
    """Join neighbours that agree in everything."""
    if not len(found):
        return found
    keys = (getattr(found, item.name) for item in fields(found) if item.name not in ("gap", "start", "end"))
    first = found.runs(*keys)
    last = np.append(first[1:], len(found)) - 1
    return replace(found.take(first), end=found.end[last])


def _at_work(
    host: HostTime, gap: Index, thread: Index, span: tuple[Index, Index], doing: tuple[Causes, Index]
) -> Segments:
    return _segments(gap, span, doing, thread, host.blame(thread, span[0]))


def _segments(
    gap: Index, span: tuple[Index, Index], doing: tuple[Causes, Index], thread: Index, who: Blame
) -> Segments:
    """Return segments of no step yet, in the types that they are kept in."""
    cause, event = doing
    rows = (thread, event, who.op, who.module, who.source, who.annotation, np.full(gap.size, -1))
    return Segments(gap, *span, cause, *(one.astype(np.int32) for one in rows))


def _joined(parts: list[Segments]) -> Segments:
    """Put segments together; the parts lose what they have, so that no more than one column is held twice."""
    if len(parts) == 1:
        return parts[0]
    columns = [vars(part) for part in parts]
    return Segments(
        **{item.name: np.concatenate([part.pop(item.name) for part in columns]) for item in fields(Segments)}
    )


def _in_order(trace: LinkedTrace, found: Segments) -> Segments:
    """Sort by gap and time, cut at the borders of steps, and join neighbours that agree in everything."""
    found = found.take(np.lexsort((found.start, found.gap)))
    piece, start, end = cut_at(found.start, found.end, trace.steps_table.start)
    found = replace(found.take(piece), start=start, end=end)
    found = replace(found, step=trace.steps_table.period_holding(start).astype(np.int32))
    return _without_borders(found)
