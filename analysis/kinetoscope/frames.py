"""Build the public frames of a trace; their columns are documented in :data:`kinetoscope.schema.FRAMES`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import links, schema

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]


def optional(values: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_] | None = None) -> pd.arrays.IntegerArray:
    """Return integers in which some are missing, by default the negative ones."""
    return pd.arrays.IntegerArray(
        np.asarray(values, np.int64).copy(), values < 0 if missing is None else np.asarray(missing, bool)
    )


def ids(trace: Trace, rows: Index) -> pd.arrays.IntegerArray:
    """Return the event ids of rows, missing for -1."""
    found = trace.columns.id[np.maximum(rows, 0)] if len(trace) else rows
    return optional(np.where(rows >= 0, found, -1))


def texts(codes: npt.NDArray[np.int32], choices: list[str]) -> pd.Categorical:
    """Return numbered texts as a categorical; -1 is missing."""
    return pd.Categorical.from_codes(codes, categories=pd.Index(choices, dtype="str"))


class _Parts:
    """The columns that several frames share, for some rows of a trace."""

    def __init__(self, trace: Trace, rows: Index) -> None:
        self.trace, self.rows, self.columns = trace, rows, trace.columns

    def event(self) -> dict[str, Any]:
        columns, rows = self.columns, self.rows
        return {
            "name": texts(columns.name[rows], columns.names),
            "start_ns": columns.start[rows],
            "duration_ns": columns.duration[rows],
        }

    def thread(self) -> dict[str, Any]:
        number = self.columns.thread[self.rows]
        pids = [thread.pid for thread in self.columns.threads]
        known = sorted(set(pids))
        code = np.array([known.index(pid) for pid in pids] or [0], np.int32)
        tid = np.array([thread.tid for thread in self.columns.threads] or [0], np.int64)
        return {"pid": texts(code[number], known), "tid": tid[number]}

    def device(self) -> dict[str, Any]:
        columns, rows = self.columns, self.rows
        correlation = columns.correlation[rows]
        return {
            "device": optional(columns.device[rows]),
            "stream": optional(columns.stream[rows], columns.stream[rows] == -1),
            "correlation": optional(correlation, correlation <= 0),
        }

    def parent(self) -> dict[str, Any]:
        return {"parent": ids(self.trace, self.trace.parent_row[self.rows])}

    def host_step(self) -> dict[str, Any]:
        steps = self.trace.steps_table
        return {"step": step_numbers(self.trace, steps.holding(self.columns.start[self.rows]))}

    def correlation(self) -> dict[str, Any]:
        values = self.columns.correlation[self.rows]
        return {"correlation": optional(values, values <= 0)}


def step_numbers(trace: Trace, position: npt.NDArray[Any]) -> pd.arrays.IntegerArray:
    """Return the numbers of steps by their position, missing for -1."""
    number = trace.steps_table.number
    found = number[np.maximum(position, 0)] if number.size else np.zeros(position.size, np.int64)
    return optional(found, position < 0)


def _frame(trace: Trace, rows: Index, *parts: dict[str, Any]) -> pd.DataFrame:
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= part
    return pd.DataFrame(merged, index=pd.Index(trace.columns.id[rows], name="id"))


def _of_kind(trace: Trace, kind: str) -> Index:
    return np.flatnonzero((trace.columns.kind == schema.CODE[kind]) & trace.columns.timed)


def _work_links(trace: Trace, chosen: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return launch, op and step of some of the device work."""
    return {
        "launch": ids(trace, trace.launch_of_work[chosen]),
        "op": ids(trace, trace.op_of_work[chosen]),
        "step": step_numbers(trace, trace.step_of_work[chosen]),
    }


def events(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.events``."""
    columns = trace.columns
    rows = np.arange(len(trace), dtype=np.int64)
    parts = _Parts(trace, rows)
    step = trace.steps_table.holding(columns.start).astype(np.int64)
    step[trace.work] = trace.step_of_work
    step[~columns.timed] = -1
    kind = {
        "kind": texts(columns.kind.astype(np.int32), list(schema.KINDS)),
        "category": texts(columns.category, columns.categories),
    }
    tail = {"step": step_numbers(trace, step), "timed": columns.timed}
    return _frame(trace, rows, kind, parts.event(), parts.thread(), parts.device(), parts.parent(), tail)


def kernels(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.kernels``."""
    columns = trace.columns
    chosen = columns.kind[trace.work] == schema.CODE["kernel"]
    rows = trace.work[chosen]
    parts = _Parts(trace, rows)
    details = {
        "communication": trace.communication[chosen],
        "grid": texts(columns.details["grid"][rows], columns.shapes["grid"]),
        "block": texts(columns.details["block"][rows], columns.shapes["block"]),
        "registers": optional(columns.details["registers"][rows]),
        "shared_memory": optional(columns.details["shared_memory"][rows]),
        "blocks_per_sm": columns.details["blocks_per_sm"][rows],
        "occupancy_pct": columns.details["occupancy"][rows],
    }
    return _frame(trace, rows, parts.event(), parts.device(), _work_links(trace, chosen), details)


def memory_copies(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.memory_copies``."""
    columns = trace.columns
    chosen = columns.kind[trace.work] != schema.CODE["kernel"]
    rows = trace.work[chosen]
    parts = _Parts(trace, rows)
    kind = {"kind": texts(columns.kind[rows].astype(np.int32), list(schema.KINDS))}
    details = {
        "bytes": optional(columns.details["bytes"][rows]),
        "bandwidth_gb_per_s": columns.details["bandwidth"][rows],
    }
    return _frame(trace, rows, kind, parts.event(), parts.device(), _work_links(trace, chosen), details)


def api_calls(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.api_calls``."""
    rows = _of_kind(trace, "api_call")
    parts = _Parts(trace, rows)
    works = links.count_of(trace.launch_of_work, len(trace))[rows]
    owner = {"op": ids(trace, trace.op_of_call[rows]), "works": works}
    return _frame(trace, rows, parts.event(), parts.thread(), parts.correlation(), owner, parts.host_step())


def launches(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.launches``."""
    measured = trace.launch_table
    rows = measured.row
    parts = _Parts(trace, rows)
    owner = {
        "op": ids(trace, trace.op_of_call[rows]),
        "works": measured.works,
        "first_work": ids(trace, measured.first),
        "delay_ns": optional(measured.delay, measured.first < 0),
    }
    return _frame(trace, rows, parts.event(), parts.thread(), parts.correlation(), owner, parts.host_step())


def ops(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.ops``."""
    columns, rows = trace.columns, _of_kind(trace, "op")
    parts = _Parts(trace, rows)
    autograd = {
        "external_id": optional(columns.external_id[rows]),
        "sequence_number": optional(columns.sequence_number[rows]),
        "forward_thread": optional(columns.forward_thread[rows]),
        "forward": ids(trace, trace.forward_row[rows]),
    }
    return _frame(trace, rows, parts.event(), parts.thread(), parts.parent(), autograd, parts.host_step())


def _host(kind: str) -> Callable[[Trace], pd.DataFrame]:
    def build_frame(trace: Trace) -> pd.DataFrame:
        rows = _of_kind(trace, kind)
        parts = _Parts(trace, rows)
        return _frame(trace, rows, parts.event(), parts.thread(), parts.parent(), parts.host_step())

    return build_frame


def steps(trace: Trace) -> pd.DataFrame:
    """Build ``Trace.steps``."""
    table, columns = trace.steps_table, trace.columns
    return pd.DataFrame(
        {
            "step": table.number,
            "name": texts(columns.name[table.row], columns.names),
            "event": columns.id[table.row],
            "host_start_ns": table.host_start,
            "host_end_ns": table.host_end,
            "start_ns": table.start,
            "end_ns": table.end,
            "tail_ns": table.tail,
            "works": table.works,
            "incomplete": table.incomplete,
        }
    )


_BUILDERS: dict[str, Callable[[Trace], pd.DataFrame]] = {
    "events": events,
    "kernels": kernels,
    "memory_copies": memory_copies,
    "api_calls": api_calls,
    "launches": launches,
    "ops": ops,
    "annotations": _host("annotation"),
    "python_calls": _host("python"),
    "steps": steps,
}


def build(trace: Trace, name: str) -> pd.DataFrame:
    """Build one of the frames.

    Parameters
    ----------
    trace : Trace
    name : str
        A key of :data:`kinetoscope.schema.FRAMES`.

    Returns
    -------
    pandas.DataFrame
    """
    return _BUILDERS[name](trace)
