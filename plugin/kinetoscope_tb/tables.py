"""A view's frame as ``Table`` of ``docs/wire.md``: column by column, without a loop over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kinetoscope_tb.encoding import text

if TYPE_CHECKING:
    from kinetoscope.trace import Trace
    from kinetoscope.views.registry import View

_DECIMALS = 3


def table(trace: Trace, view: View, frame: pd.DataFrame) -> dict[str, Any]:
    """Shape a view's answer.

    Parameters
    ----------
    trace : Trace
    view : View
    frame : pandas.DataFrame
        What the view returned.

    Returns
    -------
    dict
    """
    source = trace.source
    columns = view.describe(frame)
    return {
        "view": view.name,
        "trace": {
            "path": text(source.path),
            "run": text(source.run),
            "rank": source.rank,
            "span": source.span,
            "origin_ns": str(trace.origin_ns),
        },
        "columns": [column._asdict() for column in columns],
        "data": {column.name: values(frame[column.name], column.name) for column in columns},
        "rows": len(frame),
        "notes": list(frame.attrs.get("notes", [])),
    }


def values(series: pd.Series[Any], name: str = "") -> list[Any]:
    """Return a column's values as Python's own, missing ones as None.

    Parameters
    ----------
    series : pandas.Series
    name : str
        Times, in columns that end in ``_us``, are rounded to three decimals: nanoseconds.

    Returns
    -------
    list
    """
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        choices = np.array([*series.cat.categories.tolist(), None], dtype=object)
        coded: list[Any] = choices[series.cat.codes.to_numpy()].tolist()
        return coded
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        plain: list[Any] = series.to_numpy().tolist()
        return plain
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        numbers = series.to_numpy()
        numbers = np.round(numbers, _DECIMALS) if name.endswith("_us") else numbers
        floats: list[Any] = numbers.tolist()  # the encoder makes null of NaN
        return floats
    objects = series.to_numpy(dtype=object, copy=True)
    objects[series.isna().to_numpy(dtype=bool)] = None
    found: list[Any] = objects.tolist()
    return found
