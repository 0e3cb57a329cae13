"""What a hostile or careless hand does to files, paths, limits and the command line: one line, never a traceback, and the rest still works."""

import gzip
import json
import os
import re
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest

import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.cli import main
from tables import rows, severity_of, trace_of


def load(tmp_path, data: bytes, name: str = "t.json") -> ks.Trace:
    path = tmp_path / name
    path.write_bytes(data)
    return ks.load(path)


@pytest.mark.parametrize("deep", ['{"a":' * 5000 + "1" + "}" * 5000, "[" * 5000 + "]" * 5000])
def test_deep_nesting_costs_only_its_event(deep, tmp_path):
    builder = TraceBuilder()
    for i in range(20):
        builder.op(i, i + 1, f"op{i}")
    text = builder.text().replace('"External id": 8', f'"External id": 8, "deep": {deep}')
    trace = load(tmp_path, text.encode())
    assert len(trace) >= 19
    assert severity_of(trace, "file") == "error" or len(trace) == 20


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"traceEvents": ' + "[" * 100_000])
def test_nothing_but_nesting_is_refused(text, tmp_path):
    with pytest.raises(ks.KinetoscopeError):
        load(tmp_path, text.encode())


@pytest.mark.parametrize("base", [10**30, -5, "x", 1e300, None, [1]])
def test_an_odd_base_time_is_none(base, tmp_path):
    document = json.loads(TraceBuilder().op(1, 2).text())
    document["baseTimeNanoseconds"] = base
    assert load(tmp_path, json.dumps(document).encode()).origin_ns == 1000


def test_a_step_number_beyond_all_numbers_is_an_annotation():
    trace = trace_of(TraceBuilder().annotation(0, 1, "ProfilerStep#99999999999999999999999").step(2, 5, 6))
    assert rows(trace, "steps", "step") == [(2,)]


@pytest.mark.parametrize(
    "number", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 5000, "1e308", '"1e999999999"', '"inf"']
)
@pytest.mark.parametrize("damaged", [False, True])
def test_times_beyond_all_numbers_cost_only_their_event(number, damaged, tmp_path):
    text = TraceBuilder().op(0, 1, "a").op(2, 3, "b").text().replace('"ts": 2', f'"ts": {number}')
    began = time.monotonic()
    trace = load(tmp_path, (text[:-2] + ",]}" if damaged else text).encode())
    assert time.monotonic() - began < 5
    assert trace.columns.timed[0]
    assert trace.columns.duration[0] == 1000


def test_numbers_beyond_doubles_cost_only_their_event(tmp_path):
    text = TraceBuilder().op(0, 1, "a").op(2, 3, "b").text()
    trace = load(tmp_path, text.replace('"ts": 2', '"ts": 1e400').encode())
    assert trace.columns.timed.tolist() == [True, False]
    assert len(load(tmp_path, text.replace('"ts": 2', '"ts": 1' + "0" * 400).encode())) >= 1


def test_a_wrong_checksum_costs_nothing_but_a_remark(tmp_path):
    packed = bytearray(gzip.compress(TraceBuilder().op(0, 1, "a").op(2, 3, "b").bytes()))
    packed[-6] ^= 255
    trace = load(tmp_path, bytes(packed), "t.json.gz")
    assert len(trace) == 2
    assert severity_of(trace, "file") == "error"


def test_damaged_packed_data_is_read_up_to_the_damage(tmp_path):
    builder = TraceBuilder()
    for i in range(5000):
        builder.op(i, i + 1, f"op{i * 7919 % 5000}")
    packed = bytearray(gzip.compress(builder.bytes()))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = bytes(40)
    trace = load(tmp_path, bytes(packed), "t.json.gz")
    assert len(trace) > 1000
    assert severity_of(trace, "file") == "error"


def test_packed_data_with_names_in_its_header_is_read_too(tmp_path):
    data = TraceBuilder().op(0, 1).bytes()
    plain = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = plain.compress(data) + plain.flush()
    header = (
        b"\x1f\x8b\x08" + bytes([4 | 8 | 16]) + bytes(6) + (3).to_bytes(2, "little") + b"abc" + b"name\0" + b"comment\0"
    )
    assert len(load(tmp_path, header + body + b"bad checksum", "t.json.gz")) == 1


def test_a_second_list_of_events_does_not_hide_the_first(tmp_path):
    text = TraceBuilder().op(0, 1, "a").op(2, 3, "b").text()
    trace = load(tmp_path, (text[:-1] + ', "traceEvents": []}').encode())
    assert len(trace) == 2
    assert severity_of(trace, "file") != "ok"


def test_a_file_cut_by_its_last_byte_is_said_to_be_cut(tmp_path):
    trace = load(tmp_path, TraceBuilder().op(0, 1).bytes()[:-1])
    assert "cut" in {loss.what for loss in trace.losses}
    assert severity_of(trace, "file") == "error"


def test_a_trace_without_events_is_an_error_of_health():
    trace = trace_of(TraceBuilder())
    assert severity_of(trace, "device work") == "error"
    assert "no event" in dict(rows(trace, "health", "check", "detail"))["device work"]


def test_extras_are_told_from_what_the_file_holds():
    old = TraceBuilder().op(0, 1, **{"Input Dims": [[3, 4]], "Call stack": "a.py(1): f;"})
    assert (
        dict(rows(trace_of(old), "health", "check", "detail"))["recording switches"] == "Recorded with shapes, stacks."
    )
    empty = TraceBuilder().op(0, 1, **{"Input Dims": [], "Call stack": ""})
    assert "neither says nor shows" in dict(rows(trace_of(empty), "health", "check", "detail"))["recording switches"]


# --- paths ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("command", [["show", "steps"], ["list"]])
def test_a_pipe_that_is_named_is_refused_at_once(command, tmp_path, capsys):
    os.mkfifo(tmp_path / "x.json")
    began = time.monotonic()
    assert main([*command, str(tmp_path / "x.json")]) == 2
    assert time.monotonic() - began < 5
    assert "pipe or device" in capsys.readouterr().err


def test_names_that_are_no_text_are_shown_all_the_same(tmp_path, capsys):
    name = os.fsdecode(b"bad\xff\xfe.pt.trace.json")
    try:
        TraceBuilder().op(0, 1).write(tmp_path / name)
    except OSError:
        pytest.skip("this system has no such file names")
    for how in ("table", "csv", "json"):
        assert main(["list", str(tmp_path), "--format", how]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("rank", [10**30, -1, "x", 2.5])
def test_an_odd_rank_in_the_metadata_is_none(rank, tmp_path):
    TraceBuilder(distributedInfo={"rank": rank, "world_size": 10**30}).op(0, 1).write(tmp_path / "x.json")
    assert ks.open_logdir(tmp_path).sources()[0].rank in (None, 2)


# --- the command line -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def trace(tmp_path):
    builder = TraceBuilder().step(0, 0, 100)
    for i, length in enumerate((3, 9, 1)):
        builder.launch(20 * i, 20 * i + 1, i + 1).kernel(20 * i + 5, 20 * i + 5 + length, correlation=i + 1)
    return str(builder.write(tmp_path / "t.json"))


def lines(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


def test_rows_can_be_sorted(trace, capsys):
    _, out, _ = lines(capsys, "show", "gaps", trace, "--sort", "duration_us", "--format", "csv")
    lengths = [float(line.split(",")[2]) for line in out[1:]]
    assert lengths == sorted(lengths, reverse=True)
    _, out, _ = lines(capsys, "show", "gaps", trace, "--sort", "+duration_us", "--format", "csv")
    assert [float(line.split(",")[2]) for line in out[1:]] == sorted(lengths)
    code, _, err = lines(capsys, "show", "gaps", trace, "--sort", "nope")
    assert (code, "unknown column 'nope'" in err) == (2, True)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("KINETOSCOPE_MAX_BYTES", "1k"), ("KINETOSCOPE_MAX_EVENTS", "-4"), ("KINETOSCOPE_MAX_EVENTS", "x")],
)
def test_a_limit_that_is_no_number_is_said(variable, value, trace, capsys, monkeypatch):
    monkeypatch.setenv(variable, value)
    code, _, err = lines(capsys, "show", "steps", trace)
    assert code == 2
    assert f"{variable} must be a whole number" in err


def test_a_step_that_is_not_there_is_said(trace, capsys):
    _, out, err = lines(capsys, "show", "kernels", trace, "--where", "step=7", "--format", "csv")
    assert len(out) == 1
    assert "There is no step 7; the steps are 0." in err
    assert lines(capsys, "show", "kernels", trace, "--where", "step=7", "--where", "step=0")[0] == 2


def test_strict_holds_for_every_view(trace, tmp_path, capsys):
    assert lines(capsys, "show", "steps", trace, "--strict")[0] == 0
    (tmp_path / "cut.json").write_bytes(TraceBuilder().op(0, 1, "a").op(2, 3, "b").bytes()[:-70])
    assert lines(capsys, "show", "steps", str(tmp_path / "cut.json"), "--strict")[0] == 1


def test_without_arguments_the_help_is_printed(capsys):
    code, out, _ = lines(capsys)
    assert code == 0
    assert any("show" in line for line in out)


def test_help_names_the_views_and_what_they_can_be_asked(capsys):
    from kinetoscope.views import registry

    # words may stand on two lines, with the margin of the list between
    text = re.sub(r"\s+", " ", " ".join(lines(capsys, "show", "--help")[1]))
    for name, view in registry.views().items():
        assert name in text
        for parameter in view.parameters:
            assert parameter.name in text
            for choice in parameter.choices:
                assert choice in text


def test_figures_in_tables_are_written_out(trace, capsys):
    text = "\n".join(lines(capsys, "show", "overview", trace)[1])
    assert "e+0" not in text
    assert "100.000" in text


def test_names_that_differ_at_their_end_stay_apart(tmp_path, capsys):
    builder = TraceBuilder()
    for i in range(2):
        builder.kernel(10 * i, 10 * i + 1, name="void at::native::" + "x" * 200 + f"Functor{i}")
    path = str(builder.write(tmp_path / "t.json"))
    out = lines(capsys, "show", "kernels", path)[1]
    assert len({line.split("  ")[0] for line in out[2:]}) == 2
    assert any("x" * 200 in line for line in lines(capsys, "show", "kernels", path, "--wide")[1])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device on this system")
def test_output_that_cannot_be_written_is_one_line(trace):
    command = [sys.executable, "-m", "kinetoscope.cli", "show", "kernels", trace]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, env=environment, check=False
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_one_bad_trace_leaves_the_others_their_figures(tmp_path, capsys):
    TraceBuilder(rank=0).kernel(0, 5).write(tmp_path / "rank0.json")
    (tmp_path / "rank1.pt.trace.json").write_text('{"traceEvents": [' + "[" * 50_000)
    code, out, err = lines(capsys, "show", "devices", str(tmp_path), "--format", "csv")
    assert (code, len(out)) == (0, 2)
    assert "rank1.pt.trace.json" in err


def test_two_readers_of_one_trace_do_not_disturb_each_other(trace):
    found = []
    readers = [threading.Thread(target=lambda: found.append(ks.load(trace).view("devices"))) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(30)
    assert len(found) == 4
    assert all(frame.equals(found[0]) for frame in found)
