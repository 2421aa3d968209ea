# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains ResNet-18 (He and others, 2015) on scikit-learn's scanned digits, enlarged, and writes its weights under
torchvision's names. DATA is the file that digits.py writes; the programs of the other languages do the same.

resnet18.py DATA OUT [--epochs N] [--seed S]
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from tqdm import tqdm

import tessera as ts
import tessera.nn.functional as F
from tessera import nn, optim
from tessera.utils.data import DataLoader, TensorDataset

SIZE = 32  # pixels along a side
BATCH_SIZE = 32
LEARNING_RATE = 0.02
MOMENTUM = 0.9
WEIGHT_DECAY = 5e-4


class Block(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


def stage(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(Block(inputs, outputs, stride), Block(outputs, outputs, 1))


class ResNet18(nn.Module):
    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = stage(64, 64, 1)
        self.layer2 = stage(64, 128, 2)
        self.layer3 = stage(128, 256, 2)
        self.layer4 = stage(256, 512, 2)
        self.fc = nn.Linear(512, classes)

    def forward(self, x: ts.Tensor) -> ts.Tensor:
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(x, 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def enlarged(images: ts.Tensor) -> ts.Tensor:
    return F.interpolate(images, size=(SIZE, SIZE), mode="bilinear")


def rate_of(epoch: int, epochs: int) -> float:
    """Half a cosine wave, from the full rate down to almost nothing."""
    return LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * epoch / epochs))


def train_epoch(model: ResNet18, optimizer: optim.Optimizer, loader: DataLoader) -> float:
    """The mean of the losses of the batches during training."""
    total, count = 0.0, 0
    for images, classes in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), classes)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(classes)
        count += len(classes)
    return total / count


def accuracy(model: ResNet18, images: ts.Tensor, classes: ts.Tensor) -> float:
    model.eval()
    with ts.no_grad():
        guesses = ts.argmax(model(images), axis=1)
    return float((guesses == classes).astype(ts.float64).mean().item())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder for resnet18.safetensors")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    tensors = ts.load_file(options.data)
    ts.manual_seed(options.seed)
    model = ResNet18(1, 10)
    optimizer = optim.SGD(model.parameters(), LEARNING_RATE, MOMENTUM, weight_decay=WEIGHT_DECAY)
    dataset = TensorDataset(enlarged(tensors["train_images"]), tensors["train_classes"])
    loader = DataLoader(dataset, batch_size=BATCH_SIZE, shuffle=True, generator=ts.Generator(options.seed))
    with tqdm(range(options.epochs), unit="epoch", disable=None) as progress:
        for epoch in progress:
            for group in optimizer.param_groups:
                group["lr"] = rate_of(epoch, options.epochs)
            progress.set_postfix(loss=f"{train_epoch(model, optimizer, loader):.4f}")
    options.out.mkdir(parents=True, exist_ok=True)
    ts.save_file(model.state_dict(), options.out / "resnet18.safetensors")
    print(f"test accuracy {accuracy(model, enlarged(tensors['test_images']), tensors['test_classes']):.4f}")


if __name__ == "__main__":
    main()
