"""Trees of names: ranges, or chains of names, of which equal names under equal parents are one node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinetoscope import nesting, self_time

Index = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """Nodes by depth: a parent comes before its children.

    Parameters
    ----------
    parent : ndarray of int64
        Position of the parent of each node, -1 for roots.
    key : ndarray of int64
        Number of the name of each node.
    """

    parent: Index
    key: Index

    def __len__(self) -> int:
        return int(self.parent.size)

    @property
    def depth(self) -> npt.NDArray[np.int32]:
        """How many ancestors each node has."""
        return nesting.depths(self.parent)

    def totals(self, values: Index) -> Index:
        """Add up each node's value and those below it."""
        return self_time.subtree_sums(self.parent, values)

    @cached_property
    def levels(self) -> list[Index]:
        """Nodes by how many ancestors they have."""
        depth = self.depth
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.searchsorted(depth[order], np.arange(1, depth.max() + 1))) if depth.size else []

    def below(self, node: int) -> npt.NDArray[np.bool_]:
        """Tell which nodes are a node or below it."""
        found = np.zeros(len(self), bool)
        found[node] = True
        for level in self.levels[1:]:
            found[level] |= found[self.parent[level]]
        return found

    def above(self, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Tell which nodes are chosen or have a chosen one below them."""
        found = chosen.copy()
        for level in reversed(self.levels[1:]):
            found[self.parent[level[found[level]]]] = True
        return found

    def outermost(self, group: Index) -> npt.NDArray[np.bool_]:
        """Tell which nodes have no ancestor of their own group."""
        free = np.ones(len(self), bool)
        at = self.parent.copy()
        active = np.flatnonzero(at >= 0)
        while active.size:
            same = group[at[active]] == group[active]
            free[active[same]] = False
            active = active[~same]
            at[active] = self.parent[at[active]]
            active = active[at[active] >= 0]
        return free

    def preorder(self, rank: Index) -> Index:
        """Return the nodes so that each is followed by its children, those of a parent by rising rank.

        Parameters
        ----------
        rank : ndarray of int64
            One per node.

        Returns
        -------
        ndarray of int64
        """
        if not len(self):
            return self.parent
        size = self.totals(np.ones(len(self), np.int64))
        depth = self.depth
        position = np.zeros(len(self), np.int64)
        order = np.lexsort((np.arange(len(self)), rank, self.parent, depth))
        bounds = np.searchsorted(depth[order], np.arange(depth.max() + 2))
        for level in range(int(depth.max()) + 1):
            nodes = order[bounds[level] : bounds[level + 1]]
            above = self.parent[nodes]
            before = np.cumsum(size[nodes]) - size[nodes]
            first = np.ones(nodes.size, bool)
            first[1:] = above[1:] != above[:-1]
            before -= np.repeat(before[first], np.diff(np.append(np.flatnonzero(first), nodes.size)))
            position[nodes] = before + np.where(above >= 0, position[np.maximum(above, 0)] + 1, 0)
        return np.argsort(position, kind="stable")


def merge(parent: Index, key: Index) -> tuple[Tree, Index]:
    """Make one node of what has equal names under equal parents.

    Parameters
    ----------
    parent : ndarray of int64
        Position of the parent of each range, -1 for roots.
    key : ndarray of int64
        Number of its name, 0 and up.

    Returns
    -------
    tree : Tree
    node : ndarray of int64
        Node of each range.
    """
    node = np.full(parent.size, -1, np.int64)
    depth = nesting.depths(parent)
    order = np.argsort(depth, kind="stable")
    levels = int(depth.max(initial=-1)) + 1
    bounds = np.searchsorted(depth[order], np.arange(levels + 1))
    names = int(key.max(initial=0)) + 1
    parents: list[Index] = [np.empty(0, np.int64)]
    keys: list[Index] = [np.empty(0, np.int64)]
    made = 0
    for level in range(levels):
        rows = order[bounds[level] : bounds[level + 1]]
        above = np.where(parent[rows] >= 0, node[np.maximum(parent[rows], 0)], -1)
        found, back = np.unique((above + 1) * names + key[rows], return_inverse=True)
        node[rows] = made + back.ravel()
        parents.append(found // names - 1)
        keys.append(found % names)
        made += found.size
    return Tree(np.concatenate(parents), np.concatenate(keys)), node


def of_chains(chains: list[list[int]]) -> tuple[Tree, Index]:
    """Make a tree of chains of names, outermost first.

    Parameters
    ----------
    chains : list of list of int

    Returns
    -------
    tree : Tree
    leaf : ndarray of int64
        Node that each chain ends in, -1 for an empty one.
    """
    length = np.array([len(chain) for chain in chains], np.int64)
    key = np.array([name for chain in chains for name in chain], np.int64)
    parent = np.arange(key.size, dtype=np.int64) - 1
    last = np.cumsum(length) - 1
    parent[(last - length + 1)[length > 0]] = -1
    tree, node = merge(parent, key)
    return tree, np.where(length > 0, node[np.maximum(last, 0)] if key.size else -1, -1)


DEEPEST = 512
"""So many callers are followed when chains are turned around: a chain of n names has n² / 2 ends."""


def reverse(tree: Tree, chosen: npt.NDArray[np.bool_]) -> tuple[Tree, list[Index], Index, list[Index]]:
    """Turn some nodes' chains around: a node's callers below it, :data:`DEEPEST` at most.

    Parameters
    ----------
    tree : Tree
    chosen : ndarray of bool
        Nodes whose chains are wanted.

    Returns
    -------
    tree : Tree
        Its roots are names of chosen nodes.
    sources : list of ndarray of int64
        Per depth of the new tree, the chosen nodes whose chains reach it.
    root : ndarray of int64
        The root that stands for each chosen node.
    nodes : list of ndarray of int64
        Per depth, the node that stands for each of the sources.
    """
    source = np.flatnonzero(chosen)
    names = int(tree.key.max(initial=0)) + 1
    parents: list[Index] = [np.empty(0, np.int64)]
    keys: list[Index] = [np.empty(0, np.int64)]
    sources: list[Index] = []
    nodes: list[Index] = []
    at, above = source, np.full(source.size, -1, np.int64)
    made = 0
    while at.size and len(nodes) < DEEPEST:
        found, back = np.unique((above + 1) * names + tree.key[at], return_inverse=True)
        parents.append(found // names - 1)
        keys.append(found % names)
        sources.append(source)
        nodes.append(made + back.ravel())
        made += found.size
        up = tree.parent[at] >= 0
        source, at, above = source[up], tree.parent[at[up]], nodes[-1][up]
    root = nodes[0] if nodes else np.empty(0, np.int64)
    return Tree(np.concatenate(parents), np.concatenate(keys)), sources, root, nodes
