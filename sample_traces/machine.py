"""A make-believe machine: host threads and device streams with clocks, whose every move becomes a trace event.

Times are whole nanoseconds since the machine's base time. The rules are few: a call takes the host a moment; a work starts
when its call has returned and a latency has passed, when its stream is free, and when what it waits for has ended.
"""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PID_BASE, MAIN, AUTOGRAD = 4000, 4000, 4017
COMPUTE, COPIES, COMMUNICATION = 7, 24, 20
CALL_NS, LATENCY_NS, BETWEEN_KERNELS_NS, WAKE_UP_NS = 4_200, 3_100, 900, 6_000
SM_COUNT, MAX_THREADS_PER_SM, SHARED_MEMORY_LIMIT = 108, 2048, 49_152


class Kernel(NamedTuple):
    """What is launched: a name, a length, and the launch shape."""

    name: str
    duration: int
    blocks: int = 432
    threads: int = 256
    registers: int = 32
    shared: int = 0


class Machine:
    """One rank's host and device, and the events they leave."""

    def __init__(self, rank: int, start: int, seed: int) -> None:
        self.rank = rank
        self.pid = PID_BASE + rank * 100
        self.clock = {MAIN: start, AUTOGRAD: start}
        self.free = {COMPUTE: start, COPIES: start, COMMUNICATION: start}
        self.events: list[dict[str, Any]] = []
        self.planned_gaps: list[dict[str, Any]] = []
        self.allocated = {"cpu": 0, "device": 512 << 20}
        self._reason: tuple[str, int] | None = None
        self._numbers = {"correlation": 100, "External id": 1, "Python id": 1, "address": 0x7F00_0000_0000}
        self._external: dict[int, list[int]] = {MAIN: [], AUTOGRAD: []}
        self._frames: list[int] = []
        self._random = random.Random(seed)  # the same numbers every time

    def next(self, name: str, by: int = 1) -> int:
        """Hand out the next number of a kind."""
        self._numbers[name] += by
        return self._numbers[name]

    def about(self, duration: int) -> int:
        """Return a length within five per cent of the given one."""
        return round(duration * (0.95 + 0.1 * self._random.random()))

    def spend(self, duration: int, thread: int = MAIN) -> None:
        """Let a thread work for a while without leaving an event."""
        self.clock[thread] += self.about(duration)

    def complete(
        self, category: str, name: str, span: tuple[int, int], at: tuple[Any, Any], args: dict[str, Any]
    ) -> None:
        """Leave a complete event; ``at`` is its process and thread."""
        event = {
            "ph": "X",
            "cat": category,
            "name": name,
            "pid": at[0],
            "tid": at[1],
            "ts": span[0],
            "dur": span[1] - span[0],
        }
        self.events.append({**event, "args": args})

    @contextmanager
    def range(self, category: str, name: str, thread: int = MAIN, **args: Any) -> Iterator[dict[str, Any]]:
        """Leave an event over what happens inside; its arguments can still be added to."""
        start = self.clock[thread]
        more = {"External id": self.next("External id"), **args}
        self._external[thread].append(more["External id"])
        self.clock[thread] += 700
        yield more
        self.clock[thread] += 500
        self._external[thread].pop()
        self.complete(category, name, (start, self.clock[thread]), (self.pid, thread), more)

    def op(self, name: str, thread: int = MAIN, **args: Any) -> Any:
        """Leave an op over what happens inside."""
        return self.range("cpu_op", name, thread, **args)

    @contextmanager
    def frame(self, name: str, **args: Any) -> Iterator[None]:
        """Leave a Python frame of the main thread over what happens inside."""
        start = self.clock[MAIN]
        number = self.next("Python id")
        parent = self._frames[-1] if self._frames else None
        self._frames.append(number)
        self.clock[MAIN] += 300
        yield
        self.clock[MAIN] += 200
        self._frames.pop()
        args = {"Python parent id": parent, "Python id": number, **args}
        self.complete("python_function", name, (start, self.clock[MAIN]), (self.pid, MAIN), args)

    def call(self, name: str, duration: int, thread: int = MAIN, **args: Any) -> int:
        """Leave an API call; return its correlation."""
        start = self.clock[thread]
        self.clock[thread] += duration
        correlation = self.next("correlation")
        linked = {"External id": self._external[thread][-1]} if self._external[thread] else {}
        args = {**linked, "cbid": 211, "correlation": correlation, **args}
        self.complete("cuda_runtime", name, (start, self.clock[thread]), (self.pid, thread), args)
        return correlation

    def launch(self, kernel: Kernel, stream: int = COMPUTE, thread: int = MAIN, after: int = 0, **args: Any) -> int:
        """Launch a kernel; return when it ends. ``end_of``, given its start, decides that."""
        api = args.pop("api", "cudaLaunchKernel")
        correlation = self.call(api, self.about(CALL_NS), thread)
        start = max(self.clock[thread] + LATENCY_NS, self.free[stream] + BETWEEN_KERNELS_NS, after)
        end_of = args.pop("end_of", None)
        end = end_of(start) if end_of else start + self.about(kernel.duration)
        per_sm = kernel.blocks / SM_COUNT
        shape = {
            "queued": 0,
            "context": 1,
            "registers per thread": kernel.registers,
            "shared memory": kernel.shared,
            "blocks per SM": round(per_sm, 6),
            "warps per SM": round(per_sm * kernel.threads / 32, 6),
            "grid": [kernel.blocks, 1, 1],
            "block": [kernel.threads, 1, 1],
            "est. achieved occupancy %": self._occupancy(kernel, per_sm),
        }
        return self._work(("kernel", kernel.name), (start, end), correlation, (stream, thread), {**shape, **args})

    @staticmethod
    def _occupancy(kernel: Kernel, per_sm: float) -> int:
        """Estimate as the profiler does: by the launch shape, and 0 above the default limit of shared memory."""
        if kernel.shared > SHARED_MEMORY_LIMIT:
            return 0
        fitting = min(MAX_THREADS_PER_SM // kernel.threads, 65_536 // (kernel.registers * kernel.threads))
        return round(100 * min(fitting, per_sm) * kernel.threads / MAX_THREADS_PER_SM)

    def copy(self, name: str, size: int, stream: int = COPIES, api: str = "cudaMemcpyAsync", gb_per_s: int = 20) -> int:
        """Copy memory; return when the copy ends."""
        correlation = self.call(api, self.about(CALL_NS))
        start = max(self.clock[MAIN] + LATENCY_NS, self.free[stream] + BETWEEN_KERNELS_NS)
        duration = max(1_200, size // gb_per_s)
        args = {"context": 1, "bytes": size, "memory bandwidth (GB/s)": round(size / duration, 6)}
        return self._work(("gpu_memcpy", name), (start, start + duration), correlation, (stream, MAIN), args)

    def memset(self, size: int) -> int:
        """Set device memory; return when that ends."""
        correlation = self.call("cudaMemsetAsync", self.about(CALL_NS))
        start = max(self.clock[MAIN] + LATENCY_NS, self.free[COMPUTE] + BETWEEN_KERNELS_NS)
        args = {"context": 1, "bytes": size, "memory bandwidth (GB/s)": round(size / 1_300, 6)}
        return self._work(("gpu_memset", "Memset (Device)"), (start, start + 1_300), correlation, (COMPUTE, MAIN), args)

    def _work(
        self, what: tuple[str, str], span: tuple[int, int], correlation: int, at: tuple[int, int], args: dict[str, Any]
    ) -> int:
        """Leave a device work; ``what`` is its category and name, ``at`` its stream and the thread that launched it."""
        stream, thread = at
        linked = {"External id": self._external[thread][-1]} if self._external[thread] else {}
        known = {**linked, "device": self.rank, "stream": stream, "correlation": correlation}
        self.complete(*what, span, (self.rank, stream), {**known, **args})
        self.flow("ac2g", correlation, (self.events[-2]["ts"], self.pid, thread), (span[0], self.rank, stream))
        self.free[stream] = span[1]
        self._close_gap(span[0])
        return span[1]

    def flow(self, category: str, number: int, source: tuple[int, Any, Any], target: tuple[int, Any, Any]) -> None:
        """Leave an arrow from one (time, process, thread) to another."""
        for phase, (at, pid, tid) in (("s", source), ("f", target)):
            event = {"ph": phase, "id": number, "pid": pid, "tid": tid, "ts": at, "cat": category, "name": category}
            self.events.append({**event, "bp": "e"} if phase == "f" else event)

    def synchronize(self, stream: int = COMPUTE) -> None:
        """Wait on the main thread until a stream is empty."""
        wait = max(0, self.free[stream] - self.clock[MAIN]) + WAKE_UP_NS
        self.call("cudaStreamSynchronize", wait)

    def hold_up(self, reason: str) -> None:
        """Say that what follows keeps the device waiting, from the end of the work that is queued now."""
        self._reason = (reason, max(self.free.values()))

    def _close_gap(self, start: int) -> None:
        if self._reason is not None and start > self._reason[1]:
            gap = {"reason": self._reason[0], "start_ns": self._reason[1], "duration_ns": start - self._reason[1]}
            self.planned_gaps.append(gap)
        self._reason = None

    def memory(self, where: str, size: int, address: int | None = None, thread: int = MAIN) -> int:
        """Leave an allocation, or with a negative size and its address a free; return the address."""
        address = self.next("address", abs(size)) if address is None else address
        self.allocated[where] += size
        on_device = where == "device"
        args = {
            "Total Reserved": 2 << 30 if on_device else 0,
            "Total Allocated": self.allocated[where],
            "Bytes": size,
            "Addr": address,
            "Device Id": self.rank if on_device else -1,
            "Device Type": 1 if on_device else 0,
        }
        at = {"pid": self.pid, "tid": thread, "ts": self.clock[thread], "s": "t"}
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **at, "args": args})
        return address
