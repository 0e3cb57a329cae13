"""Advice: for every rule one trace in which it applies, and one in which it just does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import corpus
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope import schema
from kinetoscope.views import registry
from kinetoscope.views.advice import _written
from tables import trace_of

Make = Callable[[float], TraceBuilder]


def found(builder: TraceBuilder, rule: str) -> dict[str, Any]:
    """Return the row of a rule."""
    return trace_of(builder).view("advice").set_index("rule").loc[rule].to_dict()


def steps(count: int, length: float = 1000) -> TraceBuilder:
    """Return steps of equal length, one behind the other."""
    builder = TraceBuilder()
    for number in range(count):
        builder.step(number, number * length, (number + 1) * length)
    return builder


def busy(builder: TraceBuilder, start: float, end: float, number: int, **more: Any) -> TraceBuilder:
    """Add a kernel and its launch, queued long before."""
    return builder.launch(start, start + 1, number).kernel(start, end, correlation=number, **more)


def input_bound(idle: float, iterator: str = "_MultiProcessingDataLoaderIter") -> TraceBuilder:
    """The loader keeps the device waiting for some µs of 1000."""
    builder = busy(steps(1), 0, 1000 - idle, 1)
    return builder.annotation(1000 - idle, 1000, f"enumerate(DataLoader)#{iterator}.__next__")


def host_code(idle: float) -> TraceBuilder:
    """A line of Python keeps the device waiting for some µs of 1000."""
    builder = busy(steps(1), 0, 1000 - idle, 1)
    return builder.python(1000 - idle, 1000, "train.py(7): preprocess")


def sync_per_step(idle: float) -> TraceBuilder:
    """The queue runs empty within an ``.item()``; the next launch comes some µs later."""
    builder = busy(steps(1), 0, 500, 1)
    builder.op(400, 505, "aten::item").launch(401, 504, name="cudaStreamSynchronize")
    return busy(builder, 500 + idle, 1000, 2)


def short_kernels(idle: float) -> TraceBuilder:
    """Two short kernels, with host work of some µs between them; a third lasts."""
    builder = steps(1)
    builder.launch(0, 10, 1).kernel(10, 15, correlation=1).op(15, 15 + idle, "aten::host")
    builder.launch(15 + idle, 25 + idle, 2).kernel(25 + idle, 30 + idle, correlation=2)
    return builder.launch(26 + idle, 27 + idle, 3).kernel(30 + idle, 1000, correlation=3)


def tensor_cores(share: float) -> TraceBuilder:
    """Matrix products of which some percent of the time is in kernels without matrix units."""
    builder = steps(1).op(0, 100, "aten::mm").launch(1, 2, 1).launch(3, 4, 2)
    builder.kernel(10, 10 + share, name="volta_sgemm_128x64_nn", correlation=1)
    return builder.kernel(10 + share, 110, name="ampere_fp16_s16816gemm_fp16_128x128", correlation=2)


def pageable_copies(time: float) -> TraceBuilder:
    """A copy from pageable memory of some µs in 1000."""
    builder = steps(1).launch(0, 1, 1, name="cudaMemcpyAsync")
    return builder.memcpy(1, 1 + time, name="Memcpy HtoD (Pageable -> Device)", correlation=1, bytes=1000)


def allocations(calls: float) -> TraceBuilder:
    """Some calls of the allocator in the second of two steps, and many in the first."""
    builder = busy(busy(steps(2), 0, 900, 1), 1000, 1900, 2)
    for call in range(20):
        builder.launch(10 + call, 11 + call, name="cudaMalloc")
    for call in range(int(calls)):
        builder.launch(1010 + call, 1011 + call, name="cudaFree")
    return builder


def exposed_communication(time: float) -> TraceBuilder:
    """A collective of some µs in 1000 that nothing hides."""
    return busy(busy(steps(1), 0, 500, 1), 500, 500 + time, 2, name="ncclDevKernel_AllReduce")


def stacks(idle: float) -> TraceBuilder:
    """As many Python frames as ops; the device waits for the host's work for some µs of 1000."""
    builder = busy(steps(1), 0, 1000 - idle, 1)
    return builder.python(1, 5).op(1000 - idle, 1000, "aten::host")


def first_step(ratio: float) -> TraceBuilder:
    """Three steps of which the first is some times as long as the others."""
    builder = TraceBuilder().step(0, 0, 1000 * ratio)
    return builder.step(1, 1000 * ratio, 1000 * ratio + 1000).step(2, 1000 * ratio + 1000, 1000 * ratio + 2000)


def small_batch(unfilled: float) -> TraceBuilder:
    """A kernel that leaves some percent of the device without blocks."""
    return busy(steps(1), 0, 1000, 1, args={"blocks per SM": (100 - unfilled) / 100})


def conversions(time: float) -> TraceBuilder:
    """Kernels of 100 µs of which some convert."""
    builder = steps(1).op(0, 50, "aten::to").op(1, 49, "aten::_to_copy").op(2, 48, "aten::copy_").launch(3, 4, 1)
    builder.kernel(100, 100 + time, name="bfloat16_copy_kernel_cuda", correlation=1)
    return busy(builder, 200, 300 - time, 2)


def recompilation(idle: float) -> TraceBuilder:
    """Compiling keeps the device waiting for some µs of the second of two steps, and for long in the first."""
    builder = busy(steps(2), 500, 2000 - idle, 1).annotation(0, 400, "compile_inner")
    return builder.annotation(2000 - idle, 2000, "compile_inner")


def memory_growth(bytes_more: float) -> TraceBuilder:
    """Three steps that each leave some bytes allocated; the first leaves much more."""
    builder, total = steps(3), 0
    for number, more in enumerate((10_000_000, 200_000, int(bytes_more))):
        total += more
        builder.op(number * 1000 + 1, number * 1000 + 9, "aten::cat")
        builder.memory(number * 1000 + 5, more, allocated=total, reserved=total, addr=4096 * (number + 1))
    return builder


def memory_full(percent: float) -> TraceBuilder:
    """A device of 42 GB that is in use to some percent."""
    builder = steps(1).op(0, 10, "aten::empty")
    return builder.memory(5, 1000, allocated=1000, reserved=int(420_000_000 * percent), addr=4096)


def memory_fragmentation(megabytes: float) -> TraceBuilder:
    """2.5 GB are reserved, of which some were never allocated."""
    builder = steps(1).op(0, 10, "aten::empty")
    allocated = 2_500_000_000 - int(megabytes * 1e6)
    return builder.memory(5, allocated, allocated=allocated, reserved=2_500_000_000, addr=4096)


def memory_retries(again: float) -> TraceBuilder:
    """An allocation gives memory back first; whether it then asks again."""
    builder = steps(1).op(0, 100, "aten::empty")
    builder.launch(1, 5, name="cudaMalloc").launch(6, 9, name="cudaFree").launch(10, 12, name="cudaFree")
    # what another op asks for is no retry, and neither is what it asks for once
    builder.op(200, 300, "aten::mm").launch(210, 211, name="cudaMalloc")
    builder.op(400, 500, "aten::mm").launch(410, 411, name="cudaFree").launch(420, 421, name="cudaMalloc")
    return builder.launch(13, 20, name="cudaMalloc") if again else builder


def host_memory_churn(megabytes: float) -> TraceBuilder:
    """A block of some MB and one below 1 MiB come and go in the second of two steps, and a large one in the first."""
    builder, size = steps(2), int(megabytes * 1e6)
    builder.op(0, 1900, "aten::stack")
    for at, taken in ((1, 900_000_000), (1001, size), (1101, 1_048_575)):
        builder.memory(at, taken, device_type=0, device=-1, allocated=taken, reserved=0, addr=4096)
        builder.memory(at + 50, -taken, device_type=0, device=-1, allocated=0, reserved=0, addr=4096)
    return builder


#: rule: how to make a trace, where it applies, where it just does not, and the gain where it applies (µs a step).
CASES: dict[str, tuple[Make, float, float, float | None]] = {
    "input_bound": (input_bound, 50, 49, 50),
    "loader_workers": (lambda idle: input_bound(idle, "_SingleProcessDataLoaderIter"), 10, 9, 10),
    "host_code": (host_code, 100, 99, 100),
    "sync_per_step": (sync_per_step, 10, 9, 10),
    # of the idle time, 10 µs are of the second launch call
    "short_kernels": (short_kernels, 90, 89, 100),
    "tensor_cores": (tensor_cores, 30, 29, 30),
    "pageable_copies": (pageable_copies, 5, 4, 5),
    "allocations": (allocations, 1, 0, 1),
    "exposed_communication": (exposed_communication, 50, 49, 50),
    "stacks": (stacks, 100, 99, None),
    "first_step": (first_step, 1.5, 1.499, None),
    "small_batch": (small_batch, 50, 49, 500),
    "conversions": (conversions, 3, 2.999, 3),
    # 20 µs of a window of 2000 in one step after the first
    "recompilation": (recompilation, 20, 19, 20),
    "memory_growth": (memory_growth, 100_000, 99_999, None),
    "memory_full": (memory_full, 90, 89, None),
    # 20 % of what is reserved
    "memory_fragmentation": (memory_fragmentation, 500, 499, None),
    "memory_retries": (memory_retries, 1, 0, None),
    "host_memory_churn": (host_memory_churn, 50, 49.9, None),
}


def test_every_rule_has_its_traces() -> None:
    assert set(CASES) == {rule["rule"] for rule in schema.table("advice")["rules"]}


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_applies_from_its_threshold_on(rule: str) -> None:
    make, reached, below, gain = CASES[rule]
    hit = found(make(reached), rule)
    assert hit["status"] == "found", hit["claim"]
    assert "{" not in hit["claim"]
    assert hit["fix"]
    assert hit["link"].startswith("https://pytorch.org/")
    if gain is None:
        assert hit["gain_us"] != hit["gain_us"]
    else:
        assert hit["gain_us"] == pytest.approx(gain, abs=0.002)
    miss = found(make(below), rule)
    assert miss["status"] == "fine", miss["claim"]
    assert "{" not in miss["claim"]


@pytest.mark.parametrize("rule", CASES)
def test_evidence_is_a_view_that_answers(rule: str) -> None:
    make, reached, _, _ = CASES[rule]
    hit = found(make(reached), rule)
    parameters = json.loads(hit["evidence_parameters"])
    frame = registry.get(hit["evidence_view"]).run(trace_of(make(reached)), **parameters)
    assert len(frame)


def test_what_cannot_be_told_is_not_fine() -> None:
    frame = trace_of(TraceBuilder().op(0, 10)).view("advice").set_index("rule")
    assert frame.loc["input_bound", "status"] == "unknown"
    assert frame.loc["input_bound", "claim"] == "no device work was recorded"
    assert frame.loc["sync_per_step", "claim"] == "no API calls were recorded"


def test_the_profilers_own_synchronizations_are_no_fault() -> None:
    builder = busy(TraceBuilder(), 10, 500, 1).launch(0, 9, name="cudaDeviceSynchronize")
    builder.launch(400, 501, name="cudaDeviceSynchronize")
    assert found(builder.op(501, 600), "sync_per_step")["status"] == "fine"


def test_found_first_largest_gain_first() -> None:
    frame = trace_of(input_bound(500)).view("advice")
    order = ["found", "fine", "unknown"]
    assert frame["status"].map(order.index).is_monotonic_increasing
    gains = frame.loc[frame["status"] == "found", "gain_us"].fillna(0)
    assert gains.is_monotonic_decreasing


@corpus.parametrize(largest_mb=50.0)
def test_gains_are_no_more_than_the_window(known: corpus.Known) -> None:
    trace = ks.load(known.path)
    frame = trace.view("advice")
    assert (frame["gain_pct"].dropna() <= 100.000_001).all()
    assert (frame["gain_pct"].dropna() >= 0).all()


@pytest.mark.parametrize(("name", "loading"), [("v100_resnet50_workers0", True), ("v100_resnet50_workers4", False)])
def test_the_loader_without_workers_is_found(name: str, loading: bool) -> None:
    frame = ks.load(corpus.trace_path(name)).view("advice").set_index("rule")
    assert (frame.loc["input_bound", "status"] == "found") == loading
    assert (frame.loc["loader_workers", "status"] == "found") == loading


def test_figures_are_written_in_their_units() -> None:
    figures: dict[str, float | str] = {
        "calls": 1,
        "used_bytes": 1536 * 1024**2,
        "few_bytes": 900,
        "share_pct": 12.34,
        "wait_us": 1500,
    }
    text = "{calls:call|calls} {used_bytes} {few_bytes} {share_pct} {wait_us}"
    assert _written(text, figures) == "1 call 1.5 GiB 900 bytes 12.3 % 1.50 ms"
    assert _written("{calls:call|calls}", {"calls": 2}) == "2 calls"
