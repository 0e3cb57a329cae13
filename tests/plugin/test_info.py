"""What the page is told about a trace when it is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kinetoscope
from build import TraceBuilder
from kinetoscope_tb.variants import Variants


def of(trace: TraceBuilder, folder: Path) -> dict[str, Any]:
    loaded = kinetoscope.load(trace.write(folder / "worker.pt.trace.json"))
    return json.loads(Variants(loaded, "worker.pt.trace.json").answer("info", {"fix": []}).body)


def facts(told: dict[str, Any]) -> dict[str, str]:
    return {one["key"]: one["value"] for one in told["recording"]}


def test_a_whole_recording(tmp_path: Path) -> None:
    versions = {
        "cuda_runtime_version": 12090,
        "cuda_driver_version": 13000,
        "hip_runtime_version": 60443483,
        "host_name": "node",
        "mine": {"a": [1]},
    }
    trace = TraceBuilder(
        rank=3, world_size=8, with_stack=1, record_shapes=1, base_ns=1_750_000_000_000_000_000, **versions
    )
    told = of(trace.step(4, 0, 100).op(1, 9).launch(2, 3, 1).kernel(20, 120, correlation=1).step(5, 100, 150), tmp_path)
    assert told["origin_ns"] == "1750000000000000000"
    assert told["end_ns"] == 150_000
    assert told["kinds"] == {"op": 1, "annotation": 2, "api_call": 1, "kernel": 1}
    assert told["events"] == sum(told["kinds"].values())
    assert told["devices"] == [
        {
            "device": 0,
            "name": "NVIDIA A100-SXM4-40GB",
            "memory_bytes": 42_000_000_000,
            "sm_count": 108,
            "capability": "8.0",
        }
    ]
    first = {
        "step": 4,
        "name": "ProfilerStep#4",
        "start_ns": 0,
        "end_ns": 120_000,
        "host_start_ns": 0,
        "host_end_ns": 100_000,
        "incomplete": False,
    }
    assert told["steps"][0] == first
    assert told["steps"][1]["incomplete"]
    assert told["switches"] == {"shapes": True, "memory": False, "stacks": True, "modules": False, "flops": False}
    pages = told["pages"]
    assert pages.pop("memory") == {"available": False, "reason": "No memory events recorded: profile_memory=True."}
    assert all(page == {"available": True, "reason": ""} for page in pages.values())
    assert told["notes"] == []
    assert told["fixes"] == []
    assert told["health"]["worst"] == "warning"
    assert told["health"]["counts"]["warning"] == 1, "step 5 launched nothing"
    found = facts(told)
    assert (found["cuda_runtime"], found["cuda_driver"], found["hip_runtime"]) == ("12.9", "13.0", "6.4.43483")
    assert [found[key] for key in ("host", "rank", "world_size", "backend")] == ["node", "3", "8", "nccl"]
    assert found["mine"] == '{"a": [1]}'
    assert found["recorded_at"] == "2025-06-15T15:06:40.000000000Z"


def test_without_device_work_the_device_pages_say_why(tmp_path: Path) -> None:
    told = of(TraceBuilder(devices=2).op(0, 10), tmp_path)
    assert {page: one["available"] for page, one in told["pages"].items()} == {
        "overview": True,
        "timeline": True,
        "idle": False,
        "kernels": False,
        "operators": True,
        "modules": True,
        "flame": True,
        "memory": False,
    }
    assert "only the host was recorded" in told["pages"]["idle"]["reason"]
    assert told["notes"] == [], "health says it"
    assert (told["health"]["worst"], told["health"]["counts"]["error"]) == ("info", 0)
    assert [one["device"] for one in told["devices"]] == [0, 1], "what the process could have used"


def test_memory_has_a_page_where_events_or_an_export_tell_of_it(tmp_path: Path) -> None:
    assert of(TraceBuilder().op(0, 10).memory(5, 64), tmp_path)["pages"]["memory"] == {"available": True, "reason": ""}
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "snapshot.pickle").write_bytes(b"\x80\x04N.")
    reason = of(TraceBuilder().op(0, 10), beside)["pages"]["memory"]["reason"]
    assert reason.startswith("No memory events recorded: profile_memory=True. snapshot.pickle beside the trace")
    assert "tools/snapshot_to_trace.py" in reason
    (beside / "memory.json").write_text(json.dumps([[1, 2], [[0] * 8, [1] * 8]]))
    assert of(TraceBuilder().op(0, 10), beside)["pages"]["memory"]["available"]


def test_a_device_that_the_file_does_not_describe(tmp_path: Path) -> None:
    told = of(TraceBuilder(devices=0).kernel(0, 10, device=5), tmp_path)
    assert told["devices"] == [{"device": 5, "name": None, "memory_bytes": None, "sm_count": None, "capability": None}]


def test_a_file_without_events(tmp_path: Path) -> None:
    told = of(TraceBuilder(), tmp_path)
    assert (told["events"], told["end_ns"], told["steps"], told["kinds"]) == (0, 0, [], {})
    assert not told["pages"]["timeline"]["available"]
    assert list(told["health"]["counts"]) == ["ok", "info", "warning", "error"]


def test_a_made_trace_says_so(tmp_path: Path) -> None:
    assert of(TraceBuilder(kinetoscope_synthetic="made by hand").op(0, 1), tmp_path)["synthetic"] == "made by hand"


def test_entries_that_are_no_events_are_noted(tmp_path: Path) -> None:
    told = of(TraceBuilder().op(0, 1).raw(17).raw("text"), tmp_path)
    assert told["health"]["worst"] == "error", "two of three entries are none"


def test_nested_step_markers_are_a_matter_of_health(tmp_path: Path) -> None:
    told = of(TraceBuilder().step(0, 0, 100).step(1, 10, 20).op(5, 6), tmp_path)
    assert told["notes"] == []
    assert told["health"]["counts"]["info"] >= 1


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        "text",
        [],
        {},
        [1, "x", {"id": "zero"}, {"id": None, "name": 3}],
        {"rank": {"a": 1}},
        1e300,
        "x" * 100_000,
    ],
)
def test_odd_metadata_hurts_nobody(tmp_path: Path, odd: Any) -> None:
    keys = (
        "deviceProperties",
        "distributedInfo",
        "with_stack",
        "cuda_runtime_version",
        "hip_driver_version",
        "host_name",
        "trace_id",
        "own",
    )
    trace = TraceBuilder().op(0, 1)
    trace.top = dict.fromkeys(keys, odd)
    told = of(trace, tmp_path)
    assert all(len(value) < 600 for value in facts(told).values())


def test_pages_of_the_program_need_a_host(tmp_path: Path) -> None:
    told = of(TraceBuilder().kernel(0, 10), tmp_path)["pages"]
    for page in ("operators", "modules", "flame"):
        assert not told[page]["available"]
        assert "ProfilerActivity.CPU" in told[page]["reason"]
    told = of(TraceBuilder().op(0, 10), tmp_path)["pages"]
    assert all(told[page]["available"] for page in ("operators", "modules", "flame"))


def test_kernels_have_a_page_where_only_counters_were_recorded(tmp_path: Path) -> None:
    counted = {"ph": "X", "cat": "cuda_profiler_range", "name": "gemm", "pid": 0, "tid": 0, "ts": 1, "dur": 5}
    assert not of(TraceBuilder().op(0, 10), tmp_path)["pages"]["kernels"]["available"]
    assert of(TraceBuilder().op(0, 10).raw({**counted, "args": {"m": 1}}), tmp_path)["pages"]["kernels"]["available"]


def test_secrets_of_the_recorder_are_not_shown(tmp_path: Path) -> None:
    about = {"env": {"HF_TOKEN": "abc123", "TOKENIZERS": "4", "list": [{"api_key": "abc123"}]}, "DB_PASSWORD": "abc123"}
    told = facts(of(TraceBuilder(**about).op(1, 9), tmp_path))
    assert "abc123" not in json.dumps(told)
    assert told["DB_PASSWORD"] == "(hidden)"
    assert json.loads(told["env"])["TOKENIZERS"] == "4"
