"""The facts that advice weighs: each one figure of a trace, or the reason why it cannot be told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import copying, intervals, launching, schema, tensor_cores
from kinetoscope.advice import memory_facts
from kinetoscope.advice.unknown import UnknownError
from kinetoscope.device_figures import sm_efficiency_pct
from kinetoscope.idle.causes import CODE
from kinetoscope.naming import matching

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Flags = npt.NDArray[np.bool_]

_HOST_CAUSES = ("host work", "host python", "launch calls", "untraced host")


class Facts:
    """Facts of a trace by name, each computed when it is first asked for.

    All percentages of the window are means over the devices. "Per step" is per period, or over the whole window where there are no steps.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[str, float | str | UnknownError] = {}

    def __getitem__(self, name: str) -> float | str:
        if name not in self._known:
            try:
                self._known[name] = _OF_TRACE[name](self._trace) if name in _OF_TRACE else _FACTS[name](self)
            except UnknownError as error:
                self._known[name] = error
        found = self._known[name]
        if isinstance(found, UnknownError):
            raise found
        return found

    def per(self) -> str:
        """What "per step" means here."""
        return "a step" if len(self._trace.steps_table) else "in all"

    # --- what several facts need -----------------------------------------------------------------------------------------------------

    @cached_property
    def _periods(self) -> int:
        return max(len(self._trace.steps_table), 1)

    @cached_property
    def _window(self) -> int:
        return max(intervals.measure(self._trace.window), 1)

    def _need_work(self) -> None:
        if not self._trace.work.size:
            raise UnknownError("no device work was recorded")

    def _of_window(self, ns: float) -> float:
        """Return time summed over the devices as a mean share of the window, in percent."""
        return 100.0 * ns / (self._window * max(len(self._trace.devices), 1))

    def _per_step(self, ns: float) -> float:
        """Return time summed over the devices per device and period, in µs."""
        return ns / 1000.0 / (self._periods * max(len(self._trace.devices), 1))

    def _idle(self, *causes: str, steady: bool = False) -> float:
        self._need_work()
        segments = self._trace.idle_segments
        chosen = np.isin(segments.cause, [CODE[cause] for cause in causes])
        if steady:
            chosen &= segments.step > 0
        return float((segments.end - segments.start)[chosen].sum())

    def _later_steps(self) -> int:
        steps = len(self._trace.steps_table) - 1
        if steps < 1:
            raise UnknownError("there is no step after the first")
        return steps

    # --- data loading -----------------------------------------------------------------------------------------------------------------

    def loading_idle_pct(self) -> float:
        """Idle time by data loading, share of the window."""
        return self._of_window(self._idle("data loading"))

    def loading_idle_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._idle("data loading"))

    def single_process_batches(self) -> float:
        """Batches that the data loader made in the training process itself."""
        columns = self._trace.columns
        annotation = columns.timed & (columns.kind == schema.CODE["annotation"])
        if not (annotation & matching(columns.names, "data_loader")[columns.name]).any():
            raise UnknownError("no data loader range was recorded")
        return float((annotation & matching(columns.names, "single_process_loader")[columns.name]).sum())

    # --- synchronization --------------------------------------------------------------------------------------------------------------

    @cached_property
    def _syncs(self) -> npt.NDArray[np.int64]:
        """Blocking calls between the first and the last launch, of steps where there are some: the others are of the profiler itself."""
        trace, columns = self._trace, self._trace.columns
        rows = np.flatnonzero(trace.host_time.blocking & columns.timed)
        launched = columns.start[trace.launches_rows]
        if launched.size:
            start = columns.start[rows]
            rows = rows[(start >= launched.min()) & (start < launched.max())]
        if len(trace.steps_table):
            rows = rows[trace.steps_table.holding(columns.start[rows]) >= 0]
        return rows

    def syncs_per_step(self) -> float:
        """Blocking calls per step, between the first and the last launch."""
        if not (self._trace.columns.kind == schema.CODE["api_call"]).any():
            raise UnknownError("no API calls were recorded")
        return self._syncs.size / self._periods

    @cached_property
    def _sync_idle(self) -> float:
        """Idle time of blocking calls; where a gap begins within one, the queue ran empty because of it, and the whole gap counts."""
        self._need_work()
        segments, table = self._trace.idle_segments, self._trace.gap_table
        chosen = (segments.cause == CODE["synchronization"]) & np.isin(segments.event, self._syncs)
        begins = chosen & (segments.start == table.start[segments.gap])
        gaps = np.unique(segments.gap[begins])
        whole = (table.end - table.start)[gaps].sum()
        return float(whole + (segments.end - segments.start)[chosen & ~np.isin(segments.gap, gaps)].sum())

    def sync_idle_pct(self) -> float:
        """Idle time that blocking calls made, share of the window."""
        return self._of_window(self._sync_idle)

    def sync_idle_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._sync_idle)

    def main_sync_reason(self) -> str:
        """Reason of the blocking calls that took most time."""
        frame = self._trace.view("syncs", by="reason")
        return str(frame["reason"].iloc[0]) if len(frame) else "none"

    # --- launching --------------------------------------------------------------------------------------------------------------------

    def short_kernels_pct(self) -> float:
        """Kernels shorter than their launch call, share of those of known launch."""
        self._need_work()
        trace = self._trace
        known = (trace.launch_of_work >= 0) & (trace.columns.kind[trace.work] == schema.CODE["kernel"])
        if not known.any():
            raise UnknownError("no kernel has a recorded launch")
        return 100.0 * float(launching.short_kernels(trace).sum()) / float(known.sum())

    @cached_property
    def _launch_bound(self) -> float:
        self._need_work()
        segments = self._trace.idle_segments
        return float((segments.end - segments.start)[launching.launch_bound(self._trace)].sum())

    def launch_bound_pct(self) -> float:
        """Launch-bound idle time, share of the window."""
        return self._of_window(self._launch_bound)

    def launch_bound_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._launch_bound)

    # --- kernels ----------------------------------------------------------------------------------------------------------------------

    @cached_property
    def _kernels(self) -> tuple[Flags, npt.NDArray[np.int64]]:
        """Return which of the work is a kernel, and the length of all work inside the window."""
        self._need_work()
        trace, columns = self._trace, self._trace.columns
        start, end = columns.start[trace.work], np.maximum(columns.end[trace.work], columns.start[trace.work])
        inside = intervals.covered_before(trace.window, end) - intervals.covered_before(trace.window, start)
        return columns.kind[trace.work] == schema.CODE["kernel"], inside

    @cached_property
    def _matrix(self) -> tuple[float, float]:
        """Return kernel time of ops that can use the matrix units: all of known answer, and that of kernels which do not use them."""
        trace, columns = self._trace, self._trace.columns
        kernel, length = self._kernels
        able = (
            kernel & tensor_cores.eligible(trace)[np.where(trace.op_of_work >= 0, columns.name[trace.op_of_work], -1)]
        )
        answer = tensor_cores.used(trace, trace.work)
        known = able & (answer != tensor_cores.UNKNOWN)
        if not length[known].sum():
            raise UnknownError("no kernel of a matrix or convolution op is known to use the matrix units or not")
        return float(length[known].sum()), float(length[known & (answer == tensor_cores.NO)].sum())

    def no_tensor_core_pct(self) -> float:
        """Kernel time known not to use the matrix units, share of what is known, of ops that could."""
        whole, without = self._matrix
        return 100.0 * without / whole

    def no_tensor_core_us_per_step(self) -> float:
        """The same kernel time per step."""
        return self._per_step(self._matrix[1])

    @cached_property
    def _conversions(self) -> float:
        """Kernel time of copies that ``aten::_to_copy`` asked for: conversions of data type, as both ends are on the device."""
        trace, columns = self._trace, self._trace.columns
        kernel, length = self._kernels
        if not (columns.kind == schema.CODE["op"]).any():
            raise UnknownError("no ops were recorded")
        owner = trace.op_of_work
        above = np.where(owner >= 0, trace.parent_row[np.maximum(owner, 0)], -1)
        named = matching(columns.names, "conversion_op")
        asked = named[np.where(above >= 0, columns.name[np.maximum(above, 0)], -1)]
        return float(length[kernel & asked].sum())

    def conversion_pct(self) -> float:
        """Kernel time of conversions of data type, share of all kernel time."""
        kernel, length = self._kernels
        return 100.0 * self._conversions / max(float(length[kernel].sum()), 1.0)

    def conversion_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._conversions)

    # --- copies, communication, memory ------------------------------------------------------------------------------------------------

    @cached_property
    def _pageable(self) -> tuple[float, float]:
        """Return bytes of copies from and to pageable memory, and their time that no kernel hides."""
        self._need_work()
        table = copying.build(self._trace)
        chosen = table.memory == copying.MEMORIES.index("pageable")
        exposed = self._trace.columns.duration[table.row] - copying.hidden(self._trace, table)
        return float(np.maximum(table.bytes, 0)[chosen].sum()), float(exposed[chosen].sum())

    def pageable_bytes(self) -> float:
        """Bytes copied from and to pageable memory."""
        return self._pageable[0]

    def pageable_pct(self) -> float:
        """Time of those copies that no kernel hides, share of the window."""
        return self._of_window(self._pageable[1])

    def pageable_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._pageable[1])

    @cached_property
    def _exposed_communication(self) -> float:
        self._need_work()
        window = self._trace.window
        exposed = (intervals.subtract(device.communication, device.compute) for device in self._trace.devices)
        return float(sum(intervals.measure(intervals.intersect(window, one)) for one in exposed))

    def exposed_communication_pct(self) -> float:
        """Communication without computing, share of the window."""
        return self._of_window(self._exposed_communication)

    def exposed_communication_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._exposed_communication)

    @cached_property
    def _allocations(self) -> tuple[float, float]:
        """Return count and time of the allocator's calls into the driver in the steps after the first."""
        trace, columns = self._trace, self._trace.columns
        calls = (columns.kind == schema.CODE["api_call"]) & columns.timed
        if not calls.any():
            raise UnknownError("no API calls were recorded")
        self._later_steps()
        rows = np.flatnonzero(calls & matching(columns.names, "allocation_call")[columns.name])
        rows = rows[trace.steps_table.holding(columns.start[rows]) > 0]
        return float(rows.size), float(columns.duration[rows].sum())

    def allocator_calls_per_step(self) -> float:
        """The allocator's calls into the driver, per step after the first."""
        return self._allocations[0] / self._later_steps()

    def allocator_us_per_step(self) -> float:
        """Host time of those calls, per step after the first."""
        return self._allocations[1] / 1000.0 / self._later_steps()

    # --- the recording ----------------------------------------------------------------------------------------------------------------

    def python_frames_per_op(self) -> float:
        """Python frames recorded for each op."""
        kind = self._trace.columns.kind
        ops = float((kind == schema.CODE["op"]).sum())
        if not ops:
            raise UnknownError("no ops were recorded")
        return float((kind == schema.CODE["python"]).sum()) / ops

    def host_idle_pct(self) -> float:
        """Idle time by host work, Python, launch calls and the untraced host, share of the window."""
        return self._of_window(self._idle(*_HOST_CAUSES))

    @cached_property
    def _host_code(self) -> npt.NDArray[np.bool_]:
        """Idle segments in which the host ran Python, or an annotated range, and no operator."""
        self._need_work()
        segments = self._trace.idle_segments
        work = (segments.cause == CODE["host work"]) & (segments.op < 0)
        return np.asarray(work | (segments.cause == CODE["host python"]))

    def _host_code_ns(self) -> float:
        segments = self._trace.idle_segments
        return float((segments.end - segments.start)[self._host_code].sum())

    def host_code_pct(self) -> float:
        """Idle time by Python and annotated code outside of operators, share of the window."""
        return self._of_window(self._host_code_ns() if self._host_code.size else 0.0)

    def host_code_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._host_code_ns())

    def main_host_source(self) -> str:
        """The source line, else the annotation, with most of that time."""
        trace, segments = self._trace, self._trace.idle_segments.take(self._host_code)
        row = np.where(segments.source >= 0, segments.source, segments.annotation)
        length = (segments.end - segments.start)[row >= 0]
        if not length.size:
            return "places that were not recorded"
        name, code = np.unique(trace.columns.name[row[row >= 0]], return_inverse=True)
        return trace.columns.names[int(name[np.bincount(code, weights=length).argmax()])]

    def first_step_ratio(self) -> float:
        """Length of the first complete step / median of the others."""
        steps = self._trace.steps_table
        length = (steps.end - steps.start)[~steps.incomplete]
        if length.size < 3:
            raise UnknownError("there are fewer than three complete steps")
        return float(length[0] / max(np.median(length[1:]), 1))

    def compilation_pct(self) -> float:
        """Idle time by compiling after the first step, share of the window."""
        self._later_steps()
        return self._of_window(self._idle("compilation", steady=True))

    def compilation_us_per_step(self) -> float:
        """The same per step after the first."""
        return self._idle("compilation", steady=True) / 1000.0 / self._later_steps() / max(len(self._trace.devices), 1)

    # --- the device's size ------------------------------------------------------------------------------------------------------------

    @cached_property
    def _fill(self) -> tuple[float, float]:
        """Return the mean SM efficiency of the window in percent, and the busy time of the devices."""
        self._need_work()
        trace = self._trace
        busy = [intervals.measure(intervals.intersect(trace.window, device.busy)) for device in trace.devices]
        filled = np.array([sm_efficiency_pct(trace, device) for device in trace.devices])
        if np.isnan(filled).all():
            raise UnknownError("the recorder did not tell blocks per SM")
        return float(np.nanmean(filled)), float(sum(busy))

    def sm_efficiency_pct(self) -> float:
        """SM efficiency of the window, mean over devices."""
        return self._fill[0]

    @cached_property
    def _unfilled(self) -> float:
        efficiency, busy = self._fill
        filled = efficiency / 100.0 * self._window * len(self._trace.devices)
        return max(busy - filled, 0.0)

    def unfilled_busy_pct(self) -> float:
        """Busy time × what no block could fill, share of the busy time."""
        return 100.0 * self._unfilled / max(self._fill[1], 1.0)

    def unfilled_busy_us_per_step(self) -> float:
        """The same per step."""
        return self._per_step(self._unfilled)


_FACTS: dict[str, Callable[[Facts], float | str]] = {
    name: function for name, function in vars(Facts).items() if not name.startswith("_") and callable(function)
}
_OF_TRACE: dict[str, Callable[[Trace], float | str]] = memory_facts.FACTS
