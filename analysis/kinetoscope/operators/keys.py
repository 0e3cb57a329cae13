"""What ops can be told apart by: a number per op and key, and the values that the numbers stand for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope.operators.recorded import of_ops
from kinetoscope.phases import PHASES, phase_of

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]
Key = tuple[Index, list[str]]
"""Number of each op, -1 for none, and the texts that the numbers stand for."""


def _name(trace: LinkedTrace) -> Key:
    return trace.columns.name[trace.program.ops.rows].astype(np.int64), trace.columns.names


def _listed(wanted: str) -> Callable[[LinkedTrace], Key]:
    def key(trace: LinkedTrace) -> Key:
        code, distinct = of_ops(trace, trace.program.ops.rows, wanted)
        texts = [json.dumps(value, ensure_ascii=False) for value in distinct]
        # two spellings of an argument may have one value
        known = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        return np.array([*(known[text] for text in texts), -1], np.int64)[code], list(known)

    return key


def _stack(trace: LinkedTrace) -> Key:
    stacks, ops = trace.program.stacks, trace.program.ops
    if stacks.source == "ops":
        return np.full(len(ops), -1, np.int64), []
    return stacks.own_paths(stacks.at(ops.thread, ops.start))


def _source(trace: LinkedTrace) -> Key:
    stacks, ops = trace.program.stacks, trace.program.ops
    if stacks.source == "ops":
        return np.full(len(ops), -1, np.int64), []
    return stacks.sources(stacks.or_forward(ops.thread, ops.start))


def _module(trace: LinkedTrace) -> Key:
    modules = trace.program.modules
    return modules.of_op[0], modules.paths


def _thread(trace: LinkedTrace) -> Key:
    return trace.program.ops.thread, thread_titles(trace)


def _phase(trace: LinkedTrace) -> Key:
    return phase_of(trace, trace.program.ops.rows).astype(np.int64), list(PHASES)


KEYS: dict[str, Callable[[LinkedTrace], Key]] = {
    "name": _name,
    "shapes": _listed("shapes"),
    "dtype": _listed("types"),
    "stack": _stack,
    "source": _source,
    "module": _module,
    "thread": _thread,
    "phase": _phase,
}
"""Keys of ops and annotations, by their word."""

GROUPS: dict[str, tuple[str, ...]] = {
    "name": ("name",),
    "shapes": ("name", "shapes"),
    "dtype": ("name", "dtype"),
    "stack": ("name", "stack"),
    "source": ("source",),
    "name,source": ("name", "source"),
    "module": ("module",),
    "name,module": ("name", "module"),
    "thread": ("thread",),
    "name,thread": ("name", "thread"),
    "phase": ("phase",),
    "name,phase": ("name", "phase"),
}
"""Which keys tell the rows of a table of operators apart, by the table's word."""


def alike(trace: LinkedTrace, event: int, by: str) -> npt.NDArray[np.bool_]:
    """Tell which ops and annotations are in one row with that of an event.

    Parameters
    ----------
    trace : LinkedTrace
    event : int
        Event id; of no op, nothing is alike.
    by : str
        One of :data:`GROUPS`.

    Returns
    -------
    ndarray of bool
        One per op of ``trace.program.ops``.
    """
    ops = trace.program.ops
    row = np.flatnonzero(trace.columns.id == event)
    place = int(ops.place[row[0]]) if row.size else -1
    found = np.full(len(ops), place >= 0)
    for word in GROUPS[by] if place >= 0 else ():
        code, _ = KEYS[word](trace)
        found &= code == code[place]
    return found


def grouped(keys: list[Key]) -> tuple[Index, list[Any]]:
    """Number the combinations of several keys that occur.

    Parameters
    ----------
    keys : list of Key

    Returns
    -------
    group : ndarray of int64
        Of each op.
    values : list of ndarray of int64
        Of each key, its number in each group.
    """
    group = np.zeros(keys[0][0].size, np.int64)
    for code, texts in keys:
        group = np.unique(group * (len(texts) + 1) + code + 1, return_inverse=True)[1].ravel()
    first = np.unique(group, return_index=True)[1]
    return group, [code[first] for code, _ in keys]


def thread_titles(trace: LinkedTrace) -> list[str]:
    """Return a title for each thread, each only once."""
    threads = trace.columns.threads
    titles = [thread.name or f"thread {thread.tid}" for thread in threads]
    if len(set(titles)) == len(titles):
        return titles
    return [f"{title} ({thread.pid}/{thread.tid})" for title, thread in zip(titles, threads, strict=True)]
