"""The lanes of the timeline: each device with its idle time and streams, each process with its threads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import schema
from kinetoscope.devices import properties
from kinetoscope.idle.causes import CAUSES
from kinetoscope.naming import matching
from kinetoscope.timeline import measures
from kinetoscope.timeline.counters import Counter
from kinetoscope.timeline.rows import Bars, Entries, Rows, nest, shared_rows

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

COMMUNICATION, IDLE, STEP, DATA_LOADER, FIRST_CAUSE = 14, 15, 16, 17, 18
"""Kinds that only the timeline tells apart, behind the codes of :data:`kinetoscope.schema.KINDS`."""

KIND_NAMES = (*schema.KINDS, "communication", "idle", "step", "data_loader", *(f"idle {cause}" for cause in CAUSES))


@dataclass
class Lane:
    """A group of rows with a title.

    Parameters
    ----------
    kind : {"gpu", "idle", "stream", "ranges", "counter", "process", "thread"}
    title, detail : str
    parent : int or None
        Number of the lane above it.
    device : int or None
    members : ndarray of int64
        Rows of the columns that it shows; none any more once rows are given out.
    counter : Counter or None
        What a lane of kind ``counter`` draws.
    first_row, rows, events, busy_ns : int
        Set when rows are given out.
    """

    kind: str
    title: str
    detail: str = ""
    parent: int | None = None
    device: int | None = None
    members: Index = field(default_factory=lambda: np.empty(0, np.int64))
    counter: Counter | None = None
    first_row: int = 0
    rows: int = 0
    events: int = 0
    busy_ns: int = 0


def build(trace: Trace) -> tuple[list[Lane], Rows]:
    """Lay out all complete events of a trace.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    lanes : list of Lane
        In drawing order, parents before children.
    rows : Rows
    """
    lanes: list[Lane] = []
    measured = measures.counters(trace)
    _add_devices(trace, lanes, measured)
    _add_hosts(trace, lanes)
    lanes += [_counter_lane(counter, None) for counter in measured if counter.device is None]
    return lanes, _give_rows(trace, lanes)


def _counter_lane(counter: Counter, above: int | None) -> Lane:
    return Lane("counter", counter.title, counter.unit, above, counter.device, counter=counter)


def _shown(trace: Trace, kinds: tuple[str, ...]) -> Index:
    columns = trace.columns
    return np.flatnonzero(columns.timed & np.isin(columns.kind, [schema.CODE[kind] for kind in kinds]))


def _add_devices(trace: Trace, lanes: list[Lane], measured: list[Counter]) -> None:
    """Add a group per device: idle time, counters, streams, ranges projected on it, synchronization."""
    columns = trace.columns
    groups = {
        "stream": _shown(trace, ("kernel", "memcpy", "memset")),
        "ranges": _shown(trace, ("device_range",)),
        "sync": _shown(trace, ("sync",)),
    }
    numbers = np.unique(np.concatenate([columns.device[rows] for rows in groups.values()]))
    busy = {device.device for device in trace.devices}
    for number in numbers.tolist():
        above = len(lanes)
        lanes.append(
            Lane("gpu", f"GPU {number}", str(properties(trace.metadata, number).get("name", "")), None, number)
        )
        if number in busy:
            lanes.append(Lane("idle", "Idle", "no work on any stream", above, number))
        lanes += [_counter_lane(counter, above) for counter in measured if counter.device == number]
        own = groups["stream"][columns.device[groups["stream"]] == number]
        for stream in np.unique(columns.stream[own]).tolist():
            members = own[columns.stream[own] == stream]
            lanes.append(Lane("stream", f"Stream {stream}", _content(trace, members), above, number, members))
        for key, title in (("ranges", "Annotations"), ("sync", "Synchronization")):
            members = groups[key][columns.device[groups[key]] == number]
            if members.size:
                lanes.append(Lane("ranges", title, "", above, number, members))


def _content(trace: Trace, members: Index) -> str:
    """Say what kind of work a stream does most, by time."""
    columns = trace.columns
    kind = columns.kind[members].astype(np.int64)
    kind[np.isin(members, trace.work[trace.communication])] = COMMUNICATION
    time = np.bincount(kind, weights=columns.duration[members], minlength=COMMUNICATION + 1)
    words = {"kernel": "compute", "memcpy": "copies", "memset": "memory sets", "communication": "communication"}
    return words.get(KIND_NAMES[int(time.argmax())], "")


def _add_hosts(trace: Trace, lanes: list[Lane]) -> None:
    """Add a group per process with its threads: those with step markers first, then by number of events."""
    columns = trace.columns
    rows = _shown(trace, ("op", "annotation", "python", "api_call", "overhead", "counter", "other"))
    count = np.bincount(columns.thread[rows], minlength=len(columns.threads)) if rows.size else np.zeros(0, np.int64)
    stepping = set(columns.thread[trace.steps_table.row].tolist())
    order = sorted(np.flatnonzero(count).tolist(), key=lambda thread: (thread not in stepping, -count[thread]))
    split = rows[np.argsort(columns.thread[rows], kind="stable")]
    bounds = np.concatenate([[0], np.cumsum(count)])
    pids = list(dict.fromkeys(columns.threads[thread].pid for thread in order))
    for pid in pids:
        above = len(lanes)
        own = [thread for thread in order if columns.threads[thread].pid == pid]
        name = columns.threads[own[0]].process_name
        lanes.append(Lane("process", f"Process {pid}" if pid else "Process", name))
        for thread in own:
            about = columns.threads[thread]
            detail = re.sub(rf"^thread {about.tid}( \((.*)\))?$", r"\2", about.name)
            lanes.append(
                Lane("thread", f"Thread {about.tid}", detail, above, None, split[bounds[thread] : bounds[thread + 1]])
            )


def wire_kinds(trace: Trace) -> npt.NDArray[np.uint8]:
    """Return the timeline's kind code of every row of the columns."""
    columns = trace.columns
    kinds = columns.kind.astype(np.uint8)
    kinds[trace.work[trace.communication]] = COMMUNICATION
    kinds[trace.steps_table.row] = STEP
    named = matching(columns.names, "data_loader")
    kinds[(columns.kind == schema.CODE["annotation"]) & named[columns.name]] = DATA_LOADER
    return kinds


def idle_bars(trace: Trace) -> Bars:
    """Return the idle time of all devices, as the bars of the idle rows: one per segment, coloured by its cause, named by the host event behind it.

    Their ids are the numbers of the gaps that they are parts of.
    """
    columns, segments = trace.columns, trace.idle_segments
    named = columns.name[np.maximum(segments.event, 0)] if len(columns) else np.zeros(len(segments), np.int32)
    return Bars(
        id=segments.gap,
        start=segments.start,
        duration=segments.end - segments.start,
        name=np.where(segments.event >= 0, named, len(columns.names)).astype(np.int32),
        kind=(FIRST_CAUSE + segments.cause).astype(np.uint8),
        unfinished=np.zeros(len(segments), bool),
    )


def _give_rows(trace: Trace, lanes: list[Lane]) -> Rows:
    """Number the rows through all lanes and sort the bars by row and time."""
    events, idle = _event_bars(trace), idle_bars(trace)
    member = np.concatenate([np.empty(0, np.int64), *(lane.members for lane in lanes)])
    lane_of = np.repeat(np.arange(len(lanes), dtype=np.int32), [lane.members.size for lane in lanes])
    start = events.start[member]
    length = np.maximum(events.duration[member], 0)
    tie = (trace.columns.kind[member] == schema.CODE["api_call"]).astype(np.int8)
    order, depth, crowded = nest(lane_of, start, start + length, tie)
    lane_of, member = lane_of[order], member[order]
    height = np.array([lane.kind in ("idle", "counter") for lane in lanes], np.int64)
    np.maximum.at(height, lane_of, depth + 1)
    first_row = np.concatenate([[0], np.cumsum(height)])
    outer = depth == 0
    time = np.bincount(lane_of[outer], weights=length[order[outer]], minlength=len(lanes))
    for i, lane in enumerate(lanes):
        lane.first_row, lane.rows = int(first_row[i]), int(height[i])
        lane.events, lane.busy_ns = lane.members.size, int(time[i])
        lane.members = np.empty(0, np.int64)  # the rows have them now, in half as many bytes
    row_of_gap = np.zeros(idle.start.size, np.int64)
    for lane in (lane for lane in lanes if lane.kind == "idle"):
        own = trace.gap_table.device[idle.id] == lane.device
        row_of_gap[own] = lane.first_row
        lane.events, lane.busy_ns = int(own.sum()), int(idle.duration[own].sum())
    row = np.concatenate([first_row[lane_of] + depth, row_of_gap])
    bar = np.concatenate([member.astype(np.int32), np.arange(idle.start.size, dtype=np.int32)])
    on_idle = np.repeat([lane.kind == "idle" for lane in lanes], height)
    return _sorted((events, idle), row, bar, on_idle.astype(np.uint8), crowded=crowded)


def _sorted(
    sources: tuple[Bars, ...], row: Index, bar: Entries, source: npt.NDArray[np.uint8], *, crowded: bool
) -> Rows:
    """Sort bars by row; those of a row come by start already."""
    # two bytes are sorted by counting, several times as fast
    order = np.argsort(row.astype(np.uint16) if source.size < 1 << 16 else row, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=source.size))])
    rows = Rows(sources, source, bar[order], first)
    if not crowded:
        return rows
    every = np.arange(row.size)
    start = rows.look_up("start", every, row[order])
    return replace(rows, reach=shared_rows(row[order], start, start + rows.lengths(every, row[order])))


def _event_bars(trace: Trace) -> Bars:
    columns = trace.columns
    return Bars(columns.id, columns.start, columns.duration, columns.name, wire_kinds(trace), columns.unfinished)
