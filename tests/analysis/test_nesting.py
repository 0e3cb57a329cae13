"""Parents, owners and depths are those that the plain definition gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope import nesting

RANGES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 15), st.integers(0, 1)), max_size=40)


def ordered(ranges):
    thread, start, length, tie = (
        (np.array(column, np.int64) for column in zip(*ranges, strict=True)) if ranges else (np.empty(0, np.int64),) * 4
    )
    order = nesting.order(thread, start, start + length, tie.astype(np.int8))
    return thread[order], start[order], (start + length)[order], tie[order]


def innermost(i, thread, end, holders):
    """Return the nearest earlier holder on the thread that ends no earlier."""
    fitting = [j for j in holders if j < i and thread[j] == thread[i] and end[j] >= end[i]]
    return max(fitting, default=-1)


@given(RANGES)
def test_parents(ranges):
    thread, start, end, _ = ordered(ranges)
    parent = nesting.parents(thread, end)
    assert parent.tolist() == [innermost(i, thread, end, range(i)) for i in range(end.size)]
    held = parent >= 0
    assert (start[parent[held]] <= start[held]).all()


@given(RANGES)
def test_enclosing_finds_the_innermost_holder_of_each_query(ranges):
    thread, _, end, tie = ordered(ranges)
    holder = tie == 0
    places = np.flatnonzero(holder)
    parent = nesting.parents(thread[holder], end[holder])
    query = ~holder
    found = nesting.enclosing(end[holder], parent, nesting.nearest_before(holder, thread)[query], end[query])
    expected = [innermost(i, thread, end, places.tolist()) for i in np.flatnonzero(query)]
    assert [places[f] if f >= 0 else -1 for f in found.tolist()] == expected


@given(RANGES)
def test_depths_count_ancestors(ranges):
    thread, _, end, _ = ordered(ranges)
    parent = nesting.parents(thread, end)
    for i, depth in enumerate(nesting.depths(parent).tolist()):
        steps, at = 0, parent[i]
        while at >= 0:
            steps, at = steps + 1, parent[at]
        assert depth == steps


@given(RANGES)
def test_subtrees_are_contiguous(ranges):
    thread, _, end, _ = ordered(ranges)
    parent = nesting.parents(thread, end).tolist()
    for i, after in enumerate(nesting.after_subtree(thread, end).tolist()):
        below = {i}
        for j in range(i + 1, end.size):
            if parent[j] in below:
                below.add(j)
        assert below == set(range(i, after))


def test_a_long_row_of_siblings_and_a_deep_stack_take_few_rounds():
    n = 200_000
    thread = np.zeros(n, np.int64)
    assert (nesting.parents(thread, np.arange(n) + 1) == -1).all()
    deep = nesting.parents(thread, np.arange(n, 0, -1))
    assert (deep == np.arange(-1, n - 1)).all()
    assert (nesting.depths(deep) == np.arange(n)).all()
