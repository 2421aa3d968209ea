# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 1 and 2 of "PyTorch: An Imperative Style, High-Performance Deep Learning Library", from runs of this library.

Figure 1: the host queues the operators of a residual block long before the device runs them. Figure 2: the first iteration
takes memory from the device, later ones take it from the allocator's cache.

paper_figures.py [OUT] [--plugin PATH]: on CUDA if there is a device, with ResNet's block; else on the simulated device of
the tests, which knows elementwise operators only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import tessera as ts
from tessera.capi import check, lib
from tessera.memory import memory_stats
from tessera.profiler import profile, record_function

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "build/release/tests/support/libtsr_simulated_backend.so"
COLORS = plt.get_cmap("tab20").colors


def block_of_resnet(device: str) -> Callable[[], None]:
    from tessera import nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(64, 64, 3, 1, 1), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1), nn.BatchNorm2d(64)
            )

        def forward(self, x: Any) -> Any:
            return nn.functional.relu(self.body(x) + x)

    model = nn.Sequential(*(Block() for _ in range(3))).to(device)
    x = ts.randn((32, 64, 56, 56)).to(device)
    return lambda: model(x).sum().backward()


def block_of_elementwise(device: str) -> Callable[[], None]:
    """The operators that the simulated device has, in the order of a residual block."""
    x = ts.ones((64, 1024), device=device)
    scale = ts.full((64, 1024), 0.5, device=device)

    def step() -> None:
        y = x
        for _ in range(3):
            inner = ts.exp(ts.negative(y * scale))
            y = ts.exp(ts.negative(inner * scale)) + y
        y.sum()

    return step


def queue(device: str, step: Callable[[], None], out: Path) -> None:
    """Figure 1."""
    step()
    ts.synchronize(device)
    with profile() as prof:
        with record_function("step"):
            step()
        ts.synchronize(device)
    found = prof.recording()
    calls = [e for e in found["events"] if e["kind"] in ("call", "node") and not e["name"].startswith(("tensor_", "device_"))]
    kernels = [a for a in found["activities"] if a["kind"] == "kernel"]
    begin = min(e["begin"] for e in calls)
    names = sorted({e["name"] for e in calls} | {a["name"].removesuffix("_kernel") for a in kernels})
    color = {name: COLORS[i % len(COLORS)] for i, name in enumerate(names)}
    figure, axes = plt.subplots(figsize=(11, 2.6))
    whole = max(a["end"] for a in kernels)
    axes.broken_barh([(0, (max(e["end"] for e in calls) - begin) / 1000)], (1.1, 0.8), color="0.85")
    for spans, row in ((calls, 1.1), (kernels, 0.1)):
        for span in spans:
            name = span["name"].removesuffix("_kernel") if row < 1 else span["name"]
            left, width = (span["begin"] - begin) / 1000, (span["end"] - span["begin"]) / 1000
            axes.broken_barh([(left, width)], (row, 0.8), color=color[name], edgecolor="white", linewidth=0.3)
    by_correlation = {e["correlation"]: e for e in found["events"] if e["kind"] == "launch"}
    for kernel in kernels[:: max(len(kernels) // 8, 1)]:
        launch = by_correlation.get(kernel["correlation"])
        if launch is not None:
            ends = ((kernel["begin"] - begin) / 1000, 0.9), ((launch["begin"] - begin) / 1000, 1.1)
            axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": "0.25", "lw": 0.8})
    used = sum(a["end"] - a["begin"] for a in kernels) / (whole - min(a["begin"] for a in kernels))
    axes.set_yticks([0.5, 1.5], [device, "host"])
    axes.set_xlabel("microseconds")
    axes.set_title(f"One step: host (grey: Python) and {device}, which is busy for {100 * used:.0f} % of its time", fontsize=10)
    handles = [plt.Rectangle((0, 0), 1, 1, color=color[name]) for name in names]
    axes.legend(handles, names, ncols=1, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(out / "figure1.svg")
    print(f"figure1.svg: host {(max(e['end'] for e in calls) - begin) / 1e6:.3f} ms, {device} {(whole - begin) / 1e6:.3f} ms")


def first_iteration(device: str, step: Callable[[], None], out: Path) -> None:
    """Figure 2; `step` must be a fresh one."""
    ts.memory.empty_cache(device)
    taken, times = [], []
    for _ in range(6):
        before = memory_stats(device)["num_device_alloc"]
        with profile() as prof:
            step()
            ts.synchronize(device)
        found = prof.recording()
        taken.append(memory_stats(device)["num_device_alloc"] - before)
        times.append((found["end"] - found["begin"]) / 1e6)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6))
    numbers = range(1, len(taken) + 1)
    colors = ["tab:red"] + ["tab:blue"] * (len(taken) - 1)
    left.bar(numbers, taken, color=colors)
    left.set_title("allocations of device memory", fontsize=10)
    right.bar(numbers, times, color=colors)
    right.set_title("time of the iteration, ms", fontsize=10)
    for axes in (left, right):
        axes.set_xlabel("iteration")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    for number, count in zip(numbers, taken, strict=True):
        left.annotate(str(count), (number, count), ha="center", va="bottom", fontsize=8)
    figure.tight_layout()
    figure.savefig(out / "figure2.svg")
    print(f"figure2.svg: allocations by iteration {taken}")
    assert taken[0] > 0 and not any(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "docs/pictures")
    parser.add_argument("--plugin", type=Path, default=PLUGIN)
    options = parser.parse_args()
    plt.rcParams["svg.hashsalt"] = "tessera"
    if ts.device_count("cuda") > 0:
        device, make = "cuda", block_of_resnet
    else:
        name = str(options.plugin).encode()
        check(lib.tsr_plugin_load(name, len(name)))
        device, make = "simulated:0", block_of_elementwise
    first_iteration(device, make(device), options.out)
    queue(device, make(device), options.out)


if __name__ == "__main__":
    main()
