# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The bandwidth of all_reduce between processes: one JSON line for each size, from rank 0.

    mpirun --allow-run-as-root --oversubscribe -n 2 .venv/bin/python tests/bench/bench_distributed.py
    python -m torch.distributed.run --nproc-per-node 2 tests/bench/bench_distributed.py --torch     # gloo, for comparison

`bytes_per_second` is the size of the tensor by the median time, `bus` what a ring moves over each link: 2 (n - 1) / n of it.
"""

import argparse
import json
import statistics
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--torch", action="store_true", help="PyTorch with gloo")
parser.add_argument("--largest", type=int, default=256 << 20, help="bytes")
parser.add_argument("--seconds", type=float, default=0.5, help="for each size")
options = parser.parse_args()

if options.torch:
    import torch as library
    import torch.distributed as dist

    dist.init_process_group("gloo")
else:
    import tessera as library
    import tessera.distributed as dist

    dist.init_process_group("mpi")

rank, size = dist.get_rank(), dist.get_world_size()
nbytes = 1024
while nbytes <= options.largest:
    x = library.zeros(nbytes // 4)
    for _ in range(2):
        dist.all_reduce(x)
    start = time.perf_counter()
    dist.all_reduce(x)
    count = library.tensor([max(3, min(1000, int(options.seconds / (time.perf_counter() - start))))])
    dist.broadcast(count, 0)
    times = []
    for _ in range(int(count)):
        start = time.perf_counter()
        dist.all_reduce(x)
        times.append(time.perf_counter() - start)
    median = statistics.median(times)
    if rank == 0:
        rate = nbytes / median
        print(json.dumps({
            "name": "all_reduce", "library": library.__name__, "ranks": size, "bytes": nbytes, "seconds": median,
            "p10": sorted(times)[len(times) // 10], "p90": sorted(times)[len(times) * 9 // 10], "runs": len(times),
            "bytes_per_second": rate, "bus": rate * 2 * (size - 1) / size,
        }), flush=True)  # fmt: skip
    nbytes *= 4
dist.barrier()
dist.destroy_process_group()
