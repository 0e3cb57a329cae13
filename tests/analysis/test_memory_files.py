"""Files about memory beside a trace: exports of PyTorch are read, whatever else lies there is not, and pickles are never opened."""

from __future__ import annotations

import gzip
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import corpus
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.errors import UnreadableError
from kinetoscope.reading import memory_timeline
from tables import rows

BASE = 1_700_000_000_000_000_000


def trace_in(folder: Path) -> ks.Trace:
    """Return a trace of a file in a folder."""
    builder = TraceBuilder(base_ns=BASE).op(0, 100).memory(5, 8, allocated=8, addr=1)
    return ks.load(builder.write(folder / "worker.pt.trace.json"))


def test_times_and_sizes_by_category(tmp_path: Path) -> None:
    times = [BASE // 1000 + 10, BASE // 1000 + 20]
    text = json.dumps([times, [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 10, 0, 0, 0, 0, 0, 0, 0]]])
    (tmp_path / "cuda.json").write_text(text)
    (tmp_path / "cuda.json.gz").write_bytes(gzip.compress(text.encode()))
    columns = ("time_us", "allocated_bytes", "parameter_bytes", "autograd_detail_bytes", "unknown_bytes")
    for name in ("cuda.json", "cuda.json.gz"):
        assert rows(trace_in(tmp_path), "memory_exported", *columns, file=name) == [
            (10, 36, 1, 7, 8),
            (20, 10, 10, 0, 0),
        ]


def test_raw_events_are_added_up(tmp_path: Path) -> None:
    events = [
        [-1, 1, 100, 0],
        [BASE + 5000, 2, 50, 4],
        [BASE + 7000, 3, -50, 4],
        [BASE + 7000, 3, 50, 5],
        [BASE + 9000, 4, -50, 5],
    ]
    (tmp_path / "m.raw.json.gz").write_bytes(gzip.compress(json.dumps(events).encode()))
    columns = ("time_us", "parameter_bytes", "activation_bytes", "gradient_bytes", "allocated_bytes")
    trace = trace_in(tmp_path)
    assert rows(trace, "memory_exported", *columns) == [(5, 100, 50, 0, 150), (7, 100, 0, 50, 150), (9, 100, 0, 0, 100)]
    assert rows(trace, "memory_exported", *columns[:2], start_us=8) == [(8, 100), (9, 100)]


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [[0, 1]]]",
        "[[1, 2], [[0], [1]]]",
        "[[1, 2, 3, 99]]",
        "[[1, 2, 3]]",
        '[[1, "x", 3, 4]]',
        "[[1, 2, null, 4]]",
        "[[1, 2], [3",
        "[[1, 1, 100000000000000000000000, 1]]",
        "[[1, 2, " + "[" * 100_000,
    ],
)
def test_a_file_that_is_none_fails_only_itself(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)
    (tmp_path / "good.json").write_text("[[], []]")
    with pytest.raises(UnreadableError, match="no memory timeline"):
        memory_timeline.read(str(tmp_path / "bad.json"))
    frame = trace_in(tmp_path).view("memory_exported")
    assert len(frame) == 0
    assert frame.attrs["notes"][0].startswith("bad.json was left out: no memory timeline")


def test_only_files_that_begin_like_one_are_opened(tmp_path: Path) -> None:
    for name, text in {
        "memory.json": '{"traceEvents": []}',
        "memory.txt": "[[1, 2]]",
        "b.pt.trace.json": "[[1, 2]]",
        "memory_yes.json": " [ [1], [[0]]]",
    }.items():
        (tmp_path / name).write_text(text)
    found = memory_timeline.beside(str(tmp_path / "worker.pt.trace.json"))
    assert [Path(path).name for path in found.exports] == ["memory_yes.json"]
    assert memory_timeline.beside(str(tmp_path / "nowhere" / "x.json")) == memory_timeline.Beside([], [])


class Trap:
    """What a pickle does when it is opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("opened-by-mistake"),)


def test_pickles_are_told_of_and_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "snapshot.pickle").write_bytes(pickle.dumps(Trap()))
    for view in ("memory", "memory_peak"):
        notes = trace_in(tmp_path).view(view).attrs["notes"]
        assert notes[-1].startswith("snapshot.pickle beside the trace may be snapshots")
        assert "tools/snapshot_to_trace.py" in notes[-1]
    assert convert(tmp_path / "snapshot.pickle", tmp_path / "out.json").returncode != 0
    assert not (tmp_path / "opened-by-mistake").exists()


def convert(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Run the program that converts snapshots."""
    program = corpus.ROOT / "tools" / "snapshot_to_trace.py"
    return subprocess.run(
        [sys.executable, str(program), str(source), str(target)], capture_output=True, text=True, check=False
    )


def test_a_snapshot_becomes_a_trace(tmp_path: Path) -> None:
    frames = [
        {"filename": "/usr/lib/python3.11/site-packages/torch/nn/linear.py", "line": 3, "name": "forward"},
        {"filename": "train.py", "line": 12, "name": "step"},
    ]
    when = BASE // 1000
    entries = [
        {"action": "segment_alloc", "addr": 0x1000, "size": 4096, "time_us": when, "frames": []},
        {"action": "alloc", "addr": 0x1000, "size": 512, "time_us": when + 10, "frames": frames},
        {"action": "alloc", "addr": 0x1200, "size": 256, "time_us": when + 10, "frames": frames},
        {"action": "free_requested", "addr": 0x1000, "size": 512, "time_us": when + 20, "frames": []},
        {"action": "free_completed", "addr": 0x1000, "size": 512, "time_us": when + 20, "frames": []},
        {"action": "oom", "size": 1 << 40, "time_us": when + 30, "frames": []},
    ]
    # 1000 bytes were there before the first recorded entry
    segments = [{"device": 0, "total_size": 6144, "allocated_size": 1256}]
    source, target = tmp_path / "snapshot.pickle", tmp_path / "out" / "snapshot.pt.trace.json.gz"
    source.write_bytes(pickle.dumps({"device_traces": [entries, []], "segments": segments}))
    target.parent.mkdir()
    assert convert(source, target).returncode == 0
    trace = ks.load(target)
    columns = ("device", "peak_allocated_bytes", "peak_reserved_bytes", "start_allocated_bytes", "end_allocated_bytes")
    assert rows(trace, "memory", *columns) == [("cuda:0", 1768, 6144, 1000, 1256)]
    columns = ("address", "bytes", "state", "source")
    assert rows(trace, "allocations", *columns) == [
        ("0x1000", 512, "freed", "train.py(12): step"),
        ("0x1200", 256, "open", "train.py(12): step"),
    ]
    assert "1 allocation failed: out of memory." in trace.view("memory").attrs["notes"]
