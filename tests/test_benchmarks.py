"""The benchmark's own arithmetic, the traces that it makes, and that every job of Kinetoscope's runs."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from benchmarks import figures, jobs, plot, scaling, tables
from benchmarks.measuring import Limits, Sample, measure, resident_mb
from benchmarks.targets import targets

import kinetoscope as ks
from corpus import SAMPLES
from kinetoscope.views import registry

SAMPLE = next((SAMPLES / "gpu_training_synthetic").glob("worker0.1*.json.gz"))


def trace(size_mb: int, text_mb: float, **seconds: list[float]) -> dict:
    """Return a stored trace whose cases took some seconds, 100 MB each."""
    cases = {}
    for name, found in seconds.items():
        mark = {
            "name": figures.BY_NAME[name].mark,
            "seconds": 0.0,
            "cpu_seconds": 0.0,
            "peak_mb": 100.0,
            "events": 1000,
        }
        samples = [
            Sample(one + 1, one + 1, 100.0, 0.5, [{**mark, "seconds": one, "cpu_seconds": one}]) for one in found
        ]
        cases[name] = figures.summarize(samples)
    return {"name": f"{text_mb} MB", "source": "made", "size_mb": size_mb, "text_mb": text_mb, "cases": cases}


def results(*traces: dict) -> dict:
    conditions = {"before": 0.1, "after": 0.2}
    machine = {"processor": "P", "cores": 2, "memory_gb": 8.0, "system": "S", "python": "3"}
    about = {"date": "2026-01-01", "quick": False, "corpus": True, "growing": "made", "load": conditions}
    return {**about, "machine": machine, "versions": {}, "peer_versions": {}, "tools": {}, "traces": list(traces)}


# --- figures ---------------------------------------------------------------------------------------------------------


def test_a_ratio_is_of_the_medians_and_tells_the_least_and_greatest_round() -> None:
    assert figures.ratio([10.0, 30.0, 20.0], [2.0, 3.0, 1.0]) == figures.Spread(10.0, 5.0, 20.0)


def test_a_failed_case_has_no_figures_and_says_why() -> None:
    good = Sample(2.0, 1.0, 50.0, 0.5, [{"name": "frames", "seconds": 1.23456, "events": 7}])
    stored = figures.summarize([good, Sample(600.0, 1.0, 50.0, failure="needs more than 600 s")])
    assert stored["failure"] == "needs more than 600 s"
    assert stored["marks"]["frames"] == {"seconds": [1.235], "events": [7]}
    assert figures.values({"cases": {"frames": stored}}, "frames") == []


def test_growth_is_measured_between_sizes_of_one_recording() -> None:
    other = {**trace(100, 90.0, frames=[50.0]), "source": "another"}
    grown = results(trace(1000, 1000.0, frames=[22.0]), other, trace(100, 100.0, frames=[2.0]))
    assert figures.growth(grown, "frames") == [(10.0, 11.0)]


@pytest.mark.parametrize(
    ("hta", "large", "verdicts"),
    [(20.0, 22.0, [True, True]), (19.0, 22.0, [False, True]), (20.0, 22.3, [True, False])],
)
def test_targets_are_judged_at_their_edge(hta: float, large: float, verdicts: list[bool]) -> None:
    judged = targets(results(trace(100, 100.0, frames=[2.0], hta_frames=[hta]), trace(1000, 1000.0, frames=[large])))
    by_name = {one.name.split(",")[0] + one.wanted: one.met for one in judged}
    grows = next(met for name, met in by_name.items() if name.startswith("time for ten times"))
    assert [by_name["file to framesat least 10×"], grows] == verdicts


def test_what_was_not_measured_is_not_judged() -> None:
    assert {one.met for one in targets(results())} == {None}


def test_what_is_measured_by_zoom_is_judged_at_the_worst() -> None:
    zooms = [
        {"zoom": 1, "tile_ms": {"p50": 30.0, "p95": 81.0, "max": 90.0}},
        {"zoom": 10, "tile_ms": {"p50": 2, "p95": 3, "max": 4}},
    ]
    judged = {one.name: one for one in targets({**results(), "tools": {"timeline": {"zooms": zooms}}})}
    assert judged["a tile of the timeline, median"].met is True
    assert judged["a tile of the timeline, median"].found == "2.0 to 30.0 ms on 2 zooms"
    assert judged["a tile of the timeline, 95 of 100"].met is False
    assert judged["largest tile, as it is sent"].met is None


# --- tables and plot --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (0.0123, "12 ms"), (0.1, "0.10 s"), (9.876, "9.88 s"), (61.24, "61.2 s")]
)
def test_seconds_have_the_digits_that_count(value: float | None, said: str) -> None:
    assert tables.seconds(value) == said


def test_only_what_is_between_the_marks_is_rewritten(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n", encoding="utf-8")
    both = results(trace(100, 100.0, frames=[2.0], hta_frames=[30.0]))
    tables.rewrite(readme, both)
    tables.rewrite(readme, both)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{tables.BEGIN}\n")
    assert text.endswith(f"{tables.END}\nafter\n")
    assert text.count("15.0× (15.0–15.0)") == 1
    assert "old" not in text


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    text = tables.report(results(trace(100, 100.0, frames=[2.0]), trace(1000, 1000.0, views=[5.0])))
    for block in text.split("\n\n"):
        assert len({line.count(" | ") for line in block.splitlines() if line.startswith("|")}) <= 1, block


def test_what_other_programs_measured_is_a_sentence_and_a_row_for_each_zoom() -> None:
    spread = {"p50": 1.5, "p95": 2, "max": 30}
    told = {"events": 5000, "zooms": [{"zoom": 10, "tile_ms": spread}], "load": {"before": 1, "after": 2}}
    text = tables.report({**results(), "tools": {"timeline": told}})
    assert "events 5,000. Running processes: 1 before, 2 after." in text
    assert "| zoom | tile ms |" in text
    assert "| 10 | 1.5 / 2 / 30 |" in text


def test_places_move_apart_and_stay_above_the_bottom() -> None:
    assert plot.spaced([10.0, 12.0, 50.0], 5.0, 100.0) == [10.0, 15.0, 50.0]
    assert plot.spaced([97.0, 98.0], 5.0, 100.0) == [95.0, 100.0]


def test_the_plot_names_every_tool_with_its_time_at_the_largest_size() -> None:
    drawn = plot.plot(results(trace(10, 10.0, frames=[0.5]), trace(100, 100.0, frames=[2.0])))
    root = ET.fromstring(drawn)
    said = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "Kinetoscope: all frames, 2 s" in said
    assert "JSON text, MB" in said
    assert plot.plot(results(trace(10, 10.0, frames=[0.5]))) == ""


# --- made traces ------------------------------------------------------------------------------------------------------


def test_a_copy_differs_in_times_ids_and_steps_only() -> None:
    text = """{"traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1, "ts": 1000.250, "dur": 50.5,
    "args": {"External id": 7, "Record function id": 0, "note": "100 % of \\"ts\\": 5"}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1010, "dur": 20,
    "args": {"correlation": 9, "External id": 4294967295}}
], "traceName": "x"}"""
    made = scaling.take_apart(text)
    events, steps = made.part(made.events), made.part(made.markers)
    whole = json.loads(f"{made.head}{steps.copy(0)},{events.copy(0)}{made.tail}")
    assert whole == json.loads(text)
    (step,), (kernel,) = (json.loads(f"[{part.copy(2)}]") for part in (steps, events))
    stride = 51 + 100  # the recording is 50.5 µs long, and then comes a pause
    assert step["ts"] == 1000.250 + 2 * stride
    assert step["name"] == "ProfilerStep#14"
    assert step["args"] == {"External id": 7 + 2 * 10, "Record function id": 0, "note": '100 % of "ts": 5'}
    assert kernel["ts"] == 1010 + 2 * stride
    assert kernel["args"] == {"correlation": 9 + 2 * 10, "External id": 4294967295}
    assert (kernel["dur"], kernel["pid"], kernel["tid"]) == (20, 0, 7)


def test_a_made_trace_holds_its_recording_several_times_with_all_links(tmp_path: Path) -> None:
    target = tmp_path / "made.json.gz"
    size = len(gzip.decompress(SAMPLE.read_bytes()))
    assert scaling.scale(SAMPLE, target, 3 * size) == 3
    one, three = ks.load(SAMPLE), ks.load(target)
    assert len(three) == 3 * len(one)
    assert len(three.steps) == 3 * len(one.steps)
    once = one.view("kernels", by="op")[["op", "calls", "total_us"]].set_index("op")
    thrice = three.view("kernels", by="op")[["op", "calls", "total_us"]].set_index("op")
    assert (thrice.loc[once.index] - 3 * once).abs().max().max() < 0.01
    assert three.view("gaps").shape[0] >= 3 * one.view("gaps").shape[0]


def test_many_copies_share_few_long_steps(tmp_path: Path) -> None:
    text = """{"traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1, "ts": 1000, "dur": 50},
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1010, "dur": 20}
]}"""
    source, target = tmp_path / "one.json", tmp_path / "made.json.gz"
    source.write_text(text, encoding="utf-8")
    copies = scaling.scale(source, target, 20_000)
    made = ks.load(target)
    together = -(-copies // 40)
    assert together > 1
    assert len(made.ops) == copies
    assert len(made.steps) == -(-copies // together)
    # each op lies in the step that its copy shares with the copies beside it, and none lies outside
    assert set(made.ops["step"].value_counts()) <= {together, copies % together}


# --- jobs and their measurement ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("job", "stages"),
    [
        ("json_dicts", ["dicts"]),
        ("frames", ["columns", "events", "frames"]),
        ("views", ["columns", "overview", "tables", "views", "every_view"]),
        ("overview", ["columns", "overview"]),
    ],
)
def test_a_job_does_its_work_and_marks_each_stage(job: str, stages: list[str]) -> None:
    marks = jobs.Marks()
    kept = jobs.JOBS[job]()(str(SAMPLE), marks)
    assert kept is not None
    assert [mark["name"] for mark in marks.taken] == stages
    spent = [mark["seconds"] for mark in marks.taken]
    assert spent == sorted(spent)
    assert all(mark["events"] > 100 for mark in marks.taken)


def test_every_view_is_asked_for_once_and_kernels_in_every_grouping() -> None:
    opened = jobs.page_questions()
    kernels = [given["by"] for name, given in opened if name == "kernels"]
    assert kernels == list(next(one for one in registry.get("kernels").parameters if one.name == "by").choices)
    asked = [name for name, _ in opened if name != "kernels"] + jobs.other_views()
    assert sorted([*asked, "overview", "kernels", "health_events", "kernel_calls"]) == sorted(registry.views())


def test_the_longest_silence_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 4.0, 4.5])
    monkeypatch.setattr(jobs.time, "perf_counter", lambda: next(clock))
    listener = jobs.Listener()
    for _ in range(3):
        listener()
    assert listener.longest == 3.0


def test_a_measured_process_tells_what_it_cost() -> None:
    sample = measure(Path(sys.executable), "json_dicts", SAMPLE)
    assert sample.failure == ""
    assert 0 < sample.marks[-1]["seconds"] < sample.process_s
    assert 5 < sample.marks[-1]["peak_mb"] <= sample.peak_mb < 500


def test_a_process_over_its_bounds_is_ended_and_reported() -> None:
    slow = measure(Path(sys.executable), "frames", SAMPLE, limits=Limits(seconds=0.06))
    large = measure(Path(sys.executable), "frames", SAMPLE, limits=Limits(memory_mb=10))
    assert slow.failure == "needs more than 0 s"
    assert large.failure == "needs more than 0 GB of memory"
    assert slow.marks == large.marks == []


def test_a_job_that_fails_says_why(tmp_path: Path) -> None:
    sample = measure(Path(sys.executable), "json_dicts", tmp_path / "absent.json")
    assert sample.failure.startswith("FileNotFoundError")


def test_memory_of_a_process_is_seen_and_of_none_is_nothing() -> None:
    assert sys.platform != "linux" or resident_mb(os.getpid()) > 10
    assert resident_mb(2**22 + 1) == 0.0
