# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers with parameters; defaults and initial values are PyTorch's."""

from __future__ import annotations

import math
from typing import Any, Union

from .. import _ops
from .._dtypes import bfloat16, dtype_of, float16, float32, int64
from .._errors import InvalidValueError, as_int, as_list
from .._tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

Pair = Union[int, tuple[int, int]]


def pair(value: Pair) -> tuple[int, int]:
    if isinstance(value, int):
        return (value, value)
    if not isinstance(value, (tuple, list)) or len(value) != 2 or not all(isinstance(v, int) for v in value):
        raise InvalidValueError(f"expected an int or a pair of ints, got {value!r}")
    return (value[0], value[1])


class Linear(Module):
    """input @ weight.T + bias, with weight of shape (out_features, in_features)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_ops.empty((out_features, in_features), dtype=dtype))
        self.bias = Parameter(_ops.empty((out_features,), dtype=dtype)) if bias else None
        if not bias:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0.0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _per_group(channels: int, groups: int) -> int:
    """The number of channels per group."""
    count, parts = as_int(channels, "channels"), as_int(groups, "groups")
    if parts < 1 or count % parts:
        raise InvalidValueError(f"in_channels and out_channels must be divisible by groups={groups}")
    return count // parts


class _Conv(Module):
    """The base class of the two convolutions."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Pair, stride: Pair, padding: Pair | str, dilation: Pair,
        groups: int, bias: bool, shape: tuple[int, int], dtype: Any,
    ) -> None:
        super().__init__()
        _per_group(in_channels, groups), _per_group(out_channels, groups)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = pair(kernel_size), pair(stride)
        self.padding = padding if isinstance(padding, str) else pair(padding)
        self.dilation = pair(dilation)
        self.weight = Parameter(_ops.empty((*shape, *self.kernel_size), dtype=dtype))
        self.register_parameter("bias", Parameter(_ops.empty((out_channels,), dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, math.sqrt(5))
        if self.bias is not None:
            fan_in = init.fan_in_and_fan_out(self.weight)[0]
            bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding}" if self.padding != (0, 0) else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        return text + ("" if self.bias is not None else ", bias=False")


class Conv2d(_Conv):
    """Cross-correlation of images (N, C, H, W) with weight (out, in / groups, kH, kW). padding may be "same", for outputs
    of the input's size, or "valid", for none."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Pair, stride: Pair = 1, padding: Pair | str = 0,
        dilation: Pair = 1, groups: int = 1, bias: bool = True, dtype: Any = None,
    ) -> None:
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise InvalidValueError(f"padding: expected ints, 'same' or 'valid', got {padding!r}")
        if isinstance(padding, str) and padding == "same" and pair(stride) != (1, 1):
            raise InvalidValueError(f"padding='same' needs a stride of 1, got {stride}")
        shape = (out_channels, _per_group(in_channels, groups))
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, shape, dtype)

    def forward(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        return F.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class ConvTranspose2d(_Conv):
    """The gradient of Conv2d with respect to its input, as a layer; weight (in, out / groups, kH, kW)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Pair, stride: Pair = 1, padding: Pair = 0,
        output_padding: Pair = 0, groups: int = 1, bias: bool = True, dilation: Pair = 1, dtype: Any = None,
    ) -> None:
        shape = (in_channels, _per_group(out_channels, groups))
        super().__init__(in_channels, out_channels, kernel_size, stride, pair(padding), dilation, groups, bias, shape, dtype)
        self.output_padding = pair(output_padding)

    def forward(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, padding, self.output_padding, self.groups, self.dilation
        )


class BatchNorm2d(Module):
    """Normalises each channel over the batch; in eval mode with the running statistics, which never have a 16-bit
    dtype."""

    _statistics = frozenset({"running_mean", "running_var"})

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.register_parameter("weight", Parameter(_ops.ones((num_features,), dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(_ops.zeros((num_features,), dtype=dtype)) if affine else None)
        track = track_running_stats
        kind = None if dtype is None else dtype_of(dtype)
        wide = float32 if kind in (float16, bfloat16) else kind
        self.register_buffer("running_mean", _ops.zeros((num_features,), dtype=wide) if track else None)
        self.register_buffer("running_var", _ops.ones((num_features,), dtype=wide) if track else None)
        self.register_buffer("num_batches_tracked", _ops.zeros((), dtype=int64) if track else None)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise InvalidValueError(f"BatchNorm2d: expected 4 axes (N, C, H, W), got shape {input.shape}")
        momentum = self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
            if momentum is None:
                momentum = 1.0 / int(self.num_batches_tracked.item())
        training = self.training or self.running_mean is None
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, training, momentum or 0.0, self.eps
        )

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.weight is not None}"


class LayerNorm(Module):
    """Normalises over the last axes, whose sizes are given."""

    def __init__(
        self, normalized_shape: int | tuple[int, ...], eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, dtype: Any = None,
    ) -> None:
        super().__init__()
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else as_list(normalized_shape, "normalized_shape")
        self.normalized_shape = tuple(as_int(n, "normalized_shape") for n in sizes)
        self.eps = eps
        affine = elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", Parameter(_ops.ones(shape, dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(_ops.zeros(shape, dtype=dtype)) if affine and bias else None)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class Embedding(Module):
    """Rows of a table, looked up by integers."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, dtype: Any = None
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            padding_idx, num_embeddings = as_int(padding_idx, "padding_idx"), as_int(num_embeddings, "num_embeddings")
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise InvalidValueError(f"padding_idx {padding_idx} is out of range for {num_embeddings} rows")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.weight = Parameter(_ops.empty((num_embeddings, embedding_dim), dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"
