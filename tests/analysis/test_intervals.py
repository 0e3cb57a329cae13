"""Interval sets behave like sets of nanoseconds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope import intervals

PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(-3, 20)), max_size=30)


def as_set(found: intervals.IntervalSet) -> set[int]:
    return {i for a, b in zip(*(x.tolist() for x in found), strict=True) for i in range(a, b)}


def points(pairs: list[tuple[int, int]]) -> set[int]:
    return {i for start, length in pairs for i in range(start, start + length)}


def union(pairs: list[tuple[int, int]]) -> intervals.IntervalSet:
    return intervals.union([a for a, _ in pairs], [a + n for a, n in pairs])


@given(PAIRS)
def test_union_is_sorted_disjoint_and_holds_the_same_instants(pairs):
    starts, ends = union(pairs)
    assert as_set((starts, ends)) == points(pairs)
    assert (ends > starts).all()
    assert (starts[1:] > ends[:-1]).all(), "touching intervals are one"


@given(PAIRS, PAIRS)
def test_intersect_and_subtract_are_those_of_sets(one, other):
    a, b = union(one), union(other)
    assert as_set(intervals.intersect(a, b)) == as_set(a) & as_set(b)
    assert as_set(intervals.subtract(a, b)) == as_set(a) - as_set(b)
    assert as_set(intervals.merge(a, b)) == as_set(a) | as_set(b)
    assert intervals.measure(intervals.intersect(a, b)) + intervals.measure(
        intervals.subtract(a, b)
    ) == intervals.measure(a)


@given(PAIRS, st.integers(-5, 90), st.integers(0, 60))
def test_clip_and_complement_share_a_stretch_between_them(pairs, start, length):
    covered = union(pairs)
    inside, outside = (
        intervals.clip(covered, start, start + length),
        intervals.complement(covered, start, start + length),
    )
    assert as_set(inside) == as_set(covered) & set(range(start, start + length))
    assert as_set(outside) == set(range(start, start + length)) - as_set(covered)


@given(PAIRS, st.lists(st.integers(-5, 100), max_size=20))
def test_covered_before_counts_instants(pairs, times):
    covered = union(pairs)
    assert intervals.covered_before(covered, times).tolist() == [sum(i < t for i in as_set(covered)) for t in times]


@given(PAIRS, PAIRS)
def test_summed_counts_overlaps_each_time(pairs, window_pairs):
    window = union(window_pairs)
    starts = np.array([a for a, _ in pairs], np.int64)
    ends = np.array([a + n for a, n in pairs], np.int64)
    expected = sum(i in as_set(window) for a, n in pairs for i in range(a, a + n))
    assert intervals.summed(starts, ends, window) == expected
