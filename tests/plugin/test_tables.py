"""Frames as the wire has them: plain values, column by column."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from kinetoscope_tb.encoding import encode
from kinetoscope_tb.tables import values


@pytest.mark.parametrize(
    ("column", "name", "expected"),
    [
        (pd.Series([1, 2]), "calls", [1, 2]),
        (pd.Series([], dtype="int64"), "calls", []),
        (pd.Series([0.1 + 0.2, np.nan]), "mean_us", [0.3, None]),
        (pd.Series([1 / 3, np.inf]), "share_pct", [1 / 3, None]),
        (pd.Series([1, None], dtype="Int64"), "step", [1, None]),
        (pd.Series([1.5, None], dtype="Float64"), "value", [1.5, None]),
        (pd.Series([True, False]), "incomplete", [True, False]),
        (pd.Series([True, None], dtype="boolean"), "incomplete", [True, None]),
        (pd.Series(["a", None], dtype="str"), "name", ["a", None]),
        (pd.Series(["a", np.nan, 3], dtype="object"), "name", ["a", None, 3]),
        (pd.Series(pd.Categorical.from_codes([1, -1, 0], categories=["x", "y"])), "name", ["y", None, "x"]),
        (pd.Series(pd.Categorical([], categories=[])), "name", []),
    ],
)
def test_columns(column: pd.Series, name: str, expected: list[object]) -> None:
    assert json.loads(encode(values(column, name))) == expected


def test_a_column_of_a_million_takes_no_loop() -> None:
    import time

    codes = np.arange(1_000_000) % 1000
    names = pd.Series(pd.Categorical.from_codes(codes, categories=[f"kernel {number}" for number in range(1000)]))
    before = time.perf_counter()
    encode(values(names, "name"))
    assert time.perf_counter() - before < 2.0


def test_json_is_strict() -> None:
    told = encode(
        {
            "a": float("nan"),
            "b": np.array([1.0, np.inf]),
            "c": np.int64(3),
            "d": "\ud800",
            "e": 2**70,
            "f": np.bool_(True),
        }
    )
    assert json.loads(told, parse_constant=pytest.fail) in (
        {"a": None, "b": [1.0, None], "c": 3, "d": "?", "e": str(2**70), "f": True},
        {"a": None, "b": [1.0, None], "c": 3, "d": "?", "e": 2**70, "f": True},
    )
