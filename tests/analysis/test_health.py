"""What health says of real traces that people know, and of small ones made for each check."""

import numpy as np
import pytest

import corpus
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.health.linked import crossing_pairs
from tables import rows, severity_of, trace_of

KNOWN_FINDINGS = {
    "h100_qwen": {"works without launch": ("warning", 509)},
    "mi300_qwen": {"works without launch": ("warning", 463)},
    "mi300_resnet_ddp": {"works without launch": ("warning", 968)},
    "a100_cupti_counters": {"device work": ("error", 77), "launches without work": ("warning", 77)},
    "mtia_inference": {
        "works without launch": ("warning", 244),
        "crossing ranges": ("info", 2),
        "unfinished events": ("info", 9),
        "shared correlation ids": ("warning", 124),
    },
    "mi300_sglang_decode_graph": {"late start": ("warning", 1)},
    "vllm_piecewise_graph": {"late start": ("warning", 1)},
    "mi250_rocm": {"steps without work": ("warning", 1), "incomplete step": ("info", 1)},
    "a100_triton": {"processes": ("info", 2)},
    "b200_eager": {"profiler overhead": ("info", 9)},
    "cpu_only_inference": {"device work": ("info", 0)},
    "cpu_rank34_of_300": {"device work": ("info", 0)},
    "v100_dlrm_8ranks.worker1": {"works without launch": ("warning", 64)},
    "v100_dlrm_8ranks.worker3": {"works without launch": ("warning", 64)},
}
"""What is expected beside remarks on stacks and ranks; a trace that is not named is sound."""

ALWAYS = ("stacks", "ranks")


@corpus.parametrize()
def test_health_of_a_real_trace_is_what_is_known_of_it(known):
    trace = ks.load(known.path)
    found = {
        check: (severity, count)
        for check, severity, count in rows(trace, "health", "check", "severity", "count")
        if severity != "ok"
    }
    assert {check: value for check, value in found.items() if check not in ALWAYS} == KNOWN_FINDINGS.get(known.id, {})
    by_check = dict(rows(trace, "health", "check", "count"))
    assert by_check["works without launch"] == known.expected["work_without_launch"]
    assert by_check["launches without work"] == known.expected["launches_without_work"]
    assert by_check["crossing ranges"] == known.expected["crossing"]


@corpus.parametrize()
def test_every_finding_has_its_events(known):
    trace = ks.load(known.path)
    for finding in trace.findings:
        assert finding.detail.endswith("."), finding
        assert finding.severity == "ok" or finding.detail
        if finding.rows.size:
            events = trace.view("health_events", check=finding.check)
            assert len(events) == finding.rows.size
            assert events["start_us"].is_monotonic_increasing


def find(builder: TraceBuilder, check: str) -> tuple[str, int]:
    frame = trace_of(builder).health().set_index("check")
    return str(frame.loc[check, "severity"]), int(frame.loc[check, "count"])


SMALL = {
    "untimed events": (TraceBuilder().op(10**7, 10**7 + 9).kernel(0, 0), ("warning", 1)),
    "negative durations": (TraceBuilder().op(0, 10).op(20, 15), ("warning", 1)),
    "unfinished events": (TraceBuilder().op(0, 10, finished=False).memory(3, 4, finished=False), ("info", 1)),
    "launches without work": (
        TraceBuilder().launch(0, 1, 1).launch(2, 3, 2).kernel(5, 6, correlation=1),
        ("warning", 1),
    ),
    "works without launch": (
        TraceBuilder().launch(0, 1, 5).kernel(2, 3, correlation=5).kernel(4, 5, correlation=1),
        ("warning", 1),
    ),
    "steps without work": (
        TraceBuilder().step(0, 0, 10).step(1, 10, 20).launch(1, 2, 1).kernel(3, 4, correlation=1),
        ("warning", 1),
    ),
    "unknown categories": (TraceBuilder().op(0, 1).complete("brand_new", "x", (0, 1), (1, 1), {}), ("info", 1)),
    "crossing ranges": (TraceBuilder().op(0, 10).op(5, 15), ("info", 1)),
    "shared correlation ids": (TraceBuilder().launch(0, 1, 1).launch(2, 3, 1).launch(4, 5, 2), ("warning", 2)),
    "clock errors": (TraceBuilder().launch(10, 11, 1).kernel(5, 6, correlation=1), ("error", 1)),
    "processes": (TraceBuilder().op(0, 1, pid=5).op(0, 1, pid=6), ("info", 2)),
    "ranks": (TraceBuilder(rank=0, world_size=8).op(0, 1), ("info", 7)),
    "stacks": (TraceBuilder().op(0, 5).python(0, 9), ("info", 1)),
    "recording switches": (TraceBuilder(record_shapes=1, with_stack=1).op(0, 1), ("ok", 2)),
    "step markers": (TraceBuilder().step(0, 0, 100).step(1, 20, 30), ("info", 1)),
    "profiler overhead": (
        TraceBuilder().op(0, 100).complete("overhead", "Buffer Flush", (10, 30), (-1, 0), {}),
        ("warning", 1),
    ),
}


@pytest.mark.parametrize("check", SMALL)
def test_each_check_finds_what_it_is_for(check):
    builder, expected = SMALL[check]
    assert find(builder, check) == expected


@pytest.mark.parametrize("check", SMALL)
def test_each_check_is_silent_on_a_sound_trace(check):
    sound = TraceBuilder().step(0, 0, 100).op(5, 20).launch(6, 8, 1).kernel(10, 40, correlation=1)
    assert find(sound, check)[0] == "ok"


def test_coverage_is_told_per_step():
    builder = TraceBuilder().step(3, 0, 100).step(4, 100, 200)
    for i in range(4):
        builder.launch(10 * i, 10 * i + 1, i + 1).kernel(10 * i + 5, 10 * i + 6, correlation=i + 1)
        builder.launch(100 + 10 * i, 101 + 10 * i, 50 + i)
    builder.kernel(150, 151, correlation=50)
    detail = trace_of(builder).health().set_index("check").loc["launches without work", "detail"]
    assert detail == "3 of 8 launches without device work in the file (step 4: 1 of 4 seen)."


def test_crossing_pairs_are_counted_by_the_book():
    rng = np.random.default_rng(7)
    for _ in range(60):
        builder = TraceBuilder()
        spans = []
        for _ in range(int(rng.integers(2, 14))):
            start, length, tid = int(rng.integers(0, 30)), int(rng.integers(0, 15)), int(rng.integers(1, 3))
            kind = ("op", "annotation", "launch")[int(rng.integers(0, 3))]
            more = {"name": "x"} if kind == "annotation" else {}
            getattr(builder, kind)(start, start + length, tid=tid, **more)
            spans.append((start, start + length, tid, kind))
        pairs = sum(
            a[2] == b[2]
            and a[0] <= b[0] < a[1] < b[1]
            and a != b
            and not (a[3] == b[3] == "launch")
            and (a[0], -a[1]) <= (b[0], -b[1])
            for a in spans
            for b in spans
            if a is not b
        )
        assert crossing_pairs(trace_of(builder))[0] == pairs


def test_ranks_found_are_counted(tmp_path):
    for rank in range(3):
        TraceBuilder(rank=rank, world_size=4).op(0, 1).write(tmp_path / f"h{rank}.1.pt.trace.json")
    job = ks.open_logdir(tmp_path)
    detail = job.load(rank=1).health().set_index("check").loc["ranks", "detail"]
    assert detail == "The job has 4 ranks, and 3 of them are here."
    assert [problem.message for problem in job.problems] == ["1 of 4 ranks have no trace here: 3"]


def test_two_processes_of_one_rank_are_a_problem(tmp_path):
    for worker in ("host_11", "host_12"):
        TraceBuilder(rank=0).op(0, 1).write(tmp_path / f"{worker}.1.pt.trace.json")
    job = ks.open_logdir(tmp_path)
    assert "rank 0 has traces of 2 processes (host_11, host_12)" in job.problems[0].message
    assert [source.span for source in job.sources()] == ["1", "2"]


@pytest.mark.parametrize(
    ("ranks", "expected"), [({"*first*": 7, "*": 3}, [3, 7]), (lambda path: 4 if "first" in path else 2, [2, 4])]
)
def test_the_users_ranks_win(ranks, expected, tmp_path):
    for name in ("first", "second"):
        TraceBuilder(rank=0).op(0, 1).write(tmp_path / f"{name}.1.pt.trace.json")
    assert [source.rank for source in ks.open_logdir(tmp_path, ranks=ranks).sources()] == expected


def test_a_collectives_arguments_tell_the_rank(tmp_path):
    TraceBuilder(rank=None).op(0, 1, "record_param_comms", **{"Collective name": "allreduce", "Rank": 5}).write(
        tmp_path / "x.json"
    )
    assert ks.open_logdir(tmp_path).sources()[0].rank == 5


def test_remote_folders_are_read_through_fsspec():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    data = TraceBuilder(rank=2).op(0, 10).bytes()
    for path in ("/logs/run1/w.1.pt.trace.json", "/logs/run2/deep/w.1.pt.trace.json"):
        files.pipe(path, data)
    job = ks.open_logdir("memory://logs")
    assert [(run.name, run.ranks[0].rank) for run in job.runs] == [("run1", 2), ("run2/deep", 2)]
    trace = ks.load("memory://logs/run1")
    assert len(trace) == 1
    assert not trace.changed()
    assert trace.recorded(0)["name"] == "aten::op"
    files.pipe("/logs/run1/w.1.pt.trace.json", data + b" ")
    assert trace.changed()
    with pytest.raises(ks.KinetoscopeError, match="no such file"):
        ks.open_logdir("memory://nowhere")


def test_a_missing_driver_is_named_with_the_extra(monkeypatch):
    import builtins

    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.partition(".")[0] == "s3fs":
            raise ImportError("No module named 's3fs'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ks.KinetoscopeError, match=r"kinetoscope\[s3\]"):
        ks.open_logdir("s3://bucket/folder")
    with pytest.raises(ks.KinetoscopeError, match="nothing://"):
        ks.open_logdir("nothing://bucket")


def test_strict_health_is_an_exit_code(tmp_path, capsys):
    from kinetoscope.cli import main

    good = TraceBuilder().op(0, 5).launch(1, 2, 1).kernel(3, 4, correlation=1).write(tmp_path / "good.json")
    bad = TraceBuilder().launch(1, 2, 1).write(tmp_path / "bad.json")
    assert main(["show", "health", str(good), "--strict"]) == 0
    assert main(["show", "health", str(bad)]) == 0
    assert main(["show", "health", str(bad), "--strict"]) == 1
    capsys.readouterr()


def test_fixes_reach_the_command_line(tmp_path, capsys):
    from kinetoscope.cli import main

    builder = TraceBuilder().step(0, 0, 100).kernel(0, 10).kernel(20, 3_000_020).kernel(40, 50).kernel(60, 70)
    path = str(builder.write(tmp_path / "t.json"))
    busy = []
    for options in ([], ["--fix", "durations"]):
        assert main(["show", "devices", path, "--format", "csv", *options]) == 0
        busy.append(capsys.readouterr().out.splitlines()[1].split(",")[2])
    assert busy == ["90.000", "50.000"]
    assert main(["show", "devices", path, "--fix", "magic"]) == 2


def test_a_cut_file_without_device_work_asks_for_no_other_recording(tmp_path):
    path = tmp_path / "t.pt.trace.json"
    path.write_text(TraceBuilder().op(0, 1).op(2, 3).text()[:-40])
    frame = ks.load(path).health().set_index("check")
    assert "could be read of the file" in frame.loc["device work", "detail"]
    assert frame.loc["file", "severity"] == "error"


def test_memory_events_that_do_not_fit_are_told():
    builder = TraceBuilder().op(0, 100).memory(1, 8, allocated=8).memory(2, "many").memory(3, 8, allocated=99)
    trace = trace_of(builder)
    assert severity_of(trace, "memory events") == "warning"
    frame = trace.health().set_index("check")
    assert frame.loc["memory events", "detail"] == (
        "Of 3 memory events: 1 event without bytes or device, left out; 1 total that does not follow from the event before."
    )
    assert severity_of(trace_of(TraceBuilder().op(0, 9).memory(1, 8)), "memory events") == "ok"
