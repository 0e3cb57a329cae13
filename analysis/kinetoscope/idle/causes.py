"""What caused idle time: every gap cut into segments that each have one cause, and tile the gap exactly.

The rules are those of ``docs/definitions.md``, "Idle gaps and their causes".
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope.idle.host_time import DOING, UNTRACED, HostTime
from kinetoscope.idle.open_ranges import cut_at
from kinetoscope.idle.waits import told_to_wait
from kinetoscope.links import present

if TYPE_CHECKING:
    from kinetoscope.idle.gaps import GapTable
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
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
_BLOCK = 1 << 18
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
    thread : ndarray of int64
        Host thread that was looked at.
    event : ndarray of int64
        The host event that says so: the blocking call, the loader's range, the op …; of what is not the host's time, the launch.
    op, module, source, annotation : ndarray of int64
        Who is to blame (:class:`~kinetoscope.idle.host_time.Blame`): of what is not the host's time, who launched the work that ended the gap.
    step : ndarray of int64
        Position of the step whose period holds it.
    """

    gap: Index
    start: Index
    end: Index
    cause: npt.NDArray[np.int8]
    thread: Index
    event: Index
    op: Index
    module: Index
    source: Index
    annotation: Index
    step: Index

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
    table = trace.gap_table
    whole = _whole(trace, table)
    columns = trace.columns
    call = np.maximum(table.launch, 0)
    known = (table.launch >= 0) & (whole < 0)
    edge = (table.next < 0) & (whole < 0)
    begin, finish = (columns.start[call], columns.end[call]) if len(columns) else (table.start, table.end)
    called = np.where(known, np.minimum(np.maximum(begin, table.start), table.end), table.end)
    returned = np.where(known, np.minimum(np.maximum(finish, called), table.end), table.end)
    ends_with_call = (
        np.where(host.blocking[call], CODE["synchronization"], CODE["launch calls"]) if len(columns) else whole
    )
    late = np.where(table.end - returned > LATE_NS, CODE["late start"], CODE["launch latency"])
    fixed = [
        _of_launch(trace, host, np.flatnonzero(whole >= 0), table.start, table.end, whole),
        _of_launch(trace, host, np.flatnonzero(known & (returned > called)), called, returned, ends_with_call),
        _of_launch(trace, host, np.flatnonzero(known & (table.end > returned)), returned, table.end, late),
    ]
    waited = np.flatnonzero(known & (called > table.start))
    thread = columns.thread[table.launch[waited]].astype(np.int64)
    on_launching = _host_time(host, waited, thread, table.start[waited], called[waited])
    at_edge = np.flatnonzero(edge)
    piece, thread, start, end = host.on_main_thread(table.start[at_edge], table.end[at_edge])
    on_main = _host_time(host, at_edge[piece], thread, start, end)
    return _in_order(trace, _joined([*fixed, on_launching, on_main]))


def _whole(trace: LinkedTrace, table: GapTable) -> Index:
    """Return the cause of gaps that have one for all their length, -1 for the others."""
    columns = trace.columns
    cause = np.full(table.start.size, -1, np.int64)
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


def _of_launch(trace: LinkedTrace, host: HostTime, gap: Index, start: Index, end: Index, cause: Index) -> Segments:
    """Return segments that belong to the launch of the work behind their gaps; ``start``, ``end`` and ``cause`` are by gap."""
    columns, table = trace.columns, trace.gap_table
    launch = table.launch[gap]
    thread = np.where(launch >= 0, columns.thread[np.maximum(launch, 0)], -1).astype(np.int64)
    time = np.where(launch >= 0, columns.start[np.maximum(launch, 0)], 0)
    who = host.blame(thread, time)
    op = np.where(launch >= 0, who.op, _owner(trace, table.next[gap]))
    return Segments(
        *(gap, start[gap], end[gap], cause[gap].astype(np.int8), thread, launch),
        *(op, who.module, who.source, who.annotation, np.full(gap.size, -1, np.int64)),
    )


def _owner(trace: LinkedTrace, rows: Index) -> Index:
    """Return the op that owns each work, -1 for none."""
    owner = np.full(len(trace) + 1, -1, np.int64)
    owner[trace.work] = trace.op_of_work
    return owner[rows]


def _host_time(host: HostTime, gap: Index, thread: Index, start: Index, end: Index) -> Segments:
    """Return what the host did in some pieces of time; where their own thread shows nothing, the main thread may."""
    piece, start, end = host.cut(thread, start, end)
    blocks = range(0, max(start.size, 1), _BLOCK)
    # a block at a time, so that what neighbours share is joined before the next is looked at
    return _joined([_block(host, gap[piece[at]], thread[piece[at]], start[at], end[at]) for at in map(_slice, blocks)])


def _slice(low: int) -> slice:
    return slice(low, low + _BLOCK)


def _block(host: HostTime, gap: Index, thread: Index, start: Index, end: Index) -> Segments:
    """Return segments of parts of time in which no event of their thread begins or ends."""
    what, event = host.doing(thread, start)
    silent = what == UNTRACED
    found = _segments(
        host, gap[~silent], thread[~silent], start[~silent], end[~silent], (what[~silent], event[~silent])
    )
    piece, main, start, end = host.on_main_thread(start[silent], end[silent])
    gap = gap[silent][piece]
    piece, start, end = host.cut(main, start, end)
    gap, main = gap[piece], main[piece]
    found = _joined([found, _segments(host, gap, main, start, end, host.doing(main, start))])
    return _without_borders(found.take(np.lexsort((found.start, found.gap))))


def _without_borders(found: Segments) -> Segments:
    """Join neighbours that agree in everything."""
    if not len(found):
        return found
    keys = (getattr(found, item.name) for item in fields(found) if item.name not in ("gap", "start", "end"))
    first = found.runs(*keys)
    last = np.append(first[1:], len(found)) - 1
    return replace(found.take(first), end=found.end[last])


def _segments(
    host: HostTime, gap: Index, thread: Index, start: Index, end: Index, doing: tuple[npt.NDArray[np.int8], Index]
) -> Segments:
    who = host.blame(thread, start)
    nowhere = np.full(gap.size, -1, np.int64)
    return Segments(
        *(gap, start, end, doing[0], thread, doing[1]), *(who.op, who.module, who.source, who.annotation, nowhere)
    )


def _joined(parts: list[Segments]) -> Segments:
    return Segments(
        **{item.name: np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(Segments)}
    )


def _in_order(trace: LinkedTrace, found: Segments) -> Segments:
    """Sort by gap and time, cut at the borders of steps, and join neighbours that agree in everything."""
    found = found.take(np.lexsort((found.start, found.gap)))
    piece, start, end = cut_at(found.start, found.end, trace.steps_table.start)
    found = replace(found.take(piece), start=start, end=end)
    found = replace(found, step=trace.steps_table.period_holding(start).astype(np.int64))
    return _without_borders(found)
