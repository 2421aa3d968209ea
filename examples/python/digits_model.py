# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The network of the digits programs, its training for one epoch, and its accuracy."""

from __future__ import annotations

import math

import tessera as ts
import tessera.nn.functional as F
from tessera import nn, optim
from tessera.amp import GradScaler, autocast
from tessera.utils.data import DataLoader

LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-3
BATCH_SIZE = 64


class Net(nn.Module):
    """Two convolutions, one pooling, two dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(64)
        self.dropout = nn.Dropout(0.3)
        self.dense1 = nn.Linear(64 * 4 * 4, 128)
        self.dense2 = nn.Linear(128, 10)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        x = F.max_pool2d(x, 2).flatten(1)
        x = self.dropout(F.relu(self.dense1(x)))
        return self.dense2(x)


def logits_of(model: Net, images: ts.Tensor) -> ts.Tensor:
    """The logits of images, in evaluation mode and without recording."""
    model.eval()
    with ts.no_grad():
        logits = model(images)
    model.train()
    return logits


def share_right(logits: ts.Tensor, classes: ts.Tensor) -> float:
    return float((ts.argmax(logits, axis=1) == classes).astype(ts.float32).mean().item())


def accuracy(model: Net, images: ts.Tensor, classes: ts.Tensor) -> float:
    return share_right(logits_of(model, images), classes)


def set_rate(optimizer: optim.Optimizer, epoch: int, epochs: int) -> None:
    """Half a cosine wave, from the full rate down to almost nothing."""
    for group in optimizer.param_groups:
        group["lr"] = LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * epoch / epochs))


def train_epoch(
    model: Net, optimizer: optim.Optimizer, loader: DataLoader, amp: ts.DType | None = None, scaler: GradScaler | None = None
) -> tuple[float, float]:
    """The mean loss and accuracy of the batches during training. With `amp`, float16 or bfloat16, in mixed precision."""
    scaler = scaler or GradScaler(enabled=False)  # which passes losses and steps on
    total, right, count = 0.0, 0, 0
    for images, classes in loader:
        optimizer.zero_grad()
        with autocast("cpu", amp, enabled=amp is not None):
            logits = model(images)
            loss = F.cross_entropy(logits, classes)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        size = len(classes)
        total += loss.item() * size
        right += int((ts.argmax(logits.detach(), axis=1) == classes).sum().item())
        count += size
    return total / count, right / count
