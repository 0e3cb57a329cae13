"""Call stacks with what weighs on them: from the outermost frame down, turned around, or by file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from kinetoscope.operators import calltree
from kinetoscope.operators.keys import thread_titles
from kinetoscope.operators.stacks import place_of
from kinetoscope.schema import CODE
from kinetoscope.views.common import Selection, longest_of, of_value
from kinetoscope.views.idle_keys import chosen_segments

if TYPE_CHECKING:
    from kinetoscope.operators.stacks import HostPieces, Stacks
    from kinetoscope.trace import Trace

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Weighed:
    """A tree of frames and what weighs on them: ns, and bytes allocated with frees left out.

    Parameters
    ----------
    names : list of str
        Names of frames, by the tree's keys.
    tree : Tree
    own : dict of str to (ndarray of int64, int)
        By weight: what each node has itself, and what has no stack.
    total : dict of str to ndarray of int64
        By weight: that of each node and of what it calls.
    longest : ndarray of int64
        Of each node, the row of its longest call; -1 where none is known.
    length : ndarray of int64
        How long that is, ns; -1 for none.
    """

    names: list[str]
    tree: calltree.Tree
    own: dict[str, tuple[Index, int]]
    total: dict[str, Index]
    longest: Index
    length: Index

    def longest_at(self, source: Index, target: Index, size: int) -> tuple[Index, Index]:
        """Return the longest of the calls of some nodes for each node of another tree that they stand behind."""
        known = self.longest[source] >= 0
        source, target = source[known], target[known]
        return _taken(self.longest[source], self.length[source], longest_of(target, self.length[source], size))


def weigh(trace: Trace, found: Stacks, selection: Selection, thread: Any = None) -> Weighed:
    """Weigh the nodes of stacks.

    Parameters
    ----------
    trace : Trace
    found : Stacks
    selection : Selection
    thread : str, optional
        Title of a host thread: only what it did, and what it launched.

    Returns
    -------
    Weighed
    """
    columns = trace.columns
    ours = np.array([*of_value(pd.Series(thread_titles(trace), dtype="str"), thread), thread is None], bool)
    pieces = found.host_pieces()
    chosen = selection.host(pieces.row) & ours[columns.thread[pieces.row]]
    held = chosen[pieces.owner]
    host = selection.lengths(pieces.start[held], pieces.end[held])
    work, device = selection.work()
    call = np.where(trace.launch_of_work >= 0, trace.launch_of_work, trace.op_of_work)
    work = work & ours[np.where(call >= 0, columns.thread[np.maximum(call, 0)], -1) if len(trace) else call]
    segments = chosen_segments(trace, selection.step, selection.start_us, selection.end_us)
    segments = segments.take(ours[segments.thread])
    events = np.flatnonzero(columns.kind == CODE["memory"])
    sizes = trace.arguments.of(events, {"Bytes": "integer"})["Bytes"]
    taken = (sizes > 0) & selection.host(events) & ours[columns.thread[events]]
    events, sizes = events[taken], sizes[taken]
    allocated = found.at(columns.thread[events].astype(np.int64), columns.start[events])
    own = {
        "host": found.summed(pieces.node[pieces.owner[held]], host),
        "device": found.summed(found.of_work()[work], device[work]),
        "idle": found.summed(found.of_segments(segments), segments.end - segments.start),
        "allocated": found.summed(allocated, sizes),
    }
    total = {name: found.tree.totals(values) for name, (values, _) in own.items()}
    return Weighed(found.names, found.tree, own, total, *_longest(trace, pieces, chosen, len(found.tree)))


def _longest(trace: Trace, pieces: HostPieces, chosen: Flags, size: int) -> tuple[Index, Index]:
    """Return the longest chosen call of each node, the first of equal ones, and its length."""
    at = np.flatnonzero(chosen & (pieces.node >= 0))
    row, node = pieces.row[at], pieces.node[at]
    duration = trace.columns.duration[row]
    return _taken(row, duration, longest_of(node, duration, size))


def _taken(row: Index, length: Index, at: Index) -> tuple[Index, Index]:
    """Return rows and lengths at positions, -1 for none."""
    if not row.size:
        return at, at
    return np.where(at >= 0, row[at], -1), np.where(at >= 0, length[at], -1)


def inverted(found: Weighed) -> Weighed:
    """Turn the tree around: what is below a node is who called it; its weight is that of the frame that the chain begins with."""
    tree, own = found.tree, found.own
    some = np.any([values != 0 for values, _ in own.values()], axis=0) if len(tree) else np.zeros(0, bool)
    turned, source, root, node = calltree.reverse(tree, some)
    result: dict[str, tuple[Index, int]] = {}
    total: dict[str, Index] = {}
    none = np.empty(0, np.int64)
    for name, (values, rest) in own.items():
        total[name] = np.zeros(len(turned), np.int64)
        for level, at in zip(source, node, strict=True):
            np.add.at(total[name], at, values[level])
        at_root = np.zeros(len(turned), np.int64)
        np.add.at(at_root, root, values[source[0]] if source else none)
        result[name] = (at_root, rest)
    longest = found.longest_at(np.concatenate([none, *source]), np.concatenate([none, *node]), len(turned))
    return Weighed(found.names, turned, result, total, *longest)


def by_file(found: Weighed) -> Weighed:
    """Make a tree of files and their frames; totals count a stack once for each file and frame in it."""
    names, tree = found.names, found.tree
    files = [place_of(name)[0] or name for name in names]
    known = {file: number for number, file in enumerate(dict.fromkeys(files))}
    file_of = np.array([known[file] for file in files], np.int64)
    used = np.unique(tree.key)
    place = np.full(len(names), -1, np.int64)
    place[used] = len(known) + np.arange(used.size)
    flat = calltree.Tree(
        np.concatenate([np.full(len(known), -1, np.int64), file_of[used]]),
        np.concatenate([np.arange(len(known)), len(known) + used]),
    )
    file, frame = file_of[tree.key], place[tree.key]
    result: dict[str, tuple[Index, int]] = {}
    total: dict[str, Index] = {}
    outer_file, outer_frame = tree.outermost(file), tree.outermost(frame)
    for name, (own, rest) in found.own.items():
        below = found.total[name]
        self_time, whole = np.zeros(len(flat), np.int64), np.zeros(len(flat), np.int64)
        np.add.at(self_time, frame, own)
        np.add.at(whole, file[outer_file], below[outer_file])
        np.add.at(whole, frame[outer_frame], below[outer_frame])
        result[name], total[name] = (self_time, rest), whole
    nodes = np.arange(len(tree))
    longest = found.longest_at(np.append(nodes, nodes), np.append(file, frame), len(flat))
    return Weighed([*known, *names], flat, result, total, *longest)
