# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""NCCL with one device: a group of one rank runs every collective, on the caller's stream and in a training step. This
finds a library that does not load, wrong handles and missing waits; it cannot find what needs a second device."""

from __future__ import annotations

import tempfile

import numpy as np

import tessera as ts
from tessera import distributed as dist

from figures import DEVICE, Stream, check_equal, figure, skip, time_queued, wait
from machine import PRETEND

SIZE = 1 << (8 if PRETEND else 24)


def begin(folder: str) -> None:
    """The stand-ins have no NCCL: there the rank is a thread."""
    if PRETEND:
        dist.init_process_group("threads", world_size=1, rank=0)
        return
    try:
        dist.init_process_group("nccl", f"file://{folder}/meeting", timeout=60, world_size=1, rank=0, device_id=DEVICE)
    except ts.TesseraError as error:
        if "libnccl" in str(error):
            skip(f"NCCL is not there: {error}")
        raise


def collectives() -> None:
    device = "cpu" if PRETEND else DEVICE
    for kind in (ts.float32, ts.bfloat16, ts.int64):
        x = ts.full((1000,), 3, dtype=kind, device=device)
        dist.all_reduce(x)
        dist.broadcast(x, 0)
        gathered = [ts.zeros_like(x)]
        dist.all_gather(gathered, x)
        check_equal(f"{kind} goes round", float(gathered[0].astype(ts.float32).sum().item()), 3000.0)
    dist.barrier()
    if PRETEND:
        return
    with Stream():
        x = ts.full((SIZE,), 1.0, device=DEVICE)
        doubled = x * 2.0
        pending = dist.all_reduce(doubled, async_op=True)
        pending.wait()
        y = doubled + 1.0
        check_equal("work after a collective waits for it", float(y.max().item()), 3.0)
    seconds = time_queued(lambda: dist.all_reduce(x), wait)
    figure("nccl.all_reduce", x.numel() * 4 / seconds / 1e9, "GB/s", "one rank: the cost of the call, not of a wire")


def a_training_step_equals_one_without_a_group() -> None:
    device = "cpu" if PRETEND else DEVICE
    ts.manual_seed(0)
    model = ts.nn.Linear(8, 3).to(device)
    x = ts.from_numpy(np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32)).to(device)
    model(x).sum().backward()
    wanted = [p.grad.to("cpu").numpy() for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    ts.nn.parallel.DistributedDataParallel(model)(x).sum().backward()
    for p, alone in zip(model.parameters(), wanted):
        np.testing.assert_allclose(p.grad.to("cpu").numpy(), alone, rtol=1e-6)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        begin(folder)
        collectives()
        a_training_step_equals_one_without_a_group()
        dist.destroy_process_group()
    print("one rank: collectives and a data-parallel step" + (", threads for NCCL" if PRETEND else ""))


if __name__ == "__main__":
    main()
