# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network on several ranks, which MPI's launcher starts:

    mpirun -n 4 python examples/python/digits_ddp.py

Each rank has a part of every batch. Without arguments rank 0 then trains alone with whole batches, and the program fails if
the weights differ by more than 1e-6. The layers of normalization and the dropout run as in evaluation, because statistics and
masks of a part of a batch are others than those of the whole.

digits_ddp.py DATA WEIGHTS OUT does what the programs of the other languages do: it begins with the weights of a file, takes
the same steps, and rank 0 writes the weights.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import tessera as ts
import tessera.nn.functional as F
from tessera import distributed as dist
from tessera import nn, optim
from tessera.nn.parallel import DistributedDataParallel

from digits_model import Net

STEPS, BATCH, RATE, MOMENTUM = 10, 240, 0.05, 0.9


def train(model: nn.Module, images: ts.Tensor, classes: ts.Tensor, rank: int, size: int) -> float:
    """Ten steps; each rank has an equal part of each batch. The last loss."""
    model.eval()
    optimizer = optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
    rows = BATCH // size
    loss = ts.zeros(())
    for step in range(STEPS):
        first = BATCH * (step % 5) + rows * rank
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[first : first + rows]), classes[first : first + rows])
        loss.backward()
        optimizer.step()
    return float(loss.item())


def digits() -> tuple[ts.Tensor, ts.Tensor]:
    from digits import load

    images, _, classes, _ = load()
    return ts.from_numpy(images), ts.from_numpy(classes)


def largest_difference(a: nn.Module, b: nn.Module) -> float:
    return max(float(abs(p.detach() - q.detach()).max().item()) for p, q in zip(a.parameters(), b.parameters()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="DATA WEIGHTS OUT")
    files = parser.parse_args().files
    if len(files) not in (0, 3):
        parser.error("expected DATA, WEIGHTS and OUT, or nothing")
    dist.init_process_group("mpi", timeout=300)
    rank, size = dist.get_rank(), dist.get_world_size()
    ts.manual_seed(rank)  # other weights on each rank: those of rank 0 count
    net = Net()
    if files:
        tensors = ts.load_file(files[0])
        images, classes = tensors["train_images"], tensors["train_classes"]
        if rank == 0:
            net.load_state_dict(ts.load_file(files[1]))
    else:
        images, classes = digits()
    loss = train(DistributedDataParallel(net), images, classes, rank, size)
    print(f"rank {rank} of {size}: loss {loss:.6f}", flush=True)
    if files:
        if rank == 0:
            ts.save_file(net.state_dict(), files[2])
        return 0
    difference = 0.0
    if rank == 0:
        ts.manual_seed(0)
        alone = Net()
        train(alone, images, classes, 0, 1)
        difference = largest_difference(net, alone)
        print(f"largest difference from one process: {difference:.1e}", flush=True)
    dist.barrier()
    return 0 if difference <= 1e-6 else 1


if __name__ == "__main__":
    raise SystemExit(main())
