#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What a profiler costs while it records: training steps of a model with and without one, in turns. One JSON line.

Usage: python tests/bench/bench_profiler.py [--model resnet50] [--batch 4] [--size 64] [--steps 30]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import tessera as ts
from tessera.profiler import profile

from models import CLASSES, IMAGE_MODELS, stepper

SETS = {
    "plain": None,
    "spans": {},
    "memory": {"profile_memory": True},
    "shapes and memory": {"record_shapes": True, "profile_memory": True},
    "stacks": {"with_stack": True},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="resnet50", choices=sorted(IMAGE_MODELS))
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    model = IMAGE_MODELS[options.model](ts.nn)
    x = ts.randn((options.batch, 3, options.size, options.size))
    y = ts.randint(0, CLASSES, (options.batch,))
    optimizer = ts.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    step = stepper(model, optimizer, ts.nn.CrossEntropyLoss(), x, y)
    for _ in range(3):
        step()
    wall: dict[str, list[float]] = {name: [] for name in SETS}
    cpu: dict[str, list[float]] = {name: [] for name in SETS}
    events = 0
    for _ in range(options.steps):
        for name, kind in SETS.items():
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
    base, least = statistics.median(cpu["plain"]), min(wall["plain"])
    found = {
        "model": options.model, "batch": options.batch, "size": options.size, "events": events,
        "step_ms": round(1000 * least, 2),
        "cpu_percent": {n: round(100 * (statistics.median(t) / base - 1), 2) for n, t in cpu.items() if n != "plain"},
        "least_wall_percent": {n: round(100 * (min(t) / least - 1), 2) for n, t in wall.items() if n != "plain"},
    }  # fmt: skip
    print(json.dumps(found))


if __name__ == "__main__":
    main()
