"""From samples to figures: medians, ratios of paired rounds, growth. Pure functions of the results."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.cases import BY_NAME

if TYPE_CHECKING:
    from benchmarks.measuring import Sample

Results = dict[str, Any]


class Spread(NamedTuple):
    """A figure and between which values it lay."""

    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and greatest of some values."""
    return Spread(statistics.median(values), min(values), max(values))


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Return how many times one thing is another, measured in rounds by turns.

    Parameters
    ----------
    above, below : sequence of float
        One value a round; where one thing was measured in fewer rounds, the further ones count in its median only.

    Returns
    -------
    Spread
        The ratio of the medians, and the least and greatest ratio within one round.
    """
    rounds = [a / b for a, b in zip(above, below, strict=False)]
    return Spread(statistics.median(above) / statistics.median(below), min(rounds), max(rounds))


def summarize(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return a case's samples as it is stored: a list of one value per round for each figure.

    Parameters
    ----------
    samples : sequence of Sample
        In the order of the rounds; the last may be a failure, after which the case was left out.
    """
    failure = next((sample.failure for sample in samples if sample.failure), "")
    good = [sample for sample in samples if not sample.failure]
    stored: dict[str, Any] = {
        "failure": failure,
        "process_s": [_short(sample.process_s) for sample in good],
        "process_cpu_s": [_short(sample.process_cpu_s) for sample in good],
        "process_peak_mb": [_short(sample.peak_mb) for sample in good],
        "import_s": [_short(sample.import_s) for sample in good],
        "marks": {},
    }
    for position, mark in enumerate(good[0].marks if good else []):
        keys = [key for key in mark if key != "name"]
        stored["marks"][mark["name"]] = {key: [_short(sample.marks[position][key]) for sample in good] for key in keys}
    return stored


def _short(value: float) -> float:
    """Return a number with four digits that count; whole numbers as they are."""
    return value if isinstance(value, int) else float(f"{value:.4g}")


def values(trace: dict[str, Any], case: str, figure: str = "seconds", mark: str = "") -> list[float]:
    """Return what the rounds of a case found.

    Parameters
    ----------
    trace : dict
        One of the results' traces.
    case : str
        Name of a case.
    figure : str
        A figure of the stage, such as ``seconds``; or one of the whole process, such as ``process_s``.
    mark : str
        The stage; by default the one that ends the case's work.

    Returns
    -------
    list of float
        Empty where the case was not measured, or failed.
    """
    stored = trace["cases"].get(case)
    if stored is None or stored["failure"]:
        return []
    where = stored if figure in stored else stored["marks"].get(mark or BY_NAME[case].mark, {})
    found: list[float] = where.get(figure, [])
    return found


def median(trace: dict[str, Any], case: str, figure: str = "seconds", mark: str = "") -> float | None:
    """Return the median of :func:`values`, None where there are none."""
    found = values(trace, case, figure, mark)
    return statistics.median(found) if found else None


def compared(trace: dict[str, Any], above: str, below: str, figure: str = "seconds") -> Spread | None:
    """Return the ratio of two cases on one trace, None where one of them has no figures."""
    first, second = values(trace, above, figure), values(trace, below, figure)
    return ratio(first, second) if first and second else None


def growing(results: Results) -> list[dict[str, Any]]:
    """Return the traces of growing size that were made of one recording, by size."""
    of_one = [trace for trace in results["traces"] if trace["source"] == results["growing"] and trace["size_mb"]]
    return sorted(of_one, key=lambda trace: float(trace["text_mb"]))


def largest(results: Results) -> dict[str, Any] | None:
    """Return the trace of 1 GB, None where none was measured."""
    return next((trace for trace in results["traces"] if trace["size_mb"] == 1000), None)


def growth(results: Results, case: str) -> list[tuple[float, float]]:
    """Return for each step in size by how much the text and the seconds of a case grew.

    Returns
    -------
    list of (float, float)
        Factors of text and of time.
    """
    traces = [trace for trace in growing(results) if values(trace, case)]
    steps = []
    for small, large in pairwise(traces):
        times = [median(one, case) or 0.0 for one in (small, large)]
        steps.append((large["text_mb"] / small["text_mb"], times[1] / times[0]))
    return steps
