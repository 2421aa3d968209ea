# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The models of bench_models.py, written once for both libraries (`nn` is tessera.nn or torch.nn), and a training step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tessera as ts

CLASSES = 1000
USERS, ITEMS, FACTORS = 138_493, 26_744, 64  # MovieLens-20M
Step = Callable[[], float]


# ---- the models ----


def alexnet(nn: Any) -> Any:
    layers: list[Any] = []
    for inputs, outputs, kernel, stride, padding, pool in (
        (3, 64, 11, 4, 2, True), (64, 192, 5, 1, 2, True), (192, 384, 3, 1, 1, False),
        (384, 256, 3, 1, 1, False), (256, 256, 3, 1, 1, True),
    ):  # fmt: skip
        layers += [nn.Conv2d(inputs, outputs, kernel, stride, padding), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if pool else []
    head = [nn.Dropout(), nn.Linear(256 * 36, 4096), nn.ReLU(inplace=True)]
    head += [nn.Dropout(), nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, CLASSES)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(6), nn.Flatten(), *head)


def vgg19(nn: Any) -> Any:
    layers: list[Any] = []
    inputs = 3
    for outputs, count in ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4)):
        for _ in range(count):
            layers += [nn.Conv2d(inputs, outputs, 3, 1, 1), nn.ReLU(inplace=True)]
            inputs = outputs
        layers.append(nn.MaxPool2d(2, 2))
    head = [nn.Linear(512 * 49, 4096), nn.ReLU(inplace=True), nn.Dropout()]
    head += [nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Dropout(), nn.Linear(4096, CLASSES)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7), nn.Flatten(), *head)


def normalised(nn: Any, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[Any]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, 1, groups, False)
    return [conv, nn.BatchNorm2d(outputs)]


def resnet50(nn: Any) -> Any:
    class Bottleneck(nn.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, width: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *normalised(nn, inputs, width, 1), nn.ReLU(inplace=True),
                *normalised(nn, width, width, 3, stride), nn.ReLU(inplace=True),
                *normalised(nn, width, 4 * width, 1),
            )  # fmt: skip
            same = inputs == 4 * width
            self.side = nn.Identity() if same else nn.Sequential(*normalised(nn, inputs, 4 * width, 1, stride))
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            y = self.body(x)
            y += self.side(x)
            return self.relu(y)

    layers = [*normalised(nn, 3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for i in range(count):
            layers.append(Bottleneck(inputs, width, 2 if i == 0 and width > 64 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def mobilenet(nn: Any) -> Any:
    layers = [*normalised(nn, 3, 32, 3, 2), nn.ReLU(inplace=True)]
    inputs = 32
    for outputs, stride in (
        (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1),
    ):  # fmt: skip
        layers += [*normalised(nn, inputs, inputs, 3, stride, inputs), nn.ReLU(inplace=True)]
        layers += [*normalised(nn, inputs, outputs, 1), nn.ReLU(inplace=True)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def mobilenet_v2(nn: Any) -> Any:
    class ReLU6(nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x.clamp(0, 6)

    class Inverted(nn.Module):  # type: ignore[misc]
        """A wide depthwise convolution between two narrow pointwise ones, with a shortcut."""

        def __init__(self, inputs: int, outputs: int, stride: int, widen: int) -> None:
            super().__init__()
            wide = inputs * widen
            first = [*normalised(nn, inputs, wide, 1), ReLU6()] if widen > 1 else []
            middle = [*normalised(nn, wide, wide, 3, stride, wide), ReLU6()]
            self.body = nn.Sequential(*first, *middle, *normalised(nn, wide, outputs, 1))
            self.around = stride == 1 and inputs == outputs

        def forward(self, x: Any) -> Any:
            return x + self.body(x) if self.around else self.body(x)

    layers, inputs = [*normalised(nn, 3, 32, 3, 2), ReLU6()], 32
    for widen, outputs, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for i in range(count):
            layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, widen))
            inputs = outputs
    layers += [*normalised(nn, inputs, 1280, 1), ReLU6()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, CLASSES))


def ncf(nn: Any, cat: Callable[..., Any], users: int = USERS, items: int = ITEMS) -> Any:
    class NeuMF(nn.Module):  # type: ignore[misc]
        """Neural collaborative filtering: a product of factors and a perceptron in parallel."""

        def __init__(self) -> None:
            super().__init__()
            self.users, self.items = nn.Embedding(users, FACTORS), nn.Embedding(items, FACTORS)
            self.deep_users, self.deep_items = nn.Embedding(users, 2 * FACTORS), nn.Embedding(items, 2 * FACTORS)
            layers: list[Any] = []
            for inputs, outputs in ((256, 256), (256, 128), (128, 64)):
                layers += [nn.Linear(inputs, outputs), nn.ReLU()]
            self.deep = nn.Sequential(*layers)
            self.last = nn.Linear(64 + FACTORS, 1)

        def forward(self, pairs: Any) -> Any:
            user, item = pairs[0], pairs[1]
            shallow = self.users(user) * self.items(item)
            deep = self.deep(cat([self.deep_users(user), self.deep_items(item)], 1))
            return self.last(cat([shallow, deep], 1)).reshape(-1)

    return NeuMF()


IMAGE_MODELS = {
    "alexnet": alexnet, "vgg19": vgg19, "resnet50": resnet50, "mobilenet": mobilenet, "mobilenet_v2": mobilenet_v2,
}  # fmt: skip


# ---- one step ----


def queued_step(model: Any, optimizer: Any, criterion: Callable[..., Any], x: Any, y: Any) -> Callable[[], Any]:
    """A training step that returns the loss as a tensor, so that the host need not wait for a device."""

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def stepper(model: Any, optimizer: Any, criterion: Callable[..., Any], x: Any, y: Any) -> Step:
    step = queued_step(model, optimizer, criterion, x, y)
    return lambda: float(step().item())


def copy_weights(source: Any, target: Any) -> None:
    state = {name: ts.from_numpy(value.detach().numpy().copy()) for name, value in source.state_dict().items()}
    target.load_state_dict(state)
