"""The contract: samples and live answers have the shapes of ``docs/wire.md``, and the samples are those of now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from wire import make, shapes
from wire.serving import Served
from wire.tile import unpack

SHAPES: dict[str, type[shapes.Shape]] = {
    "runs": shapes.Runs,
    "session": shapes.Session,
    "info": shapes.Info,
    "view": shapes.Table,
    "lanes": shapes.Lanes,
    "names": shapes.Names,
    "tile": shapes.Tile,
    "longest": shapes.Longest,
    "event": shapes.Event,
    "neighbor": shapes.Neighbor,
    "search": shapes.Search,
    "area": shapes.Area,
    "path": shapes.Path,
    "minimap": shapes.Minimap,
    "error": shapes.Error,
}
SAMPLES = sorted(path.stem for path in make.FOLDER.glob("*.json"))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("log")
    make.write_traces(folder)
    served = Served(folder)
    found = make.collect(served)
    found["tile.bin"] = found["tile"]
    found["tile"] = unpack(found["tile"])
    yield make.steady(found, str(folder))
    served.close()


def outline(value: Any) -> Any:
    """Return keys and types of an answer; of lists, all that occurs in them."""
    if isinstance(value, dict):
        return {key: outline(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted({json.dumps(outline(one), sort_keys=True) for one in value})
    return type(value).__name__


def test_there_are_samples_of_everything() -> None:
    assert {name.split(".")[0] for name in SAMPLES} == set(SHAPES)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_has_the_shape_of_the_contract(name: str) -> None:
    text = (make.FOLDER / f"{name}.json").read_bytes()
    msgspec.json.decode(text, type=SHAPES[name.split(".", maxsplit=1)[0]])


@pytest.mark.parametrize("name", SAMPLES)
def test_the_live_answer_has_it_too(name: str, live: dict[str, Any]) -> None:
    msgspec.convert(live[name], type=SHAPES[name.split(".", maxsplit=1)[0]])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_what_is_answered_now(name: str, live: dict[str, Any]) -> None:
    sample = json.loads((make.FOLDER / f"{name}.json").read_bytes())
    assert outline(sample) == outline(live[name]), "run: python tests/wire/make.py"


def test_the_tile_sample_is_what_its_columns_say() -> None:
    assert unpack((make.FOLDER / "tile.bin").read_bytes()) == json.loads((make.FOLDER / "tile.json").read_bytes())


def test_every_column_of_a_table_is_described_and_as_long_as_the_others() -> None:
    for path in make.FOLDER.glob("view.*.json"):
        table = json.loads(path.read_bytes())
        assert [column["name"] for column in table["columns"]] == list(table["data"]), path.name
        assert {len(column) for column in table["data"].values()} == {table["rows"]}, path.name


COLUMNS = {
    "health": "check severity count share_pct detail hint",
    "health_events": "check id name kind start_us duration_us step",
    "overview": "metric value unit definition",
    "steps": "step start_us host_us period_us tail_us incomplete compute_us communication_us memcpy_us memset_us api_us data_loader_us op_us python_us unrecorded_us",
    "devices": "device window_us busy_us idle_us utilization_pct compute_us exposed_communication_us exposed_copy_us summed_us span_us communication_us concurrency gaps sm_efficiency_pct occupancy_pct occupancy_unknown tensor_cores_pct name capability memory_bytes sm_count",
    "gaps": "device start_us duration_us ended_by next_name launch_name launch_delay_us previous_name step next_id launch_id previous_id gap cause cause_us op module source event_name event_id event_us",
    "advice": "rule status gain_us gain_pct title claim fix link figures evidence_view evidence_parameters",
    "idle": "device cause count total_us longest_us share_pct longest_gap longest_start_us",
    "idle.source": "device source count total_us longest_us share_pct longest_gap longest_start_us",
    "idle_tree": "device cause module op source count total_us longest_us share_pct longest_gap longest_start_us",
    "idle_segments": "gap device start_us duration_us cause op module source annotation step thread event_name event_id op_id",
    "launches": "id name start_us duration_us delay_us works device_us short_kernels graph work_name work_id op module source annotation step thread",
    "launches.op": "op calls host_us works device_us short_kernels",
    "launch_summary": "device launches works median_delay_us negative_delays kernels short_kernels short_kernels_pct graph_launches graph_works mean_queue_depth max_queue_depth launch_bound_us launch_bound_pct",
    "syncs": "id name start_us duration_us busy_us idle_us reason path waited_for waited_for_id op module source annotation step thread",
    "syncs.reason": "reason calls total_us busy_us idle_us longest_us longest_id",
    "api_calls": "id name kind start_us duration_us works op module source step thread",
    "api_calls.name": "name kind calls total_us mean_us max_us",
    "input_pipeline": "step period_us batches loader_us loader_pct loader_idle_us waited_us copies copied_bytes copy_us gb_per_s pageable_bytes copy_hidden_us",
    "copies": "device direction memory copies bytes total_us gb_per_s hidden_us exposed_us",
    "critical_path": "kind side count total_us longest_us longest_id share_pct gain_us",
    "critical_path.name": "kind side name count total_us longest_us longest_id share_pct gain_us",
    "critical_path_stretches": "step start_us duration_us kind side name event_id device stream",
    "kernel_calls": "id name category op device stream step start_us duration_us launch_delay_us",
    "kernels.name": "name calls total_us mean_us min_us max_us share_pct",
    "kernels.op": "op calls total_us mean_us min_us max_us share_pct",
    "kernels.name-op": "name op calls total_us mean_us min_us max_us share_pct",
    "kernels.config": "name grid block registers shared_memory calls total_us mean_us min_us max_us share_pct",
    "kernels.stream": "device stream calls total_us mean_us min_us max_us share_pct",
    "kernels.step": "step calls total_us mean_us min_us max_us share_pct",
    "kernels.category": "category calls total_us mean_us min_us max_us share_pct",
    "kernels.module": "module calls total_us mean_us min_us max_us share_pct blocks_per_sm occupancy_pct occupancy_unknown longest_id",
    "kernels.family": "family calls total_us mean_us min_us max_us share_pct blocks_per_sm occupancy_pct occupancy_unknown category tensor_cores kernel_backend kernel_file kernel_arguments longest_id",
    "memory": "device peak_allocated_bytes peak_us peak_reserved_bytes unused_reserved_bytes capacity_bytes peak_pct start_allocated_bytes end_allocated_bytes allocations frees open_blocks open_bytes steps growth_bytes_per_step unmatched_frees jumps recorded_totals",
    "phase_ranges": "phase start_us end_us step",
    "memory_timeline": "device time_us allocated_bytes reserved_bytes",
    "memory_timeline.category": "device time_us allocated_bytes reserved_bytes optimizer_state_bytes input_bytes temporary_bytes activation_bytes gradient_bytes unknown_bytes",
    "memory_peak": "device at_us op bytes share_pct blocks largest_bytes",
    "memory_peak.category": "device at_us category bytes share_pct blocks largest_bytes",
    "memory_by_op": "device op allocated_bytes allocations freed_bytes frees net_bytes calls left_bytes",
    "memory_by_op.step": "device step allocated_bytes allocations freed_bytes frees net_bytes calls left_bytes",
    "memory_steps": "device step live_bytes growth_bytes peak_bytes peak_us allocated_bytes freed_bytes churn_bytes churn_blocks left_bytes left_blocks",
    "memory_growth": "device op growth_bytes_per_step growth_bytes growth_blocks steps_grown steps",
    "memory_churn": "device op bytes_per_step blocks_per_step steps_with largest_bytes mean_lifetime_us",
    "allocations": "id device address bytes from_us to_us lifetime_us state step op caller module source annotation phase category op_id",
    "operators": "name owned calls host_total_us host_self_us launch_us host_self_no_api_us device_total_us device_self_us device_self_pct host_self_pct tensor_cores_eligible tensor_cores_pct tensor_cores_unknown_us flops flops_formula flops_calls tflop_per_s peak_pct copied_gb_per_s longest_id",
    "operators.shapes": "name shapes owned calls",
    "operators.phase": "phase owned calls host_total_us host_self_us launch_us host_self_no_api_us device_total_us device_self_us device_self_pct host_self_pct tensor_cores_pct",
    "operator_calls": "id name start_us duration_us device_self_us device_total_us step thread",
    "modules": "id parent depth name class sort path calls host_total_us host_self_us device_total_us device_self_us forward_us backward_us forward_total_us backward_total_us peak_memory_bytes memory_device device_total_pct",
    "modules.class": "class calls host_total_us host_self_us device_total_us device_self_us",
    "stacks": "id parent node depth name file line nodes longest_id host_self_us host_total_us device_self_us device_total_us idle_self_us idle_total_us allocated_self_bytes allocated_total_bytes share_pct",
    "threads": "thread process tid events open_us",
    "counters": "id name device start_us duration_us metric value",
    "counters.metric": "metric ranges total mean",
}


@pytest.mark.parametrize("name", COLUMNS)
def test_tables_hold_the_columns_of_the_contract(name: str, live: dict[str, Any]) -> None:
    found = [column["name"] for column in live[f"view.{name}"]["columns"]]
    assert found[: len(COLUMNS[name].split())] == COLUMNS[name].split()


def test_a_fix_is_told_and_applied_only_when_asked_for(live: dict[str, Any]) -> None:
    assert live["session"]["info"]["fixes"] == [{"fix": "clock", "events": 1, "applied": False}]
    assert live["info"]["fixes"] == [{"fix": "clock", "events": 1, "applied": True}]
    assert live["session"]["info"]["health"]["worst"] == "error"


def test_every_state_of_a_session_has_the_shape(
    serve: Callable[..., Served], stuck: Callable[..., Served], tmp_path: Path
) -> None:
    served = stuck()
    trace = served.traces()[0]
    seen = [served.json("session", trace=trace), served.session(trace, "loading")]
    served.post("cancel", trace)
    seen.append(served.session(trace))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "x.pt.trace.json").write_text("nothing")
    other = serve(tmp_path / "bad")
    seen.append(other.session(other.traces()[0]))
    assert [msgspec.convert(one, shapes.Session).state for one in seen][-2:] == ["cancelled", "failed"]


def test_a_failed_search_has_the_shape(serve: Callable[..., Served], tmp_path: Path) -> None:
    runs = msgspec.convert(serve(tmp_path / "none").runs(), shapes.Runs)
    assert runs.error is not None
