# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""VGG-19 (Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", 2014)."""

from __future__ import annotations

from typing import Any

from .common import CLASSES, Spec, classify, images, sgd


def build(lib: Any, classes: int = CLASSES, size: int = 224, shrink: int = 1) -> Any:
    """`shrink` divides the numbers of channels."""
    nn = lib.nn
    layers: list[Any] = []
    inputs = 3
    for channels, count in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        outputs = channels // shrink
        for _ in range(count):
            layers += [nn.Conv2d(inputs, outputs, 3, 1, 1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2))
    wide = 4096 // shrink
    head = [nn.Linear(inputs * 49, wide), nn.ReLU(inplace=True), nn.Dropout()]
    head += [nn.Linear(wide, wide), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(wide, classes)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), *head)


SPEC = Spec(
    "VGG-19", "images", build, images, classify, sgd, device_batch=32,
    tiny={"size": 32, "classes": 10, "shrink": 16}, paper="119 ± 1",
)  # fmt: skip
