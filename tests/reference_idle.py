"""The reference's account of idle time: every gap of a device, cut into segments that each have one cause."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from reference_events import HOST_RANGES, LOADER_NAME, WORK
from reference_links import LAUNCH_NAME

if TYPE_CHECKING:
    from reference_events import Event

    Interval = tuple[int, int]
    Segment = tuple[int, int, str | None]

LATE_NS = 1_000_000
BLOCKING = re.compile(r"\w*[sS]ynchronize\w*|cudaMemcpy|hipMemcpyWithStream")
ALLOCATION = re.compile(
    r"(cuda|hip)(Malloc|Free|HostAlloc|HostMalloc|MallocHost|FreeHost|HostFree|HostRegister)\w*"
    r"|cuMem(Alloc|Free|Create|Map|Unmap|Release)\w*"
)
COMPILER_FRAME = re.compile(r".*torch/(_dynamo/convert_frame|_inductor/compile_fx)\.py")
COMPILER_RANGE = re.compile(r"dynamo_timed|compile_|CachingAutotuner\.")
#: The first of these that is open on a thread is what the thread was doing.
CAUSES = (
    "synchronization",
    "memory allocation",
    "data loading",
    "compilation",
    "launch calls",
    "host work",
    "host python",
)


def blocks(call: Event, works: list[Event]) -> bool:
    """Tell whether an API call waits for the device."""
    pageable = "Async" in call.name and any("Pageable" in work.name for work in works)
    return bool(BLOCKING.fullmatch(call.name)) or pageable


def cause_of(event: Event, works_of: dict[int, list[Event]]) -> str | None:
    """Return the cause that an open host event stands for, or None for the step marker and what is no host event."""
    cause = None
    if event.kind == "api_call":
        cause = "launch calls"
        if blocks(event, works_of[id(event)]):
            cause = "synchronization"
        elif ALLOCATION.fullmatch(event.name):
            cause = "memory allocation"
    elif event.kind == "python":
        cause = "compilation" if COMPILER_FRAME.match(event.name) else "host python"
    elif event.kind in HOST_RANGES and not event.is_step:
        cause = "host work"
        if event.kind == "annotation" and LOADER_NAME.match(event.name):
            cause = "data loading"
        elif COMPILER_RANGE.match(event.name):
            cause = "compilation"
    return cause


class Host:
    """What each thread was doing at each instant."""

    def __init__(self, events: list[Event], works_of: dict[int, list[Event]]) -> None:
        self.works_of = works_of
        self.changes: dict[Any, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for event in events:
            cause = cause_of(event, works_of)
            if cause and event.end > event.start:
                self.changes[event.thread][event.start][cause] += 1
                self.changes[event.thread][event.end][cause] -= 1
        self.tracks = {thread: self._track(changes) for thread, changes in self.changes.items()}
        self.steps = sorted((event.start, event.end, event.thread) for event in events if event.is_step)
        self.usual_thread = self._usual_thread(events, works_of)

    @staticmethod
    def _track(changes: dict[int, Counter[str]]) -> tuple[list[int], list[str | None]]:
        """Turn changes into instants, and what holds from each on."""
        instants, causes, open_count = sorted(changes), [], Counter[str]()
        for at in instants:
            for cause, change in changes[at].items():
                open_count[cause] += change
            causes.append(next((cause for cause in CAUSES if open_count[cause]), None))
        return instants, causes

    @staticmethod
    def _usual_thread(events: list[Event], works_of: dict[int, list[Event]]) -> Any:
        """Return the thread with most launches, else with most host events."""
        calls = [event for event in events if event.kind == "api_call"]
        launches = [call for call in calls if works_of[id(call)] or LAUNCH_NAME.fullmatch(call.name)]
        host = [event for event in events if event.kind in HOST_RANGES | {"python", "api_call"}]
        ranked = Counter(event.thread for event in launches or host).most_common(1)
        return ranked[0][0] if ranked else None

    def doing(self, thread: Any, start: int, end: int) -> list[Segment]:
        """Cut an interval by what one thread was doing."""
        instants, causes = self.tracks.get(thread, ([], []))
        segments, at, position = [], start, bisect_right(instants, start)
        while at < end:
            until = min(end, instants[position]) if position < len(instants) else end
            segments.append((at, until, causes[position - 1] if position else None))
            at, position = until, position + 1
        return segments

    def main_threads(self, start: int, end: int) -> list[tuple[int, int, Any]]:
        """Cut an interval by which thread was the main one: that of the marker open then, or of the last before."""
        cuts = [start, *(s for s, _, _ in self.steps if start < s < end), end]
        pieces = []
        for a, b in pairwise(cuts):
            before = [thread for s, _, thread in self.steps if s <= a]
            pieces.append((a, b, before[-1] if before else self.usual_thread))
        return pieces

    def time(self, thread: Any, start: int, end: int) -> Counter[str]:
        """Add up the host's time by cause; where the thread shows nothing, the main thread may."""
        total: Counter[str] = Counter()
        for a, b, cause in self.doing(thread, start, end):
            if cause:
                total[cause] += b - a
                continue
            for c, d, main in self.main_threads(a, b):
                for e, f, main_cause in self.doing(main, c, d):
                    total[main_cause or "untraced host"] += f - e
        return total

    def main_time(self, start: int, end: int) -> Counter[str]:
        """Add up the main thread's time by cause."""
        total: Counter[str] = Counter()
        for a, b, thread in self.main_threads(start, end):
            total += self.time(thread, a, b)
        return total


class Device:
    """One device's work, ready to be asked what ends at an instant, and what starts next."""

    def __init__(self, works: list[Event], syncs: list[Event]) -> None:
        self.works = [work for work in works if work.end > work.start]
        self.syncs = syncs
        self.starts = sorted({work.start for work in self.works})
        self.starting: dict[int, list[Event]] = defaultdict(list)
        self.ending: dict[int, list[Event]] = defaultdict(list)
        for work in self.works:
            self.starting[work.start].append(work)
            self.ending[work.end].append(work)

    def next_work(self, at: int) -> Event | None:
        """Return the work that starts at or next after an instant; of several, the one launched first; those of unknown launch come last."""
        position = bisect_left(self.starts, at)
        if position == len(self.starts):
            return None
        found = self.starting[self.starts[position]]
        return min(found, key=lambda work: (work.call is None, work.call.start if work.call else 0, work.index))

    def was_told_to_wait(self, work: Event, call: Event, ended: list[Event]) -> bool:
        """Tell whether the work's stream was told to wait for a stream whose work has just ended."""
        stream = work.args.get("stream")
        before = [other for other in self.works if other.args.get("stream") == stream and other.start < work.start]
        last = max(before, key=lambda other: other.start, default=None)
        since = last.call.start if last is not None and last.call is not None else call.start
        streams = {other.args.get("stream") for other in ended}
        return any(
            sync.name == "Stream Wait Event"
            and sync.args.get("stream") == stream
            and since <= sync.start <= call.start
            and sync.args.get("wait_on_stream") in streams
            for sync in self.syncs
        )


def gap_causes(gap: Interval, device: Device, host: Host) -> Counter[str]:
    """Cut one gap into causes; they add up to it exactly."""
    a, b = gap
    work, ended = device.next_work(b), device.ending[a]
    if work is None:
        return host.main_time(a, b)
    call = work.call
    if call is None:
        return Counter({"no launch recorded": b - a})
    if any(other.call is call for other in ended):
        return Counter({"inside a graph": b - a})
    if call.end <= a:
        waited = device.syncs and device.was_told_to_wait(work, call, ended)
        cause = "stream dependency" if waited else "device scheduling"
        return Counter({"late start" if b - a > LATE_NS else cause: b - a})
    start = min(max(call.start, a), b)
    returned = min(max(call.end, start), b)
    total = host.time(call.thread, a, start)
    total["synchronization" if blocks(call, host.works_of[id(call)]) else "launch calls"] += returned - start
    total["late start" if b - returned > LATE_NS else "launch latency"] += b - returned
    return +total


def idle_by_cause(gaps: list[Interval], works: list[Event], events: list[Event]) -> dict[str, int]:
    """Add up the causes of a device's gaps, largest first."""
    works_of: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in WORK and event.call is not None:
            works_of[id(event.call)].append(event)
    host = Host(events, works_of)
    device = Device(works, [event for event in events if event.kind == "sync"])
    total: Counter[str] = Counter()
    for gap in gaps:
        total += gap_causes(gap, device, host)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
