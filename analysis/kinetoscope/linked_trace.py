"""What follows from a trace's events: links between them, steps, devices, idle time, each computed when it is first asked for, and kept."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope import critical_path, devices, hosts, intervals, launching, links, periods, schema
from kinetoscope.idle import causes, gaps, host_time, waits
from kinetoscope.memory import Memory
from kinetoscope.naming import matching
from kinetoscope.operators import program

if TYPE_CHECKING:
    from kinetoscope.reading.arguments import Arguments
    from kinetoscope.reading.columns import Columns

Index = npt.NDArray[np.int64]


class LinkedTrace:
    """The derived arrays of a trace: positions in its columns, -1 for none. Views read them; none writes into them.

    Attributes
    ----------
    columns : Columns
    metadata : dict
    arguments : Arguments
    """

    columns: Columns
    metadata: dict[str, Any]
    arguments: Arguments

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def host(self) -> hosts.HostOrder:
        """Timed host events in nesting order."""
        return hosts.order_hosts(self.columns)

    @cached_property
    def parent_row(self) -> Index:
        """Row of the innermost host event on the same thread that contains each one, -1 for none."""
        parent = np.full(len(self), -1, np.int64)
        held = self.host.parent >= 0
        parent[self.host.rows[held]] = self.host.rows[self.host.parent[held]]
        return parent

    @cached_property
    def work(self) -> Index:
        """Rows of the timed device work, by device, start and file order."""
        columns = self.columns
        rows = np.flatnonzero(columns.timed & np.isin(columns.kind, schema.WORK))
        return rows[np.lexsort((columns.start[rows], columns.device[rows]))]

    @cached_property
    def launch_of_work(self) -> Index:
        """Row of the API call that owns each of :attr:`work`, -1 where the file holds none."""
        columns = self.columns
        calls = np.flatnonzero(self.host_side_call)
        wanted = columns.correlation[self.work]
        found = links.first_by_key(columns.correlation[calls], columns.start[calls], wanted, wanted > 0)
        return np.where(found >= 0, calls[np.maximum(found, 0)] if calls.size else -1, -1)

    @cached_property
    def host_side_call(self) -> npt.NDArray[np.bool_]:
        """Timed API calls, less the rows that an accelerator's own process recorded: those launch nothing."""
        columns = self.columns
        own = {str(device) for device in np.unique(columns.device[self.work]).tolist()}
        of_device = np.array([thread.pid in own for thread in columns.threads] or [False], bool)
        mtia = np.array([text.lower() == "mtia_runtime" for text in columns.categories] or [False], bool)
        if len(columns) == 0:
            return np.zeros(0, bool)
        own_row = of_device[columns.thread] & mtia[columns.category]
        return np.asarray(columns.timed & (columns.kind == schema.CODE["api_call"]) & ~own_row)

    @cached_property
    def op_of_call(self) -> Index:
        """Row of the innermost op around each API call, by row of the call; -1 elsewhere."""
        return hosts.owners(self.columns, self.host)

    @cached_property
    def op_of_work(self) -> Index:
        """Row of the op that owns each of :attr:`work`, -1 for unattributed work."""
        columns, launch = self.columns, self.launch_of_work
        owner = np.where(launch >= 0, self.op_of_call[np.maximum(launch, 0)] if len(columns) else -1, -1)
        # without a call, the External id may name the op; where it repeats the correlation it names a stranger
        named = columns.external_id[self.work]
        usable = (launch < 0) & (named > 0) & (named != columns.correlation[self.work])
        ops = np.flatnonzero((columns.kind == schema.CODE["op"]) & columns.timed)
        found = links.first_by_key(columns.external_id[ops], columns.start[ops], named, usable)
        return np.where(found >= 0, ops[np.maximum(found, 0)] if ops.size else -1, owner)

    @cached_property
    def communication(self) -> npt.NDArray[np.bool_]:
        """Which of :attr:`work` is a collective's or point-to-point kernel."""
        return devices.communication(self.columns, self.work, self.op_of_work)

    @cached_property
    def forward_row(self) -> Index:
        """Row of the forward op of each backward op, -1 elsewhere."""
        return hosts.forward_ops(self.columns)

    @cached_property
    def _steps(self) -> tuple[periods.Steps, Index]:
        return periods.build(self.columns, self.work, self.launch_of_work)

    @property
    def steps_table(self) -> periods.Steps:
        """Steps with host ranges and periods."""
        return self._steps[0]

    @property
    def step_of_work(self) -> Index:
        """Position of the step that launched each of :attr:`work`, -1 for none."""
        return self._steps[1]

    @cached_property
    def window(self) -> intervals.IntervalSet:
        """The time that utilization is measured in."""
        return periods.window(self.columns, self.steps_table)

    @cached_property
    def devices(self) -> list[devices.Device]:
        """What each device did, as interval sets over the whole recording."""
        return devices.build(self.columns, self.work, self.communication)

    @cached_property
    def gap_table(self) -> gaps.GapTable:
        """Idle gaps of all devices inside the window."""
        return gaps.build(self)

    @cached_property
    def launch_table(self) -> launching.Launches:
        """The launches, measured."""
        return launching.build(self)

    @cached_property
    def host_time(self) -> host_time.HostTime:
        """What the host was doing, by thread and instant."""
        return host_time.HostTime(self)

    @cached_property
    def stream_waits(self) -> waits.StreamWaits:
        """Recorded waits of streams for each other."""
        return waits.stream_waits(self)

    @cached_property
    def idle_segments(self) -> causes.Segments:
        """Idle time cut by cause."""
        # what was sorted to find them is let go, unless somebody else has asked for it already
        return causes.build(self, self.__dict__.get("host_time") or host_time.HostTime(self))

    @cached_property
    def critical_path(self) -> critical_path.Stretches:
        """The critical path of each period."""
        return critical_path.build(self)

    @cached_property
    def program(self) -> program.Program:
        """Ops, modules, call stacks and floating-point operations."""
        return program.Program(self)

    @cached_property
    def memory(self) -> Memory:
        """Memory of each device over time, and the blocks in it."""
        return Memory(self)

    @cached_property
    def launches_rows(self) -> Index:
        """Rows of the launches: API calls that own device work, or whose name says that they launch."""
        columns = self.columns
        owns = np.zeros(len(self), bool)
        owns[self.launch_of_work[self.launch_of_work >= 0]] = True
        launch, copy = (matching(columns.names, key)[columns.name] for key in ("launch_call", "copy_call"))
        # a copy of nothing launches nothing, and only some recorders say how much a call copies
        named = launch | (copy & (columns.details["bytes"] > 0))
        calls = columns.timed & (columns.kind == schema.CODE["api_call"])
        return np.flatnonzero(calls & (owns | named))
