"""Calls in which the host waits for the device: how long, for what, and why they were made."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import intervals, schema
from kinetoscope.frames import ids, step_numbers, texts
from kinetoscope.idle.waits import waited_for
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, names_of, of_value, step_note, us
from kinetoscope.views.idle_keys import KEY_COLUMNS, key_values
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_OTHER = "other"
_WHO = ("op", "module", "source", "annotation", "thread")
_KEYS = ("reason", "name", "path", "op", "module", "source", "annotation", "step", "thread")
_KEY_COLUMNS = {column.name: column for column in KEY_COLUMNS}

_COLUMNS = (
    Column("id", "", "integer", "Event id of the blocking call."),
    Column("name", "", "text", "Name of the API call."),
    Column("start_us", "µs", "number", "Start of the call, from the trace's origin."),
    Column("duration_us", "µs", "number", "How long the host waited in it."),
    Column("busy_us", "µs", "number", "Time of the call in which some device worked."),
    Column("idle_us", "µs", "number", "Time of the call in which no device worked: pure loss."),
    Column("reason", "", "text", "What asked for it, by the ops around the call (data/sync_reasons.json)."),
    Column("path", "", "text", "Ops around the call, outermost first."),
    Column(
        "waited_for",
        "",
        "text",
        "Its own copy, else the device work that ended last within the call; missing when none did.",
    ),
    Column("waited_for_id", "", "integer", "Event id of that work."),
    Column("op", "", "text", "Innermost op around the call on its thread."),
    *(_KEY_COLUMNS[key] for key in ("module", "source", "annotation")),
    Column("step", "", "integer", "Step whose host range holds the start of the call; missing outside all steps."),
    Column("thread", "", "text", "Host thread that waited."),
    Column("calls", "", "integer", "Blocking calls."),
    Column("total_us", "µs", "number", "Time that the host waited in them."),
    Column("longest_us", "µs", "number", "The longest wait."),
    Column("longest_id", "", "integer", "Event id of that call."),
)

_BY = Parameter("by", "token", "What a row is: one call, or all that have this in common.", ("call", *_KEYS), "call")


def syncs(
    trace: Trace,
    by: str = "call",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """List the calls that block until the device is done: synchronizations, and copies from or to pageable memory.

    Parameters
    ----------
    trace : Trace
    by : {"call", "reason", "name", "path", "op", "module", "source", "annotation", "step", "thread"}
        What a row is.
    step : float, optional
        Only calls that start in this step's host range.
    start_us, end_us : float, optional
        Only calls that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        Calls in time order; sums by waiting time, longest first, steps in their order.
    """
    columns = trace.columns
    rows = np.flatnonzero(trace.host_time.blocking & columns.timed)
    rows = rows[np.argsort(columns.start[rows], kind="stable")]
    rows = rows[in_range(columns.start[rows], start_us, end_us)]
    frame = _calls(trace, rows)
    frame = frame[of_value(frame["step"], step)].reset_index(drop=True)
    result = frame if by == "call" else _sums(frame, by)
    result.attrs["notes"] = step_note(trace, step) or ([] if len(frame) else ["No blocking call was recorded."])
    return result


def _calls(trace: Trace, rows: Index) -> pd.DataFrame:
    columns = trace.columns
    start, end = columns.start[rows], columns.end[rows]
    busy = intervals.merge(*(device.busy for device in trace.devices))
    worked = intervals.covered_before(busy, end) - intervals.covered_before(busy, start)
    paths = op_paths(trace, rows)
    waited = waited_for(trace, rows)
    who = key_values(trace, rows, _WHO)
    return pd.DataFrame(
        {
            "id": columns.id[rows],
            "name": names_of(trace, rows),
            "start_us": us(start),
            "duration_us": us(end - start),
            "busy_us": us(worked),
            "idle_us": us(end - start - worked),
            "reason": _reasons(trace, rows, paths),
            "path": paths,
            "waited_for": names_of(trace, waited),
            "waited_for_id": ids(trace, waited),
            **{key: who[key] for key in ("op", "module", "source", "annotation")},
            "step": step_numbers(trace, trace.steps_table.holding(start)),
            "thread": who["thread"],
        }
    )


def op_paths(trace: Trace, rows: Index) -> pd.Categorical:
    """Return the ops around host events as text, outermost first; missing where there is none.

    Parameters
    ----------
    trace : Trace
    rows : ndarray of int64

    Returns
    -------
    pandas.Categorical
        Such as ``aten::to > aten::_to_copy > aten::copy_``.
    """
    columns = trace.columns
    levels: list[Index] = []
    at = trace.parent_row[rows] if rows.size else rows
    while (at >= 0).any():
        op = (at >= 0) & (columns.kind[np.maximum(at, 0)] == schema.CODE["op"])
        levels.append(np.where(op, columns.name[np.maximum(at, 0)], -1).astype(np.int64))
        at = np.where(at >= 0, trace.parent_row[np.maximum(at, 0)], -1)
    if not levels:
        return texts(np.full(rows.size, -1, np.int32), [])
    # one name per chain, not per call
    chains, code = np.unique(np.stack(levels, axis=1), axis=0, return_inverse=True)
    named = [" > ".join(columns.names[i] for i in reversed(chain) if i >= 0) for chain in chains.tolist()]
    known = sorted({name for name in named if name})
    place = {name: number for number, name in enumerate(known)}
    return texts(np.array([place.get(name, -1) for name in named], np.int32)[code.ravel()], known)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((rule["reason"], re.compile(rule["pattern"])) for rule in schema.table("sync_reasons")["reasons"])


def _reasons(trace: Trace, rows: Index, paths: pd.Categorical) -> pd.Categorical:
    """Return why each call was made, by its path and name."""
    columns = trace.columns
    choices = [*dict.fromkeys(reason for reason, _ in _patterns()), _OTHER]
    pairs, code = np.unique(np.stack([paths.codes, columns.name[rows]], axis=1), axis=0, return_inverse=True)
    found = []
    for path, name in pairs.tolist():
        text = f"{paths.categories[path]} > {columns.names[name]}" if path >= 0 else columns.names[name]
        found.append(choices.index(next((reason for reason, pattern in _patterns() if pattern.search(text)), _OTHER)))
    return texts(np.array(found, np.int32)[code.ravel()] if rows.size else np.empty(0, np.int32), choices)


def _sums(frame: pd.DataFrame, by: str) -> pd.DataFrame:
    grouped: Any = frame.groupby(by, observed=True, dropna=False, sort=by == "step")
    result = grouped.agg(
        calls=("id", "size"),
        total_us=("duration_us", "sum"),
        busy_us=("busy_us", "sum"),
        idle_us=("idle_us", "sum"),
        longest_us=("duration_us", "max"),
        longest=("duration_us", "idxmax"),
    ).reset_index()
    result["longest_id"] = frame["id"].to_numpy()[result.pop("longest").to_numpy(np.int64)]
    for name in ("total_us", "busy_us", "idle_us"):
        result[name] = result[name].round(3)
    return result if by == "step" else result.sort_values("total_us", ascending=False, kind="stable", ignore_index=True)


VIEW = View("syncs", "Blocking calls", syncs, _COLUMNS, (_BY, STEP, *RANGE))
