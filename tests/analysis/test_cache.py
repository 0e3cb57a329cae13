"""Columns that were kept come back as they were, and whatever is wrong with a cache file costs only the time of reading anew."""

import subprocess
import sys
import threading
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import corpus
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope.loading import load_file
from kinetoscope.reading import cache
from kinetoscope.reading.columns import Columns
from kinetoscope.reading.storage import Fingerprint
from kinetoscope.source import Source
from kinetoscope.views import registry


@pytest.fixture
def keeping(monkeypatch):
    monkeypatch.setattr(cache, "LEAST_EVENTS", 1)


def settle():
    """Wait for the writers of the cache."""
    for thread in threading.enumerate():
        if thread.name == "kinetoscope-cache":
            thread.join(20)


def load(path: Path) -> ks.Trace:
    trace = load_file(Source(str(path)))
    settle()
    return trace


def sample(path: Path) -> Path:
    builder = TraceBuilder(base_ns=1_700_000_000_000_000_000, user={"a": [1, 2.5, None]}).step(4, 0, 100)
    builder.op(0, 40, "aten::a", seq=3, fwd_thread=0).op(50, 60, "Back", seq=3, fwd_thread=1).flow(
        "fwdbwd", 9, (0, 1, 1), (50, 1, 1)
    )
    builder.launch(5, 6, 2**40).kernel(10, 30, correlation=2**40, args={"grid": [2, 1, 1], "blocks per SM": 0.5})
    builder.memcpy(40, 45, args={"bytes": 2**35}).memory(1, 64).memory(2, -64, addr=2**63).raw(17)
    wait = {"cuda_sync_kind": "Stream Wait Event", "wait_on_stream": 7, "stream": 20, "device": 0}
    builder.complete("cuda_sync", "Stream Wait Event", (6, 7), (0, 20), wait)
    return builder.write(path)


def kept_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.arrow"))


def same(one: Columns, other: Columns) -> None:
    for field in fields(Columns):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            assert np.array_equal(a, b), field.name
            assert not b.flags.writeable
        elif field.name == "details":
            assert all(
                np.array_equal(a[key], b[key], equal_nan=a[key].dtype.kind == "f") and a[key].dtype == b[key].dtype
                for key in a
            )
        elif field.name == "kept":
            assert a.keys() == b.keys()
            for kind, (rows, values) in a.items():
                assert np.array_equal(rows, b[kind].rows)
                assert np.array_equal(values, b[kind].values)
                assert {array.dtype for array in (rows, values, *b[kind])} == {np.dtype(np.int64)}
                assert not any(array.flags.writeable for array in (rows, values, *b[kind]))
        elif field.name == "flows":
            assert all(np.array_equal(getattr(a, part.name), getattr(b, part.name)) for part in fields(type(a)))
        else:
            assert a == b, field.name


@pytest.mark.usefixtures("keeping")
def test_what_was_kept_comes_back(tmp_path, cache_folder, monkeypatch):
    path = sample(tmp_path / "t.json")
    first = load(path)
    assert len(kept_files(cache_folder)) == 1
    monkeypatch.setattr("kinetoscope.loading.decode_file", lambda *_: pytest.fail("the trace was read again"))
    second = load(path)
    same(first.columns, second.columns)
    assert (first.metadata, first.losses, first.origin_ns) == (second.metadata, second.losses, second.origin_ns)
    for name in registry.views():
        assert first.view(name).equals(second.view(name))


def test_small_traces_are_not_kept(tmp_path, cache_folder):
    load(sample(tmp_path / "t.json"))
    assert kept_files(cache_folder) == []


@pytest.mark.parametrize("setting", ["off", "beside"])
@pytest.mark.usefixtures("keeping")
def test_where_the_cache_is_can_be_chosen(setting, tmp_path, cache_folder, monkeypatch):
    monkeypatch.setenv("KINETOSCOPE_CACHE", setting)
    load(sample(tmp_path / "run" / "t.json"))
    assert kept_files(cache_folder) == []
    assert len(kept_files(tmp_path / "run" / ".kinetoscope")) == (setting == "beside")
    assert len(ks.open_logdir(tmp_path).sources()) == 1


@pytest.mark.usefixtures("keeping")
def test_another_content_at_the_same_place_is_another_trace(tmp_path, cache_folder):
    path = sample(tmp_path / "t.json")
    load(path)
    TraceBuilder().op(0, 1, "new").write(path)
    assert load(path).events["name"].tolist() == ["new"]
    assert len(kept_files(cache_folder)) == 2


@pytest.mark.usefixtures("keeping")
def test_a_format_of_another_version_is_not_read(tmp_path, cache_folder, monkeypatch):
    path = sample(tmp_path / "t.json")
    load(path)
    monkeypatch.setattr(cache, "FORMAT", cache.FORMAT + 1)
    load(path)
    assert len(kept_files(cache_folder)) == 2


@pytest.mark.parametrize("damage", ["cut", "empty", "garbage", "other arrow", "folder"])
@pytest.mark.usefixtures("keeping")
def test_a_torn_cache_file_is_dropped_and_made_anew(damage, tmp_path, cache_folder):
    import pyarrow as pa

    path = sample(tmp_path / "t.json")
    first = load(path)
    (kept,) = kept_files(cache_folder)
    data = kept.read_bytes()
    if damage == "other arrow":
        table = pa.table({"x": [1]})
        with pa.ipc.new_file(str(kept), table.schema) as writer:
            writer.write_table(table)
    elif damage == "folder":
        kept.unlink()
        kept.mkdir()
    else:
        kept.write_bytes({"cut": data[: len(data) // 2], "empty": b"", "garbage": b"x" * 5000}[damage])
    same(first.columns, load(path).columns)
    if damage != "folder":
        assert kept.read_bytes()[:6] == b"ARROW1"
        same(first.columns, load(path).columns)


@pytest.mark.usefixtures("keeping")
def test_many_writers_at_once_leave_one_whole_file(tmp_path, cache_folder):
    path = sample(tmp_path / "t.json")
    first = load_file(Source(str(path)))
    place = cache.place_of(Source(str(path)), Fingerprint.of(path))
    writers = [cache.keep(place, first.columns, first.metadata, first.losses) for _ in range(8)]
    for writer in writers:
        writer.join(20)
    settle()
    assert kept_files(cache_folder) == [place]
    assert list(cache_folder.glob(".writing-*")) == []
    same(first.columns, cache.load(place)[0])


@pytest.mark.usefixtures("keeping")
def test_the_cache_keeps_within_its_size(tmp_path, cache_folder, monkeypatch):
    paths = [sample(tmp_path / f"{i}.json") for i in range(4)]
    load(paths[0])
    size = kept_files(cache_folder)[0].stat().st_size
    monkeypatch.setenv("KINETOSCOPE_CACHE_BYTES", str(int(2.5 * size)))
    for path in paths[1:]:
        load(path)
    assert len(kept_files(cache_folder)) == 2


@pytest.mark.usefixtures("keeping")
def test_a_cache_that_cannot_be_written_does_not_matter(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("KINETOSCOPE_CACHE", str(tmp_path / "file" / "below"))
    assert len(load(sample(tmp_path / "t.json"))) == 9


@corpus.parametrize(largest_mb=0.8)
@pytest.mark.usefixtures("keeping")
def test_real_traces_come_back_as_they_were(known):
    first, second = load(known.path), load(known.path)
    same(first.columns, second.columns)
    assert first.view("devices").equals(second.view("devices"))
    assert first.view("steps").equals(second.view("steps"))


FRAMES, OPS, KERNELS = 2_000_000, 20_000, 1_000
SECONDS, MEGABYTES, MEGABYTES_WITH_CAUSES = 60, 1_000, 1_250

# getrusage would also tell the memory of the program that started this one, which is the whole test run
MEASURE = """
import sys, time
def peak_mb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e6
began = time.monotonic()
from kinetoscope.loading import load_file
from kinetoscope.source import Source
trace = load_file(Source(sys.argv[1]))
trace.view("steps"), trace.view("kernels")
opened, peak = time.monotonic() - began, peak_mb()
trace.view("gaps")
assert len(trace) == int(sys.argv[2]), len(trace)
print(opened, peak, time.monotonic() - began, peak_mb())
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak memory of a process is read from /proc, which Linux has"
)
def test_two_million_python_frames_open_within_a_stated_budget_and_then_at_once(tmp_path, cache_folder):
    path = tmp_path / "frames.json"
    with path.open("w") as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for i in range(OPS):
            args = f'"args": {{"External id": {i + 1}}}'
            file.write(
                f'{{"ph": "X", "cat": "cpu_op", "name": "aten::op{i % 50}", "pid": 1, "tid": 1, "ts": {100 * i}, "dur": 90, {args}}},\n'
            )
        for i in range(KERNELS):
            args = f'"args": {{"device": 0, "stream": 7, "correlation": {i + 1}}}'
            file.write(
                f'{{"ph": "X", "cat": "kernel", "name": "k{i % 9}", "pid": 0, "tid": 7, "ts": {2000 * i}, "dur": 900, {args}}},\n'
            )
        rows = (
            f'{{"ph": "X", "cat": "python_function", "name": "f{i % 5000}.py({i % 90}): g", "pid": 1, "tid": 1, "ts": {i}, "dur": 1, "args": {{"Python id": {i}}}}}'
            for i in range(FRAMES)
        )
        file.write(",\n".join(rows) + "\n]}\n")
    command = [sys.executable, "-c", MEASURE, str(path), str(FRAMES + OPS + KERNELS)]
    figures = []
    for _ in range(2):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=True, env=_environment(cache_folder)
        )
        figures.append([float(part) for part in done.stdout.split()])
    (opened, opened_peak, cold, cold_peak), (again, _, warm, _) = figures
    print(
        f"{path.stat().st_size / 1e6:.0f} MB of JSON: cold {cold:.1f} s, {cold_peak:.0f} MB; again {warm:.1f} s, the first views {opened:.1f} and {again:.1f} s"
    )
    assert cold < SECONDS
    assert opened_peak < MEGABYTES
    # causes are found while the cache is still being written in the background: how much of the two falls together is chance
    assert cold_peak < MEGABYTES_WITH_CAUSES
    assert again < opened / 2
    assert warm < cold


def _environment(cache_folder: Path) -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "KINETOSCOPE_CACHE": str(cache_folder)}
