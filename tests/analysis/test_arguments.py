"""Arguments that no column holds are read from the file when they are asked for, once, and are what the file says."""

import gzip
import json
import threading

import numpy as np
import pytest

import corpus
from build import TraceBuilder
from kinetoscope import schema
from kinetoscope.errors import UnreadableError
from kinetoscope.loading import load_file
from kinetoscope.reading import arguments, cache, intake
from kinetoscope.reading.arguments import MISSING
from kinetoscope.reading.decode import decode
from kinetoscope.reading.kept import FIELDS
from kinetoscope.source import Source
from tables import trace_of


def sample() -> TraceBuilder:
    builder = TraceBuilder().op(0, 9, **{"Input Dims": [[3, 4], []], "Concrete Inputs": ["", "0."]})
    builder.flow("ac2g", 1, (0, 1, 1), (1, 0, 7)).kernel(1, 2, **{"est. achieved occupancy %": 31, "grid": [2, 1, 1]})
    builder.op(10, 11, **{"Input Dims": [[3, 4], []]}).op(12, 13, **{"Input Dims": []}).raw("no event")
    return builder.memory(3, -512, allocated=2**60, addr=2**63 + 5).memory(4, 1024, allocated="7", addr="0x10")


def settle():
    for thread in threading.enumerate():
        if thread.name == "kinetoscope-cache":
            thread.join(20)


def test_arguments_are_given_by_row_with_their_distinct_values_once():
    trace = trace_of(sample())
    dims = trace.arguments.get("Input Dims")
    # rows: op, kernel, op, op, memory, memory; the flow and what is no event are no rows
    assert dims.rows.tolist() == [0, 2, 3]
    assert dims.values.tolist() == [0, 0, 1]
    assert dims.distinct == [[[3, 4], []], []]
    assert dims.at(np.array([3, 1, 0, 5])).tolist() == [1, -1, 0, -1]


def test_numbers_are_read_as_they_are_wanted():
    trace = trace_of(sample())
    found = trace.arguments.read(
        {"Bytes": "integer", "Addr": "integer", "Total Allocated": "number", "est. achieved occupancy %": "number"}
    )
    assert found["Bytes"].values.tolist() == [-512, 1024]
    # ids beyond 2^63 keep their bits
    assert found["Addr"].values.tolist() == [-(2**63) + 5, 16]
    assert found["Total Allocated"].values.tolist() == [2.0**60, 7.0]
    assert found["Bytes"].at(np.arange(6)).tolist() == [*[MISSING] * 4, -512, 1024]
    occupancy = found["est. achieved occupancy %"].at(np.arange(6))
    assert occupancy[1] == 31
    assert np.isnan(np.delete(occupancy, 1)).all()


def test_what_no_event_has_is_an_argument_without_rows():
    found = trace_of(sample()).arguments.get("no such argument", "integer")
    assert found.rows.size == 0
    assert found.at(np.arange(3)).tolist() == [MISSING] * 3


@pytest.mark.parametrize("value", ["x", None, [1], {"a": 1}, 1.5, True])
def test_what_is_no_integer_is_missing_or_cut(value):
    found = trace_of(TraceBuilder().op(0, 1, a=3).op(1, 2, a=value)).arguments.get("a", "integer")
    assert found.values.tolist() == [
        3,
        {1.5: 1, True: 1}.get(value if isinstance(value, float | bool) else None, MISSING),
    ]


@pytest.mark.parametrize("value", ["x", None, [1], {"a": 1}, [], True, "7", 1.5])
def test_what_is_no_number_is_none(value):
    found = trace_of(TraceBuilder().op(0, 1, a=3).op(1, 2, a=value)).arguments.get("a", "number")
    wanted = {True: 1.0, "7": 7.0, 1.5: 1.5}.get(value if isinstance(value, str | float | bool) else None, np.nan)
    assert np.array_equal(found.values, [3.0, wanted], equal_nan=True)


def test_equal_values_are_one_however_they_are_written():
    text = b'[{"ph":"X","cat":"cpu_op","ts":1,"dur":1,"args":{"a":[1, 2]}},{"ph":"X","cat":"cpu_op","ts":1,"dur":1,"args":{"a":[1,\n2]}}]'
    from kinetoscope.reading.classify import build
    from kinetoscope.reading.decode import decode

    columns = build(decode(text))
    found = arguments.Arguments(Source("built"), columns, text).get("a")
    assert (found.values.tolist(), found.distinct) == ([0, 0], [[1, 2]])


@pytest.mark.parametrize("args", [None, [], "text", [{"a": 1}]])
def test_arguments_that_are_no_object_hide_no_others(args):
    builder = TraceBuilder().op(0, 1, a=1)
    builder.raw({"ph": "X", "cat": "cpu_op", "name": "odd", "ts": 2, "dur": 1, "pid": 1, "tid": 1, "args": args})
    found = trace_of(builder.op(4, 5, a=2)).arguments.get("a", "integer")
    assert (found.rows.tolist(), found.values.tolist()) == ([0, 2], [1, 2])


@pytest.mark.parametrize("damage", ["none", "gzip", "cut", "quote", "second document"])
def test_arguments_of_damaged_files_belong_to_the_events_they_stand_at(damage, tmp_path):
    builder = TraceBuilder()
    for i in range(50):
        builder.op(i, i + 1, f"op {i}", number=i, **{"Input Dims": [[i]]})
    text = builder.text()
    data = {
        "cut": text[: text.index('"op 30"')],
        "quote": text.replace('"op 7"', '"op "7"'),
        "second document": builder.text().replace('"number": ', '"number": 1') + text,
    }.get(damage, text)
    path = tmp_path / "t.json"
    path.write_bytes(gzip.compress(data.encode()) if damage == "gzip" else data.encode())
    trace = load_file(Source(str(path), span="1b" if damage == "second document" else "1"))
    found = trace.arguments.read({"number": "integer", "Input Dims": "json"})
    names = [trace.columns.names[code] for code in trace.columns.name]
    wanted = [int(name.strip('"op ')) for name in names]
    assert len(wanted) == (30 if damage == "cut" else 50)
    assert found["number"].values.tolist() == wanted
    dims = found["Input Dims"]
    assert [dims.distinct[code] for code in dims.values] == [[[i]] for i in wanted]


def test_several_arguments_take_one_pass_and_what_was_read_none(tmp_path, monkeypatch):
    trace = load_file(Source(str(sample().write(tmp_path / "t.json"))))
    passes = []
    read = arguments.Arguments._read
    monkeypatch.setattr(
        arguments.Arguments, "_read", lambda self, wanted: (passes.append(sorted(wanted)), read(self, wanted))[1]
    )
    trace.arguments.read({"Bytes": "integer", "Addr": "integer"})
    first = trace.arguments.get("Bytes", "integer")
    trace.arguments.read({"Addr": "integer", "Input Dims": "json"})
    assert passes == [["Addr", "Bytes"], ["Input Dims"]]
    assert trace.arguments.get("Bytes", "integer") is first
    assert trace.fixed("durations").arguments is trace.arguments


def test_arguments_come_back_from_the_cache_without_a_look_at_the_trace(tmp_path, cache_folder, monkeypatch):
    monkeypatch.setattr(cache, "LEAST_EVENTS", 1)
    source = Source(str(sample().write(tmp_path / "t.json")))
    wanted = {"Bytes": "integer", "Input Dims": "json", "est. achieved occupancy %": "number", "none": "json"}
    first = load_file(source).arguments.read(wanted)
    settle()
    assert len(list(cache_folder.glob("*.arrow"))) == 1 + len(wanted)
    monkeypatch.setattr(arguments.Arguments, "_read", lambda *_: pytest.fail("the trace was read again"))
    second = load_file(source).arguments.read(wanted)
    for name, argument in first.items():
        assert (argument.kind, argument.distinct) == (second[name].kind, second[name].distinct)
        for part in ("rows", "values"):
            one, other = getattr(argument, part), getattr(second[name], part)
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)


def test_a_spoilt_file_of_the_cache_costs_only_the_time_of_reading_again(tmp_path, cache_folder, monkeypatch):
    monkeypatch.setattr(cache, "LEAST_EVENTS", 1)
    source = Source(str(sample().write(tmp_path / "t.json")))
    load_file(source).arguments.get("Bytes", "integer")
    settle()
    for path in cache_folder.glob("*-*.arrow"):
        path.write_bytes(b"x" * 100)
    assert load_file(source).arguments.get("Bytes", "integer").values.tolist() == [-512, 1024]
    settle()


def test_arguments_of_another_file_are_refused(tmp_path):
    path = sample().write(tmp_path / "t.json")
    trace = load_file(Source(str(path)))
    assert trace.arguments.get("Bytes", "integer").rows.size == 2
    TraceBuilder().op(0, 1).write(path)
    assert trace.arguments.get("Bytes", "integer").rows.size == 2
    with pytest.raises(UnreadableError, match="has changed since it was read"):
        trace.arguments.get("Addr", "integer")


# --- arguments that are kept at the first reading -------------------------------------------------------------------------------------

ASKED = dict.fromkeys(FIELDS["memory"], "integer")
WAIT = {"wait_on_stream": "integer"}
ODD = [7, -1, "12", "-1", "0x10", "x", None, 1.5, 1e300, True, [1], {"a": 1}, 2**53 + 1, 2**63 + 5, -(2**64) - 3, 1e3]


def odd(slow: bool) -> TraceBuilder:
    """Return memory events and waits with arguments of all kinds; of ``slow`` ones, that no plain record fits."""
    more = {"correlation": "0x10"} if slow else {}
    builder = TraceBuilder().op(0, 1, Bytes=5)
    place = {"cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1}
    for i, value in enumerate(ODD):
        builder.op(i, i + 1, Bytes=i, **more).memory(i, 512, addr=value, reserved=ODD[-i])
        builder.raw({"ph": "i", **place, "ts": i, "args": {"Bytes": value, "Total Allocated": i, **more}})
        # no record has a place for such a device
        builder.raw({"ph": "i", **place, "ts": i, "args": {"Bytes": value, "Device Id": 3, "device": [1]}})
        builder.raw({"ph": "X", **place, "cat": "cpu_op", "ts": i, "dur": 1, "args": {"Device Type": value}})
        args = {"stream": 20, "device": 0, "wait_on_stream": value, **more}
        builder.complete("cuda_sync", "Stream Wait Event", (i, i + 1), (0, 20), args)
    builder.raw({"ph": "i", **place, "ts": 3}).raw({"ph": "i", **place, "ts": 3, "args": None})
    builder.raw({"ph": "i", **place, "ts": 3, "args": [1]}).raw({"ph": "Q", **place, "ts": 3, "args": {"Bytes": 4}})
    builder.raw({"ph": "i", **place, "name": "[OutOfMemory]", "ts": 3, "args": {"Device Type": 1, "Bytes": 9}})
    return builder.memory(99, -512, allocated=2**60, addr=2**62)


def agree(trace, monkeypatch) -> None:
    """Compare what was kept with what a pass over the file gives."""
    columns = trace.columns
    for kind, wanted in (("memory", ASKED), ("sync", WAIT)):
        rows = np.flatnonzero(columns.kind == schema.CODE[kind])[::-1]
        assert rows.size
        passed = {name: argument.at(rows) for name, argument in trace.arguments.read(wanted).items()}
        with monkeypatch.context() as patch:
            patch.setattr(arguments.Arguments, "read", lambda *_: pytest.fail("the file was read again"))
            kept = trace.arguments.of(rows, wanted)
        for name in wanted:
            assert kept[name].dtype == passed[name].dtype == np.int64
            assert kept[name].tolist() == passed[name].tolist(), name


@pytest.mark.parametrize("damage", ["none", "gzip", "cut", "quote", "second document", "bad bytes"])
@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("block", [700, 1 << 20])
def test_what_is_kept_is_what_a_pass_over_the_file_gives(damage, slow, block, tmp_path, monkeypatch):
    monkeypatch.setattr("kinetoscope.reading.stream._BLOCK", block)
    text = odd(slow).text()
    data = {
        "cut": text[: int(len(text) * 0.8)],
        "quote": text.replace('"Total Allocated": 3', '"a "b" c": 1, "Total Allocated": 3', 1),
        "second document": text.replace('"Bytes": ', '"Bytes": 1') + text,
    }.get(damage, text)
    data = data.encode()
    data = {"gzip": gzip.compress(data), "bad bytes": data.replace(b'"[OutOf', b'"\xff[OutOf', 1)}.get(damage, data)
    path = tmp_path / "t.json"
    path.write_bytes(data)
    agree(load_file(Source(str(path), span="1b" if damage == "second document" else "1")), monkeypatch)


def test_what_is_kept_comes_back_from_the_cache(tmp_path, cache_folder, monkeypatch):
    monkeypatch.setattr(cache, "LEAST_EVENTS", 1)
    source = Source(str(odd(slow=False).write(tmp_path / "t.json")))
    first = load_file(source)
    settle()
    assert len(list(cache_folder.glob("*.arrow"))) == 1
    monkeypatch.setattr("kinetoscope.loading.decode_file", lambda *_: pytest.fail("the trace was read again"))
    second = load_file(source)
    for kind, wanted in (("memory", ASKED), ("sync", WAIT)):
        rows = np.flatnonzero(first.columns.kind == schema.CODE[kind])
        one, other = first.arguments.of(rows, wanted), second.arguments.of(rows, wanted)
        assert {name: found.tolist() for name, found in one.items()} == {n: f.tolist() for n, f in other.items()}


def test_rows_that_are_of_another_kind_are_read_from_the_file():
    trace = trace_of(odd(slow=False))
    ops = np.flatnonzero(trace.columns.kind == schema.CODE["op"])[:3]
    memory = np.flatnonzero(trace.columns.kind == schema.CODE["memory"])[:1]
    assert trace.arguments.of(ops, {"Bytes": "integer"})["Bytes"].tolist() == [5, 0, 1]
    assert trace.arguments.of(np.append(memory, ops), {"Bytes": "integer"})["Bytes"].tolist() == [512, 5, 0, 1]
    assert trace.arguments.of(memory, {"Bytes": "number", "Ev Idx": "json"})["Bytes"].tolist() == [512.0]
    assert trace.arguments.of(memory[:0], {"Bytes": "number"})["Bytes"].dtype == np.float64


def test_memory_and_waits_of_streams_take_no_second_pass(tmp_path, monkeypatch):
    builder = TraceBuilder().step(0, 0, 100).memory(1, 64, allocated=64).memory(2, -64, allocated=0)
    builder.launch(1, 2, 1).kernel(3, 4, correlation=1).launch(5, 6, 2).kernel(9, 12, correlation=2)
    wait = {"cuda_sync_kind": "Stream Wait Event", "wait_on_stream": 8, "stream": 7, "device": 0}
    builder.complete("cuda_sync", "Stream Wait Event", (5, 6), (0, 7), wait)
    trace = load_file(Source(str(builder.write(tmp_path / "t.json"))))
    monkeypatch.setattr(arguments.Arguments, "_read", lambda *_: pytest.fail("the file was read again"))
    assert trace.view("memory")["peak_allocated_bytes"].tolist() == [64]
    assert trace.stream_waits.on.tolist() == [8]
    trace.view("gaps")


def test_every_view_together_takes_one_pass_at_most(tmp_path, monkeypatch):
    from kinetoscope.views import registry

    builder = sample().launch(1, 2, 1).kernel(3, 4, correlation=1).python(0, 5)
    trace = load_file(Source(str(builder.write(tmp_path / "t.json"))))
    passes = []
    read = arguments.Arguments._read
    monkeypatch.setattr(
        arguments.Arguments, "_read", lambda self, wanted: (passes.append(sorted(wanted)), read(self, wanted))[1]
    )
    for name in registry.views():
        trace.view(name)
    assert len(passes) == 1, passes


@pytest.mark.parametrize("events", ["none", "memory", "sync", "both"])
def test_records_hold_what_is_kept_only_where_an_event_has_it(events, monkeypatch):
    seen = []
    add = intake.Gatherer.add_plain
    monkeypatch.setattr(intake.Gatherer, "add", lambda *_: pytest.fail("the slow way"))
    monkeypatch.setattr(
        intake.Gatherer, "add_plain", lambda self, found, plain: (add(self, found, plain), seen.append(plain.kept))
    )
    builder = TraceBuilder()
    for i in range(60):
        builder.op(i, i + 1, Bytes=3)
    if events in ("memory", "both"):
        builder.memory(3, 64)
    if events in ("sync", "both"):
        builder.complete("cuda_sync", "Stream Wait Event", (6, 7), (0, 20), {"stream": 20, "wait_on_stream": 7})
    decode(builder.bytes(), piece_bytes=1000)
    wanted = {"none": set(), "memory": {"memory"}, "sync": {"sync"}, "both": {"memory", "sync"}}[events]
    assert seen[0] == frozenset()
    assert seen[-1] == wanted
    assert len(seen) > 4


@pytest.mark.parametrize("damage", ["none", "quote", "second list"])
def test_single_events_of_large_files_are_found_without_keeping_the_text(damage, tmp_path, monkeypatch):
    text = sample().text()
    if damage == "quote":
        text = text.replace('"Input Dims"', '"a "b" c": 1, "Input Dims"', 1)
    if damage == "second list":
        text = text[:-1] + ', "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "other", "ts": 1, "dur": 1}]}'
    path = tmp_path / "t.json"
    path.write_text(text)
    kept = load_file(Source(str(path)))
    monkeypatch.setattr("kinetoscope.trace._SMALL_FILE", 10)
    anew = load_file(Source(str(path)))
    for event in kept.columns.id.tolist():
        assert anew.recorded(event) == kept.recorded(event) != {}
    assert anew.recorded(99) == {}
    assert "_recorded" not in vars(anew)


@corpus.parametrize(largest_mb=0.8)
def test_arguments_of_real_traces_are_what_the_files_say(known):
    data = known.path.read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    document = json.loads(text.decode("utf-8", "replace"), strict=False)
    events = document if isinstance(document, list) else document["traceEvents"]
    trace = load_file(Source(str(known.path)))
    names = ("Input Dims", "Input type", "Concrete Inputs", "Call stack", "grid", "Process Group Name", "External id")
    found = trace.arguments.read(dict.fromkeys(names, "json"))
    for name, argument in found.items():
        arguments_of = [events[i].get("args") for i in trace.columns.id.tolist()]
        wanted = {row: args[name] for row, args in enumerate(arguments_of) if isinstance(args, dict) and name in args}
        assert argument.rows.tolist() == list(wanted)
        assert [argument.distinct[code] for code in argument.values] == list(wanted.values())
