"""Traces made for the pages of idle time and advice, and what Python says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from browser import reading
from build import TraceBuilder
from kinetoscope.views import registry

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

LINE = "/home/ada/train.py(81): main"


def story() -> TraceBuilder:
    """Return two equal steps of 1 ms with three gaps each.

    325 µs for data loading, launch and latency; 142 µs that a blocking call begins; and 100 µs of Python at the end.
    """
    trace = TraceBuilder(record_shapes=1, with_stack=1)
    for step, at in enumerate((0, 1000)):
        call = 10 * step
        trace.step(step, at, at + 1000).python(at + 1, at + 999, LINE).loader(at + 2, at + 300)
        trace.launch(at + 310, at + 320, call + 1).kernel(at + 325, at + 500, name="gemm", correlation=call + 1)
        trace.op(at + 400, at + 640, "aten::item").launch(at + 410, at + 625, name="cudaStreamSynchronize")
        trace.launch(at + 633, at + 640, call + 2).kernel(at + 642, at + 900, name="relu", correlation=call + 2)
    return trace


def view(path: Path, what: str, **parameters: Any) -> pd.DataFrame:
    """Return a view of a trace, as the command line has it."""
    return registry.get(what).run(reading.trace(path), **parameters)


def nanoseconds(frame: pd.DataFrame, column: str) -> list[int]:
    """Return the exact whole nanoseconds of a column."""
    return [reading.nanoseconds(value) for value in frame[column]]
