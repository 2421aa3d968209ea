# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What the models of this folder share: a description of each, layers, synthetic batches, and a training step.

`lib` is tessera or torch: every model is written once, over what both have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

CLASSES = 1000  # of ImageNet
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Spec:
    """A model with its data, loss and optimizer, all as the original has them."""

    title: str
    unit: str  # what the throughput counts
    build: Callable[..., Any]  # (lib, **sizes) -> module
    data: Callable[..., Arrays]  # (random, batch, **sizes) -> inputs and targets as NumPy arrays
    loss: Callable[..., Any]  # (lib, model, *tensors) -> scalar tensor
    optimizer: Callable[..., Any]  # (optim, parameters) -> optimizer
    batch: int = 8  # for a machine with few cores
    device_batch: int = 64  # for a GPU
    each: Callable[..., int] = lambda **sizes: 1  # how many of the unit one element of the batch counts
    sizes: dict[str, int] = field(default_factory=dict)  # the published ones are the defaults of `build`
    tiny: dict[str, int] = field(default_factory=dict)  # for tests
    clip: float = 0.0  # the largest norm of the gradients; 0: any
    paper: str = ""  # throughput of PyTorch in Table 1 of its paper


# ---- images ----


def images(random: np.random.Generator, batch: int, size: int = 224, classes: int = CLASSES, **_: int) -> Arrays:
    pixels = random.standard_normal((batch, 3, size, size)).astype(np.float32)
    return pixels, random.integers(0, classes, batch)


def classify(lib: Any, model: Any, pixels: Any, labels: Any) -> Any:
    return lib.nn.functional.cross_entropy(model(pixels), labels)


def sgd(optim: Any, parameters: Any) -> Any:
    """The rate is 0.1 for a batch of 256 and smaller in proportion for one of 8."""
    return optim.SGD(parameters, lr=0.003, momentum=0.9, weight_decay=1e-4)


def conv_norm(nn: Any, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[Any]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, 1, groups, False)
    return [conv, nn.BatchNorm2d(outputs)]


def start_residual(nn: Any, model: Any, last_norms: list[Any]) -> Any:
    """As He and others (2015) and Goyal and others (2017) begin: deviations by the fan-out, and every block passes its input
    on unchanged. Without the latter, one rounding error in the weights changes the losses after a few steps by a percent."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            outputs, _, height, width = module.weight.shape
            nn.init.normal_(module.weight, 0.0, (2 * module.groups / (outputs * height * width)) ** 0.5)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0.0, 0.01)
            nn.init.zeros_(module.bias)
    for norm in last_norms:
        nn.init.zeros_(norm.weight)
    return model


# ---- transformers ----


def attend(lib: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    """Scaled dot-product attention; PyTorch has it as one function since version 2."""
    fused = getattr(lib.nn.functional, "scaled_dot_product_attention", None)
    if fused is not None:
        return fused(q, k, v, is_causal=causal)
    scores = q.matmul(k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    if causal:
        seen = lib.tril(lib.ones((q.shape[-2], k.shape[-2]), device=q.device))
        scores = scores.masked_fill(seen == 0, float("-inf"))
    return lib.nn.functional.softmax(scores, -1).matmul(v)


def transformer_block(lib: Any, width: int, heads: int, causal: bool, gelu: str, eps: float, dropout: float = 0.0) -> Any:
    """A block that normalises first: x + attention(norm(x)), then x + perceptron(norm(x))."""
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width, eps=eps), nn.LayerNorm(width, eps=eps)
            self.qkv, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.deep = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(gelu), nn.Linear(4 * width, width))
            self.dropout = nn.Dropout(dropout)

        def forward(self, x: Any) -> Any:
            batch, length = x.shape[0], x.shape[1]
            parts = self.qkv(self.norm1(x)).split(width, 2)
            q, k, v = (part.reshape(batch, length, heads, width // heads).transpose(1, 2) for part in parts)
            y = attend(lib, q, k, v, causal).transpose(1, 2).reshape(batch, length, width)
            x = x + self.dropout(self.join(y))
            return x + self.dropout(self.deep(self.norm2(x)))

    return Block()


def start_normal(nn: Any, model: Any, deviation: float = 0.02) -> Any:
    """Normal weights and no biases, as transformers begin."""
    for module in model.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, 0.0, deviation)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    return model


# ---- one step ----


def queued_step(lib: Any, spec: Spec, model: Any) -> Callable[..., Any]:
    """A training step of a batch's tensors that returns the loss as a tensor, so that the host need not wait for a device."""
    parameters = list(model.parameters())
    optimizer = spec.optimizer(lib.optim, parameters)

    def step(*tensors: Any) -> Any:
        optimizer.zero_grad(set_to_none=True)
        loss = spec.loss(lib, model, *tensors)
        loss.backward()
        if spec.clip:
            lib.nn.utils.clip_grad_norm_(parameters, spec.clip)
        optimizer.step()
        return loss

    return step


@contextmanager
def without_dropout(lib: Any, model: Any) -> Iterator[None]:
    """Inside, no module drops anything: the libraries' random numbers differ."""
    found = [module for module in model.modules() if isinstance(module, lib.nn.Dropout)]
    shares = [module.p for module in found]
    for module in found:
        module.p = 0.0
    try:
        yield
    finally:
        for module, share in zip(found, shares):
            module.p = share


def first_losses(lib: Any, spec: Spec, model: Any, batches: list[tuple[Any, ...]]) -> list[float]:
    """The losses of a step with each batch, without dropout."""
    with without_dropout(lib, model):
        step = queued_step(lib, spec, model)
        return [float(step(*batch).item()) for batch in batches]


def weights_of(model: Any) -> dict[str, np.ndarray]:
    return {name: np.array(value.detach().cpu().numpy()) for name, value in model.state_dict().items()}


def set_weights(lib: Any, model: Any, weights: dict[str, np.ndarray]) -> None:
    model.load_state_dict({name: lib.from_numpy(np.array(value)) for name, value in weights.items()})
