"""Opening traces: progress, faults of files and of processes, cancelling, reloading, and how many at once."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from build import TraceBuilder
from kinetoscope_tb.sessions import max_open
from wire.serving import Served, wait

Serve = Callable[..., Served]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_trace_becomes_ready(serve: Serve, logdir: Path) -> None:
    served = serve(logdir)
    session = served.session(served.traces()[0])
    assert (session["state"], session["stage"], session["events"], session["error"]) == ("ready", "done", 4, None)
    assert session["info"]["events"] == 4
    assert session["elapsed_ms"] == served.json("session", trace=served.traces()[0])["elapsed_ms"], "the clock stops"


@pytest.mark.parametrize(
    ("content", "code", "word"),
    [
        (b"", "not-a-trace", "empty"),
        (b"hello", "not-a-trace", "JSON"),
        (b'{"other": 1}', "not-a-trace", "traceEvents"),
        (b'{"traceEvents": [{"ph": "X"', "damaged", "cut"),
        (gzip.compress(b'{"traceEvents": []}' * 100)[:40], "damaged", "cut"),
    ],
)
def test_files_that_cannot_be_read(serve: Serve, logdir: Path, content: bytes, code: str, word: str) -> None:
    bad = logdir / "bad" / "worker.pt.trace.json"
    bad.parent.mkdir()
    bad.write_bytes(content)
    served = serve(logdir)
    first, second = served.traces()
    session = served.session(first)
    assert (session["state"], session["info"]) == ("failed", None)
    assert session["error"]["code"] == code
    assert word in session["error"]["message"]
    assert str(bad) in session["error"]["where"]
    assert served.problem(409, "lanes", trace=first)["code"] == "not-loaded"
    assert served.session(second)["state"] == "ready", "one bad file costs only itself"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the data of a process")
def test_a_file_that_needs_too_much_memory_fails_alone(
    serve: Serve, logdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KINETOSCOPE_MAX_MEMORY", str(500_000_000))
    bomb = logdir / "bomb" / "worker.pt.trace.json.gz"
    bomb.parent.mkdir()
    with gzip.open(bomb, "wb", compresslevel=1) as file:
        file.write(b'{"traceEvents": [')
        for _ in range(60):
            file.write(b" " * 10_000_000)
        file.write(b"]}")
    served = serve(logdir)
    first, second = served.traces()
    assert served.session(first)["error"]["code"] in ("out-of-memory", "worker-died")
    assert served.session(second)["state"] == "ready"


def test_a_failed_file_can_be_loaded_again_when_it_is_whole(serve: Serve, logdir: Path, small: TraceBuilder) -> None:
    file = next(logdir.glob("run/*.json"))
    file.write_bytes(small.bytes()[:100])
    served = serve(logdir)
    trace = served.traces()[0]
    assert served.session(trace)["state"] == "failed"
    small.write(file)
    assert served.session(trace)["state"] == "failed", "nothing is loaded behind one's back"
    served.post("reload", trace)
    assert served.session(trace)["state"] == "ready"


def test_a_file_that_grew_is_told_and_reloaded(serve: Serve, logdir: Path, small: TraceBuilder) -> None:
    served = serve(logdir)
    trace = served.ready()
    assert not served.json("session", trace=trace)["changed"]
    small.kernel(70, 80, name="late").write(next(logdir.glob("run/*.json")))
    wait(lambda _: served.json("session", trace=trace)["changed"], bool)
    assert served.json("view", trace=trace, view="kernels")["rows"] == 1, "what was loaded stays"
    served.post("reload", trace)
    session = served.session(trace)
    assert (session["changed"], session["events"]) == (False, 5)
    assert served.json("view", trace=trace, view="kernels")["rows"] == 2


def test_a_file_that_is_gone_counts_as_changed(serve: Serve, logdir: Path) -> None:
    served = serve(logdir)
    trace = served.ready()
    next(logdir.glob("run/*.json")).unlink()
    wait(lambda _: served.json("session", trace=trace)["changed"], bool)
    served.runs(refresh=1)
    assert served.json("view", trace=trace, view="kernels")["rows"] == 1, "open traces outlive their files"


def test_cancelling_ends_the_process(stuck: Serve, worker_pid: Callable[[Served, str], int]) -> None:
    served = stuck()
    trace = served.traces()[0]
    assert served.session(trace, "loading")["info"] is None
    pid = worker_pid(served, trace)
    served.post("cancel", trace)
    assert served.json("session", trace=trace)["state"] == "cancelled"
    wait(lambda _: is_running(pid), lambda running: not running)
    assert served.json("session", trace=trace)["state"] == "cancelled", "until it is asked for again"
    assert served.problem(409, "names", trace=trace)["code"] == "not-loaded"


def test_cancelling_what_is_loaded_changes_nothing(serve: Serve, logdir: Path) -> None:
    served = serve(logdir)
    trace = served.ready()
    served.post("cancel", trace)
    assert served.json("session", trace=trace)["state"] == "ready"


def test_a_process_that_is_killed_while_it_loads(stuck: Serve, worker_pid: Callable[[Served, str], int]) -> None:
    served = stuck()
    trace = served.traces()[0]
    served.session(trace, "loading")
    os.kill(worker_pid(served, trace), signal.SIGKILL)
    error = served.session(trace)["error"]
    assert error["code"] == "worker-killed"
    assert "memory" in error["message"]
    assert served.runs()["state"] == "ready"


def test_a_process_that_dies_later(serve: Serve, logdir: Path, worker_pid: Callable[[Served, str], int]) -> None:
    served = serve(logdir)
    trace = served.ready()
    os.kill(worker_pid(served, trace), signal.SIGTERM)
    error = served.session(trace, "failed")["error"]
    assert error["code"] == "worker-died"
    assert "SIGTERM" in error["message"]
    served.post("reload", trace)
    assert served.session(trace)["state"] == "ready"


def test_two_pages_share_one_process(serve: Serve, logdir: Path, worker_pid: Callable[[Served, str], int]) -> None:
    served = serve(logdir)
    trace = served.ready()
    pid = worker_pid(served, trace)
    assert served.session(trace)["state"] == "ready"
    assert worker_pid(served, trace) == pid


def test_the_trace_not_used_for_longest_makes_room(
    serve: Serve,
    logdir: Path,
    small: TraceBuilder,
    worker_pid: Callable[[Served, str], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KINETOSCOPE_MAX_OPEN", "2")
    for number in (1, 2):
        small.write(logdir / "run" / f"worker{number}.1750000000000.pt.trace.json")
    served = serve(logdir)
    first, second, third = served.traces()
    for trace in (first, second):
        assert served.session(trace)["state"] == "ready"
    served.json("names", trace=first)
    pid = worker_pid(served, second)
    assert served.session(third)["state"] == "ready"
    wait(lambda _: is_running(pid), lambda running: not running)
    assert served.problem(409, "names", trace=second)["code"] == "not-loaded"
    served.json("names", trace=first)


def test_what_finds_no_room_waits_for_its_turn(stuck: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETOSCOPE_MAX_OPEN", "1")
    served = stuck(2)
    first, second = served.traces()
    served.session(first, "loading")
    assert served.json("session", trace=second)["state"] == "queued"
    served.post("cancel", first)
    assert served.session(second, "loading")["state"] == "loading"
    served.post("cancel", second)


def test_an_answer_that_takes_too_long(
    serve: Serve, logdir: Path, monkeypatch: pytest.MonkeyPatch, worker_pid: Callable[[Served, str], int]
) -> None:
    served = serve(logdir)
    trace = served.ready()
    monkeypatch.setattr(served.plugin.sessions, "_timeout_s", 0.2)
    pid = worker_pid(served, trace)
    os.kill(pid, signal.SIGSTOP)
    try:
        assert served.problem(500, "names", trace=trace)["code"] == "timeout"
    finally:
        os.kill(pid, signal.SIGCONT)
    monkeypatch.setattr(served.plugin.sessions, "_timeout_s", 30.0)
    served.json("names", trace=trace)


def test_a_spare_process_is_ready_before_anything_is_opened(serve: Serve, logdir: Path) -> None:
    served = serve(logdir)
    assert served.plugin.sessions._spare is None, "nothing is started before the page is there"
    served.runs()
    spare = served.plugin.sessions._spare
    assert spare is not None
    trace = served.ready()
    assert served.plugin.sessions._sessions[trace].worker is spare
    wait(lambda _: served.plugin.sessions._spare, lambda next_one: next_one is not None and next_one is not spare)


def test_prints_do_not_get_into_the_messages(
    serve: Serve, logdir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "pandas.py").write_text(
        f"import os, sys\nprint('noise')\nos.write(1, b'noise')\nsys.path.remove({str(noisy)!r})\ndel sys.modules['pandas']\nimport pandas\n"
    )
    monkeypatch.setattr(sys, "path", [str(noisy), *sys.path])
    served = serve(logdir)
    assert served.json("view", trace=served.ready(), view="kernels")["rows"] == 1


def test_a_broken_installation_is_told_when_a_trace_is_opened(
    serve: Serve, logdir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "pandas.py").write_text("raise ImportError('pandas is broken')\n")
    monkeypatch.setattr(sys, "path", [str(broken), *sys.path])
    served = serve(logdir)
    error = served.session(served.traces()[0])["error"]
    assert "pandas is broken" in error["message"]


def test_nothing_outlives_tensorboard(logdir: Path) -> None:
    program = f"""
import sys, time, os
sys.path[:] = {[path for path in sys.path if path]!r}
from wire.serving import Served
served = Served({str(logdir)!r})
trace = served.ready()
print(served.plugin.sessions._sessions[trace].worker.pid, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    wait(lambda _: is_running(pid), lambda running: not running)


def test_ctrl_c_is_not_for_workers(serve: Serve, logdir: Path, worker_pid: Callable[[Served, str], int]) -> None:
    served = serve(logdir)
    trace = served.ready()
    pid = worker_pid(served, trace)
    assert os.getpgid(pid) != os.getpgid(0)
    os.kill(pid, signal.SIGINT)
    time.sleep(0.1)
    served.json("names", trace=trace)


@pytest.mark.parametrize(("given", "expected"), [("", 4), ("2", 2), ("0", 1), ("many", 4)])
def test_how_many_may_be_open(given: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETOSCOPE_MAX_OPEN", given)
    assert max_open() == expected


def test_tensorboards_own_process_stays_light(logdir: Path) -> None:
    program = f"""
import sys
sys.path[:] = {[path for path in sys.path if path]!r}
from wire.serving import Served
served = Served({str(logdir)!r})
served.json("view", trace=served.ready(), view="kernels")
served.close()
print(sorted({{"pandas", "torch"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
