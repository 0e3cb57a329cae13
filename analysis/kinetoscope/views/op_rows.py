"""What is behind a row of the operators: which ops, asked for by one of them, and their calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import step_numbers
from kinetoscope.operators.keys import GROUPS, alike, thread_titles
from kinetoscope.schema import Column
from kinetoscope.self_time import subtree_sums
from kinetoscope.views.common import SELECTION, Selection, names_of, step_note, texts_of, us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Flags = npt.NDArray[np.bool_]

OPS_LIKE = (
    Parameter("op_like", "number", "Only ops that are in one row of the operators with the op of this event id."),
    Parameter("alike", "token", "What such a row is: the operators' `by`.", tuple(GROUPS), "name"),
)
"""Parameters of tables that can be asked about a row of the operators."""

_COLUMNS = (
    Column("id", "", "integer", "Event id."),
    Column("name", "", "text", "Op or annotation."),
    Column("start_us", "µs", "number", "Start, from the trace's origin."),
    Column("duration_us", "µs", "number", "Length on the host."),
    Column("device_self_us", "µs", "number", "Device work that it launched itself, lengths added up."),
    Column("device_total_us", "µs", "number", "Device work of it and of ops below it."),
    Column("step", "", "integer", "Step whose host range holds its start; missing outside all steps."),
    Column("thread", "", "text", "Host thread."),
)
_LONGEST = Parameter("longest", "amount", "At most this many calls, the longest on the host.", default=2000)


def ops_like(trace: Trace, op_like: Any, by: str) -> Flags | None:
    """Tell which ops are in one row of the operators with that of an event.

    Parameters
    ----------
    trace : Trace
    op_like : float or None
        Event id; None asks for no such choice.
    by : str
        What tells rows apart: the operators' ``by``.

    Returns
    -------
    ndarray of bool or None
        One per op; None for all.
    """
    return alike(trace, int(op_like), by) if isinstance(op_like, int | float) else None


def launched_by(trace: Trace, ops: Flags) -> Flags:
    """Tell which of ``trace.work`` some ops launched themselves."""
    owner = trace.program.ops.owner_of_work
    return np.asarray((owner >= 0) & (ops[np.maximum(owner, 0)] if ops.size else False))


def operator_calls(
    trace: Trace, op_like: float | None = None, alike: str = "name", longest: float = 2000, **selection: Any
) -> pd.DataFrame:
    """List calls of ops and annotations.

    Parameters
    ----------
    trace : Trace
    op_like, alike
        See :func:`ops_like`.
    longest : int
        At most this many, the longest on the host.
    **selection
        ``step, start_us, end_us, within``: see :class:`kinetoscope.views.common.Selection`; lengths stay whole.

    Returns
    -------
    pandas.DataFrame
        In time order.
    """
    columns, ops = trace.columns, trace.program.ops
    only = ops_like(trace, op_like, alike)
    chosen = np.flatnonzero(Selection(trace, **selection).host(ops.rows) & (True if only is None else only))
    kept = chosen[np.argsort(ops.start[chosen] - ops.end[chosen], kind="stable")[: int(longest)]]
    kept = kept[np.argsort(ops.start[kept], kind="stable")]
    own = np.zeros(len(ops), np.int64)
    owned = ops.owner_of_work >= 0
    np.add.at(own, ops.owner_of_work[owned], columns.duration[trace.work[owned]])
    rows = ops.rows[kept]
    frame = pd.DataFrame(
        {
            "id": columns.id[rows],
            "name": names_of(trace, rows),
            "start_us": us(ops.start[kept]),
            "duration_us": us(ops.end[kept] - ops.start[kept]),
            "device_self_us": us(own[kept]),
            "device_total_us": us(subtree_sums(ops.parent, own)[kept]),
            "step": step_numbers(trace, trace.steps_table.holding(ops.start[kept])),
            "thread": texts_of(ops.thread[kept], thread_titles(trace)),
        }
    )
    left = [f"{chosen.size - kept.size:,} shorter calls are left out."] if kept.size < chosen.size else []
    none = [] if len(ops) else ["No ops were recorded."]
    frame.attrs["notes"] = [*none, *step_note(trace, selection.get("step")), *left]
    return frame


VIEW = View("operator_calls", "Calls of operators", operator_calls, _COLUMNS, (*OPS_LIKE, _LONGEST, *SELECTION))
