"""The results as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import Results, Spread, compared, growing, median, values
from benchmarks.targets import targets

BEGIN, END = "<!-- results: begin (written by make bench) -->", "<!-- results: end -->"
_MISSING = "–"

Trace = dict[str, Any]


def rewrite(readme: Path, results: Results) -> None:
    """Put the tables between the marks of a file.

    Parameters
    ----------
    readme : Path
    results : dict
    """
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(f"{before}{BEGIN}\n\n{report(results)}\n{END}{after}", encoding="utf-8")


def report(results: Results) -> str:
    """Return all tables."""
    parts = [_conditions(results), _targets(results), _reading(results), _pages(results), _cached(results)]
    parts += [_memory(results), _growing(results), _failures(results), _tools(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a Markdown table; the first columns are texts, the others numbers."""
    rule = ["---" if column < texts else "--:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def seconds(value: float | None) -> str:
    """Return seconds with the digits that count, milliseconds below a tenth."""
    if value is None:
        return _MISSING
    return f"{1000 * value:.0f} ms" if value < 0.1 else f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def megabytes(value: float | None) -> str:
    """Return MB with the digits that count."""
    return _MISSING if value is None else f"{value:,.0f} MB" if value >= 10 else f"{value:.1f} MB"


def times(value: Spread | None) -> str:
    """Return a ratio with the least and greatest of its rounds."""
    if value is None:
        return _MISSING
    digits = 2 if value.median < 2 else 1
    return f"{value.median:.{digits}f}× ({value.low:.{digits}f}–{value.high:.{digits}f})"


def _of(name: str, figure: str, mark: str = "") -> Callable[[Trace], float | None]:
    return lambda trace: median(trace, name, figure, mark)


def _conditions(results: Results) -> str:
    machine, load = results["machine"], results["load"]
    packages = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    peers = ", ".join(f"{name} {version}" for name, version in results["peer_versions"].items())
    measured = (
        f"Measured on {results['date']}: {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:.0f} GB, "
        f"{machine['system']}, Python {machine['python']}. "
        f"Running processes (average of a minute): {load['before']} before, {load['after']} after."
    )
    lines = [measured, f"{packages}. The other tools: {peers}."]
    if not results["corpus"]:
        lines.append(
            "**Without the corpus of real traces: measured on the synthetic and CPU samples of this repository.**"
        )
    if results["quick"]:
        lines.append("**Quick run: small traces, two rounds. Not to be quoted.**")
    return "\n\n".join(lines)


def _targets(results: Results) -> str:
    words = {True: "met", False: "**missed**", None: "not measured"}
    rows = [[one.name, one.wanted, one.found, words[one.met]] for one in targets(results)]
    return "### Targets\n\n" + table(("what", "wanted", "measured", "target"), rows, texts=4)


def _reading(results: Results) -> str:
    columns: tuple[Callable[[Trace], str], ...] = (
        lambda trace: trace["name"],
        lambda trace: f"{trace['text_mb']:,.0f} MB",
        lambda trace: f"{_events(trace):,}",
        lambda trace: seconds(median(trace, "json_dicts")),
        lambda trace: seconds(median(trace, "orjson_dicts")),
        lambda trace: seconds(median(trace, "orjson_floor")),
        lambda trace: seconds(median(trace, "hta_frames")),
        lambda trace: seconds(median(trace, "frames", "seconds", "columns")),
        lambda trace: seconds(median(trace, "frames", "seconds", "events")),
        lambda trace: seconds(median(trace, "frames")),
        lambda trace: times(compared(trace, "hta_frames", "frames")),
        lambda trace: times(compared(trace, "frames", "orjson_dicts")),
        lambda trace: times(compared(trace, "frames", "orjson_floor")),
    )
    head = (
        "trace",
        "JSON",
        "events",
        "json",
        "orjson",
        "orjson, no gc",
        "HTA",
        "columns",
        "events frame",
        "all frames",
    )
    ratios = ("HTA / all frames", "all frames / orjson", "all frames / orjson, no gc")
    rows = [[column(trace) for column in columns] for trace in results["traces"]]
    return (
        "### From a file to frames\n\nSeconds from the call to the result. *json*: `gzip` and `json.loads` into dicts. "
        "*orjson*: `isal` and `orjson.loads` into dicts; *no gc*: with Python's garbage collector off, which is the floor for any "
        "reader that makes dicts. *HTA*: `parse_trace_file`, one frame of the complete events. "
        "*columns*, *events frame*, *all frames*: `kinetoscope.load`, then `trace.events`, then the frames of kernels, copies, "
        "API calls, launches, operators, annotations, Python calls and steps too, each from the call of `load`. Of a ratio, "
        "the least and greatest of the rounds are in brackets.\n\n" + table((*head, *ratios), rows)
    )


def _events(trace: Trace) -> int:
    """Return how many events the file holds: what the dicts hold, else what Kinetoscope keeps."""
    found = values(trace, "json_dicts", "events") or values(trace, "frames", "events")
    return int(found[0]) if found else 0


def _pages(results: Results) -> str:
    head = ("trace", "torch_tb_profiler", "CPU", "Kinetoscope", "CPU", "ratio", "ratio of CPU", "with every view")
    rows = [
        [
            trace["name"],
            seconds(median(trace, "tensorboard_views")),
            seconds(median(trace, "tensorboard_views", "cpu_seconds")),
            seconds(median(trace, "views")),
            seconds(median(trace, "views", "cpu_seconds")),
            times(compared(trace, "tensorboard_views", "views")),
            times(compared(trace, "tensorboard_views", "views", "cpu_seconds")),
            seconds(median(trace, "views", "seconds", "every_view")),
        ]
        for trace in results["traces"]
    ]
    return (
        "### From a file to all pages\n\n*torch_tb_profiler*: `RunProfileData.parse` and `RunGenerator`, which is what its "
        "loader does with a file. *Kinetoscope*: reading, then every answer that the pages ask for when they are opened, as "
        "the bytes that are sent: overview, steps, devices, gaps, kernels in every grouping, health, the timeline's lanes, "
        "names and minimap, and its first tile. *With every view*: Kinetoscope after all other views of its registry too, which the other "
        "tool has not.\n\n" + table(head, rows)
    )


def _cached(results: Results) -> str:
    head = (
        "trace",
        "read",
        "from the cache",
        "share",
        "whole process, read",
        "whole process, from the cache",
        "first time, written too",
    )
    rows = [
        [
            trace["name"],
            seconds(median(trace, "cold_overview")),
            seconds(median(trace, "warm_overview")),
            times(compared(trace, "warm_overview", "cold_overview")),
            seconds(median(trace, "cold_overview", "process_s")),
            seconds(median(trace, "warm_overview", "process_s")),
            seconds((trace.get("keeping") or {}).get("process_s")),
        ]
        for trace in results["traces"]
    ]
    return (
        "### The first view, read and from the cache\n\n`kinetoscope.load` and the overview; traces of fewer than 20,000 events "
        "are not kept, since they are read as fast. The whole process includes Python's start and the imports. *First time, "
        "written too*: one run, the process ends when the cache is written.\n\n" + table(head, rows)
    )


def _memory(results: Results) -> str:
    columns = (
        _of("json_dicts", "process_peak_mb"),
        _of("orjson_dicts", "process_peak_mb"),
        _of("hta_frames", "process_peak_mb"),
        _of("tensorboard_views", "process_peak_mb"),
        _of("frames", "peak_mb", "columns"),
        _of("frames", "process_peak_mb"),
        _of("views", "process_peak_mb"),
        _of("warm_overview", "process_peak_mb"),
    )
    head = (
        "trace",
        "JSON",
        "json",
        "orjson",
        "HTA",
        "torch_tb_profiler",
        "columns",
        "all frames",
        "all pages",
        "first view, cached",
    )
    rows = [
        [trace["name"], megabytes(trace["text_mb"]), *(megabytes(column(trace)) for column in columns)]
        for trace in results["traces"]
    ]
    return (
        "### Peak memory\n\nLargest resident memory of the process, the interpreter and its packages included.\n\n"
        + table(head, rows)
    )


def _growing(results: Results) -> str:
    def row(trace: Trace) -> list[str]:
        events = (values(trace, "frames", "events", "columns") or [0])[0]
        cells = [f"{trace['text_mb']:,.0f} MB", f"{events:,.0f}"]
        for name in ("frames", "views"):
            spent = median(trace, name)
            cells.append(_MISSING if spent is None or not events else f"{1e6 * spent / events:.2f} µs")
        for name, figure, mark in (("frames", "peak_mb", "columns"), ("views", "process_peak_mb", "")):
            peak = median(trace, name, figure, mark)
            cells.append(_MISSING if peak is None or not events else f"{1e6 * peak / events:,.0f} B")
        return [*cells, seconds(median(trace, "frames", "longest_silence_s", "columns"))]

    rows = [row(trace) for trace in growing(results)]
    if not rows:
        return ""
    name = growing(results)[0]["name"].split(",")[0]
    head = (
        "JSON",
        "events kept",
        "all frames, per event",
        "all pages, per event",
        "peak of reading, per event",
        "peak of all pages, per event",
        "longest without progress",
    )
    return (
        f"### Growth\n\nCopies of `{name}` one after the other. *Longest without progress*: the longest time between two reports "
        "while a file is read.\n\n" + table(head, rows) + "\n\n![Seconds against size, by tool](plot.svg)"
    )


def _failures(results: Results) -> str:
    found = [
        f"- {trace['name']}, {name}: {stored['failure']}"
        for trace in results["traces"]
        for name, stored in trace["cases"].items()
        if stored["failure"]
    ]
    return "### What did not finish\n\n" + "\n".join(found) if found else ""


def _tools(results: Results) -> str:
    titles = {"timeline": "The timeline's tiles", "browser": "The page in a browser"}
    found = ((title, results["tools"].get(name)) for name, title in titles.items())
    return "\n\n".join(f"### {title}\n\n{_of_tool(told)}" for title, told in found if told)


def _of_tool(told: dict[str, Any]) -> str:
    """Return what another program measured: its figures in a sentence, and a row for each zoom."""
    said = ", ".join(
        f"{_words(key)} {_plain(value)}" for key, value in told.items() if isinstance(value, int | float | str)
    )
    load = told.get("load", {})
    conditions = f"{said}. Running processes: {load.get('before')} before, {load.get('after')} after."
    zooms: list[dict[str, Any]] = told.get("zooms", [])
    if not zooms:
        return conditions
    head = [_words(key) for key in zooms[0]]
    rows = [[_plain(zoom.get(key)) for key in zooms[0]] for zoom in zooms]
    return f"{conditions} Of a spread: median / 95 of 100 / greatest.\n\n{table(head, rows, texts=0)}"


def _words(key: str) -> str:
    return key.replace("_", " ")


def _plain(value: Any) -> str:
    """Return a figure or a spread as another program told it."""
    if isinstance(value, dict):
        return " / ".join(_plain(value.get(key)) for key in ("p50", "p95", "max"))
    return f"{value:,.6g}" if isinstance(value, int | float) else _MISSING if value is None else str(value)
