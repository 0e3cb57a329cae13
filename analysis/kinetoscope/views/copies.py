"""Copies between memories: where from and to, how fast, and whether computing hid them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import copying
from kinetoscope.frames import step_numbers, texts
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, no_device_note, of_value, step_note, us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_COLUMNS = (
    Column("device", "", "integer", "Device of the copy."),
    Column("direction", "", "text", "HtoD from host to device, DtoH back, DtoD on the device, PtoP between devices."),
    Column("memory", "", "text", "Kind of host memory, pageable or pinned; missing where none is told."),
    Column("step", "", "integer", "Step that launched the copies; missing outside all steps."),
    Column("copies", "", "integer", "Copies."),
    Column("bytes", "bytes", "integer", "Bytes moved."),
    Column("total_us", "µs", "number", "Their lengths added up."),
    Column("gb_per_s", "GB/s", "number", "Bytes / total time; copies of unknown size or no length left out."),
    Column("hidden_us", "µs", "number", "Time during which a kernel ran on the device too."),
    Column("exposed_us", "µs", "number", "Time during which no kernel ran on the device."),
)

_BY = Parameter(
    "by",
    "token",
    "What a row is: copies of one direction and memory, or those of one step too.",
    ("kind", "step"),
    "kind",
)


def copies(
    trace: Trace,
    by: str = "kind",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """Sum the copies of each device by direction and kind of host memory.

    Parameters
    ----------
    trace : Trace
    by : {"kind", "step"}
        Whether steps are told apart.
    step : float, optional
        Only copies launched in this step.
    start_us, end_us : float, optional
        Only copies that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        By device, longest total first; by step in time order.
    """
    table = copying.build(trace)
    frame = _copies(trace, table)
    frame = frame[in_range(trace.columns.start[table.row], start_us, end_us) & of_value(frame["step"], step)]
    places = ["device", "step"] if by == "step" else ["device"]
    grouped = frame.groupby([*places, "direction", "memory"], observed=True, dropna=False, sort=False)
    result = grouped.agg(
        copies=("length", "size"),
        bytes=("bytes", "sum"),
        length=("length", "sum"),
        measured=("measured", "sum"),
        measured_bytes=("measured_bytes", "sum"),
        hidden=("hidden", "sum"),
    ).reset_index()
    total, covered = result.pop("length"), result.pop("hidden")
    moved, time = (result.pop(name).to_numpy(np.float64) for name in ("measured_bytes", "measured"))
    result["total_us"] = us(total)
    with np.errstate(divide="ignore", invalid="ignore"):
        result["gb_per_s"] = np.where(time > 0, np.round(moved / time, 3), np.nan)
    result["hidden_us"], result["exposed_us"] = us(covered), us(total - covered)
    rising = [*(True for _ in places), False]
    result = result.sort_values([*places, "total_us"], ascending=rising, kind="stable", ignore_index=True)
    result.attrs["notes"] = (
        no_device_note(trace) or step_note(trace, step) or ([] if len(result) else ["No copy was recorded."])
    )
    return result


def _copies(trace: Trace, table: copying.Copies) -> pd.DataFrame:
    """Return the copies one by one; what has no size or no length is not measured for the bandwidth."""
    length = np.maximum(trace.columns.duration[table.row], 0)
    measured = (table.bytes >= 0) & (length > 0)
    return pd.DataFrame(
        {
            "device": trace.columns.device[table.row],
            "direction": texts(table.direction, list(copying.DIRECTIONS)),
            "memory": texts(table.memory, list(copying.MEMORIES)),
            "step": step_numbers(trace, table.step),
            "bytes": np.maximum(table.bytes, 0),
            "length": length,
            "measured": np.where(measured, length, 0),
            "measured_bytes": np.where(measured, table.bytes, 0),
            "hidden": copying.hidden(trace, table),
        }
    )


VIEW = View("copies", "Copies", copies, _COLUMNS, (_BY, STEP, *RANGE))
