"""Measure Kinetoscope beside other readers of traces, and write what came out.

Usage: make bench [ARGS="--quick"]

Every measurement is a process of its own. The tools take turns (A B C A B C …), so that a machine that becomes slower or
faster does so for all of them; figures are medians, ratios are of medians, with the least and greatest of the rounds.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine, traces
from benchmarks.cases import CASES, Case
from benchmarks.figures import Results, summarize
from benchmarks.measuring import ROOT, Limits, Sample, measure
from benchmarks.plot import plot
from benchmarks.tables import report, rewrite

HERE = Path(__file__).resolve().parent
TOOLS = ("timeline", "browser")
_TOOL_SECONDS = 600
_BUSY = 1.0


def main() -> None:
    """Measure and write."""
    options = _options()
    results = _measured(options)
    text = _as_json(results)
    folder = options.out or (options.work / "quick" if options.quick else HERE)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(text, encoding="utf-8")
    (folder / "plot.svg").write_text(plot(results), encoding="utf-8")
    if not (folder / "README.md").is_file():
        (folder / "README.md").write_text((HERE / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    rewrite(folder / "README.md", results)
    print(report(results))
    print(f"written: {folder / 'README.md'}, results.json, plot.svg")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, required=True, help="Python of the environment with the other tools")
    parser.add_argument("--work", type=Path, required=True, help="folder for made traces, caches and quick results")
    parser.add_argument(
        "--tools", type=Path, default=Path(sys.executable), help="Python for timeline.py and browser.py"
    )
    parser.add_argument("--quick", action="store_true", help="small traces, two rounds: to see that it works")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; traces of 1 GB get fewer (--large-rounds)")
    parser.add_argument("--large-rounds", type=int, default=2, help="rounds for traces of 1 GB; 0 leaves them out")
    parser.add_argument("--only", default="", help="only traces whose name contains this")
    parser.add_argument("--no-tools", action="store_true", help="leave out timeline.py and browser.py")
    parser.add_argument("--out", type=Path, help="folder for README.md, results.json and plot.svg (default: this one)")
    return parser.parse_args()


def _measured(options: argparse.Namespace) -> Results:
    """Measure everything."""
    before = machine.load()
    if before > _BUSY:
        print(f"warning: {before} processes are running on this machine; ratios stay fair, seconds do not", flush=True)
    work = options.work.resolve()
    chosen = [*traces.recorded(quick=options.quick), *traces.grown(work / "traces", quick=options.quick)]
    chosen = [trace for trace in chosen if options.only in trace.name and _rounds(trace, options)]
    measured = [_measure_trace(trace, options, work) for trace in chosen]
    tools = {} if options.no_tools else {name: _tool(name, options) for name in TOOLS}
    return {
        "date": dt.datetime.now(tz=dt.timezone.utc).date().isoformat(),
        "quick": options.quick,
        "corpus": traces.corpus() is not None,
        "growing": traces.GROWING if traces.corpus() else traces.SAMPLES[0],
        "machine": machine.describe(),
        "versions": machine.versions(Path(sys.executable), machine.PACKAGES),
        "peer_versions": machine.versions(options.peers, machine.PEERS),
        "load": {"before": before, "after": machine.load()},
        "traces": measured,
        "tools": {name: told for name, told in tools.items() if told},
    }


def _rounds(trace: traces.Trace, options: argparse.Namespace) -> int:
    """Return how often each case is measured on a trace."""
    if options.quick:
        return 2
    return int(options.large_rounds if trace.size_mb >= 1000 else options.rounds)


def _measure_trace(trace: traces.Trace, options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Measure every case on one trace, by turns."""
    print(f"{trace.name} ({trace.text_mb:,.0f} MB)", flush=True)
    load = machine.load()
    work.mkdir(parents=True, exist_ok=True)
    cache = Path(tempfile.mkdtemp(prefix="cache-", dir=work))
    try:
        keeping = measure(Path(sys.executable), "overview", trace.path, {"KINETOSCOPE_CACHE": str(cache)})
        kept = any(cache.iterdir())
        cases = [case for case in CASES if kept or case.cache == "off"]
        samples: dict[str, list[Sample]] = {case.name: [] for case in cases}
        for number in range(_rounds(trace, options)):
            for case in cases:
                if not any(sample.failure for sample in samples[case.name]):
                    samples[case.name].append(_once(case, trace, options, cache))
            print(f"  round {number + 1}: {_progress(samples)}", flush=True)
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    return {
        "name": trace.name,
        "source": trace.source,
        "text_mb": round(trace.text_mb, 2),
        "file_mb": round(trace.file_mb, 2),
        "size_mb": trace.size_mb,
        "copies": trace.copies,
        "load": {"before": load, "after": machine.load()},
        "keeping": {"process_s": round(keeping.process_s, 3), "peak_mb": round(keeping.peak_mb)} if kept else None,
        "cases": {name: summarize(found) for name, found in samples.items()},
    }


def _once(case: Case, trace: traces.Trace, options: argparse.Namespace, cache: Path) -> Sample:
    """Measure a case once."""
    python = options.peers if case.peer else Path(sys.executable)
    setting = str(cache) if case.cache == "kept" else "off"
    memory = machine.describe()["memory_gb"] * 1000
    limits = Limits(memory_mb=min(Limits().memory_mb, 0.75 * memory))
    return measure(python, case.job, trace.path, {"KINETOSCOPE_CACHE": setting}, limits)


def _progress(samples: dict[str, list[Sample]]) -> str:
    """Say what the last round took."""
    last = {name: found[-1] for name, found in samples.items()}
    spent = {name: "failed" if one.failure else f"{one.marks[-1]['seconds']:.2f} s" for name, one in last.items()}
    return ", ".join(f"{name} {said}" for name, said in spent.items())


def _tool(name: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """Run one of the other programs of this folder, which print one object; None where that fails."""
    program = HERE / f"{name}.py"
    if not program.is_file():
        return None
    print(f"{name}.py", flush=True)
    command = [str(options.tools), str(program), *(["--quick"] if options.quick else [])]
    try:
        answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=_TOOL_SECONDS)
        told: dict[str, Any] = json.loads(answer.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        print(f"  {name}.py gave no figures: {error}\n{getattr(error, 'stderr', '') or ''}", flush=True)
        return None
    return told


def _as_json(results: Results) -> str:
    """Return the results as text, a line for each case."""
    rest = {key: value for key, value in results.items() if key != "traces"}
    head = json.dumps(rest, indent=1, ensure_ascii=False)
    blocks = []
    for trace in results["traces"]:
        about = json.dumps({key: value for key, value in trace.items() if key != "cases"}, ensure_ascii=False)
        cases = ",\n".join(f'  "{name}": {json.dumps(stored)}' for name, stored in trace["cases"].items())
        blocks.append(f'{about[:-1]}, "cases": {{\n{cases}}}}}')
    return f'{head[:-2]},\n "traces": [\n' + ",\n".join(blocks) + "\n]}\n"


if __name__ == "__main__":
    main()
