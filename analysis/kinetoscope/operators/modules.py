"""Modules as a tree: ``nn.Module`` frames, compiled regions and graph launches, and what device work belongs to each.

Definitions: ``docs/definitions.md``, "Modules".
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting, self_time
from kinetoscope.idle.open_ranges import OpenRanges
from kinetoscope.naming import matching
from kinetoscope.operators import calltree
from kinetoscope.operators.recorded import of_ops
from kinetoscope.schema import CODE

if TYPE_CHECKING:
    from kinetoscope.linked_trace import LinkedTrace
    from kinetoscope.memory.curve import Curve

Index = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SORTS = ("module", "compiled region", "graph", "annotation")
"""What a node of the tree can be."""

_PREFIX = "nn.Module: "
_STEP = re.compile(r"(?:[^.()]|\([^()]*\))+")


class Ranges(NamedTuple):
    """Host ranges that stand for modules, in nesting order.

    Parameters
    ----------
    row : ndarray of int64
        Row of the columns.
    thread, start, end : ndarray of int64
    node : ndarray of int64
        Node of the tree.
    """

    row: Index
    thread: Index
    start: Index
    end: Index
    node: Index


class Modules:
    """The modules of a trace.

    Where there are ``nn.Module`` frames, those and compiled regions are the tree. Without, the module hierarchy that TorchScript's ops carry; without
    that, annotations.

    Parameters
    ----------
    trace : LinkedTrace

    Attributes
    ----------
    source : {"frames", "hierarchy", "annotations"}
        What the tree is made of.
    names : list of str
        Names of nodes, by the tree's keys.
    ranges : Ranges
    """

    def __init__(self, trace: LinkedTrace) -> None:
        self._trace = trace
        columns, rows = trace.columns, trace.host.rows
        linked = rows[(columns.kind[rows] == CODE["op"]) & (trace.forward_row[rows] >= 0)]
        thread = columns.thread[linked].astype(np.int64)
        self._backward = OpenRanges(linked, thread, columns.start[linked], columns.end[linked])
        self.source, self.names, self._hosts, self.ranges = _found(trace, self._backward)
        self._open = OpenRanges(np.arange(self.ranges.row.size), *self.ranges[1:4])

    def at(self, thread: Index, time: Index) -> tuple[Index, Flags]:
        """Tell which module threads were in.

        Parameters
        ----------
        thread, time : ndarray of int64

        Returns
        -------
        node : ndarray of int64
            Of the range that started last among the open ones; where a backward op with a known forward op started later still, that of the forward
            op. -1 for none.
        backward : ndarray of bool
            Whether such a backward op was open.
        """
        trace, start = self._trace, self._trace.columns.start
        place, row = self._open.at(thread, time), self._backward.at(thread, time)
        node = self._node(place)
        began = np.where(place >= 0, self.ranges.start[np.maximum(place, 0)] if self.ranges.row.size else -1, -1)
        later = np.flatnonzero(
            (row >= 0) & ((place < 0) | (start[np.maximum(row, 0)] > began) if len(trace) else False)
        )
        forward = trace.forward_row[row[later]]
        of_forward = self._node(self._open.at(trace.columns.thread[forward].astype(np.int64), start[forward]))
        node[later] = np.where(of_forward >= 0, of_forward, node[later])
        return node, row >= 0

    def _node(self, place: Index) -> Index:
        if not self.ranges.row.size:
            return np.full(place.size, -1, np.int64)
        return np.where(place >= 0, self.ranges.node[np.maximum(place, 0)], -1)

    @cached_property
    def of_op(self) -> tuple[Index, Flags]:
        """Node and direction of each of the trace's ops and annotations, at its start."""
        ops = self._trace.program.ops
        node, backward = self.at(ops.thread, ops.start)
        if self.source != "hierarchy":
            return node, backward
        code, distinct = of_ops(self._trace, ops.rows, "hierarchy")
        known = {name: number for number, name in enumerate(self.names)}
        _, leaf = calltree.of_chains([[known[name] for name in _steps(text)] for text in distinct])
        return np.where(code >= 0, leaf[np.maximum(code, 0)], -1), backward

    @cached_property
    def _placed(self) -> tuple[calltree.Tree, Index, Flags]:
        """Tree with the nodes of graph launches, node of each of ``trace.work``, and whether it is a backward op's."""
        trace, columns = self._trace, self._trace.columns
        call, op = trace.launch_of_work, trace.op_of_work
        by = np.where(call >= 0, call, op)
        known = by >= 0
        node, backward = np.full(by.size, -1, np.int64), np.zeros(by.size, bool)
        if self.source == "hierarchy":
            place = trace.program.ops.owner_of_work
            owned = place >= 0
            node[owned], backward[owned] = (part[place[owned]] for part in self.of_op)
        else:
            node[known], backward[known] = self.at(columns.thread[by[known]].astype(np.int64), columns.start[by[known]])
        graph = (call >= 0) & matching(columns.names, "graph_launch")[columns.name[np.maximum(call, 0)]]
        tree = self._hosts
        if graph.any():
            key = columns.name[call[graph]].astype(np.int64)
            names, back = np.unique(key, return_inverse=True)
            pairs, place = np.unique((node[graph] + 1) * names.size + back.ravel(), return_inverse=True)
            first = len(tree)
            node[graph] = first + place.ravel()
            keys = len(self.names) + pairs % names.size
            self.names = [*self.names, *(columns.names[i] for i in names.tolist())]
            tree = calltree.Tree(
                np.concatenate([tree.parent, pairs // names.size - 1]), np.concatenate([tree.key, keys])
            )
        return tree, node, backward

    @property
    def tree(self) -> calltree.Tree:
        """All nodes; those of graph launches come last."""
        return self._placed[0]

    @property
    def node_of_work(self) -> Index:
        """Node of each of ``trace.work``, -1 for work outside all modules."""
        return self._placed[1]

    @property
    def backward_work(self) -> Flags:
        """Which of ``trace.work`` was launched under a backward op."""
        return self._placed[2]

    @cached_property
    def pieces(self) -> self_time.Pieces:
        """Host self time of the ranges."""
        return self_time.pieces(*self.ranges[1:4])

    @cached_property
    def curves(self) -> list[Curve]:
        """Memory of the devices; the host's only where no other's was recorded."""
        curves = self._trace.memory.curves
        return [curve for curve in curves if not curve.device.host] or curves

    @cached_property
    def sort(self) -> npt.NDArray[np.int8]:
        """What each node is: index into :data:`SORTS`."""
        tree = self.tree
        compiled = matching(self.names, "compiled_region")[tree.key]
        usual = SORTS.index("annotation" if self.source == "annotations" else "module")
        sort = np.where(compiled, SORTS.index("compiled region"), usual)
        sort[len(self._hosts) :] = SORTS.index("graph")
        return sort.astype(np.int8)

    @cached_property
    def paths(self) -> list[str]:
        """Names from the root to each node, joined by ``/``."""
        tree = self.tree
        found: list[str] = []
        for parent, key in zip(tree.parent.tolist(), tree.key.tolist(), strict=True):
            found.append(f"{found[parent]}/{self.names[key]}" if parent >= 0 else self.names[key])
        return found


def class_of(name: str) -> str:
    """Return the class of an instance such as ``Linear_3``; a name without a number is its own class."""
    return re.sub(r"_\d+$", "", name)


def _found(trace: LinkedTrace, backward: OpenRanges) -> tuple[str, list[str], calltree.Tree, Ranges]:
    """Find what the tree is made of."""
    columns, rows = trace.columns, trace.host.rows
    kind, name = columns.kind[rows], columns.name[rows]
    python = kind == CODE["python"]
    frames = python & matching(columns.names, "module_frame")[name]
    ranges = ((kind == CODE["op"]) | (kind == CODE["annotation"])) & matching(columns.names, "compiled_region")[name]
    if not frames.any():
        chains = [_steps(text) for text in _hierarchies(trace)]
        number = {step: i for i, step in enumerate(dict.fromkeys(step for chain in chains for step in chain))}
        if number:
            tree, _ = calltree.of_chains([[number[step] for step in chain] for chain in chains])
            return "hierarchy", list(number), tree, _ranges(trace, rows[:0], rows[:0])
        if not ranges.any():
            ranges = (kind == CODE["annotation"]) & ~np.isin(rows, trace.steps_table.row)
            names, tree, found = _tree(trace, rows[ranges], backward)
            return "annotations", names, tree, found
    names, tree, found = _tree(trace, rows[frames | ranges], backward)
    return "frames", names, tree, found


def _hierarchies(trace: LinkedTrace) -> list[Any]:
    """Return the distinct module hierarchies that ops carry."""
    # recorders that know of the switch write it; that of stacks alone gives frames, but no hierarchies
    switches = trace.metadata
    if not (trace.columns.kind == CODE["op"]).any() or ("with_stack" in switches and "with_modules" not in switches):
        return []
    return of_ops(trace, trace.host.rows[:0], "hierarchy")[1]


def _steps(text: object) -> list[str]:
    """Cut a module hierarchy such as ``SELF(Net)::forward.conv(Conv2d)::forward`` into its modules."""
    found = _STEP.findall(text) if isinstance(text, str) else []
    return [step.split("::")[0] for step in found if step.split("::")[0]]


def _tree(trace: LinkedTrace, rows: Index, backward: OpenRanges) -> tuple[list[str], calltree.Tree, Ranges]:
    columns = trace.columns
    thread, start, end = columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows]
    parent = nesting.parents(thread, end)
    # what a backward op computes again belongs where the forward op was
    roots = np.flatnonzero(parent < 0)
    within = backward.at(thread[roots], start[roots])
    again, forward = roots[within >= 0], trace.forward_row[within[within >= 0]]
    ranges = OpenRanges(np.arange(rows.size), thread, start, end)
    around = ranges.at(columns.thread[forward].astype(np.int64), columns.start[forward])
    # a forward op that began no earlier, as only a damaged file has it, would close a circle
    sound = (around >= 0) & (start[np.maximum(around, 0)] < start[again])
    again, around = again[sound], around[sound]
    parent[again] = _above_itself(columns.name[rows], parent, again, around)
    codes, key = np.unique(columns.name[rows], return_inverse=True)
    tree, node = calltree.merge(parent, key.ravel().astype(np.int64))
    names = [columns.names[code].removeprefix(_PREFIX) for code in codes.tolist()]
    return names, tree, _ranges(trace, rows, node)


def _above_itself(name: npt.NDArray[np.int32], parent: Index, again: Index, around: Index) -> Index:
    """Return what each range that is computed again lies in: what its own module lay in, where that is around the forward op; else that op's module.

    The forward op may be one within the module: ops that make no node of the autograd graph all bear the number of the next one.
    """
    found, at = around.copy(), around.copy()
    active = np.arange(again.size)
    while active.size:
        same = name[at[active]] == name[again[active]]
        found[active[same]] = parent[at[active[same]]]
        active = active[~same]
        at[active] = parent[at[active]]
        active = active[at[active] >= 0]
    return found


def _ranges(trace: LinkedTrace, rows: Index, node: Index) -> Ranges:
    columns = trace.columns
    return Ranges(rows, columns.thread[rows].astype(np.int64), columns.start[rows], columns.end[rows], node)
