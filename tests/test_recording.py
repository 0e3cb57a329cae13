"""A trace that PyTorch writes here and now is read, and its figures are those of the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

import corpus
import reference
import test_figures

torch = pytest.importorskip("torch", reason="PyTorch is not installed: tests that record a trace are skipped")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*", "ignore::UserWarning:torch.*")
@pytest.mark.parametrize("workers", [0, 2])
def test_a_fresh_recording_is_read(workers: int, tmp_path: Path) -> None:
    import record

    path = record.record(f"run{workers}", workers, "cpu", tmp_path)
    expected = reference.figures(path)
    assert len(expected["steps"]) == record.RECORDED_STEPS
    assert all(step["split_ns"]["data_loader"] > 0 for step in expected["steps"])
    test_figures.check(corpus.Known("fresh", path, expected))
