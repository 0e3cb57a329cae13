"""Write down what is known of a sample trace: the figures of ``tests/reference.py``, and what its maker adds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def write(trace: Path, name: str, **more: Any) -> Path:
    """Write ``expected/NAME.json`` beside the trace's folder; return its path."""
    sys.path.insert(0, str(ROOT / "tests"))
    import reference

    folder = trace.parent.parent / "expected"
    folder.mkdir(exist_ok=True)
    known = {"trace": f"{trace.parent.name}/{trace.name}", **reference.figures(trace), **more}
    target = folder / f"{name}.json"
    target.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return target
