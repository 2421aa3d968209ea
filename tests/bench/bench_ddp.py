#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Speed of data-parallel training over MPI beside PyTorch's over gloo: the same models, the same number of processes.

Usage: bench_ddp.py [--ranks 2] [--steps 40] [--peer PYTHON]. PYTHON has PyTorch; without it only the library is measured.
One thread per process. Each line: model, library, milliseconds per step (median over steps of the slowest rank).
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MODELS = {"mlp": (64, (784,)), "convnet": (32, (3, 32, 32))}  # local batch, shape of a sample


def model_of(name: str, nn: Any) -> Any:
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10))
    layers: list[Any] = []
    for before, after in ((3, 64), (64, 128), (128, 256)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(256 * 16, 256), nn.ReLU(), nn.Linear(256, 10))


def measure(name: str, library: Any, dist: Any, wrap: Any, steps: int) -> list[float]:
    nn, optim = library.nn, library.optim
    rows, shape = MODELS[name]
    library.manual_seed(0)
    model = wrap(model_of(name, nn))
    optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    images = library.randn(rows, *shape) if library.__name__ == "torch" else library.randn((rows, *shape))
    classes = library.arange(rows) % 10
    times = []
    for step in range(steps + 5):
        dist.barrier()
        start = time.perf_counter()
        optimizer.zero_grad()
        loss_of(model(images), classes).backward()
        optimizer.step()
        if step >= 5:
            times.append(time.perf_counter() - start)
    return times


def rank_of_tessera(name: str, steps: int) -> None:
    import tessera
    from tessera import distributed as dist
    from tessera.nn.parallel import DistributedDataParallel

    dist.init_process_group("mpi", timeout=300)
    times = measure(name, tessera, dist, DistributedDataParallel, steps)
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, times)
    if dist.get_rank() == 0:
        print(json.dumps([max(step) for step in zip(*found)]))


def rank_of_torch(name: str, steps: int) -> None:
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    times = measure(name, torch, dist, DistributedDataParallel, steps)
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, times)
    if dist.get_rank() == 0:
        print(json.dumps([max(step) for step in zip(*found)]))


def run_tessera(name: str, ranks: int, steps: int) -> list[float]:
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), sys.executable, __file__, "--rank-of", "tessera",
               "--model", name, "--steps", str(steps)]
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True, capture_output=True, text=True)
    return list(json.loads(done.stdout.strip().splitlines()[-1]))


def run_torch(python: str, name: str, ranks: int, steps: int) -> list[float]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryFile("w+") as output:
        started = []
        for rank in range(ranks):
            settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks), "RANK": str(rank),
                        "OMP_NUM_THREADS": "1"}
            command = [python, __file__, "--rank-of", "torch", "--model", name, "--steps", str(steps)]
            started.append(subprocess.Popen(command, env={**os.environ, **settings}, stdout=output))
        if any(process.wait() for process in started):
            raise RuntimeError("a rank of PyTorch failed")
        output.seek(0)
        return list(json.loads(output.read().strip().splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--peer")
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--rank-of", choices=["tessera", "torch"])
    given = parser.parse_args()
    if given.rank_of:
        (rank_of_tessera if given.rank_of == "tessera" else rank_of_torch)(given.model, given.steps)
        return
    for name in [given.model] if given.model else MODELS:
        ours = statistics.median(run_tessera(name, given.ranks, given.steps))
        line = f"{name}: tessera over MPI {ours * 1e3:.2f} ms"
        if given.peer:
            theirs = statistics.median(run_torch(given.peer, name, given.ranks, given.steps))
            line += f", PyTorch over gloo {theirs * 1e3:.2f} ms, ratio {theirs / ours:.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
