"""Whether kernels use the device's matrix units, by their names, and which ops could (``data/tensor_cores.json``)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kinetoscope import schema

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

UNKNOWN, NO, YES = -1, 0, 1


@cache
def _pattern(answer: str) -> re.Pattern[str]:
    return re.compile(schema.table("tensor_cores")[answer], re.IGNORECASE)


def used(trace: LinkedTrace, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
    """Tell whether kernels use the matrix units.

    Parameters
    ----------
    trace : LinkedTrace
    rows : ndarray of int64
        Rows of kernels.

    Returns
    -------
    ndarray of int8
        1 yes, 0 no, -1 unknown, by the kernel's name alone.
    """
    columns = trace.columns
    codes, back = np.unique(columns.name[rows], return_inverse=True)
    answers = [
        YES
        if _pattern("yes").search(columns.names[code])
        else NO
        if _pattern("no").search(columns.names[code])
        else UNKNOWN
        for code in codes.tolist()
    ]
    return np.array(answers, np.int8)[back.ravel()] if rows.size else np.empty(0, np.int8)


def eligible(trace: LinkedTrace) -> npt.NDArray[np.bool_]:
    """Tell which names are those of ops that can use the matrix units; one entry more, False, for "no name"."""
    ops = frozenset(schema.table("tensor_cores")["eligible_ops"])
    return np.array([*(name in ops for name in trace.columns.names), False], bool)
