"""Convert a snapshot of PyTorch's caching allocator into a trace that Kinetoscope reads.

Run it yourself on a snapshot that ``torch.cuda.memory._dump_snapshot("snapshot.pickle")`` wrote, on the machine that it was written on::

    python tools/snapshot_to_trace.py snapshot.pickle snapshot.pt.trace.json.gz

Kinetoscope itself never opens pickled files, because a pickle can run any code that its maker put into it. This program needs neither PyTorch nor
Kinetoscope, and its unpickler refuses to look up anything by name, so that a snapshot, which is made of lists, dicts, texts and numbers, is
read, and whatever else asks for code is refused.

Each recorded allocation and free becomes a ``[memory]`` event with the totals after it, and its recorded stack becomes Python frames. Times are
in µs; events of one µs are set apart by nanoseconds, in their order.
"""

from __future__ import annotations

import gzip
import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

CUDA = 1
RESERVES = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
ALLOCATES = {"alloc": 1, "free_requested": -1}


class PlainUnpickler(pickle.Unpickler):
    """Reads lists, dicts, texts and numbers only."""

    def find_class(self, module_name: str, global_name: str) -> NoReturn:
        """Refuse whatever is asked for by name: it could be code."""
        raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}: no plain snapshot, not opened")

    def persistent_load(self, pid: Any) -> NoReturn:
        """Refuse what lies outside the file."""
        raise pickle.UnpicklingError(f"it refers to something outside the file ({pid!r}): not opened")


def convert(snapshot: dict[str, Any]) -> dict[str, Any]:
    """Return a trace as JSON has it.

    Parameters
    ----------
    snapshot : dict
        With ``segments`` and ``device_traces``, as ``torch.cuda.memory._snapshot()`` returns it.

    Returns
    -------
    dict
    """
    events: list[dict[str, Any]] = []
    # times count from the first one: a double holds µs since 1970 to a quarter of a µs only
    times = [int(entry["time_us"]) for entries in snapshot["device_traces"] for entry in entries if "time_us" in entry]
    base = min(times, default=0) * 1000
    for device, entries in enumerate(snapshot["device_traces"]):
        own = [segment for segment in snapshot["segments"] if segment.get("device", 0) == device]
        events += _device(device, entries, own, base)
    return {"schemaVersion": 1, "profile_memory": 1, "baseTimeNanoseconds": base, "traceEvents": events}


def _device(
    device: int, entries: list[dict[str, Any]], segments: list[dict[str, Any]], base: int
) -> Iterator[dict[str, Any]]:
    """Give the events of one device; its totals at the time of the snapshot are known, so those before follow."""
    allocated = sum(segment["allocated_size"] for segment in segments) - _sum(entries, ALLOCATES)
    reserved = sum(segment["total_size"] for segment in segments) - _sum(entries, RESERVES)
    last = 0
    for entry in entries:
        size = int(entry.get("size", 0))
        reserved += RESERVES.get(entry["action"], 0) * size
        failed = entry["action"] == "oom"
        if entry["action"] not in ALLOCATES and not failed:
            continue
        signed = ALLOCATES.get(entry["action"], 1) * size
        allocated += 0 if failed else signed
        last = max(int(entry.get("time_us", 0)) * 1000 - base, last + 3)
        yield from _frames(entry.get("frames") or [], last)
        arguments = {"Device Type": CUDA, "Device Id": device, "Bytes": signed, "Addr": entry.get("addr")}
        totals = {"Total Allocated": allocated, "Total Reserved": reserved}
        yield {
            "ph": "i",
            "s": "t",
            "cat": "cpu_instant_event",
            "name": "[OutOfMemory]" if failed else "[memory]",
            **_at(last),
            "args": {key: value for key, value in (arguments | totals).items() if value is not None},
        }


def _sum(entries: list[dict[str, Any]], signs: dict[str, int]) -> int:
    return sum(signs.get(entry["action"], 0) * int(entry.get("size", 0)) for entry in entries)


def _at(time: int) -> dict[str, Any]:
    return {"pid": 0, "tid": 0, "ts": time / 1000}


def _frames(frames: list[dict[str, Any]], time: int) -> Iterator[dict[str, Any]]:
    """Give a stack as Python frames around an instant, outermost first."""
    for frame in reversed(frames):
        name = f"{frame.get('filename', '??')}({frame.get('line', 0)}): {frame.get('name', '??')}"
        yield {"ph": "X", "cat": "python_function", "name": name, **_at(time - 1), "dur": 0.002, "args": {}}


def main() -> int:
    """Convert the file that the command line names."""
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    with source.open("rb") as file:
        trace = convert(PlainUnpickler(file).load())
    text = json.dumps(trace).encode()
    target.write_bytes(gzip.compress(text) if target.suffix == ".gz" else text)
    print(f"{len(trace['traceEvents']):,} events in {target}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
