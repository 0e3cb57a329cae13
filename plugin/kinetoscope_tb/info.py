"""What the page is told about a trace when it is loaded: ``Info`` of ``docs/wire.md``."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from kinetoscope import schema
from kinetoscope.health import SEVERITIES, content
from kinetoscope.views import memory_keys
from kinetoscope.views.common import no_device_note
from kinetoscope_tb.encoding import text

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_LONGEST = 500
_MOST_EXTRA = 50
_SWITCHES = ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
# what the file calls a thing, and what it is called here
_KNOWN = {
    "host_name": "host",
    "traceName": "trace_name",
    "trace_id": "trace_id",
    "group_trace_id": "group_trace_id",
    "PT_PROFILER_JOB_NAME": "job_name",
    "PT_PROFILER_JOB_VERSION": "job_version",
    "PT_PROFILER_JOB_ATTEMPT_INDEX": "job_attempt",
    "Framework": "framework",
    "torch_version": "torch",
    "cuda_runtime_version": "cuda_runtime",
    "cuda_driver_version": "cuda_driver",
    "cupti_version": "cupti",
    "hip_runtime_version": "hip_runtime",
    "hip_driver_version": "hip_driver",
    "roctracer_version": "roctracer",
    "rocprofiler-sdk_version": "rocprofiler_sdk",
}
_SHOWN_ELSEWHERE = {
    "schemaVersion",
    "displayTimeUnit",
    "baseTimeNanoseconds",
    "deviceProperties",
    "distributedInfo",
    "kinetoscope_synthetic",
    *_SWITCHES,
}
# what operators, modules and call stacks are made of
_PROGRAM = [schema.CODE[kind] for kind in ("op", "annotation", "python")]
# category of ranges with hardware counters, which the page of kernels lists
_COUNTERS = "cuda_profiler_range"
_NO_PROGRAM = "No operators, annotations or Python frames were recorded: record with ProfilerActivity.CPU."
_SECRET = re.compile(
    r"(?:^|[_\W])(?:token|secret|passw\w*|pwd|credentials?|api_?key|access_?key|private_?key|auth)(?:$|[_\W])",
    re.IGNORECASE,
)
_CALENDAR_FROM_NS = 10**18  # below it an origin counts from when the machine started, not from 1970


class Fix(TypedDict):
    """A fix that would change a recording, how many events it is about, and whether the trace in hand has it."""

    fix: str
    events: int
    applied: bool


def info(trace: Trace, file: str, fixes: list[Fix]) -> dict[str, Any]:
    """Assemble everything that the page needs to know about a trace at first.

    Parameters
    ----------
    trace : Trace
    file : str
        What the page calls the file.
    fixes : list of Fix

    Returns
    -------
    dict
        ``Info`` of ``docs/wire.md``.
    """
    columns = trace.columns
    recorded = content.switches_on(trace)
    ends = columns.end[columns.timed]
    counts = np.bincount(columns.kind, minlength=len(schema.KINDS))
    return {
        "origin_ns": str(trace.origin_ns),
        "end_ns": int(ends.max()) if ends.size else 0,
        "file": text(file),
        "bytes": trace.fingerprint.bytes if trace.fingerprint else 0,
        "events": len(trace),
        "synthetic": trace.synthetic,
        "kinds": {kind: int(counts[code]) for kind, code in schema.CODE.items() if counts[code]},
        "accounting": [account._asdict() for account in trace.accounts],
        "devices": _devices(trace),
        "steps": _steps(trace),
        "recording": [{"key": _shown(key), "value": _shown(value)} for key, value in _recording(trace).items()],
        "switches": {word.lower(): word in recorded for word in ("shapes", "memory", "stacks", "modules", "FLOPs")},
        "pages": _pages(trace),
        "notes": [],
        "health": _health(trace),
        "fixes": fixes,
    }


def _devices(trace: Trace) -> list[dict[str, Any]]:
    """Return the devices that worked, with what the file says of them; all that the process saw where none worked."""
    known = {_integer(one.get("id")): one for one in _properties(trace)}
    known.pop(None, None)
    numbers = [device.device for device in trace.devices] or sorted(number for number in known if number is not None)
    return [_device(number, known.get(number, {})) for number in numbers]


def _properties(trace: Trace) -> list[dict[str, Any]]:
    listed = trace.metadata.get("deviceProperties")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _device(number: int, properties: dict[str, Any]) -> dict[str, Any]:
    major, minor = _integer(properties.get("computeMajor")), _integer(properties.get("computeMinor"))
    name = properties.get("name")
    return {
        "device": number,
        "name": name if isinstance(name, str) and name else None,
        "memory_bytes": _integer(properties.get("totalGlobalMem")),
        "sm_count": _integer(properties.get("numSms")),
        "capability": None if major is None or minor is None else f"{major}.{minor}",
    }


def _steps(trace: Trace) -> list[dict[str, Any]]:
    steps, columns = trace.steps_table, trace.columns
    names = [columns.names[code] for code in columns.name[steps.row].tolist()]
    fields = {
        "step": steps.number.tolist(),
        "name": names,
        "start_ns": steps.start.tolist(),
        "end_ns": steps.end.tolist(),
        "host_start_ns": steps.host_start.tolist(),
        "host_end_ns": steps.host_end.tolist(),
        "incomplete": steps.incomplete.tolist(),
    }
    return [dict(zip(fields, row, strict=True)) for row in zip(*fields.values(), strict=True)]


def _recording(trace: Trace) -> dict[str, Any]:
    """Return how, where and with what the trace was recorded."""
    metadata = trace.metadata
    found = {name: metadata[key] for key, name in _KNOWN.items() if key in metadata}
    for name, decode in (("cuda_runtime", _cuda), ("cuda_driver", _cuda), ("hip_runtime", _hip), ("hip_driver", _hip)):
        if name in found:
            found[name] = decode(found[name])
    job = metadata.get("distributedInfo")
    if isinstance(job, dict):
        found |= {key: job[key] for key in ("backend", "rank", "world_size", "nccl_version") if key in job}
    if trace.origin_ns >= _CALENDAR_FROM_NS:
        found["recorded_at"] = _calendar(trace.origin_ns)
    visible = len(_properties(trace))
    if visible > 1:
        found["visible_devices"] = visible
    extra = [key for key in metadata if key not in _KNOWN and key not in _SHOWN_ELSEWHERE]
    return found | {key: _open(metadata[key], key) for key in extra[:_MOST_EXTRA]}


def _pages(trace: Trace) -> dict[str, dict[str, Any]]:
    """Tell which pages have something to show."""
    device = "".join(no_device_note(trace)[:1])
    empty = "" if trace.columns.timed.any() else "The file holds no event with a usable time."
    counted = any(category.lower() == _COUNTERS for category in trace.columns.categories)
    host = "" if np.isin(trace.columns.kind, _PROGRAM).any() else _NO_PROGRAM
    program = {"operators": host, "modules": host, "flame": host}
    reasons = {
        "overview": "",
        "timeline": empty,
        "idle": device,
        "kernels": "" if counted else device,
        **program,
        "memory": _no_memory(trace),
    }
    return {page: {"available": not reason, "reason": reason} for page, reason in reasons.items()}


def _no_memory(trace: Trace) -> str:
    """Return why there is nothing to say of memory; nothing where there is."""
    if (trace.columns.kind == schema.CODE["memory"]).any() or trace.memory.beside.exports:
        return ""
    # Snapshots beside the trace have something to say, but not here: the note names the way.
    return " ".join(["No memory events recorded: profile_memory=True.", *memory_keys.notes(trace)[1:]])


def _health(trace: Trace) -> dict[str, Any]:
    """Count the checks by what they found; the view ``health`` has them one by one."""
    found = Counter(finding.severity for finding in trace.findings)
    counts = {severity: found[severity] for severity in SEVERITIES}
    return {"worst": next((one for one in reversed(SEVERITIES) if counts[one]), "ok"), "counts": counts}


def _integer(value: Any) -> int | None:
    return (
        int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) else None
    )


def _cuda(value: Any) -> Any:
    """Return CUDA's 12090 as 12.9."""
    number = _integer(value)
    return value if number is None else f"{number // 1000}.{number % 1000 // 10}"


def _hip(value: Any) -> Any:
    """Return HIP's 60443483 as 6.4.43483."""
    number = _integer(value)
    return value if number is None else f"{number // 10**7}.{number // 10**5 % 100}.{number % 10**5}"


def _calendar(ns: int) -> str:
    whole, rest = divmod(ns, 10**9)
    try:
        seconds = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=whole)
    except OverflowError:
        return str(ns)
    return f"{seconds:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def _open(value: Any, key: str = "") -> Any:
    """Hide what a recorder took from its environment and nobody means to show with a screenshot: values whose names are those of secrets."""
    if isinstance(value, dict):
        return {name: _open(one, str(name)) for name, one in value.items()}
    if isinstance(value, list):
        return [_open(one, key) for one in value]
    return "(hidden)" if value and _SECRET.search(key) else value


def _shown(value: Any) -> str:
    """Return a value of the file as text of bearable length."""
    shown = value if isinstance(value, str) else json.dumps(_open(value), ensure_ascii=False)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + " …"
