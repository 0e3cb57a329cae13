"""Run one job in a process of its own, bounded in time and memory, and measure it from outside too."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
_LOOK_EVERY_S = 0.05
_ERROR_CHARACTERS = 300


@dataclass(frozen=True)
class Limits:
    """What a job may use before it is ended.

    Parameters
    ----------
    seconds : float
    memory_mb : float
        Resident memory of the process and its children.
    """

    seconds: float = 600.0
    memory_mb: float = 16_000.0


@dataclass(frozen=True)
class Sample:
    """What one run of a job cost.

    Parameters
    ----------
    process_s, process_cpu_s : float
        Wall and CPU seconds of the whole process, the interpreter's start and imports included.
    peak_mb : float
        Largest resident memory of the process and its children together.
    import_s : float
    marks : list of dict
        Stages of the work, as :class:`benchmarks.jobs.Marks` notes them.
    failure : str
        Why there are no marks; empty when the job was done.
    """

    process_s: float
    process_cpu_s: float
    peak_mb: float
    import_s: float = 0.0
    marks: list[dict[str, Any]] = field(default_factory=list)
    failure: str = ""


class Watcher(threading.Thread):
    """Looks at the memory of a process and its children, and ends them when they use too much of anything."""

    def __init__(self, pid: int, limits: Limits) -> None:
        super().__init__(daemon=True)
        self.peak_mb = 0.0
        self.verdict = ""
        self._pid = pid
        self._limits = limits
        self._over = threading.Event()

    def run(self) -> None:
        """Look until told to stop."""
        until = time.monotonic() + self._limits.seconds
        while not self._over.wait(_LOOK_EVERY_S):
            used = resident_mb(self._pid)
            self.peak_mb = max(self.peak_mb, used)
            if used > self._limits.memory_mb:
                self._end(f"needs more than {self._limits.memory_mb / 1000:.0f} GB of memory")
            elif time.monotonic() > until:
                self._end(f"needs more than {self._limits.seconds:.0f} s")

    def stop(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()

    def _end(self, verdict: str) -> None:
        self.verdict = verdict
        self._over.set()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process and its children in MB; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        children = [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for child in (thread / "children").read_text(encoding="ascii").split()
        ]
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6 + sum(resident_mb(child) for child in children)


def measure(
    python: Path, job: str, trace: Path, environment: dict[str, str] | None = None, limits: Limits | None = None
) -> Sample:
    """Run a job once.

    Parameters
    ----------
    python : Path
        Interpreter of the environment that the job needs.
    job : str
        One of :data:`benchmarks.jobs.JOBS`.
    trace : Path
    environment : dict, optional
        Variables to set.
    limits : Limits, optional

    Returns
    -------
    Sample
    """
    command = [os.fspath(python), "-m", "benchmarks.jobs", job, os.fspath(trace)]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": "", **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        watcher = Watcher(process.pid, limits or Limits())
        watcher.start()
        # unlike Popen's own wait, this tells what the process and its children used
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        watcher.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        failure = watcher.verdict or ("" if process.returncode == 0 else _reason(process.returncode, _all(errors)))
        if failure:
            return Sample(seconds, cpu, watcher.peak_mb, failure=failure)
        found = json.loads(_all(output).splitlines()[-1])
    return Sample(seconds, cpu, max(watcher.peak_mb, found["peak_mb"]), found["import_seconds"], found["marks"])


def _all(file: IO[bytes]) -> bytes:
    """Return what was written to a file."""
    file.seek(0)
    return file.read()


def _reason(code: int, errors: bytes) -> str:
    """Say how a job ended that did not do its work."""
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return (lines[-1] if lines else f"ended with code {code}")[:_ERROR_CHARACTERS]
