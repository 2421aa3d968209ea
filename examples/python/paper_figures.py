# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 1 and 2 of "PyTorch: An Imperative Style, High-Performance Deep Learning Library", from runs of this library.

Figure 1: the host queues the operators of a residual block long before the device runs them. Figure 2: the first iteration
takes memory from the device, later ones take it from the allocator's cache.

paper_figures.py [OUT] [--plugin PATH]: on CUDA if there is a device, with ResNet's blocks; else on the simulated device of
the tests, which knows elementwise operators only, and, for figure 2, with ResNet's blocks on the CPU.
"""

from __future__ import annotations

import argparse
import time
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


def block_of_resnet(device: str, batch: int = 32) -> Callable[[], None]:
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
    x = ts.randn((batch, 64, 56, 56)).to(device)
    return lambda: model(x).sum().backward()


def block_of_elementwise(device: str, rows: int) -> Callable[[], None]:
    """The operators that the simulated device has, in the order of a residual block, with their backward."""
    x = ts.ones((rows, 1024), device=device)
    scale = ts.full((rows, 1024), 0.5, device=device, requires_grad=True)

    def step() -> None:
        y = x
        for _ in range(3):
            inner = ts.exp(ts.negative(y * scale))
            y = ts.exp(ts.negative(inner * scale)) + y
        y.sum().backward()
        scale.grad = None

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
    figure, (near, axes) = plt.subplots(2, 1, figsize=(11, 3.8), height_ratios=(1, 2))
    whole = max(a["end"] for a in kernels)
    host = max(e["end"] for e in calls) - begin
    for row_axes, row in ((near, 0.1), (axes, 1.1)):
        row_axes.broken_barh([(0, host / 1000)], (row, 0.8), color="0.85")
    for spans, places in ((calls, ((near, 0.1), (axes, 1.1))), (kernels, ((axes, 0.1),))):
        for span in spans:
            name = span["name"].removesuffix("_kernel") if spans is kernels else span["name"]
            left, width = (span["begin"] - begin) / 1000, (span["end"] - span["begin"]) / 1000
            for row_axes, row in places:
                edge = {"edgecolor": "white", "linewidth": 0.3} if row_axes is near or spans is kernels else {}
                row_axes.broken_barh([(left, width)], (row, 0.8), color=color[name], **edge)
    by_correlation = {e["correlation"]: e for e in found["events"] if e["kind"] == "launch"}
    for kernel in kernels[:: max(len(kernels) // 8, 1)]:
        launch = by_correlation.get(kernel["correlation"])
        if launch is not None:
            ends = ((kernel["begin"] - begin) / 1000, 0.9), ((launch["begin"] - begin) / 1000, 1.1)
            axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": "0.25", "lw": 0.8})
    used = sum(a["end"] - a["begin"] for a in kernels) / (whole - min(a["begin"] for a in kernels))
    near.set_yticks([0.5], ["host"])
    near.set_title(f"The host alone (grey: Python): it queues the step in {host / 1e6:.2f} ms", fontsize=10)
    axes.set_yticks([0.5, 1.5], [device, "host"])
    axes.set_xlabel("microseconds")
    axes.set_title(f"The same with {device}, which is busy for {100 * used:.0f} % of its {(whole - begin) / 1e6:.1f} ms", fontsize=10)
    handles = [plt.Rectangle((0, 0), 1, 1, color=color[name]) for name in names]
    figure.legend(handles, names, ncols=1, fontsize=7, loc="center right", frameon=False)
    for row_axes in (near, axes):
        for side in ("top", "right", "left"):
            row_axes.spines[side].set_visible(False)
    figure.tight_layout(rect=(0, 0, 0.87, 1))
    figure.savefig(out / "figure1.svg", metadata={"Date": None})
    print(f"figure1.svg: host {host / 1e6:.3f} ms, {device} {(whole - begin) / 1e6:.3f} ms")


def iterations(device: str, step: Callable[[], None]) -> tuple[list[int], list[float]]:
    """How often each iteration asks the device for memory, and its milliseconds; `step` must be a fresh one."""
    ts.memory.empty_cache(device)
    taken, times = [], []
    for _ in range(6):
        before, begin = memory_stats(device)["num_device_alloc"], time.perf_counter()
        step()
        ts.synchronize(device)
        times.append(1000 * (time.perf_counter() - begin))
        taken.append(memory_stats(device)["num_device_alloc"] - before)
    return taken, times


def first_iteration(devices: dict[str, Callable[[], None]], out: Path) -> None:
    """Figure 2. The time of an iteration means nothing on a simulated device."""
    panels: list[tuple[str, list[int] | list[float]]] = []
    for device, step in devices.items():
        taken, times = iterations(device, step)
        print(f"figure2.svg: {device}: requests for memory by iteration {taken}")
        assert taken[0] > 0 and not any(taken[1:])
        panels.append((f"{device}: requests for device memory", taken))
        if not device.startswith("simulated"):
            panels.append((f"{device}: time of the iteration, ms", times))
    figure, all_axes = plt.subplots(1, len(panels), figsize=(3.7 * len(panels), 2.6))
    for axes, (title, values) in zip(all_axes, panels, strict=True):
        numbers = range(1, len(values) + 1)
        axes.bar(numbers, values, color=["tab:red"] + ["tab:blue"] * (len(values) - 1))
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("iteration")
        axes.margins(y=0.15)
        for number, value in zip(numbers, values, strict=True):
            axes.annotate(f"{value:.0f}", (number, value), ha="center", va="bottom", fontsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.tight_layout()
    figure.savefig(out / "figure2.svg", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", type=Path, default=ROOT / "docs/pictures")
    parser.add_argument("--plugin", type=Path, default=PLUGIN)
    options = parser.parse_args()
    plt.rcParams["svg.hashsalt"] = "tessera"
    if ts.device_count("cuda") > 0:
        first_iteration({"cuda": block_of_resnet("cuda")}, options.out)
        return queue("cuda", block_of_resnet("cuda"), options.out)
    name = str(options.plugin).encode()
    check(lib.tsr_plugin_load(name, len(name)))
    device = "simulated:0"
    first_iteration({device: block_of_elementwise(device, 512), "cpu": block_of_resnet("cpu", 4)}, options.out)
    # Its kernels are loops of the host, which must not take longer than they pretend to.
    queue(device, block_of_elementwise(device, 1), options.out)


if __name__ == "__main__":
    main()
