# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameter: a tensor that a Module trains."""

from __future__ import annotations

from typing import Any

from .._core import TensorBase
from .._errors import ArgumentTypeError
from .._tensor import Tensor, rebuild


class Parameter(Tensor):
    """A leaf that a Module registers when it is assigned to an attribute."""

    __slots__ = ()

    def __new__(cls, data: Tensor, requires_grad: bool = True) -> Parameter:
        if not isinstance(data, TensorBase):
            raise ArgumentTypeError(f"Parameter(): expected a Tensor, got {type(data).__name__}")
        made = super().__new__(cls, data.detach())
        made.requires_grad = requires_grad
        return made

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __copy__(self) -> Parameter:
        return Parameter(self, self.requires_grad)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Parameter:
        made = Parameter(self.detach().clone(), self.requires_grad)
        if (grad := self.grad) is not None:
            made.grad = grad.detach().clone()
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        _, (_, dtype, shape, data, _, device) = super().__reduce_ex__(protocol)[:2]
        return (_rebuild, (dtype, shape, data, self.requires_grad, device))


def _rebuild(dtype: str, shape: tuple[int, ...], data: Any, requires_grad: bool, device: str = "cpu") -> Parameter:
    return Parameter(rebuild(Tensor, dtype, shape, data, False, device), requires_grad)
