# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Adafactor: Adam whose second moment is, for a matrix, the product of one for each row and one for each column.

N. Shazeer and M. Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018: algorithms 4 to 6, with
PyTorch's options and state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import _ops
from .._dtypes import finfo, float32
from .._errors import InvalidValueError, as_number, as_pair
from .._modes import no_grad
from .._tensor import Tensor
from .optimizer import Group, Optimizer


class Adafactor(Optimizer):
    """Steps relative to the size of the parameter, scaled by a second moment of which matrices keep sums alone.

    `eps` is two numbers: the least second moment (None: that of the dtype) and the least size of a parameter. `d` limits the
    size of an update.
    """

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        maximize: bool = False,
    ) -> None:
        least, size = as_pair(eps, "eps")
        decay = as_number(beta2_decay, "beta2_decay")
        if not decay <= 0:
            raise InvalidValueError(f"beta2_decay: expected a number of at most 0, got {decay}")
        numbers = {
            "lr": _least("lr", lr, 0), "beta2_decay": decay,
            "eps": (None if least is None else _least("eps[0]", least, 0), _least("eps[1]", size, 0)), "d": _least("d", d, 1),
            "weight_decay": _least("weight_decay", weight_decay, 0), "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, numbers)

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """Updates the parameters that have a gradient. A closure computes the loss again first."""
        loss = self._loss(closure)
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._update(group, parameter, parameter.grad)
        return loss

    def _update(self, group: Group, parameter: Tensor, given: Tensor) -> None:
        if not parameter.dtype.is_floating_point:
            raise InvalidValueError(f"Adafactor: expected real parameters, got {parameter.dtype}")
        state = self.state[parameter]
        if not state:
            state["step"] = _ops.zeros_like(_ops.sum(given), dtype=float32)  # of the class of the gradient
            if given.ndim > 1:
                state["row_var"] = _ops.zeros_like(given[..., :1])
                state["col_var"] = _ops.zeros_like(given[..., :1, :])
            else:
                state["variance"] = _ops.zeros_like(given)
        state["step"] += 1
        step = float(state["step"])
        rate, (least, size) = group["lr"], group["eps"]
        least = finfo(parameter.dtype).eps if least is None else least
        grad = -given if group["maximize"] else given
        weight = step ** group["beta2_decay"]
        reach = max(size, _size(parameter)) * min(float(rate), 1 / math.sqrt(step))
        if group["weight_decay"]:
            parameter.mul_(1 - float(rate) * group["weight_decay"])
        square = _ops.square(grad)
        if grad.ndim > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(_ops.mean(square, -1, keepdims=True), weight)
            columns.lerp_(_ops.mean(square, -2, keepdims=True), weight)
            moment = _ops.matmul(rows, columns) / _ops.clip(_ops.mean(rows, -2, keepdims=True), least, None)
        else:
            moment = state["variance"]
            moment.lerp_(square, weight)
        update = _ops.rsqrt(_ops.clip(moment, least * least, None)) * grad
        parameter.add_(update * (-reach / max(1.0, _size(update) / group["d"])))


def _size(tensor: Tensor) -> float:
    """The root of the mean square."""
    return float(_ops.norm(tensor)) / math.sqrt(tensor.numel()) if tensor.numel() else 0.0


def _least(name: str, given: Any, least: int) -> float:
    value = as_number(given, name)
    if not value >= least:
        raise InvalidValueError(f"{name}: expected a number of at least {least}, got {value}")
    return value
