"""The host side of a trace: events of each thread in order, what contains what, and which op owns each API call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting, schema
from kinetoscope.links import first_by_key, last_by_key_before
from kinetoscope.reading.columns import Columns

Index = npt.NDArray[np.int64]


@dataclass(frozen=True)
class HostOrder:
    """Timed host events by thread, start, longer first, ops before API calls, file order.

    Parameters
    ----------
    rows : ndarray of int64
        Rows of the columns in that order.
    parent : ndarray of int32
        Position in ``rows`` of the innermost event that contains each one, -1 for roots.
    """

    rows: Index
    parent: npt.NDArray[Any]


def order_hosts(columns: Columns) -> HostOrder:
    """Sort the timed host events and find their parents."""
    rows = np.flatnonzero(columns.timed & np.isin(columns.kind, schema.HOST) & (columns.duration >= 0))
    thread, start, end = columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows]
    tie = (columns.kind[rows] == schema.CODE["api_call"]).astype(np.int8)
    rows = rows[nesting.order(thread, start, end, tie)]
    parent = nesting.parents(columns.thread[rows].astype(np.int64), columns.end[rows])
    return HostOrder(rows, parent.astype(np.int32))


def owners(columns: Columns, host: HostOrder) -> Index:
    """Find the innermost op that contains each API call on its thread.

    Parameters
    ----------
    columns : Columns
    host : HostOrder

    Returns
    -------
    ndarray of int64
        For each row, the row of the op; -1 for calls in no op, and for rows that are no calls.
    """
    kind = columns.kind[host.rows]
    is_op = kind == schema.CODE["op"]
    is_call = kind == schema.CODE["api_call"]
    thread, end = columns.thread[host.rows].astype(np.int64), columns.end[host.rows]
    parent = nesting.parents(thread[is_op], end[is_op])
    nearest = nesting.nearest_before(is_op, thread)[is_call]
    found = nesting.enclosing(end[is_op], parent, nearest, end[is_call])
    op_rows = host.rows[is_op]
    owner = np.full(len(columns), -1, np.int64)
    owner[host.rows[is_call]] = np.where(found >= 0, op_rows[np.maximum(found, 0)] if op_rows.size else -1, -1)
    return owner


def forward_ops(columns: Columns) -> npt.NDArray[Any]:
    """Find the forward op of each backward op.

    Returns
    -------
    ndarray of int32
        For each row, the row of the forward op: from the recorded forward–backward flow, else the latest-starting op with Fwd thread id 0 and
        the same sequence number that starts before the backward op; -1 for none.
    """
    ops = np.flatnonzero((columns.kind == schema.CODE["op"]) & columns.timed)
    forward = np.full(len(columns), -1, np.int32)
    backward = ops[(columns.forward_thread[ops] > 0) & (columns.sequence_number[ops] >= 0)]
    source = ops[(columns.forward_thread[ops] <= 0) & (columns.sequence_number[ops] >= 0)]
    found = last_by_key_before(
        columns.sequence_number[source],
        columns.start[source],
        columns.sequence_number[backward],
        columns.start[backward],
    )
    forward[backward[found >= 0]] = source[found[found >= 0]]
    begin, finish = _flow_pairs(columns, ops)
    forward[finish] = begin
    return forward


def _flow_pairs(columns: Columns, ops: Index) -> tuple[Index, Index]:
    """Return rows of forward and backward ops tied by recorded flows: a flow end binds to the op that starts at its place and time."""
    flows = columns.flows
    if flows.flow.size == 0 or ops.size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    bound = np.full(flows.flow.size, -1, np.int64)
    for thread in np.unique(flows.thread):
        ends = np.flatnonzero(flows.thread == thread)
        own = ops[columns.thread[ops] == thread]
        at = last_starting(columns.start[own], columns.duration[own], flows.time[ends])
        bound[ends] = np.where(at >= 0, own[np.maximum(at, 0)] if own.size else -1, -1)
    begins = np.flatnonzero(flows.start & (bound >= 0))
    finishes = np.flatnonzero(~flows.start & (bound >= 0))
    match = first_by_key(flows.flow[begins], flows.time[begins], flows.flow[finishes], np.ones(finishes.size, bool))
    tied = match >= 0
    return bound[begins[match[tied]]], bound[finishes[tied]]


def last_starting(start: Index, duration: Index, time: Index) -> Index:
    """Find the innermost op that starts at each time: of those that start together, the shortest.

    Returns
    -------
    ndarray of int64
        Positions, -1 where none starts then.
    """
    if start.size == 0:
        return np.full(time.size, -1, np.int64)
    order = np.lexsort((-duration, start))
    at = np.searchsorted(start[order], time, side="right") - 1
    hit = (at >= 0) & (start[order][np.maximum(at, 0)] == time)
    return np.where(hit, order[np.maximum(at, 0)], -1)
