"""The phase of training that a host event belongs to: forward, backward, optimizer, data loading, or none of them.

``phase_of(trace, rows) -> int8 codes of PHASES``: ``rows`` are rows of host events (ops, annotations, Python frames, API calls) in any order;
-1, for no event, is ``other``. Definition: ``docs/definitions.md``, "Phases".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, nesting, self_time
from kinetoscope.naming import matching
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]

PHASES = ("forward", "backward", "optimizer", "data", "other")
"""Phases, in the order of their codes."""

PHASE = {name: code for code, name in enumerate(PHASES)}

_FIRST = ("backward", "optimizer", "forward", "data")
"""Which phase an instant is in, where threads are in several: the first of these."""


class Stretches(NamedTuple):
    """Stretches of time in one phase, in time order; none overlap.

    Parameters
    ----------
    phase : ndarray of int64
        Index into :data:`PHASES`; never ``other``.
    start, end : ndarray of int64
        ns.
    step : ndarray of int64
        Position of the step whose period holds the start, -1 for none.
    """

    phase: Index
    start: Index
    end: Index
    step: Index


def phase_of(trace: LinkedTrace, rows: Index) -> Codes:
    """Tell the phase of host events.

    Of the marks around an event, itself included, the innermost decides: a backward op, an annotation of an optimizer, a data loader range, an
    ``nn.Module`` frame (forward, but backward within a backward op: it computes again what was not kept). Without a mark, an op with a sequence
    number, or what such an op contains, is forward; all else is other.

    Parameters
    ----------
    trace : LinkedTrace
    rows : ndarray of int64
        Rows of host events; -1 for none.

    Returns
    -------
    ndarray of int8
        Indices into :data:`PHASES`.
    """
    by_row = np.full(len(trace) + 1, PHASE["other"], np.int8)
    by_row[trace.host.rows] = _of_host(trace)
    return by_row[rows]


def _of_host(trace: LinkedTrace) -> Codes:
    """Return the phase of each event of ``trace.host``."""
    columns, rows = trace.columns, trace.host.rows
    kind, name = columns.kind[rows], columns.name[rows]
    op, annotation, python = (kind == CODE[word] for word in ("op", "annotation", "python"))
    backward = op & (
        (columns.forward_thread[rows] > 0)
        | (trace.forward_row[rows] >= 0)
        | matching(columns.names, "backward_op")[name]
    )
    marks = (
        (backward, "backward"),
        # old recordings have the ranges of optimizers among the ops
        ((annotation | op) & matching(columns.names, "optimizer_range")[name], "optimizer"),
        (annotation & matching(columns.names, "data_loader")[name], "data"),
        (python & matching(columns.names, "module_frame")[name], "forward"),
    )
    mark = np.full(rows.size, -1, np.int8)
    for chosen, name_of_phase in marks:
        mark[chosen] = PHASE[name_of_phase]
    around = _innermost(trace, mark >= 0)
    phase = np.where(around >= 0, mark[np.maximum(around, 0)] if mark.size else mark, -1)
    phase[(phase == PHASE["forward"]) & (_innermost(trace, backward) >= 0)] = PHASE["backward"]
    recorded = _innermost(trace, op & (columns.sequence_number[rows] >= 0)) >= 0
    phase[phase < 0] = np.where(recorded, PHASE["forward"], PHASE["other"])[phase < 0]
    return phase.astype(np.int8)


def _innermost(trace: LinkedTrace, holder: Flags) -> Index:
    """Return the position among the host's events of the innermost holder around each event, itself included; -1 for none."""
    columns, rows = trace.columns, trace.host.rows
    thread, end = columns.thread[rows].astype(np.int64), columns.end[rows]
    place = np.flatnonzero(holder)
    parent = nesting.parents(thread[place], end[place])
    found = nesting.enclosing(end[place], parent, nesting.nearest_before(holder, thread), end)
    return np.where(found >= 0, place[np.maximum(found, 0)] if place.size else -1, -1)


def stretches(trace: LinkedTrace) -> Stretches:
    """Cut the host's time by phase, all threads together.

    An instant is in the phase of what is open on the threads then: backward, else optimizer, else forward, else data. Neighbours of one phase and
    one step are one stretch, with the time of no phase between them.

    Parameters
    ----------
    trace : LinkedTrace

    Returns
    -------
    Stretches
    """
    columns, rows, parent = trace.columns, trace.host.rows, trace.host.parent
    code = _of_host(trace)
    above = np.where(parent >= 0, code[np.maximum(parent, 0)] if code.size else code, PHASE["other"])
    # what is in the phase of what it lies in changes nothing
    changes = np.flatnonzero(code != above)
    held = rows[changes]
    owner, start, end = self_time.pieces(columns.thread[held].astype(np.int64), columns.start[held], columns.end[held])
    phase = code[changes][owner]
    taken, parts = intervals.empty(), []
    for name in _FIRST:
        own = phase == PHASE[name]
        found = intervals.union(start[own], end[own])
        free = intervals.subtract(found, taken)
        parts.append((np.full(free[0].size, PHASE[name], np.int64), *free))
        taken = intervals.merge(taken, found)
    return _joined(trace, *(np.concatenate(part) for part in zip(*parts, strict=True)))


def _joined(trace: LinkedTrace, phase: Index, start: Index, end: Index) -> Stretches:
    """Put stretches in order and make one of neighbours of one phase and step."""
    order = np.argsort(start, kind="stable")
    phase, start, end = phase[order], start[order], end[order]
    step = trace.steps_table.period_holding(start).astype(np.int64)
    first = np.ones(phase.size, bool)
    first[1:] = (phase[1:] != phase[:-1]) | (step[1:] != step[:-1])
    last = np.append(first[1:], True)[: phase.size]
    return Stretches(phase[first], start[first], end[last], step[first])
