"""Floating-point operations by shape, each by hand, and how fast they were done."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from build import TraceBuilder
from kinetoscope import schema
from kinetoscope.operators.flops import peaks_of
from tables import rows, trace_of


def of(name: str, shapes: Any, values: Any = None, **more: Any) -> float:
    """Return the counted operations of one op; NaN for unknown."""
    given = {"Input Dims": shapes, **({} if values is None else {"Concrete Inputs": values}), **more}
    (row,) = trace_of(TraceBuilder().op(0, 10, name, **given)).view("operators").to_dict("records")
    return float(row["flops"])


CONVOLUTION = [[2, 3, 32, 32], [8, 3, 3, 3], [8], [], [], [], [], [], []]
QUERY = [[2, 4, 10, 16], [2, 4, 10, 16], [2, 4, 10, 8], [], []]


@pytest.mark.parametrize(
    ("name", "shapes", "values", "flops"),
    [
        ("aten::mm", [[2, 3], [3, 5]], None, 2 * 2 * 3 * 5),
        ("aten::addmm", [[5], [2, 3], [3, 5], [], []], None, 60),
        ("aten::bmm", [[7, 2, 3], [7, 3, 5]], None, 7 * 60),
        ("aten::baddbmm", [[7, 2, 5], [7, 2, 3], [7, 3, 5]], None, 7 * 60),
        # (32 + 2·1 − 3)/2 + 1 = 16 outputs a side
        (
            "aten::convolution",
            CONVOLUTION,
            ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"],
            2 * 2 * 16 * 16 * 8 * 3 * 9,
        ),
        ("aten::cudnn_convolution", CONVOLUTION[:2], ["", "", "[1]", "[2]", "[1]", "1"], 2 * 2 * 16 * 16 * 8 * 3 * 9),
        # grouped: each of 6 outputs sees 1 of 3 inputs; dilation 2 reaches 5 wide
        (
            "aten::conv2d",
            [[1, 3, 10, 10], [6, 1, 3, 3], []],
            ["", "", "", "[1, 1]", "[0, 0]", "[2, 2]", "3"],
            2 * 1 * 6 * 6 * 6 * 1 * 9,
        ),
        # transposed: every input meets every weight of its channel
        (
            "aten::convolution",
            [[2, 3, 5, 5], [3, 4, 2, 2]],
            ["", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1"],
            2 * 2 * 3 * 25 * 4 * 4,
        ),
        (
            "aten::convolution_backward",
            [[2, 8, 16, 16], [2, 3, 32, 32], [8, 3, 3, 3]],
            ["", "", "", "[8]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, True]"],
            2 * 2 * 16 * 16 * 8 * 3 * 9,
        ),
        (
            "aten::_scaled_dot_product_flash_attention",
            QUERY,
            ["", "", "", "0.", "False"],
            2 * 8 * 100 * (16 + 8),
        ),
        ("aten::_scaled_dot_product_flash_attention", QUERY, ["", "", "", "0.", "True"], 2 * 8 * 55 * (16 + 8)),
        (
            "aten::_flash_attention_backward",
            [[], [2, 10, 4, 16], [2, 10, 4, 16], [2, 10, 4, 8], [], [], [], []],
            ["", "", "", "", "", "", "", "", "10", "10", "0.", "False"],
            2 * 8 * 100 * (3 * 16 + 2 * 8),
        ),
    ],
)
def test_formulas(name: str, shapes: Any, values: Any, flops: int) -> None:
    assert of(name, shapes, values) == flops


@pytest.mark.parametrize(
    ("name", "shapes", "values"),
    [
        ("aten::mm", [[2, 3], [4, 5]], None),
        ("aten::mm", [[2, 3]], None),
        ("aten::mm", "[[2, 3], [3, 5]]", None),
        ("aten::mm", [[2, -3], [-3, 5]], None),
        ("aten::mm", [[2.5, 3], [3, 5]], None),
        ("aten::mm", [[True, True], [True, True]], None),
        ("aten::relu", [[2, 3]], None),
        ("aten::convolution", CONVOLUTION, None),
        ("aten::convolution", CONVOLUTION, ["", "", "", "__import__('os')", "[1, 1]", "[1, 1]", "False"]),
        ("aten::convolution", CONVOLUTION, ["", "", "", "[0, 0]", "[1, 1]", "[1, 1]", "False"]),
        ("aten::conv2d", CONVOLUTION, ["", "", "", "[1, 1]", "same", "[1, 1]"]),
        ("aten::convolution_backward", [[2, 8, 16, 16], [2, 3, 32, 32], [8, 3, 3, 3]], None),
        # causal over unequal lengths
        (
            "aten::_scaled_dot_product_flash_attention",
            [[2, 4, 1, 16], [2, 4, 10, 16], [2, 4, 10, 16]],
            ["", "", "", "0.", "True"],
        ),
        # sequences of several lengths, whose sum is all that is known
        (
            "aten::_flash_attention_forward",
            [[1, 10, 4, 16], [1, 10, 4, 16], [1, 10, 4, 16], [3], [3]],
            ["", "", "", "", "", "10", "10", "0.", "False"],
        ),
        (
            "aten::_flash_attention_forward",
            [[1, 10, 4, 16], [1, 10, 4, 16], [1, 10, 4, 16], [], []],
            ["", "", "", "", "", "10", "10", "0.", "False", "False", "", "128"],
        ),
    ],
)
def test_what_is_not_known_is_not_guessed(name: str, shapes: Any, values: Any) -> None:
    assert math.isnan(of(name, shapes, values))


def test_nested_ops_count_once() -> None:
    shapes = {"Input Dims": [[2, 3], [3, 5]]}
    builder = TraceBuilder().op(0, 20, "aten::mm", **shapes).op(5, 15, "aten::mm", **shapes)
    assert rows(trace_of(builder), "operators", "flops", "flops_calls", "calls") == [(60, 1, 2)]
    # the recorder's own count stands for all that is inside
    builder = TraceBuilder().op(0, 20, "aten::matmul", flops=61).op(5, 15, "aten::mm", **shapes)
    assert rows(trace_of(builder), "operators", "name", "flops", "flops_formula") == [
        ("aten::matmul", 61, "as recorded"),
        ("aten::mm", None, None),
    ]


def timed(kernel: str, dtype: str, *, device: str = "NVIDIA A100-SXM4-40GB") -> dict[str, Any]:
    """Return the row of a product of 1000³ multiply-adds that takes 20 µs on the device."""
    properties = [{"id": 0, "name": device}]
    builder = TraceBuilder(deviceProperties=properties)
    builder.op(0, 10, "aten::mm", **{"Input Dims": [[1000, 1000], [1000, 1000]], "Input type": [dtype, dtype]})
    builder.launch(2, 3, 1).kernel(20, 40, name=kernel, correlation=1)
    (row,) = trace_of(builder).view("operators").to_dict("records")
    return row


def test_rates_and_peaks() -> None:
    row = timed("ampere_bf16_s16816gemm", "c10::BFloat16")
    assert row["flops_formula"] == "2·M·N·K"
    assert row["tflop_per_s"] == pytest.approx(2e9 / 20e-6 / 1e12)
    assert row["peak_pct"] == pytest.approx(100 * 100 / 312)
    assert timed("ampere_sgemm_128x64", "float")["peak_pct"] == pytest.approx(100 * 100 / 19.5)
    assert timed("ampere_tf32_s1688gemm", "float")["peak_pct"] == pytest.approx(100 * 100 / 156)
    # not told by the kernel's name, nor known of the device
    assert math.isnan(timed("my_kernel", "float")["peak_pct"])
    assert math.isnan(timed("ampere_bf16_s16816gemm", "c10::BFloat16", device="Brand X")["peak_pct"])
    assert timed("my_kernel", "float")["tflop_per_s"] == 100


def test_a_call_without_device_work_has_no_rate() -> None:
    (row,) = (
        trace_of(TraceBuilder().op(0, 10, "aten::mm", **{"Input Dims": [[2, 3], [3, 5]]}))
        .view("operators")
        .to_dict("records")
    )
    assert row["flops"] == 60
    assert math.isnan(row["tflop_per_s"])


def test_why_no_share_of_a_peak_is_told() -> None:
    def notes(*properties: dict[str, Any]) -> str:
        builder = TraceBuilder(deviceProperties=list(properties))
        builder.op(0, 10, "aten::mm", **{"Input Dims": [[9, 9], [9, 9]], "Input type": ["c10::Half", "c10::Half"]})
        builder.launch(2, 3, 1).kernel(20, 40, name="sm80_s16816gemm", correlation=1)
        return " ".join(trace_of(builder).view("operators").attrs["notes"])

    assert "that of Brand X is not in" in notes({"id": 0, "name": "Brand X"})
    assert "does not name the device" in notes()
    assert "peak" not in notes({"id": 0, "name": "NVIDIA A100-SXM4-40GB"})


def test_tables() -> None:
    formulas = schema.table("flops")["formulas"]
    assert {entry["rule"] for entry in schema.table("flops")["ops"].values()} | {"recorded"} == set(formulas)
    for entry in schema.table("device_peaks")["devices"]:
        assert re.compile(entry["pattern"])
        assert entry["source"].startswith("https://")
    assert peaks_of("NVIDIA H100 80GB HBM3")["bf16"] == 989.5
    assert peaks_of("NVIDIA H100 PCIe")["bf16"] == 756.5
    assert peaks_of("NVIDIA B200")["bf16"] == 2250
    assert peaks_of("NVIDIA GB200") == {}
    assert peaks_of("AMD Instinct MI300X")["fp8"] == 2614.9
    assert peaks_of("") == {}
