"""Record the sample traces of a small training loop, as a user would.

Usage: python sample_traces/record.py [--out FOLDER] [--device cpu|cuda]

Two runs of the same loop: batches made in the main process, and by two worker processes. Shapes, memory and Python
stacks are recorded, three steps each after one of warm-up. On a machine with a GPU the same script records its work too.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

import known
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

HERE = Path(__file__).resolve().parent
WARM_STEPS, RECORDED_STEPS = 1, 3
BATCH, SIZE, CLASSES = 8, 16, 10
#: The folder of each run, and its number of loader workers.
RUNS = {"cpu_training_workers0": 0, "cpu_training_workers2": 2}


class Pictures(Dataset[tuple[torch.Tensor, int]]):
    """Random pictures, each made when it is asked for, which takes the loader a moment."""

    def __len__(self) -> int:
        """Return a number that is more than enough."""
        return 64 * BATCH

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        """Make one picture and its class."""
        generator = torch.Generator().manual_seed(index)
        picture = torch.randn(3, SIZE, SIZE, generator=generator)
        return (picture - picture.mean()) / picture.std(), index % CLASSES


class SmallNet(nn.Module):
    """Two convolutions and a linear layer: enough modules to show a tree, few enough to keep the file small."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.ReLU())
        self.classifier = nn.Linear(16 * (SIZE - 4) ** 2, CLASSES)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return the classes' scores."""
        return self.classifier(self.features(pictures).flatten(1))


def train(batches: Any, device: str, profiler: Any) -> None:
    """Run the loop until the profiler has its steps."""
    model = SmallNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    for pictures, classes in batches:
        loss = loss_of(model(pictures.to(device)), classes.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        profiler.step()
        if profiler.step_num > WARM_STEPS + RECORDED_STEPS:
            break


def record(name: str, workers: int, device: str, out: Path) -> Path:
    """Record one run; return its file."""
    torch.manual_seed(0)
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda")
    batches = DataLoader(Pictures(), batch_size=BATCH, num_workers=workers)
    with profile(
        activities=activities,
        schedule=schedule(wait=1, warmup=WARM_STEPS, active=RECORDED_STEPS, repeat=1),
        # The worker's name usually holds the machine's; a sample must not.
        on_trace_ready=tensorboard_trace_handler(str(folder), worker_name="worker0", use_gzip=True),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
    ) as profiler:
        train(batches, device, profiler)
    return next(folder.glob("*.pt.trace.json.gz"))


def main() -> None:
    """Record both runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.set_num_threads(2)
    for name, workers in RUNS.items():
        run = name.replace("cpu", options.device)
        path = record(run, workers, options.device, options.out)
        known.write(path, run)
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
