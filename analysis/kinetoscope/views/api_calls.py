"""Host calls into the device's API: one by one, or by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import links, schema
from kinetoscope.frames import step_numbers, texts
from kinetoscope.naming import matching
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, names_of, of_value, step_note, us
from kinetoscope.views.idle_keys import KEY_COLUMNS, key_values
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

KINDS = ("blocking", "allocation", "launch", "other")

_WHO = {column.name: column for column in KEY_COLUMNS}
_COLUMNS = (
    Column("id", "", "integer", "Event id."),
    Column("name", "", "text", "Name of the API call."),
    Column(
        "kind", "", "text", "blocking: waits for the device; allocation: of device or pinned memory; launch; other."
    ),
    Column("start_us", "µs", "number", "Start of the call, from the trace's origin."),
    Column("duration_us", "µs", "number", "Its length."),
    Column("works", "", "integer", "Device works that it owns."),
    Column("op", "", "text", "Innermost op around the call on its thread."),
    _WHO["module"],
    _WHO["source"],
    Column("step", "", "integer", "Step whose host range holds its start; missing outside all steps."),
    Column("thread", "", "text", "Host thread of the call."),
    Column("calls", "", "integer", "Calls."),
    Column("total_us", "µs", "number", "Their lengths added up."),
    Column("mean_us", "µs", "number", "Mean length."),
    Column("max_us", "µs", "number", "The longest."),
)
_BY = Parameter("by", "token", "What a row is: one call, or all of a name.", ("call", "name"), "call")
_OF_KIND = Parameter("kind", "token", "Only calls of this kind.", KINDS)


def api_calls(
    trace: Trace,
    by: str = "call",
    kind: str | None = None,
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """List host calls into the device's API.

    Parameters
    ----------
    trace : Trace
    by : {"call", "name"}
        What a row is.
    kind : {"blocking", "allocation", "launch", "other"}, optional
        Only calls of this kind; of several that hold, the first.
    step : float, optional
        Only calls that start in this step's host range.
    start_us, end_us : float, optional
        Only calls that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        Calls in time order; sums longest total first.
    """
    columns = trace.columns
    rows = np.flatnonzero((columns.kind == schema.CODE["api_call"]) & columns.timed)
    rows = rows[np.argsort(columns.start[rows], kind="stable")]
    rows = rows[in_range(columns.start[rows], start_us, end_us)]
    rows = rows[of_value(pd.Series(step_numbers(trace, trace.steps_table.holding(columns.start[rows]))), step)]
    if kind is not None:
        rows = rows[_kinds(trace, rows) == KINDS.index(kind)]
    frame = _calls(trace, rows)
    result = frame if by == "call" else _sums(frame)
    result.attrs["notes"] = step_note(trace, step) or ([] if len(result) else ["No such API call was recorded."])
    return result


def _calls(trace: Trace, rows: npt.NDArray[np.int64]) -> pd.DataFrame:
    columns = trace.columns
    return pd.DataFrame(
        {
            "id": columns.id[rows],
            "name": names_of(trace, rows),
            "kind": texts(_kinds(trace, rows).astype(np.int32), list(KINDS)),
            "start_us": us(columns.start[rows]),
            "duration_us": us(columns.duration[rows]),
            "works": links.count_of(trace.launch_of_work, len(trace))[rows],
            **key_values(trace, rows, ("op", "module", "source")),
            "step": step_numbers(trace, trace.steps_table.holding(columns.start[rows])),
            **key_values(trace, rows, ("thread",)),
        }
    )


def _kinds(trace: Trace, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the kind of each call, as a place in :data:`KINDS`."""
    allocation = matching(trace.columns.names, "allocation_call")[trace.columns.name[rows]]
    launch = np.isin(rows, trace.launches_rows)
    return np.select([trace.host_time.blocking[rows], allocation, launch], [0, 1, 2], 3)


def _sums(frame: pd.DataFrame) -> pd.DataFrame:
    grouped = frame.groupby(["name", "kind"], observed=True)
    result = grouped.agg(
        calls=("id", "size"),
        total_us=("duration_us", "sum"),
        mean_us=("duration_us", "mean"),
        max_us=("duration_us", "max"),
        works=("works", "sum"),
    ).reset_index()
    result["total_us"], result["mean_us"] = result["total_us"].round(3), result["mean_us"].round(3)
    return result.sort_values("total_us", ascending=False, kind="stable", ignore_index=True)


VIEW = View("api_calls", "API calls", api_calls, _COLUMNS, (_BY, _OF_KIND, STEP, *RANGE))
