"""What kind of computation kernels do, by their names (``data/kernel_categories.json``)."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope import schema

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace

_FUNCTION = re.compile(r"^(?:void )?(?P<name>[^<(\s]*)")


def categories(trace: LinkedTrace, rows: npt.NDArray[np.int64], communication: npt.NDArray[np.bool_]) -> pd.Categorical:
    """Return the category of kernels.

    Parameters
    ----------
    trace : LinkedTrace
    rows : ndarray of int64
        Rows of kernels.
    communication : ndarray of bool
        Which of them communicate.

    Returns
    -------
    pandas.Categorical
    """
    choices = [*dict.fromkeys(category for category, _ in _rules()), "communication", "other"]
    number = {category: code for code, category in enumerate(choices)}
    columns = trace.columns
    code_of = np.full(max(len(columns.names), 1), number["other"], np.int32)
    for name in np.unique(columns.name[rows]).tolist():
        code_of[name] = number[category_of(columns.names[name])]
    return pd.Categorical.from_codes(
        np.where(communication, number["communication"], code_of[columns.name[rows]]),
        categories=pd.Index(choices, dtype="str"),
    )


def category_of(name: str) -> str:
    """Return the category that a kernel's name tells.

    The function's own name is asked first, since its template arguments name types of other libraries; where it says nothing (as that of a wrapper
    such as ``cutlass::Kernel``), the whole name.
    """
    function = _FUNCTION.match(name.replace("(anonymous namespace)::", ""))
    own = function["name"] if function else name
    texts = (name,) if _wrapper().search(own) else (own, name)
    return next((category for text in texts for category, fits in _rules() if fits.search(text)), "other")


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    rules = schema.table("kernel_categories")["categories"]
    return tuple((rule["category"], re.compile(rule["pattern"], re.IGNORECASE)) for rule in rules)


@cache
def _wrapper() -> re.Pattern[str]:
    return re.compile(schema.table("kernel_categories")["wrappers"], re.IGNORECASE)
