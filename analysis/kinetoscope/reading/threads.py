"""Rows of a recording: which (pid, tid) is which thread, and what it is called."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kinetoscope.reading.columns import Codes, Thread
from kinetoscope.reading.gather import Gatherer
from kinetoscope.reading.values import integer

_NUMBER = re.compile(r"-?\d+(?!.*\d)")


def threads_of(raw: Gatherer) -> tuple[list[Thread], Codes]:
    """Return the rows of the recording with their names.

    Parameters
    ----------
    raw : Gatherer

    Returns
    -------
    threads : list of Thread
    codes : ndarray of int32
        The thread of each recorded (pid, tid): spellings of one thread are one.
    """
    rows = raw.array("name.row")
    labels, texts = raw.texts("name.label")
    phase = raw.array("phase")[rows] == raw.phases.get("M", -1)
    names = raw.texts("name")
    names_of_row = names[0][rows]
    process: dict[str, str] = {}
    thread: dict[tuple[str, int], str] = {}
    keys = raw.threads.listed
    owner = raw.array("thread")[rows]
    for i in np.flatnonzero(phase & (labels >= 0)):
        what, (pid, tid), label = names[1][names_of_row[i]], keys[owner[i]], texts[labels[i]].strip()
        if what == "process_name":
            process[_pid(pid)] = label
        elif what == "thread_name":
            thread[_pid(pid), _thread_number(tid)] = label
    rows_of: dict[tuple[str, int], int] = {}
    codes = [rows_of.setdefault((_pid(pid), _thread_number(tid)), len(rows_of)) for pid, tid in keys]
    found = [Thread(pid, tid, process.get(pid, ""), thread.get((pid, tid), "")) for pid, tid in rows_of]
    return found, np.array(codes or [0], np.int32)


def _thread_number(value: Any) -> int:
    """Return a thread id as an integer: the last one in a text, -1 without one."""
    if isinstance(value, str):
        found = _NUMBER.search(value)
        return integer(int(found.group())) if found else -1
    return integer(value)


def _pid(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value)
