"""Random small traces with everything that idle time and critical paths turn on, for properties."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from build import TraceBuilder

SPAN = st.tuples(st.integers(1, 60), st.integers(0, 25))
HOST = st.sampled_from(["op", "annotation", "loader", "python", "sync", "malloc", "compile"])


@st.composite
def traces(draw: st.DrawFn) -> TraceBuilder:
    """Return a small trace with host events of all sorts on two threads, some of which cross, and launches and works."""
    builder = TraceBuilder()
    if draw(st.booleans()):
        builder.step(0, 2, draw(st.integers(10, 50)), tid=draw(st.integers(1, 2)))
    for sort, (start, length), tid in draw(st.lists(st.tuples(HOST, SPAN, st.integers(1, 2)), max_size=10)):
        end = start + length
        add: dict[str, Any] = {
            "op": lambda s, e, t: builder.op(s, e, f"op{s}", tid=t),
            "annotation": lambda s, e, t: builder.annotation(s, e, "range", tid=t),
            "loader": lambda s, e, t: builder.loader(s, e, tid=t),
            "python": lambda s, e, t: builder.python(s, e, tid=t),
            "sync": lambda s, e, t: builder.launch(s, e, name="cudaDeviceSynchronize", tid=t),
            "malloc": lambda s, e, t: builder.launch(s, e, name="cudaMalloc", tid=t),
            "compile": lambda s, e, t: builder.annotation(s, e, "compile_inner", tid=t),
        }
        add[sort](start, end, tid)
    works = st.tuples(SPAN, SPAN, st.integers(1, 2), st.integers(0, 1), st.booleans(), st.integers(0, 5))
    for number, (call, work, tid, device, known, twin) in enumerate(draw(st.lists(works, min_size=1, max_size=6)), 1):
        if known:
            builder.launch(call[0], call[0] + call[1], number, tid=tid)
        place = {"correlation": number, "device": device, "stream": 7 + twin % 2}
        builder.kernel(work[0], work[0] + work[1], **place)
        if twin == 0:  # a graph: two works of one call
            builder.kernel(work[0] + work[1] + 3, work[0] + work[1] + 9, **place)
    return builder
