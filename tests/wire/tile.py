"""Unpack a tile as ``docs/wire.md`` describes it, the plain way."""

from __future__ import annotations

import struct
from itertools import accumulate
from typing import Any

BARS = ("pause", "length", "step", "name", "more", "kind", "busy", "flags")
POINTS = ("step", "changes")
MERGED = 1
NO_ID = 0xFFFFFFFF
WORD = 1 << 32


def unpack(data: bytes) -> dict[str, Any]:
    """Return a tile's head, row table, bars and points of counters, every difference added up."""
    magic, n, r, kinds, t0, t1, quantum, tick, m = struct.unpack_from("<4sIIIddddI", data)
    assert magic == b"KTL2"
    widths, at = data[52:62], 64
    table = [struct.unpack_from("<4I", data, at + 16 * row) for row in range(r)]
    at += 16 * r
    bars, at = _columns(data, at, dict(zip(BARS, widths[:8], strict=True)), n)
    points, at = _columns(data, at, dict(zip(POINTS, widths[8:], strict=True)), m)
    values = {key: list(struct.unpack_from(f"<{m}d", data, at + 8 * m * i)) for i, key in enumerate(("low", "high"))}
    assert at + 16 * m == len(data), "nothing stands behind the values"
    starts, ids = _added(table, bars)
    merged = [flags & MERGED for flags in bars["flags"]]
    return {
        "n": n,
        "r": r,
        "kinds": kinds,
        "t0": t0,
        "t1": t1,
        "quantum": quantum,
        "tick": tick,
        "rows": [list(row) for row in table],
        "start": starts,
        "length": bars["length"],
        "id": [NO_ID if run else one for run, one in zip(merged, ids, strict=True)],
        "name": bars["name"],
        "count": [more + 1 for more in bars["more"]],
        **{key: bars[key] for key in ("kind", "busy", "flags")},
        "points": {"start": _by_row(table, points["step"]), "changes": points["changes"], **values},
    }


def _columns(data: bytes, at: int, widths: dict[str, int], n: int) -> tuple[dict[str, list[int]], int]:
    """Read columns whose numbers come byte by byte: the lowest bytes of all first."""
    found = {}
    for name, width in widths.items():
        planes = [data[at + place * n : at + (place + 1) * n] for place in range(width)]
        found[name] = [sum(plane[i] << (8 * place) for place, plane in enumerate(planes)) for i in range(n)]
        at += width * n
    return found, at


def _added(table: list[tuple[int, ...]], bars: dict[str, list[int]]) -> tuple[list[int], list[int]]:
    """Return starts, which count from the end of the bar before, and ids, which count from the one before."""
    starts, first = [], 0
    for _, count, _, _ in table:
        end = 0
        for pause, length in zip(
            bars["pause"][first : first + count], bars["length"][first : first + count], strict=True
        ):
            starts.append((end + pause) % WORD)
            end = (starts[-1] + length) % WORD
        first += count
    return starts, [one % WORD for one in accumulate(bars["step"])]


def _by_row(table: list[tuple[int, ...]], steps: list[int]) -> list[int]:
    found, first = [], 0
    for _, _, _, count in table:
        found += [one % WORD for one in accumulate(steps[first : first + count])]
        first += count
    return found
