"""Checks of links: launches and works that miss each other, steps without work, ranges that cross, ids that repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import links, nesting, schema
from kinetoscope.health.finding import Finding, counted, fine, share

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_MOST_CROSSING = 10_000


def launches_without_work(trace: Trace) -> Finding:
    """Look for launches whose device work is not in the file."""
    launches = trace.launches_rows
    seen = links.count_of(trace.launch_of_work, len(trace))[launches] > 0
    rows = launches[~seen]
    if not rows.size:
        return fine(
            "launches without work", "Every launch has its device work." if launches.size else "Nothing was launched."
        )
    part = share(rows.size, launches.size)
    detail = f"{rows.size:,} of {counted(launches.size, 'launch', 'launches')} without device work in the file{_by_step(trace, launches, seen)}."
    hint = "Their work was lost, ran outside the window, or was captured into a graph. Idle time is an upper bound."
    return Finding("launches without work", "warning" if part > 1 else "info", detail, hint, rows.size, part, rows)


def _by_step(trace: Trace, launches: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_]) -> str:
    """Say which steps have the worst coverage."""
    step = trace.steps_table.holding(trace.columns.start[launches])
    held = step >= 0
    if not held.any():
        return ""
    count = np.bincount(step[held], minlength=len(trace.steps_table))
    served = np.bincount(step[held & seen], minlength=len(trace.steps_table))
    short = np.flatnonzero(served < count)
    if not short.size:
        return " (all of them outside the steps)"
    worst = short[np.argsort((served / np.maximum(count, 1))[short], kind="stable")][:3]
    listed = ", ".join(
        f"step {trace.steps_table.number[i]}: {served[i]:,} of {count[i]:,} seen" for i in worst.tolist()
    )
    return f" ({listed})"


def works_without_launch(trace: Trace) -> Finding:
    """Look for device work whose launch call is not in the file."""
    rows = trace.work[trace.launch_of_work < 0]
    if not rows.size:
        return fine(
            "works without launch",
            "Every device work has its launch." if trace.work.size else "No device work was recorded.",
        )
    part = share(rows.size, trace.work.size)
    correlation = trace.columns.correlation
    known = correlation[trace.host_side_call & (correlation > 0)]
    nameless = int((correlation[rows] == 0).sum())
    # ids count up, so that one below all recorded calls' was given before the recording
    early = int((correlation[rows] < known.min()).sum()) - nameless if known.size else 0
    said = [f"{early:,} were launched before the recording began"] if early else []
    said += [f"{nameless:,} have no correlation id"] if nameless else []
    reasons = ", ".join(said)
    detail = f"{rows.size:,} of {counted(trace.work.size, 'device work')} without a launch in the file{': ' if reasons else ''}{reasons}."
    hint = "They are counted in device figures, and belong to no step and no op."
    return Finding("works without launch", "warning" if part > 5 else "info", detail, hint, rows.size, part, rows)


def steps_without_work(trace: Trace) -> Finding:
    """Look for steps in which nothing was launched."""
    table = trace.steps_table
    empty = table.works == 0
    if not trace.work.size or not len(table):
        return fine("steps without work", "There is no device work, or there are no steps.")
    if not empty.any():
        return fine("steps without work", "Every step launched device work.")
    numbers = ", ".join(map(str, table.number[empty][:5].tolist()))
    detail = f"{int(empty.sum())} of {counted(len(table), 'step')} launched no device work: {numbers}."
    hint = "Their work was not recorded, or the step was empty."
    return Finding(
        "steps without work",
        "warning",
        detail,
        hint,
        int(empty.sum()),
        share(int(empty.sum()), len(table)),
        table.row[empty],
    )


def nested_steps(trace: Trace) -> Finding:
    """Look for step markers that are no steps."""
    nested = trace.steps_table.nested
    if not nested.size:
        return fine("step markers", "No step marker lies inside another.")
    detail = (
        f"{counted(nested.size, 'step marker')} inside another, or across one of another thread: shown as annotations."
    )
    return Finding(
        "step markers", "info", detail, "Is step() called more than once per iteration?", nested.size, rows=nested
    )


def shared_correlation(trace: Trace) -> Finding:
    """Look for correlation ids that several calls have."""
    columns = trace.columns
    calls = np.flatnonzero(trace.host_side_call & (columns.correlation > 0))
    _, back, counts = np.unique(columns.correlation[calls], return_inverse=True, return_counts=True)
    rows = calls[counts[back] > 1] if calls.size else calls
    if not rows.size:
        return fine("shared correlation ids", "No two API calls have the same correlation id.")
    detail = f"{rows.size:,} API calls share {counted(int((counts > 1).sum()), 'correlation id')}: the earliest call owns the work."
    hint = "Was this file merged from several ranks? Then links between host and device may be wrong."
    return Finding("shared correlation ids", "warning", detail, hint, rows.size, share(rows.size, calls.size), rows)


def crossing(trace: Trace) -> Finding:
    """Look for ranges of one thread that overlap without one containing the other."""
    pairs, rows = crossing_pairs(trace)
    if not pairs:
        return fine("crossing ranges", "Ranges of a thread contain each other or are apart.")
    detail = f"{counted(pairs, 'pair')} of ranges that overlap without one containing the other."
    hint = "Asynchronous ranges do; otherwise times are off. Self times share nothing between them."
    return Finding("crossing ranges", "info", detail, hint, pairs, float("nan"), rows)


def crossing_pairs(trace: Trace) -> tuple[int, npt.NDArray[np.int64]]:
    """Count pairs of ops, annotations, and one of them with an API call, that cross on a thread.

    Returns
    -------
    pairs : int
    rows : ndarray of int64
        Rows of the later range of each pair.
    """
    columns = trace.columns
    kinds = [schema.CODE[kind] for kind in ("op", "annotation", "api_call")]
    rows = trace.host.rows[np.isin(columns.kind[trace.host.rows], kinds)]
    thread, start, end = columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows]
    call = columns.kind[rows] == schema.CODE["api_call"]
    # the next range of the thread that ends later crosses this one where it begins before this one ends; without one, none does
    later = nesting.after_subtree(thread, end)
    place = np.minimum(later, max(rows.size - 1, 0))
    crosses = (later < rows.size) & (thread[place] == thread) & (start[place] < end) if rows.size else call
    pairs, found = 0, [rows[:0]]
    for i in np.flatnonzero(crosses)[:_MOST_CROSSING].tolist():
        last = int(np.searchsorted(thread, thread[i], side="right"))
        reached = i + 1 + int(np.searchsorted(start[i + 1 : last], end[i], side="left"))
        hits = (end[i + 1 : reached] > end[i]) & ~(call[i + 1 : reached] & call[i])
        pairs += int(hits.sum())
        found.append(rows[i + 1 : reached][hits])
    return pairs, np.unique(np.concatenate(found))
