"""Where the real traces are that other people recorded, and what is known about them.

They are not in this repository. Tests look in the folder that ``KINETOSCOPE_CORPUS`` names, or in ``../shared/corpus``
beside the repository, and skip with a message where there is none. ``sample_traces`` is laid out alike and always there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_traces"
ABSENT = "no corpus of real traces: set KINETOSCOPE_CORPUS, or lay it at ../shared/corpus"


class Known(NamedTuple):
    """A trace and the figures that are known of it."""

    id: str
    path: Path
    expected: dict[str, Any]


def folder() -> Path | None:
    """Return the corpus folder, or None."""
    named = os.environ.get("KINETOSCOPE_CORPUS")
    path = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return path if path.is_dir() else None


def known_in(path: Path) -> list[Known]:
    """Return the traces below a folder that its ``expected/*.json`` know."""
    found = []
    for file in sorted((path / "expected").glob("*.json")):
        expected = json.loads(file.read_text(encoding="utf-8"))
        found.append(Known(file.stem, path / expected["trace"], expected))
    return found


def known() -> list[Known]:
    """Return every known trace of the corpus; none where it is absent."""
    path = folder()
    return known_in(path) if path else []


def samples() -> list[Known]:
    """Return the sample traces whose figures are known."""
    return known_in(SAMPLES)


def planned() -> list[Known]:
    """Return the synthetic samples, whose gaps were made on purpose."""
    return [known for known in samples() if "planned_gaps" in known.expected]


def parametrize(argument: str = "known", *, largest_mb: float | None = None) -> pytest.MarkDecorator:
    """Run a test once per known trace; one skipped case says why where the corpus is absent.

    Parameters
    ----------
    argument
        Name of the test's argument that takes the `Known`.
    largest_mb
        Compressed size above which a case is marked ``slow``.
    """
    cases = []
    for case in known():
        size = case.path.stat().st_size / 1e6 if case.path.is_file() else 0
        marks = [pytest.mark.slow] if largest_mb is not None and size > largest_mb else []
        cases.append(pytest.param(case, id=case.id, marks=marks))
    if not cases:
        cases = [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))]
    return pytest.mark.parametrize(argument, cases)


def trace_path(name: str) -> Path:
    """Return the one trace file of a corpus folder, or skip the test."""
    path = folder()
    if path is None:
        pytest.skip(ABSENT)
    files = sorted(file for file in (path / name).glob("*.json*") if file.is_file())
    if not files:
        pytest.skip(f"the corpus has no trace {name}")
    return files[0]
