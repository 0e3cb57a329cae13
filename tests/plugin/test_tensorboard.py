"""A real TensorBoard, started as people start it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wire.serving import wait

BASE = "/data/plugin/kinetoscope/"
ENTRY_POINT = "[tensorboard_plugins]\nkinetoscope = kinetoscope_tb.loader:KinetoscopeLoader\n"


class Running:
    """A TensorBoard process and what it has said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said: list[str] = []
        assert process.stderr
        self.reader = threading.Thread(target=self.said.extend, args=(process.stderr,), daemon=True)
        self.reader.start()
        self.url = wait(lambda _: self._address(), bool)

    def _address(self) -> str:
        assert self.process.poll() is None, "".join(self.said)
        found = re.search(r"TensorBoard [\d.]+ at (http://\S+?)/? ", "".join(self.said))
        return found[1] if found else ""

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url + path, timeout=60) as response:
            return response.read()

    def json(self, path: str) -> dict[str, object]:
        return json.loads(self.get(path))


@pytest.fixture
def tensorboard(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Return a function that starts TensorBoard with some options."""
    started: list[Running] = []
    path = [one for one in sys.path if one]
    try:
        importlib.metadata.distribution("kinetoscope")
    except importlib.metadata.PackageNotFoundError:  # not installed: a sign of it will do
        sign = tmp_path / "installed" / "kinetoscope-0.dist-info"
        sign.mkdir(parents=True)
        (sign / "METADATA").write_text("Metadata-Version: 2.1\nName: kinetoscope\nVersion: 0\n")
        (sign / "entry_points.txt").write_text(ENTRY_POINT)
        path.append(str(sign.parent))

    def start(*options: str) -> Running:
        command = [sys.executable, "-m", "tensorboard.main", "--host", "127.0.0.1", "--port", "0", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        started.append(Running(process))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.terminate()
        running.process.wait(30)
        running.reader.join(30)
        assert running.process.stderr
        running.process.stderr.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--load_fast=false",), ("--path_prefix", "/behind/proxy")], ids=["fast", "plain", "prefix"]
)
def test_from_start_to_figures(tensorboard: Callable[..., Running], logdir: Path, options: tuple[str, ...]) -> None:
    running = tensorboard("--logdir", str(logdir), *options)
    listed = running.json("/data/plugins_listing")["kinetoscope"]
    assert isinstance(listed, dict)
    assert (listed["enabled"], listed["tab_name"]) == (True, "PyTorch Profiler")
    assert b'import("./index.js")' in running.get("/data/plugin_entry.html?name=kinetoscope")
    assert b"render" in running.get(BASE + "index.js")
    runs = wait(lambda _: running.json(BASE + "runs"), lambda runs: runs["state"] != "scanning")
    trace = runs["runs"][0]["ranks"][0]["spans"][0]["trace"]
    session = wait(
        lambda _: running.json(f"{BASE}session?trace={trace}"), lambda one: one["state"] not in ("queued", "loading")
    )
    assert session["state"] == "ready", session
    assert running.json(f"{BASE}view?trace={trace}&view=kernels")["rows"] == 1
    with pytest.raises(urllib.error.HTTPError, match="404"):
        running.get(f"{BASE}session?trace=../../etc/passwd")
    running.process.send_signal(signal.SIGTERM)
    assert running.process.wait(30) == 0
    running.reader.join(30)
    assert not running.reader.is_alive(), "a worker that outlived TensorBoard would hold its error output open"
    said = "".join(running.said)
    assert "In 3.0" not in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_a_log_folder_that_is_missing(tensorboard: Callable[..., Running], tmp_path: Path) -> None:
    running = tensorboard("--logdir", str(tmp_path / "later"))
    runs = wait(lambda _: running.json(BASE + "runs"), lambda runs: runs["state"] != "scanning")
    assert runs["state"] == "failed"
