"""The timeline: lanes, tiles, search and details of a trace, shaped as ``docs/wire.md`` says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetoscope.errors import ChoiceError
from kinetoscope.timeline import lanes as lane_layout
from kinetoscope.timeline import levels, tiles
from kinetoscope.timeline import path as critical
from kinetoscope.timeline import search as finding
from kinetoscope.timeline.details import Details

if TYPE_CHECKING:
    from kinetoscope.timeline.rows import Rows
    from kinetoscope.trace import Trace


class Timeline:
    """A trace laid out on rows.

    Parameters
    ----------
    trace : Trace
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @cached_property
    def _layout(self) -> tuple[list[lane_layout.Lane], Rows]:
        return lane_layout.build(self.trace)

    @cached_property
    def _content(self) -> tiles.Content:
        lanes, rows = self._layout
        drawn = {lane.first_row: lane.counter for lane in lanes if lane.counter}
        return tiles.Content(rows, levels.build(rows), drawn)

    @cached_property
    def _details(self) -> Details:
        return Details(self.trace, self._layout[1])

    @cached_property
    def end_ns(self) -> int:
        """End of the last event that is drawn."""
        rows = self._layout[1]
        filled = np.flatnonzero(np.diff(rows.first))
        ends = rows.ends(rows.first[filled + 1] - 1, filled)
        return int(max([0, *ends.tolist(), *(reach[-1] for reach in rows.reach.values())]))

    def lanes(self) -> dict[str, Any]:
        """Return the lanes in drawing order."""
        found, rows = self._layout
        listed = [
            {
                "lane": number,
                "parent": lane.parent,
                "kind": lane.kind,
                "title": lane.title,
                "detail": lane.detail,
                "device": lane.device,
                "first_row": lane.first_row,
                "rows": lane.rows,
                "events": lane.events,
                "busy_ns": lane.busy_ns,
                **_measured(lane),
            }
            for number, lane in enumerate(found)
        ]
        return {"end_ns": self.end_ns, "rows": rows.count, "lanes": listed}

    def names(self) -> list[str]:
        """Return the texts that the tiles' name column numbers."""
        return [*self.trace.columns.names, "nothing recorded"]

    def tile(self, rows: Sequence[int], t0: int, t1: int, px: int) -> bytes:
        """Return what of some rows touches ``[t0, t1)``, merged for ``px`` pixels, as bytes."""
        return tiles.pack(self._content, self._checked(rows), (t0, t1), px)

    def longest(self, entry: int, count: int) -> dict[str, Any]:
        """Return the longest of some neighbours on a row: what a merged bar stands for, by its first entry and its count."""
        return self._details.longest(entry, count)

    def event(self, event_id: int) -> dict[str, Any]:
        """Return all that is known of an event."""
        return self._details.event(event_id)

    def neighbor(self, event_id: int, by: int) -> dict[str, Any]:
        """Return the event before (-1) or after (1) one on its row."""
        return self._details.neighbor(event_id, by)

    def search(self, text: str, limit: int = 2000, *, exact: bool = False) -> dict[str, Any]:
        """Find events by name."""
        return finding.search(self.trace, self._details.row_of_event, text, limit, exact=exact)

    def area(self, rows: Sequence[int], t0: int, t1: int) -> dict[str, Any]:
        """Sum what lies in ``[t0, t1)`` on some rows, by name."""
        return finding.area(self.trace, self._layout[1], self._checked(rows), (t0, t1))

    def path(self, t0: int, t1: int, px: int) -> dict[str, Any]:
        """Return the critical paths in ``[t0, t1)``, as they are drawn over the rows."""
        return critical.path(self.trace, self._details.row_of_event, (t0, t1), px)

    def minimap(self, px: int) -> dict[str, Any]:
        """Return the covered share of each of ``px`` parts of the recording."""
        return finding.minimap(self.trace, px, self.end_ns)

    def _checked(self, rows: Sequence[int]) -> Sequence[int]:
        count = self._layout[1].count
        wrong = next((row for row in rows if not 0 <= row < count), None)
        if wrong is not None:
            raise ChoiceError(f"no row {wrong} in this trace", hint=f"rows are 0 to {count - 1}")
        return rows


def _measured(lane: lane_layout.Lane) -> dict[str, Any]:
    """Return unit and bounds of a counter's lane; of the others, nothing."""
    low, high = (lane.counter.bounds if lane.counter else None) or (None, None)
    return {"unit": lane.counter.unit if lane.counter else "", "low": low, "high": high}
