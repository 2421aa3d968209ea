#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Models the step time of data-parallel training for 8 to 4096 GPUs; docs/scale.md says what it assumes.

Usage: scale_model.py [--bucket MIB] [--intra GB/S] [--inter GB/S] [--json]. Prints the tables of docs/scale.md.
"""

import argparse
import dataclasses
import json
import math

GPUS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
PER_NODE = 8
CONVOLUTIONS = 75e12  # bfloat16 on an H100: 3000 images/s of ResNet-50
PRODUCTS = 350e12  # bfloat16 on an H100: 35 % of the peak


@dataclasses.dataclass(frozen=True)
class Model:
    """What one GPU does in a step: parameters, floating-point operations of the forward, bytes of a gradient."""

    name: str
    params: float
    forward_flops: float  # of the whole local batch
    reached: float  # floating-point operations per second that a step reaches on one GPU
    gradient_bytes: int = 4

    @property
    def bytes(self) -> float:
        return self.params * self.gradient_bytes


@dataclasses.dataclass(frozen=True)
class Machine:
    """One kind of cluster. Bandwidths are of one GPU, one direction, as collectives reach them."""

    memory: float = 2.6e12  # bytes/s, of the optimizer's pass
    intra: float = 360e9  # within a node
    inter: float = 42e9  # between nodes
    latency_intra: float = 3e-6  # of one hop
    latency_inter: float = 8e-6
    launch: float = 10e-6  # of one collective


MODELS = [
    Model("ResNet-50, batch 256", 25.6e6, 256 * 2 * 4.1e9, CONVOLUTIONS),
    Model("ViT-B/16, batch 256", 86.6e6, 256 * 2 * 17.6e9, PRODUCTS),
    Model("VGG-19, batch 128", 143.7e6, 128 * 2 * 19.6e9, CONVOLUTIONS),
    Model("GPT-2 124M, 16 x 1024", 124.4e6, 16 * 1024 * 2 * 124.4e6, PRODUCTS),
    Model("GPT-2 124M, 1 x 1024", 124.4e6, 1024 * 2 * 124.4e6, PRODUCTS),
    Model("GPT 1.5B, 4 x 1024", 1.56e9, 4 * 1024 * 2 * 1.56e9, PRODUCTS, 2),
]


def ring(count: int, nbytes: float, bandwidth: float, latency: float) -> float:
    """Seconds of one half of a ring all-reduce, reduce-scatter or all-gather, over `count` members."""
    return (count - 1) / count * nbytes / bandwidth + (count - 1) * latency


def all_reduce(gpus: int, nbytes: float, machine: Machine) -> float:
    """Seconds: within the node a reduce-scatter, between the nodes an all-reduce of each eighth, then an all-gather."""
    local = min(gpus, PER_NODE)
    nodes = gpus // local
    seconds = machine.launch + 2 * ring(local, nbytes, machine.intra, machine.latency_intra)
    if nodes > 1:
        share = nbytes / local
        by_ring = 2 * ring(nodes, share, machine.inter, machine.latency_inter)
        # A double binary tree moves each byte twice and has logarithmic depth.
        by_tree = 2 * share / machine.inter + 2 * math.log2(nodes) * machine.latency_inter
        seconds += min(by_ring, by_tree)
    return seconds


def step(model: Model, gpus: int, machine: Machine, bucket: float, first: float, sharded: bool = False) -> dict[str, float]:
    """The parts of a step in seconds. Buckets are full one after another while the backward runs."""
    forward = model.forward_flops / model.reached
    backward = 2 * forward
    sizes = [min(first, model.bytes)]
    while sum(sizes) < model.bytes:
        sizes.append(min(bucket, model.bytes - sum(sizes)))
    ready = free = forward
    reducing = 0.0
    for size in sizes:
        ready += backward * size / model.bytes
        seconds = all_reduce(gpus, size, machine) if gpus > 1 else 0.0
        free = max(free, ready) + seconds
        reducing += seconds
    compute = forward + backward
    exposed = max(0.0, free - compute)
    # Adam reads four arrays of float32 and writes three.
    optimizer = model.params * 28 / machine.memory / (gpus if sharded else 1)
    if sharded and gpus > 1:
        optimizer += all_reduce(gpus, model.bytes, machine) / 2
    total = compute + exposed + optimizer
    return {
        "compute": compute,
        "all_reduce": reducing,
        "exposed": exposed,
        "optimizer": optimizer,
        "step": total,
        "state_bytes": model.params * 8 / (gpus if sharded else 1),
    }


def table(model: Model, machine: Machine, bucket: float, first: float) -> list[dict[str, float]]:
    alone = step(model, 1, machine, bucket, first)["step"]
    rows = []
    for gpus in GPUS:
        plain = step(model, gpus, machine, bucket, first)
        sharded = step(model, gpus, machine, bucket, first, sharded=True)
        rows.append({"gpus": gpus, **plain, "efficiency": alone / plain["step"], "sharded_step": sharded["step"],
                     "sharded_state_bytes": sharded["state_bytes"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bucket", type=float, default=25, help="MiB")
    parser.add_argument("--first", type=float, default=1, help="MiB of the first bucket")
    parser.add_argument("--intra", type=float, default=Machine.intra / 1e9, help="GB/s within a node")
    parser.add_argument("--inter", type=float, default=Machine.inter / 1e9, help="GB/s between nodes")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    machine = Machine(intra=given.intra * 1e9, inter=given.inter * 1e9)
    results = {m.name: table(m, machine, given.bucket * 2**20, given.first * 2**20) for m in MODELS}
    if given.json:
        print(json.dumps(results, indent=1))
        return
    for name, rows in results.items():
        print(f"\n{name}: times in ms\n")
        print("| GPUs | compute | all-reduce | not hidden | optimizer | step | efficiency | step with ZeRO-1 | state per GPU, MB |")
        print("|---|---|---|---|---|---|---|---|---|")
        for row in rows:
            times = " | ".join(f"{row[key] * 1e3:.2f}" for key in ("compute", "all_reduce", "exposed", "optimizer", "step"))
            print(f"| {row['gpus']} | {times} | {row['efficiency'] * 100:.1f} % | {row['sharded_step'] * 1e3:.2f} "
                  f"| {row['state_bytes'] / 1e6:.0f} -> {row['sharded_state_bytes'] / 1e6:.1f} |")


if __name__ == "__main__":
    main()
