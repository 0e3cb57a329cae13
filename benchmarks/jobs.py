"""What is measured: each job is one piece of work on one trace, done in a process of its own.

Usage: python -m benchmarks.jobs JOB TRACE

Prints one line of JSON: the seconds that the imports took, and a mark for every stage of the work, each with the seconds,
CPU seconds and peak memory from the beginning of the work to there. What a job needs is imported before the clock starts.

Runs in the environment of the tool that it measures, so nothing but the standard library is imported at the top.
"""

from __future__ import annotations

import gc
import gzip
import json
import logging
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

FRAMES = (
    "events",
    "kernels",
    "memory_copies",
    "api_calls",
    "launches",
    "ops",
    "annotations",
    "python_calls",
    "steps",
)
OPENED = ("health", "steps", "devices", "gaps")
_DRILL_DOWNS = ("health_events", "kernel_calls")
_ROWS_ON_A_SCREEN = 40
_PX = 1600


class Marks:
    """Stages of the work with what each has cost since the work began."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self._began = time.perf_counter()
        self._cpu = _cpu_seconds()

    def __call__(self, name: str, **figures: float) -> None:
        """Note that a stage is done."""
        spent = {"seconds": time.perf_counter() - self._began, "cpu_seconds": _cpu_seconds() - self._cpu}
        self.taken.append({"name": name, **spent, "peak_mb": _peak_mb(), **figures})


Work = Callable[[str, Marks], Any]


def _cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _peak_mb() -> float:
    """Return the largest resident memory so far, in MB of 10^6 bytes."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        # what getrusage tells begins with the memory of the program that started this one
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024 / 1e6
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


# --- floors: what any reader pays that makes Python objects of the JSON ---------------------------------------------------


def json_dicts() -> Work:
    """``gzip`` and ``json`` of the standard library."""

    def work(path: str, mark: Marks) -> Any:
        trace = json.loads(gzip.decompress(Path(path).read_bytes()), strict=False)
        mark("dicts", events=len(trace["traceEvents"]))
        return trace

    return work


def orjson_dicts() -> Work:
    """The fastest unpacking and decoding of JSON into dicts: isal and orjson."""
    import orjson
    from isal import igzip

    unpack: Callable[[bytes], bytes] = igzip.decompress

    def work(path: str, mark: Marks) -> Any:
        trace = orjson.loads(unpack(Path(path).read_bytes()))
        mark("dicts", events=len(trace["traceEvents"]))
        return trace

    return work


def orjson_floor() -> Work:
    """The same without the garbage collector, which walks the growing heap again and again: what nobody gets below with dicts."""
    gc.disable()
    return orjson_dicts()


# --- peers ----------------------------------------------------------------------------------------------------------------


def _some(events: int) -> int:
    """Return a number of events; none would mean that the tool has done nothing, however fast."""
    if not events:
        raise RuntimeError("found no events")
    return events


def hta_frames() -> Work:
    """HolisticTraceAnalysis: one file to its frame, by its public function and its default settings."""
    from hta.common.trace import parse_trace_file

    def work(path: str, mark: Marks) -> Any:
        parsed = parse_trace_file(path)
        mark("frames", events=_some(len(parsed[1])))
        return parsed

    return work


def tensorboard_views() -> Work:
    """torch_tb_profiler: one file to everything that its pages show, as its loader does it."""
    from torch_tb_profiler.profiler.data import RunProfileData
    from torch_tb_profiler.profiler.run_generator import RunGenerator

    def work(path: str, mark: Marks) -> Any:
        data = RunProfileData.parse("worker0", None, path, tempfile.gettempdir())
        profile = RunGenerator("worker0", None, data).generate_run_profile()
        mark("views", events=_some(len(data.events)))
        return profile

    return work


# --- Kinetoscope -----------------------------------------------------------------------------------------------------------


class Listener:
    """Hears of progress and keeps the longest time without any."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.perf_counter()

    def __call__(self, _: Any = None) -> None:
        """Hear of progress."""
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now


def _load(path: str, mark: Marks) -> Trace:
    """Read the trace, and mark it."""
    import kinetoscope

    listener = Listener()
    trace = kinetoscope.load(path, tell=listener)
    listener()
    mark("columns", events=len(trace), longest_silence_s=listener.longest)
    return trace


def _import_kinetoscope() -> None:
    """Import what is otherwise imported on first use."""
    from kinetoscope import frames, job, timeline  # noqa: F401
    from kinetoscope.views import registry

    registry.views()


def frames() -> Work:
    """One file to columns, to the frame of all events, and to all frames."""
    _import_kinetoscope()

    def work(path: str, mark: Marks) -> Any:
        trace = _load(path, mark)
        kept = [trace.events]
        mark("events", events=len(kept[0]))
        kept += [getattr(trace, name) for name in FRAMES[1:]]
        mark("frames", events=len(kept[0]))
        return kept

    return work


def views() -> Work:
    """One file to all that the pages show of it when they are opened, as the bytes that the plugin sends; then every other view."""
    _import_kinetoscope()
    from kinetoscope_tb.variants import Variants

    def work(path: str, mark: Marks) -> Any:
        trace = _load(path, mark)
        answers = Variants(trace, Path(path).name)
        kept = [_ask(answers, "info"), _ask(answers, "view", view="overview", parameters={})]
        mark("overview", events=len(trace))
        opened = page_questions()
        kept += [_ask(answers, "view", view=view, parameters=given) for view, given in opened]
        mark("tables", events=len(trace))
        kept += _timeline(answers)
        mark("views", events=len(trace), sent_mb=sum(map(len, kept)) / 1e6)
        kept += [_ask(answers, "view", view=view, parameters={}) for view in other_views()]
        mark("every_view", events=len(trace), sent_mb=sum(map(len, kept)) / 1e6)
        return kept

    return work


def page_questions() -> list[tuple[str, dict[str, str]]]:
    """List what the pages ask for when they are opened, the overview left out; kernels in every grouping."""
    from kinetoscope.views import registry

    groupings = next(one.choices for one in registry.get("kernels").parameters if one.name == "by")
    return [*((name, {}) for name in OPENED), *(("kernels", {"by": by}) for by in groupings)]


def other_views() -> list[str]:
    """List the views that no page asks for when it is opened, but for those that tell of one row of another."""
    from kinetoscope.views import registry

    known = {"overview", "kernels", *OPENED, *_DRILL_DOWNS}
    return [name for name in registry.views() if name not in known]


def _timeline(answers: Any) -> list[bytes]:
    """Ask for the timeline's lanes, names and minimap, and for the tile that is seen first."""
    lanes = _ask(answers, "lanes")
    about = json.loads(lanes)
    rows = list(range(min(about["rows"], _ROWS_ON_A_SCREEN)))
    tile = _ask(answers, "tile", rows=rows, t0=0, t1=max(about["end_ns"], 1), px=_PX)
    return [lanes, _ask(answers, "names"), _ask(answers, "minimap", px=_PX), tile]


def _ask(answers: Any, route: str, **parameters: Any) -> bytes:
    """Return the bytes of an answer; one that failed would make the figures worthless."""
    reply = answers.answer(route, {"fix": [], **parameters})
    if reply.status != 200:
        raise RuntimeError(f"{route} {parameters} answered {reply.status}: {reply.body[:500]!r}")
    body: bytes = reply.body
    return body


def overview() -> Work:
    """One file to the first view, as a frame; from the cache where it has the trace, which is otherwise filled."""
    _import_kinetoscope()

    def work(path: str, mark: Marks) -> Any:
        trace = _load(path, mark)
        frame = trace.view("overview")
        mark("overview", events=len(trace))
        return frame

    return work


JOBS: dict[str, Callable[[], Work]] = {
    "json_dicts": json_dicts,
    "orjson_dicts": orjson_dicts,
    "orjson_floor": orjson_floor,
    "hta_frames": hta_frames,
    "tensorboard_views": tensorboard_views,
    "frames": frames,
    "views": views,
    "overview": overview,
}


def main(job: str, path: str) -> None:
    """Do one job and print what it cost."""
    logging.disable(logging.CRITICAL)
    before = time.perf_counter()
    work = JOBS[job]()
    import_seconds = time.perf_counter() - before
    marks = Marks()
    kept = work(path, marks)
    print(json.dumps({"import_seconds": import_seconds, "peak_mb": _peak_mb(), "marks": marks.taken}), flush=True)
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
