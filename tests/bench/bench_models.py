#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Training steps of whole models beside PyTorch's, step by step in turns: a JSON line each, then a table.

A model is written once, over `nn`, which is tessera.nn or torch.nn; both sides start from the same weights and
get the same batch. The time of a step is forward, loss, backward and the optimizer's step; "cpu" is the process's
own time, which other programs disturb less than the clock on the wall.

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

CLASSES = 1000
USERS, ITEMS, FACTORS = 138_493, 26_744, 64  # MovieLens-20M
Step = Callable[[], float]


# ---- the models, each over either library ----


def alexnet(nn: Any) -> Any:
    layers: list[Any] = []
    for inputs, outputs, kernel, stride, padding, pool in (
        (3, 64, 11, 4, 2, True), (64, 192, 5, 1, 2, True), (192, 384, 3, 1, 1, False),
        (384, 256, 3, 1, 1, False), (256, 256, 3, 1, 1, True),
    ):  # fmt: skip
        layers += [nn.Conv2d(inputs, outputs, kernel, stride, padding), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if pool else []
    head = [nn.Dropout(), nn.Linear(256 * 36, 4096), nn.ReLU(inplace=True)]
    head += [nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, CLASSES)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(6), nn.Flatten(), *head)


def vgg19(nn: Any) -> Any:
    layers: list[Any] = []
    inputs = 3
    for outputs, count in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(count):
            layers += [nn.Conv2d(inputs, outputs, 3, 1, 1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2))
    head = [nn.Linear(512 * 49, 4096), nn.ReLU(inplace=True), nn.Dropout()]
    head += [nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, CLASSES)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), *head)


def normalised(nn: Any, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[Any]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, 1, groups, False)
    return [conv, nn.BatchNorm2d(outputs)]


def resnet50(nn: Any) -> Any:
    class Bottleneck(nn.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, width: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *normalised(nn, inputs, width, 1), nn.ReLU(inplace=True),
                *normalised(nn, width, width, 3, stride), nn.ReLU(inplace=True),
                *normalised(nn, width, 4 * width, 1),
            )  # fmt: skip
            same = inputs == 4 * width
            self.side = nn.Identity() if same else nn.Sequential(*normalised(nn, inputs, 4 * width, 1, stride))
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            y = self.body(x)
            y += self.side(x)
            return self.relu(y)

    layers = [*normalised(nn, 3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(inputs, width, 2 if i == 0 and width > 64 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def mobilenet(nn: Any) -> Any:
    layers = [*normalised(nn, 3, 32, 3, 2), nn.ReLU(inplace=True)]
    inputs = 32
    for outputs, stride in (
        (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1),
    ):  # fmt: skip
        layers += [*normalised(nn, inputs, inputs, 3, stride, inputs), nn.ReLU(inplace=True)]
        layers += [*normalised(nn, inputs, outputs, 1), nn.ReLU(inplace=True)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def ncf(nn: Any, cat: Callable[..., Any]) -> Any:
    class NeuMF(nn.Module):  # type: ignore[misc]
        """Neural collaborative filtering: a product of factors beside a perceptron."""

        def __init__(self) -> None:
            super().__init__()
            self.users, self.items = nn.Embedding(USERS, FACTORS), nn.Embedding(ITEMS, FACTORS)
            self.deep_users, self.deep_items = nn.Embedding(USERS, 2 * FACTORS), nn.Embedding(ITEMS, 2 * FACTORS)
            layers: list[Any] = []
            for inputs, outputs in ((256, 256), (256, 128), (128, 64)):
                layers += [nn.Linear(inputs, outputs), nn.ReLU()]
            self.deep = nn.Sequential(*layers)
            self.last = nn.Linear(64 + FACTORS, 1)

        def forward(self, pairs: Any) -> Any:
            user, item = pairs[0], pairs[1]
            shallow = self.users(user) * self.items(item)
            deep = self.deep(cat([self.deep_users(user), self.deep_items(item)], 1))
            return self.last(cat([shallow, deep], 1)).reshape(-1)

    return NeuMF()


# ---- one step of either library ----


def stepper(model: Any, optimizer: Any, criterion: Callable[..., Any], x: Any, y: Any) -> Step:
    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def copy_weights(source: Any, target: Any) -> None:
    state = {name: ts.from_numpy(value.detach().numpy().copy()) for name, value in source.state_dict().items()}
    target.load_state_dict(state)


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


IMAGE_MODELS = {"alexnet": alexnet, "vgg19": vgg19, "resnet50": resnet50, "mobilenet": mobilenet}
MODELS = [*IMAGE_MODELS, "ncf"]


# ---- measuring ----


def milliseconds(step: Step) -> tuple[float, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    loss = step()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3, loss


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    steps = ncf_steps(options) if name == "ncf" else image_steps(IMAGE_MODELS[name], options)
    sides = [steps[i] for i in (0, 1) if options.only in (None, i)]
    first = [step() for step in sides]  # primitives are made
    for step in sides * 2:  # memory is taken
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
