"""Fixtures of the plugin's tests: plugins on log folders, ended after the test with all their processes."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from build import TraceBuilder
from wire.serving import Served, wait

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Return a function that starts a plugin on a log folder."""
    started: list[Served] = []
    before = workers()

    def start(*args: Any, **more: Any) -> Served:
        started.append(Served(*args, **more))
        return started[-1]

    yield start
    for served in started:
        served.close()
    wait(lambda _: workers() - before, lambda left: not left)  # every worker is gone when the plugin is closed


def workers() -> set[threading.Thread]:
    """Return the threads that listen to workers; each lives as long as its process."""
    return {thread for thread in threading.enumerate() if thread.name == "kinetoscope-worker"}


@pytest.fixture
def small() -> TraceBuilder:
    """Return a trace of one step with one kernel."""
    trace = TraceBuilder().step(0, 0, 100).op(5, 50, "aten::mm").launch(10, 20, 1)
    return trace.kernel(30, 60, name="gemm", correlation=1)


@pytest.fixture
def logdir(tmp_path: Path, small: TraceBuilder) -> Path:
    """Return a log folder with one small trace in it."""
    folder = tmp_path / "log"
    small.write(folder / "run" / "worker0.1750000000000.pt.trace.json")
    return folder


@pytest.fixture
def stuck(serve: Callable[..., Served], logdir: Path, small: TraceBuilder) -> Callable[..., Served]:
    """Return a function that serves some traces which never get further than their first byte.

    The files are there when the folder is looked at, and pipes that nobody writes into when they are opened.
    """

    def start(count: int = 1) -> Served:
        paths = [small.write(logdir / "run" / f"worker{number}.1750000000000.pt.trace.json") for number in range(count)]
        served = serve(logdir)
        assert len(served.traces()) == count
        for path in paths:
            path.unlink()
            os.mkfifo(path)
        return served

    return start


@pytest.fixture
def worker_pid() -> Callable[[Served, str], int]:
    """Return a function that tells which process has a trace open."""

    def find(served: Served, trace: str) -> int:
        session = served.plugin.sessions._sessions[trace]
        return wait(lambda _: session.worker, lambda worker: worker is not None).pid

    return find
