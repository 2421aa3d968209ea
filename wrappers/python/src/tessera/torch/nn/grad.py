# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.grad: the gradients of convolutions as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import _ops, autograd
from ..._core import is_grad_enabled
from ..._modes import enable_grad
from ...nn import functional as F
from .._tensor import retyped

_FORWARD = (F.conv1d, F.conv2d, F.conv3d)
_TRANSPOSED = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)


def _each(value: Any, axes: int) -> tuple[int, ...]:
    return (value,) * axes if isinstance(value, int) else tuple(value) * (axes if len(value) == 1 else 1)


def _of_input(axes: int) -> Callable[..., Any]:
    def function(
        input_size: Sequence[int], weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        stride, padding, dilation = (_each(value, axes) for value in (stride, padding, dilation))
        more = [
            input_size[axis - axes] - (grad_output.shape[axis - axes] - 1) * stride[axis] + 2 * padding[axis]
            - dilation[axis] * (weight.shape[axis - axes] - 1) - 1
            for axis in range(axes)
        ]  # fmt: skip
        transposed: Any = _TRANSPOSED[axes - 1]
        return retyped(transposed(
            grad_output, weight, stride=stride, padding=padding, output_padding=more, groups=groups, dilation=dilation
        ))  # fmt: skip

    function.__name__ = function.__qualname__ = f"conv{axes}d_input"
    return function


def _of_weight(axes: int) -> Callable[..., Any]:
    def function(
        input: Any, weight_size: Sequence[int], grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        recorded = is_grad_enabled() and (input.requires_grad or grad_output.requires_grad)
        with enable_grad():
            weight = _ops.zeros(tuple(weight_size), dtype=input.dtype, device=input.device).requires_grad_()
            forward: Any = _FORWARD[axes - 1]
            found = forward(input, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)
            return retyped(autograd.grad(found, weight, grad_output, create_graph=recorded)[0])

    function.__name__ = function.__qualname__ = f"conv{axes}d_weight"
    return function


conv1d_input, conv2d_input, conv3d_input = map(_of_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_of_weight, (1, 2, 3))

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]
