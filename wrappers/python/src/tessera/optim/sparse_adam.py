# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""SparseAdam: Adam for tables of which a step uses few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import _ops
from .._errors import InvalidValueError, as_pair, as_number
from .._modes import no_grad
from .._tensor import Tensor
from .optimizer import Group, Optimizer


class SparseAdam(Optimizer):
    """Adam whose moments and parameters change only in the rows that the gradient reaches.

    Gradients are dense here: a row counts as reached if its gradient has a number other than 0.
    """

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        rate, least = as_number(lr, "lr"), as_number(eps, "eps")
        first, second = (as_number(beta, "betas") for beta in as_pair(betas, "betas"))
        if rate <= 0 or least <= 0:
            raise InvalidValueError(f"SparseAdam: expected lr and eps above 0, got {rate} and {least}")
        if not (0 <= first < 1 and 0 <= second < 1):
            raise InvalidValueError(f"betas: expected numbers from 0 below 1, got {betas}")
        super().__init__(params, {"lr": rate, "betas": (first, second), "eps": least, "maximize": maximize})

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates the rows of the parameters that have a gradient. A closure computes the loss again first."""
        loss = self._loss(closure)
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None and parameter.grad.numel():
                        self._update(group, parameter, parameter.grad)
        return loss

    def _update(self, group: Group, parameter: Tensor, given: Tensor) -> None:
        state = self.state[parameter]
        if not state:
            state.update(step=0, exp_avg=_ops.zeros_like(given), exp_avg_sq=_ops.zeros_like(given))
        for name in ("exp_avg", "exp_avg_sq"):  # their reshapes must be views, also after a gradient of permuted strides
            state[name] = state[name].contiguous()
        state["step"] += 1
        table = _ops.reshape(given, (given.shape[0] if given.ndim else 1, -1))
        places = _ops.nonzero(_ops.any(_ops.not_equal(table, 0), 1))
        first, second = group["betas"]
        grad = -table[places] if group["maximize"] else table[places]
        moments = [_ops.reshape(state[name], table.shape) for name in ("exp_avg", "exp_avg_sq")]  # the same memory
        mean = _ops.lerp(moments[0][places], grad, 1 - first)
        square = _ops.lerp(moments[1][places], _ops.square(grad), 1 - second)
        moments[0][places] = mean
        moments[1][places] = square
        steps = state["step"]
        rate = float(group["lr"]) * math.sqrt(1 - second**steps) / (1 - first**steps)
        update = _ops.reshape(_ops.zeros_like(given), table.shape)
        update[places] = mean / (_ops.sqrt(square) + group["eps"]) * -rate
        parameter.add_(_ops.reshape(update, given.shape))
