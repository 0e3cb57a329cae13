"""What several views share: units, the time range, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope.frames import texts
from kinetoscope.schema import CODE
from kinetoscope.views.registry import NOTHING, Parameter

if TYPE_CHECKING:
    import pandas as pd

    from kinetoscope.trace import Trace

STEP = Parameter("step", "number", "Only what belongs to this step.")

RANGE = (
    Parameter("start_us", "time", "Only events that start here or later, µs from the trace's origin."),
    Parameter("end_us", "time", "Only events that start before this, µs from the trace's origin."),
)


def us(ns: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return ns as µs; three decimals are exact ns."""
    return np.asarray(ns, np.float64) / 1000.0


def pct(part: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return shares in percent; NaN where the whole is nothing."""
    whole = np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, 100.0 * np.asarray(part, np.float64) / whole, np.nan)


def in_range(start_ns: npt.NDArray[np.int64], start_us: float | None, end_us: float | None) -> npt.NDArray[np.bool_]:
    """Tell which events start in a time range."""
    chosen = np.ones(start_ns.size, bool)
    if start_us is not None:
        chosen &= start_ns >= round(start_us * 1000)
    if end_us is not None:
        chosen &= start_ns < round(end_us * 1000)
    return chosen


def of_value(values: pd.Series[Any], wanted: Any) -> npt.NDArray[np.bool_]:
    """Tell which values are the wanted one; of :data:`NOTHING`, which are missing; of None, all.

    Parameters
    ----------
    values : pandas.Series
    wanted : object

    Returns
    -------
    ndarray of bool
    """
    if wanted is None:
        return np.ones(len(values), bool)
    if wanted is NOTHING:
        return values.isna().to_numpy(bool)
    return np.asarray((values == wanted).fillna(False).to_numpy(bool))


def names_of(trace: Trace, rows: npt.NDArray[np.int64]) -> pd.Categorical:
    """Return the names of events by their rows, missing for -1; the categories are the names that occur."""
    columns = trace.columns
    code = np.where(rows >= 0, columns.name[np.maximum(rows, 0)] if len(columns) else -1, -1)
    used, compact = np.unique(code[code >= 0], return_inverse=True)
    short = np.full(code.size, -1, np.int32)
    short[code >= 0] = compact
    return texts(short, [columns.names[i] for i in used.tolist()])


def no_device_note(trace: Trace) -> list[str]:
    """Explain an empty device view: whether there was no GPU work, or it was not recorded."""
    if trace.work.size:
        return []
    if trace.launches_rows.size:
        return [f"No device work was recorded, though the host made {trace.launches_rows.size:,} launch calls."]
    if (trace.columns.kind == CODE["api_call"]).any():
        return ["No device work: the host called the device's API but launched nothing."]
    return ["No device work: only the host was recorded (activities had no GPU, or there was none)."]


def step_note(trace: Trace, step: Any) -> list[str]:
    """Say which steps there are, where one is asked for that is not."""
    numbers = trace.steps_table.number.tolist()
    if step is None or step is NOTHING or step in numbers:
        return []
    return [f"There is no step {step:g}; the steps are {', '.join(map(str, numbers[:20])) or 'none'}."]
