"""The trace: one file's events as frames, with every link between them.

A :class:`Trace` is immutable. Everything beyond the columns is computed on first use and kept. Views read the arrays (``columns``, and those of
:class:`~kinetoscope.linked_trace.LinkedTrace`); people read the frames (``kernels``, ``ops`` …, indexed by event id).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetoscope.errors import ChoiceError, UnreadableError
from kinetoscope.linked_trace import LinkedTrace
from kinetoscope.reading.arguments import Arguments
from kinetoscope.reading.files import read_text
from kinetoscope.reading.recorded import RecordedEvents, event_of
from kinetoscope.reading.storage import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from kinetoscope.health import Finding
    from kinetoscope.reading.columns import Account, Columns
    from kinetoscope.reading.losses import Loss
    from kinetoscope.source import Source

_SMALL_FILE = 16 << 20  # bytes; the text of such a file is kept when one event was looked at, for a look at another


class Trace(LinkedTrace):
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
    arguments : Arguments
        Arguments of the events beyond those in the columns, read from the file when they are asked for.
    """

    def __init__(
        self,
        columns: Columns,
        metadata: dict[str, Any],
        source: Source,
        fingerprint: Fingerprint | None = None,
        losses: Sequence[Loss] = (),
        arguments: Arguments | None = None,
    ) -> None:
        self.source = source
        self.columns = columns
        self.metadata = metadata
        self.fingerprint = fingerprint
        self.losses: tuple[Loss, ...] = tuple(losses)
        self.arguments = arguments or Arguments(source, columns, fingerprint=fingerprint)
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
        if self.fingerprint and self.fingerprint.bytes > _SMALL_FILE:
            return event_of(self.source, event)
        recorded: RecordedEvents = self.__dict__.get("_recorded") or RecordedEvents(
            read_text(self.source.path), self.source.document
        )
        self.__dict__["_recorded"] = recorded
        return recorded.get(event)

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
            trace = Trace(FIXES[name](trace), self.metadata, self.source, self.fingerprint, self.losses, self.arguments)
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
