"""The trace: one file's events as frames, with every link between them.

A :class:`Trace` is immutable. Everything beyond the columns is computed on first use and kept. Views read the arrays (``columns``, ``work``,
``launch_row`` …, positions in the columns); people read the frames (``kernels``, ``ops`` …, indexed by event id).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope import devices, hosts, intervals, links, periods, schema
from kinetoscope.errors import ChoiceError, UnreadableError
from kinetoscope.idle import causes, gaps, host_time, waits
from kinetoscope.naming import matching
from kinetoscope.reading.files import read_text
from kinetoscope.reading.recorded import RecordedEvents
from kinetoscope.reading.storage import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from kinetoscope.health import Finding
    from kinetoscope.reading.columns import Account, Columns
    from kinetoscope.reading.losses import Loss
    from kinetoscope.source import Source

Index = npt.NDArray[np.int64]

_KEPT_TEXT = 256 << 20


class Trace:
    """Events of one trace file, with frames and links.

    Build one with :func:`kinetoscope.load`.

    Attributes
    ----------
    source : Source
    columns : Columns
        The events as arrays.
    metadata : dict
        What the file says beside its events.
    fingerprint : Fingerprint or None
        The file as it was when it was read.
    losses : tuple of Loss
        What was mended or lost while it was read.
    """

    def __init__(
        self,
        columns: Columns,
        metadata: dict[str, Any],
        source: Source,
        fingerprint: Fingerprint | None = None,
        losses: Sequence[Loss] = (),
    ) -> None:
        self.source = source
        self.columns = columns
        self.metadata = metadata
        self.fingerprint = fingerprint
        self.losses: tuple[Loss, ...] = tuple(losses)
        for values in vars(columns).values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    def __repr__(self) -> str:
        return f"<Trace {self.source.path!r}: {len(self.columns):,} events, {len(self.steps_table)} steps, {len(self.devices)} devices>"

    def __len__(self) -> int:
        return len(self.columns)

    # --- identity -------------------------------------------------------------------------------------------------------------------

    @property
    def origin_ns(self) -> int:
        """Absolute time that all starts count from: the first timed event, ns since 1970 where the file tells."""
        return self.columns.origin_ns

    @property
    def synthetic(self) -> str | None:
        """What made the trace, when it was made and not recorded."""
        label = self.metadata.get("kinetoscope_synthetic")
        return None if label is None else str(label)

    @property
    def accounts(self) -> list[Account]:
        """What became of every event of the file: kept as what, or left out for which reason."""
        return self.columns.accounts

    def changed(self) -> bool:
        """Tell whether the file is no longer the one that was read: grown, replaced or gone."""
        if self.fingerprint is None:
            return False
        try:
            return Fingerprint.of(self.source.path) != self.fingerprint
        except UnreadableError:
            return True

    def recorded(self, event: int) -> dict[str, Any]:
        """Return one event as the file has it, with all its arguments.

        Parameters
        ----------
        event : int
            Its id.

        Returns
        -------
        dict

        Raises
        ------
        UnreadableError
            When the file is no longer the one that was read.
        """
        if self.changed():
            raise UnreadableError(
                "the file has changed since it was read", where=self.source.path, hint="load it again"
            )
        recorded: RecordedEvents = self.__dict__.get("_recorded") or RecordedEvents(
            read_text(self.source.path), self.source.document
        )
        if recorded.size <= _KEPT_TEXT:
            # a look at one event is followed by a look at another; the text of a large file is read again instead
            self.__dict__["_recorded"] = recorded
        return recorded.get(event)

    # --- arrays and links, positions in the columns -----------------------------------------------------------------------------------

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
        return causes.build(self, self.host_time)

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

    # --- frames -----------------------------------------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> pd.DataFrame:
        """All kept events. Columns: ``schema.FRAMES["events"]``."""
        return self._frame("events")

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """Kernels. Columns: ``schema.FRAMES["kernels"]``."""
        return self._frame("kernels")

    @cached_property
    def memory_copies(self) -> pd.DataFrame:
        """Copies and memory sets of devices. Columns: ``schema.FRAMES["memory_copies"]``."""
        return self._frame("memory_copies")

    @cached_property
    def api_calls(self) -> pd.DataFrame:
        """Host calls into the device's API. Columns: ``schema.FRAMES["api_calls"]``."""
        return self._frame("api_calls")

    @cached_property
    def launches(self) -> pd.DataFrame:
        """API calls that launch device work. Columns: ``schema.FRAMES["launches"]``."""
        return self._frame("launches")

    @cached_property
    def ops(self) -> pd.DataFrame:
        """Operators. Columns: ``schema.FRAMES["ops"]``."""
        return self._frame("ops")

    @cached_property
    def annotations(self) -> pd.DataFrame:
        """Annotations, step markers and data loader ranges included. Columns: ``schema.FRAMES["annotations"]``."""
        return self._frame("annotations")

    @cached_property
    def python_calls(self) -> pd.DataFrame:
        """Python frames. Columns: ``schema.FRAMES["python_calls"]``."""
        return self._frame("python_calls")

    @cached_property
    def steps(self) -> pd.DataFrame:
        """Steps. Columns: ``schema.FRAMES["steps"]``."""
        return self._frame("steps")

    def _frame(self, name: str) -> pd.DataFrame:
        from kinetoscope import frames

        return frames.build(self, name)

    # --- questions --------------------------------------------------------------------------------------------------------------------

    @cached_property
    def findings(self) -> list[Finding]:
        """What the checks of health have found, worst first."""
        from kinetoscope import health

        return health.findings(self)

    @cached_property
    def file_notes(self) -> list[str]:
        """What a reader of any figure must know: that part of the file is lost, or that it holds another trace."""
        from kinetoscope.health import content

        found = (content.file(self), content.documents(self))
        return [finding.detail for finding in found if finding.severity != "ok"]

    def health(self) -> pd.DataFrame:
        """Tell what was and was not recorded: the view ``health``."""
        return self.view("health")

    def fixed(self, *names: str) -> Trace:
        """Return the trace with fixes applied; this one stays as it was recorded.

        Parameters
        ----------
        *names : {"durations", "clock"}
            ``durations``: works of impossible length end where the next work of their stream begins. ``clock``: the device's times move so that
            no work begins before its launch.

        Returns
        -------
        Trace

        Raises
        ------
        ChoiceError
            When there is no such fix.
        """
        from kinetoscope.health.fixes import FIXES

        for name in names:
            if name not in FIXES:
                raise ChoiceError.of("fix", name, FIXES)
        trace = self
        for name in (fix for fix in FIXES if fix in names):
            trace = Trace(FIXES[name](trace), self.metadata, self.source, self.fingerprint, self.losses)
        return trace

    def view(self, name: str, /, **parameters: Any) -> pd.DataFrame:
        """Answer a question with a frame.

        Parameters
        ----------
        name : str
            A view: ``"overview"``, ``"steps"``, ``"devices"``, ``"gaps"``, ``"kernels"`` …; see :mod:`kinetoscope.views`.
        **parameters
            The view's own parameters, such as ``by="op"``.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ChoiceError
            When there is no such view or token.
        """
        from kinetoscope.views import registry

        return registry.get(name).run(self, **parameters)
