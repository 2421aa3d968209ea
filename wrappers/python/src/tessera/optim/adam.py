# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Adam, and AdamW with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import _ops
from .._errors import InvalidValueError, as_list, as_number
from .._tensor import Tensor
from .optimizer import Group, Optimizer, positive


class Adam(Optimizer):
    """Steps scaled by running moments of the gradients; weight decay adds to the gradient."""

    _op: Callable[..., None] = staticmethod(_ops.adam_step)
    _decay = 0.0

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float | None = None, amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:
        decay = self._decay if weight_decay is None else weight_decay
        positive(lr=lr, eps=eps, weight_decay=decay)
        betas = tuple(as_number(b, "betas") for b in as_list(betas, "betas"))  # type: ignore[assignment]
        if len(betas) != 2 or not all(0.0 <= b < 1.0 for b in betas):
            raise InvalidValueError(f"betas: expected numbers from 0 below 1, got {betas}")
        options = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": decay, "amsgrad": amsgrad, "maximize": maximize,
        }
        super().__init__(params, options)

    def _update(self, group: Group, params: list[Tensor], grads: list[Any]) -> None:
        by_step: dict[int, list[int]] = {}
        for i, parameter in enumerate(params):
            state = self.state[parameter]
            if not state:
                state.update(step=0, exp_avg=_ops.zeros_like(parameter), exp_avg_sq=_ops.zeros_like(parameter))
                if group["amsgrad"]:
                    state["max_exp_avg_sq"] = _ops.zeros_like(parameter)
            state["step"] += 1
            by_step.setdefault(state["step"], []).append(i)
        for step, chosen in by_step.items():
            states = [self.state[params[i]] for i in chosen]
            self._run(
                type(self)._op,
                [params[i] for i in chosen], [grads[i] for i in chosen], [s["exp_avg"] for s in states],
                [s["exp_avg_sq"] for s in states],
                [s["max_exp_avg_sq"] for s in states] if group["amsgrad"] else [],
                step, group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["maximize"],
            )


class AdamW(Adam):
    """As Adam, but weight decay shrinks the parameters directly."""

    _op = staticmethod(_ops.adamw_step)
    _decay = 1e-2
