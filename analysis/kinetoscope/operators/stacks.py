"""Call stacks, merged into one tree of names, and what can be counted on it.

Definitions: ``docs/definitions.md``, "Stacks".
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting, self_time
from kinetoscope.idle.open_ranges import OpenRanges
from kinetoscope.naming import matching
from kinetoscope.operators import calltree
from kinetoscope.operators.recorded import of_ops
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.idle.causes import Segments
    from kinetoscope.linked_trace import LinkedTrace

Index = npt.NDArray[np.int64]

_FRAME = re.compile(r"^(?P<file>.*)\((?P<line>\d+)\)(?:: (?P<function>.*))?$", re.DOTALL)

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")


class HostPieces(NamedTuple):
    """Host self time in pieces.

    Parameters
    ----------
    row, node : ndarray of int64
        Rows of frames or ops, and their nodes.
    owner, start, end : ndarray of int64
        Of each piece: position in ``row``, and when, ns.
    """

    row: Index
    node: Index
    owner: Index
    start: Index
    end: Index


class Stacks:
    """The call stacks of a trace.

    Parameters
    ----------
    trace : LinkedTrace

    Attributes
    ----------
    source : {"frames", "arguments", "ops"}
        Python frames; without any, the call stacks that old recorders wrote on ops; without those, the ops themselves.
    names : list of str
        Names of frames, by the tree's keys.
    tree : Tree
    """

    def __init__(self, trace: LinkedTrace, *, with_ops: bool = False) -> None:
        self._trace = trace
        columns, rows = trace.columns, trace.host.rows
        kind = columns.kind[rows]
        python, op = kind == CODE["python"], (kind == CODE["op"]) | (kind == CODE["annotation"])
        self.source = "frames" if python.any() else "ops"
        chains: list[list[int]] = []
        if not python.any() and "stacks" in columns.extras:
            self._code, texts = of_ops(trace, trace.program.ops.rows, "stack")
            listed = [[frame.strip() for frame in text.split(";")] for text in map(_text, texts)]
            named = [[frame for frame in reversed(frames) if frame] for frames in listed]
            number = {frame: i for i, frame in enumerate(dict.fromkeys(frame for frames in named for frame in frames))}
            chains = [[number[frame] for frame in frames] for frames in named]
            self.source = "arguments" if number else "ops"
        if self.source == "arguments":
            self.names = list(number)
            self.tree, self._leaf = calltree.of_chains(chains)
            return
        chosen = rows[python | op if with_ops or self.source == "ops" else python]
        self._rows, self._thread = chosen, columns.thread[chosen].astype(np.int64)
        codes, key = np.unique(columns.name[chosen], return_inverse=True)
        # where an object lay in memory makes no frame another one
        called = [_ADDRESS.sub("", columns.names[code]) for code in codes.tolist()]
        number = {name: i for i, name in enumerate(dict.fromkeys(called))}
        self.names = list(number)
        parent = nesting.parents(self._thread, columns.end[chosen])
        same = np.array([number[name] for name in called], np.int64)
        self.tree, self._node = calltree.merge(parent, same[key.ravel()] if called else key.astype(np.int64))

    # --- where an event is on the tree ----------------------------------------------------------------------------------------------

    def at(self, thread: Index, time: Index) -> Index:
        """Return the node of the innermost frame open on threads at instants; of ops' stacks, of the innermost op. -1 for none."""
        if self.source == "arguments":
            place = self._open_ops.at(thread, time)
            code = np.where(place >= 0, self._code[np.maximum(place, 0)] if self._code.size else -1, -1)
            return np.where(code >= 0, self._leaf[np.maximum(code, 0)] if self._leaf.size else -1, -1)
        place = self._open.at(thread, time)
        return np.where(place >= 0, self._node[np.maximum(place, 0)] if self._node.size else -1, -1)

    @cached_property
    def _open(self) -> OpenRanges:
        columns = self._trace.columns
        return OpenRanges(np.arange(self._rows.size), self._thread, columns.start[self._rows], columns.end[self._rows])

    @cached_property
    def _open_ops(self) -> OpenRanges:
        ops = self._trace.program.ops
        held = np.flatnonzero(self._code >= 0)
        return OpenRanges(held, ops.thread[held], ops.start[held], ops.end[held])

    def of_work(self) -> Index:
        """Return the node of each of ``trace.work``: open at its launch; where only a backward op was, at the forward op's start. -1 for none."""
        trace = self._trace
        call = np.where(trace.launch_of_work >= 0, trace.launch_of_work, trace.op_of_work)
        node = np.full(call.size, -1, np.int64)
        known = np.flatnonzero(call >= 0)
        columns = trace.columns
        node[known] = self.or_forward(columns.thread[call[known]].astype(np.int64), columns.start[call[known]])
        return node

    def or_forward(self, thread: Index, time: Index) -> Index:
        """Return the node open on threads at instants; where only a backward op was, at the forward op's start. -1 for none."""
        trace, columns, node = self._trace, self._trace.columns, self.at(thread, time)
        row = self._backward.at(thread, time)
        # a frame inside of the backward op says more than the forward op's
        lost = np.flatnonzero((row >= 0) & (node < 0))
        partner = trace.forward_row[row[lost]]
        node[lost] = self.at(columns.thread[partner].astype(np.int64), columns.start[partner])
        return node

    @cached_property
    def _backward(self) -> OpenRanges:
        columns, host = self._trace.columns, self._trace.host.rows
        rows = host[(self._trace.forward_row >= 0)[host]]
        return OpenRanges(rows, columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows])

    # --- what weighs on it -----------------------------------------------------------------------------------------------------------

    def host_pieces(self) -> HostPieces:
        """Return the host self time of frames; where stacks are those written on ops, of the ops, -1 for one without a stack."""
        if self.source == "arguments":
            ops = self._trace.program.ops
            code = self._code
            node = np.where(code >= 0, self._leaf[np.maximum(code, 0)] if self._leaf.size else -1, -1)
            return HostPieces(ops.rows, node, *ops.pieces)
        columns = self._trace.columns
        pieces = self_time.pieces(self._thread, columns.start[self._rows], columns.end[self._rows])
        return HostPieces(self._rows, self._node, *pieces)

    def summed(self, node: Index, values: Index) -> tuple[Index, int]:
        """Add up values by node, and those of no node."""
        total = np.zeros(len(self.tree) + 1, np.int64)
        np.add.at(total, node, values)
        return total[:-1], int(total[-1])

    def of_segments(self, segments: Segments) -> Index:
        """Return the node of each segment of idle time: open on the thread that was looked at when it began. -1 for none."""
        node = np.full(len(segments), -1, np.int64)
        known = np.flatnonzero(segments.thread >= 0)
        node[known] = self.at(segments.thread[known].astype(np.int64), segments.start[known])
        return node

    # --- texts ------------------------------------------------------------------------------------------------------------------------

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """Which nodes are outside the libraries."""
        return ~matching(self.names, "library_frame")[self.tree.key]

    def sources(self, nodes: Index) -> tuple[Index, list[str]]:
        """Return the innermost frame outside the libraries that leads to nodes: its number, -1 for none, and what the numbers stand for."""
        found = self._own_of(nodes)
        return np.where(found >= 0, self.tree.key[np.maximum(found, 0)] if len(self.tree) else -1, -1), self.names

    def _own_of(self, nodes: Index) -> Index:
        """Return the innermost node outside the libraries at or above nodes; -1 for none."""
        nearest = np.where(self.own, np.arange(len(self.tree)), -1)
        for level in self.tree.levels:
            above = self.tree.parent[level]
            nearest[level] = np.where(nearest[level] >= 0, nearest[level], np.where(above >= 0, nearest[above], -1))
        return np.where(nodes >= 0, nearest[np.maximum(nodes, 0)] if nearest.size else -1, -1)

    def own_paths(self, nodes: Index) -> tuple[Index, list[str]]:
        """Return the frames outside the libraries that lead to nodes, as text, outermost first.

        Parameters
        ----------
        nodes : ndarray of int64
            -1 for none.

        Returns
        -------
        code : ndarray of int64
            -1 where there is no such frame.
        paths : list of str
            What the codes number.
        """
        found = self._own_of(nodes)
        used, back = np.unique(found, return_inverse=True)
        texts = ["" if node < 0 else self._path(node) for node in used.tolist()]
        paths = list(dict.fromkeys(text for text in texts if text))
        number = {text: i for i, text in enumerate(paths)} | {"": -1}
        return np.array([number[text] for text in texts] or [0], np.int64)[back.ravel()], paths

    def _path(self, node: int) -> str:
        frames = []
        while node >= 0:
            if self.own[node]:
                frames.append(self.names[self.tree.key[node]])
            node = int(self.tree.parent[node])
        return " > ".join(reversed(frames))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def place_of(name: str) -> tuple[str, int, str]:
    """Return file, line and function of a frame such as ``train.py(12): step``; empty and -1 for what is no Python frame."""
    found = _FRAME.match(name)
    if not found:
        return "", -1, name
    # more digits than any file has lines are no line
    digits = found["line"]
    return found["file"], int(digits) if len(digits) < 10 else -1, found["function"] or name
