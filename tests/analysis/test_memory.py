"""Memory by hand: peaks, blocks, growth, and what must be told beside the figures."""

from __future__ import annotations

import pytest

from build import TraceBuilder
from kinetoscope.memory.curve import series
from tables import rows, trace_of

CPU = {"device_type": 0, "device": -1}


def totals() -> TraceBuilder:
    """GPU 0 with totals, a block from before the recording, and one event of the CPU."""
    builder, reserved = TraceBuilder().op(0, 100), 200
    for at, (size, allocated) in enumerate(((-64, 0), (100, 100), (50, 150), (-100, 50), (300, 350)), start=1):
        reserved = 400 if at == 5 else 200
        builder.memory(
            at * 10, size, allocated=allocated, reserved=reserved, addr={-64: 1, 100: 2, -100: 2}.get(size, size)
        )
    # the host's allocator keeps nothing: recorders write 0
    return builder.memory(60, 10, reserved=0, **CPU)


def test_recorded_totals_are_the_truth() -> None:
    columns = ("device", "peak_allocated_bytes", "peak_us", "peak_reserved_bytes", "end_allocated_bytes")
    assert rows(trace_of(totals()), "memory", *columns, "start_allocated_bytes", "allocations", "frees") == [
        ("cuda:0", 350, 50, 400, 350, 64, 3, 2),
        ("cpu", 10, 60, None, 10, 0, 1, 0),
    ]
    curve = rows(trace_of(totals()), "memory_timeline", "time_us", "allocated_bytes", "reserved_bytes", device="cuda:0")
    assert curve == [(10, 0, 200), (20, 100, 200), (30, 150, 200), (40, 50, 200), (50, 350, 400)]


def test_bytes_are_added_up_only_where_totals_are_missing() -> None:
    builder = TraceBuilder().op(0, 100)
    for at, size in enumerate((-64, 100, 50, -100, 300), start=1):
        builder.memory(at * 10, size)
    trace = trace_of(builder)
    assert rows(trace, "memory_timeline", "allocated_bytes") == [(-64,), (36,), (86,), (-14,), (286,)]
    assert "added up from 0" in trace.view("memory").attrs["notes"][0]
    # a total amid others counts on and back
    mixed = (
        TraceBuilder()
        .op(0, 100)
        .memory(1, 10)
        .memory(2, 20, allocated=1020)
        .memory(3, 5)
        .memory(4, -25, allocated=1000)
    )
    assert rows(trace_of(mixed), "memory_timeline", "allocated_bytes") == [(1000,), (1020,), (1025,), (1000,)]


def lifetimes() -> TraceBuilder:
    """Blocks A and B of the CPU, and A's address again; the recording ends at 100."""
    builder = TraceBuilder().python(0, 100, "train.py(5): step")
    builder.op(9, 11, "aten::empty").op(19, 21, "aten::mm").op(39, 41, "aten::add").op(99, 100, "aten::end")
    for at, size, address in ((10, 100, 0xA), (20, 200, 0xB), (30, -100, 0xA), (40, 50, 0xA), (60, -200, 0xB)):
        builder.memory(at, size, addr=address, **CPU)
    return builder


def test_blocks_have_a_beginning_and_an_end() -> None:
    trace = trace_of(lifetimes())
    columns = ("address", "bytes", "from_us", "to_us", "lifetime_us", "state", "op", "source")
    assert rows(trace, "allocations", *columns) == [
        ("0xa", 100, 10, 30, 20, "freed", "aten::empty", "train.py(5): step"),
        ("0xb", 200, 20, 60, 40, "freed", "aten::mm", "train.py(5): step"),
        ("0xa", 50, 40, None, None, "open", "aten::add", "train.py(5): step"),
    ]
    columns = ("peak_allocated_bytes", "peak_us", "end_allocated_bytes", "open_blocks", "open_bytes")
    assert rows(trace, "memory", *columns) == [(300, 20, 50, 1, 50)]


def test_what_is_live_at_the_peak_and_at_any_instant() -> None:
    trace = trace_of(lifetimes())
    live = ("at_us", "op", "bytes", "share_pct", "blocks")
    assert rows(trace, "memory_peak", *live) == [
        (20, "aten::mm", 200, pytest.approx(200 / 3), 1),
        (20, "aten::empty", 100, pytest.approx(100 / 3), 1),
    ]
    assert rows(trace, "memory_peak", *live, at_us=60) == [(60, "aten::add", 50, 100, 1)]
    assert rows(trace, "memory_peak", "source", "bytes", by="source", at_us=59.999) == [("train.py(5): step", 250)]
    assert rows(trace, "memory_peak", "op", "bytes", at_us=5) == []


def test_the_first_of_equal_peaks_counts() -> None:
    builder = (
        TraceBuilder().op(0, 100).memory(10, 8, allocated=8).memory(20, -8, allocated=0).memory(30, 8, allocated=8)
    )
    assert rows(trace_of(builder), "memory", "peak_us") == [(10,)]


def test_categories_add_up_to_what_is_allocated() -> None:
    builder = TraceBuilder().step(0, 0, 100).op(0, 100, "aten::mm")
    builder.memory(10, 8, allocated=108, addr=1).memory(20, 4, allocated=112, addr=2).memory(
        30, -8, allocated=104, addr=1
    )
    columns = ("allocated_bytes", "temporary_bytes", "unknown_bytes")
    assert rows(trace_of(builder), "memory_timeline", *columns, by="category") == [
        (108, 8, 100),
        (112, 8, 104),
        (104, 0, 104),
    ]


def test_what_no_known_block_explains_is_a_row_without_a_value() -> None:
    assert rows(trace_of(totals()), "memory_peak", "op", "bytes", "blocks", device="cuda:0") == [("aten::op", 350, 2)]
    trace = trace_of(TraceBuilder().op(0, 100, "aten::mm").memory(10, 100, allocated=1100, addr=1))
    assert rows(trace, "memory_peak", "op", "bytes", "blocks") == [(None, 1000, 0), ("aten::mm", 100, 1)]
    assert rows(trace, "memory_peak", "category", "bytes", "blocks", by="category") == [("unknown", 1100, 1)]
    # a block from before the recording that is freed in it is known, but not who asked for it
    early = trace_of(TraceBuilder().op(0, 100).memory(10, 5, allocated=69, addr=2).memory(20, -64, allocated=5, addr=1))
    assert rows(early, "memory_peak", "op", "bytes", "blocks") == [(None, 64, 1), ("aten::op", 5, 1)]


def growing(steps: int = 3) -> TraceBuilder:
    """Each step keeps 64 bytes of ``aten::cat``, and frees 1000 of ``aten::mm``."""
    builder, total = TraceBuilder(), 0
    for number in range(steps):
        start = number * 100
        builder.step(number, start, start + 100).op(start + 10, start + 20, "aten::cat").op(
            start + 30, start + 60, "aten::mm"
        )
        for at, size, address in ((15, 64, 100 + number), (40, 1000, 7), (80, -1000, 7)):
            total += size
            builder.memory(start + at, size, allocated=total, addr=address)
    return builder


def test_growth_is_what_steps_leave_behind() -> None:
    trace = trace_of(growing())
    columns = (
        "step",
        "live_bytes",
        "growth_bytes",
        "peak_bytes",
        "peak_us",
        "churn_bytes",
        "left_bytes",
        "left_blocks",
    )
    assert rows(trace, "memory_steps", *columns) == [
        (0, 64, 64, 1064, 40, 1000, 64, 1),
        (1, 128, 64, 1128, 140, 1000, 64, 1),
        (2, 192, 64, 1192, 240, 1000, 64, 1),
    ]
    assert rows(trace, "memory", "steps", "growth_bytes_per_step") == [(3, 64)]
    columns = ("op", "growth_bytes_per_step", "growth_bytes", "growth_blocks", "steps_grown", "steps")
    assert rows(trace, "memory_growth", *columns) == [("aten::cat", 64, 128, 2, 2, 2)]
    columns = ("op", "bytes_per_step", "blocks_per_step", "steps_with", "largest_bytes", "mean_lifetime_us")
    assert rows(trace, "memory_churn", *columns) == [("aten::mm", 1000, 1, 3, 1000, 40)]
    assert rows(trace, "memory_churn", "op", min_bytes=1001) == []


def test_growth_that_no_block_explains_is_told_too() -> None:
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200).op(0, 200)
    builder.memory(10, 10, allocated=10, addr=1).memory(110, 10, allocated=520, addr=2)
    trace = trace_of(builder)
    assert rows(trace, "memory_growth", "op", "growth_bytes") == [(None, 500), ("aten::op", 10)]
    # together with blocks of nobody
    trace = trace_of(builder.memory(199.5, 7, allocated=527, addr=3, tid=2))
    assert rows(trace, "memory_growth", "op", "growth_bytes", "growth_blocks") == [(None, 507, 1), ("aten::op", 10, 1)]
    assert "does not follow" in trace.view("memory").attrs["notes"][0]


def test_an_event_at_the_end_of_a_step_is_of_the_next() -> None:
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200).memory(100, 8, allocated=8, addr=1)
    assert rows(trace_of(builder), "memory_steps", "live_bytes", "growth_bytes") == [(0, 0), (8, 8)]
    builder = TraceBuilder().step(0, 0, 100).step(1, 100, 200).op(0, 200, "aten::mm")
    trace = trace_of(builder.memory(50, 8, allocated=8, addr=1).memory(100, -8, allocated=0, addr=1))
    assert rows(trace, "memory_steps", "left_blocks", "churn_blocks") == [(1, 0), (0, 0)]
    assert rows(trace, "memory_growth", "op", "growth_bytes") == [("aten::mm", -8)]


def test_blocks_from_outside_the_steps_are_of_none() -> None:
    builder = TraceBuilder().op(0, 300).memory(0, 8, addr=1).step(0, 50, 100).memory(60, 4, addr=2).step(1, 100, 200)
    builder.memory(150, -2, addr=3)
    assert rows(trace_of(builder), "memory_steps", "step", "left_bytes") == [(0, 4), (1, 0)]
    assert rows(trace_of(builder), "allocations", "bytes", "step") == [(2, None), (8, None), (4, 0)]


def test_sums_by_who_allocated_and_freed() -> None:
    trace = trace_of(lifetimes())
    columns = ("allocated_bytes", "allocations", "freed_bytes", "frees", "net_bytes", "calls", "left_bytes")
    assert rows(trace, "memory_by_op", "op", *columns) == [
        ("aten::mm", 200, 1, 0, 0, 200, 1, 0),
        ("aten::empty", 100, 1, 0, 0, 100, 1, 0),
        ("aten::add", 50, 1, 0, 0, 50, 1, 50),
        (None, 0, 0, 300, 2, -300, None, 0),
    ]
    assert rows(trace, "memory_by_op", "source", *columns, by="source") == [
        ("train.py(5): step", 350, 3, 300, 2, 50, 1, 50)
    ]
    assert rows(trace, "memory_by_op", "allocated_bytes", start_us=15, end_us=40) == [(200,), (0,)]
    assert rows(trace_of(growing()), "memory_by_op", "step", "net_bytes", by="step") == [(0, 64), (1, 64), (2, 64)]
    assert rows(trace_of(growing()), "memory_by_op", "op", "net_bytes", step=1) == [
        ("aten::mm", 1000),
        ("aten::cat", 64),
        (None, -1000),
    ]


def test_the_caller_is_the_op_that_does_not_merely_allocate() -> None:
    builder = TraceBuilder().op(0, 50, "aten::add").op(5, 45, "aten::empty_like").op(10, 40, "aten::empty_strided")
    trace = trace_of(builder.memory(20, 64, addr=1))
    assert rows(trace, "allocations", "op", "caller") == [("aten::empty_strided", "aten::add")]


def test_devices_are_named_as_torch_names_them() -> None:
    builder = TraceBuilder().op(0, 100)
    for number, (kind, index) in enumerate(((0, -1), (6, 3), (1, 1), (1, 0), (99, 2))):
        builder.memory(10, 8, device_type=kind, device=index, addr=number)
    names = [name for (name,) in rows(trace_of(builder), "memory", "device")]
    assert names == ["cuda:0", "cuda:1", "hip:3", "type 99:2", "cpu"]


def test_capacity_is_that_of_the_device_of_that_number() -> None:
    trace = trace_of(
        TraceBuilder(devices=2).op(0, 9).memory(1, 8, allocated=8, reserved=21_000_000_000, device=1, addr=1)
    )
    assert rows(trace, "memory", "capacity_bytes", "peak_pct") == [(42_000_000_000, 50)]


def test_oddities_are_counted_and_fail_only_themselves() -> None:
    builder = TraceBuilder().op(0, 100, "aten::mm")
    builder.memory(5, -8, addr=1).memory(6, -8, addr=1)  # from before the recording; then free already
    builder.memory(10, 16, addr=2).memory(20, 32, addr=2)  # an address that holds a block
    builder.memory(30, -31, addr=2)  # another size
    builder.memory(40, "many", addr=3).memory(41, 8, addr="nowhere").memory(42, 0, addr=4)
    trace = trace_of(
        builder.raw({"ph": "i", "name": "[OutOfMemory]", "pid": 1, "tid": 1, "ts": 50, "args": {"Bytes": 9}})
    )
    assert rows(trace, "allocations", "bytes", "state", "from_us", "to_us") == [
        (8, "before recording", None, 5),
        (16, "lost", 10, None),
        (32, "freed", 20, 30),
    ]
    notes = " ".join(trace.view("allocations").attrs["notes"])
    for told in (
        "1 allocation failed: out of memory",
        "1 memory event without bytes or device",
        "1 block was allocated before the recording",
        "1 free is of an address that was free already",
        "1 block lost its free",
        "1 block was freed with another size",
    ):
        assert told in notes


def test_what_does_not_fit_is_counted_by_device() -> None:
    builder = TraceBuilder().op(0, 100).memory(5, -8, addr=1, **CPU).memory(6, -8, addr=1, **CPU)
    builder.memory(10, 8, allocated=8, addr=2).memory(20, 8, allocated=99, addr=3).memory(30, -8, allocated=91, addr=3)
    columns = ("device", "unmatched_frees", "jumps")
    assert rows(trace_of(builder), "memory", *columns) == [("cuda:0", 0, 1), ("cpu", 1, 0)]
    assert rows(trace_of(TraceBuilder().op(0, 9).memory(5, 8)), "memory", *columns) == [("cuda:0", None, 0)]


def test_one_address_on_two_devices_is_two_blocks() -> None:
    builder = TraceBuilder().op(0, 100).memory(1, 8, addr=5).memory(2, 9, addr=5, device=1)
    builder.memory(3, -8, addr=5).memory(4, -9, addr=5, device=1)
    assert rows(trace_of(builder), "allocations", "device", "to_us") == [("cuda:0", 3), ("cuda:1", 4)]


def test_other_writers_of_memory_events_are_understood() -> None:
    """Complete events whose length means nothing, no category, numbers as text or with a point, addresses beyond 63 bits."""
    builder = TraceBuilder().op(0, 10, "aten::mm")
    for at, size, address in ((2, 64, 2**64 - 16), (4, 32, 5), (6, "-64.0", str(2**64 - 16))):
        given = {"Device Type": 1.0, "Device Id": "0", "Bytes": float(size), "Addr": address}
        builder.raw({"ph": "X", "name": "[memory]", "pid": 1, "tid": "1", "ts": at, "dur": 10_000, "args": given})
    trace = trace_of(builder)
    assert rows(trace, "allocations", "device", "address", "bytes", "to_us", "op") == [
        ("cuda:0", "0xfffffffffffffff0", 64, 6, "aten::mm"),
        ("cuda:0", "0x5", 32, None, "aten::mm"),
    ]
    assert trace.window[1].tolist() == [10_000]


def test_equal_times_keep_the_order_of_the_file() -> None:
    builder = TraceBuilder().op(0, 9).memory(5, 8, allocated=8, addr=1).memory(5, -8, allocated=0, addr=1)
    trace = trace_of(builder.memory(5, 4, allocated=4, addr=1))
    assert rows(trace, "allocations", "bytes", "state") == [(8, "freed"), (4, "open")]
    assert rows(trace, "memory", "peak_allocated_bytes", "end_allocated_bytes") == [(8, 4)]
    many, sizes = TraceBuilder().op(0, 90), [(number * 7) % 40 + 1 for number in range(200)]
    for number, size in enumerate(sizes):
        many.memory(50 - number // 50, size, addr=number)
    listed = rows(trace_of(many), "allocations", "bytes")
    assert listed == [(size,) for part in (150, 100, 50, 0) for size in sizes[part : part + 50]]


def test_a_window_of_the_block_map_counts_what_it_leaves_out() -> None:
    trace = trace_of(lifetimes())
    window = trace.view("allocations", start_us=30, end_us=40)
    assert window["address"].tolist() == ["0xb"]
    assert rows(trace, "allocations", "address", start_us=59, end_us=61) == [("0xb",), ("0xa",)]
    largest = trace.view("allocations", largest=1)
    assert largest["bytes"].tolist() == [200]
    assert largest.attrs["notes"][-1] == "The 1 largest of 3 blocks are shown; the others have 150 bytes in all."
    assert rows(trace, "allocations", "bytes", op="aten::add") == [(50,)]
    assert rows(trace, "allocations", "bytes", min_bytes=100, state="freed") == [(100,), (200,)]


def test_a_zoomed_curve_begins_with_its_level() -> None:
    trace = trace_of(lifetimes())
    assert rows(trace, "memory_timeline", "time_us", "allocated_bytes", start_us=25, end_us=41) == [
        (25, 300),
        (30, 200),
        (40, 250),
    ]


def test_without_memory_events_the_views_say_so() -> None:
    trace = trace_of(TraceBuilder().op(0, 9))
    views = ("memory", "memory_timeline", "allocations", "memory_peak", "memory_by_op", "memory_steps", "memory_growth")
    for view in (*views, "memory_churn"):
        frame = trace.view(view)
        assert len(frame) == 0
        assert "profile_memory=True" in frame.attrs["notes"][0], view
    assert series(trace) == []


def test_a_device_without_memory_is_named() -> None:
    frame = trace_of(lifetimes()).view("memory_timeline", device="cuda:7")
    assert len(frame) == 0
    assert frame.attrs["notes"][0] == "No memory of 'cuda:7' was recorded, only of cpu."


def test_counters_for_the_timeline() -> None:
    found = series(trace_of(totals()))
    assert [(one.title, one.unit, one.device) for one in found] == [
        ("Allocated, cuda:0", "bytes", 0),
        ("Reserved, cuda:0", "bytes", 0),
        ("Allocated, cpu", "bytes", None),
    ]
    assert found[0].values.tolist() == [0, 100, 150, 50, 350]


def test_an_address_of_more_than_64_bits_is_none() -> None:
    builder = TraceBuilder().op(0, 9).memory(1, 8, addr=2**70).memory(2, 8, addr=2**64 - 16)
    assert rows(trace_of(builder), "allocations", "address") == [("0xfffffffffffffff0",)]
