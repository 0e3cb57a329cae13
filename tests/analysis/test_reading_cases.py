"""The hand-made cases of damaged and odd files, each with its one right answer."""

import gzip
import json
from decimal import Decimal

import pytest

import kinetoscope as ks
from build import TraceBuilder
from tables import rows, severity_of, trace_of

CPLUSPLUS = """{{
  "schemaVersion": 1,
  "deviceProperties": [
  ],
  "traceEvents": [
  {{
    "ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 1,
    "ts": 100, "dur": 50,
    "args": {{
      "External id": 1, "Ev Idx": 0
    }}
  }},
  {{
    "ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1,
    "ts": 160, "dur": 5,
    "args": {{
      "External id": 2, "Ev Idx": 1
    }}
  }}
  ]
}}
"""


def losses(trace: ks.Trace) -> dict[str, int]:
    return {loss.what: loss.times for loss in trace.losses}


def load(tmp_path, data: bytes, name: str = "t.pt.trace.json", **options) -> ks.Trace:
    path = tmp_path / name
    path.write_bytes(data)
    return ks.load(path, **options)


def names(trace: ks.Trace) -> list[str]:
    return trace.events["name"].astype(str).tolist()


# --- backslashes ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [r"C:\Users\me\train.py(3): f", r"C:\temp\new\file.py(7): g", r"C:\u00e9tudes\x.py(1): h", r"D:\bin\run.py(2): k"],
)
def test_backslashes_of_the_old_writer_come_back_as_they_are(path, tmp_path):
    trace = load(tmp_path, CPLUSPLUS.format(name=path).encode())
    assert names(trace) == [path, "aten::add"]
    assert losses(trace) == {"backslash": path.count("\\")}


def test_a_correct_file_keeps_its_escapes(tmp_path):
    for name in (r'say "hi"', r"C:\dir\new", "tab\there", "é"):
        document = json.loads(CPLUSPLUS.format(name="x"))
        document["traceEvents"][0]["name"] = name
        for indent in (None, 2):
            trace = load(tmp_path, json.dumps(document, indent=indent).encode())
            assert names(trace)[0] == name
            assert losses(trace) == {}


def test_an_escape_that_parses_stays_outside_the_old_writers_layout(tmp_path):
    document = json.loads(CPLUSPLUS.format(name="x"))
    text = json.dumps(document).replace('"x"', r'"C:\u00e9tudes"')
    assert names(load(tmp_path, text.encode()))[0] == "C:études"


def test_an_escaped_quote_in_the_old_layout_means_that_the_writer_escapes(tmp_path):
    trace = load(tmp_path, CPLUSPLUS.format(name=r"a \"quoted\" name\ttab").encode())
    assert names(trace)[0] == 'a "quoted" name\ttab'
    assert losses(trace) == {}


# --- bytes ----------------------------------------------------------------------------------------------------------------------------


def test_bytes_that_are_no_text_and_raw_control_characters_are_counted_once_each(tmp_path):
    data = TraceBuilder().op(0, 10, "A").op(20, 30, "B").op(40, 50, "C").bytes()
    trace = load(tmp_path, data.replace(b'"A"', b'"a\xf0\x9fx"').replace(b'"B"', b'"b\x01y"'))
    assert names(trace) == ["a�x", "b\x01y", "C"]
    assert losses(trace) == {"encoding": 1, "control": 1}
    assert severity_of(trace, "file") == "warning"
    assert "byte" in trace.health().set_index("check").loc["file", "detail"]


# --- what writers get wrong -----------------------------------------------------------------------------------------------------------

MENDED = {
    "quote in a name": (b'"name": "B"', b'"name": "a "B" c"', 'a "B" c'),
    "quote and comma in a name": (b'"name": "B"', b'"name": "say "hi", ok"', 'say "hi", ok'),
    "raw newline in a name": (b'"name": "B"', b'"name": "two\nlines"', "two\nlines"),
    "backslash that escapes nothing": (b'"name": "B"', b'"name": "C:\\Users\\me"', r"C:\Users\me"),
    "NaN": (b'"dur": 11', b'"dur": NaN', "B"),
    "infinity": (b'"dur": 11', b'"dur": -Infinity', "B"),
    "inf": (b'"dur": 11', b'"dur": inf', "B"),
    "N/A": (b'"dur": 11', b'"dur": N/A', "B"),
    "missing comma": (b'"tid": 1, "ts": 20', b'"tid": 1 "ts": 20', "B"),
    "doubled comma": (b'"tid": 1, "ts": 20', b'"tid": 1,, "ts": 20', "B"),
    "trailing comma": (b'"External id": 2}', b'"External id": 2,}', "B"),
    "lone half of a character": (b'"name": "B"', b'"name": "\\ud83dx"', "�x"),
}


@pytest.mark.parametrize("case", MENDED)
def test_one_bad_event_is_mended_and_the_others_are_untouched(case, tmp_path):
    before, after, name = MENDED[case]
    data = TraceBuilder(base_ns=5).op(0, 10, "A").op(20, 31, "B").op("40.125", "50.375", "C").kernel(60, 61).bytes()
    assert before in data
    trace = load(tmp_path, data.replace(before, after))
    assert names(trace) == ["A", name, "C", "kernel"]
    assert trace.columns.duration.tolist()[2:] == [10_250, 1_000]
    assert trace.metadata["schemaVersion"] == 1
    assert losses(trace) == {"repaired": 1}
    assert trace.recorded(1)["name"] == name
    assert "repaired" in {loss.what for loss in trace.losses}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"}}]}", b"}},]}"),
        (b"}}]}", b"}}, ]\n}"),
        (b'}}, {"ph"', b'}} {"ph"'),
        (b'}}, {"ph"', b'}},\n,{"ph"'),
        (b"}}]}", b"}}], }"),
    ],
)
def test_commas_between_events_may_be_wrong(before, after, tmp_path):
    data = TraceBuilder().op(0, 10, "A").op(20, 30, "B").bytes()
    assert before in data
    trace = load(tmp_path, data.replace(before, after))
    assert names(trace) == ["A", "B"]
    assert severity_of(trace, "file") == "warning"


def test_an_empty_last_element_is_accounted_for(tmp_path):
    trace = load(tmp_path, TraceBuilder().op(0, 10, "A").bytes().replace(b"}}]}", b"}}, {}]}"))
    assert names(trace) == ["A"]
    assert sum(account.events for account in trace.accounts) == 2


@pytest.mark.parametrize(
    "metadata",
    ['"user": "v"al"', '"user": NaN', '"schemaVersion": "7"', '"INFO": ["a "b" c", "d"]', '"deep": {"a": [1, 2,], }'],
)
@pytest.mark.parametrize("place", ["before", "after"])
def test_damaged_metadata_costs_no_event(metadata, place, tmp_path):
    text = TraceBuilder().op(0, 10, "A").op(20, 30, "B").text()
    text = (
        text.replace('{"schemaVersion"', "{" + metadata + ', "schemaVersion"', 1)
        if place == "before"
        else text[:-1] + ", " + metadata + "}"
    )
    trace = load(tmp_path, text.encode())
    assert names(trace) == ["A", "B"]
    assert "deviceProperties" in trace.metadata


def test_a_bare_list_is_a_trace(tmp_path):
    events = json.loads(TraceBuilder().op(0, 10, "A").kernel(20, 30).text())["traceEvents"]
    assert len(load(tmp_path, json.dumps(events).encode())) == 2
    assert len(load(tmp_path, json.dumps(events).encode()[:-4])) == 1


def test_begin_and_end_events_are_paired_by_thread(tmp_path):
    builder = TraceBuilder().op(0, 100, "whole")
    for phase, name, ts, tid in (
        ("E", "nobody", 1, 1),
        ("B", "outer", 10, 1),
        ("E", "", 50, 1),
        ("B", "inner", 20, 1),
        ("E", "", 30, 1),
        ("B", "other thread", 15, 2),
        ("E", "", 60, 2),
        ("B", "never closed", 70, 1),
    ):
        builder.raw({"ph": phase, "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": ts})
    trace = load(tmp_path, builder.bytes())
    found = {
        name: (start, length)
        for name, start, length in zip(
            names(trace), trace.columns.start.tolist(), trace.columns.duration.tolist(), strict=True
        )
    }
    assert found == {
        "whole": (0, 100_000),
        "outer": (10_000, 40_000),
        "inner": (20_000, 10_000),
        "other thread": (15_000, 45_000),
    }
    left_out = {account.reason: account.events for account in trace.accounts if not account.kept}
    assert left_out == {"begin that is never closed": 1, "end that closes nothing": 1}
    assert sum(account.events for account in trace.accounts) == len(builder.events)


def test_events_without_what_they_should_have_are_kept_and_counted(tmp_path):
    builder = TraceBuilder().op(0, 10, "A")
    builder.raw({"ph": "X", "cat": "cpu_op", "ts": 1}).raw({"ph": "X"}).raw(
        {"ph": "X", "cat": "kernel", "name": "k", "ts": 5, "dur": 1}
    )
    trace = load(tmp_path, builder.bytes())
    assert len(trace) == 4
    assert trace.columns.timed.tolist() == [True, False, False, True]
    assert severity_of(trace, "untimed events") == "warning"


def test_ids_beyond_doubles_keep_their_bits(tmp_path):
    big = 2**53 + 1
    trace = load(
        tmp_path,
        TraceBuilder().launch(0, 1, big).kernel(2, 3, correlation=big).kernel(4, 5, correlation=big + 1).bytes(),
    )
    assert trace.kernels["launch"].isna().tolist() == [False, True]


# --- damaged files --------------------------------------------------------------------------------------------------------------------


def four() -> bytes:
    return TraceBuilder().op(0, 10, "A").op(20, 30, "B").op(40, 50, "C").op(60, 70, "D").bytes()


def test_json_cut_inside_the_fourth_event_gives_three_and_says_so(tmp_path):
    data = four()
    trace = load(tmp_path, data[: data.index(b'"D"')])
    assert names(trace) == ["A", "B", "C"]
    assert severity_of(trace, "file") == "error"
    assert "ends early" in trace.view("kernels").attrs["notes"][0]


@pytest.mark.parametrize("cut", range(2, 500, 7))
def test_wherever_json_is_cut_whole_events_survive(cut, tmp_path):
    data = four()
    text = data[:-cut]
    whole = text.count(b"}}")
    if whole:
        assert len(load(tmp_path, text)) == whole
    else:
        with pytest.raises(ks.KinetoscopeError, match=r"cut off|breaks off"):
            load(tmp_path, text)


def test_gzip_without_its_end_gives_all_events_and_says_so(tmp_path):
    trace = load(tmp_path, gzip.compress(four())[:-8], "t.json.gz")
    assert names(trace) == ["A", "B", "C", "D"]
    assert losses(trace) == {"gzip": 1}
    assert severity_of(trace, "file") == "error"


def test_gzip_cut_in_the_middle_gives_what_came_before(tmp_path):
    builder = TraceBuilder()
    for i in range(2000):
        builder.op(i, i + 1, f"op {i * 7919 % 1000}")
    packed = gzip.compress(builder.bytes())
    trace = load(tmp_path, packed[: len(packed) // 2], "t.json.gz")
    assert 500 < len(trace) < 1500
    assert {"gzip", "cut"} <= set(losses(trace))


@pytest.mark.parametrize(
    "pack",
    [lambda a, b: gzip.compress(a) + gzip.compress(b), lambda a, b: a + b"\n" + b],
    ids=["gzip members", "plain"],
)
def test_two_documents_are_two_spans_and_never_merged(pack, tmp_path):
    one, two = TraceBuilder().op(0, 10, "first").bytes(), TraceBuilder().op(0, 10, "second").op(20, 30, "third").bytes()
    path = tmp_path / "w.1.pt.trace.json"
    path.write_bytes(pack(one, two))
    job = ks.open_logdir(tmp_path)
    assert [source.span for source in job.sources()] == ["1a", "1b"]
    first, second = job.load(span="1a"), job.load(span="1b")
    assert (names(first), names(second)) == (["first"], ["second", "third"])
    assert second.recorded(1)["name"] == "third"
    for trace in (first, second):
        assert severity_of(trace, "documents") == "warning"
        assert "more than one writer" in trace.view("kernels").attrs["notes"][0]


def test_plain_json_named_gz_and_gzip_of_gzip_load(tmp_path):
    assert len(load(tmp_path, four(), "t.json.gz")) == 4
    assert len(load(tmp_path, gzip.compress(gzip.compress(four())), "t.json.gz")) == 4
    assert losses(load(tmp_path, gzip.compress(four()), "t.json")) == {}


# --- times ----------------------------------------------------------------------------------------------------------------------------


def test_text_times_since_1970_are_exact(tmp_path):
    builder = TraceBuilder()
    for start, length in (
        ("1716000000000000.125", ".400"),
        ("1716000000000000.600", ".300"),
        ("1716000000000000.950", ".200"),
    ):
        builder.raw(
            {
                "ph": "X",
                "cat": "kernel",
                "name": "k",
                "pid": 0,
                "tid": 7,
                "ts": start,
                "dur": length,
                "args": {"device": 0, "stream": 7},
            }
        )
    trace = load(tmp_path, builder.bytes())
    assert [round(length * 1000) for (length,) in rows(trace, "gaps", "duration_us")] == [75, 50]
    assert trace.origin_ns == 1716000000000000125


def test_number_times_since_1970_are_exact(tmp_path):
    builder = (
        TraceBuilder()
        .kernel(Decimal("1716000000000000.125"), Decimal("1716000000000000.525"))
        .kernel(Decimal("1716000000000000.6"), Decimal("1716000000000000.9"))
    )
    assert [round(length * 1000) for (length,) in rows(load(tmp_path, builder.bytes()), "gaps", "duration_us")] == [75]


# --- odd shapes -----------------------------------------------------------------------------------------------------------------------

SHAPES = {
    "annotations, no steps": TraceBuilder().annotation(0, 10, "train").op(1, 5),
    "device only": TraceBuilder().kernel(0, 10),
    "host only": TraceBuilder().op(0, 10),
    "nothing": TraceBuilder(),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_view_gives_a_result_or_says_why_not(shape):
    from kinetoscope.views import registry

    trace = trace_of(SHAPES[shape])
    for name in registry.views():
        frame = trace.view(name)
        assert not frame.empty or frame.attrs["notes"] or name == "health_events", name


# --- limits ---------------------------------------------------------------------------------------------------------------------------


def test_a_gzip_bomb_stops_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSCOPE_MAX_BYTES", "100000")
    with pytest.raises(ks.KinetoscopeError, match="more than 100,000 bytes"):
        load(tmp_path, gzip.compress(b" " * 10_000_000), "t.json.gz")


def test_too_many_events_stop_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSCOPE_MAX_EVENTS", "3")
    with pytest.raises(ks.KinetoscopeError, match="more than 3 events"):
        load(tmp_path, four())


# --- hostile text ---------------------------------------------------------------------------------------------------------------------


def test_hostile_names_are_only_text(tmp_path):
    hostile = [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "a" * 100_000,
        "\u202eevil",
        "${jndi}",
        "'; drop table",
    ]
    builder = TraceBuilder()
    for i, name in enumerate(hostile):
        builder.kernel(i, i + 1, name=name)
    assert sorted(names(load(tmp_path, builder.bytes()))) == sorted(hostile)
