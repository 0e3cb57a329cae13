"""Find events by name, sum an area, and draw the overview strip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import intervals, schema
from kinetoscope.timeline.lanes import KIND_NAMES
from kinetoscope.timeline.rows import Rows

if TYPE_CHECKING:
    from kinetoscope.trace import Trace


def search(trace: Trace, row_of_event: npt.NDArray[Any], text: str, limit: int, *, exact: bool) -> dict[str, Any]:
    """Find the events whose name contains a text, without regard to case.

    Parameters
    ----------
    trace : Trace
    row_of_event : ndarray of int
        The row that each event is drawn on, -1 for those that are not.
    text : str
        An empty text finds nothing.
    limit : int
        Most hits to return; all are counted.
    exact : bool
        Whole names only, with regard to case.

    Returns
    -------
    dict
        ``total``, ``names`` (numbers of the names that fit), and ``hits``: columns of the first hits in time order.
    """
    wanted = text if exact else text.casefold()
    found = (
        [i for i, name in enumerate(trace.columns.names) if (name == text if exact else wanted in name.casefold())]
        if text
        else []
    )
    chosen = np.zeros(len(trace.columns.names), bool)
    chosen[found] = True
    columns = trace.columns
    hits = np.flatnonzero(chosen[columns.name] & (row_of_event >= 0))
    first = hits[np.argsort(columns.start[hits], kind="stable")][:limit]
    listed = {
        "id": columns.id[first],
        "name": columns.name[first],
        "start_ns": columns.start[first],
        "duration_ns": np.maximum(columns.duration[first], 0),
        "row": row_of_event[first],
    }
    return {"total": int(hits.size), "names": found, "hits": listed}


def area(trace: Trace, rows: Rows, chosen: Sequence[int], window: tuple[int, int]) -> dict[str, Any]:
    """Sum what lies in a window on some rows, by name; times are cut to the window.

    Parameters
    ----------
    trace : Trace
    rows : Rows
    chosen : sequence of int
    window : tuple of int
        ``[start, end)`` in ns.

    Returns
    -------
    dict
        ``rows`` (one dict per name and kind, longest total first), ``total_ns``, ``events``.
    """
    numbers = np.array(sorted(set(chosen)), np.int64)
    low, high = rows.within(numbers, *window)
    parts = [np.arange(*bound) for bound in zip(low.tolist(), high.tolist(), strict=True)]
    entry = np.concatenate([np.empty(0, np.int64), *parts])
    row = np.repeat(numbers, high - low)
    length = np.minimum(rows.ends(entry, row), window[1]) - np.maximum(rows.look_up("start", entry, row), window[0])
    kinds = {key: rows.look_up(key, entry, row) for key in ("name", "kind")}
    frame = pd.DataFrame({**kinds, "ns": np.maximum(length, 0)})
    table = frame.groupby(["name", "kind"])["ns"].agg(["count", "sum", "mean", "min", "max"]).reset_index()
    table = table.sort_values("sum", ascending=False, kind="stable")
    names = [*trace.columns.names, "nothing recorded"]
    keys = ("name", "kind", "calls", "total_ns", "mean_ns", "min_ns", "max_ns")
    values = (
        [names[i] for i in table["name"]],
        [KIND_NAMES[i] for i in table["kind"]],
        *(table[column].tolist() for column in ("count", "sum", "mean", "min", "max")),
    )
    summed = [dict(zip(keys, row, strict=True)) for row in zip(*values, strict=True)]
    return {"rows": summed, "total_ns": int(frame["ns"].sum()), "events": int(entry.size)}


def minimap(trace: Trace, px: int, end: int) -> dict[str, Any]:
    """Return how much of each of some equal parts of the recording is covered.

    Parameters
    ----------
    trace : Trace
    px : int
        Number of parts.
    end : int
        End of the recording, ns.

    Returns
    -------
    dict
        Shares from 0 to 1, per device and for ops and API calls of the host.
    """
    edges = np.linspace(0, max(end, 1), px + 1).astype(np.int64)
    columns = trace.columns
    host = columns.timed & np.isin(columns.kind, [schema.CODE["op"], schema.CODE["api_call"]])
    devices = [{"device": device.device, "busy": _shares(device.busy, edges)} for device in trace.devices]
    return {
        "px": px,
        "end_ns": end,
        "devices": devices,
        "host": _shares(intervals.union(columns.start[host], columns.end[host]), edges),
    }


def _shares(covered: intervals.IntervalSet, edges: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    before = intervals.covered_before(covered, edges)
    return np.round(np.diff(before) / np.maximum(np.diff(edges), 1), 4)
