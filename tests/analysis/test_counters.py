"""Counter lanes: steps that keep the least and the most of every bucket, from samples to the bytes of a tile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import TraceBuilder
from kinetoscope.timeline import Timeline, counters, measures
from kinetoscope.timeline.counters import counter_lane
from tables import trace_of
from wire.tile import unpack


def test_a_counter_by_hand():
    counter = counter_lane("Queue depth", "kernels", [300, 100, 310, 315, 100, 700], [1, 9, 5, 2, 4, 0], device=0)
    assert counter.time.tolist() == [100, 300, 310, 315, 700]
    assert counter.value.tolist() == [4, 1, 5, 2, 0]
    assert counter.bounds == (0, 5)
    points = counters.cut(counter, (0, 1000), 100.0)
    # 300, 310 and 315 share a bucket, which 4 still holds at its start
    assert points.start.tolist() == [100, 300, 400, 700]
    assert points.low.tolist() == [4, 1, 2, 0]
    assert points.high.tolist() == [4, 5, 2, 0]
    assert points.changes.tolist() == [1, 3, 0, 1]
    within = counters.cut(counter, (305, 312), 1.0)
    assert (within.start.tolist(), within.high.tolist(), within.changes.tolist()) == ([305, 310], [1, 5], [0, 1])
    assert counters.cut(counter, (0, 100), 1.0).start.size == 0
    assert counters.cut(counter, (800, 900), 1.0).high.tolist() == [0]


def test_what_a_counter_does_not_know_it_does_not_tell():
    counter = counter_lane("x", "", [0, 10, 20], [1, np.inf, 3])
    points = counters.cut(counter, (0, 30), 1.0)
    assert np.isnan(points.high[1])
    assert counter.bounds == (1, 3)
    assert counter_lane("x", "", [], []).bounds is None
    merged = counters.cut(counter, (0, 30), 30.0)
    assert (merged.low.tolist(), merged.high.tolist()) == ([1], [3])
    with pytest.raises(ValueError, match="2 times for 1 values"):
        counter_lane("x", "", [1, 2], [1])


SAMPLES = st.lists(st.tuples(st.integers(0, 1000), st.integers(-20, 20)), min_size=1, max_size=60)


@given(SAMPLES, st.integers(0, 900), st.integers(1, 900), st.integers(1, 40))
def test_a_counter_keeps_least_and_most_of_every_bucket(samples, start, length, px):
    times, values = zip(*samples, strict=True)
    counter = counter_lane("x", "", times, values)
    window, quantum = (start, start + length), max(length / px, 1.0)
    points = counters.cut(counter, window, quantum)
    assert (np.diff(points.start) > 0).all()
    assert points.changes.sum() == ((counter.time >= window[0]) & (counter.time < window[1])).sum()
    for time in range(*window):
        held = counter.time <= time
        at = np.searchsorted(points.start, time, side="right") - 1
        if not held.any():
            continue
        value = counter.value[held][-1]
        assert points.low[at] <= value <= points.high[at], time
        if points.changes[at] <= 1:
            assert points.low[at] == points.high[at] == value


def test_counters_have_lanes_below_their_device_and_points_in_tiles(monkeypatch):
    drawn = [
        counter_lane("Queue depth", "kernels", [0, 20_000, 60_000], [1, 3, 0], device=0),
        counter_lane("Load", "%", [10_000], [50.5]),
    ]
    monkeypatch.setattr(measures, "counters", lambda _: drawn)
    timeline = Timeline(trace_of(TraceBuilder().kernel(0, 100)))
    listed = timeline.lanes()["lanes"]
    assert [(lane["kind"], lane["title"], lane["unit"]) for lane in listed] == [
        ("gpu", "GPU 0", ""),
        ("idle", "Idle", ""),
        ("counter", "Queue depth", "kernels"),
        ("stream", "Stream 7", ""),
        ("counter", "Load", "%"),
    ]
    queue, load = (lane for lane in listed if lane["kind"] == "counter")
    assert (queue["parent"], queue["low"], queue["high"], load["parent"], load["low"]) == (0, 0, 3, None, 50.5)
    tile = unpack(timeline.tile(range(4), 0, 100_000, 100))
    assert [row[3] for row in tile["rows"]] == [0, 3, 0, 1]
    assert tile["points"]["start"] == [0, 20_000, 60_000, 10_000]
    assert tile["points"]["low"] == tile["points"]["high"] == [1, 3, 0, 50.5]
    assert sum(tile["count"]) == 1
