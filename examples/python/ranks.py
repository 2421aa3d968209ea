# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""One rank of a group of processes: mpirun -n 4 python ranks.py.

Every rank brings its number, and all get the sum and the largest. Ranks in other languages may be in the same group.
"""

import tessera
import tessera.distributed as dist


def reduced(op: dist.ReduceOp) -> float:
    x = tessera.full((1,), float(dist.get_rank()))
    dist.all_reduce(x, op)
    return x.item()


dist.init_process_group("mpi", timeout=120)
total, largest = reduced(dist.ReduceOp.SUM), reduced(dist.ReduceOp.MAX)
print(f"rank {dist.get_rank()} of {dist.get_world_size()} in python: sum {total:.0f}, largest {largest:.0f}")
dist.destroy_process_group()
