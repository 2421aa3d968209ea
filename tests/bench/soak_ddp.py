#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A long run of data-parallel training: the memory of each rank must stay flat.

Usage: mpirun -n 2 python tests/bench/soak_ddp.py [--steps 10000] [--workers 2]. Fails if the resident memory of a rank, or of its
workers together, grows by more than 8 MiB after the first tenth, if there are more open files at the end, or if the ranks'
parameters differ. Prints ten times.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import tessera as ts
import tessera.nn.functional as F
from tessera import distributed as dist
from tessera import nn, optim
from tessera.nn.parallel import DistributedDataParallel
from tessera.optim import ZeroRedundancyOptimizer
from tessera.utils.data import DataLoader, DistributedSampler, TensorDataset


def resident(process: int | str = "self") -> float:
    """MiB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def state() -> tuple[float, float, int]:
    """MiB of this process and of its children, and its open files."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return resident(), sum(resident(child) for child in children), len(os.listdir("/proc/self/fd"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    dist.init_process_group("mpi", timeout=300)
    rank, size = dist.get_rank(), dist.get_world_size()
    ts.manual_seed(rank)
    net = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 10))
    model = DistributedDataParallel(net, bucket_cap_mb=0.02)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optim.Adam, lr=1e-3)
    images = ts.randn((4096, 64))
    data = TensorDataset(images, (images.sum(axis=1) > 0).astype(ts.int64))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=32, sampler=sampler, num_workers=given.workers, persistent_workers=given.workers > 0)
    step, epoch, start, base = 0, 0, time.perf_counter(), (0.0, 0.0, 0)
    while step < given.steps:
        sampler.set_epoch(epoch)
        epoch += 1
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            step += 1
            if step % (given.steps // 10) == 0:
                found = state()
                base = found if step == given.steps // 10 else base
                speed = step / (time.perf_counter() - start)
                own, workers, files = found
                print(f"rank {rank}: step {step}, {own:.1f} MiB, workers {workers:.1f} MiB, {files} files, {speed:.0f} steps/s", flush=True)
            if step == given.steps:
                break
    grown = [after - before for after, before in zip(found, base)]
    sums = ts.stack([p.detach().sum() for p in model.parameters()])
    mean = sums.clone()
    dist.all_reduce(mean)
    equal = bool((mean == sums * size).all().item())
    print(f"rank {rank} of {size}: grown by {grown[0]:.1f} MiB, workers by {grown[1]:.1f} MiB, {grown[2]} files, "
          f"parameters equal: {equal}", flush=True)
    return 0 if max(grown[:2]) <= 8 and grown[2] <= 0 and equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
