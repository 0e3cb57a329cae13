"""Every idle gap of every device: how long, what ended it, and which launch that work waited for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import ids, optional, step_numbers
from kinetoscope.idle import gaps as idle_gaps
from kinetoscope.idle.causes import CAUSES
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, names_of, no_device_note, of_value, step_note, us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.idle.causes import Segments
    from kinetoscope.idle.gaps import GapTable
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_ROUNDING_NS = 10
_KEYS = ("device", "stream")
_WHO = ("op", "module", "source")
_GAPS_AT_ONCE = 1 << 15

_COLUMNS = (
    Column("device", "", "integer", "Device that was idle."),
    Column("stream", "", "integer", "Stream that was idle, where gaps are by stream."),
    Column("start_us", "µs", "number", "Start of the gap, from the trace's origin."),
    Column("duration_us", "µs", "number", "Length of the gap: nothing ran on any stream of the device."),
    Column("ended_by", "", "text", "What ended it: kernel, memcpy, memset, or the end of the window."),
    Column("next_name", "", "text", "The work that ended the gap; at the window's end, the device's next work."),
    Column("launch_name", "", "text", "The API call that launched that work; missing when the file does not hold it."),
    Column("launch_delay_us", "µs", "number", "End of the gap − start of that call; missing without one."),
    Column("previous_name", "", "text", "The work that ended last before the gap."),
    Column("step", "", "integer", "Step whose period holds the gap's start."),
    Column("next_id", "", "integer", "Event id of the next work."),
    Column("launch_id", "", "integer", "Event id of the launch call."),
    Column("previous_id", "", "integer", "Event id of the previous work."),
    Column("gap", "", "integer", "Number of the gap in the trace, by device and time."),
    Column("cause", "", "text", "What caused most of the gap; the view idle_segments has all of it."),
    Column("cause_us", "µs", "number", "How much of the gap that cause took."),
    Column("op", "", "text", "Innermost op during most of the event's time."),
    Column("module", "", "text", "Module during most of the event's time."),
    Column("source", "", "text", "Source line during most of the event's time."),
    Column(
        "event_name",
        "",
        "text",
        "Host event, by name, that took most of that cause: the blocking call, the loader's range, the op, the line of Python and so on.",
    ),
    Column("event_id", "", "integer", "Event id of the longest of that name."),
    Column("event_us", "µs", "number", "How much of the gap events of that name took under that cause."),
)

_BY = Parameter(
    "by", "token", "Whose idle time: each device's, or each stream's (those have no causes).", _KEYS, "device"
)


def gaps(
    trace: Trace,
    by: str = "device",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """List the idle gaps inside the window, of each device or of each stream.

    Parameters
    ----------
    trace : Trace
    by : {"device", "stream"}
        Gaps of a stream leave out what the other streams did; they have no causes.
    step : float, optional
        Only gaps that start in this step's period.
    start_us, end_us : float, optional
        Only gaps that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        By device and time; columns as in the registry. On each device (stream) the gaps tile its idle time.
    """
    of_stream = by == "stream"
    table = idle_gaps.build(trace, by_stream=True) if of_stream else trace.gap_table
    frame = pd.DataFrame({**_places(trace, table, of_stream=of_stream), **({} if of_stream else _stories(trace))})
    frame = frame[in_range(table.start, start_us, end_us) & of_value(frame["step"], step)].reset_index(drop=True)
    frame.attrs["notes"] = no_device_note(trace) or step_note(trace, step) or _remarks(table.end - table.start)
    return frame


def _places(trace: Trace, table: GapTable, *, of_stream: bool) -> dict[str, Any]:
    """Return where the gaps lie and what stands around them."""
    start, end, launch = table.start, table.end, table.launch
    stream = {"stream": optional(table.stream, table.stream == -1)} if of_stream else {}
    return {
        "device": table.device,
        **stream,
        "start_us": us(start),
        "duration_us": us(end - start),
        "ended_by": pd.Categorical.from_codes(table.ended_by, categories=pd.Index(idle_gaps.ENDED_BY, dtype="str")),
        "next_name": names_of(trace, table.next),
        "launch_name": names_of(trace, launch),
        "launch_delay_us": np.where(launch >= 0, us(end - _start_of(trace.columns.start, launch)), np.nan),
        "previous_name": names_of(trace, table.previous),
        "step": step_numbers(trace, trace.steps_table.period_holding(start)),
        "next_id": ids(trace, table.next),
        "launch_id": ids(trace, launch),
        "previous_id": ids(trace, table.previous),
        "gap": np.arange(start.size),
    }


def _stories(trace: Trace) -> dict[str, Any]:
    """Return what caused most of each gap, the host event that took most of that, and who was at work most of the event's time."""
    segments = trace.idle_segments
    # gap by gap, so that a part of them at a time is enough
    bounds = np.searchsorted(segments.gap, np.arange(0, int(segments.gap.max(initial=0)) + 1, _GAPS_AT_ONCE))
    parts = [_story(trace, segments, *part) for part in itertools.pairwise([*bounds.tolist(), len(segments)])]
    cause, cause_ns, event, event_ns, *blamed = (np.concatenate(part) for part in zip(*parts, strict=True))
    who = dict(zip(_WHO, blamed, strict=True))
    return {
        "cause": pd.Categorical.from_codes(segments.cause[cause], categories=pd.Index(CAUSES, dtype="str")),
        "cause_us": us(cause_ns),
        **{key: names_of(trace, getattr(segments, key)[found]) for key, found in who.items()},
        "event_name": names_of(trace, segments.event[event]),
        "event_id": ids(trace, segments.event[event]),
        "event_us": us(event_ns),
    }


def _story(trace: Trace, segments: Segments, low: int, high: int) -> tuple[Index, ...]:
    """Return of each gap of some segments: the longest segment of the cause, its time, that of the event, its time, and those of who was at work."""
    everything = np.arange(low, high)
    cause, cause_ns, of_cause = _most(segments, everything, segments.cause[low:high].astype(np.int64))
    event, event_ns, of_event = _most(segments, of_cause, _name_codes(trace, segments.event[of_cause]))
    who = (_most(segments, of_event, _name_codes(trace, getattr(segments, key)[of_event]))[0] for key in _WHO)
    return cause, cause_ns, event, event_ns, *who


def _name_codes(trace: Trace, rows: Index) -> Index:
    return np.where(rows >= 0, trace.columns.name[np.maximum(rows, 0)] if len(trace) else -1, -1).astype(np.int64)


def _most(segments: Segments, chosen: Index, code: Index) -> tuple[Index, Index, Index]:
    """Find the code that takes most time in each gap.

    Parameters
    ----------
    segments : Segments
    chosen : ndarray of int64
        Positions of the segments to look at: some of every gap.
    code : ndarray of int64
        Of each of those.

    Returns
    -------
    longest : ndarray of int64
        For each gap, the longest of the chosen segments of that code.
    total : ndarray of int64
        Time of that code in the gap, ns.
    chosen : ndarray of int64
        The chosen segments of that code.
    """
    gap, length = segments.gap[chosen], (segments.end - segments.start)[chosen]
    _, kind = np.unique(code, return_inverse=True)
    pair, group = np.unique(gap * (kind.max(initial=0) + 1) + kind, return_inverse=True)
    total = np.bincount(group, weights=length, minlength=pair.size).astype(np.int64)
    of_gap = np.zeros(pair.size, np.int64)
    of_gap[group] = gap
    order = np.lexsort((-pair, total, of_gap))
    best = order[np.append(np.diff(of_gap[order]) != 0, True)] if order.size else order
    kept = np.isin(group, best)
    chosen, length, gap = chosen[kept], length[kept], gap[kept]
    order = np.lexsort((-chosen, length, gap))
    longest = chosen[order[np.append(np.diff(gap[order]) != 0, True)]] if order.size else chosen
    return longest, total[best], chosen


def _remarks(length: Index) -> list[str]:
    """Say that nothing was idle, or that many gaps are no more than rounding."""
    if not length.size:
        return ["No device was idle in the window."]
    tiny = length <= _ROUNDING_NS
    if tiny.sum() < length.size / 10:
        return []
    return [
        f"{int(tiny.sum()):,} of {length.size:,} gaps last {_ROUNDING_NS} ns or less, {length[tiny].sum() / 1000:,.3f} µs in all: the recorder's rounding."
    ]


def _start_of(start: Index, rows: Index) -> Index:
    return start[np.maximum(rows, 0)] if start.size else rows


VIEW = View("gaps", "Idle gaps", gaps, _COLUMNS, (_BY, STEP, *RANGE))
