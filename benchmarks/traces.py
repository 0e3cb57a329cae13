"""Which traces are measured: real ones where there is a corpus, and large ones made of one of them."""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scaling import scale

ROOT = Path(__file__).resolve().parent.parent
RECORDED = (
    "v100_resnet50_workers0",
    "a100_rank3_of_8",
    "h100_timesformer",
    "rtx2080_resnet",
    "mi300_resnet_ddp",
    "b200_eager",
)
QUICK = ("h100_timesformer",)
SAMPLES = ("gpu_training_synthetic", "cpu_training_workers2")
GROWING = "h100_qwen"
"""The trace that grows: one step of a language model, with stacks, shapes and memory; 8.6 MB of text."""

MADE = ((GROWING, 10), (GROWING, 100), ("a100_rank3_of_8", 100), (GROWING, 1000))
"""Made traces: of which recording, and of how many MB of text. The first is about the recording itself."""

QUICK_MADE = ((GROWING, 10), (GROWING, 40))
SAMPLES_MADE = ((SAMPLES[0], 10), (SAMPLES[0], 100), (SAMPLES[0], 1000))
_SUFFIX = ".pt.trace.json.gz"


@dataclass(frozen=True)
class Trace:
    """A trace to measure.

    Parameters
    ----------
    name : str
        What the tables call it.
    source : str
        The recording.
    path : Path
    text_mb : float
        Size of its JSON text in MB of 10^6 bytes.
    file_mb : float
        Size of the file.
    size_mb : int
        For a made trace the size that was wanted; 0 for one as it was recorded.
    copies : int
        How many copies of the recorded trace it has.
    """

    name: str
    source: str
    path: Path
    text_mb: float
    file_mb: float
    size_mb: int = 0
    copies: int = 1


def corpus() -> Path | None:
    """Return the folder of real traces, ``KINETOSCOPE_CORPUS`` or ``../shared/corpus``; None where there is none."""
    named = os.environ.get("KINETOSCOPE_CORPUS")
    path = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return path if path.is_dir() else None


def recorded(*, quick: bool = False) -> list[Trace]:
    """Return the traces as they were recorded; those of ``sample_traces`` where there is no corpus."""
    folder, names = (corpus(), QUICK if quick else RECORDED) if corpus() else (ROOT / "sample_traces", SAMPLES)
    found = [(name, _file(folder / name)) for name in names if folder]
    return [_described(name, path) for name, path in found if path]


def grown(folder: Path, *, quick: bool = False) -> list[Trace]:
    """Make the traces of growing size, or take those that were made before.

    Parameters
    ----------
    folder : Path
        Where they are kept.
    quick : bool
        Only small ones.

    Returns
    -------
    list of Trace
        By size.
    """
    folder.mkdir(parents=True, exist_ok=True)
    where = corpus() or ROOT / "sample_traces"
    wanted = (QUICK_MADE if quick else MADE) if corpus() else SAMPLES_MADE[: 2 if quick else None]
    found = ((_file(where / name), name, size) for name, size in wanted)
    return [_made(source, name, size, folder) for source, name, size in found if source]


def _made(source: Path, name: str, size: int, folder: Path) -> Trace:
    """Make a trace of some MB, or take it from the folder."""
    # the source's own size is in the name, so that another source of that name makes another file
    target = folder / f"{name}.{source.stat().st_size}.{size}{_SUFFIX}"
    if not target.is_file():
        print(f"making a trace of {size} MB from {name}", flush=True)
        scale(source, target, size * 1_000_000)
    text = _text_bytes(target)
    copies = max(1, round(text / _text_bytes(source)))
    return Trace(f"{name}, {size:,} MB", name, target, text / 1e6, target.stat().st_size / 1e6, size, copies)


def _file(folder: Path) -> Path | None:
    """Return the first trace file of a folder."""
    return min((path for path in folder.glob("*.json*") if path.is_file()), default=None)


def _described(name: str, path: Path) -> Trace:
    return Trace(name, name, path, _text_bytes(path) / 1e6, path.stat().st_size / 1e6)


def _text_bytes(path: Path) -> int:
    """Return the size of a file's text."""
    if path.suffix != ".gz":
        return path.stat().st_size
    with gzip.open(path) as file:
        size = 0
        while block := file.read(1 << 24):
            size += len(block)
    return size
