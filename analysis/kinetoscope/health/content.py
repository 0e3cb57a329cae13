"""Checks of what the file holds: whole or cut, one writer or several, device work or none, and what was switched on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import intervals, schema
from kinetoscope.health.finding import Finding, counted, fine, share

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_SENTENCES = {
    "gzip": "the packed data ends early or is broken behind byte {offset:,} of the text",
    "cut": "the text ends early, at byte {offset:,}; what began there is lost",
    "lost": "{times:,} lost events, the first at byte {offset:,}: {example}",
    "repaired": "{times:,} mended events (quotes, commas, backslashes or words that are no JSON), the first at byte {offset:,}: {example}",
    "encoding": "{times:,} bytes are no UTF-8 and are shown as �, the first at byte {offset:,}",
    "control": "{times:,} raw control characters were escaped, the first at byte {offset:,}",
    "backslash": "{times:,} backslashes were taken as they stand, as old writers of Windows paths mean them",
    "metadata": "what stands beside the events could be read in part only: {example}",
    "separator": "commas, or what stands beside the events, had to be mended",
    "trailing": "something else follows the trace at byte {offset:,}: {example}",
}
_MANY_PCT = 10.0
_STACKS_HINT = "Compare host times only with runs that record stacks too."
_SERIOUS = ("gzip", "cut", "lost")
_SWITCHES = {
    "record_shapes": "shapes",
    "profile_memory": "memory",
    "with_stack": "stacks",
    "with_modules": "modules",
    "with_flops": "FLOPs",
}


def file(trace: Trace) -> Finding:
    """Tell whether the file was whole, and what was mended."""
    losses = [loss for loss in trace.losses if loss.what in _SENTENCES]
    if not losses:
        return fine("file", "The file is whole.")
    serious = [loss for loss in losses if loss.what in _SERIOUS]
    sentences = (_SENTENCES[loss.what].format(**loss._asdict()) for loss in losses)
    detail = "; ".join(sentences)
    hint = "Figures miss what is lost. Was the job stopped while it wrote, or the disk full?" if serious else ""
    count = sum(loss.times for loss in losses)
    return Finding("file", "error" if serious else "warning", detail[:1].upper() + detail[1:] + ".", hint, count)


def documents(trace: Trace) -> Finding:
    """Look for a second trace behind the first in the same file."""
    extra = next((loss for loss in trace.losses if loss.what == "document"), None)
    if extra is None:
        return fine("documents", "The file holds one trace.")
    detail = f"Another trace follows in the same file, at byte {extra.offset:,}: more than one writer. Only one is shown, they are never merged."
    hint = f"The traces of this file are spans {trace.source.span.rstrip('ab')}a, {trace.source.span.rstrip('ab')}b …; give each rank a file of its own."
    return Finding("documents", "warning", detail, hint, 1)


def writers(trace: Trace) -> Finding:
    """Look for host rows of several processes."""
    columns = trace.columns
    rows = np.flatnonzero(columns.timed & np.isin(columns.kind, schema.HOST))
    # a device's own number is no process, nor is the 0 that some recorders give other threads' Python frames
    own = {"0", *(str(device.device) for device in trace.devices)}
    pids = sorted({columns.threads[thread].pid for thread in np.unique(columns.thread[rows]).tolist()} - own)
    if len(pids) < 2:
        return fine("processes", "All host events are of one process.")
    detail = (
        f"Host events of {len(pids)} processes are in this file ({', '.join(pids[:5])}); they are taken as one rank."
    )
    return Finding(
        "processes",
        "info",
        detail,
        "Was the file edited or merged?",
        len(pids),
        rows=_of_processes(trace, rows, pids[1:]),
    )


def _of_processes(trace: Trace, rows: npt.NDArray[np.int64], pids: list[str]) -> npt.NDArray[np.int64]:
    """Return those rows that are of some processes."""
    threads = trace.columns.threads
    chosen = np.array([thread.pid in pids for thread in threads], bool)
    return rows[chosen[trace.columns.thread[rows]]]


def unreadable(trace: Trace) -> Finding:
    """Look for entries of the event list that are no events."""
    count = sum(account.events for account in trace.accounts if account.reason == "not a readable event")
    if not count:
        return fine("unreadable entries", "Every entry of the event list is an event.")
    detail = f"{counted(count, 'entry', 'entries')} of the event list could not be read as an event: in no figure."
    part = share(count, sum(account.events for account in trace.accounts))
    severity = "error" if part > _MANY_PCT else "warning"
    return Finding("unreadable entries", severity, detail, "Which program wrote the file?", count, part)


def incomplete(trace: Trace) -> Finding:
    """Look for a last step that the recording cut short."""
    table = trace.steps_table
    if not len(table) or not table.incomplete[-1]:
        return fine("incomplete step", "The last step is as long as the others, or there are no steps.")
    detail = f"Step {table.number[-1]} launched {table.works[-1]:,} device works, the step before {table.works[-2]:,}: left out of means."
    return Finding("incomplete step", "info", detail, "The recording ended inside it.", 1, rows=table.row[-1:])


def device_work(trace: Trace) -> Finding:
    """Tell the three kinds of no device work apart."""
    if not trace.columns.timed.any():
        return Finding("device work", "error", "The file holds no event with a usable time.", "Was anything recorded?")
    if trace.work.size:
        return fine("device work", f"{trace.work.size:,} device works were recorded.")
    launches = trace.launches_rows
    if launches.size:
        detail = f"The host made {counted(launches.size, 'launch call')}, and no device work was recorded."
        hint = "The device's recorder was asked and gave nothing: is another profiler attached, are counters permitted, is the driver's tracing library found?"
        return Finding("device work", "error", detail, hint, launches.size, 100.0, launches)
    calls = np.flatnonzero(trace.columns.timed & (trace.columns.kind == schema.CODE["api_call"]))
    if calls.size:
        detail = f"The host made {counted(calls.size, 'call')} of the device's API, and launched nothing."
        return Finding(
            "device work",
            "warning",
            detail,
            "Did the device have anything to do in this window?",
            calls.size,
            float("nan"),
            calls,
        )
    if trace.losses:
        detail = "No device work and no calls of a device's API are in what could be read of the file."
        return Finding("device work", "info", detail, "Look at what was lost first.")
    detail = "Only the host was recorded: there are no calls of a device's API."
    return Finding("device work", "info", detail, "To record a GPU, add ProfilerActivity.CUDA to activities.")


def categories(trace: Trace) -> Finding:
    """Look for categories that no kind is known of."""
    columns = trace.columns
    table = schema.KindTable()
    unknown = {i: text for i, text in enumerate(columns.categories) if text and table.of_category(text) == "other"}
    rows = np.flatnonzero(columns.complete & np.isin(columns.category, list(unknown)))
    if not rows.size:
        return fine("unknown categories", "Every category is known.")
    listed = ", ".join(sorted({unknown[i] for i in np.unique(columns.category[rows]).tolist()})[:5])
    detail = f"{counted(rows.size, 'event')} of categories that are not known ({listed}): shown, and in no figure."
    return Finding("unknown categories", "info", detail, "", rows.size, share(rows.size, len(trace)), rows)


def switches(trace: Trace) -> Finding:
    """Tell what the recording was asked for."""
    on = switches_on(trace)
    said = any(trace.metadata.get(key) for key in _SWITCHES)
    off = [word for word in _SWITCHES.values() if word not in on] if said else []
    if not on:
        detail = "The file neither says nor shows that shapes, memory, stacks, modules or FLOPs were switched on."
        return fine("recording switches", detail)
    detail = f"Recorded with {', '.join(on)}" + (f"; without {', '.join(off)}." if off else ".")
    return Finding("recording switches", "ok", detail, "", len(on))


def switches_on(trace: Trace) -> list[str]:
    """Return what was recorded beside times: the file says so, or holds what only the switch brings.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    list of str
        Of shapes, memory, stacks, modules, FLOPs.
    """
    found = {word for key, word in _SWITCHES.items() if trace.metadata.get(key)} | set(trace.columns.extras)
    kinds = {"memory": "memory", "python": "stacks"}
    found |= {word for kind, word in kinds.items() if (trace.columns.kind == schema.CODE[kind]).any()}
    return [word for word in _SWITCHES.values() if word in found]


def memory(trace: Trace) -> Finding:
    """Look for memory events that cannot be used, and for totals that do not follow from each other."""
    events = trace.memory.events
    rows = np.flatnonzero(trace.columns.kind == schema.CODE["memory"])
    if not rows.size:
        return fine("memory events", "No memory was recorded.")
    jumps = sum(curve.jumps for curve in trace.memory.curves)
    told = [
        f"{counted(events.unusable, 'event')} without bytes or device, left out" if events.unusable else "",
        f"{counted(jumps, 'total')} that {'does' if jumps == 1 else 'do'} not follow from the event before"
        if jumps
        else "",
        f"{counted(events.out_of_memory.size, 'allocation')} that failed: out of memory"
        if events.out_of_memory.size
        else "",
    ]
    if not any(told):
        return fine("memory events", f"{counted(rows.size, 'memory event')}, each with bytes and device.")
    count = events.unusable + jumps + events.out_of_memory.size
    return Finding(
        "memory events",
        "warning" if events.unusable or events.out_of_memory.size else "info",
        f"Of {counted(rows.size, 'memory event')}: {'; '.join(text for text in told if text)}.",
        "Threads that allocate at the same time overtake each other; the memory page counts what does not fit.",
        count,
        share(count, rows.size),
        events.out_of_memory,
    )


def stacks(trace: Trace) -> Finding:
    """Warn that recording stacks slows the host."""
    frames = np.flatnonzero(trace.columns.timed & (trace.columns.kind == schema.CODE["python"]))
    if not frames.size:
        if "stacks" in trace.columns.extras:
            return Finding("stacks", "info", "Ops carry call stacks: host times are longer than without.", _STACKS_HINT)
        return fine("stacks", "No stacks were recorded, so they slowed nothing.")
    ops = int((trace.columns.kind == schema.CODE["op"]).sum())
    detail = f"{counted(frames.size, 'Python frame')} beside {counted(ops, 'op')}: host times are longer than without stacks."
    return Finding("stacks", "info", detail, _STACKS_HINT, frames.size, share(frames.size, len(trace)), frames)


def overhead(trace: Trace) -> Finding:
    """Sum the profiler's own work that the file tells of."""
    columns = trace.columns
    rows = np.flatnonzero(columns.timed & (columns.kind == schema.CODE["overhead"]))
    if not rows.size:
        return fine("profiler overhead", "The file tells of no overhead.")
    window = trace.window
    time = intervals.measure(intervals.intersect(intervals.union(columns.start[rows], columns.end[rows]), window))
    part = share(time, intervals.measure(window))
    detail = f"{counted(rows.size, 'piece')} of profiler overhead: {part:.1f} % of the window."
    return Finding(
        "profiler overhead",
        "warning" if part > 5 else "info",
        detail,
        "A longer warm-up moves most of it out of the window.",
        rows.size,
        part,
        rows,
    )


def ranks(trace: Trace) -> Finding:
    """Compare the ranks that the file tells of with those found beside it."""
    about = trace.metadata.get("distributedInfo")
    size = about.get("world_size") if isinstance(about, dict) else None
    if not isinstance(size, int) or size < 2:
        return fine("ranks", "The file tells of no other ranks.")
    found = trace.source.ranks_found
    if found >= size:
        return fine("ranks", f"All {size} ranks are here.")
    detail = f"The job has {size} ranks, and {max(found, 1)} of them {'are' if found > 1 else 'is'} here."
    return Finding(
        "ranks",
        "info",
        detail,
        "Put the traces of all ranks into one folder to compare them.",
        size - max(found, 1),
        share(size - max(found, 1), size),
    )
