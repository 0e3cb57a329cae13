"""What was live at the peak, or at any instant; and what was allocated and freed by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import optional
from kinetoscope.memory.categories import CATEGORY
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, in_range, of_value, pct, step_note
from kinetoscope.views.memory_keys import (
    BLOCK_BY,
    DEVICE,
    DEVICE_COLUMN,
    KEY_COLUMNS,
    KEYS,
    chosen_devices,
    codes_of_events,
    notes,
    values,
)
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.memory.curve import Curve
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_PEAK = (
    DEVICE_COLUMN,
    Column("at_us", "µs", "number", "The instant: the peak of the device, or the one asked for."),
    *KEY_COLUMNS,
    Column("bytes", "bytes", "integer", "Live then."),
    Column("share_pct", "%", "number", "Part of all that is live on the device."),
    Column(
        "blocks",
        "",
        "integer",
        "Known blocks. The row without a value also has what the recorded total holds beyond known blocks.",
    ),
    Column("largest_bytes", "bytes", "integer", "The largest of them; missing without any."),
)


def memory_peak(trace: Trace, by: str = "op", device: Any = None, at_us: float | None = None) -> pd.DataFrame:
    """Tell what was live when a device's memory was at its peak, or at a chosen instant.

    Parameters
    ----------
    trace : Trace
    by : {"op", "caller", "module", "source", "annotation", "phase", "category"}
        What blocks are grouped by: as they were allocated.
    device : str, optional
        Only this device.
    at_us : float, optional
        The instant; by default each device's own peak.

    Returns
    -------
    pandas.DataFrame
        By device, most bytes first; the rows of a device add up to its total exactly.
    """
    frames = [_live(trace, number, curve, by, at_us) for number, curve in chosen_devices(trace, device)]
    wanted = ["device", "at_us", by, "bytes", "share_pct", "blocks", "largest_bytes"]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=wanted)
    frame["device"] = frame["device"].astype("category")
    frame.attrs["notes"] = notes(trace, blocks=True, device=device)
    return frame[wanted]


def _live(trace: Trace, number: int, curve: Curve, by: str, at_us: float | None) -> pd.DataFrame:
    blocks = trace.memory.blocks
    entry = curve.peak if at_us is None else int(curve.entry(round(at_us * 1000)))
    total = int(curve.level(np.array([entry]))[0])
    live = blocks.live(int(curve.event[entry]) if entry >= 0 else -1, number)
    code = codes_of_events(trace, blocks.allocation[live], by)
    rest = total - int(blocks.bytes[live].sum())
    if rest:
        # what is live beyond known blocks belongs where nobody is known
        code = np.append(code, CATEGORY["unknown"] if by == "category" else -1)
    size = np.append(blocks.bytes[live], rest)[: code.size]
    sums = pd.DataFrame({"code": code, "bytes": size, "known": np.arange(code.size) < live.size})
    sums["largest"] = np.where(sums["known"], sums["bytes"], -1)
    found = sums.groupby("code").agg(bytes=("bytes", "sum"), blocks=("known", "sum"), largest=("largest", "max"))
    found = found.reset_index().sort_values("bytes", ascending=False, kind="stable", ignore_index=True)
    at = curve.time[entry] / 1000 if at_us is None else at_us
    return pd.DataFrame(
        {
            "device": curve.device.name,
            "at_us": float(at),
            by: values(trace, found["code"].to_numpy(np.int64), by).astype(object),
            "bytes": found["bytes"],
            "share_pct": pct(found["bytes"], total),
            "blocks": found["blocks"].astype("int64"),
            "largest_bytes": optional(found["largest"].to_numpy(np.int64)),
        }
    )


_BY_OP = (
    DEVICE_COLUMN,
    *KEY_COLUMNS,
    Column("step", "", "integer", "Step whose host range holds the events; missing outside all steps."),
    Column("allocated_bytes", "bytes", "integer", "Allocated within it."),
    Column("allocations", "", "integer", "How often."),
    Column("freed_bytes", "bytes", "integer", "Freed within it, whoever allocated it."),
    Column("frees", "", "integer", "How often."),
    Column(
        "net_bytes",
        "bytes",
        "integer",
        "Allocated − freed within it: below 0 where it freed what others had allocated.",
    ),
    Column("calls", "", "integer", "Calls that allocated or freed; missing where rows are no calls."),
    Column(
        "left_bytes",
        "bytes",
        "integer",
        "Blocks allocated within it that were not freed by the end; missing where no addresses were recorded.",
    ),
)

_CALLS = ("op", "caller", "module", "source", "annotation")


def memory_by_op(
    trace: Trace,
    by: str = "op",
    device: Any = None,
    step: Any = None,
    start_us: float | None = None,
    end_us: float | None = None,
) -> pd.DataFrame:
    """Sum what was allocated and freed, by who did it.

    Parameters
    ----------
    trace : Trace
    by : {"op", "caller", "module", "source", "annotation", "phase", "category", "step"}
        What events are grouped by; those of nobody make the row without a value.
    device : str, optional
        Only this device.
    step, start_us, end_us : float, optional
        Only events in the host range of a step, or in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        By device; most allocated first, steps in their order.
    """
    events, memory = trace.memory.events, trace.memory
    fits = in_range(events.time, start_us, end_us)
    if step is not None:
        fits &= of_value(pd.Series(values(trace, codes_of_events(trace, np.arange(len(events)), "step"), "step")), step)
    if device is not None:
        numbers = [number for number, _ in chosen_devices(trace, device)]
        fits &= np.isin(events.device, numbers)
    at = np.flatnonzero(fits)
    size, block = events.bytes[at], memory.block_of_event[at]
    left = (block >= 0) & (size > 0) & memory.blocks.open[np.maximum(block, 0)] if len(memory.blocks) else size < size
    frame = pd.DataFrame(
        {
            "device": events.device[at],
            "code": codes_of_events(trace, at, by),
            "call": getattr(memory.owners, by)[at] if by in _CALLS else at,
            "allocated_bytes": np.maximum(size, 0),
            "freed_bytes": np.maximum(-size, 0),
            "left_bytes": np.where(left, size, 0),
            "allocations": size > 0,
            "frees": size < 0,
        }
    )
    frame = _sums(trace, frame, by)
    frame.attrs["notes"] = notes(trace, blocks=True, device=device) + step_note(trace, step)
    return frame


def _sums(trace: Trace, events: pd.DataFrame, by: str) -> pd.DataFrame:
    grouped = events.groupby(["device", "code"])
    found = grouped.agg(dict.fromkeys(events.columns[3:], "sum"))
    found["calls"] = grouped["call"].nunique()
    found = found.reset_index()
    order = ["device", "code"] if by == "step" else ["device", "allocated_bytes", "freed_bytes"]
    found = found.sort_values(
        order, ascending=[True, *[by == "step"] * (len(order) - 1)], kind="stable", ignore_index=True
    )
    code = found["code"].to_numpy(np.int64)
    names = [one.name for one in trace.memory.events.devices]
    nobody = (code < 0) | (by not in _CALLS)
    addressed = trace.memory.blocks.addressed
    return pd.DataFrame(
        {
            "device": pd.Categorical([names[i] for i in found["device"].tolist()], names),
            by: values(trace, code, by),
            "allocated_bytes": found["allocated_bytes"],
            "allocations": found["allocations"].astype("int64"),
            "freed_bytes": found["freed_bytes"],
            "frees": found["frees"].astype("int64"),
            "net_bytes": found["allocated_bytes"] - found["freed_bytes"],
            "calls": optional(found["calls"].to_numpy(np.int64), nobody),
            "left_bytes": optional(found["left_bytes"].to_numpy(np.int64), np.full(len(found), not addressed)),
        }
    )


VIEW = View(
    "memory_peak",
    "What is live at the peak",
    memory_peak,
    _PEAK,
    (BLOCK_BY, DEVICE, Parameter("at_us", "time", "An instant, µs from the trace's origin; else the peak.")),
)
BY_OP = View(
    "memory_by_op",
    "Allocated and freed, by op",
    memory_by_op,
    _BY_OP,
    (Parameter("by", "token", "What events are grouped by.", (*KEYS, "step"), "op"), DEVICE, STEP, *RANGE),
)
