"""What several views share: units, the time range, notes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import intervals
from kinetoscope.frames import step_numbers, texts
from kinetoscope.schema import CODE
from kinetoscope.views.registry import NOTHING, Parameter

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

STEP = Parameter("step", "number", "Only what belongs to this step.")

RANGE = (
    Parameter("start_us", "time", "Only events that start here or later, µs from the trace's origin."),
    Parameter("end_us", "time", "Only events that start before this, µs from the trace's origin."),
)

WITHIN = Parameter(
    "within",
    "token",
    "What belongs to the step or range: what starts in it (work: of a step, what it launched), what was launched in it, or what runs in it, cut to it.",
    ("start", "launch", "run"),
    "start",
)

SELECTION = (STEP, *RANGE, WITHIN)
"""Parameters of tables that can be asked about a step or a range of time: what :class:`Selection` takes."""


def us(ns: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return ns as µs; three decimals are exact ns."""
    return np.asarray(ns, np.float64) / 1000.0


def pct(part: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return shares in percent; NaN where the whole is nothing."""
    whole = np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, 100.0 * np.asarray(part, np.float64) / whole, np.nan)


def in_range(start_ns: npt.NDArray[np.int64], start_us: float | None, end_us: float | None) -> npt.NDArray[np.bool_]:
    """Tell which events start in a time range."""
    chosen = np.ones(start_ns.size, bool)
    if start_us is not None:
        chosen &= start_ns >= round(start_us * 1000)
    if end_us is not None:
        chosen &= start_ns < round(end_us * 1000)
    return chosen


@dataclass(frozen=True)
class Selection:
    """A step or a range of time that a table is asked about, and which events belong to it.

    Parameters
    ----------
    trace : Trace
    step, start_us, end_us : float, optional
    within : {"start", "launch", "run"}
        ``start``: events that start in it; device work of a step is what the step launched. ``launch``: device work whose launch call starts in it.
        ``run``: what runs in it, cut to it; a step is its period then.
    """

    trace: Trace
    step: Any = None
    start_us: float | None = None
    end_us: float | None = None
    within: str | None = "start"

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self.step is None and self.start_us is None and self.end_us is None

    @cached_property
    def cut(self) -> intervals.IntervalSet | None:
        """Time that events are cut to; None for all of it."""
        if self.within != "run" or self.everything:
            return None
        table, low, high = self.trace.steps_table, -(2**62), 2**62
        numbers = pd.Series(step_numbers(self.trace, np.arange(len(table))))
        if self.step is None:
            time = (np.array([low]), np.array([high]))
        elif self.step is NOTHING:
            time = intervals.complement(intervals.union(table.start, table.end), low, high)
        else:
            own = of_value(numbers, self.step)
            time = intervals.union(table.start[own], table.end[own])
        low = low if self.start_us is None else round(self.start_us * 1000)
        return intervals.clip(time, low, high if self.end_us is None else round(self.end_us * 1000))

    def lengths(self, start: Index, end: Index) -> Index:
        """Return how much of events or pieces of time counts, ns, where they belong to the selection."""
        if self.cut is None:
            return end - start
        return intervals.covered_before(self.cut, end) - intervals.covered_before(self.cut, start)

    def _touched(self, start: Index, end: Index) -> Flags:
        """Tell which events run in the selection; those of no length, when they begin in it."""
        assert self.cut is not None
        begins = intervals.covered_before(self.cut, start + 1) > intervals.covered_before(self.cut, start)
        return (self.lengths(start, end) > 0) | ((end <= start) & begins)

    def host(self, rows: Index) -> Flags:
        """Tell which host events belong to the selection."""
        columns = self.trace.columns
        start = columns.start[rows]
        if self.cut is not None:
            return self._touched(start, columns.end[rows])
        chosen = in_range(start, self.start_us, self.end_us)
        if self.step is not None:
            holding = step_numbers(self.trace, self.trace.steps_table.holding(start))
            chosen &= of_value(pd.Series(holding), self.step)
        return chosen

    def work(self) -> tuple[Flags, Index]:
        """Tell which of ``trace.work`` belongs to the selection, and how much of each counts, ns."""
        columns, rows, launch = self.trace.columns, self.trace.work, self.trace.launch_of_work
        start, end = columns.start[rows], columns.end[rows]
        if self.cut is not None:
            return self._touched(start, end), self.lengths(start, end)
        chosen = np.ones(rows.size, bool)
        if self.step is not None:
            chosen &= of_value(pd.Series(step_numbers(self.trace, self.trace.step_of_work)), self.step)
        if self.start_us is not None or self.end_us is not None:
            of_launch = columns.start[np.maximum(launch, 0)] if rows.size else start
            time = of_launch if self.within == "launch" else start
            chosen &= in_range(time, self.start_us, self.end_us)
            chosen &= (launch >= 0) | (self.within != "launch")
        return chosen, end - start


def longest_of(group: Index, length: Index, size: int) -> Index:
    """Return where the longest of each group is, the first of equal ones; -1 for a group of nothing.

    Parameters
    ----------
    group, length : ndarray of int64
        Lengths are 0 or more.
    size : int
        How many groups there are.
    """
    most, found = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    np.maximum.at(most, group, length)
    fits = np.flatnonzero(length == most[group])[::-1]
    found[group[fits]] = fits
    return found


def of_value(values: pd.Series[Any], wanted: Any) -> npt.NDArray[np.bool_]:
    """Tell which values are the wanted one; of :data:`NOTHING`, which are missing; of None, all.

    Parameters
    ----------
    values : pandas.Series
    wanted : object

    Returns
    -------
    ndarray of bool
    """
    if wanted is None:
        return np.ones(len(values), bool)
    if wanted is NOTHING:
        return values.isna().to_numpy(bool)
    return np.asarray((values == wanted).fillna(False).to_numpy(bool))


def names_of(trace: Trace, rows: npt.NDArray[np.int64]) -> pd.Categorical:
    """Return the names of events by their rows, missing for -1; the categories are the names that occur."""
    columns = trace.columns
    code = np.where(rows >= 0, columns.name[np.maximum(rows, 0)] if len(columns) else -1, -1)
    used, compact = np.unique(code[code >= 0], return_inverse=True)
    short = np.full(code.size, -1, np.int32)
    short[code >= 0] = compact
    return texts(short, [columns.names[i] for i in used.tolist()])


def texts_of(code: Index, texts: list[str]) -> pd.Categorical:
    """Return the texts that numbers stand for, missing for -1; equal texts are one."""
    used, compact = np.unique(code[code >= 0], return_inverse=True)
    number = {text: i for i, text in enumerate(dict.fromkeys(texts[i] for i in used.tolist()))}
    place = np.array([number[texts[i]] for i in used.tolist()] or [0], np.int32)
    short = np.full(code.size, -1, np.int32)
    short[code >= 0] = place[compact.ravel()]
    return pd.Categorical.from_codes(short, categories=pd.Index(list(number), dtype="str"))


def no_device_note(trace: Trace) -> list[str]:
    """Explain an empty device view: whether there was no GPU work, or it was not recorded."""
    if trace.work.size:
        return []
    if not len(trace):
        return ["The file holds no events."]
    if trace.losses:
        return ["No device work is in what could be read of the file."]
    if trace.launches_rows.size:
        return [f"No device work was recorded, though the host made {trace.launches_rows.size:,} launch calls."]
    if (trace.columns.kind == CODE["api_call"]).any():
        return ["No device work: the host called the device's API but launched nothing."]
    return ["No device work: only the host was recorded (activities had no GPU, or there was none)."]


def launched_elsewhere(selection: Selection) -> list[str]:
    """Say why most device work of a range of time belongs to nobody, and how to ask for what was launched in it instead."""
    ranged = selection.start_us is not None or selection.end_us is not None
    if not ranged or selection.within == "launch":
        return []
    chosen, length = selection.work()
    trace = selection.trace
    unknown = chosen & (trace.launch_of_work < 0) & (trace.op_of_work < 0)
    if 2 * int(length[unknown].sum()) <= int(length[chosen].sum()):
        return []
    return [
        "Most device work of this time has no known launch: it was launched before the recording began, or its launch is not in the file. within=launch counts what was launched in this time."
    ]


def step_note(trace: Trace, step: Any) -> list[str]:
    """Say which steps there are, where one is asked for that is not."""
    numbers = trace.steps_table.number.tolist()
    if step is None or step is NOTHING or step in numbers:
        return []
    return [f"There is no step {step:g}; the steps are {', '.join(map(str, numbers[:20])) or 'none'}."]
