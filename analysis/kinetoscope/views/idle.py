"""Why devices were idle: idle time summed by cause, or by who was at work on the host meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, longest_of, no_device_note, pct, step_note, us
from kinetoscope.views.idle_keys import KEY_COLUMNS, KEYS, chosen_segments, codes_of, decoded
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinetoscope.idle.causes import Segments
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_DEVICE = Column("device", "", "integer", "Device that was idle.")
_SUMS = (
    Column("count", "", "integer", "Stretches of idle time; neighbours of one gap that agree are one."),
    Column("total_us", "µs", "number", "Their lengths added up."),
    Column("longest_us", "µs", "number", "The longest stretch."),
    Column("share_pct", "%", "number", "Part of the idle time of the device that is listed."),
    Column("longest_gap", "", "integer", "Number of the gap that holds the longest stretch."),
    Column("longest_start_us", "µs", "number", "Start of the longest stretch, from the trace's origin."),
)

_BY = Parameter("by", "token", "What a row is.", KEYS, "cause")
_TREE = ("cause", "module", "op", "source")


def idle(
    trace: Trace,
    by: str = "cause",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """Sum the idle time of each device.

    Parameters
    ----------
    trace : Trace
    by : {"cause", "op", "module", "source", "annotation", "step", "thread"}
        What a row is. All but ``cause`` name who was at work on the host; where nobody was, the key is missing.
    step : float, optional
        Only idle time inside this step's period.
    start_us, end_us : float, optional
        Only idle time inside ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        Most idle time first, by step in time order. The rows of a device add up to its idle time.
    """
    frame = _summed(trace, (by,), step, start_us, end_us)
    order = ["device", by] if by == "step" else ["device", "total_us"]
    return _finished(trace, frame.sort_values(order, ascending=[True, by == "step"], kind="stable"), step)


def idle_tree(
    trace: Trace, step: float | None = None, start_us: float | None = None, end_us: float | None = None
) -> pd.DataFrame:
    """Sum the idle time of each device by cause, module, op and source line together.

    Parameters
    ----------
    trace : Trace
    step, start_us, end_us : float, optional
        As in :func:`idle`.

    Returns
    -------
    pandas.DataFrame
        Most idle time first: the leaves of the tree cause → module → op → source line.
    """
    frame = _summed(trace, _TREE, step, start_us, end_us)
    return _finished(trace, frame.sort_values(["device", "total_us"], ascending=[True, False], kind="stable"), step)


def _summed(
    trace: Trace, keys: Sequence[str], step: float | None, start_us: float | None, end_us: float | None
) -> pd.DataFrame:
    """Sum segments by device and keys."""
    segments = chosen_segments(trace, step, start_us, end_us)
    codes = [codes_of(trace, segments, key) for key in keys]
    first = segments.runs(*codes)
    start, length = _runs(segments, first)
    gap = segments.gap[first]
    parts = [trace.gap_table.device[gap].astype(np.int64), *(code[first] for code in codes)]
    del codes
    group, shown = _numbered(parts)
    device, *values = (part[shown] for part in parts)
    total = np.zeros(shown.size, np.int64)
    np.add.at(total, group, length)
    longest = longest_of(group, length, shown.size)
    whole = pd.Series(total).groupby(device).transform("sum").to_numpy()
    result = pd.DataFrame(
        {"device": device, **{key: decoded(trace, value, key) for key, value in zip(keys, values, strict=True)}}
    )
    result["count"] = np.bincount(group, minlength=shown.size)
    sums: dict[str, Any] = {
        "total_us": us(total),
        "longest_us": us(length[longest]),
        "share_pct": pct(total, whole),
        "longest_gap": gap[longest],
        "longest_start_us": us(start[longest]),
    }
    return result.assign(**sums)


def _numbered(parts: Sequence[Index]) -> tuple[Index, Index]:
    """Number the combinations of several values by where they come first; return the number at each place, and where each number is first."""
    group = np.zeros(parts[0].size, np.int64)
    for part in parts:
        size = int(part.max(initial=-1)) + 2
        if int(group.max(initial=0)) >= 2**62 // size:
            group = np.unique(group, return_inverse=True)[1].ravel()
        group = group * size + (part + 1)
    _, at, group = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(at)
    number = np.empty(at.size, np.int64)
    number[order] = np.arange(at.size)
    return number[group.ravel()], at[order]


def _runs(segments: Segments, first: Index) -> tuple[Index, Index]:
    """Return start and length of runs of segments."""
    if not first.size:
        return first, first
    last = np.append(first[1:], len(segments)) - 1
    return segments.start[first], segments.end[last] - segments.start[first]


def _finished(trace: Trace, frame: pd.DataFrame, step: float | None) -> pd.DataFrame:
    frame = frame.reset_index(drop=True)
    nothing = [] if len(frame) else ["No device was idle in the window."]
    frame.attrs["notes"] = no_device_note(trace) or [*step_note(trace, step), *nothing, *idle_notes(trace)]
    return frame


def idle_notes(trace: Trace) -> list[str]:
    """Say what a reader of causes must know: that stacks make Python always open, and that unrecorded work looks like idle time."""
    notes = []
    if trace.host_time.sees_python:
        notes.append(
            "Python frames were recorded, so that Python is nearly always open: causes of runs with and without stacks differ (host python against untraced host)."
        )
    silent = trace.launches_rows.size - np.unique(trace.launch_of_work[trace.launch_of_work >= 0]).size
    if silent > 0 and trace.work.size:
        notes.append(
            f"{silent:,} of {trace.launches_rows.size:,} launches have no recorded device work: idle time is an upper bound."
        )
    return notes


VIEW = View("idle", "Idle time by cause", idle, (_DEVICE, *KEY_COLUMNS, *_SUMS), (_BY, STEP, *RANGE))
TREE = View("idle_tree", "Idle time by cause, module, op and source", idle_tree, VIEW.columns, (STEP, *RANGE))
