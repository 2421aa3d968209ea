# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of the models of tests/bench with PyTorch's: same weights, same batch, in turns, one process.

float32 is exact in both libraries (no TF32); in bfloat16 weights and images are bfloat16. A step is forward, loss,
backward and the optimizer's step; several are queued before the measurement waits for them. Also measured: the share of
the time in which the device computes, from the events of our kernels in PyTorch's profiler.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import tessera as ts

from figures import DEVICE, PEER, check_that, figure, wait
from machine import PRETEND, ROOT

sys.path.insert(0, str(ROOT / "tests" / "bench"))

from models import CLASSES, IMAGE_MODELS, ITEMS, USERS, copy_weights, ncf, queued_step  # noqa: E402

# (model, batch), in order of importance: the last ones are dropped if time runs out.
ORDER = [("resnet50", 64), ("mobilenet", 64), ("ncf", 65536), ("mobilenet_v2", 64), ("vgg19", 32), ("alexnet", 128)]
PIXELS, STEPS, ROUNDS, LIMITS = 224, 5, 5, (USERS, ITEMS)
if PRETEND:
    ORDER, PIXELS, STEPS, ROUNDS, LIMITS = [("ncf", 64)], 32, 1, 1, (100, 50)
TOLERANCE = {"float32": 1e-4, "bfloat16": 3e-2}  # of the first losses
SECONDS_OF_A_MODEL = 15
Sides = tuple[Callable[[], Any], Callable[[], Any]]


def image_sides(name: str, batch: int, kind: str) -> Sides:
    random = np.random.default_rng(0)
    images = random.standard_normal((batch, 3, PIXELS, PIXELS)).astype(np.float32)
    labels = random.integers(0, CLASSES, batch)
    theirs, ours = IMAGE_MODELS[name](torch.nn), IMAGE_MODELS[name](ts.nn)
    for module in theirs.modules():  # dropout is random and would differ
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    for module in ours.modules():
        if isinstance(module, ts.nn.Dropout):
            module.p = 0.0
    copy_weights(theirs, ours)
    ours, theirs = ours.to(device=DEVICE, dtype=kind), theirs.to(device=PEER, dtype=getattr(torch, kind))
    x, p = (
        ts.from_numpy(images).to(DEVICE).astype(getattr(ts, kind)),
        torch.from_numpy(images).to(PEER, getattr(torch, kind)),
    )
    y, q = ts.from_numpy(labels).to(DEVICE), torch.from_numpy(labels).to(PEER)
    return (
        queued_step(ours, ts.optim.SGD(ours.parameters(), 0.01, 0.9), ts.nn.CrossEntropyLoss(), x, y),
        queued_step(theirs, torch.optim.SGD(theirs.parameters(), 0.01, 0.9), torch.nn.CrossEntropyLoss(), p, q),
    )


def ncf_sides(batch: int, kind: str) -> Sides:
    random = np.random.default_rng(0)
    pairs = np.stack([random.integers(0, limit, batch) for limit in LIMITS])
    labels = random.integers(0, 2, batch).astype(np.float32)
    theirs, ours = ncf(torch.nn, torch.cat, *LIMITS), ncf(ts.nn, ts.cat, *LIMITS)
    copy_weights(theirs, ours)
    ours, theirs = ours.to(device=DEVICE, dtype=kind), theirs.to(device=PEER, dtype=getattr(torch, kind))
    x, p = ts.from_numpy(pairs).to(DEVICE), torch.from_numpy(pairs).to(PEER)
    y, q = (
        ts.from_numpy(labels).to(DEVICE).astype(getattr(ts, kind)),
        torch.from_numpy(labels).to(PEER, getattr(torch, kind)),
    )
    return (
        queued_step(ours, ts.optim.Adam(ours.parameters()), ts.nn.BCEWithLogitsLoss(), x, y),
        queued_step(theirs, torch.optim.Adam(theirs.parameters()), torch.nn.BCEWithLogitsLoss(), p, q),
    )


def wait_for_both() -> None:
    wait()
    if not PRETEND:
        torch.cuda.synchronize()


def seconds_of_a_step(step: Callable[[], Any]) -> float:
    wait_for_both()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    wait_for_both()
    return (time.perf_counter() - start) / STEPS


def covered(intervals: Sequence[tuple[float, float]]) -> float:
    """The length of the union of the intervals."""
    total, end = 0.0, float("-inf")
    for start, stop in sorted(intervals):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def busy(step: Callable[[], Any]) -> float | None:
    """Per cent of the time, from the first kernel's start to the last one's end, in which the device computes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(STEPS):
            step()
        wait_for_both()
    ranges = [(e.time_range.start, e.time_range.end) for e in profile.events() if "CUDA" in str(e.device_type)]
    if not ranges:
        return None
    return 100 * covered(ranges) / (max(end for _, end in ranges) - min(start for start, _ in ranges))


def measure(name: str, batch: int, kind: str) -> None:
    torch.manual_seed(0)
    sides = ncf_sides(batch, kind) if name == "ncf" else image_sides(name, batch, kind)
    one, two = (float(step().item()) for step in sides)
    check_that(
        f"{name} {kind}: first losses {one:.6f} and {two:.6f} agree", abs(one - two) <= TOLERANCE[kind] * abs(two)
    )
    for step in sides * 2:  # makes plans and allocates memory
        step()
    rounds = [[seconds_of_a_step(step) for step in sides] for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(r[side] for r in rounds) for side in (0, 1))
    key = f"models.{name}.{kind}"
    figure(
        f"{key}.ratio", theirs / ours, "x", f"ours {ours * 1e3:.2f} ms, PyTorch {theirs * 1e3:.2f} ms, batch {batch}"
    )
    if not PRETEND and name == "resnet50":
        share = busy(sides[0])
        if share is not None:
            figure(f"{key}.busy", share, "%", "the union of kernels and copies, under PyTorch's profiler")


def main() -> int:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    end = time.monotonic() + float(os.environ.get("TSR_GPU_SECONDS", "1e9"))
    failed, done, late = [], 0, []
    for name, batch in ORDER:
        for kind in ("float32",) if PRETEND else TOLERANCE:
            if end - time.monotonic() < SECONDS_OF_A_MODEL:
                late.append(f"{name} {kind}")
                continue
            try:
                measure(name, batch, kind)
                done += 1
            except Exception:
                traceback.print_exc()
                failed.append(f"{name} {kind}")
            ts.memory.empty_cache(DEVICE)
            if not PRETEND:
                torch.cuda.empty_cache()
    print(f"{done} measured; failed: {', '.join(failed) or 'none'}; no time for: {', '.join(late) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
