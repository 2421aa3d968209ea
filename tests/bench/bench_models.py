#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares training steps of whole models with PyTorch's, step by step in turns: one JSON line each, then a table.

The models are in models.py, written once for both libraries. Both sides start from the same weights and get the same
batch. The time of a step is forward, loss, backward and the optimizer's step. "cpu" is the processor time of the
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
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tessera as ts

from models import CLASSES, IMAGE_MODELS, ITEMS, USERS, Step, copy_weights, ncf, stepper

def image_steps(build: Callable[[Any], Any], options: argparse.Namespace) -> tuple[Step, Step]:
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    images = random.standard_normal((options.batch, 3, options.size, options.size)).astype(np.float32)
    labels = random.integers(0, CLASSES, options.batch)
    theirs, ours = build(torch.nn), build(ts.nn)
    copy_weights(theirs, ours)
    x, y, p, q = ts.from_numpy(images), ts.from_numpy(labels), torch.from_numpy(images), torch.from_numpy(labels)
    if options.last:
        x = ts.from_numpy(np.ascontiguousarray(images.transpose(0, 2, 3, 1))).permute((0, 3, 1, 2))
        p = p.contiguous(memory_format=torch.channels_last)
        theirs = theirs.to(memory_format=torch.channels_last)
    return (
        stepper(ours, ts.optim.SGD(ours.parameters(), 0.01, 0.9), ts.nn.CrossEntropyLoss(), x, y),
        stepper(theirs, torch.optim.SGD(theirs.parameters(), 0.01, 0.9), torch.nn.CrossEntropyLoss(), p, q),
    )


def ncf_steps(options: argparse.Namespace) -> tuple[Step, Step]:
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    pairs = np.stack([random.integers(0, USERS, options.pairs), random.integers(0, ITEMS, options.pairs)])
    labels = random.integers(0, 2, options.pairs).astype(np.float32)
    theirs, ours = ncf(torch.nn, torch.cat), ncf(ts.nn, ts.cat)
    copy_weights(theirs, ours)
    x, y, p, q = ts.from_numpy(pairs), ts.from_numpy(labels), torch.from_numpy(pairs), torch.from_numpy(labels)
    return (
        stepper(ours, ts.optim.Adam(ours.parameters()), ts.nn.BCEWithLogitsLoss(), x, y),
        stepper(theirs, torch.optim.Adam(theirs.parameters()), torch.nn.BCEWithLogitsLoss(), p, q),
    )


MODELS = [*IMAGE_MODELS, "ncf"]


# ---- measuring ----


def milliseconds(step: Step) -> tuple[float, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    loss = step()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, loss


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    steps = ncf_steps(options) if name == "ncf" else image_steps(IMAGE_MODELS[name], options)
    sides = [steps[i] for i in (0, 1) if options.only in (None, i)]
    first = [step() for step in sides]  # makes oneDNN's primitives
    for step in sides * 2:  # allocates memory
        step()
    rounds = [[milliseconds(step) for step in sides] for _ in range(options.rounds)]
    line: dict[str, Any] = {"name": name, "threads": options.threads, "first_losses": first}
    for key, column, pick in (("wall", 0, statistics.median), ("best", 0, min), ("cpu", 1, statistics.median)):
        line[key] = [pick(r[side][column] for r in rounds) for side in range(len(sides))]
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=224, help="pixels along an image's side")
    parser.add_argument("--pairs", type=int, default=16384, help="the batch of ncf")
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
