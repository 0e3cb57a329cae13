"""Write the samples of ``docs/wire.md`` that the tests of both sides read: ``python tests/wire/make.py``.

A small run of two ranks is built, served by the plugin, and its answers are kept. What differs from machine to machine is set to a fixed value.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
if __name__ == "__main__":
    ROOT = FOLDER.parents[1]
    sys.path[:0] = [str(ROOT / name) for name in ("analysis", "plugin", "tests")]

# only now can these be found when this is run as a script
from build import TraceBuilder  # noqa: E402
from wire.serving import Served  # noqa: E402
from wire.tile import unpack  # noqa: E402

BASE_NS = 1_750_000_000_000_000_000
SWITCHES = {"record_shapes": 1, "with_stack": 1}
VERSIONS = {"cuda_runtime_version": 12090, "cuda_driver_version": 12090, "host_name": "node-1", "trace_id": "0123ABCD"}
VIEWS = ("health", "overview", "steps", "devices", "gaps", "kernels", "kernel_calls")
CAUSES = ("advice", "idle", "idle_tree", "idle_segments", "launches", "launch_summary", "syncs", "api_calls")
PATHS = ("input_pipeline", "copies", "critical_path", "critical_path_stretches")
SUMS = (("idle", "source"), ("launches", "op"), ("syncs", "reason"), ("api_calls", "name"), ("critical_path", "name"))
CHECK = "clock errors"
GROUPINGS = ("name", "op", "name,op", "config", "stream", "step", "category", "module", "name,module", "family")
MEMORY = (
    "memory",
    "memory_timeline",
    "memory_peak",
    "memory_by_op",
    "memory_steps",
    "memory_growth",
    "memory_churn",
    "allocations",
    "phase_ranges",
)
MEMORY_SUMS = (("memory_timeline", "category"), ("memory_peak", "category"), ("memory_by_op", "step"))
PROGRAM = ("operators", "operator_calls", "modules", "stacks", "threads", "counters")
PROGRAM_SUMS = (("operators", "shapes"), ("operators", "phase"), ("modules", "class"), ("counters", "metric"))


def one_rank(rank: int) -> TraceBuilder:
    """Build two steps with everything in them that the wire can tell of."""
    trace = TraceBuilder(rank=rank, world_size=2, base_ns=BASE_NS, **SWITCHES, **VERSIONS)
    trace.raw({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python3"}})
    trace.raw({"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "thread 1 (python3)"}})
    shape = {
        "grid": [2, 1, 1],
        "block": [128, 1, 1],
        "registers per thread": 32,
        "shared memory": 0,
        "est. achieved occupancy %": 40,
    }
    for step, at in enumerate((0, 1000)):
        call = 100 * step
        trace.step(step, at, at + 900)
        trace.python(at + 1, at + 899)
        trace.loader(at + 2, at + 100)
        trace.launch(at + 105, at + 110, call + 1, name="cudaMemcpyAsync", bytes=4096)
        trace.memcpy(at + 112, at + 130, correlation=call + 1, bytes=4096, **{"memory bandwidth (GB/s)": 0.2})
        trace.op(at + 140, at + 300, "aten::linear", seq=call + 7, **{"Input Dims": [[8, 16]], "Input type": ["float"]})
        trace.op(at + 150, at + 290, "aten::addmm", seq=call + 7)
        trace.launch(at + 160, at + 170, call + 2).launch(at + 180, at + 190, call + 3)
        trace.kernel(at + 175, at + 260, name="void gemm<float>(float*)", correlation=call + 2, args=shape)
        trace.kernel(at + 262, at + 300, name="void add<4>(int)", correlation=call + 3, args=shape)
        trace.op(at + 320, at + 420, "AddmmBackward0", seq=call + 7, fwd_thread=1, tid=2)
        trace.launch(at + 330, at + 340, call + 4, tid=2).kernel(
            at + 345, at + 500, name="void gemm<float>(float*)", correlation=call + 4, args=shape
        )
        trace.flow("fwdbwd", call + 1, (at + 150, 1, 1), (at + 320, 1, 2))
        trace.op(at + 510, at + 560, "nccl:all_reduce").launch(at + 520, at + 530, call + 5)
        trace.kernel(
            at + 540, at + 700, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", correlation=call + 5, stream=20
        )
        trace.launch(at + 710, at + 720, call + 6, name="cudaMemsetAsync").memset(
            at + 722, at + 730, correlation=call + 6, bytes=64
        )
        trace.launch(at + 740, at + 880, name="cudaDeviceSynchronize")
    # the host's clock is ahead by a little: work that begins before its launch
    trace.launch(1885, 1890, 200).kernel(1884, 1888, correlation=200)
    # one block stays from each step, and one is freed in it
    for at, allocated in ((50, 1024), (1050, 2048)):
        trace.memory(at, 1024, allocated=allocated, reserved=8192, addr=4096 + at)
        trace.memory(at + 5, 4096, allocated=allocated + 4096, reserved=8192, addr=65536)
        trace.memory(at + 95, -4096, allocated=allocated, reserved=8192, addr=65536)
    return trace


def write_traces(folder: Path) -> None:
    """Write the log folder: two ranks, two recordings of the first, and a file that is none."""
    for rank, stamp in ((0, 1), (0, 2), (1, 1)):
        one_rank(rank).write(folder / "train" / f"rank{rank}.{BASE_NS + stamp}.pt.trace.json")
    (folder / "notes.json").write_text("{}", encoding="utf-8")


def collect(served: Served) -> dict[str, Any]:
    """Ask for one answer of each kind; return them by the samples' names, the tile as bytes."""
    trace = served.ready()
    info = served.json("session", trace=trace)
    names = served.json("names", trace=trace)["names"]
    lanes = served.json("lanes", trace=trace)
    window = {"rows": f"0-{lanes['rows'] - 1}", "t0": 0, "t1": info["info"]["end_ns"]}
    by_name = {name: served.json("search", trace=trace, q=name, exact=1)["hits"]["id"] for name in names[:-1]}
    kernel, op = by_name["void gemm<float>(float*)"][0], by_name["aten::addmm"][0]
    tables = {
        f"view.{view}": served.json("view", trace=trace, view=view)
        for view in (*VIEWS, *CAUSES, *PATHS, *MEMORY, *PROGRAM)
    }
    tables |= {
        f"view.{view}.{by}": served.json("view", trace=trace, view=view, by=by)
        for view, by in (*SUMS, *MEMORY_SUMS, *PROGRAM_SUMS)
    }
    tables |= {
        f"view.kernels.{by.replace(',', '-')}": served.json("view", trace=trace, view="kernels", by=by)
        for by in GROUPINGS
    }
    tables["view.health_events"] = served.json("view", trace=trace, view="health_events", check=CHECK)
    return {
        "runs": served.runs(),
        "session": info,
        "info": served.json("info", trace=trace, fix="clock"),
        **tables,
        "lanes": lanes,
        "names": {"names": names},
        "tile": served.get("tile", trace=trace, px=400, **window).data,
        "longest": served.json("longest", trace=trace, entry=0, count=1),
        "event": served.json("event", trace=trace, id=kernel),
        "event.op": served.json("event", trace=trace, id=op),
        "neighbor": served.json("neighbor", trace=trace, id=kernel, by=1),
        "neighbor.none": served.json("neighbor", trace=trace, id=by_name["ProfilerStep#0"][0], by=-1),
        "search": served.json("search", trace=trace, q="gemm"),
        "area": served.json("area", trace=trace, **window),
        "path": served.json("path", trace=trace, t0=0, t1=10_000_000, px=100),
        "minimap": served.json("minimap", trace=trace, px=20),
        "error": {"error": served.problem(400, "view", trace=trace, view="kernels", by="colour")},
    }


def steady(value: Any, logdir: str) -> Any:
    """Return an answer without what differs from machine to machine."""
    if isinstance(value, dict):
        return {key: 0 if key == "elapsed_ms" else steady(one, logdir) for key, one in value.items()}
    if isinstance(value, list):
        return [steady(one, logdir) for one in value]
    return value.replace(logdir, "/log") if isinstance(value, str) else value


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_traces(Path(folder))
        served = Served(folder)
        try:
            found = collect(served)
        finally:
            served.close()
    for old in [*FOLDER.glob("*.json"), *FOLDER.glob("*.bin")]:
        old.unlink()
    (FOLDER / "tile.bin").write_bytes(found["tile"])
    found["tile"] = unpack(found["tile"])
    for name, value in found.items():
        text = json.dumps(steady(value, folder), ensure_ascii=False, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(found)} samples in {FOLDER}")


if __name__ == "__main__":
    main()
