"""What was and was not recorded, first thing to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kinetoscope import health as checking
from kinetoscope.errors import ChoiceError
from kinetoscope.frames import optional, texts
from kinetoscope.schema import KINDS, Column
from kinetoscope.views.common import us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("check", "", "text", "What was looked at."),
    Column("severity", "", "text", "ok, info, warning or error."),
    Column("count", "", "integer", "Events, works or parts of the file that it is about."),
    Column("share_pct", "%", "number", "Their part of all; missing where there is no whole."),
    Column("detail", "", "text", "What was found."),
    Column("hint", "", "text", "What to do about it."),
    Column("events", "", "integer", "Events that the view health_events lists behind it."),
)

_EVENT_COLUMNS = (
    Column("check", "", "text", "The check that the event is behind."),
    Column("id", "", "integer", "Event id."),
    Column("name", "", "text", "Name as recorded."),
    Column("kind", "", "text", "Kind of event."),
    Column("start_us", "µs", "number", "Start, from the trace's origin; missing for untimed events."),
    Column("duration_us", "µs", "number", "Length as recorded; missing for untimed events."),
    Column("step", "", "integer", "Step whose host range holds its start."),
)


def health(trace: Trace) -> pd.DataFrame:
    """Check what a trace holds and what it does not.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per check, worst first; columns as in the registry.
    """
    found = trace.findings
    frame = pd.DataFrame(
        {
            "check": [finding.check for finding in found],
            "severity": pd.Categorical([finding.severity for finding in found], list(checking.SEVERITIES)),
            "count": np.array([finding.count for finding in found], np.int64),
            "share_pct": [finding.share_pct for finding in found],
            "detail": [finding.detail for finding in found],
            "hint": [finding.hint for finding in found],
            "events": np.array([finding.rows.size for finding in found], np.int64),
        }
    )
    frame.attrs["notes"] = []
    return frame


def health_events(trace: Trace, check: str | None = None) -> pd.DataFrame:
    """List the events behind a check.

    Parameters
    ----------
    trace : Trace
    check : str, optional
        Its name, as :func:`health` has it; without one, the events behind all that are not ok.

    Returns
    -------
    pandas.DataFrame
        In time order.

    Raises
    ------
    ChoiceError
        When there is no such check.
    """
    by_name = {finding.check: finding for finding in trace.findings}
    if check is not None and check not in by_name:
        raise ChoiceError.of("check", check, by_name)
    columns = trace.columns
    chosen = [finding for finding in trace.findings if finding.severity != "ok"] if check is None else [by_name[check]]
    rows = np.concatenate([np.empty(0, np.int64), *(finding.rows for finding in chosen)])
    number_of_check = np.repeat(np.arange(len(chosen)), [finding.rows.size for finding in chosen])
    order = np.argsort(columns.start[rows], kind="stable")
    rows, number_of_check = rows[order], number_of_check[order]
    step = trace.steps_table.holding(columns.start[rows])
    number = trace.steps_table.number
    return pd.DataFrame(
        {
            "check": texts(number_of_check.astype(np.int32), [finding.check for finding in chosen]),
            "id": columns.id[rows],
            "name": texts(columns.name[rows], columns.names),
            "kind": texts(columns.kind[rows].astype(np.int32), list(KINDS)),
            "start_us": np.where(columns.timed[rows], us(columns.start[rows]), np.nan),
            "duration_us": np.where(columns.timed[rows], us(columns.duration[rows]), np.nan),
            "step": optional(number[np.maximum(step, 0)] if number.size else np.zeros(rows.size, np.int64), step < 0),
        }
    )


VIEW = View("health", "Health", health, _COLUMNS)
EVENTS = View(
    "health_events",
    "Events behind a check",
    health_events,
    _EVENT_COLUMNS,
    (Parameter("check", "text", "Name of the check."),),
)
