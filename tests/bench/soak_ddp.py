#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A long run of data-parallel training: the memory of each rank must stay flat.

Usage: mpirun -n 2 python tests/bench/soak_ddp.py [--steps 10000] [--workers 0]. Fails if the resident memory of a rank grows
by more than 8 MiB after the first tenth, or if the ranks' parameters differ at the end.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import tessera as ts
import tessera.nn.functional as F
from tessera import distributed as dist
from tessera import nn, optim
from tessera.nn.parallel import DistributedDataParallel
from tessera.optim import ZeroRedundancyOptimizer
from tessera.utils.data import DataLoader, DistributedSampler, TensorDataset


def resident() -> float:
    """MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--workers", type=int, default=0)
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
    step, epoch, start, base = 0, 0, time.perf_counter(), 0.0
    while step < given.steps:
        sampler.set_epoch(epoch)
        epoch += 1
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            step += 1
            if step == given.steps // 10:
                base = resident()
            if step % (given.steps // 10) == 0:
                print(f"rank {rank}: step {step}, {resident():.1f} MiB, {step / (time.perf_counter() - start):.0f} steps/s", flush=True)
            if step == given.steps:
                break
    grown = resident() - base
    sums = ts.stack([p.detach().sum() for p in model.parameters()])
    mean = sums.clone()
    dist.all_reduce(mean)
    equal = bool((mean == sums * size).all().item())
    print(f"rank {rank} of {size}: grown by {grown:.1f} MiB, parameters equal: {equal}", flush=True)
    return 0 if grown <= 8 and equal else 1


if __name__ == "__main__":
    raise SystemExit(main())
