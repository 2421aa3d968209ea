#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What a profiler costs while it records: an addition, and training steps of a model, with and without one in turns. One
JSON line. "cpu_percent" and "wall_percent" have the median and the quartiles over the rounds, in each of which every set
makes one step.

Usage: python tests/bench/bench_profiler.py [--model resnet50] [--batch 4] [--size 64] [--steps 30]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import tessera as ts
from tessera.profiler import profile

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from models import MODELS  # noqa: E402
from models.common import queued_step  # noqa: E402

SETS = {
    "plain": None,
    "spans": {},
    "memory": {"profile_memory": True},
    "shapes and memory": {"record_shapes": True, "profile_memory": True},
    "stacks": {"with_stack": True},
}


def event_costs() -> dict[str, float]:
    """What a profiler adds to an addition of two small tensors, which is a call and a launch: nanoseconds of processor time,
    the least of many rounds, so that the load of the machine matters little."""
    x = ts.ones(4)

    def addition(count: int = 2000) -> float:
        begin = time.process_time_ns()
        for _ in range(count):
            x + x
        return (time.process_time_ns() - begin) / count

    least = {}
    for name, kind in SETS.items():
        rounds = []
        for _ in range(30):
            prof = None if kind is None else profile(**kind)
            if prof is not None:
                prof.start()
            rounds.append(addition())
            if prof is not None:
                prof.stop()
        least[name] = min(rounds)
    return {name: round(cost - least["plain"]) for name, cost in least.items() if name != "plain"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50", choices=MODELS)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    spec = MODELS[options.model]
    batch = spec.data(np.random.default_rng(0), options.batch, **{**spec.sizes, "size": options.size})
    tensors = [ts.from_numpy(array) for array in batch]
    queued = queued_step(ts, spec, spec.build(ts, **spec.sizes))

    def step() -> None:
        queued(*tensors).item()

    for _ in range(3):
        step()
    wall: dict[str, list[float]] = {name: [] for name in SETS}
    cpu: dict[str, list[float]] = {name: [] for name in SETS}
    events = 0
    for turn in range(options.steps):
        # Another order in each round: what a set finds in the caches follows from the one before it.
        for name in sorted(SETS, key=lambda name: (list(SETS).index(name) * (1 + turn % 2 * 2) + turn) % len(SETS)):
            kind = SETS[name]
            prof = None if kind is None else profile(**kind)
            if prof is not None:
                prof.start()
            begin = time.perf_counter(), time.process_time()
            step()
            wall[name].append(time.perf_counter() - begin[0])
            cpu[name].append(time.process_time() - begin[1])
            if prof is not None:
                prof.stop()
                events = len(prof.events()) if name == "memory" and not events else events
    least = min(wall["plain"])

    def percent(times: dict[str, list[float]]) -> dict[str, list[float]]:
        """The median and the quartiles of what a set adds to the step without a profiler of the same round."""
        shares = {n: sorted(100 * (on / off - 1) for on, off in zip(t, times["plain"])) for n, t in times.items() if n != "plain"}
        return {n: [round(s[len(s) * q // 4], 2) for q in (2, 1, 3)] for n, s in shares.items()}

    found = {
        "ns_per_addition": event_costs(), "model": options.model, "batch": options.batch, "size": options.size, "events": events,
        "step_ms": round(1000 * least, 2), "step_cpu_ms": round(1000 * statistics.median(cpu["plain"]), 2),
        "cpu_percent": percent(cpu), "wall_percent": percent(wall),
        "least_wall_percent": {n: round(100 * (min(t) / least - 1), 2) for n, t in wall.items() if n != "plain"},
    }  # fmt: skip
    print(json.dumps(found))


if __name__ == "__main__":
    main()
