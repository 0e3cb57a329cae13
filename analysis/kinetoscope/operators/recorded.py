"""Arguments of ops that only these tables need: read together, in one pass over the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.reading.arguments import Kind

Index = npt.NDArray[np.int64]

_SPELLINGS = {
    "shapes": ("Input Dims", "Input dims"),
    "types": ("Input type",),
    "values": ("Concrete Inputs",),
    "hierarchy": ("Module Hierarchy",),
    "stack": ("Call stack",),
    "kernel_file": ("kernel_file",),
    "kernel_backend": ("kernel_backend",),
    "kernel_arguments": ("kernel_kwargs",),
    "recorded_flops": ("flops",),
}
"""What is wanted, and how files spell it."""


def of_ops(trace: LinkedTrace, rows: Index, wanted: str) -> tuple[Index, list[Any]]:
    """Return an argument of ops.

    Parameters
    ----------
    trace : LinkedTrace
    rows : ndarray of int64
        Rows of the columns.
    wanted : str
        A key of the spellings above.

    Returns
    -------
    code : ndarray of int64
        Of each row, -1 where it has none.
    distinct : list
        The values that the codes number, as JSON has them.
    """
    asked: Mapping[str, Kind] = {name: "json" for names in _SPELLINGS.values() for name in names}
    found = trace.arguments.read(asked)
    code = np.full(rows.size, -1, np.int64)
    distinct: list[Any] = []
    for name in _SPELLINGS[wanted]:
        own = found[name].at(rows).astype(np.int64)
        code = np.where((code < 0) & (own >= 0), own + len(distinct), code)
        distinct += found[name].distinct
    return code, distinct
