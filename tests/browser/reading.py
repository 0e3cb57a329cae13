"""The same traces, read in Python: what the page must agree with."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import kinetoscope as ks
from kinetoscope.timeline import Timeline

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@cache
def trace(path: Path) -> Any:
    return ks.load(path)


def view(path: Path, what: str, **parameters: Any) -> pd.DataFrame:
    return getattr(ks.views, what)(trace(path), **parameters)


@cache
def timeline(path: Path) -> Timeline:
    return Timeline(trace(path))


def nanoseconds(microseconds: float) -> int:
    """Return the exact whole nanoseconds of a time in a view."""
    return round(float(microseconds) * 1000)


def plain(text: str) -> str:
    """Return a figure of the page without its thin spaces."""
    return text.replace("\u202f", "").replace("\u2212", "-").strip()
