"""The words of the product: kinds of event, and what each column of a frame means.

Everything here is data. :data:`KINDS` numbers the kinds; :class:`KindTable` tells which kind a category is (``data/kinds.json``);
:data:`FRAMES` documents the columns of the frames of a :class:`kinetoscope.trace.Trace`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

KINDS = (
    "op",
    "annotation",
    "python",
    "api_call",
    "kernel",
    "memcpy",
    "memset",
    "device_range",
    "sync",
    "counter",
    "overhead",
    "memory",
    "trace",
    "other",
)
"""Kinds of event, in the order of their codes. ``flow`` and ``meta`` rows are no events: they link and name things."""

CODE = {kind: code for code, kind in enumerate(KINDS)}
HOST = tuple(CODE[kind] for kind in ("op", "annotation", "python", "api_call"))
WORK = tuple(CODE[kind] for kind in ("kernel", "memcpy", "memset"))
TIMED = HOST + WORK


@cache
def table(name: str) -> dict[str, Any]:
    """Read one of the tables in ``data/``.

    Parameters
    ----------
    name : str
        File name without ``.json``.

    Returns
    -------
    dict
    """
    loaded: dict[str, Any] = json.loads((files("kinetoscope") / "data" / f"{name}.json").read_text("utf-8"))
    return loaded


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Return a compiled name pattern of ``data/names.json``."""
    return re.compile(table("names")[name], re.IGNORECASE)


class KindTable:
    """Tell the kind of an event from its category, and where that is not enough from its name too."""

    def __init__(self, rules: dict[str, Any] | None = None) -> None:
        rules = table("kinds") if rules is None else rules
        self._exact: dict[str, str] = {}
        self._suffix: list[tuple[str, str]] = []
        for kind, categories in rules["categories"].items():
            for category in categories:
                if category.startswith("*"):
                    self._suffix.append((category[1:], kind))
                else:
                    self._exact[category] = kind
        self._names: list[dict[str, Any]] = rules["names"]
        self._linking = frozenset(rules["forward_backward_flows"])

    def of_category(self, category: str) -> str:
        """Return the kind of a category; ``other`` when it is not known."""
        lowered = category.lower()
        if lowered in self._exact:
            return self._exact[lowered]
        return next((kind for suffix, kind in self._suffix if lowered.endswith(suffix)), "other")

    def argument_group(self, category: str) -> str:
        """Return which arguments figures need of a category: a key of :data:`kinetoscope.reading.gather.FIELDS`."""
        groups = {"op": "host", "annotation": "host", "api_call": "host", "python": "frame"}
        groups |= {"memory": "nothing", "trace": "nothing", "flow": "nothing"}
        return "name" if not category else groups.get(self.of_category(category), "device")

    def exceptions(self, category: str) -> list[tuple[str, str]]:
        """Return ``(prefix of name, kind)`` rules that override a category's kind."""
        lowered = category.lower()
        return [(rule["prefix"], rule["kind"]) for rule in self._names if lowered in rule["categories"]]

    def links_forward_to_backward(self, category: str) -> bool:
        """Tell whether a flow category ties a forward op to its backward op."""
        return category.lower() in self._linking


class Column(NamedTuple):
    """What a column means: its name, its unit (``""`` for none), its type on the wire, and one sentence."""

    name: str
    unit: str
    type: str
    description: str


IDENTITY = {
    "rank": Column("rank", "", "integer", "Rank of the process."),
    "span": Column("span", "", "text", "Number of the recording of this rank, in time order."),
    "run": Column("run", "", "text", "Folder of the run, relative to the log directory."),
}
"""What comes before a view's own columns where it is asked of several traces."""


def _columns(*rows: tuple[str, str, str, str]) -> tuple[Column, ...]:
    return tuple(Column(*row) for row in rows)


_EVENT = _columns(
    ("name", "", "text", "Name as recorded."),
    ("start_ns", "ns", "integer", "Start, counted from the trace's first timed event (origin_ns)."),
    ("duration_ns", "ns", "integer", "Length as recorded."),
)
_THREAD = _columns(
    ("pid", "", "text", "Process of the thread, as recorded."),
    ("tid", "", "integer", "Thread."),
)
_DEVICE = _columns(
    ("device", "", "integer", "Device number, as recorded."),
    ("stream", "", "integer", "Stream of the device; missing when not recorded."),
    (
        "correlation",
        "",
        "integer",
        "Correlation id that ties device work to the API call that launched it; missing when 0 or not recorded.",
    ),
)
_STEP = _columns(
    (
        "step",
        "",
        "integer",
        "Number of the step: of device work, the step whose host range holds the start of its launch call; of host events, the step whose host range holds its start; missing outside all steps.",
    )
)
_LAUNCH = _columns(
    ("launch", "", "integer", "Id of the API call that launched the work; missing when the file does not hold it."),
    ("op", "", "integer", "Id of the innermost op around the launch call on its thread; missing without one."),
)

FRAMES: dict[str, tuple[Column, ...]] = {
    "events": (
        *_columns(
            ("kind", "", "text", "Kind of event, from its category."), ("category", "", "text", "Category as recorded.")
        ),
        *_EVENT,
        *_THREAD,
        *_DEVICE,
        *_columns(
            ("parent", "", "integer", "Id of the innermost host event on the same thread that contains this one.")
        ),
        *_STEP,
        *_columns(("timed", "", "boolean", "False when start or length is not usable; such events are in no figure.")),
    ),
    "kernels": (
        *_EVENT,
        *_DEVICE,
        *_LAUNCH,
        *_STEP,
        *_columns(
            ("communication", "", "boolean", "True for a collective's or point-to-point kernel."),
            ("grid", "", "text", "Blocks launched, x, y, z."),
            ("block", "", "text", "Threads per block, x, y, z."),
            ("registers", "", "integer", "Registers per thread."),
            ("shared_memory", "bytes", "integer", "Shared memory per block, static and dynamic."),
            ("blocks_per_sm", "", "number", "Blocks launched per streaming multiprocessor."),
            ("occupancy_pct", "%", "number", "Achieved occupancy as the recorder estimated it from the launch."),
        ),
    ),
    "memory_copies": (
        *_columns(("kind", "", "text", "memcpy or memset.")),
        *_EVENT,
        *_DEVICE,
        *_LAUNCH,
        *_STEP,
        *_columns(
            ("bytes", "bytes", "integer", "Bytes moved or set."),
            ("bandwidth_gb_per_s", "GB/s", "number", "Bandwidth as recorded."),
        ),
    ),
    "api_calls": (
        *_EVENT,
        *_THREAD,
        *_columns(
            ("correlation", "", "integer", "Correlation id."),
            ("op", "", "integer", "Id of the innermost op around the call."),
            ("works", "", "integer", "Device works that it launched."),
        ),
        *_STEP,
    ),
    "launches": (
        *_EVENT,
        *_THREAD,
        *_columns(
            ("correlation", "", "integer", "Correlation id."),
            ("op", "", "integer", "Id of the innermost op around the call."),
            ("works", "", "integer", "Device works that it launched; 0 when none was recorded."),
            ("first_work", "", "integer", "Id of the first work."),
            ("delay_ns", "ns", "integer", "Start of the first work − start of the call; negative is a clock error."),
        ),
        *_STEP,
    ),
    "ops": (
        *_EVENT,
        *_THREAD,
        *_columns(
            ("parent", "", "integer", "Id of the innermost host event that contains the op."),
            ("external_id", "", "integer", "External id."),
            ("sequence_number", "", "integer", "Autograd sequence number."),
            ("forward_thread", "", "integer", "Fwd thread id: above 0 on backward ops."),
            ("forward", "", "integer", "Id of the forward op that this backward op belongs to."),
        ),
        *_STEP,
    ),
    "annotations": (
        *_EVENT,
        *_THREAD,
        *_columns(("parent", "", "integer", "Id of the innermost host event that contains it.")),
        *_STEP,
    ),
    "python_calls": (
        *_EVENT,
        *_THREAD,
        *_columns(("parent", "", "integer", "Id of the innermost host event that contains it.")),
        *_STEP,
    ),
    "steps": _columns(
        ("step", "", "integer", "Number of the step."),
        ("name", "", "text", "Name of the marker."),
        ("event", "", "integer", "Id of the marker."),
        ("host_start_ns", "ns", "integer", "Start of the marker."),
        ("host_end_ns", "ns", "integer", "End of the marker."),
        (
            "start_ns",
            "ns",
            "integer",
            "Start of the period: the marker's start, or the end of the period before if later.",
        ),
        (
            "end_ns",
            "ns",
            "integer",
            "End of the period: the marker's end, or the end of the last device work launched in it if later.",
        ),
        ("tail_ns", "ns", "integer", "Device work after the marker's end."),
        ("works", "", "integer", "Device works launched in the step."),
        (
            "incomplete",
            "",
            "boolean",
            "True for a last step with fewer than 80 % of the device works of the step before.",
        ),
    ),
}
"""Columns of each frame of a trace. All frames are indexed by ``id``, an event's position in the file's event list; ``steps`` by position."""
