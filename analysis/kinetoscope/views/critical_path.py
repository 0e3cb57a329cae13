"""The critical path of each step: what the time of the step was spent on, one thing after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.critical_path import KINDS, ON_DEVICE, Stretches
from kinetoscope.frames import ids, optional
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, names_of, of_value, pct, step_note, us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_STEP = Column("step", "", "integer", "Step; missing where there are no steps: then the path is that of the window.")
_KIND = Column("kind", "", "text", "What the time was spent on.")
_SIDE = Column("side", "", "text", "device, or host.")
_NAME = Column("name", "", "text", "Event that the time was spent in; of waits between works, the work that waited.")

_SUMS = (
    Column("count", "", "integer", "Stretches of the path."),
    Column("total_us", "µs", "number", "Their lengths added up, over all periods asked for."),
    Column("longest_us", "µs", "number", "The longest."),
    Column("longest_id", "", "integer", "Event id of what the longest was spent in."),
    Column("share_pct", "%", "number", "Part of the path."),
    Column(
        "gain_us",
        "µs",
        "number",
        "The most that a step could gain, in the mean, if all this took no time: total / periods. Another chain may be nearly as long.",
    ),
)
_PLACES = (
    _STEP,
    Column("start_us", "µs", "number", "Start of the stretch, from the trace's origin."),
    Column("duration_us", "µs", "number", "Its length."),
    _KIND,
    _SIDE,
    _NAME,
    Column("event_id", "", "integer", "Event id of that."),
    Column("device", "", "integer", "Device, of device work and waits for it."),
    Column("stream", "", "integer", "Its stream."),
)

_KEYS = {"kind": ("kind", "side"), "name": ("kind", "side", "name"), "step": ("step", "kind", "side")}
_BY = Parameter(
    "by", "token", "What a row is: a kind, a kind in one event's name, or a kind in one step.", tuple(_KEYS), "kind"
)
_OF_KIND = Parameter("kind", "token", "Only stretches of this kind.", KINDS)


def critical_path(trace: Trace, by: str = "kind", step: float | None = None) -> pd.DataFrame:
    """Sum the critical paths.

    Parameters
    ----------
    trace : Trace
    by : {"kind", "name", "step"}
        What a row is.
    step : float, optional
        Only the path of this step.

    Returns
    -------
    pandas.DataFrame
        Longest total first, steps in their order; the totals add up to the periods exactly.
    """
    path, number = _chosen(trace, step)
    length = path.end - path.start
    keys: dict[str, Any] = {
        "step": optional(number, number < 0),
        "kind": _kinds(path),
        "side": _sides(path),
        "name": names_of(trace, path.row),
    }
    chosen = _KEYS[by]
    frame = pd.DataFrame({**{key: keys[key] for key in chosen}, "length": length})
    grouped = frame.groupby(list(chosen), observed=True, dropna=False, sort=False)
    result = grouped.agg(count=("length", "size"), total=("length", "sum"), longest=("length", "idxmax")).reset_index()
    longest = result.pop("longest").to_numpy(np.int64)
    total = result.pop("total").to_numpy(np.int64)
    periods = max(np.unique(path.period).size, 1)
    result["total_us"], result["longest_us"] = us(total), us(length[longest])
    result["longest_id"] = ids(trace, path.row[longest])
    whole = (
        frame.groupby("step", dropna=False)["length"].transform("sum").to_numpy()[longest]
        if by == "step"
        else length.sum()
    )
    result["share_pct"] = pct(total, whole)
    result["gain_us"] = np.round(us(total) / (1 if by == "step" else periods), 3)
    order = ["step", "total_us"] if by == "step" else ["total_us"]
    result = result.sort_values(order, ascending=[True, False][-len(order) :], kind="stable").reset_index(drop=True)
    result.attrs["notes"] = step_note(trace, step) or _notes(trace)
    return result


def critical_path_stretches(
    trace: Trace,
    step: float | None = None,
    kind: str | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """List the stretches of the critical paths.

    Parameters
    ----------
    trace : Trace
    step : float, optional
        Only the path of this step.
    kind : str, optional
        Only stretches of this kind.
    start_us, end_us : float, optional
        Only stretches that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        In time order; of a step they tile its period.
    """
    path, number = _chosen(trace, step)
    columns = trace.columns
    row = np.maximum(path.row, 0)
    on_device = (path.kind < len(ON_DEVICE)) & (path.row >= 0)
    place = {key: getattr(columns, key)[row] if len(columns) else path.row for key in ("device", "stream")}
    frame = pd.DataFrame(
        {
            "step": optional(number, number < 0),
            "start_us": us(path.start),
            "duration_us": us(path.end - path.start),
            "kind": _kinds(path),
            "side": _sides(path),
            "name": names_of(trace, path.row),
            "event_id": ids(trace, path.row),
            "device": optional(place["device"], ~on_device),
            "stream": optional(place["stream"], ~on_device | (place["stream"] == -1)),
        }
    )
    frame = frame[in_range(path.start, start_us, end_us) & of_value(frame["kind"], kind)].reset_index(drop=True)
    frame.attrs["notes"] = step_note(trace, step) or _notes(trace)
    return frame


def _chosen(trace: Trace, step: float | None) -> tuple[Stretches, Index]:
    """Return the stretches of a step, or all, and the number of the step of each, -1 without steps."""
    path, steps = trace.critical_path, trace.steps_table
    number = steps.number[path.period] if len(steps) else np.full(len(path), -1, np.int64)
    chosen = of_value(pd.Series(optional(number, number < 0)), step)
    return path.take(chosen), number[chosen]


def _kinds(path: Stretches) -> pd.Categorical:
    return pd.Categorical.from_codes(path.kind, categories=pd.Index(KINDS, dtype="str"))


def _sides(path: Stretches) -> pd.Categorical:
    host = (path.kind >= len(ON_DEVICE)).astype(np.int8)
    return pd.Categorical.from_codes(host, categories=pd.Index(("device", "host"), dtype="str"))


def _notes(trace: Trace) -> list[str]:
    if not len(trace.critical_path):
        return ["Nothing was recorded that takes time."]
    if not trace.work.size:
        return ["No device work was recorded: the path is the main thread's time."]
    return []


VIEW = View("critical_path", "Critical path", critical_path, (_STEP, _KIND, _SIDE, _NAME, *_SUMS), (_BY, STEP))
STRETCHES = View(
    "critical_path_stretches",
    "Critical path, stretch by stretch",
    critical_path_stretches,
    _PLACES,
    (STEP, _OF_KIND, *RANGE),
)
