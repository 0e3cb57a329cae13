"""Advice: what could be faster and by how much at most, what was checked and is fine, and what could not be checked."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pandas as pd

from kinetoscope import advice as rules
from kinetoscope import intervals
from kinetoscope.schema import Column
from kinetoscope.views.registry import View

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

_COLUMNS = (
    Column("rule", "", "text", "The rule (data/advice.json)."),
    Column(
        "status", "", "text", "found: it applies; fine: it was checked and does not; unknown: it could not be checked."
    ),
    Column(
        "gain_us", "µs", "number", "The most that a step can gain; missing where none can be told. Gains do not add up."
    ),
    Column("gain_pct", "%", "number", "That gain as a part of the mean step, or of the window without steps."),
    Column("title", "", "text", "What the rule is about."),
    Column("claim", "", "text", "What was found, with its figures; or why it could not be checked."),
    Column("fix", "", "text", "What to do."),
    Column("link", "", "text", "Where the documentation says more."),
    Column("figures", "", "text", "The facts that were weighed, as JSON."),
    Column("evidence_view", "", "text", "View that lists the events behind it."),
    Column("evidence_parameters", "", "text", "Parameters of that view, as JSON."),
)


def advice(trace: Trace) -> pd.DataFrame:
    """Check a trace for what commonly makes training and serving slow.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    pandas.DataFrame
        One row per rule: found ones first, largest gain first; then fine; then unknown.
    """
    found = rules.check(trace)
    periods = max(len(trace.steps_table), 1)
    step_us = intervals.measure(trace.window) / 1000.0 / periods
    frame = pd.DataFrame([_row(one, step_us) for one in found], columns=[column.name for column in _COLUMNS])
    frame[["gain_us", "gain_pct"]] = frame[["gain_us", "gain_pct"]].astype("float64")
    frame.attrs["notes"] = ["Each gain is an upper bound by itself; gains of several rules do not add up."]
    return frame


def _row(one: rules.Advice, step_us: float) -> dict[str, Any]:
    rule = one.rule
    claim = {"found": rule["claim"], "fine": rule["fine"]}.get(one.status)
    return {
        "rule": rule["rule"],
        "status": one.status,
        "gain_us": None if one.gain_us is None else round(one.gain_us, 3),
        "gain_pct": None if one.gain_us is None or not step_us else 100.0 * one.gain_us / step_us,
        "title": rule["title"],
        "claim": one.reason if claim is None else _written(claim, one.figures),
        "fix": rule["fix"] if one.status == "found" else None,
        "link": rule["link"],
        "figures": json.dumps(one.figures),
        "evidence_view": rule["evidence"]["view"],
        "evidence_parameters": json.dumps(rule["evidence"]["parameters"]),
    }


def _written(text: str, figures: dict[str, float | str]) -> str:
    """Put figures into a text, each in the unit that its name tells; ``{name:call|calls}`` adds the word for one or several."""
    return text.format(**{name: _Figure(name, value) for name, value in figures.items()})


class _Figure:
    """A figure as words of a claim."""

    def __init__(self, name: str, value: float | str) -> None:
        self._text, self._one = _figure(name, value), value == 1

    def __format__(self, words: str) -> str:
        one, _, several = words.partition("|")
        return f"{self._text} {one if self._one else several}" if words else self._text


def _figure(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    if name.endswith("_pct"):
        return f"{value:.1f} %"
    if "_us" in name:
        return f"{value / 1000:,.2f} ms" if value >= 1000 else f"{value:,.1f} µs"
    if name.endswith("_bytes"):
        unit = min(int(math.log(max(abs(value), 1), 1024)), 3)
        return f"{value / 1024**unit:,.{1 if unit else 0}f} {('bytes', 'KiB', 'MiB', 'GiB')[unit]}"
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


VIEW = View("advice", "Advice", advice, _COLUMNS)
