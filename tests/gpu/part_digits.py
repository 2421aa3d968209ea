# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of examples/python on the digits, on the device: the accuracy must equal that of the CPU."""

from __future__ import annotations

import sys
import time

import numpy as np

import tessera as ts
from tessera import optim

from figures import DEVICE, check_that, figure, skip
from machine import PRETEND, ROOT, UNPACKED

sys.path.insert(0, str(ROOT / "examples" / "python"))

from digits_model import BATCH_SIZE, LEARNING_RATE, WEIGHT_DECAY, Net, accuracy, set_rate, train_epoch  # noqa: E402

EPOCHS, GOAL = (1, 0.1) if PRETEND else (30, 0.98)


def load() -> dict[str, ts.Tensor]:
    """The bundle's data; in tests of the runner, numbers of the same shapes with an easy rule."""
    if not PRETEND:
        path = UNPACKED / "data" / "digits.safetensors"
        if not path.is_file():
            skip("the bundle has no data/digits.safetensors")
        return ts.load_file(path)
    classes = np.arange(64) % 10
    images = np.zeros((64, 1, 8, 8), np.float32)
    images[np.arange(64), 0, classes % 8, classes // 8 * 4] = 4.0
    tensors = {"images": ts.from_numpy(images), "classes": ts.from_numpy(classes)}
    return {f"{part}_{name}": value for part in ("train", "test") for name, value in tensors.items()}


class Batches:
    """The batches of an epoch in random order, gathered on the device."""

    def __init__(self, images: ts.Tensor, classes: ts.Tensor) -> None:
        self.images, self.classes, self.random = images, classes, np.random.default_rng(0)

    def __iter__(self) -> object:
        order = ts.from_numpy(self.random.permutation(len(self.images))).to(DEVICE)
        for start in range(0, len(order), BATCH_SIZE):
            chosen = order[start : start + BATCH_SIZE]
            yield self.images[chosen], self.classes[chosen]


def main() -> None:
    data = {name: tensor.to(DEVICE) for name, tensor in load().items()}
    ts.manual_seed(0)
    model = Net().to(device=DEVICE)
    optimizer = optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    batches = Batches(data["train_images"], data["train_classes"])
    start = time.perf_counter()
    for epoch in range(EPOCHS):
        set_rate(optimizer, epoch, EPOCHS)
        loss, met = train_epoch(model, optimizer, batches)
        print(f"epoch {epoch}: loss {loss:.4f}, accuracy {met:.4f}, {time.perf_counter() - start:.1f} s", flush=True)
    reached = accuracy(model, data["test_images"], data["test_classes"])
    figure("digits.accuracy", 100 * reached, "%", f"of the test images after {EPOCHS} epochs")
    figure("digits.seconds", time.perf_counter() - start, "s")
    check_that(f"test accuracy {reached:.4f} is at least {GOAL}", reached >= GOAL)
    print(f"test accuracy {reached:.4f}")


if __name__ == "__main__":
    main()
