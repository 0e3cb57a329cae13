"""Every call of some kernels: the rows behind a row of the kernel table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import schema
from kinetoscope.device_figures import occupancy_of
from kinetoscope.kernel_categories import categories
from kinetoscope.schema import Column
from kinetoscope.views.common import SELECTION, Selection, names_of, no_device_note, of_value, step_note, us
from kinetoscope.views.kernels import families, modules_of, sources_of
from kinetoscope.views.op_rows import OPS_LIKE, launched_by, ops_like
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("id", "", "integer", "Event id."),
    Column("name", "", "text", "Name of the kernel."),
    Column("category", "", "text", "Kind of computation, by its name; communication by its owner or name."),
    Column("op", "", "text", "Operator that launched it."),
    Column("device", "", "integer", "Device."),
    Column("stream", "", "integer", "Stream."),
    Column("step", "", "integer", "Step that launched it."),
    Column("start_us", "µs", "number", "Start, from the trace's origin."),
    Column("duration_us", "µs", "number", "Length."),
    Column("launch_delay_us", "µs", "number", "Start − start of the launch call; missing without one."),
    Column("module", "", "text", "Module that launched it, as a path; missing outside all modules."),
    Column("grid", "", "text", "Blocks launched, x, y, z."),
    Column("block", "", "text", "Threads per block, x, y, z."),
    Column("registers", "", "integer", "Registers per thread."),
    Column("shared_memory", "bytes", "integer", "Shared memory per block."),
    Column("blocks_per_sm", "", "number", "Blocks launched per multiprocessor."),
    Column("occupancy_pct", "%", "number", "Recorded estimate of achieved occupancy; missing when it is unknown."),
)

_FILTERS = (
    Parameter("name", "text", "Kernels of exactly this name."),
    Parameter("like", "number", "Kernels of the same name as the event of this id."),
    Parameter("op", "text", "Kernels launched by ops of exactly this name."),
    Parameter("category", "text", "Kernels of this category."),
    Parameter("module", "text", "Kernels launched in exactly this module, written as a path."),
    Parameter("source", "text", "Kernels launched from exactly this source line, as in kernels by source."),
    Parameter("family", "text", "Kernels of this name, without the number that compilers put at its end."),
    Parameter("stream", "number", "Kernels of this stream."),
    Parameter("device", "number", "Kernels of this device."),
    Parameter("grid", "text", "Kernels launched with this many blocks, written x, y, z."),
    Parameter("block", "text", "Kernels launched with this many threads per block, written x, y, z."),
    Parameter("registers", "number", "Kernels with this many registers per thread."),
    Parameter("shared_memory", "number", "Kernels with this much shared memory per block."),
)


def kernel_calls(trace: Trace, **filters: Any) -> pd.DataFrame:
    """List kernels one by one.

    Parameters
    ----------
    trace : Trace
    **filters
        ``name, like, op, category, module, source, family, stream, device, grid, block, registers, shared_memory``: only kernels that fit all that are
        given. An empty text asks for those without a value. ``step, start_us, end_us, within``: see
        :class:`kinetoscope.views.common.Selection`; lengths stay whole. ``op_like, alike``: see :func:`kinetoscope.views.op_rows.ops_like`.

    Returns
    -------
    pandas.DataFrame
        In time order per device.
    """
    columns = trace.columns
    kernel = columns.kind[trace.work] == schema.CODE["kernel"]
    rows, base, frame = trace.work[kernel], trace.kernels, _listed(trace, kernel)
    chosen = Selection(trace, **{key: filters.get(key) for key in ("step", "start_us", "end_us", "within")}).work()[0][
        kernel
    ]
    for key in ("name", "category", "op", "stream", "device", "module"):
        chosen &= of_value(frame[key], filters.get(key))
    if filters.get("like") is not None:
        chosen &= columns.name[rows] == _name_of(trace, int(filters["like"]))
    for key in ("grid", "block", "registers", "shared_memory"):
        chosen &= of_value(base[key], filters.get(key))
    if filters.get("source") is not None:
        chosen &= of_value(pd.Series(sources_of(trace, np.flatnonzero(kernel))), filters["source"])
    ops = ops_like(trace, filters.get("op_like"), filters.get("alike", "name"))
    if ops is not None:
        chosen &= launched_by(trace, ops)[kernel]
    if filters.get("family") is not None:
        chosen &= families(trace, rows) == filters["family"]
    frame = frame[chosen].reset_index(drop=True)
    frame.attrs["notes"] = no_device_note(trace) or step_note(trace, filters.get("step"))
    return frame


def _listed(trace: Trace, kernel: npt.NDArray[np.bool_]) -> pd.DataFrame:
    """Return all kernels; ``kernel`` tells which of ``trace.work`` those are."""
    columns = trace.columns
    rows, launch = trace.work[kernel], trace.launch_of_work[kernel]
    base = trace.kernels
    delay = columns.start[rows] - columns.start[np.maximum(launch, 0)] if rows.size else rows
    return pd.DataFrame(
        {
            "id": columns.id[rows],
            "name": base["name"].array,
            "category": categories(trace, rows, trace.communication[kernel]),
            "op": names_of(trace, trace.op_of_work[kernel]),
            "device": base["device"].array,
            "stream": base["stream"].array,
            "step": base["step"].array,
            "start_us": us(columns.start[rows]),
            "duration_us": us(columns.duration[rows]),
            "launch_delay_us": np.where(launch >= 0, us(delay), np.nan),
            "module": modules_of(trace, np.flatnonzero(kernel)),
            **{key: base[key].array for key in ("grid", "block", "registers", "shared_memory", "blocks_per_sm")},
            "occupancy_pct": occupancy_of(trace, rows)[0],
        }
    )


def _name_of(trace: Trace, event: int) -> int:
    """Return the number of an event's name, -1 for no event."""
    found = np.flatnonzero(trace.columns.id == event)
    return int(trace.columns.name[found[0]]) if found.size else -1


VIEW = View("kernel_calls", "Kernel calls", kernel_calls, _COLUMNS, (*_FILTERS, *OPS_LIKE, *SELECTION))
