"""What the product wants to reach, and whether it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.figures import Results, Spread, compared, growing, growth, largest, median

Trace = dict[str, Any]


class Target(NamedTuple):
    """A target with what was found.

    Parameters
    ----------
    name, wanted, found : str
    met : bool or None
        None when it was not measured.
    """

    name: str
    wanted: str
    found: str
    met: bool | None


def targets(results: Results) -> list[Target]:
    """Judge the results."""
    traces = results["traces"]
    return [
        _at_least(
            "file to frames, against HolisticTraceAnalysis", 10, _ratios(traces, "hta_frames", "frames", "seconds")
        ),
        _at_most("file to frames, against isal + orjson", 0.8, _ratios(traces, "frames", "orjson_dicts", "seconds")),
        _at_most(
            "file to frames, against isal + orjson without the garbage collector",
            0.8,
            _ratios(traces, "frames", "orjson_floor", "seconds"),
        ),
        _at_least(
            "file to all pages, against torch_tb_profiler, in CPU seconds",
            10,
            _ratios(traces, "tensorboard_views", "views", "cpu_seconds"),
        ),
        _at_most(
            "first view from the cache, against reading the file",
            0.1,
            _ratios(traces, "warm_overview", "cold_overview", "seconds"),
        ),
        _bound("first view from the cache, per 100 MB", 300, "ms", _cached_per_100_mb(traces)),
        _bound("peak memory of 1 GB with all pages open", 1800, "MB", _peak_of_largest(results)),
        _bound("peak memory of reading / (1.5 × text + 300 MB)", 1, "", _peak_shares(traces)),
        _grows(results),
        *_of_tool(results, "timeline", _TILES),
        *_of_tool(results, "browser", _PAGE),
    ]


# of each zoom: which spread, which of its figures
_TILES = (
    ("a tile of the timeline, median", "tile_ms", "p50", 30, "ms"),
    ("a tile of the timeline, 95 of 100", "tile_ms", "p95", 80, "ms"),
    ("largest tile, as it is sent", "kB", "max", 512, "kB"),
)
_PAGE = (("the page's script for a frame of the timeline, median", "script_ms", "p50", 8, "ms"),)


def _ratios(traces: list[Trace], above: str, below: str, figure: str) -> list[Spread]:
    found = (compared(trace, above, below, figure) for trace in traces)
    return [one for one in found if one is not None]


def _times(number: float) -> str:
    return f"{number:.2f}×" if number < 2 else f"{number:.1f}×"


def _number(number: float) -> str:
    return f"{number:.2f}" if number < 2 else f"{number:.1f}" if number < 100 else f"{number:,.0f}"


def _at_least(name: str, wanted: float, ratios: list[Spread]) -> Target:
    found = [one.median for one in ratios]
    return _judged(name, f"at least {wanted:g}×", _on_all(found, _times), [number >= wanted for number in found])


def _at_most(name: str, wanted: float, ratios: list[Spread]) -> Target:
    found = [one.median for one in ratios]
    return _judged(name, f"at most {wanted:g}×", _on_all(found, _times), [number <= wanted for number in found])


def _bound(name: str, wanted: float, unit: str, found: list[float], things: str = "traces") -> Target:
    allowed = f"at most {wanted:,g} {unit}".rstrip()
    return _judged(name, allowed, _on_all(found, _number, unit, things), [number <= wanted for number in found])


def _on_all(numbers: list[float], form: Callable[[float], str], unit: str = "", things: str = "traces") -> str:
    """Say between which values the numbers of some traces, or of other things, lie."""
    where = f"on {len(numbers)} {things}" if len(numbers) > 1 else ""
    return " ".join(part for part in (_range(numbers, form), unit, where) if part)


def _range(numbers: list[float], form: Callable[[float], str]) -> str:
    """Say between which values some numbers lie; nothing where there are none."""
    if not numbers:
        return ""
    low, high = form(min(numbers)), form(max(numbers))
    return low if low == high else f"{low} to {high}"


def _judged(name: str, wanted: str, found: str, fits: list[bool]) -> Target:
    return Target(name, wanted, found, all(fits)) if fits else Target(name, wanted, "not measured", None)


def _cached_per_100_mb(traces: list[Trace]) -> list[float]:
    """Return milliseconds per 100 MB of text; smaller traces would show fixed costs only."""
    found = ((median(trace, "warm_overview"), trace["text_mb"]) for trace in traces if trace["size_mb"] >= 100)
    return [1000 * seconds / (text / 100) for seconds, text in found if seconds is not None]


def _peak_of_largest(results: Results) -> list[float]:
    trace = largest(results)
    peak = median(trace, "views", "process_peak_mb") if trace else None
    return [] if peak is None else [peak]


def _peak_shares(traces: list[Trace]) -> list[float]:
    found = ((median(trace, "frames", "peak_mb", "columns"), trace["text_mb"]) for trace in traces)
    return [peak / (1.5 * text + 300) for peak, text in found if peak is not None]


def _grows(results: Results) -> Target:
    """Judge growth: ten times the size in at most eleven times the time, whatever is done with the trace."""
    steps = [step for case in ("frames", "views", "cold_overview") for step in growth(results, case)]
    found = [10 * time / text for text, time in steps if text > 2]
    sizes = ", ".join(f"{trace['size_mb']:,}" for trace in growing(results))
    name = f"time for ten times the size ({sizes} MB)"
    return _judged(name, "at most 11×", _range(found, _times), [number <= 11 for number in found])


def _of_tool(results: Results, tool: str, wanted: tuple[tuple[str, str, str, float, str], ...]) -> list[Target]:
    """Judge what another program of this folder measured, at every zoom."""
    zooms = (results["tools"].get(tool) or {}).get("zooms", [])
    judged = []
    for name, spread, figure, most, unit in wanted:
        found = [float(zoom[spread][figure]) for zoom in zooms if zoom.get(spread)]
        judged.append(_bound(name, most, unit, found, "zooms"))
    return judged
