"""Which traces there are, whatever the log folder looks like; and nobody waits for it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest

import kinetoscope
from build import TraceBuilder
from kinetoscope_tb.locations import Root, roots
from wire.serving import PATIENCE_S, Served, wait

Serve = Callable[..., Served]


def test_runs_ranks_and_spans(serve: Serve, logdir: Path, small: TraceBuilder) -> None:
    small.write(logdir / "run" / "worker0.1750000000001.pt.trace.json.gz")
    small.write(logdir / "other" / "rank3.1750000000000.pt.trace.json")
    runs = serve(logdir).runs()
    assert (runs["state"], runs["logdir"], runs["folders"], runs["error"]) == ("ready", str(logdir), 3, None)
    assert [
        (run["name"], [[span["span"] for span in rank["spans"]] for rank in run["ranks"]]) for run in runs["runs"]
    ] == [
        ("other", [["1"]]),
        ("run", [["1", "2"]]),
    ]
    span = runs["runs"][1]["ranks"][0]["spans"][0]
    assert span["file"] == "run/worker0.1750000000000.pt.trace.json"
    assert span["bytes"] == (logdir / span["file"]).stat().st_size


def test_several_traces_in_one_file_are_told_apart(serve: Serve, tmp_path: Path) -> None:
    one, other = TraceBuilder().op(0, 10, "first"), TraceBuilder().op(0, 10, "second")
    (tmp_path / "worker0.1750000000000.pt.trace.json").write_bytes(one.bytes() + b"\n" + other.bytes())
    served = serve(tmp_path)
    spans = served.runs()["runs"][0]["ranks"][0]["spans"]
    assert [span["span"] for span in spans] == ["1a", "1b"]
    names = []
    for span in spans:
        assert served.session(span["trace"])["state"] == "ready"
        names.append(served.json("names", trace=span["trace"])["names"])
    assert ["first" in names[0], "second" in names[1], "second" in names[0]] == [True, True, False]


def test_a_trace_knows_how_many_ranks_were_found(serve: Serve, tmp_path: Path) -> None:
    for rank in (0, 1, 5):
        trace = TraceBuilder(rank=rank, world_size=8).op(0, 10)
        trace.write(tmp_path / f"rank{rank}.1750000000000.pt.trace.json")
    served = serve(tmp_path)
    table = served.json("view", trace=served.ready(), view="health")["data"]
    at = table["check"].index("ranks")
    assert (table["count"][at], "3 of them" in table["detail"][at]) == (5, True)


def test_nobody_waits_for_the_search(serve: Serve, logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    real = kinetoscope.open_logdir
    monkeypatch.setattr(kinetoscope, "open_logdir", lambda path: (go_on.wait(PATIENCE_S), real(path))[1], raising=False)
    served = serve(logdir)
    try:
        served.plugin.is_active()  # imports and starts the thread
        before = time.perf_counter()
        active = served.plugin.is_active()
        listed = served.client.get("/data/plugins_listing")
        took = time.perf_counter() - before
        assert active
        assert listed.json["kinetoscope"]["enabled"]
        assert took < 0.5
        assert served.json("runs")["state"] == "scanning"
    finally:
        go_on.set()
    assert served.runs()["state"] == "ready"
    assert served.plugin.is_active()


def test_is_active_answers_within_milliseconds(serve: Serve, logdir: Path) -> None:
    served = serve(logdir)
    took = []
    for _ in range(5):
        before = time.perf_counter()
        served.plugin.is_active()
        took.append(time.perf_counter() - before)
    assert min(took) < 0.005


def test_an_empty_folder_makes_no_active_tab(serve: Serve, tmp_path: Path, small: TraceBuilder) -> None:
    served = serve(tmp_path)
    assert served.plugin.is_active(), "until it has been looked at"
    assert (served.runs()["state"], served.runs()["runs"]) == ("ready", [])
    assert not served.plugin.is_active()
    small.write(tmp_path / "worker.pt.trace.json")
    generation = served.runs()["generation"]
    assert served.runs(refresh=1)["generation"] == generation + 1
    assert served.plugin.is_active()


def test_the_tab_comes_up_by_itself_when_traces_appear(
    serve: Serve, tmp_path: Path, small: TraceBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetoscope_tb.catalog._LOOK_AGAIN_S", 0.0)
    served = serve(tmp_path)
    served.runs()
    small.write(tmp_path / "worker.pt.trace.json")
    wait(lambda _: served.plugin.is_active(), bool)


@pytest.mark.parametrize("make", [lambda _: None, lambda path: path.write_text("no folder")])
def test_a_log_folder_that_is_none(serve: Serve, tmp_path: Path, make: Callable[[Path], Any]) -> None:
    make(tmp_path / "log")
    served = serve(tmp_path / "log" / "deeper")
    runs = served.runs()
    assert runs["state"] == "failed"
    assert runs["error"]["code"] == "unreadable"
    assert str(tmp_path / "log") in runs["error"]["where"]
    assert not served.plugin.is_active()


def test_a_folder_that_may_not_be_read(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(os, "scandir", refuse)  # the tests may run as root, whom no permission stops
    runs = serve(tmp_path).runs()
    assert runs["state"] == "failed"
    assert "permission" in runs["error"]["message"]


def test_an_unexpected_fault_of_the_search_is_told(serve: Serve, logdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(kinetoscope, "open_logdir", fail, raising=False)
    runs = serve(logdir).runs()
    assert (runs["state"], runs["error"]["code"]) == ("failed", "internal")
    assert "boom" in runs["error"]["message"]


@pytest.mark.parametrize(
    ("where", "extra"), [("s3://bucket/run", "kinetoscope[s3]"), ("gs://bucket", "kinetoscope[gs]")]
)
def test_a_remote_store_without_its_driver_names_what_to_install(serve: Serve, where: str, extra: str) -> None:
    error = serve(where).runs()["error"]
    assert extra in error["hint"]
    assert error["where"] == where


def test_traces_on_a_remote_store_are_listed(serve: Serve) -> None:
    files = fsspec.filesystem("memory")
    files.pipe("/plugin/run1/w.1.pt.trace.json", TraceBuilder(rank=3).op(0, 1).bytes())
    runs = serve("memory://plugin").runs()
    assert [(run["name"], run["ranks"][0]["rank"]) for run in runs["runs"]] == [("run1", 3)]
    assert runs["runs"][0]["ranks"][0]["spans"][0]["file"] == "run1/w.1.pt.trace.json"


def test_no_log_folder_at_all(serve: Serve) -> None:
    assert serve(None).runs()["error"]["code"] == "no-logdir"


def test_files_that_are_no_traces_are_listed(serve: Serve, logdir: Path) -> None:
    (logdir / "notes.json").write_text("{}")
    assert [one["file"] for one in serve(logdir).runs()["problems"]] == ["notes.json"]


def test_ids_are_the_same_after_a_restart_and_elsewhere(serve: Serve, logdir: Path, tmp_path: Path) -> None:
    first = serve(logdir).traces()
    logdir.rename(tmp_path / "moved")
    assert serve(tmp_path / "moved").traces() == first


def test_one_file_as_log_folder(serve: Serve, logdir: Path) -> None:
    file = next(logdir.glob("run/*.json"))
    served = serve(file)
    assert served.runs()["runs"][0]["ranks"][0]["spans"][0]["file"] == file.name
    served.ready()


def test_linked_folders_are_followed_and_loops_are_not(
    serve: Serve, logdir: Path, tmp_path: Path, small: TraceBuilder
) -> None:
    small.write(tmp_path / "elsewhere" / "worker.pt.trace.json")
    (logdir / "linked").symlink_to(tmp_path / "elsewhere")
    (logdir / "run" / "loop").symlink_to(logdir)
    served = serve(logdir)
    assert [run["name"] for run in served.runs()["runs"]] == ["linked", "run"]


def test_a_file_name_that_is_no_utf8(serve: Serve, tmp_path: Path, small: TraceBuilder) -> None:
    name = os.fsencode(tmp_path) + b"/w\xff.pt.trace.json"
    try:
        Path(os.fsdecode(name)).write_bytes(small.bytes())
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    served = serve(tmp_path)
    trace = served.ready()
    assert served.json("session", trace=trace)["info"]["file"] == "w?.pt.trace.json"
    assert served.json("view", trace=trace, view="kernels")["rows"] == 1


@pytest.mark.parametrize(
    ("logdir", "spec", "expected"),
    [
        ("/a", "", [Root("", "/a")]),
        ("/a,b:/c", "", [Root("", "/a,b:/c")]),
        ("", "x:/a", [Root("x", "/a")]),
        ("", "/a", [Root("", "/a")]),
        ("", "x:/a,/b/c,x:/d,", [Root("x", "/a"), Root("c", "/b/c"), Root("x-2", "/d")]),
        ("", "x:/a:b", [Root("x", "/a:b")]),
        ("", "s3://b/c,y:gs://d", [Root("c", "s3://b/c"), Root("y", "gs://d")]),
        (None, None, []),
    ],
)
def test_log_folders_as_tensorboard_reads_them(logdir: str | None, spec: str | None, expected: list[Root]) -> None:
    assert roots(logdir, spec) == expected


def test_home_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert roots("~/log", "") == [Root("", f"{tmp_path}/log")]
    assert roots("", "a:~/log") == [Root("a", f"{tmp_path}/log")]


def test_several_folders(serve: Serve, logdir: Path, tmp_path: Path, small: TraceBuilder) -> None:
    small.write(tmp_path / "second" / "worker.pt.trace.json")
    served = serve("", spec=f"a:{logdir},b:{tmp_path}/second,c:{tmp_path}/missing")
    runs = served.runs()
    assert runs["state"] == "ready"
    assert [run["name"] for run in runs["runs"]] == ["a/run", "b"]
    assert runs["runs"][1]["ranks"][0]["spans"][0]["file"] == "b/worker.pt.trace.json"
    assert [one["code"] for one in runs["problems"]] == ["unreadable"]
    assert served.session(served.traces()[1])["state"] == "ready"


@pytest.mark.slow
def test_fifty_thousand_small_files_do_not_hold_tensorboard_up(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(50_000):
        (folder / f"{number}.json").write_bytes(b"{}")
    served = serve(folder)
    began = time.monotonic()
    assert served.plugin.is_active(), "as long as nobody knows better"
    assert time.monotonic() - began < 0.05
    began = time.monotonic()
    assert served.json("runs")["state"] == "scanning"
    assert time.monotonic() - began < 1
    deadline = time.monotonic() + 120
    while (runs := served.json("runs"))["state"] == "scanning":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert (runs["state"], runs["runs"]) == ("ready", [])
    assert 0 < len(runs["problems"]) <= 1000
