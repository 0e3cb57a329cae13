"""Which ops take the time, on the host and on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import schema, tensor_cores
from kinetoscope.operators.flops import device_names, peaks_of
from kinetoscope.operators.keys import GROUPS, KEYS, grouped
from kinetoscope.schema import Column
from kinetoscope.self_time import outermost, subtree_sums
from kinetoscope.views.common import (
    SELECTION,
    Selection,
    launched_elsewhere,
    no_device_note,
    pct,
    step_note,
    texts_of,
    us,
)
from kinetoscope.views.op_rows import OPS_LIKE, ops_like
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_COLUMNS = (
    Column("name", "", "text", "Op or annotation; missing for device work that no op owns."),
    Column("shapes", "", "text", "Shapes of its inputs, as recorded."),
    Column("dtype", "", "text", "Data types of its inputs, as recorded."),
    Column("stack", "", "text", "Python frames outside the libraries around it, outermost first."),
    Column(
        "source",
        "",
        "text",
        "Innermost Python frame outside the libraries around it; under a backward op, around its forward op.",
    ),
    Column("module", "", "text", "Innermost module around it, as a path; under a backward op, that of its forward op."),
    Column("thread", "", "text", "Host thread."),
    Column("phase", "", "text", "Forward, backward, optimizer, data or other."),
    Column("owned", "", "boolean", "False for the one row of device work that no op owns."),
    Column("calls", "", "integer", "How often it ran."),
    Column(
        "host_total_us", "µs", "number", "Host time, with what it contains; what is nested in its like counts once."
    ),
    Column(
        "host_self_us",
        "µs",
        "number",
        "Host time that is its own: each instant is the open op's or annotation's that started last; API calls are in it.",
    ),
    Column("launch_us", "µs", "number", "Time in API calls within its own host time."),
    Column("host_self_no_api_us", "µs", "number", "Its own host time without API calls."),
    Column("device_total_us", "µs", "number", "Device work launched by it and by ops below it, lengths added up."),
    Column("device_self_us", "µs", "number", "Device work that it launched itself, lengths added up."),
    Column("device_self_pct", "%", "number", "Part of the table's device work."),
    Column("host_self_pct", "%", "number", "Part of the table's own host time."),
    Column("tensor_cores_eligible", "", "boolean", "Whether it can use the matrix units (data/tensor_cores.json)."),
    Column(
        "tensor_cores_pct",
        "%",
        "number",
        "Part of its own kernel time in kernels that use the matrix units, of those of which the name tells.",
    ),
    Column("tensor_cores_unknown_us", "µs", "number", "Its own time in kernels of which the name does not tell."),
    Column("flops", "FLOP", "number", "Floating-point operations, where they are known; a multiply-add is two."),
    Column("flops_formula", "", "text", "How they were counted."),
    Column("flops_calls", "", "integer", "Calls whose operations are known."),
    Column("tflop_per_s", "TFLOP/s", "number", "Those operations / device time of those calls, 10¹² per second."),
    Column(
        "peak_pct",
        "%",
        "number",
        "Of the device's peak for the data type (data/device_peaks.json); missing where the peak is not known.",
    ),
    Column("copied_gb_per_s", "GB/s", "number", "Bytes of the copies that it launched / their length."),
    Column("longest_id", "", "integer", "Event id of the longest call; where no call is in the selection, of all."),
)


def operators(
    trace: Trace,
    by: str = "name",
    op_like: float | None = None,
    alike: str = "name",
    **selection: Any,
) -> pd.DataFrame:
    """Sum ops and annotations.

    Parameters
    ----------
    trace : Trace
    by : {"name", "shapes", "dtype", "stack", "source", "name,source", "module", "name,module", "thread", "name,thread", "phase", "name,phase"}
        What a row is; shapes, types and stacks are told apart by name as well.
    op_like, alike
        See :func:`kinetoscope.views.op_rows.ops_like`: only ops of one row of this table.
    **selection
        ``step, start_us, end_us, within``: see :class:`kinetoscope.views.common.Selection`: host figures count ops of the selection, device figures work of the selection.

    Returns
    -------
    pandas.DataFrame
        Most device work first, then most host time. One row, of no name and ``owned`` False, is the device work that no op owns; with it
        ``device_self_us`` adds up to all device work.
    """
    keys = [KEYS[word](trace) for word in GROUPS[by]]
    group, values = grouped(keys)
    chosen = Selection(trace, **selection)
    sums = _Sums(trace, group, chosen, ops_like(trace, op_like, alike))
    frame = pd.DataFrame(
        {word: texts_of(code, texts) for word, code, (_, texts) in zip(GROUPS[by], values, keys, strict=True)}
    )
    for figures in (sums.host(), sums.device(), sums.operations()):
        for name, column in figures.items():
            frame[name] = column
    if "name" in frame:
        eligible = tensor_cores.eligible(trace)[values[0]]
        frame["tensor_cores_eligible"] = eligible
    frame["owned"] = True
    frame = frame[sums.asked & ((frame["calls"] > 0) | (frame["device_total_us"] > 0))]
    frame = frame.sort_values(["device_self_us", "host_self_us"], ascending=False, kind="stable")
    frame = _with_rest(frame, sums.unowned)
    for part, whole in (("device_self_pct", "device_self_us"), ("host_self_pct", "host_self_us")):
        frame[part] = pct(frame[whole], frame[whole].sum())
    frame = frame[[column.name for column in _COLUMNS if column.name in frame]].reset_index(drop=True)
    frame.attrs["notes"] = _notes(trace, by, chosen)
    return frame


class _Sums:
    """Figures of groups of ops.

    Parameters
    ----------
    trace : Trace
    group : ndarray of int64
        Of each op.
    selection : Selection
    only : ndarray of bool, optional
        Which ops count; with it, work that no op owns does not.
    """

    def __init__(self, trace: Trace, group: Index, selection: Selection, only: Flags | None = None) -> None:
        self._trace, self._group, self._selection = trace, group, selection
        self._size = int(group.max(initial=-1)) + 1
        self._ops = trace.program.ops
        self._only = np.ones(len(self._ops), bool) if only is None else only
        self._chosen = selection.host(self._ops.rows) & self._only
        worked, length = selection.work()
        owner = self._ops.owner_of_work
        if only is not None:
            worked = worked & (owner >= 0) & (only[np.maximum(owner, 0)] if only.size else False)
        self._work = np.flatnonzero(worked & (owner >= 0))
        self._owner, self._length = self._ops.owner_of_work[self._work], length[self._work]
        self.unowned = int(length[worked & (self._ops.owner_of_work < 0)].sum())

    @property
    def asked(self) -> Flags:
        """Which groups have an op that counts: others only contain such."""
        return np.bincount(self._group[self._only], minlength=self._size) > 0

    def _sum(self, group: Index, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        total = np.zeros(self._size, values.dtype)
        np.add.at(total, group, values)
        return total

    def host(self) -> dict[str, Any]:
        """Return calls and host times."""
        ops, selection = self._ops, self._selection
        rows = np.flatnonzero(self._chosen)
        group = self._group[rows]
        length = selection.lengths(ops.start[rows], ops.end[rows])
        outer = outermost(group, ops.thread[rows], ops.end[rows])
        owner, start, end = ops.pieces
        kept = self._chosen[owner]
        owner, start, end = owner[kept], start[kept], end[kept]
        own = selection.lengths(start, end)
        called = ops.in_calls(ops.thread[owner], start, end, selection.cut)
        self_time, launch = self._sum(self._group[owner], own), self._sum(self._group[owner], called)
        return {
            "calls": self._sum(group, np.ones(group.size, np.int64)),
            "host_total_us": us(self._sum(group[outer], length[outer])),
            "host_self_us": us(self_time),
            "launch_us": us(launch),
            "host_self_no_api_us": us(self_time - launch),
            "longest_id": self._longest(),
        }

    def _longest(self) -> pd.arrays.IntegerArray:
        """Return the longest call of each group: of the selection, else of all."""
        ops, found = self._ops, np.full(self._size, -1, np.int64)
        length = np.where(self._chosen, self._selection.lengths(ops.start, ops.end), ops.end - ops.start)
        order = np.lexsort((-ops.start, length, self._chosen, self._group))
        last = order[np.append(np.diff(self._group[order]) != 0, True)] if order.size else order
        found[self._group[last]] = self._trace.columns.id[ops.rows[last]]
        return pd.arrays.IntegerArray(found, found < 0)

    def device(self) -> dict[str, Any]:
        """Return device times, and how much of them used the matrix units."""
        trace, ops = self._trace, self._ops
        own = np.zeros(len(ops), np.int64)
        np.add.at(own, self._owner, self._length)
        below = subtree_sums(ops.parent, own)
        outer = outermost(self._group, ops.thread, ops.end)
        kernel = trace.columns.kind[trace.work[self._work]] == schema.CODE["kernel"]
        used = tensor_cores.used(trace, trace.work[self._work[kernel]])
        owner, length = self._group[self._owner[kernel]], self._length[kernel]
        yes, no, unknown = (
            self._sum(owner[used == answer], length[used == answer])
            for answer in (tensor_cores.YES, tensor_cores.NO, tensor_cores.UNKNOWN)
        )
        return {
            "device_total_us": us(self._sum(self._group[outer], below[outer])),
            "device_self_us": us(self._sum(self._group, own)),
            "tensor_cores_pct": pct(yes, yes + no),
            "tensor_cores_unknown_us": us(unknown),
            "copied_gb_per_s": self._copied(),
        }

    def _copied(self) -> npt.NDArray[np.float64]:
        columns = self._trace.columns
        rows = self._trace.work[self._work]
        size = columns.details["bytes"][rows]
        copies = (columns.kind[rows] == schema.CODE["memcpy"]) & (size > 0) & (columns.duration[rows] > 0)
        copies &= self._length == columns.duration[rows]
        group = self._group[self._owner[copies]]
        moved, time = self._sum(group, size[copies].astype(np.int64)), self._sum(group, self._length[copies])
        return np.where(time > 0, moved / np.maximum(time, 1), np.nan)

    def operations(self) -> dict[str, Any]:
        """Return floating-point operations, and how fast they were done."""
        known = self._trace.program.flops
        kept = self._chosen[known.place]
        group, flops, time = self._group[known.place[kept]], known.flops[kept], known.device_time[kept]
        calls = self._sum(group, np.ones(group.size, np.int64))
        ran = time > 0
        done, spent = self._sum(group[ran], flops[ran]), self._sum(group[ran], time[ran])
        # the time that they would take at the peak
        at_peak = self._sum(group[ran], flops[ran] / known.peak[kept][ran])
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(spent > 0, done / spent / 1000.0, np.nan)
            peak = np.where(spent > 0, 100.0 * at_peak * 1e9 / spent, np.nan)
        return {
            "flops": np.where(calls > 0, self._sum(group, flops), np.nan),
            "flops_formula": self._formulas(group, known.formula[kept], known.formulas),
            "flops_calls": calls,
            "tflop_per_s": rate,
            "peak_pct": peak,
        }

    def _formulas(self, group: Index, formula: Index, formulas: list[str]) -> pd.Categorical:
        """Return the formula of groups that have one; of several, all."""
        pairs = np.unique(group * len(formulas) + formula)
        found: dict[int, str] = {}
        for pair in pairs.tolist():
            number, text = pair // len(formulas), formulas[pair % len(formulas)]
            found[number] = f"{found[number]}; {text}" if number in found else text
        texts = list(dict.fromkeys(found.values()))
        place = {text: i for i, text in enumerate(texts)}
        code = np.full(self._size, -1, np.int64)
        code[list(found)] = [place[text] for text in found.values()]
        return texts_of(code, texts)


def _with_rest(frame: pd.DataFrame, unowned: int) -> pd.DataFrame:
    """Add the row of the device work that no op owns."""
    if not unowned:
        return frame
    row = {
        "owned": False,
        "calls": 0,
        "host_total_us": 0.0,
        "host_self_us": 0.0,
        "launch_us": 0.0,
        "host_self_no_api_us": 0.0,
        "device_total_us": unowned / 1000,
        "device_self_us": unowned / 1000,
        "tensor_cores_unknown_us": np.nan,
        "flops_calls": 0,
    }
    rest = pd.DataFrame({name: pd.Series([row.get(str(name))]).astype(frame[name].dtype) for name in frame})
    place = int((frame["device_self_us"] >= unowned / 1000).sum())
    return pd.concat([frame.iloc[:place], rest, frame.iloc[place:]])


def _notes(trace: Trace, by: str, selection: Selection) -> list[str]:
    notes = [
        *launched_elsewhere(selection),
        *step_note(trace, selection.step),
        *no_device_note(trace),
        *_unknown_peak(trace),
    ]
    if not len(trace.program.ops):
        notes.append("No ops were recorded.")
    if by == "shapes" and "shapes" not in trace.columns.extras:
        notes.append("No shapes were recorded (record_shapes).")
    if by in ("stack", "source", "name,source") and trace.program.stacks.source == "ops":
        notes.append("No stacks were recorded (with_stack).")
    if "module" in by and trace.program.modules.source != "frames":
        notes.append(
            "No nn.Module frames were recorded (with_stack or with_modules): modules are "
            + _SOURCES[trace.program.modules.source]
            + "."
        )
    return notes


def _unknown_peak(trace: Trace) -> list[str]:
    """Say why no rate is told as a share of the peak."""
    known = trace.program.flops
    names = sorted(device_names(trace))
    if not len(known.place) or not names or np.isfinite(known.peak).any():
        return []
    if len(names) > 1:
        return [f"Rates are not told as shares of a peak: the devices are of several kinds ({', '.join(names)})."]
    if not names[0]:
        return ["Rates are not told as shares of a peak: the file does not name the device."]
    if peaks_of(names[0]):
        return []
    return [f"Rates are not told as shares of a peak: that of {names[0]} is not in data/device_peaks.json."]


_SOURCES = {"hierarchy": "those that TorchScript recorded", "annotations": "annotations"}

VIEW = View(
    "operators",
    "Operators",
    operators,
    _COLUMNS,
    (Parameter("by", "token", "What a row is.", tuple(GROUPS), "name"), *OPS_LIKE, *SELECTION),
)
