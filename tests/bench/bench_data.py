#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory between processes, and a loader of PNG files with two workers, beside PyTorch's: one JSON line each.

"send" is the time from the call that sends a shared tensor through a pipe to the moment when another process has it as a
tensor. "images" are decoded by Pillow in the workers, and both loaders get the same data set; epochs take turns, and the
first, with the start of the workers, does not count.

Usage: python tests/bench/bench_data.py [--images N] [--size PIXELS] [--batch N] [--epochs N]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

if importlib.util.find_spec("PIL") is None:  # an environment without Pillow: the distribution's
    sys.path.append("/usr/lib/python3/dist-packages")

import numpy as np
from PIL import Image

import tessera as ts
from tessera import multiprocessing as mp
from tessera.utils.data import DataLoader

WORKERS = 2


class Images:
    """Decodes one PNG file for each sample: channels first, float32 from 0 to 1."""

    def __init__(self, folder: str, count: int) -> None:
        self.folder, self.count = folder, count

    def __getitem__(self, index: int) -> Any:
        with Image.open(f"{self.folder}/{index}.png") as image:
            pixels = np.asarray(image)
        return np.ascontiguousarray(pixels.transpose(2, 0, 1)).astype(np.float32) / np.float32(255), index % 10

    def __len__(self) -> int:
        return self.count


def write_images(folder: str, count: int, size: int) -> None:
    """Smooth pictures with a little noise, which compress about as photographs do."""
    random = np.random.default_rng(0)
    y, x = np.mgrid[0:size, 0:size] / size
    for index in range(count):
        waves = [np.sin(random.uniform(2, 20) * x + random.uniform(2, 20) * y) for _ in range(3)]
        pixels = np.stack(waves, 2) * 100 + 128 + random.normal(0, 4, (size, size, 3))
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(f"{folder}/{index}.png")


# ---- One tensor through a pipe ----


def receive(pipe: Any) -> None:
    while True:
        found = pipe.recv()
        if found is None:
            return
        now = time.monotonic()
        pipe.send((now, float(found[0, 0].item())))
        del found


def bench_send(strategy: str, nbytes: int) -> None:
    mp.set_sharing_strategy(strategy)
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=receive, args=(theirs,))
    process.start()
    tensor = ts.ones((nbytes // 4096, 1024)).share_memory_()
    times = []
    for _ in range(12):
        begin = time.monotonic()
        ours.send(tensor)
        arrived, value = ours.recv()
        assert value == 1.0
        times.append((arrived - begin) * 1e3)
    ours.send(None)
    process.join()
    times = sorted(times[2:])
    result = {"name": "send", "strategy": strategy, "bytes": nbytes, "median_ms": round(statistics.median(times), 3)}
    print(json.dumps({**result, "least_ms": round(times[0], 3), "most_ms": round(times[-1], 3)}), flush=True)


# ---- A loader of images ----


def processor_seconds(loader: Any) -> float:
    """The processor time that the workers have used, which other programs disturb less than wall-clock time."""
    workers = loader._pool._processes if isinstance(loader, DataLoader) else loader._iterator._workers
    ticks = 0
    for worker in workers:
        ticks += sum(map(int, Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def epoch(loader: Any) -> float:
    begin = time.perf_counter()
    seen = sum(len(labels) for _, labels in loader)
    return seen / (time.perf_counter() - begin)


def bench_images(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, options.images, options.size)
        data = Images(folder, options.images)
        loaders: dict[str, Any] = {"tessera": DataLoader(data, options.batch, num_workers=WORKERS, persistent_workers=True)}
        if importlib.util.find_spec("torch") is not None:
            import torch

            theirs = torch.utils.data.DataLoader(data, options.batch, num_workers=WORKERS, persistent_workers=True)
            loaders[f"torch {torch.__version__}"] = theirs
        rates: dict[str, list[float]] = {name: [] for name in loaders}
        used: dict[str, float] = {}
        for number in range(options.epochs + 1):
            for name, loader in loaders.items():
                rate = epoch(loader)
                if number > 0:
                    rates[name].append(rate)
                else:
                    used[name] = -processor_seconds(loader)
        shape = {"images": options.images, "size": options.size, "batch": options.batch, "workers": WORKERS}
        for name, found in rates.items():
            spent = (used[name] + processor_seconds(loaders[name])) / (options.epochs * options.images)
            figures = {"per_second": round(statistics.median(found), 1), "worker_cpu_ms": round(spent * 1e3, 3)}
            print(json.dumps({"name": "images", "loader": name, **shape, **figures}))
        if len(rates) == 2:
            ours, other = (statistics.median(found) for found in rates.values())
            print(json.dumps({"name": "images", "ratio": round(ours / other, 3)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=384)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    for strategy in sorted(mp.get_all_sharing_strategies()):
        bench_send(strategy, 1 << 30)
    bench_images(options)


if __name__ == "__main__":
    main()
