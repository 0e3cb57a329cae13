"""Everything about one event: where it is, what it was called with, and what it is tied to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope.errors import ChoiceError
from kinetoscope.timeline.lanes import KIND_NAMES

if TYPE_CHECKING:
    from kinetoscope.timeline.rows import Rows
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_MOST_WORKS = 200


class Details:
    """Look up events of a laid-out trace."""

    def __init__(self, trace: Trace, rows: Rows) -> None:
        self._trace, self._rows = trace, rows
        self._kind = rows.sources[0].kind
        self.row_of_event = _rows_of_events(rows, len(trace))

    def position(self, event: int) -> int:
        """Return the row of the columns that holds an event.

        Raises
        ------
        ChoiceError
            When there is no such event.
        """
        ids = self._trace.columns.id
        at = int(np.searchsorted(ids, event))
        if at >= ids.size or ids[at] != event:
            raise ChoiceError(f"no event {event} in this trace", hint="ids are positions in the file's event list")
        return at

    def reference(self, row: int) -> dict[str, Any] | None:
        """Return what is needed to name an event and go to it; nothing for -1."""
        if row < 0:
            return None
        columns = self._trace.columns
        drawn = int(self.row_of_event[row])
        return {
            "id": int(columns.id[row]),
            "name": columns.names[columns.name[row]],
            "kind": KIND_NAMES[self._kind[row]],
            "start_ns": int(columns.start[row]),
            "duration_ns": int(columns.duration[row]),
            "row": drawn if drawn >= 0 else None,
        }

    def event(self, event: int) -> dict[str, Any]:
        """Return all that is known of an event.

        Parameters
        ----------
        event : int
            Its id.

        Returns
        -------
        dict
            ``Event`` of ``docs/wire.md``.
        """
        row = self.position(event)
        trace, columns = self._trace, self._trace.columns
        work = np.flatnonzero(trace.work == row)
        launch = int(trace.launch_of_work[work[0]]) if work.size else -1
        op = int(trace.op_of_work[work[0]]) if work.size else int(trace.op_of_call[row])
        works = trace.work[trace.launch_of_work == row]
        recorded = trace.recorded(event).get("args", {})
        return {
            **(self.reference(row) or {}),
            "category": columns.categories[columns.category[row]],
            "thread": self._place(row),
            "device": _known(columns.device[row]),
            "stream": _known(columns.stream[row]),
            "correlation": _known(columns.correlation[row] or -1),
            "step": self._step(row, work),
            "args": recorded if isinstance(recorded, dict) else {"args": recorded},
            "parents": [
                self.reference(parent)
                for parent in self._ancestors(launch if launch >= 0 else row, include=launch >= 0)
            ],
            "op": self.reference(op),
            "launch": self.reference(launch),
            "works": [self.reference(int(found)) for found in works[:_MOST_WORKS]],
            "works_total": int(works.size),
            "forward": self.reference(int(trace.forward_row[row])),
            "backward": [self.reference(int(found)) for found in np.flatnonzero(trace.forward_row == row)],
            "same_name": self._same_name(row),
            "unfinished": bool(columns.unfinished[row]),
        }

    def _place(self, row: int) -> str:
        """Say on which thread or stream an event is."""
        columns = self._trace.columns
        if columns.device[row] >= 0:
            return f"GPU {columns.device[row]}, stream {columns.stream[row]}"
        about = columns.threads[columns.thread[row]]
        name = f" ({about.name})" if about.name else ""
        return f"process {about.pid}, thread {about.tid}{name}"

    def _step(self, row: int, work: Index) -> int | None:
        table = self._trace.steps_table
        at = (
            int(self._trace.step_of_work[work[0]])
            if work.size
            else int(table.holding(self._trace.columns.start[[row]])[0])
        )
        return int(table.number[at]) if at >= 0 else None

    def _ancestors(self, row: int, *, include: bool) -> list[int]:
        """Return the events around one on its thread, outermost first."""
        found = [row] if include else []
        at = int(self._trace.parent_row[row])
        while at >= 0:
            found.append(at)
            at = int(self._trace.parent_row[at])
        return found[::-1]

    def _same_name(self, row: int) -> dict[str, Any]:
        """Sum the finished events of the same name and kind."""
        columns = self._trace.columns
        same = (
            columns.timed
            & (columns.name == columns.name[row])
            & (columns.kind == columns.kind[row])
            & ~columns.unfinished
        )
        length = columns.duration[same]
        if not length.size:
            return {"calls": 0, "total_ns": 0, "mean_ns": None, "min_ns": None, "max_ns": None}
        return {
            "calls": int(length.size),
            "total_ns": int(length.sum()),
            "mean_ns": float(length.mean()),
            "min_ns": int(length.min()),
            "max_ns": int(length.max()),
        }

    def neighbor(self, event: int, by: int) -> dict[str, Any]:
        """Return the event before or after one on its row.

        Parameters
        ----------
        event : int
            Its id.
        by : {-1, 1}

        Returns
        -------
        dict
            ``{"event": reference or None}``.
        """
        at = self.position(event)
        row = int(self.row_of_event[at])
        if row < 0:
            return {"event": None}
        part = self._rows.row(row)
        other = part.start + int(np.flatnonzero(self._rows.bar[part] == at)[0]) + by
        if not part.start <= other < part.stop:
            return {"event": None}
        return {"event": self.reference(int(self._rows.bar[other]))}

    def longest(self, entry: int, count: int) -> dict[str, Any]:
        """Return the longest of some neighbours on a row.

        Parameters
        ----------
        entry : int
            The first of them, as tiles number them.
        count : int

        Returns
        -------
        dict
            ``Longest`` of ``docs/wire.md``.

        Raises
        ------
        ChoiceError
            When they are not on one row.
        """
        row = self._rows.row_of(entry)
        if not 0 <= row < self._rows.count or entry + count > self._rows.row(row).stop:
            raise ChoiceError(
                f"no {count} bars on a row from {entry} on", hint="the timeline has changed: load it again"
            )
        some = slice(entry, entry + count)
        length = self._rows.lengths(some, row)
        at = int(length.argmax())
        found = {key: self._rows.look_up(key, some, row)[at] for key in ("id", "start", "name", "kind")}
        return {
            "id": int(found["id"]),
            "name": int(found["name"]),
            "kind": KIND_NAMES[found["kind"]],
            "start_ns": int(found["start"]),
            "duration_ns": int(length[at]),
            "row": row,
        }


def _rows_of_events(rows: Rows, events: int) -> npt.NDArray[Any]:
    """Return the row that each event is drawn on, -1 for those that are not."""
    found = np.full(events, -1, np.int16 if rows.count < 1 << 15 else np.int32)
    for number in np.flatnonzero(rows.source == 0).tolist():
        found[rows.bar[rows.row(number)]] = number
    return found


def _known(value: Any) -> int | None:
    return int(value) if value >= 0 else None
