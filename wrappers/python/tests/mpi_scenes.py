# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a scene over MPI, started by test_distributed_mpi.py: mpi_scenes.py SCENE. Prints "rank R is right"."""

import os
import signal
import sys
import time

import tessera
import tessera.distributed as dist
from tessera.distributed import ReduceOp


def collectives(rank, size):
    for dtype in ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "complex64"):
        x = tessera.ones(5, dtype=dtype) * (rank + 1)
        dist.all_reduce(x)
        assert abs(complex(x[4].item()) - size * (size + 1) / 2) < 1e-6, (dtype, x)
    flags = tessera.tensor([rank == 0, True, False])
    dist.all_reduce(flags, ReduceOp.MAX)
    assert flags.numpy().tolist() == [True, True, False]
    outputs = [tessera.zeros(2) for _ in range(size)]
    works = [dist.all_gather(outputs, tessera.full((2,), float(rank)), async_op=True) for _ in range(3)]
    assert all(work.wait() for work in works)
    assert [o.numpy()[1] for o in outputs] == list(range(size))
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank})
    assert [one["rank"] for one in found] == list(range(size))
    part = dist.new_group(list(range(0, size, 2)))
    x = tessera.ones(1)
    dist.all_reduce(x, group=part)
    assert x.item() == (1 if rank % 2 else (size + 1) // 2)
    y = tessera.zeros(1)
    works = dist.batch_isend_irecv([
        dist.P2POp(dist.isend, tessera.tensor([float(rank)]), (rank + 1) % size),
        dist.P2POp(dist.irecv, y, (rank - 1) % size),
    ])
    assert all(work.wait() for work in works) and y.item() == (rank - 1) % size
    dist.destroy_process_group()


def killed(rank, size):
    dist.barrier()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    start = time.monotonic()
    try:
        for _ in range(3):
            dist.all_reduce(tessera.ones(2))
    except tessera.BackendError as error:
        assert "rank 1 (process" in str(error), error
    else:
        raise AssertionError("no error")
    assert time.monotonic() - start < 20
    time.sleep(1)  # a rank that ends early would be the one of which the others tell


def raises(rank, size):
    dist.barrier()
    if rank == 1:
        raise ValueError("the program of one rank fails")
    try:
        dist.barrier()
    except tessera.BackendError as error:
        assert "rank 1" in str(error), error
    else:
        raise AssertionError("no error")
    time.sleep(1)


if __name__ == "__main__":
    dist.init_process_group("mpi", timeout=30)
    me = dist.get_rank()
    globals()[sys.argv[1]](me, dist.get_world_size())
    print(f"rank {me} is right", flush=True)
