"""The one list of views: what the API, the command line and the plugin can ask.

A view is a function from a trace to a frame, and an entry here: name, title, columns with unit and description, parameters. A new question is
one new module with its :class:`View`, named in :data:`_MODULES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinetoscope.errors import ChoiceError
from kinetoscope.schema import Column

if TYPE_CHECKING:
    import pandas as pd

    from kinetoscope.trace import Trace

_MODULES = (
    *("health", "overview", "advice", "steps", "devices"),
    *("gaps", "idle", "idle_segments", "launches", "syncs", "api_calls", "input_pipeline", "copies", "critical_path"),
    *("kernels", "kernel_calls"),
    *("operators", "op_rows", "modules", "stacks", "threads", "counters"),
    *("memory", "memory_timeline", "memory_peak", "allocations", "memory_growth", "phase_ranges"),
)


_BOUND = 9e15
"""Numbers beyond it are no µs that fit 64 bits of ns, and no id of an event."""

NOTHING = object()
"""An empty value: only rows where there is none."""


@dataclass(frozen=True)
class Parameter:
    """Something that a view can be asked with.

    Parameters
    ----------
    name : str
    type : {"token", "text", "number", "time", "amount"}
        ``token`` is one of ``choices``; ``text`` and ``number`` choose rows by value; ``amount`` is 0 or more.
    description : str
    choices : tuple of str
    default : object
        Used when nothing is given; ``None`` for "no limit". An empty text is :data:`NOTHING`.
    """

    name: str
    type: str
    description: str
    choices: tuple[str, ...] = ()
    default: Any = None

    def parse(self, value: Any) -> Any:
        """Turn what a person or an address gives into the parameter's value.

        Raises
        ------
        ChoiceError
            When it is not one of the choices, or no number.
        """
        if value is None or (value == "" and self.type == "amount"):
            return self.default
        if value == "" and self.type in ("text", "number"):
            return NOTHING
        if self.type == "token":
            if value not in self.choices:
                raise ChoiceError.of(f"value for {self.name}", value, self.choices)
            return value
        if self.type in ("number", "time", "amount"):
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = math.nan
            if not abs(number) < _BOUND:
                raise ChoiceError(f"{self.name} must be a number, not {str(value)!r}")
            if self.type == "amount" and number < 0:
                raise ChoiceError(f"{self.name} must be 0 or more, not {str(value)!r}")
            return number
        return str(value)


@dataclass(frozen=True)
class View:
    """A question and how it is answered.

    Parameters
    ----------
    name : str
        What it is called everywhere.
    title : str
        What people see.
    compute : callable
        ``compute(trace, **parameters)`` returns the frame. Notes for the reader go into ``frame.attrs["notes"]``, a list of sentences.
    columns : tuple of Column
        Every column the frame can have.
    parameters : tuple of Parameter
    """

    name: str
    title: str
    compute: Callable[..., pd.DataFrame]
    columns: tuple[Column, ...]
    parameters: tuple[Parameter, ...] = field(default=())

    def run(self, trace: Trace, /, **given: Any) -> pd.DataFrame:
        """Compute the view.

        Parameters
        ----------
        trace : Trace
        **given
            Parameters; those left out take their defaults.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ChoiceError
            When a parameter is unknown or its value is wrong.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                raise ChoiceError.of(f"parameter of view {self.name!r}", name, known)
        asked = {name: parameter.parse(given.get(name)) for name, parameter in known.items()}
        start, end = asked.get("start_us"), asked.get("end_us")
        if start is not None and end is not None and start > end:
            raise ChoiceError(f"start_us must not be after end_us: {start:g} is after {end:g}")
        frame = self.compute(trace, **asked)
        frame.attrs["notes"] = [*trace.file_notes, *frame.attrs.get("notes", [])]
        return frame

    def describe(self, frame: pd.DataFrame) -> list[Column]:
        """Return the meaning of a frame's columns, in their order."""
        known = {column.name: column for column in self.columns}
        return [known[str(name)] for name in frame.columns]


@cache
def views() -> dict[str, View]:
    """Return all views by name, in the order to show them."""
    modules = (import_module(f"kinetoscope.views.{name}") for name in _MODULES)
    listed = [view for module in modules for view in vars(module).values() if isinstance(view, View)]
    return {view.name: view for view in listed}


def get(name: str) -> View:
    """Return a view.

    Raises
    ------
    ChoiceError
        When there is none of that name.
    """
    known = views()
    if name not in known:
        raise ChoiceError.of("view", name, known)
    return known[name]
