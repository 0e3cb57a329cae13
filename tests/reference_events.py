"""The reference's own reading of a trace file: plain, slow, and sharing no code with the product.

Times are integer nanoseconds, converted from the file's decimal text by ``Decimal``.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

KIND_OF_CATEGORY = {
    "cpu_op": "op",
    "operator": "op",
    "hpu_op": "op",
    "user_annotation": "annotation",
    "user": "annotation",
    "python_function": "python",
    "python": "python",
    "runtime": "api_call",
    "kernel": "kernel",
    "collective_comm": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
    "gpu_user_annotation": "device_range",
    "cuda_sync": "sync",
    "xpu_sync": "sync",
    "cuda_event": "sync",
}
MTIA_KIND_OF_NAME = {"event_wait": "sync", "event_record": "sync", "dma_request": "memcpy"}
STEP_NAME = re.compile(r"ProfilerStep#\d+$")
#: Old traces file these annotations under the category of operators.
ANNOTATION_NAME = re.compile(r"ProfilerStep#\d+$|enumerate\(Data")
LOADER_NAME = re.compile(r"enumerate\(Data(Loader|Pipe)\)#")

WORK = {"kernel", "memcpy", "memset"}
HOST_RANGES = {"op", "annotation"}
TIMED = WORK | HOST_RANGES | {"python", "api_call"}


@dataclass(eq=False)
class Event:
    """One timed event of the file, and what the links say about it."""

    index: int
    kind: str
    category: str
    name: str
    start: int
    end: int
    pid: Any
    thread: tuple[Any, Any]
    args: dict[str, Any]
    call: Event | None = field(default=None, repr=False)
    op: Event | None = field(default=None, repr=False)
    is_step: bool = False
    communication: bool = False

    @property
    def duration(self) -> int:
        """Length in ns."""
        return self.end - self.start


def read_json(path: Path) -> dict[str, Any]:
    """Read the file as one JSON object; fractions stay decimal."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    document = json.loads(raw.decode("utf-8", "replace"), parse_float=Decimal, strict=False)
    return document if isinstance(document, dict) else {"traceEvents": document}


def kind_of(category: str, name: str) -> str:
    """Return the kind of an event, by its category and, where one category mixes kinds, its name."""
    lower = category.lower()
    if lower == "mtia_ccp_events":
        return MTIA_KIND_OF_NAME.get(name, "kernel")
    if lower.endswith(("_runtime", "_driver")):
        return "api_call"
    kind = KIND_OF_CATEGORY.get(lower, "other")
    return "annotation" if kind == "op" and ANNOTATION_NAME.match(name) else kind


def nanoseconds(value: Any) -> int | None:
    """Convert microseconds, as number or text, to whole nanoseconds."""
    if value is None or isinstance(value, bool):
        return None
    try:
        return int((Decimal(value) * 1000).to_integral_value())
    except (ArithmeticError, TypeError, ValueError):
        return None


def thread_of(raw: dict[str, Any]) -> tuple[Any, Any]:
    """Return process and thread; a thread written as text is its last whole number."""
    tid = raw.get("tid")
    numbers = re.findall(r"-?\d+", tid) if isinstance(tid, str) else []
    return raw.get("pid"), int(numbers[-1]) if numbers else tid


def timed_events(document: dict[str, Any]) -> list[Event]:
    """Return the complete events that have usable times, in file order."""
    events = []
    for index, raw in enumerate(document.get("traceEvents") or []):
        if not isinstance(raw, dict) or raw.get("ph") != "X":
            continue
        start, duration = nanoseconds(raw.get("ts")), nanoseconds(raw.get("dur"))
        if start is None or duration is None or (start == 0 and duration == 0):
            continue
        category, name = str(raw.get("cat", "")), str(raw.get("name", ""))
        args = raw.get("args")
        events.append(
            Event(
                index=index,
                kind=kind_of(category, name),
                category=category.lower(),
                name=name,
                start=start,
                end=start + duration,
                pid=raw.get("pid"),
                thread=thread_of(raw),
                args=args if isinstance(args, dict) else {},
            )
        )
    return events
