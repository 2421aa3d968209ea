# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Hogwild: several processes train one model on scikit-learn's handwritten digits, without locks.

The parameters lie in shared memory. Every process computes gradients of its own and adds them to the parameters while the
others do the same; an update may be lost now and then, which does no harm. Prints the accuracy on the test set, which four
processes bring above 98 %.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import tessera as ts
import tessera.nn.functional as F
from tessera import multiprocessing as mp
from tessera import nn, optim
from tessera.utils.data import DataLoader, TensorDataset


RATE = 0.03  # from 0.1 on the updates of several processes diverge now and then


class Net(nn.Module):
    """Two convolutions and two dense layers; no running statistics, which processes would mix up."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.dense1 = nn.Linear(32 * 4 * 4, 128)
        self.dense2 = nn.Linear(128, 10)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = F.max_pool2d(x, 2).flatten(1)
        return self.dense2(F.relu(self.dense1(x)))


def load() -> list[ts.Tensor]:
    """Images (N, 1, 8, 8) in [0, 1] and class numbers: training part, test part."""
    images, classes = load_digits(return_X_y=True)
    images = (images / 16.0).astype(np.float32).reshape(-1, 1, 8, 8)
    parts = train_test_split(images, classes.astype(np.int64), test_size=0.25, random_state=0, stratify=classes)
    return [ts.tensor(parts[i]) for i in (0, 2, 1, 3)]


def train(rank: int, model: Net, images: ts.Tensor, classes: ts.Tensor, epochs: int, seed: int) -> None:
    """The work of one process; model and data are those of all."""
    ts.set_num_threads(1)
    loader = DataLoader(TensorDataset(images, classes), 32, shuffle=True, generator=ts.Generator(seed + rank))
    optimizer = optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
    for epoch in tqdm(range(epochs), desc=f"process {rank}", position=rank, leave=False):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - epoch / epochs)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=12, help="of every process")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    train_images, train_classes, test_images, test_classes = load()
    ts.manual_seed(options.seed)
    model = Net().share_memory()
    begin = time.perf_counter()
    arguments = (model, train_images.share_memory_(), train_classes.share_memory_(), options.epochs, options.seed)
    mp.spawn(train, arguments, nprocs=options.processes)
    with ts.no_grad():
        right = (model(test_images).argmax(axis=1) == test_classes).to(ts.float32).mean().item()
    print(f"{options.processes} processes, {time.perf_counter() - begin:.1f} s")
    print(f"test accuracy {right:.4f}")


if __name__ == "__main__":
    main()
