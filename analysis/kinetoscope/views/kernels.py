"""Which kernels take the time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import schema, tensor_cores
from kinetoscope.device_figures import occupancy_of
from kinetoscope.kernel_categories import categories
from kinetoscope.naming import matching
from kinetoscope.operators.recorded import of_ops
from kinetoscope.schema import Column
from kinetoscope.views.common import SELECTION, Selection, names_of, no_device_note, pct, step_note, texts_of
from kinetoscope.views.op_rows import OPS_LIKE, launched_by, ops_like
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
    "module": ("module",),
    "name,module": ("name", "module"),
    "family": ("family",),
    "source": ("source",),
    "name,source": ("name", "source"),
}
_IN_KEY_ORDER = ("stream", "step")
_LAUNCHED_AS = ("blocks_per_sm", "occupancy_pct", "occupancy_unknown")
_USED = {tensor_cores.YES: "yes", tensor_cores.NO: "no", tensor_cores.UNKNOWN: "unknown"}

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
        "Kind of computation, by the kernel's name (data/kernel_categories.json); communication by its owner or name. Of a name or family, that of its longest call.",
    ),
    Column(
        "module",
        "",
        "text",
        "Module that launched it, as a path; under a backward op, that of the forward op; missing outside all modules.",
    ),
    Column(
        "source",
        "",
        "text",
        "Innermost Python frame outside the libraries at its launch; under a backward op, at its forward op.",
    ),
    Column("family", "", "text", "Name of the kernel without the number that compilers put at its end."),
    Column("tensor_cores", "", "text", "Whether the kernel uses the matrix units, by its name: yes, no, unknown."),
    Column("kernel_backend", "", "text", "What compiled it, as its op has it."),
    Column("kernel_file", "", "text", "Source file of the compiled kernel; where a family has several, one of them."),
    Column("kernel_arguments", "", "text", "Block sizes and the like that it was compiled with; one of several."),
    Column("calls", "", "integer", "Kernels run."),
    Column("total_us", "µs", "number", "Their lengths added up, overlaps counted each time."),
    Column("mean_us", "µs", "number", "Mean length."),
    Column("min_us", "µs", "number", "Shortest."),
    Column("max_us", "µs", "number", "Longest."),
    Column("share_pct", "%", "number", "Part of all kernel time of the table."),
    Column("blocks_per_sm", "", "number", "Blocks launched per multiprocessor, mean weighted by kernel time."),
    Column(
        "occupancy_pct",
        "%",
        "number",
        "Achieved occupancy as the recorder estimated it from the launch, mean weighted by kernel time; unknown ones left out.",
    ),
    Column(
        "occupancy_unknown", "", "integer", "Kernels of which it is unknown: 0 was recorded because of shared memory."
    ),
    Column("longest_id", "", "integer", "Event id of the longest call."),
)

_BY = Parameter("by", "token", "What a row is.", tuple(_KEYS), "name")


def kernels(
    trace: Trace,
    by: str = "name",
    op_like: float | None = None,
    alike: str = "name",
    **selection: Any,
) -> pd.DataFrame:
    """Sum the kernels of the whole recording, on all devices.

    Parameters
    ----------
    trace : Trace
    by : {"name", "op", "name,op", "config", "stream", "step", "category", "module", "name,module", "family", "source", "name,source"}
        What a row is.
    op_like, alike
        See :func:`kinetoscope.views.op_rows.ops_like`: only kernels that ops of one row of the operators launched themselves.
    **selection
        ``step, start_us, end_us, within``: see :class:`kinetoscope.views.common.Selection`: by default kernels launched in the step, kernels that start in ``[start_us, end_us)``.

    Returns
    -------
    pandas.DataFrame
        Longest total first; by stream and step in their order.
    """
    rows = _Kernels(trace, Selection(trace, **selection), ops_like(trace, op_like, alike))
    keys = {name: rows.key(name) for name in _KEYS[by]}
    frame = pd.DataFrame({**keys, "ns": rows.duration})
    grouper = frame.groupby(list(keys), observed=True, dropna=False, sort=by in _IN_KEY_ORDER)
    result = grouper["ns"].agg(calls="count", total="sum", mean="mean", min="min", max="max", longest="idxmax")
    result = result.assign(**rows.launched_as(grouper.ngroup().to_numpy(np.int64), len(result))).reset_index()
    if by not in _IN_KEY_ORDER:
        result = result.sort_values(["total", "calls"], ascending=[False, False], kind="stable")
    longest = result.pop("longest").to_numpy(np.int64)
    total = result.pop("total").to_numpy(np.int64)
    mean, low, high = (result.pop(name).to_numpy(np.float64) for name in ("mean", "min", "max"))
    result["total_us"] = total / 1000.0
    result["mean_us"] = np.round(mean / 1000.0, 3)
    result["min_us"], result["max_us"] = low / 1000.0, high / 1000.0
    result["share_pct"] = pct(total, total.sum())
    for name in _LAUNCHED_AS:
        result[name] = result.pop(name)
    result = result.assign(**rows.described(by, longest), longest_id=trace.columns.id[rows.rows[longest]])
    result = result.reset_index(drop=True)
    result.attrs["notes"] = no_device_note(trace) or step_note(trace, selection.get("step"))
    if "source" in by and trace.program.stacks.source == "ops":
        result.attrs["notes"].append("No stacks were recorded (with_stack).")
    return result


class _Kernels:
    """The chosen kernels, and what they can be grouped by."""

    def __init__(self, trace: Trace, selection: Selection, ops: npt.NDArray[np.bool_] | None) -> None:
        kernel = trace.columns.kind[trace.work] == schema.CODE["kernel"]
        chosen, length = selection.work()
        if ops is not None:
            chosen = chosen & launched_by(trace, ops)
        self._trace, self._chosen = trace, chosen[kernel]
        self._work = np.flatnonzero(kernel & chosen)
        self.rows = trace.work[self._work]
        self.duration = length[self._work]

    def key(self, name: str) -> Any:
        trace = self._trace
        if name == "op":
            return names_of(trace, trace.op_of_work[self._work])
        if name == "category":
            return categories(trace, self.rows, trace.communication[self._work])
        if name == "module":
            return modules_of(trace, self._work)
        if name == "source":
            return sources_of(trace, self._work)
        if name == "family":
            return families(trace, self.rows)
        return trace.kernels[name].array[self._chosen]

    def launched_as(self, group: npt.NDArray[np.int64], size: int) -> dict[str, Any]:
        """Return what groups were launched with, weighted by time."""
        occupancy, unknown = occupancy_of(self._trace, self.rows)
        blocks = self._trace.columns.details["blocks_per_sm"][self.rows]
        return {
            "blocks_per_sm": self._weighted(group, size, np.where(blocks >= 0, blocks, np.nan)),
            "occupancy_pct": self._weighted(group, size, occupancy),
            "occupancy_unknown": np.bincount(group[unknown], minlength=size),
        }

    def _weighted(
        self, group: npt.NDArray[np.int64], size: int, values: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        known = np.isfinite(values)
        time = np.bincount(group[known], self.duration[known], minlength=size)
        summed = np.bincount(group[known], values[known] * self.duration[known], minlength=size)
        return np.where(time > 0, summed / np.maximum(time, 1), np.nan)

    def described(self, by: str, longest: npt.NDArray[np.int64]) -> dict[str, Any]:
        """Return what can be said of groups of one name or family, from the longest kernel of each."""
        if not {"name", "family"} & set(_KEYS[by]):
            return {}
        rows = self.rows[longest]
        words = pd.Index([_USED[answer] for answer in _USED], dtype="str")
        place = {answer: i for i, answer in enumerate(_USED)}
        used = np.array([place[answer] for answer in tensor_cores.used(self._trace, rows).tolist()], np.int32)
        owned = self._trace.communication[self._work[longest]]
        found: dict[str, Any] = {
            "category": categories(self._trace, rows, owned),
            "tensor_cores": pd.Categorical.from_codes(used, categories=words),
        }
        if by == "family":
            op = self._trace.op_of_work[self._work[longest]]
            for name in ("kernel_backend", "kernel_file", "kernel_arguments"):
                code, distinct = of_ops(self._trace, op, name)
                texts = [value if isinstance(value, str) else str(value) for value in distinct]
                found[name] = texts_of(np.where(op >= 0, code, -1), texts)
        return found


def modules_of(trace: Trace, work: npt.NDArray[np.int64]) -> pd.Categorical:
    """Return the module that launched some of ``trace.work``, as a path, missing outside all modules."""
    found = trace.program.modules
    return texts_of(found.node_of_work[work], found.paths)


def sources_of(trace: Trace, work: npt.NDArray[np.int64]) -> pd.Categorical:
    """Return the source line that launched some of ``trace.work``, missing outside the program's own frames."""
    stacks = trace.program.stacks
    if stacks.source == "ops":
        return texts_of(np.full(work.size, -1, np.int64), [])
    return texts_of(*stacks.sources(stacks.of_work()[work]))


def families(trace: Trace, rows: npt.NDArray[np.int64]) -> pd.Categorical:
    """Return the names of kernels, those of compiled ones without the number at their end."""
    names = names_of(trace, rows)
    compiled = matching(list(names.categories), "compiled_kernel")
    texts = [re.sub(r"_\d+$", "", text) if own else text for text, own in zip(names.categories, compiled, strict=False)]
    return texts_of(names.codes.astype(np.int64), texts)


VIEW = View("kernels", "Kernels", kernels, _COLUMNS, (_BY, *OPS_LIKE, *SELECTION))
