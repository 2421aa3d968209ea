# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of the models of examples/models with PyTorch's: same weights, same batch, in turns, one process.

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
from functools import partial
from typing import Any

import numpy as np
import torch

import tessera as ts

from figures import DEVICE, PEER, check_that, figure, wait
from machine import PRETEND, ROOT

sys.path.insert(0, str(ROOT / "examples"))

from models import MODELS  # noqa: E402
from models.common import first_losses, queued_step, set_weights, weights_of  # noqa: E402

# In order of importance: the last ones are dropped if time runs out.
ORDER, STEPS, ROUNDS = ["resnet50", "mobilenet_v2", "gpt2", "ncf", "gnmt", "vit", "vgg19", "alexnet"], 5, 5
if PRETEND:
    ORDER, STEPS, ROUNDS = ["ncf"], 1, 1
TOLERANCE = {"float32": 1e-4, "bfloat16": 3e-2}  # of the first losses
LOSSES = {"float32": 10, "bfloat16": 1}
SECONDS_OF_A_MODEL = 15
Sides = tuple[Callable[[], Any], Callable[[], Any]]


def sides_of(name: str, kind: str) -> tuple[Sides, list[list[float]]]:
    """Our step and PyTorch's, and the first losses of both."""
    spec, sizes = MODELS[name], MODELS[name].tiny if PRETEND else {}
    random, steps, losses = np.random.default_rng(0), [], []
    arrays = [spec.data(random, 64 if PRETEND else spec.device_batch, **sizes) for _ in range(LOSSES[kind])]
    ts.manual_seed(0)
    ours, theirs = spec.build(ts, **sizes), spec.build(torch, **sizes)
    set_weights(torch, theirs, weights_of(ours))
    for lib, model, device in ((ts, ours, DEVICE), (torch, theirs, PEER)):
        dtype = getattr(lib, kind)
        model = model.to(device=device, dtype=dtype)

        def on_device(array: np.ndarray) -> Any:
            tensor = lib.from_numpy(array).to(device)
            return tensor.to(dtype) if array.dtype == np.float32 else tensor

        batches = [tuple(map(on_device, batch)) for batch in arrays]
        losses.append(first_losses(lib, spec, model, batches))
        step = queued_step(lib, spec, model)
        steps.append(partial(step, *batches[0]))
    return (steps[0], steps[1]), losses


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


def measure(name: str, kind: str) -> None:
    sides, losses = sides_of(name, kind)
    worst = max(abs(one - two) / abs(two) for one, two in zip(*losses))
    check_that(f"{name} {kind}: the first {len(losses[0])} losses agree ({worst:.0e})", worst <= TOLERANCE[kind])
    for step in sides * 2:  # makes plans and allocates memory
        step()
    rounds = [[seconds_of_a_step(step) for step in sides] for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(r[side] for r in rounds) for side in (0, 1))
    key = f"models.{name}.{kind}"
    figure(
        f"{key}.ratio", theirs / ours, "x", f"ours {ours * 1e3:.2f} ms, PyTorch {theirs * 1e3:.2f} ms"
    )
    if not PRETEND and name == "resnet50":
        share = busy(sides[0])
        if share is not None:
            figure(f"{key}.busy", share, "%", "the union of kernels and copies, under PyTorch's profiler")


def main() -> int:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    end = time.monotonic() + float(os.environ.get("TSR_GPU_SECONDS", "1e9"))
    failed, done, late = [], 0, []
    for name in ORDER:
        for kind in ("float32",) if PRETEND else TOLERANCE:
            if end - time.monotonic() < SECONDS_OF_A_MODEL:
                late.append(f"{name} {kind}")
                continue
            try:
                measure(name, kind)
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
