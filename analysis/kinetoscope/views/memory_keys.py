"""What memory can be grouped by, and what its views must say beside their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinetoscope.frames import step_numbers, texts
from kinetoscope.health.finding import counted
from kinetoscope.memory.categories import CATEGORIES, CATEGORY
from kinetoscope.phases import PHASES
from kinetoscope.schema import CODE, Column
from kinetoscope.source import as_text
from kinetoscope.views.registry import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from kinetoscope.memory.curve import Curve
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

KEYS = ("op", "caller", "module", "source", "annotation", "phase", "category")
"""What blocks can be grouped by."""

KEY_COLUMNS = (
    Column("op", "", "text", "Innermost op on the thread at the allocation; missing outside all ops."),
    Column("caller", "", "text", "Innermost op around it that does not merely allocate; else the innermost."),
    Column("module", "", "text", "Innermost nn.Module then; under a backward op, the module of its forward op."),
    Column("source", "", "text", "Innermost Python frame outside the libraries, else the outermost frame."),
    Column("annotation", "", "text", "Innermost annotation then, step markers excepted."),
    Column("phase", "", "text", "forward, backward, optimizer, data or other."),
    Column("category", "", "text", "What it is for, as far as the times of allocation and free tell."),
)
DEVICE_COLUMN = Column("device", "", "text", "Device, as torch names it.")
DEVICE = Parameter("device", "text", "Only of this device, such as cpu or cuda:0.")
BLOCK_BY = Parameter("by", "token", "What the blocks are grouped by.", KEYS, "op")

_OF_NAME = frozenset(("op", "caller", "module", "source", "annotation"))


def codes_of_events(trace: Trace, at: Index, key: str) -> Index:
    """Return a number for what each of some memory events is grouped by, -1 for none; :func:`values` turns numbers into values.

    Parameters
    ----------
    trace : Trace
    at : ndarray of int64
        Positions among the memory events; -1 for none.
    key : str
        One of :data:`KEYS`, or ``step``.

    Returns
    -------
    ndarray of int64
    """
    if not at.size or not len(trace.memory.events):
        return np.full(at.size, -1, np.int64)
    if key == "category":
        block = trace.memory.block_of_event[np.maximum(at, 0)]
        of = trace.memory.category[np.maximum(block, 0)] if trace.memory.category.size else block
        return np.where((at >= 0) & (block >= 0), of, CATEGORY["unknown"]).astype(np.int64)
    found = np.asarray(getattr(trace.memory.owners, key), np.int64)[np.maximum(at, 0)]
    found = np.where(at >= 0, found, -1)
    if key in _OF_NAME and len(trace):
        found = np.where(found >= 0, trace.columns.name[np.maximum(found, 0)], -1)
    return found.astype(np.int64)


def values(trace: Trace, codes: Index, key: str) -> Any:
    """Return the values that the numbers of a key stand for, missing for -1."""
    if key == "step":
        return step_numbers(trace, codes)
    listed = {"phase": list(PHASES), "category": list(CATEGORIES)}.get(key, trace.columns.names)
    used, compact = np.unique(codes[codes >= 0], return_inverse=True)
    short = np.full(codes.size, -1, np.int32)
    short[codes >= 0] = compact
    return texts(short, [listed[i] for i in used.tolist()])


def device_names(trace: Trace, device: Index) -> pd.Categorical:
    """Return names of devices by their index among those of the memory events."""
    return texts(device.astype(np.int32), [one.name for one in trace.memory.events.devices])


def chosen_devices(trace: Trace, wanted: Any) -> list[tuple[int, Curve]]:
    """Return index and curve of the devices that are asked for; of all where none is."""
    found = list(enumerate(trace.memory.curves))
    if wanted is None:
        return found
    return [(i, curve) for i, curve in found if curve.device.name == wanted]


def notes(trace: Trace, *, blocks: bool = False, device: Any = None) -> list[str]:
    """Say what a reader of memory figures must know.

    Parameters
    ----------
    trace : Trace
    blocks : bool
        Whether the figures need blocks.
    device : str, optional
        A device that was asked for.

    Returns
    -------
    list of str
    """
    memory = trace.memory
    if not (trace.columns.kind == CODE["memory"]).any():
        found = ["No memory events were recorded: record with profile_memory=True."]
        return [*found, *_beside(trace)]
    names = [one.name for one in memory.events.devices]
    found = (
        [f"No memory of {device!r} was recorded, only of {', '.join(names) or 'none'}."]
        if device not in (None, *names)
        else []
    )
    found += _events(trace)
    if blocks:
        found += _blocks(trace)
    return [*found, *_beside(trace)]


def _events(trace: Trace) -> list[str]:
    events, found = trace.memory.events, []
    added = [curve.device.name for curve in trace.memory.curves if not curve.recorded]
    if added:
        found.append(
            f"Totals were not recorded for {', '.join(added)}: bytes are added up from 0, without what was allocated before the recording."
        )
    if events.out_of_memory.size:
        found.append(f"{counted(events.out_of_memory.size, 'allocation')} failed: out of memory.")
    if events.unusable:
        found.append(f"{counted(events.unusable, 'memory event')} without bytes or device left out.")
    jumps = sum(curve.jumps for curve in trace.memory.curves)
    if jumps:
        found.append(
            f"{counted(jumps, 'recorded total')} {'does' if jumps == 1 else 'do'} not follow from the event before: threads overtook each other, or events are missing."
        )
    return found


def _blocks(trace: Trace) -> list[str]:
    blocks = trace.memory.blocks
    if not len(trace.memory.events):
        return []
    if not blocks.addressed:
        return ["No addresses were recorded: there are curves, and no blocks."]
    before = int((blocks.allocation < 0).sum())
    told = (
        (before, "block", "was allocated before the recording", "were allocated before the recording"),
        (
            blocks.unmatched.size,
            "free",
            "is of an address that was free already: left out",
            "are of addresses that were free already: left out",
        ),
        (
            int(blocks.lost.sum()),
            "block",
            "lost its free: its address was allocated again",
            "lost their frees: their addresses were allocated again",
        ),
        (blocks.mismatched, "block", "was freed with another size", "were freed with another size"),
    )
    return [f"{counted(count, thing)} {one if count == 1 else many}." for count, thing, one, many in told if count]


def _beside(trace: Trace) -> list[str]:
    snapshots = trace.memory.beside.snapshots
    if not snapshots:
        return []
    names = _listed([as_text(path).rpartition("/")[2] for path in snapshots])
    return [
        f"{names} beside the trace may be snapshots of the allocator. Pickled files are not opened: a pickle runs whatever code is in it. To see one, convert it with tools/snapshot_to_trace.py."
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
