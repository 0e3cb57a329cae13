"""Read small traces and their tables in µs, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kinetoscope as ks
from kinetoscope.reading.arguments import Arguments
from kinetoscope.reading.classify import build
from kinetoscope.reading.decode import decode
from kinetoscope.source import Source
from kinetoscope.trace import Trace

if TYPE_CHECKING:
    from build import TraceBuilder

SPLIT = ("compute", "communication", "memcpy", "memset", "api", "data_loader", "op", "python", "unrecorded")


def trace_of(builder: TraceBuilder) -> Trace:
    """Return a built trace without a file."""
    decoded, source = decode(builder.bytes()), Source("built")
    columns = build(decoded)
    return ks.Trace(columns, decoded.metadata, source, arguments=Arguments(source, columns, builder.bytes()))


def rows(trace: Trace, view: str, *columns: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Return some columns of a view as plain rows; missing is None."""
    frame = trace.view(view, **parameters)
    kept = frame[list(columns)].astype(object)
    return [tuple(row) for row in kept.where(kept.notna(), None).itertuples(index=False)]


def split(trace: Trace) -> list[dict[str, float]]:
    """Return the nine-way split of each step, without the parts that are nothing."""
    found = trace.view("steps").to_dict("records")
    return [{part: step[f"{part}_us"] for part in SPLIT if step[f"{part}_us"]} for step in found]


def severity_of(trace: Trace, check: str) -> str:
    """Return how serious a check of a trace is."""
    frame = trace.health().set_index("check")
    return str(frame.loc[check, "severity"])
