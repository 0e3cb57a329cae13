"""What idle time can be summed by, and which of it is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.frames import step_numbers
from kinetoscope.idle.causes import CAUSES
from kinetoscope.operators.keys import thread_titles
from kinetoscope.schema import Column
from kinetoscope.views.common import of_value

if TYPE_CHECKING:
    from kinetoscope.idle.causes import Segments
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_NAMED = ("name", "op", "module", "source", "annotation")
KEYS = ("cause", *_NAMED[1:], "step", "thread")

KEY_COLUMNS = (
    Column("cause", "", "text", "What kept the device waiting."),
    Column(
        "op",
        "",
        "text",
        "Innermost op on the host then; of launch latency and device-side causes, the op that launched.",
    ),
    Column("module", "", "text", "Innermost nn.Module then; under a backward op, the module of its forward op."),
    Column("source", "", "text", "Innermost Python frame outside the libraries, else the outermost frame."),
    Column("annotation", "", "text", "Innermost annotation then, step markers excepted."),
    Column("step", "", "integer", "Step whose period holds it; missing outside all steps."),
    Column("thread", "", "text", "Host thread that was looked at: the launching one, or the main thread."),
)


def chosen_segments(
    trace: Trace, step: float | None = None, start_us: float | None = None, end_us: float | None = None
) -> Segments:
    """Return the idle segments of a step or of a time range, cut to it."""
    segments = trace.idle_segments
    if step is None and start_us is None and end_us is None:
        return segments
    if step is not None:
        number = decoded(trace, segments.step, "step")
        segments = segments.take(of_value(pd.Series(number), step))
    low = segments.start if start_us is None else np.maximum(segments.start, round(start_us * 1000))
    high = segments.end if end_us is None else np.minimum(segments.end, round(end_us * 1000))
    left = high > low
    return replace(segments.take(left), start=low[left], end=high[left])


def codes_of(trace: Trace, segments: Segments, key: str) -> Index:
    """Return a number per segment for what it is grouped by, -1 for none; :func:`decoded` turns numbers into values."""
    return _name_codes(trace, np.asarray(getattr(segments, key), np.int64), key)


def key_values(trace: Trace, calls: Index, keys: tuple[str, ...]) -> dict[str, Any]:
    """Return who was at work when API calls began: values of some of :data:`KEYS`, by key.

    Parameters
    ----------
    trace : Trace
    calls : ndarray of int64
        Rows of the calls.
    keys : tuple of str
        Of ``name``, that of the call, ``op``, that owns the call, ``module``, ``source``, ``annotation``, ``thread``.

    Returns
    -------
    dict
    """
    thread = trace.columns.thread[calls].astype(np.int64)
    op = trace.op_of_call[calls] if len(trace) else calls
    who = {"name": calls, "op": op, "thread": thread}
    if set(keys) - set(who):
        blame = trace.host_time.blame(thread, trace.columns.start[calls])
        who |= {"module": blame.module, "source": blame.source, "annotation": blame.annotation}
    return {key: decoded(trace, _name_codes(trace, who[key], key), key) for key in keys}


def _name_codes(trace: Trace, values: Index, key: str) -> Index:
    if key not in _NAMED or not len(trace):
        return values
    return np.where(values >= 0, trace.columns.name[np.maximum(values, 0)], -1).astype(np.int64)


def decoded(trace: Trace, codes: Index, key: str) -> Any:
    """Return the values that the numbers of a key stand for."""
    if key == "step":
        return step_numbers(trace, codes)
    names = {"cause": CAUSES, "thread": thread_titles(trace)}.get(key, trace.columns.names)
    used, compact = np.unique(codes[codes >= 0], return_inverse=True)
    short = np.full(codes.size, -1, np.int32)
    short[codes >= 0] = compact
    choices = pd.Index([names[i] for i in used.tolist()], dtype="str")
    # two threads may have one title
    return pd.Categorical.from_codes(short, categories=choices) if choices.is_unique else choices.take(short)
