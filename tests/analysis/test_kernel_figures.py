"""What the kernel, device and counter tables say of how kernels were launched, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
import kinetoscope as ks
import random_traces
from build import TraceBuilder
from tables import rows, trace_of

OCCUPANCY = "est. achieved occupancy %"


def launched() -> TraceBuilder:
    """Return one kernel of 50 %, one of which 0 was recorded because of its shared memory, and one of 20 % three times as long."""
    builder = TraceBuilder().kernel(0, 10, name="a", args={OCCUPANCY: 0, "shared memory": 160_000, "blocks per SM": 3})
    builder.kernel(10, 20, name="a", args={OCCUPANCY: 50, "shared memory": 0, "blocks per SM": 1})
    return builder.kernel(20, 50, name="b", args={OCCUPANCY: 20, "shared memory": 0, "blocks per SM": "inf"})


def test_occupancy_by_kernel() -> None:
    columns = ("occupancy_pct", "occupancy_unknown", "blocks_per_sm")
    assert rows(trace_of(launched()), "kernels", "name", *columns) == [("b", 20, 0, None), ("a", 50, 1, 2)]
    assert rows(trace_of(launched()), "kernels", *columns, by="stream") == [((50 + 3 * 20) / 4, 1, 2)]
    assert rows(trace_of(launched()), "kernel_calls", "occupancy_pct") == [(None,), (50,), (20,)]


def test_what_is_no_percentage_is_unknown() -> None:
    builder = TraceBuilder().kernel(0, 10, args={OCCUPANCY: 500}).kernel(10, 20, args={OCCUPANCY: -50})
    assert rows(trace_of(builder), "kernels", "occupancy_pct", "occupancy_unknown") == [(None, 2)]


def test_a_zero_that_is_a_zero() -> None:
    builder = TraceBuilder().kernel(0, 10, args={OCCUPANCY: 0, "shared memory": 49_152})
    assert rows(trace_of(builder), "kernels", "occupancy_pct", "occupancy_unknown") == [(0, 0)]


def test_devices_say_what_they_are() -> None:
    builder = launched().kernel(50, 60, name="sm80_s16816gemm").kernel(60, 90, name="ampere_sgemm_32x32")
    (row,) = trace_of(builder).view("devices").to_dict("records")
    assert (row["name"], row["capability"], row["memory_bytes"]) == ("NVIDIA A100-SXM4-40GB", "8.0", 42_000_000_000)
    assert (row["sm_count"], row["occupancy_unknown"], row["tensor_cores_pct"]) == (108, 1, 25)
    # ROCm counts processors among the devices of its events
    described = [{"id": number, "name": "AMD Instinct MI300X", "numSms": 304} for number in range(2)]
    agent = TraceBuilder(deviceProperties=described).kernel(0, 1, args={"device": 2})
    assert rows(trace_of(agent), "devices", "device", "name", "sm_count") == [(2, "AMD Instinct MI300X", 304)]
    described[1]["numSms"] = 100
    assert rows(trace_of(agent), "devices", "device", "name") == [(2, None)]
    odd = TraceBuilder(deviceProperties=[{"id": 0, "name": 7, "totalGlobalMem": "much", "numSms": -3}]).kernel(0, 1)
    assert rows(trace_of(odd), "devices", "name", "memory_bytes", "sm_count") == [("7", None, None)]


def test_matrix_units_by_kernel_name() -> None:
    builder = TraceBuilder().kernel(0, 3, name="sm80_s16816gemm").kernel(3, 5, name="sgemm").kernel(5, 6, name="mine")
    found = rows(trace_of(builder), "kernels", "name", "tensor_cores")
    assert found == [("sm80_s16816gemm", "yes"), ("sgemm", "no"), ("mine", "unknown")]


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("SubTensorOpWithScalar1d", "unknown"),
        ("cutlass_tensorop_s1688fprop", "yes"),
        ("igemm_fwd_gtcx3_nhwc_bf16", "yes"),
        ("kernel_grouped_conv_fwd_xdl_cshuffle", "yes"),
        ("gridwise_convolution_xdlops", "yes"),
        ("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_sm100f", "yes"),
        ("fmhaSm100aKernel_QkvE4m3", "yes"),
        ("volta_scudnn_128x64_relu", "no"),
    ],
)
def test_matrix_units_of_other_makers(name: str, used: str) -> None:
    assert rows(trace_of(TraceBuilder().kernel(0, 1, name=name)), "kernels", "tensor_cores") == [(used,)]


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("attn_fwd", "attention"),
        ("void cudnn::bn_fw_tr_1C11_kernel_NCHW", "normalization"),
        ("void at::native::reduce_kernel<512, 1>", "reduction"),
        ("triton_poi_fused_add_0", "compiled (Triton)"),
        ("triton_red_fused_mean_0", "compiled (Triton)"),
        ("volta_scudnn_128x128_stridedB_splitK_small_nn_v1", "convolution"),
        ("cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", "convolution"),
        ("kernel_batched_gemm_xdlops_bwd_weight", "convolution"),
        ("void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16>", "convolution"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16>", "matrix multiply"),
        ("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_sm100f", "matrix multiply"),
        ("void cudnn::ops::nchwToNhwcKernel<float>", "copy and layout"),
        ("void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>", "copy and layout"),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, NormTwoOps<float>>>", "reduction"),
        # template arguments name types of other libraries
        ("void moe::dev::finalize::finalizeKernelVecLoad<cutlass::bfloat16_t>", "mixture of experts"),
        ("void moe::dev::routing::routingIndicesOffsetsKernel<routingRenormalize::KernelParams>", "mixture of experts"),
        ("void kernels::quantize_with_block_size<fmha::Type>", "quantization"),
        ("void split_embedding_backward_kernel<at::cuda::cublas>", "embedding and indexing"),
        ("add_rmsnorm_quant_kernel", "normalization"),
        ("SubTensorOpWithCastTensor1d", "elementwise"),
        ("void at::native::distribution_elementwise_grid_stride_kernel<float, 4, normal_kernel>", "random numbers"),
        ("what_is_this", "other"),
    ],
)
def test_categories(name: str, category: str) -> None:
    assert rows(trace_of(TraceBuilder().kernel(0, 1, name=name)), "kernels", "category", by="category") == [(category,)]


def test_hardware_counters(tmp_path: Path) -> None:
    builder = TraceBuilder()
    for start, name, args in ((0, "k1", {"insts": 5, "cycles": 2.5}), (20, "k2", {"insts": 7, "odd": "x"})):
        builder.complete("cuda_profiler_range", name, (start, start + 10), (0, 0), args)
    trace = ks.load(builder.write(tmp_path / "trace.json"))
    assert rows(trace, "counters", "name", "device", "metric", "value") == [
        ("k1", 0, "insts", 5),
        ("k1", 0, "cycles", 2.5),
        ("k2", 0, "insts", 7),
    ]
    assert rows(trace, "counters", "metric", "ranges", "total", "mean", by="metric") == [
        ("insts", 2, 12, 6),
        ("cycles", 1, 2.5, 2.5),
    ]
    assert rows(trace, "counters", "value", name="k2", metric="insts") == [(7,)]
    assert trace_of(TraceBuilder()).view("counters").attrs["notes"] == ["No hardware counters were recorded."]


def test_recorded_counters() -> None:
    frame = ks.load(corpus.trace_path("a100_cupti_counters")).view("counters")
    assert len(frame) == 77 * 9
    assert frame["metric"].nunique() == 9


def test_kernels_and_calls_say_their_category() -> None:
    builder = TraceBuilder().kernel(0, 10, name="ampere_sgemm_128x64").kernel(20, 25, name="reduce_kernel")
    trace = trace_of(builder)
    for view in ("kernels", "kernel_calls"):
        assert rows(trace, view, "name", "category") == [
            ("ampere_sgemm_128x64", "matrix multiply"),
            ("reduce_kernel", "reduction"),
        ]
    assert rows(trace, "kernel_calls", "name", category="matrix multiply") == [("ampere_sgemm_128x64",)]
    assert rows(trace, "kernels", "category", by="family") == [("matrix multiply",), ("reduction",)]


@given(random_traces.traces(), st.integers(0, 100))
def test_running_within_cuts_kernels(builder: TraceBuilder, cut: int) -> None:
    trace = trace_of(builder)
    whole = trace.view("kernels")["total_us"].sum()
    parts = [
        trace.view("kernels", within="run", **part)["total_us"].sum() for part in ({"end_us": cut}, {"start_us": cut})
    ]
    assert math.isclose(sum(parts), whole, abs_tol=1e-6)
    for by in ("module", "family", "category"):
        assert math.isclose(trace.view("kernels", by=by)["total_us"].sum(), whole, abs_tol=1e-6)
