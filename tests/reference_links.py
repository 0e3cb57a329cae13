"""The reference's links: who launched what, which op asked for it, and what is communication."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from reference_events import HOST_RANGES, WORK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reference_events import Event

LAUNCH_NAME = re.compile(
    r"(cuda|hip|cu)(Ext)?(Module)?Launch(Cooperative)?Kernel\w*"
    r"|(cuda|hip|cu)GraphLaunch\w*"
    r"|hipExtLaunchMultiKernelMultiDevice|urEnqueueKernelLaunch\w*|zeCommandListAppendLaunch\w*Kernel\w*"
)
COLLECTIVE_OP = ("c10d::", "_c10d_functional::", "nccl:", "gloo:", "ucc:", "hccl:", "xccl:", "record_param_comms")
COLLECTIVE_START = re.compile(r"(void )?([\w]+::)*(nccl|rccl|oneccl|hccl|msccl)")
COLLECTIVE_PART = (
    "nccl" + "kernel",
    "nccldevkernel",
    "cross_device_reduce",
    "multimem_all_reduce",
    "quickreduce",
    "one_shot_all_reduce",
    "two_shot_all_reduce",
)


def thread_order(event: Event) -> tuple[int, int, int, int]:
    """Sort by start, then longer first, then ops before API calls, then file order."""
    return event.start, -event.end, int(event.kind == "api_call"), event.index


def by_thread(events: Iterable[Event]) -> dict[Any, list[Event]]:
    """Group events by process and thread, each group in thread order."""
    threads: dict[Any, list[Event]] = defaultdict(list)
    for event in events:
        threads[event.thread].append(event)
    return {thread: sorted(group, key=thread_order) for thread, group in threads.items()}


def link_ops(events: list[Event]) -> None:
    """Give each API call the innermost op of its own thread that contains it."""
    for group in by_thread(event for event in events if event.kind in {"op", "api_call"}).values():
        open_ops: list[Event] = []
        for event in group:
            open_ops = [op for op in open_ops if op.end >= event.start]
            if event.kind == "api_call":
                around = [op for op in open_ops if op.end >= event.end]
                event.op = around[-1] if around else None
            else:
                open_ops.append(event)


def device_of(event: Event) -> Any:
    """Return the device that a work or a device range ran on."""
    for key in ("device", "inDevice"):
        if isinstance(event.args.get(key), int):
            return event.args[key]
    return event.pid


def correlation_of(event: Event) -> Any:
    """Return the correlation id, or None where there is none to join on."""
    return event.args.get("correlation") or None


def link_calls(events: list[Event]) -> None:
    """Give each device work its owning API call, and that call's op."""
    device_pids = {event.pid for event in events if event.category == "mtia_ccp_events"}
    calls: dict[Any, Event] = {}
    for event in sorted(events, key=lambda event: (event.start, event.index)):
        on_device = event.category == "mtia_runtime" and event.pid in device_pids
        if event.kind == "api_call" and correlation_of(event) is not None and not on_device:
            calls.setdefault(correlation_of(event), event)
    ops = {event.args["External id"]: event for event in events if event.kind == "op" and "External id" in event.args}
    for event in events:
        if event.kind not in WORK:
            continue
        event.call = calls.get(correlation_of(event))
        external = event.args.get("External id", event.args.get("external id"))
        if event.call is not None:
            event.op = event.call.op
        elif external and external != event.args.get("correlation"):
            event.op = ops.get(external)


def mark_communication(events: list[Event]) -> None:
    """Recognise communication among the kernels."""
    for event in events:
        if event.kind == "kernel":
            lower = event.name.lower()
            event.communication = bool(
                "Collective name" in event.args
                or (event.op is not None and event.op.name.startswith(COLLECTIVE_OP))
                or COLLECTIVE_START.match(lower)
                or any(part in lower for part in COLLECTIVE_PART)
            )


def crossing(events: list[Event]) -> int:
    """Count pairs of one thread that overlap without containment: op or annotation with these or with an API call."""
    pairs = 0
    for group in by_thread(event for event in events if event.kind in HOST_RANGES | {"api_call"}).values():
        open_events: list[Event] = []
        for event in group:
            open_events = [other for other in open_events if other.end > event.start]
            pairs += sum(
                other.start < event.start < other.end < event.end
                and not (other.kind == "api_call" and event.kind == "api_call")
                for other in open_events
            )
            open_events.append(event)
    return pairs


def launches_without_work(events: list[Event]) -> int:
    """Count launch calls, by name, that own no device work."""
    owners = {id(event.call) for event in events if event.call is not None}
    return sum(
        event.kind == "api_call" and bool(LAUNCH_NAME.fullmatch(event.name)) and id(event) not in owners
        for event in events
    )
