"""Finding traces: runs, ranks and spans, links and loops, and files that are none."""

import gzip
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import kinetoscope as ks
from build import TraceBuilder
from kinetoscope import errors


def put(path: Path, **options) -> Path:
    return TraceBuilder(**options).step(0, 0, 10).kernel(1, 2).write(path)


def shape(job: ks.Job) -> list[tuple]:
    return [
        (run.name, [(rank.rank, rank.worker, [span.span for span in rank.spans]) for rank in run.ranks])
        for run in job.runs
    ]


def test_runs_in_folders_of_any_depth_and_the_log_directory_itself(tmp_path):
    put(tmp_path / "host_1.1700000000000.pt.trace.json")
    put(tmp_path / "a" / "b" / "host_2.1700000000000.pt.trace.json.gz", rank=3)
    (tmp_path / "scalars").mkdir()
    (tmp_path / "scalars" / "events.out.tfevents.1").write_bytes(b"x")
    job = ks.open_logdir(tmp_path)
    assert shape(job) == [(".", [(0, "host_1", ["1"])]), ("a/b".replace("/", os.sep), [(3, "host_2", ["1"])])]


def test_spans_are_numbered_by_time_though_ms_and_ns_mix(tmp_path):
    for stamp in ("1700000000005", "1600000000000000000", "999999999999", "1700000000004000000"):
        put(tmp_path / f"w.{stamp}.pt.trace.json")
    spans = ks.open_logdir(tmp_path).runs[0].ranks[0].spans
    assert [Path(span.path).name.split(".")[1] for span in spans] == [
        "999999999999",
        "1600000000000000000",
        "1700000000004000000",
        "1700000000005",
    ]
    assert [span.span for span in spans] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("names", "ranks"),
    [
        (["rank0_x.json", "rank1_x.json"], [0, 1]),
        (["dp0_pp0_tp1_dcp0_ep1_rank1.123.pt.trace.json.gz"], [1]),
        (["rank-12.Apr_03_18_51_38.1102.pt.trace.json.gz"], [12]),
        (["primus-exp[a]-rank[3].json"], [3]),
        (["worker2_step_12.5.pt.trace.json"], [2]),
        (["iteration_5/rank7_trace.json.gz"], [7]),
        (["rank_4/trace.json"], [4]),
        (["b.pt.trace.json", "a.pt.trace.json"], [0, 1]),
        (["lone.pt.trace.json"], [None]),
        (["host.async_llm.1.pt.trace.json.gz"], [None]),
    ],
)
def test_ranks_come_from_names_where_the_file_does_not_say(names, ranks, tmp_path):
    for name in names:
        put(tmp_path / name, rank=None)
    job = ks.open_logdir(tmp_path)
    assert [rank.rank for run in job.runs for rank in run.ranks] == ranks


def test_what_the_file_says_of_its_rank_wins_over_its_name(tmp_path):
    put(tmp_path / "rank0_x.json", rank=5)
    assert [rank.rank for rank in ks.open_logdir(tmp_path).runs[0].ranks] == [5]


def test_links_are_followed_and_loops_are_not(tmp_path):
    put(tmp_path / "real" / "w.pt.trace.json")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "linked").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "loop").symlink_to(tmp_path / "real")
    (tmp_path / "log" / "up").symlink_to(tmp_path / "log")
    assert [run.name for run in ks.open_logdir(tmp_path / "log").runs] == ["linked"]


def test_side_files_are_told_apart_by_content(tmp_path):
    put(tmp_path / "any_name.gz")
    (tmp_path / "config.json").write_text('{"lr": 1}')
    (tmp_path / "memory_timeline.raw.json.gz").write_bytes(gzip.compress(b'[[1, "create", 2, 0]]'))
    (tmp_path / "part.json.tmp").write_text('{"traceEvents": []}')
    (tmp_path / "broken.pt.trace.json").write_text("half")
    job = ks.open_logdir(tmp_path)
    assert sorted(Path(source.path).name for source in job.sources()) == ["any_name.gz", "broken.pt.trace.json"]
    assert sorted(Path(problem.path).name for problem in job.problems) == ["config.json", "memory_timeline.raw.json.gz"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.json")
    job = ks.open_logdir(tmp_path)
    assert job.problems[0].message == "not a regular file"


def test_a_file_that_cannot_be_opened_is_a_problem_and_the_rest_works(tmp_path, monkeypatch):
    put(tmp_path / "good.pt.trace.json")
    (tmp_path / "dangling.pt.trace.json").symlink_to(tmp_path / "gone")
    locked = put(tmp_path / "locked.pt.trace.json")
    opened = Path.open

    def refuse(path, *args, **kwargs):
        if path == locked:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    job = ks.open_logdir(tmp_path)
    assert [Path(source.path).name for source in job.sources()] == ["good.pt.trace.json"]
    assert [problem.message for problem in job.problems] == ["no such file or folder", "no permission to read it"]


def test_load_says_which_of_several_there_are(tmp_path):
    for rank in (0, 1):
        for stamp in (100, 200):
            put(tmp_path / f"h_{rank}.{stamp}.pt.trace.json", rank=rank)
    with pytest.raises(errors.AmbiguousTraceError, match=r"rank 0 span 1, rank 0 span 2, rank 1 span 1"):
        ks.load(tmp_path)
    assert ks.load(tmp_path, rank=1, span=2).source.rank == 1
    with pytest.raises(errors.ChoiceError, match="choices: 0, 1"):
        ks.load(tmp_path, rank=9)
    with pytest.raises(errors.ChoiceError, match="choices: 1, 2"):
        ks.load(tmp_path, rank=0, span=3)


@pytest.mark.parametrize("path", ["missing", "empty", "scalars"])
def test_no_traces_is_said_with_what_was_found(path, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "scalars").mkdir()
    (tmp_path / "scalars" / "config.json").write_text("{}")
    with pytest.raises(ks.KinetoscopeError) as caught:
        ks.load(tmp_path / path)
    said = {"missing": "no such file", "empty": "no .json or .gz file", "scalars": "config.json"}[path]
    assert said in str(caught.value)
    assert str(tmp_path / path) in str(caught.value)


def test_a_view_of_many_traces_has_rank_and_span_first_and_survives_a_broken_one(tmp_path):
    put(tmp_path / "r0.1.pt.trace.json", rank=0)
    put(tmp_path / "r1.1.pt.trace.json", rank=1)
    (tmp_path / "rank2.1.pt.trace.json").write_text('{"traceEvents": [{"ph": "X"')
    job = ks.open_logdir(tmp_path)
    with ThreadPoolExecutor(2) as executor:
        frame = job.view("devices", executor=executor)
    assert list(frame.columns[:2]) == ["rank", "span"]
    assert frame["rank"].tolist() == [0, 1]
    assert "cut off" in str(frame.attrs["failures"][0])


def test_a_file_that_changed_is_noticed_and_not_mixed_up(tmp_path):
    path = put(tmp_path / "t.json")
    trace = ks.load(path)
    assert not trace.changed()
    assert trace.recorded(1)["name"] == "kernel"
    path.write_bytes(path.read_bytes() + b"\n")
    assert trace.changed()
    with pytest.raises(errors.UnreadableError, match="changed"):
        trace.recorded(1)
    path.unlink()
    assert trace.changed()


def test_progress_is_told_in_bytes_events_and_stages(tmp_path):
    heard = []
    ks.load(put(tmp_path / "t.json.gz"), tell=heard.append)
    assert [report.stage for report in heard] == ["start", "read", "decode", "link", "done"]
    assert heard[2].bytes_done == heard[2].bytes_total
    assert heard[-1].events == 2
