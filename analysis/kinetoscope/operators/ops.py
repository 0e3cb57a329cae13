"""Ops and annotations as arrays: whose time is whose, on the host and on the device.

Definitions: ``docs/definitions.md``, "Operators".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, nesting, self_time
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]


class Ops:
    """Timed ops and annotations of a trace, in nesting order.

    Parameters
    ----------
    trace : LinkedTrace

    Attributes
    ----------
    rows : ndarray of int64
        Rows of the columns.
    thread, start, end : ndarray of int64
        Of each; ns.
    parent : ndarray of int64
        Position of the innermost op or annotation that contains each one, -1 for none.
    """

    def __init__(self, trace: LinkedTrace) -> None:
        self._trace, columns = trace, trace.columns
        kinds = columns.kind[trace.host.rows]
        self.rows = trace.host.rows[(kinds == CODE["op"]) | (kinds == CODE["annotation"])]
        self.thread = columns.thread[self.rows].astype(np.int64)
        self.start, self.end = columns.start[self.rows], columns.end[self.rows]
        self.parent = nesting.parents(self.thread, self.end)

    def __len__(self) -> int:
        return int(self.rows.size)

    @cached_property
    def place(self) -> Index:
        """Position of each row of the columns among the ops; -1 for other rows, and at the end, for "no row"."""
        place = np.full(len(self._trace) + 1, -1, np.int64)
        place[self.rows] = np.arange(len(self))
        return place

    @cached_property
    def pieces(self) -> self_time.Pieces:
        """Host self time: API calls and Python frames do not interrupt it."""
        return self_time.pieces(self.thread, self.start, self.end)

    @cached_property
    def owner_of_work(self) -> Index:
        """Position of the op that owns each of ``trace.work``, -1 for none."""
        return self.place[self._trace.op_of_work]

    @cached_property
    def _calls(self) -> dict[int, intervals.IntervalSet]:
        """Time of each thread in which an API call is open."""
        columns = self._trace.columns
        rows = np.flatnonzero(columns.timed & (columns.kind == CODE["api_call"]))
        thread = columns.thread[rows]
        found = np.unique(thread)
        parts = {number: rows[thread == number] for number in found.tolist()}
        return {number: intervals.union(columns.start[part], columns.end[part]) for number, part in parts.items()}

    def in_calls(self, thread: Index, start: Index, end: Index, cut: intervals.IntervalSet | None = None) -> Index:
        """Return how much of stretches of threads' time was spent in API calls, ns.

        Parameters
        ----------
        thread, start, end : ndarray of int64
        cut : IntervalSet, optional
            Only calls inside it, cut to it.

        Returns
        -------
        ndarray of int64
        """
        found = np.zeros(start.size, np.int64)
        for number in np.unique(thread).tolist():
            if number in self._calls:
                of = np.flatnonzero(thread == number)
                calls = self._calls[number] if cut is None else intervals.intersect(self._calls[number], cut)
                found[of] = intervals.covered_before(calls, end[of]) - intervals.covered_before(calls, start[of])
        return found
