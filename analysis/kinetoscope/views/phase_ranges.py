"""When the host was in which phase of training: what the memory curve is shaded with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kinetoscope.frames import step_numbers
from kinetoscope.phases import PHASES, stretches
from kinetoscope.schema import Column
from kinetoscope.views.common import texts_of, us
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("phase", "", "text", "forward, backward, optimizer or data."),
    Column("start_us", "µs", "number", "Start, from the trace's origin."),
    Column("end_us", "µs", "number", "End."),
    Column("step", "", "integer", "Step whose period holds the start; missing outside all steps."),
)

_LONGEST = Parameter("longest", "amount", "At most this many stretches, the longest.", default=2000)

_RANGE = (
    Parameter("start_us", "time", "Only stretches that end after this, µs from the trace's origin."),
    Parameter("end_us", "time", "Only stretches that start before this, µs from the trace's origin."),
)


def phase_ranges(
    trace: Trace, longest: float = 2000, start_us: float | None = None, end_us: float | None = None
) -> pd.DataFrame:
    """Cut the host's time by phase, all threads together.

    Parameters
    ----------
    trace : Trace
    longest : int
        At most this many stretches, the longest ones.
    start_us, end_us : float, optional
        Only stretches that touch ``[start_us, end_us)``, whole.

    Returns
    -------
    pandas.DataFrame
        Stretches in time order, none overlap; time in no phase is left out. Definition: ``docs/definitions.md``, "Phases".
    """
    found = stretches(trace)
    low = -np.inf if start_us is None else start_us * 1000
    high = np.inf if end_us is None else end_us * 1000
    inside = np.flatnonzero((found.end > low) & (found.start < high))
    kept = np.sort(inside[np.argsort((found.start - found.end)[inside], kind="stable")[: int(longest)]])
    phase, start, end, step = (part[kept] for part in found)
    frame = pd.DataFrame(
        {
            "phase": texts_of(phase, list(PHASES)),
            "start_us": us(start),
            "end_us": us(end),
            "step": step_numbers(trace, step),
        }
    )
    left = inside.size - kept.size
    frame.attrs["notes"] = [f"{left:,} shorter stretches are left out."] if left else []
    if not found.phase.size:
        frame.attrs["notes"] = ["No forward, backward, optimizer or data loading work was recorded on the host."]
    return frame


VIEW = View("phase_ranges", "Phases of training over time", phase_ranges, _COLUMNS, (_LONGEST, *_RANGE))
