# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Averages of a model's parameters over training (Izmailov and others, "Averaging weights leads to wider optima and better
generalization", 2018), and exponential moving averages."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import _ops
from .._dtypes import int64
from .._errors import InvalidArgumentError, InvalidValueError
from .._modes import no_grad
from .._tensor import Tensor
from ..nn.module import Module
from ..nn.norm import _BatchNorm
from .lr_scheduler.base import LRScheduler, for_groups
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

AverageOne = Callable[[Tensor, Tensor, Any], Tensor]
AverageAll = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _decay(decay: float) -> float:
    if not 0.0 <= decay <= 1.0:
        raise InvalidValueError(f"decay: expected a number between 0 and 1, got {decay}")
    return decay


def get_ema_avg_fn(decay: float = 0.999) -> AverageOne:
    """decay average + (1 - decay) current, as a function of one tensor."""
    kept = _decay(decay)

    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        return kept * averaged + (1 - kept) * current

    return no_grad()(average)


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """decay average + (1 - decay) current, in place for lists of tensors; integers become the current ones."""
    kept = _decay(decay)

    def average(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: Any) -> None:
        for own, new in zip(averaged, current):
            if own.dtype.is_floating_point or own.dtype.is_complex:
                own.lerp_(new, 1 - kept)
            else:
                own.copy_(kept * own + (1 - kept) * new)

    return no_grad()(average)


def get_swa_avg_fn() -> AverageOne:
    """The mean of all models, as a function of one tensor."""

    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Tensor:
        found: Tensor = averaged + (current - averaged) / (num_averaged + 1)
        return found

    return no_grad()(average)


def get_swa_multi_avg_fn() -> AverageAll:
    """The mean of all models, in place for lists of tensors."""

    def average(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: Any) -> None:
        for own, new in zip(averaged, current):
            own.copy_(own + (new - own) / (num_averaged + 1))

    return no_grad()(average)


class AveragedModel(Module):
    """A copy of a model, `module`, whose parameters are averages of the model's at each update_parameters().

    Without a function it is their mean. `avg_fn(average, current, count)` gives another one for each parameter,
    `multi_avg_fn(averages, currents, count)` changes lists in place. Buffers are the model's own, or with `use_buffers`
    averages too.
    """

    def __init__(
        self, model: Module, device: Any = None, avg_fn: AverageOne | None = None, multi_avg_fn: AverageAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise InvalidArgumentError("AveragedModel: expected one of avg_fn and multi_avg_fn, got both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module.to(device=device)
        self.register_buffer("n_averaged", _ops.zeros((), dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _tensors(self, model: Module) -> list[Tensor]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model: Module) -> None:
        """Takes the parameters of a model into the average; the first ones are copied."""
        own = [tensor.detach() for tensor in self._tensors(self.module)]
        new = [b.detach().to(a.device) for a, b in zip(own, self._tensors(model))]
        with no_grad():
            if int(self.n_averaged.item()) == 0:
                for average, current in zip(own, new):
                    average.copy_(current)
            elif self.avg_fn is not None:
                for average, current in zip(own, new):
                    average.copy_(self.avg_fn(average, current, self.n_averaged))
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(own, new, self.n_averaged)
            if not self.use_buffers:
                for buffer, current in zip(self.module.buffers(), model.buffers()):
                    buffer.copy_(current.detach())
            self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Computes the running statistics of batch normalisations again, as means over the batches of a loader, which are
    tensors, or tuples and lists that begin with one."""
    layers = [layer for layer in model.modules() if isinstance(layer, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    model.train()
    try:
        for layer in layers:
            layer.reset_running_stats()
            layer.momentum = None
        with no_grad():
            for batch in loader:
                given = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(given if device is None else given.to(device))
    finally:
        for layer, momentum in zip(layers, momenta):
            layer.momentum = momentum
        model.train(was_training)


class SWALR(LRScheduler):
    """Leads the rates of each group to `swa_lr` within `anneal_epochs` steps, along a cosine or a line, from whatever rates
    it finds."""

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | Sequence[float], anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise InvalidValueError(f"anneal_strategy: expected cos or linear, got {anneal_strategy!r}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise InvalidValueError(f"anneal_epochs: expected a whole number of at least 0, got {anneal_epochs!r}")
        for rate, group in zip(for_groups(optimizer, swa_lr, "swa_lr"), optimizer.param_groups):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How far the way is at a step, between 0 and 1."""
        way = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return way if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * way)) / 2

    def get_lr(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            end, rate = group["swa_lr"], group["lr"]
            start = end if before == 1 else (rate - before * end) / (1 - before)
            rates.append(end * now + start * (1 - now))
        return rates
