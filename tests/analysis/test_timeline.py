"""The timeline: rows without overlaps, tiles that lose no time and no event, search that counts what the frames count."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.errors import ChoiceError
from kinetoscope.timeline import Timeline, lanes, levels
from kinetoscope.timeline.lanes import FIRST_CAUSE, KIND_NAMES
from kinetoscope.timeline.rows import Rows
from tables import trace_of
from wire.tile import NO_ID, unpack


def read_tile(data: bytes) -> dict:
    """Decode a tile as docs/wire.md lays it out, columns as arrays."""
    found = unpack(data)
    for name in ("start", "length", "id", "name", "count", "kind", "busy", "flags"):
        found[name] = np.array(found[name], np.int64)
    found["row"] = np.repeat([row for row, _, _, _ in found["rows"]], [count for _, count, _, _ in found["rows"]])
    return found


def entries(rows: Rows) -> dict[str, np.ndarray]:
    """Return row, start, end, kind and source position of every bar."""
    every = np.arange(rows.bar.size)
    row = np.repeat(np.arange(rows.count), np.diff(rows.first))
    start = rows.look_up("start", every, row)
    kind = rows.look_up("kind", every, row)
    return {"row": row, "start": start, "end": rows.ends(every, row), "kind": kind, "bar": rows.bar.astype(np.int64)}


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
    found, rows = timeline._layout
    every = entries(rows)
    assert sorted(every["bar"][every["kind"] < FIRST_CAUSE].tolist()) == list(range(len(trace)))
    assert (every["kind"] >= FIRST_CAUSE).sum() == len(trace.view("idle_segments"))
    for number in range(rows.count):
        part = rows.row(number)
        assert (every["start"][part][1:] >= every["end"][part][:-1]).all()
    assert sum(lane.rows for lane in found) == rows.count


@given(HOST, DEVICE, st.integers(0, 300), st.integers(1, 200), st.integers(1, 50))
def test_tiles_show_what_touches_the_window_and_keep_counts(host, device, start, length, px):
    trace = built(host, device)
    timeline = Timeline(trace)
    rows = timeline._layout[1]
    t0, t1 = start * 1000, (start + length) * 1000
    tile = read_tile(timeline.tile(list(range(rows.count)), t0, t1, px))
    begin, end = (entries(rows)[key] for key in ("start", "end"))
    touching = (begin < t1) & ((end > t0) | ((begin == end) & (begin >= t0)))
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
    assert (tile["id"][~single] == NO_ID).all()
    # each bar stands for the next entries of its row: the longest of them is the one that is named
    for (number, count, entry, _), at in zip(
        tile["rows"], np.cumsum([0, *(row[1] for row in tile["rows"])]), strict=False
    ):
        first = entry + np.cumsum(tile["count"][at : at + count]) - tile["count"][at : at + count]
        for i in range(at, at + count):
            longest = timeline.longest(int(first[i - at]), int(tile["count"][i]))
            assert (longest["row"], longest["name"]) == (number, tile["name"][i])
            if single[i]:
                assert longest["id"] == tile["id"][i]
                assert max(longest["start_ns"], t0) - t0 == tile["start"][i]


@given(HOST, st.integers(0, 300), st.integers(1, 300), st.integers(1, 60))
def test_levels_show_what_the_events_show(host, start, length, px):
    trace = built(host, [])
    rows = Timeline(trace)._layout[1]
    if not rows.bar.size:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "FEWEST", 0)
        patch.setattr(levels, "_SHRINK", 1.0)
        patch.setattr(levels, "_FIRST_NS", 250)
        found = levels.build(rows)
    t0, t1 = start * 1000, (start + length) * 1000
    quantum = max((t1 - t0) / px, 1.0)
    every = np.arange(rows.count)

    def cut(some, window, quantum):
        return levels.merge(levels.cut(rows, some, every, window, quantum), quantum)

    fine, coarse = cut([], (t0, t1), quantum), cut(found, (t0, t1), quantum)
    for number in every:
        a, b = fine.row == number, coarse.row == number
        # a run that was merged beforehand may reach over the window's edges by less than a bucket
        assert abs(int(fine.busy[a].sum()) - int(coarse.busy[b].sum())) <= 2 * quantum
        assert coarse.events[b].sum() >= fine.events[a].sum()
        assert (coarse.start[b][1:] >= coarse.end[b][:-1]).all()
        # entries follow each other without a gap
        assert (coarse.head[b][1:] == (coarse.head[b] + coarse.events[b])[:-1]).all()
    bars = entries(rows)
    span = bars["end"] - bars["start"]
    whole = cut(found, (0, int(bars["end"].max()) + 1), 1e5)
    assert whole.events.sum() == rows.bar.size
    assert whole.busy.sum() == span.sum()
    assert whole.most.max() == span.max()
    assert (span[whole.longest] == whole.most).all()


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
    assert tile["length"].tolist() == [50_000, 10_000, 50_000]
    assert tile["count"].tolist() == [1, 3, 1]
    assert tile["id"].tolist() == [0, NO_ID, 4]
    assert [timeline.names()[name] for name in tile["name"]] == ["kernel", "longest", "kernel"]
    assert tile["flags"].tolist() == [2, 1, 4]
    # four of ten us are covered: in 31sts, rounded up
    assert tile["busy"].tolist() == [255, 13 * 255 // 31, 255]
    assert tile["quantum"] == 10_000
    # the gaps of the idle row are counted before
    idle = timeline.lanes()["lanes"][1]["events"]
    assert tile["rows"] == [[stream["first_row"], 3, idle, 0]]
    assert timeline.longest(idle + 1, 3) == {
        "id": 3,
        "name": timeline.names().index("longest"),
        "kind": "kernel",
        "start_ns": 204_000,
        "duration_ns": 2_000,
        "row": stream["first_row"],
    }
    with pytest.raises(ChoiceError, match="no 5 bars"):
        timeline.longest(idle + 1, 5)


def test_what_reaches_into_the_next_bucket_is_counted_there():
    """Buckets of a level are others than those of a tile: covered time must not come and go with their beat."""
    builder = TraceBuilder()
    for i in range(100):
        builder.kernel(10 * i, 10 * i + 7)
    timeline = Timeline(trace_of(builder))
    stream = next(lane for lane in timeline.lanes()["lanes"] if lane["kind"] == "stream")
    tile = read_tile(timeline.tile([stream["first_row"]], 0, 1_000_000, 28))
    assert tile["count"].tolist().count(3) + tile["count"].tolist().count(4) == tile["n"] == 28
    # seven tenths are covered, give or take where a bucket begins
    assert abs(tile["busy"] / 255 - 0.7).max() < 0.1
    assert (tile["busy"] * tile["length"] / 255).sum() == pytest.approx(700_000, rel=0.05)


def test_merged_bars_take_their_bucket_as_far_as_their_neighbours_leave_it():
    builder = TraceBuilder().kernel(0, 12).kernel(13, 14).kernel(15, 16).kernel(17, 40).kernel(41, 42).kernel(43, 44)
    timeline = Timeline(trace_of(builder))
    stream = next(lane for lane in timeline.lanes()["lanes"] if lane["kind"] == "stream")
    tile = read_tile(timeline.tile([stream["first_row"]], 0, 100_000, 10))
    assert tile["start"].tolist() == [0, 12_000, 17_000, 40_000]
    assert tile["length"].tolist() == [12_000, 5_000, 23_000, 10_000]
    assert tile["count"].tolist() == [1, 2, 1, 2]


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
    assert [timeline.names()[name] for name in tile["name"]] == ["nothing recorded"] * 3
    assert [KIND_NAMES[kind] for kind in tile["kind"]] == ["idle no launch recorded"] * 2 + ["idle untraced host"]
    assert (idle["events"], idle["busy_ns"]) == (3, 80_000)


def test_lanes_are_devices_then_processes_and_say_what_they_hold():
    builder = TraceBuilder().step(0, 0, 100, tid=5).op(0, 50, tid=2).op(60, 70, tid=2).kernel(0, 10)
    builder.kernel(0, 30, name="ncclDevKernel_x", stream=20).memcpy(0, 10, stream=30)
    listed = Timeline(trace_of(builder)).lanes()["lanes"]
    assert [(lane["kind"], lane["title"]) for lane in listed] == [
        ("gpu", "GPU 0"),
        ("idle", "Idle"),
        ("counter", "Utilization"),
        ("counter", "Queue depth"),
        ("stream", "Stream 7"),
        ("stream", "Stream 20"),
        ("stream", "Stream 30"),
        ("process", "Process 1"),
        ("thread", "Thread 5"),
        ("thread", "Thread 2"),
    ]
    assert [lane["detail"] for lane in listed if lane["kind"] == "stream"] == ["compute", "communication", "copies"]
    assert all(lane["parent"] is None or lane["parent"] < lane["lane"] for lane in listed)


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
    laid = timeline.lanes()
    tile = timeline.tile(list(range(laid["rows"])), 0, laid["end_ns"] + 1, 1400)
    counted = read_tile(tile)["count"].sum()
    events = trace.events
    shown = events[events["timed"] & ~events["kind"].isin(["trace", "memory"])]
    assert counted == len(shown) + len(trace.idle_segments)
    relu = shown["name"].astype(str).str.lower().str.contains("relu").sum()
    assert timeline.search("relu")["total"] == relu
    rows = timeline._layout[1]
    bars = entries(rows)
    for number in range(rows.count):
        part = rows.row(number)
        assert (bars["start"][part][1:] >= bars["end"][part][:-1]).all()


def test_segments_of_an_idle_row_take_the_kind_they_are_given(monkeypatch):
    plain = lanes.idle_bars

    def by_cause(trace):
        bars = plain(trace)
        return dataclasses.replace(bars, kind=np.arange(20, 20 + bars.kind.size, dtype=np.uint8))

    monkeypatch.setattr(lanes, "idle_bars", by_cause)
    builder = TraceBuilder().step(0, 0, 100).kernel(10, 20, name="A").kernel(50, 60, name="B")
    timeline = Timeline(trace_of(builder))
    idle = next(lane for lane in timeline.lanes()["lanes"] if lane["kind"] == "idle")
    assert read_tile(timeline.tile([idle["first_row"]], 0, 100_000, 1000))["kind"].tolist() == [20, 21, 22]
