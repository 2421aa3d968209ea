# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import _ops
from .._errors import InvalidValueError
from .._tensor import Tensor
from .optimizer import Group, Optimizer, positive


class SGD(Optimizer):
    """Gradient descent, with momentum (Nesterov's on request) and weight decay."""

    def __init__(
        self, params: Iterable[Any], lr: float = 1e-3, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False, *, maximize: bool = False,
    ) -> None:
        positive(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise InvalidValueError("nesterov needs a momentum and no dampening")
        options = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        }
        super().__init__(params, options)

    def _update(self, group: Group, params: list[Tensor], grads: list[Any]) -> None:
        if group["momentum"] == 0:
            self._step(group, params, grads, [], False)
            return
        fresh = {i for i, p in enumerate(params) if "momentum_buffer" not in self.state[p]}
        for first in (True, False):
            chosen = [i for i in range(len(params)) if (i in fresh) is first]
            if chosen:
                for i in chosen if first else ():
                    self.state[params[i]]["momentum_buffer"] = _ops.zeros_like(params[i])
                buffers = [self.state[params[i]]["momentum_buffer"] for i in chosen]
                self._step(group, [params[i] for i in chosen], [grads[i] for i in chosen], buffers, first)

    def _step(self, group: Group, params: list[Tensor], grads: list[Any], buffers: list[Tensor], first: bool) -> None:
        self._run(
            _ops.sgd_step, params, grads, buffers, group["lr"], group["momentum"], group["dampening"], group["weight_decay"],
            group["nesterov"], group["maximize"], first,
        )
