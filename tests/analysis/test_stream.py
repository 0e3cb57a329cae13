"""A sound file is read block by block, and gives what it gives as a whole; the time and memory it takes grow with it."""

import gzip
import json
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from build import TraceBuilder
from kinetoscope import errors
from kinetoscope.reading import intake, records, stream, values
from kinetoscope.reading.classify import build
from kinetoscope.reading.columns import Columns
from kinetoscope.reading.decode import decode, decode_file
from kinetoscope.reading.files import read_text
from kinetoscope.reading.kept import FIELDS
from kinetoscope.reading.losses import Losses


def same(one: Columns, other: Columns) -> None:
    """Compare all columns of two readings."""
    for name in ("id", "kind", "category", "name", "thread", "start", "duration", "timed", "complete", "unfinished"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name in ("device", "stream", "correlation", "external_id", "sequence_number", "forward_thread", "collective"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    for name, column in one.details.items():
        if name in one.shapes:
            # how the texts are numbered is no matter
            assert shapes(one, name) == shapes(other, name), name
            continue
        assert np.array_equal(column, other.details[name], equal_nan=column.dtype.kind == "f"), name
    assert one.kept.keys() == other.kept.keys()
    for kind, (rows, kept) in one.kept.items():
        assert np.array_equal(rows, other.kept[kind].rows), kind
        assert np.array_equal(kept, other.kept[kind].values), kind
    for name in ("flow", "thread", "time", "start"):
        assert np.array_equal(getattr(one.flows, name), getattr(other.flows, name)), name
    for name in ("extras", "categories", "names", "threads", "origin_ns", "accounts"):
        assert getattr(one, name) == getattr(other, name), name


def shapes(columns: Columns, name: str) -> list[str | None]:
    """Return the launch shapes of all rows as texts."""
    return [columns.shapes[name][code] if code >= 0 else None for code in columns.details[name]]


def mixed(count: int) -> TraceBuilder:
    """Return a trace with events of many kinds."""
    builder = TraceBuilder(displayTimeUnit="ms", base_ns=10**18)
    builder.raw({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}})
    for i in range(count):
        builder.op(10 * i, 10 * i + 5, f"op {i % 7} }}, {{ ", seq=i, **{"Input Dims": [[i % 3]]})
        builder.launch(10 * i, 10 * i + 1, i + 1).kernel(10 * i + 2, 10 * i + 4, correlation=i + 1, grid=[i, 1, 1])
        builder.flow("fwdbwd", i, (10 * i, 1, 1), (10 * i + 5, 1, 1)).memory(10 * i, 512, allocated=512 * i)
    return builder


# --- pieces -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packing", ["none", "gzip", "members", "byte order mark", "zeros behind"])
@pytest.mark.parametrize("block", [300, 1000, 1 << 20])
def test_a_file_in_blocks_gives_what_it_gives_as_a_whole(packing, block, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", block)
    monkeypatch.setattr(stream, "_FEW", 500)
    data = mixed(60).bytes()
    half = len(data) // 2
    packings = {
        "none": data,
        "gzip": gzip.compress(data),
        "members": gzip.compress(data[:half]) + gzip.compress(data[half:]),
        "byte order mark": b"\xef\xbb\xbf" + data,
        "zeros behind": gzip.compress(data) + bytes(100),
    }
    path = tmp_path / "t.json"
    path.write_bytes(packings[packing])
    found, whole = decode_file(str(path)), decode(data)
    assert found.columns.count == 1 + 60 * 6
    assert (found.metadata, found.losses, found.unreadable) == (whole.metadata, [], [])
    same(build(found), build(whole))


@corpus.parametrize(largest_mb=0.8)
def test_real_files_in_blocks_give_what_they_give_as_a_whole(known):
    found, lost = decode_file(str(known.path)), Losses()
    whole = decode(read_text(known.path, losses=lost), losses=lost)
    assert (found.metadata, found.losses) == (whole.metadata, whole.losses)
    same(build(found), build(whole))


def test_only_a_piece_of_a_sound_file_is_decoded_at_once_and_all_of_it_once(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", 2000)
    sizes = []
    take = intake.Intake.take
    monkeypatch.setattr(intake.Intake, "take", lambda self, piece: (sizes.append(len(piece.text)), take(self, piece)))
    path = mixed(200).write(tmp_path / "t.json")
    decode_file(str(path))
    text = path.stat().st_size
    assert max(sizes) < 6000
    assert text * 0.95 < sum(sizes) < text * 1.05


@pytest.mark.parametrize("shape", ["second list", "second list is empty", "two documents", "cut", "backslashes"])
def test_what_is_out_of_the_ordinary_is_read_as_a_whole(shape, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", 700)
    text = mixed(20).text()
    last = '{"ph": "X", "cat": "cpu_op", "name": "other", "pid": 1, "tid": 1, "ts": 3, "dur": 4}'
    windows = text.replace('{"ph": "X", "cat": "', '{\n  "ph": "X", "cat": "').replace("op 3", "C:\\new\\op")
    texts = {
        "second list": text[:-1] + f', "traceEvents": [{last}]}}',
        "second list is empty": text[:-1] + ', "traceEvents": []}',
        "two documents": text + text,
        "cut": text[: len(text) // 2],
        "backslashes": windows,
    }
    path = tmp_path / "t.json"
    path.write_text(texts[shape])
    found, whole = decode_file(str(path)), decode(texts[shape].encode())
    assert found.losses == whole.losses
    assert found.metadata == whole.metadata
    same(build(found), build(whole))
    counts = {"second list": 1, "second list is empty": 121, "two documents": 121, "backslashes": 121}
    assert found.columns.count == counts.get(shape, found.columns.count)
    if shape == "backslashes":
        assert "C:\\new\\op }, { " in found.columns.names.listed
    else:
        assert found.losses or shape == "second list"


def test_an_error_while_unpacking_ahead_comes_through_and_leaves_no_thread(tmp_path, monkeypatch):
    import threading

    monkeypatch.setattr(stream, "_FEW", 10)
    monkeypatch.setenv("KINETOSCOPE_MAX_BYTES", "50000")
    path = mixed(400).write(tmp_path / "t.json.gz")
    with pytest.raises(errors.LimitError, match="more than 50,000 bytes of text"):
        decode_file(str(path))
    assert not [thread for thread in threading.enumerate() if thread.name == "kinetoscope-unpack"]


def test_progress_goes_up_to_the_size_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", 1000)
    path = mixed(50).write(tmp_path / "t.json")
    heard = []
    decode_file(str(path), heard.append)
    done = [report.bytes_done for report in heard if report.stage == "decode"]
    assert done == sorted(done)
    assert len(done) > 20
    assert done[-1] == path.stat().st_size == heard[-1].bytes_total


# --- plain and other records --------------------------------------------------------------------------------------------------------

ODD = st.one_of(
    st.integers(-3, 2**64),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["7", "inf", "", "x"]),
    st.none(),
)
NUMBER = st.one_of(st.integers(0, 99), st.integers(2**53 - 2, 2**53 + 2), ODD)
SHAPE = st.one_of(
    st.lists(st.integers(1, 9), min_size=3, max_size=3), st.just([2.0, 1, 1]), st.just("[2, 1, 1]"), st.just([1])
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("correlation", "External id", "external id", "stream", "device", "inDevice", "bytes"), NUMBER),
        **dict.fromkeys(("size", "Sequence number", "Fwd thread id", "registers per thread", "shared memory"), NUMBER),
        **dict.fromkeys(("blocks per SM", "est. achieved occupancy %", "memory bandwidth (GB/s)"), ODD),
        **dict.fromkeys(("grid", "block"), SHAPE),
        **dict.fromkeys(("Collective name", "name", "labels"), st.sampled_from(["", "allreduce", 3, None])),
        **dict.fromkeys(("Input Dims", "Call stack"), st.sampled_from([[], "", None, [[1]], "f.py(1): f"])),
        "finished": st.sampled_from([True, False, "false", 0, None]),
        **dict.fromkeys(
            ("Bytes", "Addr", "Device Type", "wait_on_stream"), st.one_of(ODD, st.booleans(), st.just([1]))
        ),
    },
)
KINDS = ("cpu_op", "kernel", "python_function", "cuda_runtime")
TIMES = {
    "relative": st.integers(1, 10**9).map(lambda ns: Decimal(ns) / 1000),
    "whole": st.integers(1_600_000_000_000_000, 1_600_000_000_999_999),
    "absolute": st.integers(1_712_195_495_519_689_047, 1_712_195_495_529_689_047).map(lambda ns: Decimal(ns) / 1000),
}


@st.composite
def documents(draw):
    time = TIMES[draw(st.sampled_from(sorted(TIMES)))]
    builder = TraceBuilder()
    for _ in range(draw(st.integers(1, 12))):
        category = draw(st.sampled_from([*KINDS, "gpu_memcpy", "cuda_sync", "ac2g", "fwdbwd", None]))
        phase = draw(st.sampled_from("sf")) if category in ("ac2g", "fwdbwd") else draw(st.sampled_from("XXXXiMBE"))
        event = {
            "ph": phase,
            "cat": category,
            "name": draw(st.sampled_from(["a", "b", "", 7, "[memory]"])),
            "pid": draw(st.sampled_from([0, 1, "Spans"])),
        }
        event |= {
            "tid": draw(st.sampled_from([1, "stream 7"])),
            "ts": draw(time),
            "dur": draw(st.sampled_from([0, 5, 7.25])),
        }
        event |= draw(st.fixed_dictionaries({}, optional={"args": ARGUMENTS, "id": NUMBER}))
        builder.raw({key: value for key, value in event.items() if value is not None})
    return builder.bytes()


@settings(max_examples=400)
@given(documents())
def test_plain_records_give_what_records_of_any_kind_give(text):
    quick = decode(text, piece_bytes=300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake.Intake, "_take_plain", lambda *_: False)
        slow = decode(text, piece_bytes=300)
    same(build(quick), build(slow))


@pytest.mark.parametrize(
    ("time", "kept"), [(1.5, "double"), (1_600_000_000_000_000, "whole"), (Decimal("1712195495519689.047"), "text")]
)
def test_usual_files_are_read_by_plain_records(time, kept, monkeypatch):
    seen = []
    add = intake.Gatherer.add_plain
    monkeypatch.setattr(intake.Gatherer, "add", lambda *_: pytest.fail("the slow way"))
    monkeypatch.setattr(
        intake.Gatherer, "add_plain", lambda self, events, plain: (add(self, events, plain), seen.append(plain.times))
    )
    builder = TraceBuilder()
    place = {"pid": 1, "tid": 1, "ts": time, "dur": 2}
    builder.raw({"ph": "X", "cat": "cpu_op", "name": "a", **place, "args": {"Input Dims": [[3]], "Call stack": "f"}})
    builder.raw({"ph": "X", "cat": "kernel", "name": "k", **place, "args": {"stream": "7", "Collective name": "all"}})
    columns = build(decode(builder.bytes()))
    assert seen == [kept]
    assert columns.extras == ["shapes", "stacks"]
    assert columns.stream.tolist() == [-1, 7]
    assert columns.collective.tolist() == [False, True]


def test_a_file_that_refuses_plain_records_again_and_again_is_not_decoded_twice_to_its_end(monkeypatch):
    builder = TraceBuilder()
    for i in range(200):
        builder.op(i, i + 1, correlation="0x10")
    plain = []
    monkeypatch.setattr(intake.Gatherer, "add_plain", lambda *_: pytest.fail("no such event is plain"))
    decode_one = intake.Document.decode
    monkeypatch.setattr(
        intake.Document,
        "decode",
        lambda self, record: (plain.append(record.__name__), decode_one(self, record))[1],
    )
    assert build(decode(builder.bytes(), piece_bytes=500)).correlation.tolist() == [16] * 200
    assert plain.count("Event") > 30
    assert plain.count("PlainEvent") == 4


@given(st.lists(st.one_of(st.integers(0, 2**63 - 1), st.none()), min_size=1), st.data())
def test_times_are_exact_from_how_they_are_written(times, data):
    texts = []
    for ns in times:
        places = 3 if ns is None else data.draw(st.sampled_from([p for p in range(4) if ns % 10 ** (3 - p) == 0]))
        texts.append(b"" if ns is None else f"{Decimal(ns) / 1000:.{places}f}".encode())
    expected = [values.MISSING if ns is None else ns for ns in times]
    assert values.texts_to_nanoseconds(texts).tolist() == expected


@pytest.mark.parametrize(
    "text", [b"-1", b"1e3", b"null", b"1.2345", b"1.2.3", b".5", b'"12"', b"9223372036854775.808", b"12345678901234567"]
)
def test_times_written_in_other_ways_are_left_to_the_slow_way(text):
    assert values.texts_to_nanoseconds([b"1.5", text]) is None


def test_every_field_that_figures_need_is_in_both_kinds_of_records():
    plain = dict(
        zip(records.PlainArguments.__struct_fields__, records.PlainArguments.__struct_encode_fields__, strict=True)
    )
    loose = dict(zip(records.Arguments.__struct_fields__, records.Arguments.__struct_encode_fields__, strict=True))
    assert {key: loose[key] for key in plain} == plain
    kept = {field for fields in FIELDS.values() for field in fields.values()}
    assert set(loose) - set(plain) == {"shapes", "stack"} | kept


def test_columns_that_no_event_has_take_no_memory():
    decoded = decode(mixed(50).bytes(), piece_bytes=2000)
    columns = build(decoded)
    assert decoded.columns.array("host.forward_thread").strides == (0,)
    empty = (columns.forward_thread, columns.details["occupancy"], columns.details["registers"])
    assert {column.strides for column in empty} == {(0,)}
    assert {len(column) for column in (*empty, columns.external_id)} == {len(columns)}
    assert columns.forward_thread.tolist() == [-1] * len(columns)
    assert np.isnan(columns.details["occupancy"]).all()
    assert columns.sequence_number.max() == 49


# --- growth -------------------------------------------------------------------------------------------------------------------------


def dense(path, events: int):
    """Write a file of events as small as they come."""
    lines = (
        json.dumps(
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": f"op{i % 50}",
                "pid": 1,
                "tid": 1,
                "ts": i,
                "dur": 1,
                "args": {"External id": i},
            }
        )
        for i in range(events)
    )
    path.write_text('{"schemaVersion": 1, "traceEvents": [\n' + ",\n".join(lines) + "\n]}")
    return path


def calls(path) -> int:
    """Count the calls that reading a file makes."""
    made = 0

    def count(_frame, event, _argument) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        build(decode_file(str(path)))
    finally:
        sys.setprofile(None)
    return made


def test_ten_times_the_events_make_at_most_eleven_times_the_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", 20_000)
    small, large = calls(dense(tmp_path / "small.json", 3_000)), calls(dense(tmp_path / "large.json", 30_000))
    assert 5 * small < large < 11 * small


def test_memory_grows_with_the_columns_and_not_with_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "_BLOCK", 50_000)
    peaks = []
    for events in (4_000, 40_000):
        path = dense(tmp_path / f"{events}.json", events)
        tracemalloc.start()
        decode_file(str(path))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    text = path.stat().st_size
    assert peaks[1] < text / 2
    assert peaks[1] < 11 * peaks[0]
