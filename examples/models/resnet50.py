# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 (He and others, "Deep residual learning for image recognition", 2015), strides in the 3x3 convolutions."""

from __future__ import annotations

from typing import Any

from .common import CLASSES, Spec, classify, conv_norm, images, sgd, start_residual


def build(lib: Any, classes: int = CLASSES, size: int = 224, shrink: int = 1, blocks: int = 6) -> Any:
    """`shrink` divides the numbers of channels, `blocks` is the largest number of blocks in a stage."""
    nn = lib.nn

    class Bottleneck(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self, inputs: int, width: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *conv_norm(nn, inputs, width, 1), nn.ReLU(inplace=True),
                *conv_norm(nn, width, width, 3, stride), nn.ReLU(inplace=True),
                *conv_norm(nn, width, 4 * width, 1),
            )  # fmt: skip
            same = inputs == 4 * width
            self.side = nn.Identity() if same else nn.Sequential(*conv_norm(nn, inputs, 4 * width, 1, stride))
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            y = self.body(x)
            y += self.side(x)
            return self.relu(y)

    inputs = 64 // shrink
    layers = [*conv_norm(nn, 3, inputs, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    for stage, count in enumerate((3, 4, 6, 3)):
        width = (64 << stage) // shrink
        for i in range(min(count, blocks)):
            layers.append(Bottleneck(inputs, width, 2 if i == 0 and stage > 0 else 1))
            inputs = 4 * width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
    return start_residual(nn, model, [layer.body[-1] for layer in model if isinstance(layer, Bottleneck)])


SPEC = Spec(
    "ResNet-50", "images", build, images, classify, sgd,
    tiny={"size": 64, "classes": 10, "shrink": 8, "blocks": 1}, paper="212 ± 2",
)  # fmt: skip
