"""Measure the timeline of a large trace: how long tiles take and how large they are, and what the timeline itself costs.

Usage: python benchmarks/timeline.py [--events N] [--quick]

Prints one JSON object. A tile is timed from the laid-out rows to the packed bytes as they are sent, and asked for as the page does: the rows of one
screen, three windows wide, at the 1600 pixels of the middle one; at five zooms, several times and scroll positions each.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "analysis"), str(ROOT / "tests")]

import numpy as np  # noqa: E402
from isal import igzip  # noqa: E402

from dense import dense  # noqa: E402
from kinetoscope.timeline import Timeline  # noqa: E402

EVENTS, FEW = 5_000_000, 200_000
ZOOMS = (1, 10, 100, 1_000, 10_000)
PLACES = 24
WIDTH, SCREEN_ROWS = 1600, 50


def main(words: list[str]) -> int:
    """Measure, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--quick", action="store_true", help=f"{FEW} events")
    given = parser.parse_args(words)
    print(json.dumps(measured(FEW if given.quick else given.events), indent=1))
    return 0


def measured(events: int) -> dict[str, Any]:
    """Return the figures of a trace of about so many events."""
    before = os.getloadavg()[0]
    trace = dense(events)
    # links and gaps are the trace's; the timeline only uses them
    _ = trace.gap_table, trace.steps_table, trace.communication
    resident = _resident()
    timeline = Timeline(trace)
    begin = time.perf_counter()
    laid = timeline.lanes()
    laid_out = time.perf_counter()
    # the levels are built with the first tile
    timeline.tile([0], 0, 1000, 10)
    built = time.perf_counter()
    grown = _resident() - resident
    return {
        "events": len(trace),
        "lanes": len(laid["lanes"]),
        "rows": laid["rows"],
        "layout_s": round(laid_out - begin, 2),
        "levels_s": round(built - laid_out, 2),
        "build_s": round(built - begin, 2),
        "resident_bytes_per_event": round(grown / len(trace), 1),
        "zooms": [_zoom(timeline, laid, zoom) for zoom in ZOOMS],
        "load": {"before": round(before, 2), "after": round(os.getloadavg()[0], 2)},
    }


def _zoom(timeline: Timeline, laid: dict[str, Any], zoom: int) -> dict[str, Any]:
    """Return the figures of one zoom."""
    seconds, sizes, bars, pixels = [], [], [], []
    for rows, t0, t1, px in _windows(laid, zoom):
        begin = time.perf_counter()
        tile = timeline.tile(rows, t0, t1, px)
        sent = igzip.compress(tile, 2)
        seconds.append(time.perf_counter() - begin)
        sizes.append(len(sent))
        bars.append(int(np.frombuffer(tile, "<u4", 1, 4)[0]))
        pixels.append(float(np.frombuffer(tile, "<f8", 1, 32)[0]) * px / (t1 - t0))
    return {
        "zoom": zoom,
        "tile_ms": _spread([1000 * one for one in seconds]),
        "kB": _spread([one / 1000 for one in sizes]),
        "bars": _spread(bars),
        "pixels_per_bucket": _spread(pixels),
    }


def _windows(laid: dict[str, Any], zoom: int) -> Iterator[tuple[range, int, int, int]]:
    """Return what the page asks for at one zoom: rows, start, end, pixels."""
    random = np.random.default_rng(zoom)
    end, most = laid["end_ns"], max(1, laid["rows"] - SCREEN_ROWS)
    span = end / zoom
    for place in range(PLACES):
        first = int(random.integers(0, most)) if place % 2 else 0
        middle = random.uniform(span / 2, end - span / 2)
        t0, t1 = max(0, int(middle - 1.5 * span)), min(end, int(middle + 1.5 * span) + 1)
        yield range(first, min(laid["rows"], first + SCREEN_ROWS)), t0, t1, max(1, round((t1 - t0) / (span / WIDTH)))


def _spread(values: list[float] | list[int]) -> dict[str, float]:
    median, tail = np.percentile(values, [50, 95]).tolist()
    return {"p50": round(median, 1), "p95": round(tail, 1), "max": round(max(values), 1)}


def _resident() -> int:
    """Return the bytes of memory that this process holds now, without what it has freed."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
