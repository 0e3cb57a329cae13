"""The lanes of the timeline: each device with its idle time and streams, each process with its threads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope import schema
from kinetoscope.devices import properties
from kinetoscope.naming import matching
from kinetoscope.timeline.rows import Rows, nest, reach_by_row

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

COMMUNICATION, IDLE, STEP, DATA_LOADER = 14, 15, 16, 17
"""Kinds that only the timeline tells apart, behind the codes of :data:`kinetoscope.schema.KINDS`."""

KIND_NAMES = (*schema.KINDS, "communication", "idle", "step", "data_loader")


@dataclass
class Lane:
    """A group of rows with a title.

    Parameters
    ----------
    kind : {"gpu", "idle", "stream", "ranges", "process", "thread"}
    title, detail : str
    parent : int or None
        Number of the lane above it.
    device : int or None
    members : ndarray of int64
        Rows of the columns that it shows.
    first_row, rows, busy_ns : int
        Set when rows are given out.
    """

    kind: str
    title: str
    detail: str = ""
    parent: int | None = None
    device: int | None = None
    members: Index = field(default_factory=lambda: np.empty(0, np.int64))
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
    _add_devices(trace, lanes)
    _add_hosts(trace, lanes)
    return lanes, _give_rows(trace, lanes)


def _shown(trace: Trace, kinds: tuple[str, ...]) -> Index:
    columns = trace.columns
    return np.flatnonzero(columns.timed & np.isin(columns.kind, [schema.CODE[kind] for kind in kinds]))


def _add_devices(trace: Trace, lanes: list[Lane]) -> None:
    """Add a group per device: idle time, streams, ranges projected on it, synchronization."""
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


def _give_rows(trace: Trace, lanes: list[Lane]) -> Rows:
    """Number the rows through all lanes and sort the events by row and time."""
    columns, gaps = trace.columns, trace.gap_table
    member = np.concatenate([lane.members for lane in lanes]) if lanes else np.empty(0, np.int64)
    lane_of = np.repeat(np.arange(len(lanes)), [lane.members.size for lane in lanes])
    start = columns.start[member]
    end = start + np.maximum(columns.duration[member], 0)
    tie = (columns.kind[member] == schema.CODE["api_call"]).astype(np.int8)
    row = nest(lane_of, start, end, tie)
    height = np.zeros(len(lanes), np.int64)
    np.maximum.at(height, lane_of, row + 1)
    idle = [(i, lane) for i, lane in enumerate(lanes) if lane.kind == "idle"]
    height[[i for i, _ in idle]] = 1
    first_row = np.concatenate([[0], np.cumsum(height)])
    time = np.bincount(lane_of, weights=np.where(row == 0, end - start, 0), minlength=len(lanes))
    for i, lane in enumerate(lanes):
        lane.first_row, lane.rows, lane.events, lane.busy_ns = (
            int(first_row[i]),
            int(height[i]),
            lane.members.size,
            int(time[i]),
        )
    row_of_gap = np.zeros(gaps.start.size, np.int64)
    for _, lane in idle:
        own = gaps.device == lane.device
        row_of_gap[own] = lane.first_row
        lane.events, lane.busy_ns = int(own.sum()), int((gaps.end - gaps.start)[own].sum())
    next_name = np.where(
        gaps.next >= 0, columns.name[np.maximum(gaps.next, 0)] if len(columns) else 0, len(columns.names)
    )
    return _sorted(
        row=np.concatenate([row + first_row[lane_of], row_of_gap]),
        start=np.concatenate([start, gaps.start]),
        end=np.concatenate([end, gaps.end]),
        event=np.concatenate([member, np.arange(gaps.start.size)]),
        name=np.concatenate([columns.name[member], next_name]).astype(np.int32),
        kind=np.concatenate([wire_kinds(trace)[member], np.full(gaps.start.size, IDLE, np.uint8)]),
        unfinished=np.concatenate([columns.unfinished[member], np.zeros(gaps.start.size, bool)]),
        count=int(first_row[-1]),
    )


def _sorted(*, row: Index, start: Index, end: Index, count: int, **values: npt.NDArray[Any]) -> Rows:
    """Sort entries by row and time."""
    order = np.lexsort((end, start, row))
    first = np.searchsorted(row[order], np.arange(count + 1))
    reach = reach_by_row(row[order], end[order])
    return Rows(
        start=start[order],
        end=end[order],
        reach=reach,
        first=first.astype(np.int64),
        **{key: column[order] for key, column in values.items()},
    )
