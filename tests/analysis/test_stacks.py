"""Call stacks as trees, by hand and as properties."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import random_traces
from build import TraceBuilder
from kinetoscope.operators import calltree
from kinetoscope.operators.keys import thread_titles
from kinetoscope.operators.stacks import place_of
from tables import rows, trace_of

TREE = ("depth", "name", "host_self_us", "host_total_us", "device_self_us", "device_total_us")

REST = (0, None, 0, 0, 0, 0)
"""Of the program below: idle time after its last frame has ended has no stack."""


def program() -> TraceBuilder:
    """Return main, which calls work twice; work launches a kernel each time, main launches one itself."""
    builder = TraceBuilder().python(0, 100, "train.py(1): main")
    for start in (10, 40):
        builder.python(start, start + 20, "lib/work.py(7): work").launch(start + 5, start + 6, start)
        builder.kernel(start + 100, start + 110, correlation=start)
    return builder.launch(80, 81, 1).kernel(200, 205, correlation=1)


def test_from_the_top() -> None:
    trace = trace_of(program())
    assert rows(trace, "stacks", *TREE) == [
        (0, "train.py(1): main", 60, 100, 5, 25),
        (1, "lib/work.py(7): work", 40, 40, 20, 20),
        REST,
    ]
    assert rows(trace, "stacks", "id", "parent", "file", "line", "share_pct") == [
        (0, None, "train.py", 1, 100),
        (1, 0, "lib/work.py", 7, 80),
        (2, None, None, None, 0),
    ]


def test_from_the_bottom() -> None:
    assert rows(trace_of(program()), "stacks", *TREE, form="inverted") == [
        (0, "lib/work.py(7): work", 40, 40, 20, 20),
        (1, "train.py(1): main", 0, 40, 0, 20),
        (0, "train.py(1): main", 60, 60, 5, 5),
        REST,
    ]


def test_by_file_counts_a_stack_once() -> None:
    builder = TraceBuilder().python(0, 100, "a.py(1): f").python(10, 90, "a.py(2): g").python(20, 80, "a.py(1): f")
    found = rows(trace_of(builder), "stacks", "depth", "name", "host_self_us", "host_total_us", form="file")
    assert found == [(0, "a.py", 0, 100), (1, "a.py(1): f", 80, 100), (1, "a.py(2): g", 20, 80)]


def test_equal_frames_of_two_threads_are_one() -> None:
    builder = TraceBuilder().python(0, 10, "a.py(1): f").python(0, 30, "a.py(1): f", tid=2)
    assert rows(trace_of(builder), "stacks", "name", "host_self_us") == [("a.py(1): f", 40)]


def test_backward_work_counts_where_its_forward_op_was() -> None:
    builder = TraceBuilder().python(0, 20, "model.py(5): forward").op(2, 18, "op", seq=1)
    builder.op(50, 80, "OpBackward", tid=2, seq=1, fwd_thread=1).launch(52, 53, 1, tid=2).kernel(55, 75, correlation=1)
    builder.launch(85, 86, 2, tid=2).kernel(90, 94, correlation=2)
    assert rows(trace_of(builder), "stacks", "name", "device_self_us", "host_self_us") == [
        ("model.py(5): forward", 20, 20),
        (None, 4, 0),
    ]


def test_sources_of_operators_and_kernels() -> None:
    builder = (
        TraceBuilder().python(0, 20, "model.py(5): forward").python(1, 19, "torch/nn/modules/linear.py(1): forward")
    )
    builder.op(2, 18, "op", seq=1).launch(3, 4, 3).kernel(20, 23, correlation=3)
    builder.op(50, 80, "OpBackward", tid=2, seq=1, fwd_thread=1).launch(52, 53, 1, tid=2).kernel(55, 75, correlation=1)
    builder.op(90, 95, "alone").launch(91, 92, 2).kernel(96, 97, correlation=2)
    trace = trace_of(builder)
    assert rows(trace, "kernels", "source", "total_us", by="source") == [("model.py(5): forward", 23), (None, 1)]
    assert rows(trace, "operators", "name", "source", "device_self_us", by="name,source") == [
        ("OpBackward", "model.py(5): forward", 20),
        ("op", "model.py(5): forward", 3),
        ("alone", None, 1),
    ]
    assert rows(trace, "kernel_calls", "duration_us", source="model.py(5): forward") == [(3,), (20,)]
    assert rows(trace, "kernel_calls", "duration_us", source="") == [(1,)]
    without = trace_of(TraceBuilder().kernel(0, 1))
    assert rows(without, "kernels", "source", by="source") == [(None,)]
    assert "No stacks were recorded" in without.view("kernels", by="source").attrs["notes"][0]


def test_what_is_small_is_one_row_under_its_parent() -> None:
    builder = TraceBuilder().python(0, 1000, "a.py(1): main").python(0, 600, "a.py(2): large")
    for number in range(4):
        builder.python(600 + number, 601 + number, f"a.py({10 + number}): small").python(
            600 + number, 601 + number, f"b.py({number}): below"
        )
    found = rows(
        trace_of(builder), "stacks", "depth", "name", "nodes", "host_self_us", "host_total_us", min_share_pct=1
    )
    assert found == [
        (0, "a.py(1): main", 1, 396, 1000),
        (1, "a.py(2): large", 1, 600, 600),
        (1, "(smaller)", 8, 4, 4),
    ]
    assert len(rows(trace_of(builder), "stacks", "name", min_share_pct=0)) == 10


def test_stacks_of_old_recordings_are_in_the_arguments() -> None:
    stack = "model.py(9): forward;train.py(3): main;"
    builder = (
        TraceBuilder().op(0, 10, "aten::mm", **{"Call stack": stack}).launch(2, 3, 1).kernel(20, 27, correlation=1)
    )
    trace = trace_of(builder.op(20, 25, "aten::add"))
    assert rows(trace, "stacks", *TREE) == [
        (0, "train.py(3): main", 0, 10, 0, 7),
        (1, "model.py(9): forward", 10, 10, 7, 7),
        (0, None, 5, 5, 0, 0),
    ]
    found = rows(trace, "operators", "name", "stack", by="stack")
    assert found == [("aten::mm", "train.py(3): main > model.py(9): forward"), ("aten::add", None)]


def test_allocations_and_ops_as_frames() -> None:
    builder = TraceBuilder().python(0, 50, "a.py(1): f").op(5, 45, "aten::empty").memory(10, 512).memory(20, 256)
    builder.memory(30, -512).memory(60, 64)
    trace = trace_of(builder)
    names = ("name", "allocated_self_bytes", "allocated_total_bytes")
    assert rows(trace, "stacks", *names, weight="allocated") == [("a.py(1): f", 768, 768), (None, 64, 64)]
    assert rows(trace, "stacks", *names, frames="all") == [
        ("a.py(1): f", 0, 768),
        ("aten::empty", 768, 768),
        (None, 64, 64),
    ]


def test_places_of_frames() -> None:
    assert place_of("a/b(c).py(12): <lambda>") == ("a/b(c).py", 12, "<lambda>")
    assert place_of("<built-in method f>") == ("", -1, "<built-in method f>")
    assert place_of("a.py(99999999999999999999): f")[1] == -1


@given(random_traces.traces(), st.sampled_from(["top_down", "inverted", "file"]), st.sampled_from([0, 20]))
def test_own_values_add_up(builder: TraceBuilder, form: str, least: float) -> None:
    trace = trace_of(builder)
    frame = trace.view("stacks", form=form, min_share_pct=least)
    assert round(frame["device_self_us"].sum() * 1000) == int(trace.columns.duration[trace.work].sum())
    segments = trace.idle_segments
    assert round(frame["idle_self_us"].sum() * 1000) == int((segments.end - segments.start).sum())
    for weight in ("host", "device", "idle"):
        assert (frame[f"{weight}_self_us"] <= frame[f"{weight}_total_us"]).all()
    if form == "top_down":
        below = frame.groupby("parent")["host_total_us"].sum()
        inner = frame.set_index("id").loc[below.index]
        assert np.allclose(inner["host_total_us"] - inner["host_self_us"], below)


def test_a_selection_cuts_or_chooses() -> None:
    trace = trace_of(program())
    host, device = ("name", "host_self_us"), ("name", "device_self_us")
    # frames that start in it, whole; device work that starts in it
    assert rows(trace, "stacks", *host, start_us=10, end_us=50, weight="host") == [
        ("train.py(1): main", 0),
        ("lib/work.py(7): work", 40),
    ]
    assert rows(trace, "stacks", *device, start_us=200, end_us=300) == [("train.py(1): main", 5)]
    assert ("lib/work.py(7): work", 10) in rows(trace, "stacks", *device, start_us=0, end_us=30, within="launch")
    assert rows(trace, "stacks", *host, "share_pct", start_us=25, end_us=45, within="run", weight="host") == [
        ("train.py(1): main", 10, 100),
        ("lib/work.py(7): work", 10, 50),
    ]
    assert "There is no step 3" in trace.view("stacks", step=3).attrs["notes"][0]


def deep() -> TraceBuilder:
    """Return main, which calls a large function once and ten small ones, each of which calls one of its own."""
    builder = TraceBuilder().python(0, 10_000, "a.py(1): main").python(0, 9_000, "a.py(2): large")
    for number in range(10):
        builder.python(9_000 + 10 * number, 9_010 + 10 * number, f"b.py({number}): small")
        builder.python(9_001 + 10 * number, 9_003 + 10 * number, f"c.py({number}): tiny")
    return builder


def test_the_longest_call_of_a_stack() -> None:
    builder = TraceBuilder().python(0, 100, "a.py(1): main").python(10, 20, "b.py(1): f").python(30, 50, "b.py(1): f")
    builder.python(200, 300, "b.py(1): f").python(210, 220, "c.py(1): g")
    trace = trace_of(builder)

    def found(**asked: Any) -> list[tuple[Any, ...]]:
        return rows(trace, "stacks", "depth", "name", "longest_id", weight="host", min_share_pct=0, **asked)

    assert found()[:4] == [
        (0, "a.py(1): main", 0),
        (1, "b.py(1): f", 2),
        (0, "b.py(1): f", 3),
        (1, "c.py(1): g", 4),
    ]
    assert found(start_us=0, end_us=25)[:2] == [(0, "a.py(1): main", 0), (1, "b.py(1): f", 1)]
    # what it was called from below: the longest f that main called
    assert (1, "a.py(1): main", 2) in found(form="inverted")
    assert (0, "b.py(1): f", 3) in found(form="inverted")
    assert (1, "b.py(1): f", 3) in found(form="file")


def test_what_is_left_out_is_told_below_a_node() -> None:
    trace = trace_of(deep())
    columns = ("depth", "name", "host_total_us", "nodes")
    whole = trace.view("stacks", weight="host", min_share_pct=5)
    assert rows(trace, "stacks", *columns, weight="host", min_share_pct=5) == [
        (0, "a.py(1): main", 10_000, 1),
        (1, "a.py(2): large", 9_000, 1),
        (1, "(smaller)", 100, 20),
    ]
    # (smaller) names the node above it, and of that node less is left out once it is the whole
    (root,) = whole.loc[whole["name"] == "(smaller)", "node"]
    assert root == whole["node"][0]
    small = trace.view("stacks", weight="host", min_share_pct=0)
    (one,) = small.loc[small["name"] == "b.py(3): small", "node"]
    assert rows(trace, "stacks", *columns, weight="host", min_share_pct=5, root=int(one)) == [
        (0, "a.py(1): main", 10_000, 1),
        (1, "b.py(3): small", 10, 1),
        (2, "c.py(3): tiny", 2, 1),
        (1, "(smaller)", 9_090, 19),
    ]
    assert trace.view("stacks", root=10**6).attrs["notes"][0] == "There is no node 1000000."


def test_nodes_are_those_of_the_selection() -> None:
    builder = deep()
    for number in range(30):
        builder.python(10 * number, 10 * number + 9, f"other.py({number}): work", tid=2)
    trace = trace_of(builder)
    own, other = (next(title for title in thread_titles(trace) if str(tid) in title) for tid in (1, 2))
    counted = {
        title: trace.view("stacks", weight="host", min_share_pct=50, thread=title)["nodes"].sum()
        for title in (own, other, None)
    }
    assert counted == {own: 22, other: 30, None: 52}


def test_what_is_searched_for_is_never_left_out() -> None:
    trace = trace_of(deep())
    found = rows(trace, "stacks", "name", weight="host", min_share_pct=5, find="TINY -c.py(3) c.py")
    assert [name for (name,) in found if name.endswith("tiny")] == [f"c.py({i}): tiny" for i in range(10) if i != 3]
    assert rows(trace, "stacks", "name", weight="host", min_share_pct=5, find="nothing") == rows(
        trace, "stacks", "name", weight="host", min_share_pct=5
    )


def test_one_thread_and_what_it_launched() -> None:
    builder = program().python(0, 300, "wait.py(1): idle", tid=2)
    trace = trace_of(builder)
    titles = thread_titles(trace)
    own, other = (next(title for title in titles if str(tid) in title) for tid in (1, 2))
    assert rows(trace, "stacks", "name", "host_self_us", "device_self_us", thread=own, min_share_pct=0)[:2] == [
        ("train.py(1): main", 60, 5),
        ("lib/work.py(7): work", 40, 20),
    ]
    assert rows(trace, "stacks", "name", "host_self_us", "device_self_us", thread=other, weight="host") == [
        ("wait.py(1): idle", 300, 0)
    ]


def test_threads_by_the_titles_that_stacks_take() -> None:
    builder = program().python(0, 300, "wait.py(1): idle", tid=2).python(10, 20, "wait.py(2): inner", tid=2)
    trace = trace_of(builder)
    found = rows(trace, "threads", "tid", "events", "open_us")
    # launches and frames of the first thread: main is open all the time
    assert found == [("2", 2, 300), ("1", 6, 100)]
    for (title,) in rows(trace, "threads", "thread"):
        assert trace.view("stacks", thread=title, weight="host")["host_self_us"].sum() in (100, 300)
    assert "There is no thread 'nobody'" in trace.view("stacks", thread="nobody").attrs["notes"][0]


def test_an_address_makes_no_frame_another_one() -> None:
    builder = TraceBuilder().python(0, 10, "<built-in method apply of F object at 0x7f01>")
    builder.python(20, 50, "<built-in method apply of F object at 0x55AB>").python(60, 61, "say(1): at 0x1f")
    assert rows(trace_of(builder), "stacks", "name", "host_self_us") == [
        ("<built-in method apply of F object>", 40),
        ("say(1): at 0x1f", 1),
    ]


def test_callers_of_deep_chains_are_followed_so_far() -> None:
    builder = TraceBuilder()
    for number in range(600):
        builder.python(number, 3000 - number, f"a.py({number}): f")
    frame = trace_of(builder).view("stacks", form="inverted", min_share_pct=0)
    assert frame["depth"].max() == calltree.DEEPEST - 1
    assert frame["host_self_us"].sum() == 3000
    assert "Callers are followed 512 frames up." in frame.attrs["notes"]


def test_idle_time_and_allocations_of_a_selection() -> None:
    builder = TraceBuilder().python(0, 100, "a.py(1): f").memory(10, 16).memory(60, 32)
    builder.launch(50, 51, 1).kernel(0, 20).kernel(60, 70, correlation=1)
    trace = trace_of(builder)
    assert rows(trace, "stacks", "idle_self_us", "allocated_self_bytes") == [(70, 48), (0, 0)]
    # idle time is cut whatever is asked
    assert rows(trace, "stacks", "idle_self_us", "allocated_self_bytes", start_us=0, end_us=30) == [(10, 16), (0, 0)]


@given(random_traces.traces(), st.integers(0, 100), st.sampled_from(["top_down", "inverted"]))
def test_parts_of_a_cut_add_up(builder: TraceBuilder, cut: int, form: str) -> None:
    trace = trace_of(builder)
    whole, *parts = (
        trace.view("stacks", form=form, min_share_pct=0, within="run", **part)
        for part in ({}, {"end_us": cut}, {"start_us": cut})
    )
    for column in ("host_self_us", "device_self_us", "idle_self_us", "allocated_self_bytes"):
        assert np.isclose(sum(part[column].sum() for part in parts), whole[column].sum(), atol=1e-6)


CHAINS = st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=12)


@given(CHAINS)
def test_trees_of_chains(chains: list[list[int]]) -> None:
    tree, leaf = calltree.of_chains(chains)

    def path(node: int) -> list[int]:
        return [*path(int(tree.parent[node])), int(tree.key[node])] if node >= 0 else []

    assert [path(node) for node in leaf.tolist()] == chains
    assert len({tuple(path(node)) for node in range(len(tree))}) == len(tree)
    order = tree.preorder(np.arange(len(tree)))
    open_nodes: list[int] = []
    for node in order.tolist():
        while open_nodes and open_nodes[-1] != tree.parent[node]:
            open_nodes.pop()
        assert (open_nodes[-1] if open_nodes else -1) == tree.parent[node]
        open_nodes.append(node)
    assert sorted(order.tolist()) == list(range(len(tree)))
    turned, sources, root, nodes = calltree.reverse(tree, np.isin(np.arange(len(tree)), leaf))
    for level, (source, node) in enumerate(zip(sources, nodes, strict=True)):
        for one, at in zip(source.tolist(), node.tolist(), strict=True):
            assert turned.key[at] == path(one)[::-1][level]
    assert root.size == len(set(leaf.tolist()) - {-1})
