"""Advice: what could be faster, with figures, an upper bound of the gain, and the evidence.

Rules are data (``data/advice.json``); the facts that they weigh are computed in :mod:`~kinetoscope.advice.facts`.
Definitions: ``docs/definitions.md``, "Advice".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any

from kinetoscope import schema
from kinetoscope.advice.facts import Facts
from kinetoscope.advice.unknown import UnknownError

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

STATUSES = ("found", "fine", "unknown")


@dataclass(frozen=True)
class Advice:
    """What one rule says of a trace.

    Parameters
    ----------
    rule : dict
        The rule, as ``data/advice.json`` has it.
    status : {"found", "fine", "unknown"}
        Whether it applies, does not, or could not be checked.
    figures : dict
        The facts that were weighed, by name.
    gain_us : float or None
        The most that a step can gain, µs; None where none can be told.
    reason : str
        Why it could not be checked.
    """

    rule: dict[str, Any]
    status: str
    figures: dict[str, float | str] = field(default_factory=dict)
    gain_us: float | None = None
    reason: str = ""


def check(trace: Trace) -> list[Advice]:
    """Apply all rules to a trace.

    Parameters
    ----------
    trace : Trace

    Returns
    -------
    list of Advice
        What was found, largest gain first; then what is fine; then what could not be checked.
    """
    facts = Facts(trace)
    found = [_apply(rule, facts) for rule in schema.table("advice")["rules"]]
    return sorted(found, key=lambda one: (STATUSES.index(one.status), -(one.gain_us or 0)))


def _apply(rule: dict[str, Any], facts: Facts) -> Advice:
    try:
        figures: dict[str, float | str] = {name: float(facts[name]) for name in rule["conditions"]}
        met = all(float(figures[name]) >= least for name, least in rule["conditions"].items())
        figures |= {name: facts[name] for name in _named(rule, met=met)}
    except UnknownError as error:
        return Advice(rule, "unknown", reason=str(error))
    gain = float(facts[rule["gain"]]) if met and rule["gain"] else None
    return Advice(rule, "found" if met else "fine", figures, gain)


def _named(rule: dict[str, Any], *, met: bool) -> list[str]:
    """Return the facts that a rule's text tells."""
    text = rule["claim"] if met else rule["fine"]
    return [name for _, name, _, _ in Formatter().parse(text) if name]
