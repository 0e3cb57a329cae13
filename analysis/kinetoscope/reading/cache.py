"""Columns of traces that were read before, kept as memory-mapped Arrow files.

A file of the cache is named by what it depends on: the trace's path, size, time of change and first bytes, which of its documents, and the
versions of this format and of the product. It is written beside its final name and then renamed, so that a reader never sees half of one; what
cannot be read for any reason is dropped, and the trace is read anew.

``KINETOSCOPE_CACHE`` is the folder; ``off`` for none, ``beside`` for a folder next to each trace. ``KINETOSCOPE_CACHE_BYTES`` limits its size: the
files that were used longest ago go first.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_dir

from kinetoscope._version import __version__
from kinetoscope.errors import KinetoscopeError
from kinetoscope.reading.columns import Account, Columns, Flows, Thread
from kinetoscope.reading.files import head
from kinetoscope.reading.kept import Kept
from kinetoscope.reading.losses import Loss
from kinetoscope.reading.storage import Fingerprint, is_remote
from kinetoscope.source import Source

FORMAT = 3
LEAST_EVENTS = 20_000
"""Smaller traces are read faster than a cache is worth."""

_PREFIX = 4096
_SUFFIX = ".kinetoscope.arrow"
_DEFAULT_BYTES = 10 << 30
_WRITER = "kinetoscope-cache"
_FLAGS = ("timed", "complete", "unfinished", "collective")
_DETAILS = "details."
_KEPT = "kept."

logger = logging.getLogger("kinetoscope")

Stored = tuple[Columns, dict[str, Any], tuple[Loss, ...]]


def folder_for(path: str) -> Path | None:
    """Return the folder that a trace's columns are kept in, nothing when there is no cache."""
    setting = os.environ.get("KINETOSCOPE_CACHE", "")
    if setting == "off":
        return None
    if setting == "beside":
        return None if is_remote(path) else Path(path).parent / ".kinetoscope"
    return Path(setting) if setting else Path(user_cache_dir("kinetoscope", appauthor=False))


def place_of(source: Source, fingerprint: Fingerprint) -> Path | None:
    """Return where the columns of a trace are kept, or would be.

    Parameters
    ----------
    source : Source
    fingerprint : Fingerprint
        The trace's file as it is now.

    Returns
    -------
    Path or None
    """
    folder = folder_for(source.path)
    if folder is None:
        return None
    path = source.path if is_remote(source.path) else os.path.realpath(source.path)
    # other traces of the file, other contents, other versions: other names
    about = (FORMAT, __version__, path, fingerprint.bytes, fingerprint.modified_ns, source.document)
    begin = head(source.path, _PREFIX)[:_PREFIX]
    name = hashlib.sha256(json.dumps(about).encode() + begin).hexdigest()[:40]
    return folder / f"{name}{_SUFFIX}"


def load(place: Path) -> Stored | None:
    """Read kept columns; the arrays are read from the disk when they are first used.

    Parameters
    ----------
    place : Path

    Returns
    -------
    Columns, metadata and losses, or None
        Nothing where there are none, or they cannot be read.
    """
    table = _read(place)
    if table is None:
        return None
    try:
        about = json.loads(table.schema.metadata[b"kinetoscope"])
        found = _columns(table, about)
    except (ValueError, KeyError, TypeError) as error:
        _drop(place, error)
        return None
    return found, about["metadata"], tuple(Loss(*loss) for loss in about["losses"])


def _read(place: Path) -> Any | None:
    """Read a file of the cache as an Arrow table, memory-mapped; nothing where there is none, or it cannot be read."""
    if not place.is_file():
        return None
    import pyarrow as pa

    try:
        with pa.memory_map(os.fspath(place)) as mapped:
            table = pa.ipc.open_file(mapped).read_all()
        os.utime(place)
    except (OSError, ValueError, pa.ArrowException) as error:
        _drop(place, error)
        return None
    return table


def _drop(place: Path, error: Exception) -> None:
    logger.info("the cache file %s cannot be used and is removed: %s", place, error)
    place.unlink(missing_ok=True)


def keep(place: Path, columns: Columns, metadata: dict[str, Any], losses: tuple[Loss, ...]) -> threading.Thread | None:
    """Keep columns, in the background; a failure costs nothing but the time of reading the trace again.

    Parameters
    ----------
    place : Path
    columns : Columns
    metadata : dict
    losses : tuple of Loss

    Returns
    -------
    Thread or None
        The one that writes; nothing for a trace that is too small.
    """
    if len(columns) < LEAST_EVENTS:
        return None
    writer = threading.Thread(target=_write, args=(place, lambda: _table(columns, metadata, losses)), name=_WRITER)
    writer.start()
    return writer


def _write(place: Path, make: Callable[[], Any]) -> None:
    """Write a cache file under another name, rename it, and make room."""
    import pyarrow as pa

    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        table = make()
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".writing-", delete=False) as file:
            temporary = Path(file.name)
            with pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=max(table.num_rows, 1))
        temporary.replace(place)
        _make_room(place.parent, place)
    except (OSError, ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        logger.info("the columns of a trace could not be kept at %s: %s", place, error)


def _place_of_argument(place: Path, name: str, kind: str) -> Path:
    """Return where an argument of a trace's events is kept, or would be."""
    about = hashlib.sha256(json.dumps([name, kind]).encode()).hexdigest()[:16]
    return place.with_name(f"{place.name.removesuffix(_SUFFIX)}-{about}{_SUFFIX}")


def load_argument(place: Path, name: str, kind: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], list[Any]] | None:
    """Read an argument that was kept.

    Parameters
    ----------
    place : Path
        Where the columns of the trace are kept.
    name, kind : str

    Returns
    -------
    rows, values and distinct values, or None
        Nothing where there are none, or they cannot be read.
    """
    table = _read(_place_of_argument(place, name, kind))
    if table is None:
        return None
    empty = (np.empty(0, column.type.to_pandas_dtype()) for column in table.columns)
    columns = zip(table.columns, empty, strict=True)
    rows, found = (column.chunks[0].to_numpy() if column.chunks else none for column, none in columns)
    return rows, found, json.loads(table.schema.metadata[b"kinetoscope"])


def keep_argument(
    place: Path, name: str, kind: str, about: tuple[npt.NDArray[Any], npt.NDArray[Any], list[Any]]
) -> threading.Thread:
    """Keep an argument, in the background; ``about`` is what :func:`load_argument` returns."""
    rows, found, distinct = about

    def table() -> Any:
        import pyarrow as pa

        described = {"kinetoscope": json.dumps(distinct)}
        return pa.table({"rows": rows, "values": found}).replace_schema_metadata(described)

    writer = threading.Thread(target=_write, args=(_place_of_argument(place, name, kind), table), name=_WRITER)
    writer.start()
    return writer


def _make_room(folder: Path, newest: Path) -> None:
    """Remove the files that were used longest ago until the cache is within its size, and what unfinished writers left."""
    text = os.environ.get("KINETOSCOPE_CACHE_BYTES", "")
    most = int(text) if text.isdigit() else _DEFAULT_BYTES
    files = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    total = 0
    for path in files:
        total += path.stat().st_size
        if total > most and path != newest:
            path.unlink(missing_ok=True)
    hour_ago = newest.stat().st_mtime - 3600
    for path in folder.glob(".writing-*"):
        if path.stat().st_mtime < hour_ago:
            path.unlink(missing_ok=True)


def _table(columns: Columns, metadata: dict[str, Any], losses: tuple[Loss, ...]) -> Any:
    """Return columns as an Arrow table; what is no array of the events goes into its description."""
    import pyarrow as pa

    arrays = {field.name: getattr(columns, field.name) for field in fields(Columns)}
    details, kept = arrays.pop("details"), arrays.pop("kept")
    flat = {name: values for name, values in arrays.items() if isinstance(values, np.ndarray)}
    flat |= {f"{_DETAILS}{name}": values for name, values in details.items()}
    flows = {field.name: getattr(columns.flows, field.name).tolist() for field in fields(Flows)}
    about = {
        "flows": flows,
        "shapes": columns.shapes,
        "extras": columns.extras,
        "categories": columns.categories,
        "names": columns.names,
        "threads": columns.threads,
        "origin_ns": columns.origin_ns,
        "accounts": columns.accounts,
        "metadata": metadata,
        "losses": losses,
    }
    packed = {name: pa.array(_narrow(values)) for name, values in flat.items()}
    packed |= {f"{_KEPT}{name}": _lists(one, len(columns)) for name, one in kept.items()}
    described = {"kinetoscope": json.dumps(about).encode()}
    return pa.table(packed).replace_schema_metadata(described)


def _lists(kept: Kept, count: int) -> Any:
    """Return kept arguments as a list of each event, empty for those of other kinds."""
    import pyarrow as pa

    ends = np.zeros(count + 1, np.int32)
    ends[kept.rows + 1] = kept.values.shape[1]
    return pa.ListArray.from_arrays(np.cumsum(ends, dtype=np.int32), kept.values.ravel())


def _kept(table: Any, name: str) -> Kept:
    """Return kept arguments."""
    lists = table.column(name).chunks[0]
    rows = np.flatnonzero(np.diff(lists.offsets.to_numpy()))
    values = lists.values.to_numpy().reshape(rows.size, -1)
    rows.flags.writeable = False
    return Kept(rows, values)


def _narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers in as few bytes as they need, flags in one each."""
    if values.dtype == bool:
        return values.view(np.uint8)
    if values.dtype.kind != "i" or not values.size:
        return values
    low, high = int(values.min()), int(values.max())
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return values.astype(kind)
    return values


_WIDE: dict[str, type] = {"kind": np.int8, "category": np.int32, "name": np.int32, "thread": np.int32}


def _column(table: Any, name: str) -> npt.NDArray[Any]:
    """Return one column in the type that the product computes with."""
    chunks = table.column(name).chunks
    values = chunks[0].to_numpy(zero_copy_only=False) if chunks else np.empty(0, np.int64)
    if name in _FLAGS:
        return np.asarray(values.view(bool) if values.dtype == np.uint8 else values.astype(bool))
    if values.dtype.kind == "f":
        return np.asarray(values)
    wide = np.int32 if name in ("details.grid", "details.block") else _WIDE.get(name, np.int64)
    return np.asarray(values.astype(wide, copy=False))


class _Parts(Mapping[str, Any]):
    """What stands under names with a common beginning, each read when it is first asked for."""

    def __init__(self, table: Any, prefix: str, read: Callable[[Any, str], Any]) -> None:
        self._names = [name.removeprefix(prefix) for name in table.column_names if name.startswith(prefix)]
        self._table, self._prefix, self._read = table, prefix, read
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = self._read(self._table, self._prefix + name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _columns(table: Any, about: dict[str, Any]) -> Columns:
    """Return columns that are read from a table when they are first used."""
    if table.num_rows and any(len(table.column(name).chunks) != 1 for name in table.column_names):
        raise KinetoscopeError("a cache file has more pieces than it should")
    flows = {
        name: np.array(values, dtype)
        for (name, values), dtype in zip(about["flows"].items(), (np.int64, np.int32, np.int64, bool), strict=True)
    }
    ready = {
        "flows": Flows(**flows),
        "shapes": about["shapes"],
        "extras": about["extras"],
        "categories": about["categories"],
        "names": about["names"],
        "threads": [Thread(*thread) for thread in about["threads"]],
        "origin_ns": about["origin_ns"],
        "accounts": [Account(*account) for account in about["accounts"]],
        "details": _Parts(table, _DETAILS, _column),
        "kept": _Parts(table, _KEPT, _kept),
    }
    return Columns.lazy(ready, lambda name: _column(table, name))
