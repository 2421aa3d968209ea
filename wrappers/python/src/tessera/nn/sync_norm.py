# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Batch normalisation over the batches of all ranks of a group."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._errors import InvalidValueError, ShapeError
from .._modes import no_grad
from .._tensor import Tensor
from .module import Module
from .norm import _BatchNorm


class SyncBatchNorm(_BatchNorm):
    """Normalises each channel of (N, C, ...) over the batches of all ranks, as one process with the whole batch would.

    Ranks may have batches of different sizes. All of them call it together, and their backward passes too. Without a
    group, or in eval mode, it is a batch normalisation of its own process.
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, dtype: Any = None, bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias)
        self.process_group = process_group

    def _check(self, input: Tensor) -> None:
        if input.ndim < 2 or input.shape[1] != self.num_features:
            raise ShapeError(f"SyncBatchNorm: expected (N, {self.num_features}, ...), got shape {input.shape}")

    def forward(self, input: Tensor) -> Tensor:
        from .. import distributed

        if not (self.training and distributed.is_initialized()):
            return super().forward(input)
        group = distributed.group.WORLD if self.process_group is None else self.process_group
        if distributed.get_world_size(group) == 1:
            return super().forward(input)
        self._check(input)
        return self._over_ranks(input, group)

    def _over_ranks(self, input: Tensor, group: Any) -> Tensor:
        from ..distributed.nn.functional import all_reduce

        narrow = input.dtype.bits == 16
        x = input.float() if narrow else input
        axes = [axis for axis in range(x.ndim) if axis != 1]
        shape = [self.num_features if axis == 1 else 1 for axis in range(x.ndim)]
        # Two reductions instead of one of sums and squares, whose difference would lose the digits of a small variance.
        own = _ops.full((1,), x.numel() // max(self.num_features, 1), dtype=x.dtype, device=x.device)
        sums = all_reduce(_ops.concat([_ops.sum(x, axes), own]), group=group)
        count = _ops.detach(sums[-1])
        if not bool(count > 1):
            raise InvalidValueError(f"SyncBatchNorm: expected more than 1 value for each channel, got {int(count.item())}")
        mean = sums[:-1] / count
        apart = x - _ops.reshape(mean, shape)
        var = all_reduce(_ops.sum(_ops.square(apart), axes), group=group) / count
        self._track(mean, var, count)
        result = apart * _ops.reshape(_ops.rsqrt(var + self.eps), shape)
        if self.weight is not None:
            result = result * _ops.reshape(self.weight, shape)
        if self.bias is not None:
            result = result + _ops.reshape(self.bias, shape)
        return _ops.astype(result, input.dtype)

    def _track(self, mean: Tensor, var: Tensor, count: Tensor) -> None:
        """Moves the running statistics towards those of this batch."""
        if self.running_mean is None:
            return
        with no_grad():
            self.num_batches_tracked += 1
            share = 1.0 / int(self.num_batches_tracked.item()) if self.momentum is None else self.momentum
            self.running_mean.lerp_(_ops.astype(mean, self.running_mean.dtype), share)
            unbiased = var * (count / (count - 1))
            self.running_var.lerp_(_ops.astype(unbiased, self.running_var.dtype), share)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with a SyncBatchNorm in the place of each batch normalisation, with the same parameters and
        buffers. One that is a batch normalisation itself is not changed, but its replacement returned."""
        made = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            affine, track = module.weight is not None, module.running_mean is not None
            bias = module.bias is not None
            made = cls(module.num_features, module.eps, module.momentum, affine, track, process_group, bias=bias)
            for kind in ("_parameters", "_buffers"):
                getattr(made, kind).update(getattr(module, kind))
            made.training = module.training
        for name, child in list(module.named_children()):
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
