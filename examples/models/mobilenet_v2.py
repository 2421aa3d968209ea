# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 (Sandler and others, "Inverted residuals and linear bottlenecks", 2018)."""

from __future__ import annotations

from typing import Any

from .common import CLASSES, Spec, classify, conv_norm, images, start_residual


def build(lib: Any, classes: int = CLASSES, size: int = 224, blocks: int = 4) -> Any:
    """`blocks` is the largest number of blocks in a stage."""
    nn = lib.nn

    class Inverted(nn.Module):  # type: ignore[misc,name-defined]
        """A wide depthwise convolution between two narrow pointwise ones, with a shortcut."""

        def __init__(self, inputs: int, outputs: int, stride: int, widen: int) -> None:
            super().__init__()
            wide = inputs * widen
            first = [*conv_norm(nn, inputs, wide, 1), nn.ReLU6(inplace=True)] if widen > 1 else []
            middle = [*conv_norm(nn, wide, wide, 3, stride, wide), nn.ReLU6(inplace=True)]
            self.body = nn.Sequential(*first, *middle, *conv_norm(nn, wide, outputs, 1))
            self.around = stride == 1 and inputs == outputs

        def forward(self, x: Any) -> Any:
            return x + self.body(x) if self.around else self.body(x)

    layers, inputs = [*conv_norm(nn, 3, 32, 3, 2), nn.ReLU6(inplace=True)], 32
    for widen, outputs, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for i in range(min(count, blocks)):
            layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, widen))
            inputs = outputs
    layers += [*conv_norm(nn, inputs, 1280, 1), nn.ReLU6(inplace=True)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, classes)]
    model = nn.Sequential(*layers, *head)
    return start_residual(nn, model, [layer.body[-1] for layer in model if isinstance(layer, Inverted) and layer.around])


def sgd(optim: Any, parameters: Any) -> Any:
    """The rate is 0.045 for a batch of 256 and smaller in proportion for one of 8."""
    return optim.SGD(parameters, lr=0.0014, momentum=0.9, weight_decay=4e-5)


SPEC = Spec(
    "MobileNetV2", "images", build, images, classify, sgd,
    tiny={"size": 64, "classes": 10, "blocks": 1}, paper="463 ± 17",
)  # fmt: skip
