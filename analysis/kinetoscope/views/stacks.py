"""Call stacks: which source lines the host's time, the device's work and its idle time come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.operators import calltree
from kinetoscope.operators.keys import thread_titles
from kinetoscope.operators.stacks import Stacks, place_of
from kinetoscope.schema import Column
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
from kinetoscope.views.stack_forms import Weighed, by_file, inverted, weigh

if TYPE_CHECKING:
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SMALLER = "(smaller)"
"""Name of the row that stands for the children of a node that are left out."""

_WEIGHTS = ("host", "device", "idle", "allocated")
_FORMS: dict[str, Callable[[Weighed], Weighed]] = {
    "top_down": lambda found: found,
    "inverted": inverted,
    "file": by_file,
}

_FOUND = 1000
"""At most this many nodes are kept because they were searched for."""

_UNITS = {"host": "us", "device": "us", "idle": "us", "allocated": "bytes"}

_COLUMNS = (
    Column("id", "", "integer", "Number of the node."),
    Column("parent", "", "integer", "Number of the node above it; missing for roots."),
    Column(
        "node",
        "",
        "integer",
        "Number of the node in the whole tree, for root; of (smaller) that of the node above, missing for what has no stack.",
    ),
    Column("depth", "", "integer", "How many nodes are above it."),
    Column("name", "", "text", "Frame; missing for what has no stack, (smaller) for children that are left out."),
    Column("file", "", "text", "Source file of the frame."),
    Column("line", "", "integer", "Line of the frame, as recorded: mostly the first of its function."),
    Column("nodes", "", "integer", "Nodes that the row stands for, those with nothing of the selection left out."),
    Column(
        "longest_id", "", "integer", "Event id of the longest call of this very stack; missing where none is known."
    ),
    Column("host_self_us", "µs", "number", "Host time in the frame itself."),
    Column("host_total_us", "µs", "number", "Host time in it and in what it calls."),
    Column(
        "device_self_us", "µs", "number", "Device work launched by it; of backward ops, at their forward op's place."
    ),
    Column("device_total_us", "µs", "number", "Device work launched by it and by what it calls."),
    Column("idle_self_us", "µs", "number", "Idle time of devices while it was the innermost frame."),
    Column("idle_total_us", "µs", "number", "Idle time of devices in it and in what it calls."),
    Column("allocated_self_bytes", "bytes", "integer", "Bytes allocated by it, on all devices; frees left out."),
    Column("allocated_total_bytes", "bytes", "integer", "Bytes allocated by it and by what it calls."),
    Column("share_pct", "%", "number", "Total of the chosen weight as part of all of it."),
)

_PARAMETERS = (
    Parameter(
        "form",
        "token",
        "From the outermost frame down, from the innermost up, or by file.",
        tuple(_FORMS),
        "top_down",
    ),
    Parameter(
        "weight",
        "token",
        "What rows are sorted and left out by; by default device work, else host time.",
        ("auto", *_WEIGHTS),
        "auto",
    ),
    Parameter("frames", "token", "Python frames only, or ops and annotations too.", ("python", "all"), "python"),
    Parameter("min_share_pct", "amount", "Nodes with a smaller part of the weight are left out.", default=0.5),
    Parameter(
        "root",
        "number",
        "Only what is below this node of the whole tree (column node); shares are left out by its total.",
    ),
    Parameter("find", "text", "Nodes whose names hold all these words, and none after a -, are never left out."),
    Parameter("thread", "text", "Only this host thread, and what it launched."),
    *SELECTION,
)


def stacks(
    trace: Trace,
    form: str = "top_down",
    weight: str = "auto",
    frames: str = "python",
    min_share_pct: float = 0.5,
    **narrowed: Any,
) -> pd.DataFrame:
    """Sum call stacks, equal frames under equal ones together.

    Parameters
    ----------
    trace : Trace
    form : {"top_down", "inverted", "file"}
        Callers above what they call; what is called above its callers; or files above their frames.
    weight : {"auto", "host", "device", "idle", "allocated"}
        What rows are sorted and left out by; ``auto`` is device work where there is some, else host time.
    frames : {"python", "all"}
        Whether ops and annotations are nodes too.
    min_share_pct : float
        What is smaller is left out; a row ``(smaller)`` under its parent has the sum.
    **narrowed
        ``root``: a node of the whole tree (column ``node``); what is not below it is left out, and what is smaller than the share of its total.
        ``find``: words; nodes whose names hold all of them, and none after a ``-``, are never left out, of many the largest 1,000.
        ``thread``: title of a host thread. ``step, start_us, end_us, within``: see :class:`kinetoscope.views.common.Selection`; idle time is always
        cut to it, as in :func:`kinetoscope.views.idle.idle`.

    Returns
    -------
    pandas.DataFrame
        The tree from the top, each node followed by what is below it. One row of no name is what has no stack. Self values of all rows add up to
        the whole of the selection.
    """
    found = Stacks(trace, with_ops=True) if frames == "all" else trace.program.stacks
    asked = {name: narrowed.pop(name, None) for name in ("root", "find", "thread")}
    selection = Selection(trace, **narrowed)
    weighed = _FORMS[form](weigh(trace, found, selection, asked["thread"]))
    chosen = ("device" if trace.work.size else "host") if weight == "auto" else weight
    own, rest = weighed.own[chosen]
    whole = int(own.sum()) + rest
    large, told = _large(weighed, chosen, (min_share_pct / 100.0, whole), asked)
    frame = _rows(trace, weighed, large, chosen)
    frame["share_pct"] = pct(frame[f"{chosen}_total_{_UNITS[chosen]}"], whole / (1000 if _UNITS[chosen] == "us" else 1))
    deep = form == "inverted" and len(found.tree.levels) > calltree.DEEPEST
    told += [f"Callers are followed {calltree.DEEPEST} frames up."] if deep else []
    told += _no_thread(trace, asked["thread"])
    told += [*launched_elsewhere(selection), *step_note(trace, selection.step)]
    frame.attrs["notes"] = [*told, *_notes(found), *no_device_note(trace)]
    return frame


def _no_thread(trace: Trace, thread: Any) -> list[str]:
    """Say which threads there are, where one is asked for that is not."""
    titles = thread_titles(trace)
    if thread is None or thread in titles:
        return []
    return [f"There is no thread {thread!r}; the threads are {', '.join(titles[:10]) or 'none'}."]


def _large(found: Weighed, by: str, least: tuple[float, int], asked: dict[str, Any]) -> tuple[Flags, list[str]]:
    """Tell which nodes have a row of their own, and what a reader must know of that; ``least`` is a share and of what."""
    tree, total, (share, whole) = found.tree, found.total[by], least
    root, words, notes = asked["root"], asked["find"], []
    inside = np.ones(len(tree), bool)
    if isinstance(root, int | float):
        node = int(root)
        if not 0 <= node < len(tree):
            return np.zeros(len(tree), bool), [f"There is no node {node}."]
        inside, whole = tree.below(node), int(total[node])
    large = inside & (total >= max(share * whole, 1))
    if isinstance(root, int | float):
        large[int(root)] = True
    if isinstance(words, str):
        fits = np.array([*(_holds(name, words) for name in found.names), False], bool)
        hits = np.flatnonzero(inside & fits[tree.key] & (total > 0))
        if hits.size > _FOUND:
            notes = [f"{hits.size:,} frames fit; the largest {_FOUND:,} are shown."]
            hits = hits[np.argsort(-total[hits], kind="stable")[:_FOUND]]
        large[hits] = True
    return large, notes


def _holds(name: str, words: str) -> bool:
    """Tell whether a name holds all words, and none of those after a ``-``."""
    text = name.lower()
    return all(
        (word[1:] not in text) if word[0] == "-" and word[1:] else word in text for word in words.lower().split()
    )


def _rows(trace: Trace, found: Weighed, large: Flags, by: str) -> pd.DataFrame:
    """Return the rows of the large nodes, of what is left out under each, and of what has no stack."""
    names, tree, total = found.names, found.tree, found.total
    shown = tree.above(large)
    # what has nothing of the selection is not told of
    some = np.any([whole != 0 for whole in total.values()], axis=0) if len(tree) else shown
    hidden = np.flatnonzero(~shown & some)
    above = tree.parent[hidden]
    top = hidden[(above < 0) | shown[np.maximum(above, 0)]] if hidden.size else hidden
    parents, group = np.unique(tree.parent[top], return_inverse=True)
    # a row for each parent of what is left out, below what is shown
    kept = np.flatnonzero(shown)
    key = np.append(np.arange(len(names)), [len(names), len(names) + 1])
    small = calltree.Tree(
        np.concatenate([_renumbered(shown, tree.parent[kept]), _renumbered(shown, parents)]),
        np.concatenate([key[tree.key[kept]], np.full(parents.size, len(names))]),
    )
    figures: dict[str, tuple[Index, Index, int]] = {}
    for name, (own, rest) in found.own.items():
        inner = np.bincount(group.ravel(), tree.totals(own)[top], minlength=parents.size).astype(np.int64)
        whole = np.bincount(group.ravel(), total[name][top], minlength=parents.size).astype(np.int64)
        figures[name] = np.append(own[kept], inner), np.append(total[name][kept], whole), rest
    count = np.bincount(group.ravel(), tree.totals(some.astype(np.int64))[top], minlength=parents.size)
    nodes = np.append(np.ones(kept.size, np.int64), count.astype(np.int64))
    longest = np.append(found.longest[kept], np.full(parents.size, -1, np.int64))
    events = trace.columns.id[np.maximum(longest, 0)] if len(trace) else longest
    kinds = np.stack([nodes, np.append(kept, parents), np.where(longest >= 0, events, -1)])
    return _frame([*names, SMALLER], small, kinds, figures, by)


def _renumbered(shown: npt.NDArray[np.bool_], nodes: Index) -> Index:
    number = np.cumsum(shown) - 1
    return np.where(nodes >= 0, number[np.maximum(nodes, 0)] if number.size else -1, -1)


def _frame(
    names: list[str], tree: calltree.Tree, counted: Index, figures: dict[str, tuple[Index, Index, int]], by: str
) -> pd.DataFrame:
    """Return the table of a tree; ``counted`` has of each how many nodes of the whole tree it stands for, the number of its own or its parent's, and its longest call."""
    # what is left out comes last under its parent
    smaller = tree.key == len(names) - 1
    order = tree.preorder(np.lexsort((-figures[by][1], smaller)).argsort().astype(np.int64))
    number = np.empty(len(tree), np.int64)
    number[order] = np.arange(len(tree))
    above = np.where(tree.parent >= 0, number[np.maximum(tree.parent, 0)] if len(tree) else -1, -1)[order]
    used, code = np.unique(tree.key[order], return_inverse=True)
    places = [place_of(names[key]) for key in used.tolist()]
    files, lines = (
        [place[0] for place in places],
        np.array([place[1] for place in places] or [0], np.int64)[code.ravel()],
    )
    file_code = np.array([-1 if not file else i for i, file in enumerate(files)] or [0], np.int64)[code.ravel()]
    rest = any(left for _, _, left in figures.values())
    tail = np.full(int(rest), -1, np.int64)
    columns: dict[str, Any] = {
        "id": pd.array(np.arange(len(tree) + tail.size), dtype="Int64"),
        "parent": _missing(np.append(above, tail)),
        "node": _missing(np.append(counted[1][order], tail)),
        "depth": np.append(tree.depth[order], tail + 1),
        "name": texts_of(np.append(tree.key[order], tail), names),
        "file": texts_of(np.append(file_code, tail), files),
        "line": _missing(np.append(lines[: len(tree)], tail)),
        "nodes": np.append(counted[0][order], tail + 1),
        "longest_id": _missing(np.append(counted[2][order], tail)),
    }
    for name, (own, total, left) in figures.items():
        convert: Callable[[Any], Any] = us if _UNITS[name] == "us" else np.asarray
        last = np.full(tail.size, left, np.int64)
        columns[f"{name}_self_{_UNITS[name]}"] = convert(np.append(own[order], last))
        columns[f"{name}_total_{_UNITS[name]}"] = convert(np.append(total[order], last))
    return pd.DataFrame(columns)


def _missing(values: Index) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(values.astype(np.int64), values < 0)


def _notes(found: Stacks) -> list[str]:
    if found.source == "ops":
        return ["No Python stacks were recorded (with_stack): ops and annotations stand for them."]
    if found.source == "arguments":
        return ["Stacks are those that the recorder wrote on ops: time outside ops has none."]
    return []


VIEW = View("stacks", "Call stacks", stacks, _COLUMNS, _PARAMETERS)
