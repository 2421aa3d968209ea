# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Normalisation over the batch, samples, groups of channels, rows and neighbouring channels; defaults are PyTorch's.
LayerNorm is in layers.py."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._dtypes import bfloat16, dtype_of, float16, float32, int64
from .._errors import InvalidValueError, as_int, as_list
from .._modes import no_grad
from .._tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class _Norm(Module):
    """A weight and a bias per channel, and running statistics, which never have a 16-bit dtype."""

    _statistics = frozenset({"running_mean", "running_var"})
    _shapes: tuple[tuple[int, str], ...]  # the numbers of axes of an input, and their names

    def __init__(
        self, num_features: int, eps: float, momentum: float | None, affine: bool, track_running_stats: bool, dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.register_parameter("weight", Parameter(_ops.empty((num_features,), dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(_ops.empty((num_features,), dtype=dtype)) if affine and bias else None)
        track = track_running_stats
        kind = None if dtype is None else dtype_of(dtype)
        wide = float32 if kind in (float16, bfloat16) else kind
        self.register_buffer("running_mean", _ops.empty((num_features,), dtype=wide) if track else None)
        self.register_buffer("running_var", _ops.empty((num_features,), dtype=wide) if track else None)
        self.register_buffer("num_batches_tracked", _ops.empty((), dtype=int64) if track else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets the running statistics to those of no batch."""
        if self.running_mean is not None:
            with no_grad():
                self.running_mean.zero_()
                self.running_var.fill_(1)
                self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Sets weight, bias and running statistics to their first values."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in [rank for rank, _ in self._shapes]:
            wanted = " or ".join(f"{rank} axes {names}" for rank, names in self._shapes)
            raise InvalidValueError(f"{type(self).__name__}: expected {wanted}, got shape {input.shape}")

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.weight is not None}"


class _BatchNorm(_Norm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, dtype: Any = None, bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        momentum = self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
            if momentum is None:
                momentum = 1.0 / int(self.num_batches_tracked.item())
        training = self.training or self.running_mean is None
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, training, momentum or 0.0, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Normalises each feature of (N, C) or (N, C, L) over the batch; in eval mode with the running statistics, which never
    have a 16-bit dtype."""

    _shapes = ((2, "(N, C)"), (3, "(N, C, L)"))


class BatchNorm2d(_BatchNorm):
    """Normalises each channel over the batch; in eval mode with the running statistics, which never have a 16-bit
    dtype."""

    _shapes = ((4, "(N, C, H, W)"),)


class BatchNorm3d(_BatchNorm):
    """Normalises each channel of (N, C, D, H, W) over the batch; in eval mode with the running statistics, which never have
    a 16-bit dtype."""

    _shapes = ((5, "(N, C, D, H, W)"),)


class _InstanceNorm(_Norm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, dtype: Any = None, bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        if input.ndim == self._shapes[0][0]:  # without a batch
            return self._normalize(input[None])[0]
        return self._normalize(input)

    def _normalize(self, input: Tensor) -> Tensor:
        own = self.training or self.running_mean is None
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, own, self.momentum or 0.0, self.eps
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, L) or (C, L)."""

    _shapes = ((2, "(C, L)"), (3, "(N, C, L)"))


class InstanceNorm2d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, H, W) or (C, H, W)."""

    _shapes = ((3, "(C, H, W)"), (4, "(N, C, H, W)"))


class InstanceNorm3d(_InstanceNorm):
    """Normalises each channel of each sample of (N, C, D, H, W) or (C, D, H, W)."""

    _shapes = ((4, "(C, D, H, W)"), (5, "(N, C, D, H, W)"))


class GroupNorm(Module):
    """Normalises groups of neighbouring channels of each sample of (N, C, ...)."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None, bias: bool = True
    ) -> None:
        super().__init__()
        if as_int(num_groups, "num_groups") < 1 or as_int(num_channels, "num_channels") % num_groups:
            raise InvalidValueError(f"num_groups: expected a divisor of {num_channels} channels, got {num_groups}")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.register_parameter("weight", Parameter(_ops.empty((num_channels,), dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(_ops.empty((num_channels,), dtype=dtype)) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weight and bias to their first values."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.weight is not None}"


class RMSNorm(Module):
    """Divides by the root of the mean square over the last axes, whose sizes are given; eps defaults to the machine epsilon
    of the input's dtype."""

    def __init__(
        self, normalized_shape: int | tuple[int, ...], eps: float | None = None, elementwise_affine: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else as_list(normalized_shape, "normalized_shape")
        self.normalized_shape = tuple(as_int(n, "normalized_shape") for n in sizes)
        self.eps = eps
        weight = Parameter(_ops.empty(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets the weight to its first value."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class LocalResponseNorm(Module):
    """Divides by a power of the mean square over neighbouring channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
