"""The timeline of large traces: few bytes an event, tiles within their budget, and levels that tell what the events tell."""

import numpy as np
import pytest
from isal import igzip

from dense import dense
from kinetoscope.timeline import Timeline, levels, tiles
from wire.tile import unpack


def read_tile(data: bytes) -> dict:
    found = unpack(data)
    found["count"] = np.array(found["count"], np.int64)
    found["row"] = np.repeat([row for row, _, _, _ in found["rows"]], [count for _, count, _, _ in found["rows"]])
    return found


@pytest.fixture(scope="module")
def large() -> Timeline:
    return Timeline(dense(300_000))


def arrays(value: object, beyond: set[int]) -> int:
    """Sum the bytes of all arrays below a value, but for those that the trace has anyway."""
    if isinstance(value, np.ndarray):
        # a view keeps all of what it is a part of
        while isinstance(value.base, np.ndarray):
            value = value.base
        known = id(value) in beyond
        beyond.add(id(value))
        return 0 if known else value.nbytes
    if isinstance(value, dict):
        return sum(arrays(one, beyond) for one in value.values())
    if isinstance(value, list | tuple):
        return sum(arrays(one, beyond) for one in value)
    return arrays(vars(value), beyond) if hasattr(value, "__dict__") else 0


def test_a_timeline_takes_few_bytes_an_event(large):
    large.lanes()
    large.search("function")
    content = large._content
    trace = large.trace
    beyond = {id(one) for one in (*vars(trace.columns).values(), *vars(trace.gap_table).values())}
    kept = [content, large._details.row_of_event, large._layout]
    assert content.levels
    # what the timeline makes the trace find out is kept there, for others too
    kept += [vars(trace)[name] for name in ("idle_segments", "forward_row", "launches_rows", "stream_waits")]
    assert arrays(kept, beyond) / len(trace) <= 32


@pytest.mark.parametrize("zoom", [1, 10, 100, 1000, 10_000])
def test_no_tile_takes_more_than_its_budget(large, zoom):
    end, rows = large.end_ns, large.lanes()["rows"]
    span = end / zoom
    for middle in (0.1, 0.5, 0.9):
        t0 = max(0, int(end * middle - 1.5 * span))
        t1 = min(end, int(end * middle + 1.5 * span))
        px = round((t1 - t0) / (span / 1600))
        for some in (range(50), range(rows)):
            assert len(igzip.compress(large.tile(list(some), t0, t1, px), 2)) <= 512_000


def test_a_tile_over_its_budget_is_coarser_and_still_counts_everything(large, monkeypatch):
    end, rows = large.end_ns, list(range(large.lanes()["rows"]))
    fine = read_tile(large.tile(rows, 0, end + 1, 500))
    monkeypatch.setattr(tiles, "BUDGET", 75_000)
    coarse = read_tile(large.tile(rows, 0, end + 1, 500))
    assert coarse["quantum"] > fine["quantum"]
    assert coarse["n"] < fine["n"]
    assert coarse["count"].sum() == fine["count"].sum() == large._layout[1].bar.size
    # before buckets grow, times are told less exactly; the server knows them still
    assert coarse["tick"] > 1
    single = np.flatnonzero(coarse["count"] == 1)[0]
    row, _, entry, _ = next(row for row in coarse["rows"] if row[1])
    assert row == coarse["row"][0]
    exact = large.longest(entry + int(coarse["count"][:single].sum()), 1)
    assert exact["start_ns"] // coarse["tick"] == coarse["start"][single]


def test_levels_and_events_tell_the_same_of_a_large_trace(large):
    rows = large._layout[1]
    every, end = np.arange(rows.count), large.end_ns
    window = (0, end + 1)
    quantum = end / 1600
    built = large._content.levels
    fine = levels.merge(levels.cut(rows, [], every, window, quantum), quantum)
    coarse = levels.merge(levels.cut(rows, built, every, window, quantum), quantum)
    assert coarse.events.sum() == fine.events.sum()
    assert coarse.busy.sum() == fine.busy.sum()
    assert coarse.size == pytest.approx(fine.size, rel=0.25)
