"""What PyTorch's ``export_memory_timeline`` wrote: bytes by category over time, in ``.json`` and ``.raw.json.gz``.

Snapshots of the allocator (``.pickle``) lie beside traces too. They are counted and never opened: unpickling runs whatever code is in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from kinetoscope.errors import KinetoscopeError, UnreadableError
from kinetoscope.reading import storage
from kinetoscope.reading.files import head, read_text

Index = npt.NDArray[np.int64]

CATEGORIES = (
    "parameter",
    "optimizer_state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd_detail",
    "unknown",
)
"""PyTorch's categories, in the order of their numbers in the files."""

_MAYBE = re.compile(r"(?<!\.pt\.trace)\.json(?:\.gz)?$|\.raw\.gz$", re.IGNORECASE)
_PICKLE = re.compile(r"\.(?:pickle|pkl)(?:\.gz)?$", re.IGNORECASE)
_LIKELY = re.compile("mem", re.IGNORECASE)
_BEGIN = re.compile(rb"\s*\[\s*\[\s*-?\d")
_MOST_HEADS = 64
_FIELDS = 4


@dataclass(frozen=True)
class Beside:
    """What lies beside a trace; paths.

    Parameters
    ----------
    exports : list of str
        Files that begin like an exported memory timeline.
    snapshots : list of str
        Pickled files, which are not opened.
    """

    exports: list[str]
    snapshots: list[str]


@dataclass(frozen=True)
class Exported:
    """An exported memory timeline.

    Parameters
    ----------
    time : ndarray of int64
        ns since 1970, ascending.
    bytes : ndarray of int64
        Bytes of each of :data:`CATEGORIES` from each time on; categories × times.
    """

    time: Index
    bytes: npt.NDArray[np.int64]


def beside(path: str) -> Beside:
    """Look for memory files in the folder of a trace.

    Parameters
    ----------
    path : str
        The trace file.

    Returns
    -------
    Beside
        Empty where the folder cannot be listed. Names with "mem" in them are looked at first, and 64 files at most.
    """
    folder = path.rpartition("/")[0] if storage.is_remote(path) else str(Path(path).absolute().parent)
    try:
        place = storage.of(folder)
        found = next(iter(place.walk(folder, lambda _: None)), None)
    except KinetoscopeError:
        return Beside([], [])
    names = found.names if found else []
    candidates = sorted((name for name in names if _MAYBE.search(name)), key=lambda name: not _LIKELY.search(name))
    paths = [place.join(folder, name) for name in candidates[:_MOST_HEADS]]
    return Beside(
        sorted(file for file in paths if _begins_like_one(file, place)),
        [place.join(folder, name) for name in names if _PICKLE.search(name)],
    )


def _begins_like_one(path: str, place: storage.Storage) -> bool:
    try:
        return not place.is_special(path) and bool(_BEGIN.match(head(path, 1 << 12)))
    except KinetoscopeError:
        return False


def read(path: str) -> Exported:
    """Read an exported memory timeline, of either form.

    Raises
    ------
    UnreadableError
        When the file cannot be read, or is none.
    """
    try:
        data = msgspec.json.decode(read_text(path), type=list[list[Any]])
        return _by_time(data) if _is_by_time(data) else _raw(data)
    except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, IndexError, RecursionError) as error:
        raise UnreadableError(
            f"no memory timeline: {error}", where=path, hint="export_memory_timeline writes .json or .raw.json.gz"
        ) from error


def _is_by_time(data: list[list[Any]]) -> bool:
    return len(data) == 2 and (not data[1] or isinstance(data[1][0], list))


def _by_time(data: list[list[Any]]) -> Exported:
    """Read times in µs, and sizes by category behind an unused 0."""
    time = np.array(data[0], np.int64) * 1000
    sizes = np.array(data[1], np.int64).reshape(time.size, -1)
    if time.size and sizes.shape[1] != len(CATEGORIES) + 1:
        raise ValueError(f"{sizes.shape[1]} numbers at each time, not {len(CATEGORIES) + 1}")
    return _ordered(time, sizes[:, 1:].T if time.size else np.zeros((len(CATEGORIES), 0), np.int64))


def _raw(data: list[list[Any]]) -> Exported:
    """Add up events of time in ns, action, signed bytes and category; time -1 stands for before the recording."""
    events = np.array(data, np.int64)
    if events.ndim != 2 or events.shape[1] != _FIELDS or ((events[:, 3] < 0) | (events[:, 3] >= len(CATEGORIES))).any():
        raise ValueError("its events are not time, action, bytes and category")
    time = events[:, 0]
    begun = time[time >= 0]
    time = np.where(time >= 0, time, begun.min() if begun.size else 0)
    order = np.argsort(time, kind="stable")
    time, events = time[order], events[order]
    sizes = np.where(events[:, 3] == np.arange(len(CATEGORIES))[:, None], events[:, 2], 0)
    last = np.append(time[1:] != time[:-1], True)
    return Exported(time[last], np.cumsum(sizes, axis=1)[:, last])


def _ordered(time: Index, sizes: npt.NDArray[np.int64]) -> Exported:
    order = np.argsort(time, kind="stable")
    return Exported(time[order], sizes[:, order])
