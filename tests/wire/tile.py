"""Unpack a tile as ``docs/wire.md`` describes it, the plain way."""

from __future__ import annotations

import struct
from typing import Any

_COLUMNS = (
    ("start", "I"),
    ("length", "I"),
    ("id", "I"),
    ("name", "I"),
    ("count", "I"),
    ("kind", "B"),
    ("busy", "B"),
    ("flags", "B"),
    ("pad", "B"),
)


def unpack(data: bytes) -> dict[str, Any]:
    """Return a tile's head, row table and columns."""
    magic, n, r, kinds, t0, t1, quantum, tick = struct.unpack_from("<4sIIIdddd", data)
    assert magic == b"KTL1"
    at = 48
    pairs = struct.unpack_from(f"<{2 * r}I", data, at)
    at += 8 * r
    found: dict[str, Any] = {"n": n, "r": r, "kinds": kinds, "t0": t0, "t1": t1, "quantum": quantum, "tick": tick}
    found["rows"] = [list(pair) for pair in zip(pairs[::2], pairs[1::2], strict=True)]
    for name, code in _COLUMNS:
        found[name] = list(struct.unpack_from(f"<{n}{code}", data, at))
        at += n * struct.calcsize(code)
    assert at == len(data), "nothing stands behind the columns"
    del found["pad"]
    return found
