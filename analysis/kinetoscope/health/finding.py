"""What a check of a trace has found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

SEVERITIES = ("ok", "info", "warning", "error")
"""From least to worst."""


@dataclass(frozen=True)
class Finding:
    """The answer of one check.

    Parameters
    ----------
    check : str
        What was looked at.
    severity : {"ok", "info", "warning", "error"}
    detail : str
        What was found, with figures, in one sentence.
    hint : str
        What to do about it; empty when there is nothing to do.
    count : int
        How many events, works or parts of the file it is about.
    share_pct : float
        Their part of all, in percent; NaN where there is no whole.
    rows : ndarray of int64
        Rows of the trace's columns behind it.
    """

    check: str
    severity: str
    detail: str
    hint: str = ""
    count: int = 0
    share_pct: float = float("nan")
    rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


def counted(count: int, thing: str, things: str = "") -> str:
    """Return a number with its word: ``1 event``, ``2 events``."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def share(part: float, whole: float) -> float:
    """Return a part in percent, NaN of nothing."""
    return 100.0 * part / whole if whole else float("nan")


def fine(check: str, detail: str) -> Finding:
    """Return the finding of a check that has nothing to complain of."""
    return Finding(check, "ok", detail)
