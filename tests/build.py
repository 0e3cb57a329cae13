"""Small traces, built by hand in a test: each method adds an event and returns the builder.

Times are microseconds; an event is given by its start and its end. Whole numbers, text and ``Decimal`` are written
exactly; a float is taken as the decimal it prints as.

>>> TraceBuilder().step(0, 0, 100).launch(2, 4, 1).kernel(10, 40, correlation=1).write(path)  # doctest: +SKIP
"""

from __future__ import annotations

import gzip
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

Time: TypeAlias = int | float | str | Decimal

EXACT = re.compile(r'"@(-?[0-9.]+)@"')
DEVICE = {"name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42_000_000_000, "numSms": 108, "warpSize": 32}
DEVICE_LIMITS = {
    "computeMajor": 8,
    "computeMinor": 0,
    "sharedMemPerBlock": 49_152,
    "maxThreadsPerMultiprocessor": 2_048,
}


def exact(time: Time) -> int | Decimal:
    """Return a time as a number that is written without loss."""
    decimal = time if isinstance(time, Decimal) else Decimal(str(time))
    return int(decimal) if decimal == decimal.to_integral_value() else decimal


class TraceBuilder:
    """The events of one trace file, and what stands around them.

    Parameters
    ----------
    rank, world_size
        For ``distributedInfo``; without a rank the key is left out.
    devices
        Number of entries in ``deviceProperties``.
    base_ns
        ``baseTimeNanoseconds``; left out when None.
    **top
        More top-level keys, or other values of the usual ones; None leaves a key out.
    """

    def __init__(
        self, *, rank: int | None = 0, world_size: int = 1, devices: int = 1, base_ns: int | None = None, **top: Any
    ) -> None:
        self.events: list[Any] = []
        self.top: dict[str, Any] = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": number, **DEVICE, **DEVICE_LIMITS} for number in range(devices)],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world_size},
        }
        if rank is None:
            del self.top["distributedInfo"]
        if base_ns is not None:
            self.top["baseTimeNanoseconds"] = base_ns
        self.top = {key: value for key, value in {**self.top, **top}.items() if value is not None}
        self._external_id = 0

    def raw(self, event: Any) -> TraceBuilder:
        """Add an event exactly as it is given, even if it is none."""
        self.events.append(event)
        return self

    def complete(
        self, category: str, name: str, span: tuple[Time, Time], at: tuple[Any, Any], args: dict[str, Any]
    ) -> TraceBuilder:
        """Add a complete event (ph X); ``at`` is its process and thread."""
        start, end = exact(span[0]), exact(span[1])
        event = {"ph": "X", "cat": category, "name": name, "pid": at[0], "tid": at[1], "ts": start, "dur": end - start}
        return self.raw({**event, "args": args})

    def kernel(self, start: Time, end: Time, *, name: str = "kernel", **args: Any) -> TraceBuilder:
        """Add a kernel; ``stream`` (7), ``device`` (0), ``correlation`` and any other argument by name or in ``args``."""
        return self._work("kernel", name, (start, end), args)

    def memcpy(
        self, start: Time, end: Time, *, name: str = "Memcpy HtoD (Pinned -> Device)", **args: Any
    ) -> TraceBuilder:
        """Add a copy on a stream; arguments as for `kernel`."""
        return self._work("gpu_memcpy", name, (start, end), args)

    def memset(self, start: Time, end: Time, *, name: str = "Memset (Device)", **args: Any) -> TraceBuilder:
        """Add a memset on a stream; arguments as for `kernel`."""
        return self._work("gpu_memset", name, (start, end), args)

    def _work(self, category: str, name: str, span: tuple[Time, Time], args: dict[str, Any]) -> TraceBuilder:
        given = {"device": 0, "stream": 7, **args.pop("args", {}), **args}
        return self.complete(category, name, span, (given["device"], given["stream"]), given)

    def launch(
        self, start: Time, end: Time, correlation: int | None = None, *, name: str = "cudaLaunchKernel", **more: Any
    ) -> TraceBuilder:
        """Add an API call; ``category``, ``tid``, ``pid`` and other arguments by name."""
        args = {} if correlation is None else {"correlation": correlation}
        return self._host(more.pop("category", "cuda_runtime"), name, (start, end), {**args, **more})

    def op(self, start: Time, end: Time, name: str = "aten::op", **more: Any) -> TraceBuilder:
        """Add an op with an External id of its own; ``seq`` and ``fwd_thread`` are short for the long argument names."""
        self._external_id += 1
        long = {"seq": "Sequence number", "fwd_thread": "Fwd thread id", "external_id": "External id"}
        args = {"External id": self._external_id, **{long.get(key, key): value for key, value in more.items()}}
        return self._host("cpu_op", name, (start, end), args)

    def annotation(self, start: Time, end: Time, name: str, **more: Any) -> TraceBuilder:
        """Add a user annotation."""
        return self._host("user_annotation", name, (start, end), more)

    def step(self, number: int, start: Time, end: Time, **more: Any) -> TraceBuilder:
        """Add a step marker."""
        return self.annotation(start, end, f"ProfilerStep#{number}", **more)

    def loader(self, start: Time, end: Time, **more: Any) -> TraceBuilder:
        """Add the annotation that a DataLoader writes around its next batch."""
        return self.annotation(start, end, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", **more)

    def python(self, start: Time, end: Time, name: str = "train.py(7): step", **more: Any) -> TraceBuilder:
        """Add a Python frame; ``python_id``, ``parent_id`` and ``module_id`` are short for the long argument names."""
        long = {"python_id": "Python id", "parent_id": "Python parent id", "module_id": "Python module id"}
        return self._host(
            "python_function", name, (start, end), {long.get(key, key): value for key, value in more.items()}
        )

    def _host(self, category: str, name: str, span: tuple[Time, Time], more: dict[str, Any]) -> TraceBuilder:
        given = {**more.pop("args", {}), **more}
        at = (given.pop("pid", 1), given.pop("tid", 1))
        return self.complete(category, name, span, at, given)

    def memory(self, at: Time, size: int, *, allocated: int | None = None, **more: Any) -> TraceBuilder:
        """Add a ``[memory]`` instant; ``device_type`` (1, CUDA) and ``device`` (0), ``reserved``, ``addr``, ``tid`` by name."""
        args = {
            "Device Type": more.pop("device_type", 1),
            "Device Id": more.pop("device", 0),
            "Bytes": size,
            "Addr": more.pop("addr", None),
            "Total Allocated": allocated,
            "Total Reserved": more.pop("reserved", None),
        }
        place = {"pid": more.pop("pid", 1), "tid": more.pop("tid", 1), "ts": exact(at), "s": "t"}
        known = {key: value for key, value in {**args, **more}.items() if value is not None}
        return self.raw({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **place, "args": known})

    def flow(
        self, category: str, number: int, source: tuple[Time, Any, Any], target: tuple[Time, Any, Any]
    ) -> TraceBuilder:
        """Add a flow between two points, each (time, process, thread)."""
        for phase, (at, pid, tid) in (("s", source), ("f", target)):
            event = {
                "ph": phase,
                "id": number,
                "pid": pid,
                "tid": tid,
                "ts": exact(at),
                "cat": category,
                "name": category,
            }
            self.raw({**event, "bp": "e"} if phase == "f" else event)
        return self

    def text(self) -> str:
        """Return the file's text."""
        document = {**self.top, "traceEvents": self.events}
        return EXACT.sub(r"\1", json.dumps(document, default=lambda number: f"@{number:f}@", ensure_ascii=False))

    def bytes(self) -> bytes:
        """Return the file's bytes, not compressed."""
        return self.text().encode("utf-8", "surrogateescape")

    def write(self, path: Path | str) -> Path:
        """Write the file, compressed where its name ends in ``.gz``, and return its path."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(self.bytes(), 1, mtime=0) if path.suffix == ".gz" else self.bytes())
        return path
