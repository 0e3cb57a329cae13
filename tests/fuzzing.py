"""Damage trace files on purpose, and check what must hold for any bytes: no crash, no hang, no figure without a note.

Run as a program for a long hunt: ``python tests/fuzzing.py 10000 [seed]``.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import time
from pathlib import Path

import corpus
import kinetoscope as ks
from kinetoscope.loading import load_file
from kinetoscope.source import Source
from kinetoscope.views import registry
from kinetoscope_tb.encoding import encode
from kinetoscope_tb.info import info
from kinetoscope_tb.tables import table

LONGEST_S = 10.0
_LARGEST = 400_000
_TOKENS = (
    b'"',
    b"\\",
    b",",
    b"}",
    b"]",
    b"{",
    b"[",
    b":",
    b"\x00",
    b"\xff",
    b"NaN",
    b"null",
    b"1e999",
    b'"ph": "B"',
    b"\n",
    b"-",
    b"9" * 40,
)


def seeds() -> list[bytes]:
    """Return the texts of small real and sample traces."""
    paths = [known.path for known in (*corpus.samples(), *corpus.known())]
    found = []
    for path in paths:
        data = path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if len(text) <= _LARGEST:
            found.append(text)
    return found


def mutate(data: bytes, dice: random.Random, others: list[bytes]) -> bytes:
    """Damage a text once: cut, flip, insert, remove, splice or double a part of it."""
    at = dice.randrange(len(data))
    size = min(int(dice.expovariate(1 / 200)) + 1, 20_000)
    other = dice.choice(others)
    start = dice.randrange(len(other))
    damages = (
        lambda: data[:at],
        lambda: data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :],
        lambda: data[:at] + dice.choice(_TOKENS) + data[at:],
        lambda: data[:at] + data[at + size :],
        lambda: data[:at] + other[start : start + size] + data[at:],
        lambda: data[:at] + data[at : at + size] + data[at:],
        lambda: data[:at] + other[start:],
    )
    return dice.choice(damages)()


def damaged(dice: random.Random, texts: list[bytes]) -> bytes:
    """Return a damaged trace, now and then packed and damaged once more."""
    data = dice.choice(texts)
    for _ in range(1 + int(dice.expovariate(1))):
        data = mutate(data, dice, texts) or b"{"
    if dice.random() < 0.2:
        packed = gzip.compress(data, 1)
        data = mutate(packed, dice, [packed]) if dice.random() < 0.5 else packed
    return data


def check(data: bytes, path: Path) -> str:
    """Read damaged bytes and check what must hold.

    Returns
    -------
    str
        What became of them: ``refused``, ``mended`` or ``sound``.
    """
    path.write_bytes(data)
    began = time.monotonic()
    try:
        trace = load_file(Source(str(path)))
        # what the page asks for must be able to travel
        assert json.loads(encode(info(trace, path.name, [])))
        for name, view in registry.views().items():
            encode(table(trace, view, trace.view(name)))
    except ks.KinetoscopeError:
        return "refused"
    finally:
        assert time.monotonic() - began < LONGEST_S, "too slow"
    noted = bool(trace.losses) or any(account.reason == "not a readable event" for account in trace.accounts)
    if not noted:
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        # what no figure needs is skipped without a look at its characters
        document = json.loads(text.decode("utf-8", "replace"), strict=False)
        events = document if isinstance(document, list) else document["traceEvents"]
        assert sum(account.events for account in trace.accounts) == len(events)
        return "sound"
    assert trace.file_notes or any(not account.kept for account in trace.accounts)
    return "mended"


def main(count: int, seed: int) -> None:
    """Hunt, and keep the bytes that break something."""
    texts, dice = seeds(), random.Random(seed)
    fates: dict[str, int] = {}
    path = Path("fuzz-input.pt.trace.json").resolve()
    for number in range(count):
        data = damaged(dice, texts)
        try:
            fate = check(data, path)
        except Exception:
            path.rename(path.with_suffix(f".{seed}.{number}"))
            raise
        fates[fate] = fates.get(fate, 0) + 1
    path.unlink(missing_ok=True)
    print(f"{count:,} damaged files, seed {seed}: {fates}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
