"""The command line: formats, choices, limits, and one line for whatever is wrong."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from build import TraceBuilder
from kinetoscope.cli import main


@pytest.fixture
def trace(tmp_path):
    builder = TraceBuilder(base_ns=1_700_000_000_000_000_000).step(0, 5, 105)
    for i in range(60):
        builder.op(10 + i, 11 + i, f"aten::op{i}").launch(10 + i, 11 + i, i + 1).kernel(
            10 + i, 11 + i, name=f"k{i}", correlation=i + 1
        )
    return builder.write(tmp_path / "w.1.pt.trace.json.gz")


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_json_is_strict_and_says_where_it_comes_from(trace, capsys):
    code, out, _ = run(capsys, "show", "gaps", trace, "--format", "json")
    document = json.loads(out, parse_constant=pytest.fail)
    assert code == 0
    assert document["view"] == "gaps"
    assert document["trace"] == {
        "path": str(trace),
        "run": ".",
        "rank": 0,
        "span": "1",
        "origin_ns": "1700000000000005000",
    }
    assert document["columns"][0] == {"name": "device", "unit": "", "description": "Device that was idle."}
    assert [row["launch_delay_us"] for row in document["rows"]] == [0, None]


def test_csv_has_every_row_and_times_with_ns(trace, capsys):
    _, out, err = run(capsys, "show", "kernels", trace, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 60
    assert rows[0]["total_us"] == "1.000"
    assert err == ""


def test_a_table_is_cut_at_40_rows_with_a_note(trace, capsys):
    _, out, err = run(capsys, "show", "kernels", trace)
    assert len(out.strip().splitlines()) == 42
    assert "40 of 60 rows" in err
    _, out, err = run(capsys, "show", "kernels", trace, "--limit", "60")
    assert err == ""


def test_by_and_where_reach_the_view(trace, capsys):
    _, out, _ = run(capsys, "show", "kernels", trace, "--by", "step", "--format", "csv")
    assert next(csv.DictReader(io.StringIO(out)))["calls"] == "60"
    _, out, _ = run(capsys, "show", "kernel_calls", trace, "--where", "name=k7", "--format", "csv")
    assert len(out.splitlines()) == 2


def test_several_ranks_come_together(tmp_path, capsys):
    for rank in (0, 1):
        TraceBuilder(rank=rank).kernel(0, 1).write(tmp_path / f"h{rank}.1.pt.trace.json")
    (tmp_path / "h9.1.pt.trace.json").write_text("no")
    code, out, err = run(capsys, "show", "devices", tmp_path, "--format", "csv")
    assert code == 0
    assert [line.split(",")[:3] for line in out.splitlines()] == [
        ["rank", "span", "device"],
        ["0", "1", "0"],
        ["1", "1", "0"],
    ]
    assert "h9.1.pt.trace.json" in err
    code, out, _ = run(capsys, "show", "devices", tmp_path, "--rank", "1", "--span", "1", "--format", "json")
    assert json.loads(out)["trace"]["rank"] == 1


def test_list_names_runs_ranks_and_spans(trace, capsys):
    code, out, _ = run(capsys, "list", trace.parent, "--format", "csv")
    assert code == 0
    assert out.splitlines()[1].startswith(".,0,1,w,w.1.pt.trace.json.gz,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "kernel", "{trace}"], "unknown view 'kernel' (did you mean 'kernels'?"),
        (["show", "kernels", "{trace}", "--by", "colour"], "name, op, name,op, config, stream, step, category"),
        (["show", "steps", "{trace}", "--by", "op"], "unknown parameter of view 'steps' 'by'"),
        (["show", "kernels", "{missing}"], "no such file or folder"),
        (["show", "kernels", "{empty}"], "no traces here"),
        (["show", "kernels", "{text}"], "no JSON: it begins with"),
        (["show", "kernels", "{cut}"], "cut off"),
        (["show", "kernels", "{trace}", "--rank", "7"], "unknown rank '7'"),
        (["show", "kernels", "{trace}", "--where", "x"], "NAME=VALUE"),
        (["show", "kernels"], "Missing argument"),
        (["show", "kernels", "{trace}", "--limit", "-1"], "--limit"),
        (["frobnicate"], "No such command"),
        (["list", "{missing}"], "no such file or folder"),
        (["view", "{missing}", "--no-browser"], "no such file or folder"),
    ],
)
def test_what_is_wrong_takes_one_line_and_exit_2(arguments, said, trace, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.json").write_text("hello\nworld")
    (tmp_path / "cut.json").write_text('{"schemaVersion": 1, "traceEvents": [{"ph"')
    places = {
        "trace": trace,
        "missing": tmp_path / "missing",
        "empty": tmp_path / "empty",
        "text": tmp_path / "text.json",
    }
    places |= {"cut": tmp_path / "cut.json"}
    code, out, err = run(capsys, *(argument.format(**places) for argument in arguments))
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert said in err
    assert "Traceback" not in err


def test_figures_of_a_cut_file_come_with_a_note(trace, capsys):
    trace.write_bytes(trace.read_bytes()[:-400])
    code, out, err = run(capsys, "show", "kernels", trace, "--format", "csv")
    assert code == 0
    assert len(out.splitlines()) > 1
    assert "the packed data ends early" in err.lower()


def test_text_from_a_trace_cannot_steer_the_terminal(tmp_path, capsys):
    path = TraceBuilder().kernel(0, 1, name="evil\x1b[2J\u202e\n[bold]x[/bold]").write(tmp_path / "t.json")
    for arguments in (["show", "kernels", path], ["show", "kernels", path, "--limit", "0"]):
        _, out, err = run(capsys, *arguments)
        assert "\x1b" not in out + err
        assert "\u202e" not in out + err
    _, out, _ = run(capsys, "show", "kernels", path)
    assert "[bold]x[/bold]" in out


def test_version(capsys):
    from kinetoscope import __version__

    code, out, _ = run(capsys, "--version")
    assert (code, out.strip()) == (0, f"kinetoscope {__version__}")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of this kind are not on this system")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_view_serves_and_leaves_nothing_behind(how, trace):
    command = [sys.executable, "-m", "kinetoscope.cli", "view", str(trace), "--port", "0", "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    # a test run in the background may ignore interrupts, and what it starts would do so too
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    address = process.stdout.readline()
    assert "#kinetoscope&p.kinetoscope.view=overview&p.kinetoscope.run=.&p.kinetoscope.rank=0" in address
    place = address.removeprefix("Profiler: ").partition("#")[0]
    with urllib.request.urlopen(f"{place}data/plugins_listing", timeout=30) as answer:
        assert "kinetoscope" in json.load(answer)
    process.send_signal(how)
    process.wait(20)
    process.stdout.close()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(place, timeout=5)
