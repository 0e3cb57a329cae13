"""Make a large trace out of a real one: copies of its events one after the other on one clock.

The text of every event stays as its recorder wrote it, but for the numbers that must differ between copies: times, the ids
that link events, and the numbers of steps. So readers see the layout, the names and the links of a real recording.
Metadata events come once, before the first copy or behind the last, as they were recorded. Where the copies would have
very many steps, several copies share one long step.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

IDS = (
    "id",
    "External id",
    "external id",
    "correlation",
    "Ev Idx",
    "Python id",
    "Python parent id",
    "Record function id",
    "Sequence number",
    "wait_on_cuda_event_record_corr_id",
)
_SHIFTED = re.compile(rf'"(ts|{"|".join(IDS)})"\s*:\s*(\d+)|(ProfilerStep#)(\d+)')
_BETWEEN = re.compile(r"[\s,]*")
_ARRAY = re.compile(r'"traceEvents"\s*:\s*\[')
_LARGEST_ID = 1 << 31  # beyond it are marks such as "none", which are no ids
_STEP = re.compile(r'"ProfilerStep#(\d+)"')
_LENGTH = re.compile(r'("dur"\s*:\s*)(\d+)')
_SEPARATOR = ",\n  "
_MOST_MARKERS = 40
_PAUSE_US = 100
_GZIP_LEVEL = 6


class Part(NamedTuple):
    """Events as text to be filled in.

    Parameters
    ----------
    text : str
        Their text, ``%d`` for every number that differs between copies.
    values, strides : list of int
        Those numbers in the first copy, and how much each grows from copy to copy.
    """

    text: str
    values: list[int]
    strides: list[int]

    def copy(self, number: int) -> str:
        """Return the events of one copy, numbered from 0."""
        pairs = zip(self.values, self.strides, strict=True)
        return self.text % tuple(value + number * stride for value, stride in pairs)


class Recording(NamedTuple):
    """A trace taken apart.

    Parameters
    ----------
    head, tail : str
        What comes before the first timed event and after the last.
    events, markers : list of str
        The texts of the timed events: all but the steps' markers, and those.
    strides : dict
        By how much times, ids and steps of a copy are ahead of those of the copy before.
    """

    head: str
    tail: str
    events: list[str]
    markers: list[str]
    strides: dict[str, int]

    def part(self, texts: list[str]) -> Part:
        """Make some of its events a part that can be copied."""
        values: list[int] = []
        growth: list[int] = []

        def placeholder(match: re.Match[str]) -> str:
            digits = match[2] or match[4]
            key, number = match[1] or "step", int(digits)
            fixed = number == 0 or (key in IDS and number >= _LARGEST_ID)
            values.append(number)
            growth.append(0 if fixed else self.strides.get(key, self.strides["id"]))
            return f"{match[0].removesuffix(digits)}%d"

        return Part(_SHIFTED.sub(placeholder, _SEPARATOR.join(texts).replace("%", "%%")), values, growth)

    def long_markers(self, copies: int) -> list[str]:
        """Return the markers of its first step, long enough for several copies."""
        numbers = [int(found[1]) if (found := _STEP.search(text)) else 0 for text in self.markers]
        first = [text for text, number in zip(self.markers, numbers, strict=True) if number == min(numbers)]
        longer = (copies - 1) * self.strides["ts"]
        return [_LENGTH.sub(lambda match: f"{match[1]}{int(match[2]) + longer}", text) for text in first]


def read_text(path: Path) -> str:
    """Return the text of a trace file, unpacked; bytes that are no text come back unchanged when it is written."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return data.decode("utf-8", "surrogateescape")


def take_apart(text: str) -> Recording:
    """Take a trace apart.

    Parameters
    ----------
    text : str
        A trace with a list ``traceEvents``.

    Returns
    -------
    Recording
    """
    found = _ARRAY.search(text)
    if found is None:
        raise ValueError("no list traceEvents in the trace")
    spans = list(_events(text, found.end()))
    end = spans[-1][1] if spans else found.end()
    listed = [(text[begin:end], event) for begin, end, event in spans]
    once = [event.get("ph") == "M" for _, event in listed]
    first = once.index(False) if False in once else len(once)
    leading = "".join(f"\n  {piece}," for piece, _ in listed[:first])
    trailing = "".join(
        f"{_SEPARATOR}{piece}" for (piece, _), meta in zip(listed[first:], once[first:], strict=True) if meta
    )
    timed = [(piece, event) for piece, event in listed if event.get("ph") != "M"]
    steps = [_STEP.search(f'"{event.get("name")}"') is not None for _, event in timed]
    return Recording(
        head=text[: found.end()] + leading,
        tail=trailing + text[end:],
        events=[piece for (piece, _), step in zip(timed, steps, strict=True) if not step],
        markers=[piece for (piece, _), step in zip(timed, steps, strict=True) if step],
        strides=_strides([event for _, event in timed]),
    )


def _events(text: str, start: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield begin, end and content of each event of the list that starts at a position."""
    decode = json.JSONDecoder(strict=False).raw_decode
    at = start
    while True:
        following = _BETWEEN.match(text, at)
        begin = following.end() if following else at
        if text[begin] != "{":
            return
        event, at = decode(text, begin)
        yield begin, at, event


def _strides(events: list[dict[str, Any]]) -> dict[str, int]:
    """Return by how much the times, the ids and the steps of a copy are ahead of those of the copy before."""
    timed = [event for event in events if float(event.get("ts") or 0) > 0]
    first = min((float(event["ts"]) for event in timed), default=0)
    last = max((float(event["ts"]) + float(event.get("dur") or 0) for event in timed), default=0)
    ids, steps = 0, 0
    for event in events:
        arguments = event.get("args")
        carriers = [event, arguments] if isinstance(arguments, dict) else [event]
        numbers = (carrier.get(key) for carrier in carriers for key in IDS)
        ids = max(ids, *(number for number in numbers if isinstance(number, int) and number < _LARGEST_ID), 0)
        step = re.match(r"ProfilerStep#(\d+)", str(event.get("name")))
        steps = max(steps, int(step[1]) if step else 0)
    return {"ts": math.ceil(last - first) + _PAUSE_US, "id": ids + 1, "step": steps + 1}


def scale(source: Path, target: Path, text_bytes: int) -> int:
    """Write a trace of about a size.

    Parameters
    ----------
    source : Path
        A trace, plain or gzip.
    target : Path
        Where to write, as gzip; appears when it is complete.
    text_bytes : int
        Wanted size of the JSON text.

    Returns
    -------
    int
        How often the source was copied, at least once.
    """
    recording = take_apart(read_text(source))
    events = recording.part(recording.events)
    every_step = recording.part(recording.markers)
    size = len(events.copy(0)) + len(every_step.copy(0))
    copies = max(1, round((text_bytes - len(recording.head) - len(recording.tail)) / size))
    # a recording of a few steps: many times as many would be nobody's, and some readers take time for each
    together = math.ceil(copies * len(set(recording.markers)) / _MOST_MARKERS) if recording.markers else 1
    long_steps = recording.part(recording.long_markers(together)) if together > 1 else every_step
    partial = target.with_name(f".writing-{target.name}")
    with gzip.open(partial, "wb", compresslevel=_GZIP_LEVEL) as out:
        out.write(recording.head.encode("utf-8", "surrogateescape"))
        for number in range(copies):
            steps = [long_steps.copy(number)] if recording.markers and number % together == 0 else []
            body = _SEPARATOR.join([*steps, events.copy(number)])
            lead = "\n  " if number == 0 else _SEPARATOR
            out.write(f"{lead}{body}".encode("utf-8", "surrogateescape"))
        out.write(recording.tail.encode("utf-8", "surrogateescape"))
    partial.replace(target)
    return copies
