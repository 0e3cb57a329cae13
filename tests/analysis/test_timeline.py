"""The timeline: rows without overlaps, tiles that lose no time and no event, search that counts what the frames count."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.errors import ChoiceError
from kinetoscope.timeline import Timeline, levels, tiles
from kinetoscope.timeline.lanes import KIND_NAMES
from tables import trace_of

WIDE = ("start", "length", "id", "name", "count")
SMALL = ("kind", "busy", "flags", "pad")


def read_tile(data: bytes) -> dict:
    """Decode a tile as docs/wire.md lays it out."""
    magic, n, r, version, t0, t1, quantum, tick = struct.unpack_from("<4sIIIdddd", data)
    assert (magic, version) == (b"KTL1", 1)
    at = 48
    table = np.frombuffer(data, "<u4", 2 * r, at).reshape(r, 2)
    at += 8 * r
    tile = {"t0": t0, "t1": t1, "quantum": quantum, "tick": tick, "n": n}
    for name in WIDE:
        tile[name] = np.frombuffer(data, "<u4", n, at).astype(np.int64)
        at += 4 * n
    for name in SMALL:
        tile[name] = np.frombuffer(data, "u1", n, at).astype(np.int64)
        at += n
    assert at == len(data)
    tile["row"] = np.repeat(table[:, 0], table[:, 1])
    return tile


HOST = st.lists(
    st.tuples(st.sampled_from(["op", "python", "launch"]), st.integers(0, 300), st.integers(0, 80), st.integers(1, 2)),
    max_size=40,
)
DEVICE = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40), st.integers(1, 2)), max_size=20)


def built(host, device):
    builder = TraceBuilder()
    for kind, start, length, tid in host:
        more = {} if kind == "launch" else {"name": kind}
        getattr(builder, kind)(start, start + length, tid=tid, **more)
    for start, length, stream in device:
        builder.kernel(start, start + length, stream=stream)
    return trace_of(builder)


@given(HOST, DEVICE)
def test_rows_hold_every_event_once_and_none_overlaps(host, device):
    trace = built(host, device)
    timeline = Timeline(trace)
    lanes, rows = timeline._layout
    drawn = rows.event[rows.kind != KIND_NAMES.index("idle")]
    assert sorted(drawn.tolist()) == list(range(len(trace)))
    assert (rows.kind == KIND_NAMES.index("idle")).sum() == len(trace.view("gaps"))
    for number in range(rows.count):
        part = rows.row(number)
        assert (rows.start[part][1:] >= rows.end[part][:-1]).all()
    assert sum(lane.rows for lane in lanes) == rows.count


@given(HOST, DEVICE, st.integers(0, 300), st.integers(1, 200), st.integers(1, 50))
def test_tiles_show_what_touches_the_window_and_keep_counts(host, device, start, length, px):
    trace = built(host, device)
    timeline = Timeline(trace)
    rows = timeline._layout[1]
    t0, t1 = start * 1000, (start + length) * 1000
    tile = read_tile(timeline.tile(list(range(rows.count)), t0, t1, px))
    touching = (rows.start < t1) & ((rows.end > t0) | ((rows.start == rows.end) & (rows.start >= t0)))
    assert tile["count"].sum() == touching.sum()
    for number in range(rows.count):
        part, mine = rows.row(number), tile["row"] == number
        assert tile["count"][mine].sum() == touching[part].sum()
        begin, end = tile["start"][mine], (tile["start"] + tile["length"])[mine]
        assert (begin[1:] >= end[:-1]).all()
        assert (end <= t1 - t0).all()
    single = tile["count"] == 1
    assert ((tile["flags"][single] & 1) == 0).all()
    assert ((tile["flags"][~single] & 1) == 1).all()
    assert (tile["length"][~single] <= 2 * tile["quantum"] + 1).all()


@given(HOST, st.integers(0, 300), st.integers(1, 300), st.integers(1, 60))
def test_levels_show_what_the_events_show(host, start, length, px):
    trace = built(host, [])
    rows = Timeline(trace)._layout[1]
    if not rows.start.size:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "FEWEST", 0)
        patch.setattr(levels, "_SHRINK", 1.0)
        patch.setattr(levels, "_FIRST_NS", 250)
        found = levels.build(rows)
    t0, t1 = start * 1000, (start + length) * 1000
    quantum = max((t1 - t0) / px, 1.0)
    every = list(range(rows.count))
    fine, coarse = tiles.cut(found[:1], every, (t0, t1), quantum), tiles.cut(found, every, (t0, t1), quantum)
    for number in every:
        a, b = fine.row == number, coarse.row == number
        # a rectangle that was merged beforehand may reach over the window's edges by less than a bucket
        assert abs(int(fine.busy[a].sum()) - int(coarse.busy[b].sum())) <= 2 * quantum
        assert coarse.events[b].sum() >= fine.events[a].sum()
        assert (coarse.start[b][1:] >= coarse.end[b][:-1]).all()
    whole = tiles.cut(found, every, (0, int(rows.end.max()) + 1), 1e5)
    assert whole.events.sum() == rows.start.size
    assert whole.busy.sum() == (rows.end - rows.start).sum()
    assert whole.longest.max() == (rows.end - rows.start).max()


def test_a_tile_by_hand():
    builder = (
        TraceBuilder()
        .kernel(0, 100)
        .kernel(200, 201)
        .kernel(202, 203)
        .kernel(204, 206, name="longest")
        .kernel(400, 500)
    )
    timeline = Timeline(trace_of(builder))
    stream = next(lane for lane in timeline.lanes()["lanes"] if lane["kind"] == "stream")
    tile = read_tile(timeline.tile([stream["first_row"]], 50_000, 450_000, 40))
    assert tile["start"].tolist() == [0, 150_000, 350_000]
    assert tile["length"].tolist() == [50_000, 6_000, 50_000]
    assert tile["count"].tolist() == [1, 3, 1]
    assert tile["id"].tolist() == [0, 3, 4]
    assert [timeline.names()[name] for name in tile["name"]] == ["kernel", "longest", "kernel"]
    assert tile["flags"].tolist() == [2, 1, 4]
    assert tile["busy"].tolist() == [255, 170, 255]
    assert tile["quantum"] == 10_000


def test_long_windows_count_in_coarser_ticks():
    timeline = Timeline(trace_of(TraceBuilder().op(0, 1).op(20_000_000, 20_000_001)))
    tile = read_tile(timeline.tile([0], 0, 20_000_001_000, 1000))
    assert tile["tick"] == 8
    assert (tile["start"] * tile["tick"]).tolist() == [0, 20_000_000_000]


def test_the_idle_row_shows_the_gaps_by_number():
    builder = TraceBuilder().step(0, 0, 100).kernel(10, 20, name="A").kernel(50, 60, name="B")
    timeline = Timeline(trace_of(builder))
    idle = next(lane for lane in timeline.lanes()["lanes"] if lane["kind"] == "idle")
    tile = read_tile(timeline.tile([idle["first_row"]], 0, 100_000, 1000))
    assert tile["id"].tolist() == [0, 1, 2]
    assert [timeline.names()[name] for name in tile["name"]] == ["A", "B", "window end"]
    assert (idle["events"], idle["busy_ns"]) == (3, 80_000)


def test_lanes_are_devices_then_processes_and_say_what_they_hold():
    builder = TraceBuilder().step(0, 0, 100, tid=5).op(0, 50, tid=2).op(60, 70, tid=2).kernel(0, 10)
    builder.kernel(0, 30, name="ncclDevKernel_x", stream=20).memcpy(0, 10, stream=30)
    lanes = Timeline(trace_of(builder)).lanes()["lanes"]
    assert [(lane["kind"], lane["title"]) for lane in lanes] == [
        ("gpu", "GPU 0"),
        ("idle", "Idle"),
        ("stream", "Stream 7"),
        ("stream", "Stream 20"),
        ("stream", "Stream 30"),
        ("process", "Process 1"),
        ("thread", "Thread 5"),
        ("thread", "Thread 2"),
    ]
    assert [lane["detail"] for lane in lanes if lane["kind"] == "stream"] == ["compute", "communication", "copies"]
    assert all(lane["parent"] is None or lane["parent"] < lane["lane"] for lane in lanes)


def test_an_event_tells_its_links(tmp_path):
    builder = (
        TraceBuilder().step(3, 0, 100).python(1, 90, "train.py(7): step").op(5, 40, "aten::linear", seq=1, fwd_thread=0)
    )
    builder.op(8, 30, "aten::addmm").launch(10, 12, 7).kernel(20, 50, correlation=7, args={"grid": [1, 2, 3]})
    builder.op(60, 80, "AddmmBackward0", seq=1, fwd_thread=1, tid=2)
    timeline = Timeline(ks.load(builder.write(tmp_path / "t.json")))
    kernel = timeline.event(5)
    assert (kernel["launch"]["id"], kernel["op"]["name"], kernel["step"]) == (4, "aten::addmm", 3)
    assert [parent["name"] for parent in kernel["parents"]] == [
        "ProfilerStep#3",
        "train.py(7): step",
        "aten::linear",
        "aten::addmm",
        "cudaLaunchKernel",
    ]
    assert kernel["args"]["grid"] == [1, 2, 3]
    launch = timeline.event(4)
    assert ([work["id"] for work in launch["works"]], launch["works_total"]) == ([5], 1)
    assert timeline.event(6)["forward"]["name"] == "aten::linear"
    assert [op["id"] for op in timeline.event(2)["backward"]] == [6]
    assert timeline.event(0)["same_name"]["calls"] == 1


def test_neighbors_walk_along_a_row():
    timeline = Timeline(trace_of(TraceBuilder().kernel(0, 1).kernel(2, 3).kernel(4, 5)))
    assert timeline.neighbor(0, 1)["event"]["id"] == 1
    assert timeline.neighbor(1, -1)["event"]["id"] == 0
    assert timeline.neighbor(2, 1)["event"] is None


def test_search_area_and_minimap_by_hand():
    builder = TraceBuilder().op(0, 50, "aten::ReLU").op(60, 100, "aten::add").kernel(50, 100, name="relu_kernel")
    timeline = Timeline(trace_of(builder))
    found = timeline.search("relu")
    assert (found["total"], found["hits"]["id"].tolist()) == (2, [0, 2])
    assert timeline.search("relu", limit=1)["hits"]["id"].tolist() == [0]
    assert timeline.search("aten::add", exact=True)["total"] == 1
    assert timeline.search("")["total"] == 0
    rows = list(range(timeline.lanes()["rows"]))
    area = timeline.area(rows, 25_000, 75_000)
    assert {(row["name"], row["total_ns"]) for row in area["rows"]} >= {
        ("aten::ReLU", 25_000),
        ("aten::add", 15_000),
        ("relu_kernel", 25_000),
    }
    strip = timeline.minimap(4)
    assert strip["devices"][0]["busy"].tolist() == [0, 0, 1, 1]
    assert strip["host"].tolist() == [1, 1, 0.6, 1]


def test_what_is_not_there_is_said():
    timeline = Timeline(trace_of(TraceBuilder().op(0, 1)))
    with pytest.raises(ChoiceError, match="no event 7"):
        timeline.event(7)
    with pytest.raises(ChoiceError, match="no row 99"):
        timeline.tile([99], 0, 10, 10)


def test_hundreds_of_crossing_ranges_are_all_drawn():
    builder = TraceBuilder()
    for i in range(300):
        builder.annotation(i, 1000 + i, f"async {i}")
    timeline = Timeline(trace_of(builder))
    rows = timeline.lanes()["rows"]
    assert rows <= 70
    assert read_tile(timeline.tile(list(range(rows)), 0, 1_300_000, 1300))["count"].sum() == 300
    late = read_tile(timeline.tile(list(range(rows)), 1_250_000, 1_300_000, 1300))
    assert late["count"].sum() >= 49


@corpus.parametrize()
def test_real_traces_are_drawn_whole(known):
    trace = ks.load(known.path)
    timeline = Timeline(trace)
    lanes = timeline.lanes()
    tile = timeline.tile(list(range(lanes["rows"])), 0, lanes["end_ns"] + 1, 1400)
    counted = read_tile(tile)["count"].sum()
    events = trace.events
    shown = events[events["timed"] & ~events["kind"].isin(["trace", "memory"])]
    assert counted == len(shown) + len(trace.view("gaps"))
    relu = shown["name"].astype(str).str.lower().str.contains("relu").sum()
    assert timeline.search("relu")["total"] == relu
    rows = timeline._layout[1]
    for number in range(rows.count):
        part = rows.row(number)
        assert (rows.start[part][1:] >= rows.end[part][:-1]).all()
