"""The stretches of idle time one by one: what each was spent on, and in which host event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kinetoscope.frames import ids
from kinetoscope.schema import Column
from kinetoscope.views.common import RANGE, STEP, names_of, no_device_note, of_value, step_note, us
from kinetoscope.views.idle_keys import KEY_COLUMNS, KEYS, chosen_segments, codes_of, decoded
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("gap", "", "integer", "Number of the gap in the trace, by device and time."),
    Column("device", "", "integer", "Device that was idle."),
    Column("start_us", "µs", "number", "Start of the stretch, from the trace's origin."),
    Column("duration_us", "µs", "number", "Its length."),
    *KEY_COLUMNS,
    Column(
        "event_name",
        "",
        "text",
        "Host event it was spent in: the blocking call, the loader's range, the op and so on; of launch latency and device-side causes, the launch.",
    ),
    Column("event_id", "", "integer", "Event id of that."),
    Column("op_id", "", "integer", "Event id of the op."),
)

_FILTERS = (
    Parameter("gap", "number", "Only of this gap."),
    Parameter("device", "number", "Only of this device."),
    *(Parameter(key, "text", f"Only with this {key}; empty for none.") for key in KEYS if key != "step"),
)


def idle_segments(
    trace: Trace,
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
    **filters: Any,
) -> pd.DataFrame:
    """List the segments that tile the idle gaps.

    Parameters
    ----------
    trace : Trace
    step, start_us, end_us : float, optional
        Only idle time of this step's period, or inside ``[start_us, end_us)``.
    **filters
        ``gap, device, cause, op, module, source, annotation, thread``: only segments that fit all that are given. An empty text asks for those
        without a value.

    Returns
    -------
    pandas.DataFrame
        By gap and time.
    """
    segments = chosen_segments(trace, step, start_us, end_us)
    frame = pd.DataFrame(
        {
            "gap": segments.gap,
            "device": trace.gap_table.device[segments.gap],
            "start_us": us(segments.start),
            "duration_us": us(segments.end - segments.start),
            **{key: decoded(trace, codes_of(trace, segments, key), key) for key in KEYS},
            "event_name": names_of(trace, segments.event),
            "event_id": ids(trace, segments.event),
            "op_id": ids(trace, segments.op),
        }
    )
    chosen = np.ones(len(frame), bool)
    for name, wanted in filters.items():
        chosen &= of_value(frame[name], wanted)
    frame = frame[chosen].reset_index(drop=True)
    frame.attrs["notes"] = (
        no_device_note(trace) or step_note(trace, step) or ([] if len(frame) else ["No such idle time."])
    )
    return frame


VIEW = View("idle_segments", "Idle time, stretch by stretch", idle_segments, _COLUMNS, (STEP, *RANGE, *_FILTERS))
