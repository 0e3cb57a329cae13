"""What the host was doing at any instant: the cause that a thread's open events stand for, and who is to blame.

The rules are those of ``docs/definitions.md``, "Idle gaps and their causes"; the names they go by are in ``data/names.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting
from kinetoscope.idle.open_ranges import Changes, OpenRanges, cut_at
from kinetoscope.naming import matching
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

DOING = (
    "synchronization",
    "memory allocation",
    "data loading",
    "compilation",
    "launch calls",
    "host work",
    "host python",
    "untraced host",
)
"""What a host thread can be doing; of several, the first that holds."""

UNTRACED = DOING.index("untraced host")


@dataclass(frozen=True)
class Blame:
    """Who was at work at some instants: rows of the columns, -1 for nobody.

    Parameters
    ----------
    op : ndarray of int64
        Innermost op.
    module : ndarray of int64
        Innermost ``nn.Module`` frame; under a backward op that of its forward op, unless one was opened inside the backward op.
    source : ndarray of int64
        Innermost Python frame outside the libraries, else the outermost frame.
    annotation : ndarray of int64
        Innermost annotation, the step marker excepted.
    """

    op: Index
    module: Index
    source: Index
    annotation: Index


class HostTime:
    """The host side of a trace, asked by thread and instant.

    Parameters
    ----------
    trace : Trace
    """

    def __init__(self, trace: LinkedTrace) -> None:
        self._trace = trace
        columns = trace.columns
        names, kind = columns.names, columns.kind
        rows = trace.host.rows
        name, of = columns.name[rows], kind[rows]
        self._marker = np.isin(rows, trace.steps_table.row)
        call, op, python = (of == CODE[word] for word in ("api_call", "op", "python"))
        annotation = (of == CODE["annotation"]) & ~self._marker
        compiler = (python & matching(names, "compiler_frame")[name]) | (
            (op | annotation) & matching(names, "compiler_range")[name]
        )
        loader = annotation & matching(names, "data_loader")[name]
        blocking = call & self.blocking[rows]
        allocation = call & ~blocking & matching(names, "allocation_call")[name]
        module = python & matching(names, "module_frame")[name]
        own = python & ~matching(names, "library_frame")[name]
        outermost = python & (self._parent_among(python) < 0)
        # by DOING, less "untraced host"; what has a cause of its own does not stand for a lesser one as well
        self._classes = (blocking, allocation, loader, None, call & ~blocking & ~allocation, op | annotation, outermost)
        self._compiler = compiler
        self.sees_python = bool(python.any())
        self._sets = {"op": op, "annotation": annotation, "module": module, "own": own, "outermost": outermost}
        self._matters = call | op | annotation | compiler | module | own | outermost

    @cached_property
    def blocking(self) -> Flags:
        """Which rows are API calls that wait for the device: by name, or asynchronous copies from or to pageable memory."""
        trace, columns = self._trace, self._trace.columns
        calls = columns.kind == CODE["api_call"]
        found = calls & matching(columns.names, "blocking_call")[columns.name]
        pageable = matching(columns.names, "pageable_copy")[columns.name[trace.work]] & (trace.launch_of_work >= 0)
        callers = np.unique(trace.launch_of_work[pageable])
        found[callers[matching(columns.names, "asynchronous_copy")[columns.name[callers]]]] = True
        return np.asarray(found)

    def _parent_among(self, chosen: Flags) -> Index:
        """Return the innermost chosen event around each chosen one, by position among the host's; -1 elsewhere too."""
        columns, rows = self._trace.columns, self._trace.host.rows
        parent = np.full(rows.size, -1, np.int64)
        parent[chosen] = nesting.parents(columns.thread[rows[chosen]].astype(np.int64), columns.end[rows[chosen]])
        return parent

    # --- which thread ---------------------------------------------------------------------------------------------------------------

    @cached_property
    def usual_thread(self) -> int:
        """The thread with most launches, else with most host events; of several, the first in the file; -1 without any."""
        rows = self._trace.launches_rows
        rows = rows if rows.size else np.sort(self._trace.host.rows)
        if not rows.size:
            return -1
        threads, first, count = np.unique(self._trace.columns.thread[rows], return_index=True, return_counts=True)
        return int(threads[np.lexsort((first, -count))[0]])

    def on_main_thread(self, start: Index, end: Index) -> tuple[Index, Index, Index, Index]:
        """Cut pieces of time by which thread is the main one.

        Returns
        -------
        piece, thread, start, end : ndarray of int64
            The main thread is that of the step marker open then, else of the last marker before, else :attr:`usual_thread`.
        """
        columns, markers = self._trace.columns, self._trace.steps_table
        piece, start, end = cut_at(start, end, markers.host_start)
        last = np.searchsorted(markers.host_start, start, side="right") - 1
        threads = np.append(columns.thread[markers.row].astype(np.int64), self.usual_thread)
        return piece, threads[last], start, end

    # --- what and who ---------------------------------------------------------------------------------------------------------------

    @cached_property
    def _changes(self) -> Changes:
        columns, rows = self._trace.columns, self._trace.host.rows[self._matters]
        thread, start, end = columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows]
        other, other_thread = self._overhead
        return Changes(
            np.concatenate([thread, other_thread]),
            np.concatenate([start, columns.start[other]]),
            np.concatenate([end, columns.end[other]]),
        )

    def cut(self, thread: Index, start: Index, end: Index) -> tuple[Index, Index, Index]:
        """Cut pieces of time wherever what their thread does, or who is to blame, may change; see :meth:`.Changes.cut`."""
        return self._changes.cut(thread, start, end)

    @cached_property
    def _overhead(self) -> tuple[Index, Index]:
        """Rows of recorded compiler overhead that names a host thread by its number, and that thread."""
        columns = self._trace.columns
        rows = np.flatnonzero((columns.kind == CODE["overhead"]) & (columns.duration > 0))
        rows = rows[matching(columns.names, "compiler_overhead")[columns.name[rows]]]
        host = np.unique(columns.thread[self._trace.host.rows]).tolist()
        by_number = {columns.threads[thread].tid: thread for thread in host}
        thread = np.array([by_number.get(columns.threads[i].tid, -1) for i in columns.thread[rows].tolist()], np.int64)
        return rows[thread >= 0], thread[thread >= 0]

    def _ranges(self, chosen: Flags, more: tuple[Index, Index] | None = None) -> OpenRanges:
        columns = self._trace.columns
        rows = self._trace.host.rows[chosen]
        thread = columns.thread[rows].astype(np.int64)
        if more is not None and more[0].size:
            rows, thread = np.concatenate([rows, more[0]]), np.concatenate([thread, more[1]])
            order = nesting.order(thread, columns.start[rows], columns.end[rows], np.zeros(rows.size, np.int8))
            rows, thread = rows[order], thread[order]
        return OpenRanges(rows, thread, columns.start[rows], columns.end[rows])

    @cached_property
    def _of_class(self) -> list[OpenRanges]:
        return [
            self._ranges(self._compiler, self._overhead)
            if chosen is None
            else self._of_set["outermost"]
            if chosen is self._sets["outermost"]
            else self._ranges(chosen)
            for chosen in self._classes
        ]

    def doing(self, thread: Index, time: Index) -> tuple[npt.NDArray[np.int8], Index]:
        """Tell what threads were doing.

        Parameters
        ----------
        thread, time : ndarray of int64
            Thread number and ns of each question.

        Returns
        -------
        what : ndarray of int8
            Index into :data:`DOING`.
        row : ndarray of int64
            The open event that says so, -1 for "untraced host".
        """
        what = np.full(time.size, UNTRACED, np.int8)
        row = np.full(time.size, -1, np.int64)
        for code, ranges in enumerate(self._of_class):
            asked = np.flatnonzero(row < 0)
            found = ranges.at(thread[asked], time[asked])
            what[asked[found >= 0]], row[asked] = code, found
        # of Python, the line that says most, not the outermost frame
        python = np.flatnonzero(what == DOING.index("host python"))
        own = self._of_set["own"].at(thread[python], time[python])
        row[python] = np.where(own >= 0, own, row[python])
        return what, row

    @cached_property
    def _of_set(self) -> dict[str, OpenRanges]:
        return {name: self._ranges(chosen) for name, chosen in self._sets.items()}

    @cached_property
    def _backward(self) -> OpenRanges:
        return self._ranges(self._sets["op"] & (self._trace.forward_row[self._trace.host.rows] >= 0))

    def blame(self, thread: Index, time: Index) -> Blame:
        """Tell who was at work on threads at instants."""
        innermost = {name: ranges.at(thread, time) for name, ranges in self._of_set.items()}
        module = innermost["module"]
        backward = self._backward.at(thread, time)
        linked = np.flatnonzero(backward >= 0)
        if linked.size:
            columns, forward = self._trace.columns, self._trace.forward_row[backward[linked]]
            found = self._of_set["module"].at(columns.thread[forward].astype(np.int64), columns.start[forward])
            own = module[linked]
            # a module that runs inside the backward op, as checkpointing does again, is its own answer
            inside = (own >= 0) & (columns.start[np.maximum(own, 0)] >= columns.start[backward[linked]])
            module[linked] = np.where((found >= 0) & ~inside, found, own)
        source = np.where(innermost["own"] >= 0, innermost["own"], innermost["outermost"])
        return Blame(innermost["op"], module, source, innermost["annotation"])
