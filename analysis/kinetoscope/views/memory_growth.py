"""Memory and steps: levels at their ends, the blocks that make them grow, the blocks that come and go within each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.memory import growth
from kinetoscope.schema import Column
from kinetoscope.views.common import us
from kinetoscope.views.memory_keys import (
    BLOCK_BY,
    DEVICE,
    DEVICE_COLUMN,
    KEY_COLUMNS,
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

_STEPS = (
    DEVICE_COLUMN,
    Column("step", "", "integer", "Number of the step."),
    Column("live_bytes", "bytes", "integer", "Allocated at the end of the step's host range."),
    Column(
        "growth_bytes", "bytes", "integer", "That − the same of the step before; of the first, − what it began with."
    ),
    Column("peak_bytes", "bytes", "integer", "The most allocated within the step's host range."),
    Column("peak_us", "µs", "number", "When that was first reached."),
    Column("allocated_bytes", "bytes", "integer", "Allocated within it."),
    Column("freed_bytes", "bytes", "integer", "Freed within it."),
    Column("churn_bytes", "bytes", "integer", "Blocks allocated and freed within it."),
    Column("churn_blocks", "", "integer", "How many."),
    Column("left_bytes", "bytes", "integer", "Blocks allocated within it that are live at its end."),
    Column("left_blocks", "", "integer", "How many."),
)
_OF_BLOCKS = ("churn_bytes", "churn_blocks", "left_bytes", "left_blocks")


def memory_steps(trace: Trace, device: Any = None) -> pd.DataFrame:
    """Measure memory by step.

    Parameters
    ----------
    trace : Trace
    device : str, optional
        Only this device.

    Returns
    -------
    pandas.DataFrame
        By device and step. Figures of blocks are missing where no addresses were recorded.
    """
    frames = [_of_steps(trace, number, curve) for number, curve in chosen_devices(trace, device)]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[one.name for one in _STEPS])
    frame["device"] = frame["device"].astype("category")
    frame.attrs["notes"] = notes(trace, blocks=True, device=device) + _no_steps(trace, 1)
    return frame


def _of_steps(trace: Trace, number: int, curve: Curve) -> pd.DataFrame:
    found, memory, steps = growth.levels(trace, curve), trace.memory, trace.steps_table
    own = memory.blocks.device == number
    columns: dict[str, Any] = {
        "device": curve.device.name,
        "step": steps.number,
        "live_bytes": found.live,
        "growth_bytes": found.growth,
        "peak_bytes": found.peak,
        "peak_us": us(found.peak_time),
        "allocated_bytes": found.allocated,
        "freed_bytes": found.freed,
    }
    for name, chosen in (("churn", growth.churned(memory)), ("left", growth.outliving(memory))):
        blocks = np.flatnonzero(own & chosen)
        step, size = memory.block_step[blocks], np.zeros(len(steps), np.int64)
        np.add.at(size, step, memory.blocks.bytes[blocks])
        columns |= {f"{name}_bytes": size, f"{name}_blocks": np.bincount(step, minlength=len(steps))}
    frame = pd.DataFrame(columns)
    frame[list(_OF_BLOCKS)] = frame[list(_OF_BLOCKS)].astype("Int64")
    if not memory.blocks.addressed:
        frame[list(_OF_BLOCKS)] = pd.NA
    return frame


_GROWTH = (
    DEVICE_COLUMN,
    *KEY_COLUMNS,
    Column("growth_bytes_per_step", "bytes", "number", "Mean over the steps after the first."),
    Column("growth_bytes", "bytes", "integer", "Over all those steps."),
    Column(
        "growth_blocks",
        "",
        "integer",
        "Blocks live at the last step's end − at the first step's end; missing where nobody is known.",
    ),
    Column("steps_grown", "", "integer", "Steps after the first in which it grew."),
    Column("steps", "", "integer", "Steps after the first."),
)


def memory_growth(trace: Trace, by: str = "op", device: Any = None) -> pd.DataFrame:
    """Tell what makes memory grow from step to step.

    Parameters
    ----------
    trace : Trace
    by : {"op", "caller", "module", "source", "annotation", "phase", "category"}
        What blocks are grouped by: as they were allocated.
    device : str, optional
        Only this device.

    Returns
    -------
    pandas.DataFrame
        By device, largest growth first; the rows of a device add up to its growth exactly. What grew by no known block is in the row without a
        value.
    """
    later = max(len(trace.steps_table) - 1, 0)
    chosen = chosen_devices(trace, device) if later else []
    frames = [_growth(trace, number, curve, by) for number, curve in chosen]
    wanted = ["device", by, *[one.name for one in _GROWTH[-5:]]]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=wanted)
    frame["device"] = frame["device"].astype("category")
    frame.attrs["notes"] = notes(trace, blocks=True, device=device) + _no_steps(trace, 2)
    return frame[wanted]


def _growth(trace: Trace, number: int, curve: Curve, by: str) -> pd.DataFrame:
    memory, later = trace.memory, len(trace.steps_table) - 1
    keys, code = np.unique(codes_of_events(trace, memory.blocks.allocation, by), return_inverse=True)
    grown, blocks = growth.growth_by(memory, number, code.reshape(-1).astype(np.int64), keys.size)
    rest = growth.levels(trace, curve).growth[1:] - grown.sum(axis=0)
    # what no known block explains belongs where nobody is known
    keys, grown, blocks = np.append(keys, -1), np.vstack([grown, rest]), np.vstack([blocks, np.zeros_like(rest)])
    if by != "category" and keys.size > 1 and keys[0] == -1:
        grown[0] += grown[-1]
        keys, grown, blocks = keys[:-1], grown[:-1], blocks[:-1]
    changed = grown.any(axis=1)
    keys, grown, blocks = keys[changed], grown[changed], blocks[changed]
    total = grown.sum(axis=1)
    order = np.argsort(-total, kind="stable")
    return pd.DataFrame(
        {
            "device": curve.device.name,
            by: values(trace, keys[order], by).astype(object),
            "growth_bytes_per_step": (total / later)[order],
            "growth_bytes": total[order],
            "growth_blocks": blocks.sum(axis=1)[order],
            "steps_grown": (grown > 0).sum(axis=1)[order],
            "steps": later,
        }
    )


_CHURN = (
    DEVICE_COLUMN,
    *KEY_COLUMNS,
    Column(
        "bytes_per_step", "bytes", "number", "Bytes of blocks allocated and freed within a step: mean over all steps."
    ),
    Column("blocks_per_step", "", "number", "How many, mean over all steps."),
    Column("steps_with", "", "integer", "Steps that have some."),
    Column("largest_bytes", "bytes", "integer", "The largest block."),
    Column("mean_lifetime_us", "µs", "number", "Mean time from allocation to free."),
)
_MIN_BYTES = Parameter("min_bytes", "amount", "Only blocks of at least this size.")


def memory_churn(trace: Trace, by: str = "op", device: Any = None, min_bytes: Any = None) -> pd.DataFrame:
    """Sum blocks that are allocated and freed within one step.

    Parameters
    ----------
    trace : Trace
    by : {"op", "caller", "module", "source", "annotation", "phase", "category"}
        What blocks are grouped by.
    device : str, optional
        Only this device.
    min_bytes : float, optional
        Only blocks of at least this size.

    Returns
    -------
    pandas.DataFrame
        By device, most bytes first.
    """
    blocks = trace.memory.blocks
    own = np.isin(blocks.device, [number for number, _ in chosen_devices(trace, device)])
    at = np.flatnonzero(growth.churned(trace.memory) & own & (blocks.bytes >= (min_bytes or 0)))
    result = _churn(trace, at, by)
    result.attrs["notes"] = notes(trace, blocks=True, device=device) + _no_steps(trace, 1)
    return result


def _churn(trace: Trace, at: Index, by: str) -> pd.DataFrame:
    """Sum some blocks, all of which were allocated and freed in a step."""
    memory, steps = trace.memory, max(len(trace.steps_table), 1)
    blocks, events = memory.blocks, memory.events
    frame = pd.DataFrame(
        {
            "device": blocks.device[at],
            "code": codes_of_events(trace, blocks.allocation[at], by),
            "bytes": blocks.bytes[at],
            "step": memory.block_step[at],
            "time": events.time[blocks.free[at]] - events.time[blocks.allocation[at]],
        }
    )
    found = frame.groupby(["device", "code"]).agg(
        total=("bytes", "sum"),
        count=("bytes", "size"),
        steps_with=("step", "nunique"),
        largest_bytes=("bytes", "max"),
        time=("time", "mean"),
    )
    found = found.reset_index()
    found = found.sort_values(["device", "total"], ascending=[True, False], kind="stable", ignore_index=True)
    names = [one.name for one in events.devices]
    return pd.DataFrame(
        {
            "device": pd.Categorical([names[i] for i in found["device"].tolist()], names),
            by: values(trace, found["code"].to_numpy(np.int64), by),
            "bytes_per_step": found["total"] / steps,
            "blocks_per_step": found["count"] / steps,
            "steps_with": found["steps_with"],
            "largest_bytes": found["largest_bytes"],
            "mean_lifetime_us": us(found["time"]).round(3),
        }
    )


def _no_steps(trace: Trace, least: int) -> list[str]:
    if len(trace.steps_table) >= least or not len(trace.memory.events):
        return []
    return ["There are no steps." if least == 1 else "There is no step after the first: growth is not known."]


STEPS = View("memory_steps", "Memory by step", memory_steps, _STEPS, (DEVICE,))
VIEW = View("memory_growth", "What makes memory grow", memory_growth, _GROWTH, (BLOCK_BY, DEVICE))
CHURN = View("memory_churn", "Blocks that come and go in a step", memory_churn, _CHURN, (BLOCK_BY, DEVICE, _MIN_BYTES))
