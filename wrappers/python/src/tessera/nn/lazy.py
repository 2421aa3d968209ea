# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers that take the number of their input's features from the first input. Until then their parameters are empty;
those stay the same objects, so an optimizer may be made before."""

from __future__ import annotations

from typing import Any, ClassVar

from .._errors import ShapeError
from .._modes import no_grad
from .._tensor import Tensor
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers import Linear
from .module import Module
from .norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d


class _Lazy(Module):
    """Stands in front of the layer that it completes, whose first argument is the number of features."""

    _layer: ClassVar[Any]
    _features: ClassVar[str]  # the attribute that holds the number; 0 before the first call
    _statistics_of_features = ("running_mean", "running_var")
    _batched: ClassVar[int]  # the axes of a batch; the features are the axis after the samples

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._layer.__init__(self, 0, *args, **kwargs)
        self._arguments = (args, kwargs)

    def forward(self, input: Tensor, *args: Any) -> Tensor:
        if getattr(self, self._features) == 0:
            self._complete(input)
        found: Tensor = self._layer.forward(self, input, *args)
        return found

    def _complete(self, input: Tensor) -> None:
        axis = 1 if input.ndim >= self._batched else 0
        if input.ndim <= axis:
            raise ShapeError(f"{type(self).__name__}: expected an axis of features, got shape {input.shape}")
        self._complete_with(input.shape[axis if self._batched else -1], input.device)

    def _complete_for(self, shapes: dict[str, tuple[int, ...]]) -> bool:
        """Completes the layer for a state with tensors of these shapes, if they tell the number of features."""
        known = shapes.get("weight" if "weight" in shapes else "running_mean")
        if known is None or getattr(self, self._features) != 0:
            return False
        self._complete_with(self._count(known), None)
        return True

    def _count(self, shape: tuple[int, ...]) -> int:
        """The number of features of a layer whose weight has this shape."""
        if "Transpose" in self._layer.__name__ or len(shape) == 1:
            return shape[0]
        return shape[1] * int(getattr(self, "groups", 1))

    def _complete_with(self, features: int, device: Any) -> None:
        args, kwargs = self._arguments
        full = self._layer(features, *args, **kwargs)
        full.to(device=device)
        with no_grad():
            for name, parameter in full.named_parameters():
                own = getattr(self, name)
                own.data = parameter.detach().astype(own.dtype)
        for name, buffer in full.named_buffers():
            own = getattr(self, name)
            setattr(self, name, buffer.to(dtype=own.dtype, device=own.device if device is None else None))
        setattr(self, self._features, getattr(full, self._features))


class LazyLinear(_Lazy, Linear):
    """Linear(input.shape[-1], out_features, ...)"""

    _layer, _features, _batched = Linear, "in_features", 0


class LazyConv1d(_Lazy, Conv1d):
    """Conv1d(channels of the input, out_channels, kernel_size, ...)"""

    _layer, _features, _batched = Conv1d, "in_channels", 3


class LazyConv2d(_Lazy, Conv2d):
    """Conv2d(channels of the input, out_channels, kernel_size, ...)"""

    _layer, _features, _batched = Conv2d, "in_channels", 4


class LazyConv3d(_Lazy, Conv3d):
    """Conv3d(channels of the input, out_channels, kernel_size, ...)"""

    _layer, _features, _batched = Conv3d, "in_channels", 5


class LazyConvTranspose1d(_Lazy, ConvTranspose1d):
    """ConvTranspose1d(channels of the input, out_channels, kernel_size, ...)"""

    _layer, _features, _batched = ConvTranspose1d, "in_channels", 3


class LazyConvTranspose2d(_Lazy, ConvTranspose2d):
    """ConvTranspose2d(channels of the input, out_channels, kernel_size, ...)"""

    _layer, _features, _batched = ConvTranspose2d, "in_channels", 4


class LazyConvTranspose3d(_Lazy, ConvTranspose3d):
    """ConvTranspose3d(channels of the input, out_channels, kernel_size, ...)"""

    _layer, _features, _batched = ConvTranspose3d, "in_channels", 5


class LazyBatchNorm1d(_Lazy, BatchNorm1d):
    """BatchNorm1d(channels of the input, ...)"""

    _layer, _features, _batched = BatchNorm1d, "num_features", 2


class LazyBatchNorm2d(_Lazy, BatchNorm2d):
    """BatchNorm2d(channels of the input, ...)"""

    _layer, _features, _batched = BatchNorm2d, "num_features", 4


class LazyBatchNorm3d(_Lazy, BatchNorm3d):
    """BatchNorm3d(channels of the input, ...)"""

    _layer, _features, _batched = BatchNorm3d, "num_features", 5


class _LazyInstanceNorm(_Lazy):
    """Unlike InstanceNorm, with a weight, a bias and running statistics by default, as PyTorch's."""

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__(eps, momentum, affine, track_running_stats, dtype)


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """InstanceNorm1d(channels of the input, ...)"""

    _layer, _features, _batched = InstanceNorm1d, "num_features", 3


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """InstanceNorm2d(channels of the input, ...)"""

    _layer, _features, _batched = InstanceNorm2d, "num_features", 4


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """InstanceNorm3d(channels of the input, ...)"""

    _layer, _features, _batched = InstanceNorm3d, "num_features", 5
