"""Which kernels take the time."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import schema
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, names_of, no_device_note, of_value, pct, step_note
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_KEYS = {
    "name": ("name",),
    "op": ("op",),
    "name,op": ("name", "op"),
    "config": ("name", "grid", "block", "registers", "shared_memory"),
    "stream": ("device", "stream"),
    "step": ("step",),
    "category": ("category",),
}
_IN_KEY_ORDER = ("stream", "step")

_COLUMNS = (
    Column("name", "", "text", "Name of the kernel."),
    Column(
        "op",
        "",
        "text",
        "Innermost operator around the launch on its thread; missing when there is none or the launch was not recorded.",
    ),
    Column("grid", "", "text", "Blocks launched, x, y, z."),
    Column("block", "", "text", "Threads per block, x, y, z."),
    Column("registers", "", "integer", "Registers per thread."),
    Column("shared_memory", "bytes", "integer", "Shared memory per block."),
    Column("device", "", "integer", "Device number, as recorded."),
    Column("stream", "", "integer", "Stream of the device."),
    Column("step", "", "integer", "Step whose host range holds the start of the launch; missing outside all steps."),
    Column(
        "category",
        "",
        "text",
        "Kind of computation, by the kernel's name (data/kernel_categories.json); communication by its owner or name.",
    ),
    Column("calls", "", "integer", "Kernels run."),
    Column("total_us", "µs", "number", "Their lengths added up, overlaps counted each time."),
    Column("mean_us", "µs", "number", "Mean length."),
    Column("min_us", "µs", "number", "Shortest."),
    Column("max_us", "µs", "number", "Longest."),
    Column("share_pct", "%", "number", "Part of all kernel time of the table."),
    Column("longest_id", "", "integer", "Event id of the longest call."),
)

_BY = Parameter("by", "token", "What a row is.", tuple(_KEYS), "name")


def kernels(
    trace: Trace,
    by: str = "name",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """Sum the kernels of the whole recording, on all devices.

    Parameters
    ----------
    trace : Trace
    by : {"name", "op", "name,op", "config", "stream", "step", "category"}
        What a row is.
    step : float, optional
        Only kernels launched in this step.
    start_us, end_us : float, optional
        Only kernels that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        Longest total first; by stream and step in their order.
    """
    rows = _Kernels(
        trace, in_range(trace.kernels["start_ns"].to_numpy(), start_us, end_us) & of_value(trace.kernels["step"], step)
    )
    keys = {name: rows.key(name) for name in _KEYS[by]}
    frame = pd.DataFrame({**keys, "ns": rows.duration})
    grouped = frame.groupby(list(keys), observed=True, dropna=False, sort=by in _IN_KEY_ORDER)["ns"]
    result = grouped.agg(calls="count", total="sum", mean="mean", min="min", max="max", longest="idxmax").reset_index()
    if by not in _IN_KEY_ORDER:
        result = result.sort_values(["total", "calls"], ascending=[False, False], kind="stable")
    longest = result.pop("longest").to_numpy(np.int64)
    total = result.pop("total").to_numpy(np.int64)
    mean, low, high = (result.pop(name).to_numpy(np.float64) for name in ("mean", "min", "max"))
    result["total_us"] = total / 1000.0
    result["mean_us"] = np.round(mean / 1000.0, 3)
    result["min_us"], result["max_us"] = low / 1000.0, high / 1000.0
    result["share_pct"] = pct(total, total.sum())
    result["longest_id"] = trace.columns.id[rows.rows[longest]]
    result = result.reset_index(drop=True)
    result.attrs["notes"] = no_device_note(trace) or step_note(trace, step)
    return result


class _Kernels:
    """The chosen kernels, and what they can be grouped by."""

    def __init__(self, trace: Trace, chosen: npt.NDArray[np.bool_]) -> None:
        self._trace, self._chosen = trace, chosen
        self._work = np.flatnonzero(trace.columns.kind[trace.work] == schema.CODE["kernel"])[chosen]
        self.rows = trace.work[self._work]
        self.duration = trace.columns.duration[self.rows]

    def key(self, name: str) -> Any:
        if name == "op":
            return names_of(self._trace, self._trace.op_of_work[self._work])
        if name == "category":
            return categories(self._trace, self.rows, self._trace.communication[self._work])
        return self._trace.kernels[name].array[self._chosen]


def categories(trace: Trace, rows: npt.NDArray[np.int64], communication: npt.NDArray[np.bool_]) -> pd.Categorical:
    """Return the category of kernels.

    Parameters
    ----------
    trace : Trace
    rows : ndarray of int64
        Rows of kernels.
    communication : ndarray of bool
        Which of them communicate.

    Returns
    -------
    pandas.Categorical
    """
    rules = [
        (rule["category"], re.compile(rule["pattern"], re.IGNORECASE))
        for rule in schema.table("kernel_categories")["categories"]
    ]
    choices = [*(category for category, _ in rules), "communication", "other"]
    columns = trace.columns
    code_of = np.full(max(len(columns.names), 1), len(choices) - 1, np.int32)
    search: list[tuple[int, Callable[[str], Any]]] = [(i, pattern.search) for i, (_, pattern) in enumerate(rules)]
    for name in np.unique(columns.name[rows]).tolist():
        text = columns.names[name]
        code_of[name] = next((i for i, finds in search if finds(text)), len(choices) - 1)
    return pd.Categorical.from_codes(
        np.where(communication, len(choices) - 2, code_of[columns.name[rows]]),
        categories=pd.Index(choices, dtype="str"),
    )


VIEW = View("kernels", "Kernels", kernels, _COLUMNS, (_BY, STEP, *RANGE))
