"""What the figures were measured on: machine, load, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

PACKAGES = ("kinetoscope", "numpy", "pandas", "pyarrow", "msgspec", "isal", "orjson")
PEERS = ("HolisticTraceAnalysis", "torch-tb-profiler", "numpy", "pandas")
_ASK = "import importlib.metadata as m, json, sys; print(json.dumps({p: m.version(p) for p in sys.argv[1:]}))"


def load() -> float:
    """Return the average number of running processes in the last minute, one decimal."""
    return round(os.getloadavg()[0], 1)


def describe() -> dict[str, Any]:
    """Return the machine's processor, cores, memory and system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    """Return the processor's model."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def versions(python: Path, packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of packages that an environment has."""
    import json

    answer = subprocess.run(
        [os.fspath(python), "-c", _ASK, *packages], check=True, capture_output=True, text=True, timeout=60
    )
    found: dict[str, str] = json.loads(answer.stdout)
    return found
