"""Which modules take the time: the tree of modules, or their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.operators.modules import SORTS, class_of
from kinetoscope.schema import Column
from kinetoscope.self_time import outermost
from kinetoscope.views.common import (
    SELECTION,
    Selection,
    launched_elsewhere,
    no_device_note,
    pct,
    step_note,
    texts_of,
    us,
)
from kinetoscope.views.registry import Parameter, View

if TYPE_CHECKING:
    from kinetoscope.operators.modules import Modules
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]

_COLUMNS = (
    Column("id", "", "integer", "Number of the node in the tree; missing for what is outside all modules."),
    Column("parent", "", "integer", "Number of the node above it; missing for roots."),
    Column("depth", "", "integer", "How many nodes are above it."),
    Column("name", "", "text", "Module, as its class and a number; missing for what is outside all modules."),
    Column("class", "", "text", "Class of the module."),
    Column("sort", "", "text", "module, compiled region, graph (its launch call), or annotation."),
    Column("path", "", "text", "Names from the root to it."),
    Column("calls", "", "integer", "How often it ran; of graphs, launches."),
    Column(
        "host_total_us",
        "µs",
        "number",
        "Host time of its calls, with what they contain. What backward runs again counts too, and then lies outside the frame of the module above, so that it can be more than that one's.",
    ),
    Column("host_self_us", "µs", "number", "Host time of its calls outside modules below it."),
    Column("device_total_us", "µs", "number", "Device work of it and of what is below it, lengths added up."),
    Column("device_self_us", "µs", "number", "Device work of it alone: forward + backward."),
    Column("forward_us", "µs", "number", "Its own device work that was not launched under a backward op."),
    Column("backward_us", "µs", "number", "Its own device work that was launched under a backward op."),
    Column("forward_total_us", "µs", "number", "Forward device work of it and of what is below it."),
    Column("backward_total_us", "µs", "number", "Backward device work of it and of what is below it."),
    Column(
        "peak_memory_bytes",
        "bytes",
        "integer",
        "The most that was allocated within one call, above what was allocated when it began; whoever asked for it.",
    ),
    Column(
        "memory_device",
        "",
        "text",
        "Device of that memory: the one where it rose most; the host's if no other's was recorded.",
    ),
    Column("device_total_pct", "%", "number", "Part of the table's device work, with what is below it."),
)

_BY = Parameter(
    "by", "token", "What a row is: a module at its place in the tree, or a class.", ("tree", "class"), "tree"
)


def modules(
    trace: Trace,
    by: str = "tree",
    step: float | None = None,
    start_us: float | None = None,
    end_us: float | None = None,
    within: str = "start",
) -> pd.DataFrame:
    """Sum modules, compiled regions and graph launches.

    Parameters
    ----------
    trace : Trace
    by : {"tree", "class"}
        A row for each module at its place in the tree, or for all of a class.
    step, start_us, end_us, within
        See :class:`kinetoscope.views.common.Selection`.

    Returns
    -------
    pandas.DataFrame
        The tree from the top, each node followed by what is below it, most device work first; classes by device work of their own. One row of no
        name is the device work outside all modules; with it ``device_self_us`` adds up to all device work.
    """
    found = trace.program.modules
    selection = Selection(trace, step, start_us, end_us, within)
    chosen, length = selection.work()
    own = _device(found, np.where(chosen, length, 0))
    rest, own = own[:, -1], own[:, :-1]
    graphs = _graph_calls(trace, found, chosen)
    frame = (_of_classes if by == "class" else _of_tree)(found, selection, own, graphs)
    frame = pd.concat([frame, _rest(frame, rest)], ignore_index=True) if rest.sum() else frame
    frame["device_total_pct"] = pct(frame["device_total_us"], frame["device_self_us"].sum())
    order = [column.name for column in _COLUMNS if column.name in frame]
    frame = frame[order]
    elsewhere = launched_elsewhere(selection)
    frame.attrs["notes"] = [*elsewhere, *step_note(trace, step), *no_device_note(trace), *_notes(found)]
    return frame


def _device(found: Modules, length: Index) -> Index:
    """Return forward and backward device work of each node, and of none; ns."""
    own = np.zeros((2, len(found.tree) + 1), np.int64)
    np.add.at(own, (found.backward_work.astype(np.int64), found.node_of_work), length)
    return own


def _calls(found: Modules, selection: Selection) -> tuple[Index, Index, Index, Index]:
    """Return calls, which ranges are chosen, their nodes, and host self time of nodes."""
    ranges, size = found.ranges, len(found.tree)
    chosen = selection.host(ranges.row)
    kept = np.flatnonzero(chosen)
    calls = np.bincount(ranges.node[kept], minlength=size).astype(np.int64)
    owner, start, end = found.pieces
    held = chosen[owner]
    self_time = np.zeros(size, np.int64)
    np.add.at(self_time, ranges.node[owner[held]], selection.lengths(start[held], end[held]))
    return calls, kept, ranges.node[kept], self_time


def _graph_calls(trace: Trace, found: Modules, chosen: npt.NDArray[np.bool_]) -> Index:
    """Count the launches of graphs that own work of the selection, by node."""
    node = found.node_of_work
    graph = (
        chosen & (node >= 0) & (found.sort == SORTS.index("graph"))[np.maximum(node, 0)] if len(found.tree) else chosen
    )
    pairs = np.unique(np.stack([node[graph], trace.launch_of_work[graph]]), axis=1)
    return np.bincount(pairs[0], minlength=len(found.tree)).astype(np.int64) if len(found.tree) else node[:0]


def _of_tree(found: Modules, selection: Selection, own: Index, graphs: Index) -> pd.DataFrame:
    tree, ranges = found.tree, found.ranges
    calls, kept, node, self_time = _calls(found, selection)
    host = np.zeros(len(tree), np.int64)
    # a range within one of its own node cannot be: it would be a node below
    np.add.at(host, node, selection.lengths(ranges.start[kept], ranges.end[kept]))
    calls = calls + graphs
    total = np.stack([tree.totals(own[0]), tree.totals(own[1])]) if len(tree) else own
    order = (
        tree.preorder(np.lexsort((-tree.totals(self_time), -total.sum(axis=0))).argsort()) if len(tree) else tree.key
    )
    number = np.empty(len(tree), np.int64)
    number[order] = np.arange(len(tree))
    above = np.where(tree.parent >= 0, number[np.maximum(tree.parent, 0)] if len(tree) else -1, -1)
    classes = [class_of(name) for name in found.names]
    frame = pd.DataFrame(
        {
            "id": pd.array(np.arange(len(tree)), dtype="Int64"),
            "parent": pd.arrays.IntegerArray(above[order], above[order] < 0),
            "depth": pd.array(tree.depth[order].astype(np.int64), dtype="Int64"),
            "name": texts_of(tree.key[order], found.names),
            "class": texts_of(tree.key[order], classes),
            "sort": texts_of(found.sort[order].astype(np.int64), list(SORTS)),
            "path": pd.Series([found.paths[i] for i in order.tolist()], dtype="str"),
            "calls": calls[order],
            **_times(host[order], self_time[order], own[:, order], total[:, order]),
            **_memory(found, kept, number[node], len(tree)),
        }
    )
    shown = (frame["calls"] > 0) | (frame["device_total_us"] > 0)
    return frame[shown | frame["id"].isin(_ancestors(frame, shown))]


def _ancestors(frame: pd.DataFrame, shown: pd.Series[bool]) -> set[int]:
    """Return the ids of what is above shown nodes."""
    parent = frame["parent"].to_numpy(np.int64, na_value=-1)
    found: set[int] = set()
    at = np.unique(parent[shown.to_numpy(bool)])
    while (at >= 0).any():
        found.update(at[at >= 0].tolist())
        at = np.unique(parent[at[at >= 0]])
    return found


def _times(host: Index, self_time: Index, own: Index, total: Index) -> dict[str, Any]:
    return {
        "host_total_us": us(host),
        "host_self_us": us(self_time),
        "device_total_us": us(total.sum(axis=0)),
        "device_self_us": us(own.sum(axis=0)),
        "forward_us": us(own[0]),
        "backward_us": us(own[1]),
        "forward_total_us": us(total[0]),
        "backward_total_us": us(total[1]),
    }


def _memory(found: Modules, kept: Index, place: Index, size: int) -> dict[str, Any]:
    """Return how far memory rose within a call of each row, and on which device; missing where no memory was recorded.

    Parameters
    ----------
    found : Modules
    kept, place : ndarray of int64
        Calls, as positions among the ranges, and their rows.
    size : int
        How many rows there are.
    """
    curves, ranges = found.curves, found.ranges
    most, device = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    for number, curve in enumerate(curves):
        rise = np.full(size, -1, np.int64)
        np.maximum.at(rise, place, curve.rises(ranges.start[kept], ranges.end[kept]))
        device[rise > most] = number
        most = np.maximum(most, rise)
    return {
        "peak_memory_bytes": pd.arrays.IntegerArray(np.maximum(most, 0), most < 0),
        "memory_device": texts_of(device, [curve.device.name for curve in curves]),
    }


def _of_classes(found: Modules, selection: Selection, own: Index, graphs: Index) -> pd.DataFrame:
    tree, ranges = found.tree, found.ranges
    classes = [class_of(name) for name in found.names]
    known = list(dict.fromkeys(classes))
    place = {name: i for i, name in enumerate(known)}
    group = np.array([place[name] for name in classes], np.int64)[tree.key] if len(tree) else tree.key
    calls, kept, node, self_time = _calls(found, selection)
    calls = calls + graphs

    def summed(values: Index) -> Index:
        total = np.zeros(len(known), np.int64)
        np.add.at(total, group, values)
        return total

    host = np.zeros(len(known), np.int64)
    outer = outermost(group[node], ranges.thread[kept], ranges.end[kept])
    length = selection.lengths(ranges.start[kept], ranges.end[kept])
    np.add.at(host, group[node][outer], length[outer])
    top = tree.outermost(group)
    total = np.stack([summed(np.where(top, tree.totals(part), 0)) for part in own])
    frame = pd.DataFrame(
        {
            "class": texts_of(np.arange(len(known)), known),
            "calls": summed(calls),
            **_times(host, summed(self_time), np.stack([summed(part) for part in own]), total),
            **_memory(found, kept, group[node], len(known)),
        }
    )
    frame = frame[(frame["calls"] > 0) | (frame["device_total_us"] > 0)]
    return frame.sort_values(["device_self_us", "host_self_us"], ascending=False, kind="stable", ignore_index=True)


def _rest(frame: pd.DataFrame, rest: Index) -> pd.DataFrame:
    """Return the row of the device work outside all modules."""
    zero = np.zeros(1, np.int64)
    row: dict[str, Any] = {
        "calls": 0,
        **{name: value[0] for name, value in _times(zero, zero, rest[:, None], rest[:, None]).items()},
    }
    return pd.DataFrame(
        {name: pd.Series([row.get(str(name))], dtype=object).astype(frame[name].dtype) for name in frame}
    )


def _notes(found: Modules) -> list[str]:
    if not len(found.tree):
        return ["No modules were recorded (with_stack or with_modules), and no annotations that could stand for them."]
    if found.source == "annotations":
        return ["No nn.Module frames were recorded (with_stack or with_modules): annotations stand for modules."]
    if found.source == "hierarchy":
        return ["No nn.Module frames were recorded: these are the modules that TorchScript named on its ops."]
    return []


VIEW = View("modules", "Modules", modules, _COLUMNS, (_BY, *SELECTION))
