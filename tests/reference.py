"""Figures of a trace by the book: a slow, independent program that tests compare the product with.

It follows the definitions in plain loops over whole nanoseconds, and shares no code with ``kinetoscope``. The result has
the shape of the files in ``sample_traces/expected``.

Usage: python tests/reference.py TRACE.json[.gz]
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reference_links as links
from reference_events import HOST_RANGES, LOADER_NAME, STEP_NAME, TIMED, WORK, read_json, timed_events
from reference_idle import idle_by_cause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference_events import Event

    Interval = tuple[int, int]

CLASSES = ("compute", "communication", "memcpy", "memset", "api", "data_loader", "op", "python", "unrecorded")
#: Kinds that ``by_kind`` counts under their own name.
NAMED_KINDS = TIMED | {"device_range", "sync"}


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Merge intervals that overlap or touch; empty ones vanish."""
    merged: list[Interval] = []
    for start, end in sorted(interval for interval in intervals if interval[1] > interval[0]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def clip(intervals: Iterable[Interval], window: list[Interval]) -> list[Interval]:
    """Cut intervals to the window."""
    cut = [(max(a, c), min(b, d)) for a, b in intervals for c, d in window if a < d and c < b]
    return [(a, b) for a, b in cut if b > a]


def without(window: list[Interval], taken: list[Interval]) -> list[Interval]:
    """Return what is left of the window where nothing is taken; both are unions."""
    left = []
    for start, end in window:
        at = start
        for a, b in clip(taken, [(start, end)]):
            if a > at:
                left.append((at, a))
            at = b
        if end > at:
            left.append((at, end))
    return left


def length(intervals: Iterable[Interval]) -> int:
    """Add up lengths."""
    return sum(end - start for start, end in intervals)


def spans(events: Iterable[Event]) -> list[Interval]:
    """Return the events' intervals."""
    return [(event.start, event.end) for event in events]


def mark_steps(events: list[Event]) -> list[Event]:
    """Return the step markers in time order: neither inside another, nor overlapping an earlier one of another thread."""
    steps: list[Event] = []
    markers = [event for event in events if event.kind == "annotation" and STEP_NAME.match(event.name)]
    for marker in sorted(markers, key=links.thread_order):
        inside = any(step.start <= marker.start and marker.end <= step.end for step in steps)
        crosses = any(step.thread != marker.thread and marker.start < step.end for step in steps)
        marker.is_step = not inside and not crosses
        if marker.is_step:
            steps.append(marker)
    return steps


def launched_in(step: Event, works: list[Event]) -> list[Event]:
    """Return the device work whose owning call starts in the step's host range."""
    return [work for work in works if work.call is not None and step.start <= work.call.start < step.end]


def tail_before(steps: list[Event], works: list[Event]) -> int:
    """Return the end of the work that a step before the recording left, as far as it delays the first step."""
    first_start = min((work.start for work in launched_in(steps[0], works)), default=None)
    owned = {id(work) for step in steps for work in launched_in(step, works)}
    ends = [work.end for work in works if first_start is not None and id(work) not in owned and work.end <= first_start]
    return max(ends, default=steps[0].start)


def step_periods(steps: list[Event], works: list[Event]) -> list[dict[str, Any]]:
    """Return host length, tail and period of each step."""
    rows: list[dict[str, Any]] = []
    before = tail_before(steps, works) if steps else 0
    for step in steps:
        gpu_end = max((work.end for work in launched_in(step, works)), default=step.end)
        start = max(step.start, before)
        end = max(step.end, gpu_end, start)
        rows.append({"step": step, "period": (start, end), "tail": max(0, gpu_end - step.end)})
        before = end
    return rows


def class_of(event: Event) -> str | None:
    """Return the class that an open event gives an instant, or None if it gives none."""
    if event.kind == "kernel":
        return "communication" if event.communication else "compute"
    if event.kind in {"memcpy", "memset", "python"}:
        return event.kind
    if event.kind == "api_call":
        return "api"
    if event.kind in HOST_RANGES and not event.is_step:
        return "data_loader" if event.kind == "annotation" and LOADER_NAME.match(event.name) else "op"
    return None


def split(events: list[Event], period: Interval) -> dict[str, int]:
    """Sweep a period and give each instant to the first class that holds."""
    changes: dict[int, Counter[str]] = defaultdict(Counter)
    for event in events:
        name = class_of(event)
        for start, end in clip([(event.start, event.end)], [period]) if name else []:
            changes[start][name] += 1
            changes[end][name] -= 1
    changes[period[0]].update({})
    changes[period[1]].update({})
    result = dict.fromkeys(CLASSES, 0)
    open_count: Counter[str] = Counter()
    instants = sorted(changes)
    for at, following in pairwise(instants):
        for name, change in changes[at].items():
            open_count[name] += change
        result[next((name for name in CLASSES if open_count[name]), "unrecorded")] += following - at
    return result


def device_figures(works: list[Event], window: list[Interval], events: list[Event]) -> dict[str, Any]:
    """Return the figures of one device, by its work."""
    kernels = [work for work in works if work.kind == "kernel"]
    inside = {
        name: union(clip(spans(group), window))
        for name, group in {
            "all": works,
            "compute": [kernel for kernel in kernels if not kernel.communication],
            "communication": [kernel for kernel in kernels if kernel.communication],
            "copy": [work for work in works if work.kind != "kernel"],
        }.items()
    }
    computing, communicating = inside["compute"], inside["communication"]
    gaps = without(window, inside["all"])
    everything = union(spans(works))
    span = (min(work.start for work in works), max(work.end for work in works))
    return {
        "work": len(works),
        "summed_all_ns": length(spans(works)),
        "summed_ns": length(clip(spans(works), window)),
        "busy_all_ns": length(everything),
        "busy_ns": length(inside["all"]),
        "idle_ns": length(gaps),
        "gaps": len(gaps),
        "longest_gaps_ns": sorted((b - a for a, b in gaps), reverse=True)[:5],
        "span_ns": span[1] - span[0],
        "span_idle_ns": length(without([span], everything)),
        "span_gaps": len(without([span], everything)),
        "compute_ns": length(computing),
        "communication_ns": length(communicating),
        "exposed_communication_ns": length(without(communicating, computing)),
        "exposed_copy_ns": length(without(inside["copy"], union(computing + communicating))),
        "kernels": len(kernels),
        "kernel_names": len({kernel.name for kernel in kernels}),
        "idle_by_cause_ns": idle_by_cause(gaps, works, events),
    }


def top_kernels(works: list[Event]) -> list[dict[str, Any]]:
    """Return the ten kernel names with the most time."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for work in works:
        if work.kind == "kernel":
            totals[work.name][0] += 1
            totals[work.name][1] += work.duration
    rows = [{"name": name, "calls": calls, "total_ns": total} for name, (calls, total) in totals.items()]
    return sorted(rows, key=lambda row: (-row["total_ns"], row["name"]))[:10]


def figures(path: Path) -> dict[str, Any]:
    """Compute every figure of a trace file."""
    events = timed_events(read_json(path))
    links.link_ops(events)
    links.link_calls(events)
    links.mark_communication(events)
    works = [event for event in events if event.kind in WORK]
    steps = step_periods(mark_steps(events), works)
    timed = spans(event for event in events if event.kind in TIMED)
    whole = [(min(a for a, _ in timed), max(b for _, b in timed))] if timed else []
    window = union(row["period"] for row in steps) if steps else whole
    by_device: dict[Any, list[Event]] = defaultdict(list)
    for work in works:
        by_device[links.device_of(work)].append(work)
    return {
        "events_X": len(events),
        "by_kind": dict(Counter(event.kind if event.kind in NAMED_KINDS else "other" for event in events)),
        "steps": [
            {
                "name": row["step"].name,
                "host_ns": row["step"].duration,
                "period_ns": row["period"][1] - row["period"][0],
                "tail_ns": row["tail"],
                "split_ns": split(events, row["period"]),
            }
            for row in steps
        ],
        "window_ns": length(window),
        "devices": {str(device): device_figures(group, window, events) for device, group in sorted(by_device.items())},
        "top_kernels": top_kernels(works),
        "work_without_launch": sum(work.call is None for work in works),
        "launches_without_work": links.launches_without_work(events),
        "crossing": links.crossing(events),
        "device_ns_unattributed": sum(work.duration for work in works if work.op is None),
    }


if __name__ == "__main__":
    json.dump(figures(Path(sys.argv[1])), sys.stdout, indent=1)
