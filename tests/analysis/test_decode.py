"""From bytes to columns: exact times, odd ids, every event accounted for."""

import json
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from build import TraceBuilder
from kinetoscope import errors
from kinetoscope.reading import text as json_text
from kinetoscope.reading.classify import build
from kinetoscope.reading.decode import decode
from kinetoscope.reading.files import read_text
from kinetoscope.reading.recorded import RecordedEvents
from tables import trace_of


def columns_of(builder: TraceBuilder, **options):
    return build(decode(builder.bytes(), **options))


@given(
    st.lists(st.tuples(st.integers(1, 2 * 10**18), st.integers(0, 10**13)), min_size=1, max_size=20),
    st.sampled_from(["number", "text"]),
)
def test_times_are_exact_to_the_ns_however_large(times, written):
    def us(ns: int):
        decimal = Decimal(ns) / 1000
        return decimal if written == "number" else f"{decimal:f}"

    builder = TraceBuilder()
    for start, length in times:
        builder.raw({"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": us(start), "dur": us(length)})
    columns = columns_of(builder)
    assert (columns.start + columns.origin_ns).tolist() == [start for start, _ in times]
    assert columns.duration.tolist() == [length for _, length in times]


def test_base_time_is_added_as_an_integer():
    columns = columns_of(TraceBuilder(base_ns=1_751_410_836_000_000_001).op("0.001", 1))
    assert columns.origin_ns == 1_751_410_836_000_000_002


@pytest.mark.parametrize("value", ["12.5", "1e3", 7, 7.25, "not a time", None, True, [1]])
def test_an_odd_time_costs_only_its_own_event(value):
    builder = (
        TraceBuilder()
        .op(0, 10)
        .raw({"ph": "X", "cat": "cpu_op", "name": "odd", "ts": value, "dur": 1, "pid": 1, "tid": 1})
    )
    decoded = decode(builder.bytes())
    columns = build(decoded)
    assert sum(account.events for account in columns.accounts) == 2
    assert columns.timed[0]


@pytest.mark.parametrize("args", [None, [], "text", 3, {"correlation": [1]}, {"stream": {"a": 1}}])
def test_arguments_of_any_shape_leave_the_event_readable(args):
    builder = TraceBuilder().op(0, 10)
    builder.raw({"ph": "X", "cat": "kernel", "name": "k", "ts": 3, "dur": 4, "pid": 0, "tid": 7, "args": args})
    columns = columns_of(builder)
    assert columns.duration.tolist() == [10_000, 4_000]
    assert columns.timed.all()


@pytest.mark.parametrize(
    ("given_id", "kept"), [("108", 108), ("0x10", 16), (2**63 + 5, -(2**63) + 5), (12.0, 12), ("x", -1), (None, -1)]
)
def test_ids_come_in_many_spellings(given_id, kept):
    columns = columns_of(TraceBuilder().kernel(0, 1).kernel(1, 2, args={"stream": given_id}))
    assert columns.stream[1] == kept or (kept == -1 and columns.stream[1] in (-1, 7))


def test_pieces_give_what_the_whole_gives():
    builder = TraceBuilder(displayTimeUnit="ms")
    for i in range(500):
        builder.op(i, i + 1, name=f"op {i % 7} }}, {{ ").launch(i, i + 1, i + 1).kernel(i, i + 1, correlation=i + 1)
    whole, cut = decode(builder.bytes()), decode(builder.bytes(), piece_bytes=1000)
    assert len(list(json_text.pieces(builder.bytes(), json_text.head_end(builder.bytes()), 1000))) > 20
    for key in ("ts", "dur", "thread", "correlation", "category"):
        assert np.array_equal(whole.columns.array(key), cut.columns.array(key))
    names = [
        [texts[code] for code in codes] for codes, texts in (whole.columns.texts("name"), cut.columns.texts("name"))
    ]
    assert names[0] == names[1]
    assert cut.metadata["displayTimeUnit"] == "ms"
    assert cut.metadata["schemaVersion"] == 1


def test_a_border_that_is_none_is_seen_and_mended():
    inner = {"list": [{"ph": "x", "a": i} for i in range(50)]}
    builder = TraceBuilder().op(0, 1)
    for i in range(20):
        builder.raw({"ph": "X", "cat": "cpu_op", "name": "n", "pid": 1, "tid": 1, "ts": i, "dur": 1, "args": inner})
    assert decode(builder.bytes(), piece_bytes=200).columns.count == 21


@pytest.mark.parametrize("shape", ["list", "minified", "indented", "events first", "bom", "gzip twice"])
def test_shapes_of_documents(shape, tmp_path):
    import gzip

    document = json.loads(TraceBuilder().op(0, 1).kernel(2, 3).text())
    if shape == "events first":
        document = {"traceEvents": document.pop("traceEvents"), **document}
    if shape == "list":
        document = document["traceEvents"]
    separators = (",", ":") if shape == "minified" else None
    data = json.dumps(document, separators=separators, indent=2 if shape == "indented" else None).encode()
    if shape == "bom":
        data = b"\xef\xbb\xbf" + data
    if shape == "gzip twice":
        data = gzip.compress(gzip.compress(data))
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    assert decode(read_text(path)).columns.count == 2


def test_event_arguments_are_what_the_file_says():
    builder = TraceBuilder()
    for i in range(300):
        builder.op(i, i + 1, **{"Input Dims": [[i, 2], []], "note": "x" * 50})
    recorded = RecordedEvents(builder.bytes())
    for position in (217, 3, 299, 217):
        assert recorded.get(position)["args"]["Input Dims"] == [[position, 2], []]
    assert recorded.get(300) == {}


def test_lost_stamps_are_in_no_figure():
    builder = TraceBuilder().op(10**9, 10**9 + 5).kernel(0, 0).kernel(10**9 + 1, 10**9 + 2)
    columns = columns_of(builder)
    assert columns.timed.tolist() == [True, False, True]
    assert columns.start.min() == 0


def test_every_event_is_accounted_for_with_a_reason():
    builder = (
        TraceBuilder()
        .op(0, 1)
        .flow("ac2g", 1, (0, 1, 1), (1, 0, 7))
        .flow("fwdbwd", 2, (0, 1, 1), (1, 1, 1))
        .memory(1, 64)
    )
    builder.raw({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}})
    builder.raw({"ph": "Q", "name": "?"}).raw({"ph": "B", "name": "b", "ts": 1}).raw("no event").raw(
        {"ph": "X", "cat": "new_thing", "name": "n", "ts": 1, "dur": 1}
    )
    accounts = columns_of(builder).accounts
    assert sum(account.events for account in accounts) == len(builder.events)
    left_out = Counter()
    for account in accounts:
        left_out[account.reason] += 0 if account.kept else account.events
    assert +left_out == {
        "launch arrow: the correlation id says the same": 2,
        "unknown phase": 1,
        "begin that is never closed": 1,
        "not a readable event": 1,
    }


@pytest.mark.parametrize("time", [{}, {"ts": None}, {"ts": "soon"}])
@pytest.mark.parametrize(("phase", "name"), [("i", "[memory]"), ("I", "other"), ("C", "counter")])
def test_marks_without_a_time_are_left_out_and_counted(time, phase, name):
    mark = {"ph": phase, "cat": "cpu_instant_event", "name": name, "pid": 1, "tid": 1, "args": {"Bytes": 1}}
    builder = TraceBuilder().op(5, 9).raw({**mark, **time}).memory(7, 64, allocated=64).raw({**mark, "ts": 6})
    builder.raw({"ph": "X", "cat": "cpu_op", "name": "untimed", "pid": 1, "tid": 1, "dur": 1})
    trace = trace_of(builder)
    # what has a length keeps its place, and is counted as untimed
    assert [trace.columns.names[code] for code in trace.columns.name] == ["aten::op", "[memory]", name, "untimed"]
    assert trace.columns.start.tolist() == [0, 2_000, 1_000, 0]
    left_out = [(account.what, account.reason, account.events) for account in trace.accounts if not account.kept]
    assert left_out == [(f"{phase} cpu_instant_event", "mark without a time", 1)]
    assert sum(account.events for account in trace.accounts) == len(builder.events)


def test_a_memory_event_without_a_time_changes_no_curve():
    builder = TraceBuilder().op(5, 9).memory(6, 64, allocated=64).memory(7, -64, allocated=0)
    whole = trace_of(builder).view("memory")
    timeless = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1}
    builder.raw({**timeless, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 4096, "Total Allocated": 4096}})
    assert trace_of(builder).view("memory").equals(whole)


@corpus.parametrize()
def test_every_event_of_real_traces_is_accounted_for(known):
    raw = read_text(known.path)
    decoded = decode(raw)
    columns = build(decoded)
    found = json.loads(raw.decode("utf-8", "replace"), strict=False)
    events = found if isinstance(found, list) else found["traceEvents"]
    assert sum(account.events for account in columns.accounts) == len(events)
    assert not decoded.unreadable


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (b"", errors.NotATraceError, "empty"),
        (b"  \n", errors.NotATraceError, "empty"),
        (b"hello world", errors.NotATraceError, "no JSON: it begins with 'hello world'"),
        (b'{"a": 1}', errors.NotATraceError, "'traceEvents' is missing (keys: a)"),
        (b"3", errors.NotATraceError, "a int"),
        (b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "na', errors.DamagedTraceError, "cut off"),
        (b'{"traceEvents": [3, "x"]}', errors.DamagedTraceError, "no event could be read"),
        (b'{"schemaVersion": 1, "deviceProp', errors.DamagedTraceError, "no event list"),
        (b"\x1f\x8b\x08\x00garbage", errors.DamagedTraceError, "gzip data is cut or broken"),
    ],
)
def test_what_is_no_trace_is_named(data, error, said, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(error) as caught:
        decode(read_text(path), str(path))
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
