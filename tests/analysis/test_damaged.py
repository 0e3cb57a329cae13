"""Any bytes are read, mended or refused; whatever is written well comes back as it was."""

import random

from hypothesis import given
from hypothesis import strategies as st

import fuzzing
import kinetoscope as ks
from build import TraceBuilder
from kinetoscope_tb.encoding import encode
from kinetoscope_tb.info import info
from tables import trace_of

COUNT = 200


def test_damaged_files_do_no_harm(tmp_path):
    texts, dice = fuzzing.seeds(), random.Random(20261129)
    fates = [fuzzing.check(fuzzing.damaged(dice, texts), tmp_path / "t.pt.trace.json") for _ in range(COUNT)]
    assert set(fates) == {"refused", "mended", "sound"}


def test_numbers_of_mended_metadata_can_travel(tmp_path):
    path = tmp_path / "t.pt.trace.json"
    path.write_text(
        '{"deviceProperties": [{"id": 0, "name": "X", "share": 0.5, "most": 1e999}], "ratio": 2.5, "traceEvents": [{"ph": "X", '
        '"cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2}, {"ph": "X"'
    )
    trace = ks.load(path)
    assert trace.metadata["ratio"] == 2.5
    assert trace.metadata["deviceProperties"] == [{"id": 0, "name": "X", "share": 0.5, "most": "1E+999"}]
    assert b'"X"' in encode(info(trace, path.name, []))


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["cpu_op", "user_annotation", "python_function", "cuda_runtime", "kernel", "gpu_memcpy", "new_one"]
        ),
        NAMES,
        st.integers(1, 10**15),
        st.integers(0, 10**9),
        st.one_of(st.integers(0, 99), st.sampled_from(["7", "stream 7", "Spans"])),
        st.one_of(st.none(), st.integers(1, 2**62)),
    ),
    max_size=20,
)


@given(EVENTS)
def test_what_is_written_comes_back(events):
    builder = TraceBuilder()
    for category, name, start, length, tid, correlation in events:
        args = {} if correlation is None else {"correlation": correlation}
        place = {"pid": 0, "tid": tid, "ts": start, "dur": length}
        builder.raw({"ph": "X", "cat": category, "name": name, **place, "args": args})
    trace = trace_of(builder)
    columns = trace.columns
    origin = columns.origin_ns
    found = list(
        zip(
            (columns.categories[i] for i in columns.category),
            (columns.names[i] for i in columns.name),
            ((columns.start + origin) // 1000).tolist(),
            (columns.duration // 1000).tolist(),
            (value or None for value in columns.correlation.tolist()),
            strict=True,
        )
    )
    # a Python frame's arguments are decoded when one is asked for
    expected = [(*event[:4], None if event[0] == "python_function" else event[5]) for event in events]
    assert found == expected
    assert columns.id.tolist() == list(range(len(events)))
    assert not trace.losses
