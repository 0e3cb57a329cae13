"""Make the trace of a training job on two GPUs that never ran, with idle gaps whose reasons are known.

Usage: python sample_traces/synthesize.py [--out FOLDER]

Every number comes from the rules below and in ``machine.py``, so the files are the same each time. They say that they are
not recorded, in the top-level key ``kinetoscope_synthetic``. Beside them, ``expected/`` holds their exact figures: those
of ``tests/reference.py``, and the gaps that this program made on purpose.

The job: two ranks, two recordings of four steps each, of a small transformer under DistributedDataParallel. In each
recording, the first step waits for its loader, the second allocates memory in mid-step, in the third the loader of rank 1
alone is slow, so that rank 0 waits in the collectives, and in the fourth the loop writes a log. Every step asks for its
loss.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import known
from machine import AUTOGRAD, COMMUNICATION, COMPUTE, COPIES, MAIN, SM_COUNT, Kernel, Machine

HERE = Path(__file__).resolve().parent
RUN = "gpu_training_synthetic"
LABEL = "made by sample_traces/synthesize.py, not recorded"
RANKS, SPANS, STEPS, BLOCKS = 2, 2, 4, 4
BASE_NS = 1_790_857_026_000_000_000
FIRST_NS, BETWEEN_SPANS_NS = 5_100_000_000_000_000, 900_000_000
TIMES = re.compile(r'"@(\d+)@"')

GEMM = Kernel("ampere_sgemm_128x64_tn", 118_000, blocks=96, registers=122, shared=49_152)
GEMM_BACK = Kernel("ampere_sgemm_64x64_nn", 96_000, blocks=192, registers=126, shared=65_536)
GELU = Kernel(
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int, at::native::GeluCUDAKernelImpl)",
    14_000,
)
NORM = Kernel(
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float)",
    9_000,
    blocks=2048,
    threads=128,
)
SOFTMAX = Kernel(
    "void cunn_SoftMaxForward<4, float, float, float, LogSoftMaxForwardEpilogue>(float*, float const*, int)",
    7_000,
    blocks=64,
)
UPDATE = Kernel(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>()",
    42_000,
    blocks=320,
)
SHORT = Kernel(
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>(int)", 2_400, blocks=2
)
REDUCE = Kernel(
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    150_000,
    blocks=16,
    threads=544,
    registers=96,
)


class Meeting:
    """Where the ranks' collectives meet: each brings its start, all get the common end."""

    def __init__(self) -> None:
        self._starts = [0] * RANKS
        self._barrier = threading.Barrier(RANKS)

    def end(self, rank: int, start: int) -> int:
        """Return when the collective ends that this rank enters at ``start``: its transfer begins with the last one."""
        self._starts[rank] = start
        self._barrier.wait(30)
        end = max(self._starts) + REDUCE.duration
        self._barrier.wait(30)
        return end


class Job:
    """One rank's training loop, run on a make-believe machine."""

    def __init__(self, machine: Machine, meeting: Meeting) -> None:
        self.machine = machine
        self.meeting = meeting
        self.sequence = 10
        self.collectives = 0
        self.tape: list[tuple[str, int, int]] = []  # what the backward pass has to undo: op, sequence number, start

    def load(self, duration: int, *, planned: bool) -> None:
        """Take the next batch from the loader and copy it to the device."""
        machine = self.machine
        if planned:
            machine.hold_up("data loading")
        with (
            machine.frame("torch/utils/data/dataloader.py(708): __next__"),
            machine.range("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
        ):
            machine.spend(duration)
            batch = machine.memory("cpu", 3 << 20)
        with machine.frame("train.py(41): to_device"), machine.op("aten::to"), machine.op("aten::copy_"):
            arrived = machine.copy("Memcpy HtoD (Pinned -> Device)", 3 << 20)
            machine.free[COMPUTE] = max(machine.free[COMPUTE], arrived)  # the compute stream waits for the batch
            machine.memory("cpu", -(3 << 20), batch)

    def layer(self, name: str, kernel: Kernel, inner: str = "", **args: Any) -> None:
        """Run one forward op with its kernel, and note it for the backward pass."""
        machine = self.machine
        self.sequence += 1
        start = machine.clock[MAIN]
        known = {"Sequence number": self.sequence, "Fwd thread id": 0, "Input Dims": [[64, 1024], [1024, 1024], []]}
        with machine.op(name, **known, **{"Input type": ["float", "float", "Scalar"]}):
            machine.spend(4_000)
            if inner:
                with machine.op(inner):
                    machine.launch(kernel, **args)
            else:
                machine.launch(kernel, **args)
        self.tape.append((name, self.sequence, start))

    def block(self, number: int, *, allocate: bool) -> None:
        """Run one transformer block forward."""
        machine = self.machine
        with machine.frame(f"nn.Module: Block_{number}", **{"Python module id": number + 1}):
            with machine.frame(f"nn.Module: LayerNorm_{number}", **{"Python module id": 20 + number}):
                self.layer("aten::layer_norm", NORM, "aten::native_layer_norm")
            with machine.frame(f"nn.Module: Linear_{number}", **{"Python module id": 40 + number}):
                if allocate:
                    self.allocate()
                self.layer("aten::linear", GEMM, "aten::addmm")
            with machine.frame(f"nn.Module: GELU_{number}", **{"Python module id": 60 + number}):
                self.layer("aten::gelu", GELU)

    def allocate(self) -> None:
        """Ask the driver for memory in mid-step, with an empty queue."""
        machine = self.machine
        machine.hold_up("memory allocation")
        with machine.op("aten::empty"):
            machine.call("cudaMalloc", 900_000)
            machine.memory("device", 64 << 20)

    def loss(self) -> None:
        """Compute the loss and ask for its value, which waits for the device and leaves it without work."""
        machine = self.machine
        self.layer("aten::cross_entropy_loss", SOFTMAX, "aten::log_softmax")
        with machine.frame("train.py(52): log_loss"), machine.op("aten::item"), machine.op("aten::_local_scalar_dense"):
            machine.copy("Memcpy DtoH (Device -> Pageable)", 4, COMPUTE)
            machine.synchronize()
            machine.hold_up("synchronization")

    def backward(self) -> None:
        """Undo the tape on the autograd thread; reduce the gradients of each block as soon as they are there."""
        machine = self.machine
        with machine.frame("torch/_tensor.py(570): backward"):
            machine.clock[AUTOGRAD] = machine.clock[MAIN] + 12_000
            for position, (name, sequence, start) in enumerate(reversed(self.tape)):
                self.undo(name, sequence, start)
                if name == "aten::layer_norm":
                    self.all_reduce(last=position == len(self.tape) - 1)
            machine.clock[MAIN] = machine.clock[AUTOGRAD] + 8_000
        self.tape.clear()

    def undo(self, name: str, sequence: int, forward_start: int) -> None:
        """Run the backward op of one forward op."""
        machine = self.machine
        short = {"aten::linear": "Addmm", "aten::gelu": "Gelu", "aten::layer_norm": "NativeLayerNorm"}.get(
            name, "LogSoftmax"
        )
        node = f"{short}Backward0"
        linked = {"Sequence number": sequence, "Fwd thread id": 1}
        with machine.op(f"autograd::engine::evaluate_function: {node}", AUTOGRAD, **linked):
            source, target = (forward_start, machine.pid, MAIN), (machine.clock[AUTOGRAD], machine.pid, AUTOGRAD)
            machine.flow("fwdbwd", sequence, source, target)
            with machine.op(node, AUTOGRAD, **linked):
                machine.spend(3_000, AUTOGRAD)
                for kernel in (GEMM_BACK, GEMM_BACK) if short == "Addmm" else (SHORT._replace(duration=11_000),):
                    with machine.op("aten::mm" if short == "Addmm" else "aten::mul", AUTOGRAD):
                        machine.launch(kernel, COMPUTE, AUTOGRAD)

    def all_reduce(self, *, last: bool) -> None:
        """Reduce one bucket of gradients over the ranks, on its own stream."""
        machine = self.machine
        self.collectives += 1
        group = {"Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]"}
        args = {
            "Collective name": "allreduce",
            "dtype": "Float",
            "In msg nelems": 1 << 20,
            "Out msg nelems": 1 << 20,
            "Group size": RANKS,
            "Rank": machine.rank,
            "Seq": self.collectives,
            **group,
        }
        ready = machine.free[COMPUTE]
        with machine.op("c10d::allreduce_", AUTOGRAD), machine.op("record_param_comms", AUTOGRAD, **args):
            machine.spend(5_000, AUTOGRAD)
            reach = lambda start: self.meeting.end(machine.rank, start)  # noqa: E731 - named for the line below
            end = machine.launch(
                REDUCE, COMMUNICATION, AUTOGRAD, ready, api="cudaLaunchKernelExC", end_of=reach, **args
            )
        if last:  # the optimizer needs all gradients
            machine.free[COMPUTE] = max(machine.free[COMPUTE], end)

    def optimize(self) -> None:
        """Update the parameters."""
        machine = self.machine
        with (
            machine.frame("torch/optim/adamw.py(220): step"),
            machine.range("user_annotation", "Optimizer.step#AdamW.step"),
            machine.op("aten::_fused_adamw_"),
        ):
            for _ in range(2):
                machine.launch(UPDATE)

    def step(self, number: int, position: int) -> None:
        """Run one step; its position in the recording decides what keeps the device waiting."""
        machine = self.machine
        start = machine.clock[MAIN]
        if position == 0:  # nothing is recorded, and no gap begins, before the first step
            machine.free = dict.fromkeys(machine.free, start)
        with (
            machine.range("user_annotation", f"ProfilerStep#{number}"),
            machine.frame("train.py(36): train_step"),
        ):
            slow = position == 0 or (position == 2 and machine.rank == 1)
            self.load(5_000_000 if slow else 160_000, planned=slow)
            with machine.op("aten::zeros"), machine.op("aten::zero_"):
                machine.memset(4096)
            activations = machine.memory("device", 96 << 20)
            with machine.frame("nn.Module: Net_0", **{"Python module id": 1}):
                for block in range(BLOCKS):
                    if position == 1 and block == 1:
                        machine.synchronize()
                    self.block(block, allocate=position == 1 and block == 1)
            self.loss()
            self.backward()
            machine.memory("device", -(96 << 20), activations)
            self.optimize()
            if position == STEPS - 1:
                machine.synchronize()
                machine.hold_up("host python")
                with machine.frame("train.py(60): write_log"):
                    machine.spend(1_800_000)
                with machine.op("aten::add"):
                    machine.launch(SHORT)
        self.device_ranges(number, start)
        machine.spend(25_000)

    def device_ranges(self, number: int, start: int) -> None:
        """Leave the device's shadow of the step marker, as the profiler does."""
        machine = self.machine
        works = [e for e in machine.events if e.get("cat") == "kernel" and e["ts"] >= start and e["tid"] == COMPUTE]
        span = (works[0]["ts"] - 1, works[-1]["ts"] + works[-1]["dur"] + 2)
        machine.complete("gpu_user_annotation", f"ProfilerStep#{number}", span, (machine.rank, COMPUTE), {})


def names_of(machine: Machine) -> list[dict[str, Any]]:
    """Return the events that name processes, threads and streams."""
    rank, pid = machine.rank, machine.pid
    rows: list[tuple[str, Any, Any, dict[str, Any]]] = [
        ("process_name", pid, 0, {"name": "python"}),
        ("process_labels", pid, 0, {"labels": "CPU"}),
        ("process_sort_index", pid, 0, {"sort_index": pid}),
        ("process_name", rank, 0, {"name": "python"}),
        ("process_labels", rank, 0, {"labels": f"GPU {rank}"}),
        ("process_sort_index", rank, 0, {"sort_index": 5_000_000 + rank}),
        ("thread_name", pid, MAIN, {"name": f"thread {MAIN} (python)"}),
        ("thread_name", pid, AUTOGRAD, {"name": f"thread {AUTOGRAD} (pt_autograd_0)"}),
    ]
    rows += [
        ("thread_name", rank, stream, {"name": f"stream {stream} "}) for stream in (COMPUTE, COMMUNICATION, COPIES)
    ]
    first = min(event["ts"] for event in machine.events)
    return [{"ph": "M", "name": name, "ts": first, "pid": p, "tid": t, "args": args} for name, p, t, args in rows]


def document(machine: Machine, first: int) -> dict[str, Any]:
    """Return the file's content around and with the events."""
    properties = {
        "name": "NVIDIA A100-SXM4-40GB",
        "totalGlobalMem": 42_298_834_944,
        "computeMajor": 8,
        "computeMinor": 0,
    }
    limits = {
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048,
        "regsPerMultiprocessor": 65_536,
        "warpSize": 32,
    }
    shared = {"sharedMemPerBlock": 49_152, "sharedMemPerMultiprocessor": 167_936, "numSms": SM_COUNT}
    group = {"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": RANKS, "ranks": [0, 1]}
    span = {
        "ph": "X",
        "cat": "Trace",
        "name": "PyTorch Profiler (0)",
        "pid": "Spans",
        "tid": "PyTorch Profiler",
        "ts": first,
    }
    last = max(event["ts"] + event.get("dur", 0) for event in machine.events)
    end = {"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": last, "s": "g"}
    return {
        "schemaVersion": 1,
        "kinetoscope_synthetic": LABEL,
        "deviceProperties": [{"id": number, **properties, **limits, **shared} for number in range(RANKS)],
        "distributedInfo": {
            "backend": "nccl",
            "rank": machine.rank,
            "world_size": RANKS,
            "pg_count": 1,
            "pg_config": [group],
        },
        "with_stack": 1,
        "profile_memory": 1,
        "record_shapes": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": BASE_NS,
        "traceEvents": [
            *names_of(machine),
            *machine.events,
            {**span, "dur": last - first, "args": {"Op count": 0}},
            end,
        ],
    }


def to_json(content: dict[str, Any]) -> str:
    """Write the document, an event a line, with times as microseconds of exactly three decimals."""
    events = []
    for event in content["traceEvents"]:
        times = {key: f"@{event[key]:d}@" for key in ("ts", "dur") if key in event}
        text = json.dumps({**event, **times})
        events.append(TIMES.sub(lambda found: f"{int(found[1]) // 1000}.{int(found[1]) % 1000:03d}", text))
    head = json.dumps({key: value for key, value in content.items() if key != "traceEvents"}, indent=1)
    return head[: head.rindex("\n}")] + ',\n "traceEvents": [\n' + ",\n".join(events) + "\n]\n}\n"


def run_span(span: int) -> list[tuple[Machine, int]]:
    """Run all ranks through one recording; return their machines and when the recording began."""
    meeting, first = Meeting(), FIRST_NS + span * BETWEEN_SPANS_NS
    machines = [Machine(rank, first + rank * 40_000, seed=rank + RANKS * span) for rank in range(RANKS)]

    def run(machine: Machine) -> None:
        job = Job(machine, meeting)
        job.collectives = span * STEPS * BLOCKS
        with machine.frame("train.py(20): main"):
            for position in range(STEPS):
                job.step(2 + span * (STEPS + 2) + position, position)

    threads = [threading.Thread(target=run, args=(machine,)) for machine in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [(machine, first) for machine in machines]


def main() -> None:
    """Write the traces and what is known of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE)
    out = parser.parse_args().out
    shutil.rmtree(out / RUN, ignore_errors=True)
    (out / RUN).mkdir(parents=True)
    for span in range(SPANS):
        for machine, first in run_span(span):
            stamp = BASE_NS + first + BETWEEN_SPANS_NS // 2
            path = out / RUN / f"worker{machine.rank}.{stamp}.pt.trace.json.gz"
            path.write_bytes(gzip.compress(to_json(document(machine, first)).encode(), 9, mtime=0))
            planned = [{**gap, "start_ns": BASE_NS + gap["start_ns"]} for gap in machine.planned_gaps]
            known.write(path, f"{RUN}.worker{machine.rank}.{span + 1}", planned_gaps=planned)
            print(f"{path}: {path.stat().st_size:,} bytes, {len(machine.events):,} events")


if __name__ == "__main__":
    main()
