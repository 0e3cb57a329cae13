"""Every idle gap of every device: how long, what ended it, and which launch that work waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import ids, optional, texts
from kinetoscope.idle_gaps import ENDED_BY
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, no_device_note, of_value, step_note, us
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_ROUNDING_NS = 10

_COLUMNS = (
    Column("device", "", "integer", "Device that was idle."),
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
)


def gaps(
    trace: Trace, step: float | None = None, start_us: float | None = None, end_us: float | None = None
) -> pd.DataFrame:
    """List the idle gaps of each device inside the window.

    Parameters
    ----------
    trace : Trace
    step : float, optional
        Only gaps that start in this step's period.
    start_us, end_us : float, optional
        Only gaps that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        By device and time; columns as in the registry. On each device the gaps tile its idle time.
    """
    table = trace.gap_table
    columns = trace.columns
    start, end, launch = table.start, table.end, table.launch
    period = trace.steps_table.period_holding(start)
    number = trace.steps_table.number
    frame = pd.DataFrame(
        {
            "device": table.device,
            "start_us": us(start),
            "duration_us": us(end - start),
            "ended_by": pd.Categorical.from_codes(table.ended_by, categories=pd.Index(ENDED_BY, dtype="str")),
            "next_name": _names(trace, table.next),
            "launch_name": _names(trace, launch),
            "launch_delay_us": np.where(launch >= 0, us(end - _start_of(columns.start, launch)), np.nan),
            "previous_name": _names(trace, table.previous),
            "step": optional(
                number[np.maximum(period, 0)] if number.size else np.zeros(start.size, np.int64), period < 0
            ),
            "next_id": ids(trace, table.next),
            "launch_id": ids(trace, launch),
            "previous_id": ids(trace, table.previous),
            "gap": np.arange(start.size),
        }
    )
    frame = frame[in_range(start, start_us, end_us) & of_value(frame["step"], step)].reset_index(drop=True)
    frame.attrs["notes"] = no_device_note(trace) or step_note(trace, step) or _remarks(end - start)
    return frame


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


def _names(trace: Trace, rows: Index) -> pd.Categorical:
    columns = trace.columns
    code = np.where(rows >= 0, columns.name[np.maximum(rows, 0)] if len(columns) else -1, -1)
    used, compact = np.unique(code[code >= 0], return_inverse=True)
    short = np.full(code.size, -1, np.int32)
    short[code >= 0] = compact
    return texts(short, [columns.names[i] for i in used.tolist()])


VIEW = View("gaps", "Idle gaps", gaps, _COLUMNS, (STEP, *RANGE))
