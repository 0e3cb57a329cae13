"""Host threads, by the titles that other views tell them by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kinetoscope.operators.keys import thread_titles
from kinetoscope.schema import Column
from kinetoscope.views.common import texts_of, us
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("thread", "", "text", "Title of the thread: its name, else its number."),
    Column("process", "", "text", "Process, as recorded."),
    Column("tid", "", "text", "Number of the thread, as recorded."),
    Column("events", "", "integer", "Timed host events on it."),
    Column("open_us", "µs", "number", "Time in which at least one of them was open."),
)


def threads(trace: Trace) -> pd.DataFrame:
    """List the threads that host events are on.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        The one that was busy longest first.
    """
    columns, host = trace.columns, trace.host
    thread, size = columns.thread[host.rows].astype(np.int64), len(columns.threads)
    length = np.where(host.parent < 0, columns.duration[host.rows], 0)
    events, time = np.bincount(thread, minlength=size), np.zeros(size, np.int64)
    np.add.at(time, thread, length)
    order = np.lexsort((np.arange(size), -events, -time))
    order = order[events[order] > 0]
    places = [(columns.threads[i].pid, columns.threads[i].tid) for i in order.tolist()]
    frame = pd.DataFrame(
        {
            "thread": texts_of(order, thread_titles(trace)),
            "process": pd.Series([process for process, _ in places], dtype="str"),
            "tid": pd.Series([tid for _, tid in places], dtype="str"),
            "events": events[order],
            "open_us": us(time[order]),
        }
    )
    frame.attrs["notes"] = [] if len(frame) else ["No host events were recorded."]
    return frame


VIEW = View("threads", "Host threads", threads, _COLUMNS)
