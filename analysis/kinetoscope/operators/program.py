"""Everything about ops, modules and stacks of one trace, each computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kinetoscope.operators import flops, modules, ops, stacks

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace


class Program:
    """The host program of a trace.

    Parameters
    ----------
    trace : LinkedTrace
    """

    def __init__(self, trace: LinkedTrace) -> None:
        self._trace = trace

    @cached_property
    def ops(self) -> ops.Ops:
        """Ops and annotations, measured."""
        return ops.Ops(self._trace)

    @cached_property
    def modules(self) -> modules.Modules:
        """Modules, compiled regions and graph launches as a tree."""
        return modules.Modules(self._trace)

    @cached_property
    def flops(self) -> flops.Counted:
        """Floating-point operations of the ops that they are known of."""
        return flops.counted(self._trace)

    @cached_property
    def stacks(self) -> stacks.Stacks:
        """Call stacks, merged."""
        return stacks.Stacks(self._trace)
