# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of optimizers: what each takes. Options have PyTorch's names and defaults where it has the kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .core import CoreOptimizer

Params = Iterable[Any]
Betas = tuple[float, float]


class SGD(CoreOptimizer):
    """Gradient descent, with momentum (Nesterov's on request) and weight decay."""

    _kind = "sgd"

    def __init__(
        self, params: Params, lr: float = 1e-3, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize,
        })  # fmt: skip


class Adam(CoreOptimizer):
    """Steps scaled by running moments of the gradients; weight decay adds to the gradient."""

    _kind = "adam"
    _decay = 0.0

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float | None = None, amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:
        decay = self._decay if weight_decay is None else weight_decay
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": decay, "amsgrad": amsgrad, "maximize": maximize,
        })  # fmt: skip


class AdamW(Adam):
    """As Adam, but weight decay, 0.01 unless said otherwise, shrinks the parameters directly."""

    _kind = "adamw"
    _decay = 1e-2


class RMSprop(CoreOptimizer):
    """Steps divided by the root of the mean square of the gradients, or of their variance (centered)."""

    _kind = "rmsprop"

    def __init__(
        self, params: Params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0,
        momentum: float = 0.0, centered: bool = False, *, maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum,
            "centered": centered, "maximize": maximize,
        })  # fmt: skip


class Adagrad(CoreOptimizer):
    """Steps divided by the root of the sum of the squares of all gradients."""

    _kind = "adagrad"

    def __init__(
        self, params: Params, lr: float = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10, *, maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "eps": eps, "maximize": maximize,
        })  # fmt: skip


class Adadelta(CoreOptimizer):
    """Steps whose size is that of the steps before, relative to the gradients."""

    _kind = "adadelta"

    def __init__(
        self, params: Params, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        })  # fmt: skip


class _Moments(CoreOptimizer):
    """The options that the relatives of Adam share."""

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, *,
        maximize: bool = False, **more: float,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, **more, "maximize": maximize,
        })  # fmt: skip


class Adamax(_Moments):
    """Adam with the largest gradient in the place of the second moment."""

    _kind = "adamax"

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)


class NAdam(_Moments):
    """Adam with Nesterov's momentum."""

    _kind = "nadam"

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        momentum_decay: float = 4e-3, *, maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize, momentum_decay=momentum_decay)


class RAdam(_Moments):
    """Adam whose first steps, whose second moments are not to be trusted, go by the first moment alone."""

    _kind = "radam"

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)


class LAMB(_Moments):
    """Adam whose step has, for each parameter, the size of the parameter itself; for large batches."""

    _kind = "lamb"

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-6, weight_decay: float = 1e-2, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)


class Lion(CoreOptimizer):
    """Steps of one size, in the direction of the sign of the momentum; weight decay shrinks the parameters."""

    _kind = "lion"

    def __init__(
        self, params: Params, lr: float = 1e-4, betas: Betas = (0.9, 0.99), weight_decay: float = 0.0, *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize})


class Muon(CoreOptimizer):
    """Momentum made orthogonal, for the matrices of hidden layers; other parameters belong to another optimizer."""

    _kind = "muon"

    def __init__(
        self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True, *,
        eps: float = 1e-7, ns_steps: int = 5, maximize: bool = False,
    ) -> None:
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "eps": eps,
            "ns_steps": ns_steps, "maximize": maximize,
        })  # fmt: skip
