"""Seconds against size, both logarithmic, as an SVG that reads on light and on dark paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from benchmarks.cases import BY_NAME, CASES
from benchmarks.figures import Results, growing, median

WIDTH, HEIGHT = 900, 520
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 310, 48, 60
_LABEL_HEIGHT = 17
_LINES = {  # colour on light and on dark paper, dashes
    "json_dicts": ("#5b6270", "#a3abbb", ""),
    "orjson_dicts": ("#8a6d00", "#d9b84a", ""),
    "orjson_floor": ("#8a6d00", "#d9b84a", "2 3"),
    "hta_frames": ("#b4442f", "#f08a72", ""),
    "frames": ("#0b66c3", "#6db3ff", ""),
    "tensorboard_views": ("#8446b8", "#c79bf0", ""),
    "views": ("#0b66c3", "#6db3ff", "7 4"),
    "cold_overview": ("#0b66c3", "#6db3ff", "2 3"),
    "warm_overview": ("#11804f", "#5fd39a", ""),
}
_STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2430 }
  .grid { stroke: #d5d9e0; stroke-width: 1 }
  .title { font-weight: 600; font-size: 15px }
  .line { fill: none; stroke-width: 2 }
"""

Point = tuple[float, float]


def plot(results: Results) -> str:
    """Draw the seconds of every case against the size of the growing traces.

    Parameters
    ----------
    results : dict

    Returns
    -------
    str
        SVG; empty when fewer than two sizes were measured.
    """
    series = {case.name: _points(results, case.name) for case in CASES}
    every = [point for points in series.values() for point in points]
    if len({x for x, _ in every}) < 2:
        return ""
    frame = _Frame([x for x, _ in every], [y for _, y in every])
    drawn = [_curve(frame, points, name) for name, points in series.items() if points]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title">',
            f'<title id="title">{escape(_alternative(results))}</title>',
            f"<style>{_STYLE}{_colours()}</style>",
            f'<text class="title" x="{_LEFT}" y="24">Seconds from a trace file to a result, by size of its JSON text</text>',
            *frame.grid(),
            *drawn,
            *_labels(frame, series),
            "</svg>\n",
        ]
    )


def _points(results: Results, case: str) -> list[Point]:
    found = ((trace["text_mb"], median(trace, case)) for trace in growing(results))
    return [(float(size), spent) for size, spent in found if spent]


def _alternative(results: Results) -> str:
    """Say in words what the largest size shows."""
    trace = growing(results)[-1]
    spent = ((case.label, median(trace, case.name)) for case in CASES)
    said = ", ".join(f"{label} {value:.2g} s" for label, value in spent if value)
    return f"At {trace['text_mb']:,.0f} MB: {said}"


def _colours() -> str:
    """Return the colours of the series on light and on dark paper."""

    def rules(paper: int) -> str:
        coloured = ((name, line[paper]) for name, line in _LINES.items())
        return "".join(f"  .{name} {{ stroke: {hue} }} .{name}.dot {{ fill: {hue} }}\n" for name, hue in coloured)

    dark = "  text { fill: #e4e8f0 }\n  .grid { stroke: #3a404d }\n" + rules(1)
    return f"{rules(0)}  @media (prefers-color-scheme: dark) {{\n{dark}  }}\n"


class _Frame:
    """Where a size and a time are on the paper: whole powers of ten at the edges of the time, the sizes with a margin."""

    def __init__(self, sizes: Sequence[float], times: Sequence[float]) -> None:
        margin = 0.04 * (math.log10(max(sizes)) - math.log10(min(sizes)))
        self._x = (math.log10(min(sizes)) - margin, math.log10(max(sizes)) + margin)
        self._y = (math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))))
        self.right = WIDTH - _RIGHT

    def x(self, size: float) -> float:
        low, high = self._x
        return _LEFT + (math.log10(size) - low) / (high - low) * (self.right - _LEFT)

    def y(self, spent: float) -> float:
        low, high = self._y
        return HEIGHT - _BOTTOM - (math.log10(spent) - low) / (high - low) * (HEIGHT - _BOTTOM - _TOP)

    def grid(self) -> list[str]:
        """Draw lines and numbers of both axes."""
        lines = []
        for power in range(self._y[0], self._y[1] + 1):
            y = self.y(10.0**power)
            said = f"{10**power:,} s" if power >= 0 else f"{10 ** (power + 3):g} ms"
            lines.append(f'<line class="grid" x1="{_LEFT}" x2="{self.right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{said}</text>')
        steps = (factor * 10**power for power in range(7) for factor in (1, 2, 5))
        for size in (step for step in steps if self._x[0] <= math.log10(step) <= self._x[1]):
            x, bottom = self.x(size), HEIGHT - _BOTTOM
            lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>')
            lines.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{size:,}</text>')
        middle = (_LEFT + self.right) / 2
        lines.append(f'<text x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle">JSON text, MB</text>')
        height = (HEIGHT - _BOTTOM + _TOP) / 2
        lines.append(f'<text transform="translate(16 {height:.0f}) rotate(-90)" text-anchor="middle">time</text>')
        return lines


def _curve(frame: _Frame, points: Sequence[Point], name: str) -> str:
    """Draw a line with a dot at each size."""
    places = [(frame.x(size), frame.y(spent)) for size, spent in points]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dashes = _LINES[name][2]
    dash = f' stroke-dasharray="{dashes}"' if dashes else ""
    dots = "".join(f'<circle class="dot {name}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places)
    return f'<path class="line {name}" d="{path}"{dash}/>{dots}'


def _labels(frame: _Frame, series: dict[str, list[Point]]) -> list[str]:
    """Name each line at its right end, apart from its neighbours, and lead to it."""
    named = sorted(
        ((frame.y(points[-1][1]), name) for name, points in series.items() if points), key=lambda one: one[0]
    )
    places = spaced([y for y, _ in named], _LABEL_HEIGHT, HEIGHT - _BOTTOM)
    lines = []
    for (y, name), place in zip(named, places, strict=True):
        size, spent = series[name][-1]
        x, begin = frame.x(size), frame.right + 22
        lines.append(
            f'<path class="line {name}" style="stroke-width:1" d="M{x + 6:.1f} {y:.1f} L{begin - 4} {place:.1f}"/>'
            f'<text x="{begin}" y="{place + 4:.1f}">{escape(BY_NAME[name].label)}, {spent:.2g} s</text>'
        )
    return lines


def spaced(wanted: Sequence[float], least: float, bottom: float) -> list[float]:
    """Move places apart that are too close, as little as possible from above, and keep the last above a bottom.

    Parameters
    ----------
    wanted : sequence of float
        Ascending.
    least : float
        Distance to keep.
    bottom : float

    Returns
    -------
    list of float
        Ascending.
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + least) if places else place)
    for at in range(len(places) - 1, -1, -1):
        most = bottom if at == len(places) - 1 else places[at + 1] - least
        places[at] = min(places[at], most)
    return places
