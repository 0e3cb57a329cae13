"""Memory of each device over time, thinned out so that no peak is lost; and what PyTorch exported itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.errors import KinetoscopeError
from kinetoscope.frames import optional
from kinetoscope.memory.categories import CATEGORIES
from kinetoscope.memory.curve import thinned
from kinetoscope.reading import memory_timeline as exported_files
from kinetoscope.reading.arguments import MISSING
from kinetoscope.schema import Column
from kinetoscope.source import as_text
from kinetoscope.views.common import us
from kinetoscope.views.memory_keys import DEVICE, DEVICE_COLUMN, chosen_devices, notes
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.memory.curve import Curve
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_TIME = Column("time_us", "µs", "number", "From this time on, from the trace's origin.")
_POINTS = 2000
_RANGE = (
    Parameter("start_us", "time", "From here on; the first row of a device is its level then."),
    Parameter("end_us", "time", "Up to here."),
    Parameter(
        "points", "amount", "The most rows for each device; all are shown where they are no more.", default=_POINTS
    ),
)
_OF_CATEGORY = tuple(
    Column(f"{name}_bytes", "bytes", "integer", f"Of that, {name.replace('_', ' ')}.") for name in CATEGORIES
)
_COLUMNS = (
    DEVICE_COLUMN,
    _TIME,
    Column("allocated_bytes", "bytes", "integer", "Allocated."),
    Column("reserved_bytes", "bytes", "integer", "Held by the caching allocator; missing where there is none."),
    *_OF_CATEGORY,
)


def memory_timeline(
    trace: Trace,
    device: Any = None,
    start_us: float | None = None,
    end_us: float | None = None,
    points: Any = _POINTS,
    by: str = "total",
) -> pd.DataFrame:
    """Follow the memory of each device over time.

    Parameters
    ----------
    trace : Trace
    device : str, optional
        Only this device.
    start_us, end_us : float, optional
        Only this range; the first row of a device is its level at the start of the range.
    points : float
        The most rows for each device. Where there are more events, each stretch of time keeps its first and last value and the extremes of both
        totals.
    by : {"total", "category"}
        Whether to tell categories apart too; they add up to what is allocated.

    Returns
    -------
    pandas.DataFrame
        By device and time.
    """
    bounds = tuple(None if value is None else round(value * 1000) for value in (start_us, end_us))
    of_category = by == "category"
    frames = [
        _of_device(trace, curve, bounds, int(points), of_category=of_category)
        for _, curve in chosen_devices(trace, device)
    ]
    wanted = [column.name for column in (_COLUMNS if of_category else _COLUMNS[:4])]
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=wanted)
    frame["device"] = frame["device"].astype("category")
    frame.attrs["notes"] = notes(trace, blocks=of_category, device=device)
    return frame


def _of_device(
    trace: Trace, curve: Curve, bounds: tuple[int | None, ...], points: int, *, of_category: bool
) -> pd.DataFrame:
    start, end = bounds
    first = 0 if start is None else max(int(curve.entry(start)), 0)
    last = curve.time.size if end is None else int(np.searchsorted(curve.time, end, side="left"))
    tracks = [track[first:last] for track in (curve.allocated, curve.reserved) if track is not None]
    entry = thinned(curve.time[first:last], tracks, points) + first
    reserved = np.full(entry.size, MISSING) if curve.reserved is None else curve.reserved[entry]
    time = curve.time[entry] if start is None else np.maximum(curve.time[entry], start)
    found: dict[str, Any] = {
        "device": pd.Categorical([curve.device.name] * entry.size),
        "time_us": us(time),
        "allocated_bytes": curve.allocated[entry],
        "reserved_bytes": optional(reserved, reserved == MISSING),
    }
    if of_category:
        parts = trace.memory.by_category[:, curve.event[entry]]
        found |= {f"{name}_bytes": parts[code] for code, name in enumerate(CATEGORIES)}
    return pd.DataFrame(found)


_EXPORTED = (
    Column("file", "", "text", "Name of the file."),
    _TIME,
    Column("allocated_bytes", "bytes", "integer", "All categories together."),
    *(
        Column(f"{name}_bytes", "bytes", "integer", f"PyTorch's category {name.replace('_', ' ')}.")
        for name in exported_files.CATEGORIES
    ),
)


def memory_exported(
    trace: Trace,
    file: Any = None,
    start_us: float | None = None,
    end_us: float | None = None,
    points: Any = _POINTS,
) -> pd.DataFrame:
    """Show what ``export_memory_timeline`` wrote beside the trace: bytes by category over time.

    Parameters
    ----------
    trace : Trace
    file : str, optional
        Only the file of this name.
    start_us, end_us : float, optional
        Only this range.
    points : float
        The most rows for each file.

    Returns
    -------
    pandas.DataFrame
        By file and time. Files that cannot be read are named in a note.
    """
    told: list[str] = []
    frames = []
    paths = {as_text(path).replace("\\", "/").rpartition("/")[2]: path for path in trace.memory.beside.exports}
    for name, path in paths.items():
        if file is None or file == name:
            try:
                frames.append(_of_file(trace, name, exported_files.read(path), (start_us, end_us), int(points)))
            except KinetoscopeError as error:
                told.append(f"{name} was left out: {error.message}.")
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[one.name for one in _EXPORTED])
    frame["file"] = frame["file"].astype("category")
    if not paths:
        told.append("No file of export_memory_timeline (.json or .raw.json.gz) lies beside the trace.")
    frame.attrs["notes"] = told
    return frame


def _of_file(
    trace: Trace,
    name: str,
    found: exported_files.Exported,
    bounds: tuple[float | None, float | None],
    points: int,
) -> pd.DataFrame:
    time = found.time - trace.origin_ns
    start, end = (None if bound is None else round(bound * 1000) for bound in bounds)
    first = 0 if start is None else max(int(np.searchsorted(time, start, side="right")) - 1, 0)
    last = time.size if end is None else int(np.searchsorted(time, end, side="left"))
    total = found.bytes.sum(axis=0)
    entry = thinned(time[first:last], [total[first:last]], points) + first
    shown = time[entry] if start is None else np.maximum(time[entry], start)
    parts = {f"{one}_bytes": found.bytes[code, entry] for code, one in enumerate(exported_files.CATEGORIES)}
    return pd.DataFrame(
        {
            "file": pd.Categorical([name] * entry.size),
            "time_us": us(shown),
            "allocated_bytes": total[entry],
            **parts,
        }
    )


_BY = Parameter("by", "token", "Totals only, or categories too.", ("total", "category"), "total")
VIEW = View("memory_timeline", "Memory over time", memory_timeline, _COLUMNS, (_BY, DEVICE, *_RANGE))
EXPORTED = View(
    "memory_exported",
    "Memory timeline that PyTorch exported",
    memory_exported,
    _EXPORTED,
    (Parameter("file", "text", "Only the file of this name."), *_RANGE),
)
