"""Large traces without a file: streams full of short kernels under threads of deeply nested calls, straight as columns."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kinetoscope import schema
from kinetoscope.reading.columns import Columns, Flows, Thread
from kinetoscope.source import Source
from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

DEVICES, STREAMS = 2, 4
#: How deep the calls of each host thread nest.
DEPTHS = (20, 20, *(3 + number % 6 for number in range(48)))
NAMES = 600
KERNEL_NS, PAUSE_NS = (5_000, 50_000), (500, 9_000)
#: Probability that a call makes 0, 1, 2 or 3 calls.
CALLS = (0.15, 0.55, 0.2, 0.1)
SHARE_ON_DEVICES = 0.25


@dataclass(frozen=True)
class Part:
    """Events of one thread or stream."""

    start: Index
    duration: Index
    kind: Index
    name: Index
    thread: int
    device: int = -1
    stream: int = -1


def dense(events: int, seed: int = 1) -> Trace:
    """Return a trace of about so many events: a quarter on 8 streams, the others on 50 host threads.

    Parameters
    ----------
    events : int
    seed : int

    Returns
    -------
    Trace
    """
    random = np.random.default_rng(seed)
    parts: list[Part] = []
    on_stream = round(events * SHARE_ON_DEVICES / (DEVICES * STREAMS))
    for device in range(DEVICES):
        parts += [_stream(random, on_stream, device, 7 + stream) for stream in range(STREAMS)]
    length = max(int(part.start[-1] + part.duration[-1]) for part in parts)
    on_thread = round(events * (1 - SHARE_ON_DEVICES) / len(DEPTHS))
    parts += [_thread(random, on_thread, depth, (length, number)) for number, depth in enumerate(DEPTHS)]
    return Trace(_columns(parts), {}, Source("dense"))


def _stream(random: np.random.Generator, count: int, device: int, stream: int) -> Part:
    duration = random.integers(*KERNEL_NS, count)
    end = np.cumsum(duration + random.integers(*PAUSE_NS, count))
    kind = np.full(count, schema.CODE["kernel"])
    return Part(
        end - duration, duration, kind, _names(random, count), len(DEPTHS) + device * STREAMS + stream, device, stream
    )


def _thread(random: np.random.Generator, count: int, depth: int, place: tuple[int, int]) -> Part:
    """Return calls that nest ``depth`` deep, each level within the one before."""
    length, number = place
    growth = float(np.dot(CALLS, range(4)))
    roots = max(1, round(count / sum(growth**level for level in range(depth))))
    edges = np.sort(random.integers(0, length, 2 * roots))
    start, end = edges[::2], edges[1::2]
    levels = []
    for level in range(depth):
        kind = schema.CODE["python" if level < depth / 2 else "op" if level < depth - 1 else "api_call"]
        levels.append((start, end, np.full(start.size, kind)))
        start, end = _calls(random, start, end)
    starts, ends, kinds = (np.concatenate(column) for column in zip(*levels, strict=True))
    order = np.lexsort((-ends, starts))
    starts, ends = starts[order], ends[order]
    return Part(starts, ends - starts, kinds[order], _names(random, starts.size), number)


def _calls(random: np.random.Generator, start: Index, end: Index) -> tuple[Index, Index]:
    """Return the calls made by some calls: up to three, one after the other, with pauses between."""
    number = random.choice(4, start.size, p=CALLS)
    number[end - start < 400] = 0
    parent = np.repeat(np.arange(start.size), number)
    place = np.arange(parent.size) - np.repeat(np.cumsum(number) - number, number)
    room = (end - start)[parent] // np.maximum(number[parent], 1)
    begin = start[parent] + place * room + (room * random.uniform(0.01, 0.1, parent.size)).astype(np.int64)
    return begin, begin + (room * random.uniform(0.5, 0.88, parent.size)).astype(np.int64)


def _names(random: np.random.Generator, count: int) -> Index:
    """Return names of which a few are most of all, as in real traces."""
    return np.minimum(random.exponential(NAMES / 12, count).astype(np.int64), NAMES - 1)


def _columns(parts: list[Part]) -> Columns:
    sizes = [part.start.size for part in parts]
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in ("start", "duration", "kind", "name")
    }
    spread = {
        name: np.repeat([getattr(part, name) for part in parts], sizes) for name in ("thread", "device", "stream")
    }
    size = sum(sizes)
    given: dict[str, Any] = {**joined, **spread, **_constants(size)}
    given["thread"], given["name"] = given["thread"].astype(np.int32), given["name"].astype(np.int32)
    given["kind"] = given["kind"].astype(np.int8)
    threads = max(int(given["thread"].max()) + 1, len(DEPTHS))
    return Columns(
        **{field.name: given[field.name] for field in fields(Columns) if field.name in given},
        shapes={"grid": [], "block": []},
        extras=[],
        categories=["dense"],
        names=[f"void function_{number}<float>(int)" for number in range(NAMES)],
        threads=[Thread("1", number, "python", f"thread {number}") for number in range(threads)],
        flows=Flows(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, bool)),
        origin_ns=0,
        accounts=[],
    )


def _constants(size: int) -> dict[str, Any]:
    """Return the columns that say nothing here."""
    none = np.broadcast_to(np.int64(-1), size)
    yes, no = np.broadcast_to(np.True_, size), np.broadcast_to(np.False_, size)
    unknown = np.broadcast_to(np.float64(np.nan), size)
    code = np.broadcast_to(np.int32(-1), size)
    return {
        "id": np.arange(size, dtype=np.int64),
        "category": np.zeros(size, np.int32),
        "timed": yes,
        "complete": yes,
        "unfinished": no,
        "correlation": np.broadcast_to(np.int64(0), size),
        "external_id": none,
        "sequence_number": none,
        "forward_thread": none,
        "collective": no,
        "details": {
            **dict.fromkeys(("grid", "block"), code),
            **dict.fromkeys(("registers", "shared_memory", "bytes"), none),
            **dict.fromkeys(("blocks_per_sm", "occupancy", "bandwidth"), unknown),
        },
    }


#: Category of each kind that is made here.
CATEGORIES = {"kernel": "kernel", "op": "cpu_op", "python": "python_function", "api_call": "cuda_runtime"}


def write(trace: Trace, path: Path) -> Path:
    """Write a trace of :func:`dense` as a file that the profiler could have written."""
    columns = trace.columns
    told = [json.dumps(name) for name in columns.names]
    kinds = [CATEGORIES.get(kind, "") for kind in schema.KINDS]
    listed = (
        columns.kind,
        columns.name,
        columns.start,
        columns.duration,
        columns.thread,
        columns.device,
        columns.stream,
    )
    rows = zip(*(column.tolist() for column in listed), strict=True)
    with path.open("w", encoding="utf-8") as out:
        out.write('{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [\n')
        for number, (kind, name, start, duration, thread, device, stream) in enumerate(rows):
            place = (device, stream) if device >= 0 else (1, thread)
            more = f', "args": {{"device": {device}, "stream": {stream}}}' if device >= 0 else ""
            comma = ",\n" if number else ""
            out.write(
                f'{comma}{{"ph": "X", "cat": "{kinds[kind]}", "name": {told[name]}, "pid": {place[0]}, "tid": {place[1]},'
                f' "ts": {start // 1000}.{start % 1000:03d}, "dur": {duration // 1000}.{duration % 1000:03d}{more}}}'
            )
        out.write("\n]}\n")
    return path
