"""Checks of times: stamps that were lost, lengths that cannot be, ranges that never ended, clocks that disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetoscope import intervals, schema
from kinetoscope.health.finding import Finding, counted, fine, share
from kinetoscope.health.fixes import clock_shift, impossible_rows

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

LATE_NS = 1_000_000
"""A device that shows nothing for longer than this after the launch returned was probably busy with work that was not recorded."""


def untimed(trace: Trace) -> Finding:
    """Look for complete events without usable start or length."""
    rows = np.flatnonzero(trace.columns.complete & ~trace.columns.timed)
    if not rows.size:
        return fine("untimed events", "Every event has a start and a length.")
    detail = f"{counted(rows.size, 'event')} without usable start or length, in no figure."
    severity = "warning" if np.isin(trace.columns.kind[rows], schema.TIMED).any() else "info"
    hint = "The recorder lost their stamps. Record again, or with a newer driver."
    return Finding("untimed events", severity, detail, hint, rows.size, share(rows.size, len(trace)), rows)


def negative(trace: Trace) -> Finding:
    """Look for events that end before they begin."""
    rows = np.flatnonzero(trace.columns.timed & (trace.columns.duration < 0))
    if not rows.size:
        return fine("negative durations", "No event ends before it begins.")
    detail = f"{counted(rows.size, 'event')} with an end before the start: counted as no time."
    return Finding("negative durations", "warning", detail, "", rows.size, share(rows.size, len(trace)), rows)


def impossible(trace: Trace) -> Finding:
    """Look for device work that ends long after everything else while its stream went on."""
    rows, _ = impossible_rows(trace)
    if not rows.size:
        return fine("impossible durations", "No device work outlasts everything else.")
    time = int(trace.columns.duration[rows].sum())
    part = share(time, int(trace.columns.duration[trace.work].sum()))
    detail = (
        f"{counted(rows.size, 'device work')} with an end long after everything else, although the stream went on: "
        f"{part:.1f} % of all device time."
    )
    hint = (
        "Their ends were lost. Switch on the repair of durations: each ends where the next work of its stream begins."
    )
    return Finding("impossible durations", "error", detail, hint, rows.size, part, rows)


def unfinished(trace: Trace) -> Finding:
    """Look for ranges that were open when the recording ended."""
    rows = np.flatnonzero(trace.columns.unfinished & trace.columns.timed)
    if not rows.size:
        return fine("unfinished events", "Every range was closed.")
    detail = f"{counted(rows.size, 'range')} still open when the recording ended: left out of averages."
    return Finding("unfinished events", "info", detail, "", rows.size, share(rows.size, len(trace)), rows)


def clock(trace: Trace) -> Finding:
    """Look for device work that begins before the call that launched it."""
    columns, launch = trace.columns, trace.launch_of_work
    owned = np.flatnonzero(launch >= 0)
    delay = columns.start[trace.work[owned]] - columns.start[launch[owned]]
    early = trace.work[owned[delay < 0]]
    if not early.size:
        return fine("clock errors", "No device work begins before its launch.")
    part = share(early.size, owned.size)
    detail = f"{counted(early.size, 'device work')} with a start before the call that launched it, by up to {-delay.min() / 1000:,.1f} µs."
    hint = "The clocks of host and device disagree; delays and gaps are off by as much."
    if clock_shift(trace):
        hint += f" Switch on the clock fix to move the device by {clock_shift(trace) / 1000:,.1f} µs."
    return Finding("clock errors", "error" if part > 1 else "warning", detail, hint, early.size, part, early)


def late_start(trace: Trace) -> Finding:
    """Look for idle time after a launch had returned that is too long to be a launch's latency."""
    table, columns = trace.gap_table, trace.columns
    launch = table.launch
    owned = launch >= 0
    returned = columns.end[np.maximum(launch, 0)] if len(trace) else launch
    called = columns.start[np.maximum(launch, 0)] if len(trace) else launch
    begin = np.clip(returned, np.clip(called, table.start, table.end), table.end)
    begin = np.where(returned <= table.start, table.start, begin)
    late = owned & (table.end - begin > LATE_NS) & ~_inside_a_graph(trace)
    if not late.any():
        return fine("late start", "No device was silent for more than 1 ms after a launch had returned.")
    time = int((table.end - begin)[late].sum())
    part = share(time, intervals.measure(trace.window) * max(len(trace.devices), 1))
    detail = (
        f"{counted(int(late.sum()), 'gap')} in which a device showed nothing for more than 1 ms after the launch had returned: {part:.1f} % of the window. "
        "The device was probably busy with work that was not recorded."
    )
    hint = "Take idle time there as unknown. Record with a longer warm-up, so that the device's recorder is on before the window."
    return Finding("late start", "warning", detail, hint, int(late.sum()), part, table.next[late])


def _inside_a_graph(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which gaps lie between two works of one launch."""
    table = trace.gap_table
    launch_of = np.full(len(trace) + 1, -2, np.int64)
    launch_of[trace.work] = trace.launch_of_work
    touching = (
        (table.previous >= 0) & (trace.columns.end[np.maximum(table.previous, 0)] == table.start)
        if len(trace)
        else table.launch < -9
    )
    return np.asarray(touching & (table.launch >= 0) & (launch_of[table.previous] == table.launch))
