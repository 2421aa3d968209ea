# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""AlexNet (Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014)."""

from __future__ import annotations

from typing import Any

from .common import CLASSES, Spec, classify, images, sgd


def build(lib: Any, classes: int = CLASSES, size: int = 224, shrink: int = 1) -> Any:
    """`shrink` divides the numbers of channels."""
    nn = lib.nn
    layers: list[Any] = []
    inputs = 3
    for channels, kernel, stride, padding, pool in (
        (64, 11, 4, 2, True), (192, 5, 1, 2, True), (384, 3, 1, 1, False), (256, 3, 1, 1, False), (256, 3, 1, 1, True),
    ):  # fmt: skip
        outputs = channels // shrink
        layers += [nn.Conv2d(inputs, outputs, kernel, stride, padding), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if pool else []
        inputs = outputs
    wide = 4096 // shrink
    head = [nn.Dropout(), nn.Linear(inputs * 36, wide), nn.ReLU(inplace=True)]
    head += [nn.Dropout(), nn.Linear(wide, wide), nn.ReLU(inplace=True), nn.Linear(wide, classes)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(6), nn.Flatten(), *head)


SPEC = Spec(
    "AlexNet", "images", build, images, classify, sgd, device_batch=128,
    tiny={"size": 64, "classes": 10, "shrink": 16}, paper="1547 ± 316",
)  # fmt: skip
