"""Arguments that no column holds are read from the file when they are asked for, once, and are what the file says."""

import gzip
import json
import threading

import numpy as np
import pytest

import corpus
from build import TraceBuilder
from kinetoscope.errors import UnreadableError
from kinetoscope.loading import load_file
from kinetoscope.reading import arguments, cache
from kinetoscope.reading.arguments import MISSING
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
