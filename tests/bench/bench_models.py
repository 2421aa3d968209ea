#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of whole models with PyTorch's, step by step in turns in one process: one JSON line each, then a
table. examples/models/table1.py compares losses and throughput; this program is for profilers and for single cases.

The models are those of examples/models, written once for both libraries. Both sides start from the same weights and get the
same batch. The time of a step is forward, loss, backward and the optimizer's step. "cpu" is the processor time of the
process, which other programs disturb less than wall-clock time.

Usage: python tests/bench/bench_models.py [--models resnet50 ...] [--batch N] [--size PIXELS] [--last]
"""

from __future__ import annotations

import os

# Idle workers of one library must not spin while the other one is measured.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tessera as ts

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from models import MODELS  # noqa: E402
from models.common import images, queued_step, set_weights, weights_of  # noqa: E402

Step = Callable[[], float]


def channels_last(lib: Any, model: Any, x: Any) -> tuple[Any, Any]:
    if lib is torch:
        return model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    return model, ts.from_numpy(np.ascontiguousarray(x.numpy().transpose(0, 2, 3, 1))).permute((0, 3, 1, 2))


def steps_of(name: str, options: argparse.Namespace) -> tuple[Step, Step]:
    """A step of tessera and one of PyTorch."""
    spec = MODELS[name]
    sizes = dict(spec.sizes)
    if spec.data is images:
        sizes["size"] = options.size
    ts.manual_seed(0)
    ours, theirs = spec.build(ts, **sizes), spec.build(torch, **sizes)
    set_weights(torch, theirs, weights_of(ours))
    arrays = spec.data(np.random.default_rng(0), spec.batch * options.batch // 8, **sizes)

    def side(lib: Any, model: Any) -> Step:
        tensors = [lib.from_numpy(array) for array in arrays]
        if options.last and spec.data is images:
            model, tensors[0] = channels_last(lib, model, tensors[0])
        step = queued_step(lib, spec, model)
        return lambda: float(step(*tensors).item())

    return side(ts, ours), side(torch, theirs)


# ---- measuring ----


def milliseconds(step: Step) -> tuple[float, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    loss = step()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, loss


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    steps = steps_of(name, options)
    sides = [steps[i] for i in (0, 1) if options.only in (None, i)]
    for step in sides * 3:  # makes oneDNN's primitives and allocates memory
        step()
    rounds = [[milliseconds(step) for step in sides] for _ in range(options.rounds)]
    line: dict[str, Any] = {"name": name, "threads": options.threads}
    for key, column, pick in (("wall", 0, statistics.median), ("best", 0, min), ("cpu", 1, statistics.median)):
        line[key] = [pick(r[side][column] for r in rounds) for side in range(len(sides))]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8, help="images; other batches grow in proportion")
    parser.add_argument("--size", type=int, default=128, help="pixels along an image's side")
    parser.add_argument("--last", action="store_true", help="images with channels last")
    parser.add_argument("--only", type=int, choices=(0, 1), help="0: only ours, 1: only PyTorch, for profilers")
    options = parser.parse_args()
    ts.set_num_threads(options.threads)
    torch.set_num_threads(options.threads)
    table = ["| model | Tessera, ms (best, cpu) | PyTorch, ms (best, cpu) | ratio (best, cpu) |", "|---|---|---|---|"]
    for name in options.models:
        line = measure(name, options)
        print(json.dumps(line), flush=True)
        if options.only is None:
            cells = [f"{line['wall'][i]:.0f} ({line['best'][i]:.0f}, {line['cpu'][i]:.0f})" for i in (0, 1)]
            ratio = {key: line[key][0] / line[key][1] for key in ("wall", "best", "cpu")}
            cells.append(f"{ratio['wall']:.2f} ({ratio['best']:.2f}, {ratio['cpu']:.2f})")
            table.append(f"| {name} | " + " | ".join(cells) + " |")
    print("\n".join(table))
    print(f"\nPyTorch {torch.__version__}, batch {options.batch} of {options.size}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
