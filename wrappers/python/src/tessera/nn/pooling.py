# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Pooling along one, two and three axes of (N, C, spatial...) or (C, spatial...); options and defaults are PyTorch's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from .._errors import InvalidArgumentError, InvalidValueError
from .._tensor import Tensor
from . import functional as F
from ._sizes import Sizes
from .module import Module

# A size, or None for the input's own.
OutputSizes = Union[int, None, "tuple[Optional[int], ...]"]


class _Windows(Module):
    """The base class of pooling by windows of one size."""

    def __init__(self, kernel_size: Sizes, stride: Sizes | None, padding: Sizes = 0, ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size, self.padding, self.ceil_mode = kernel_size, padding, ceil_mode
        self.stride = kernel_size if stride is None else stride

    def extra_repr(self) -> str:
        text = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        return text + (", ceil_mode=True" if self.ceil_mode else "")


class _MaxPool(_Windows):
    _pool: Any
    _pool_with_positions: Any

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
        return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.dilation, self.return_indices = dilation, return_indices

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with return_indices their positions in the flattened spatial axes."""
        pool = self._pool_with_positions if self.return_indices else self._pool
        found = pool(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)
        return tuple(found) if self.return_indices else found


class MaxPool1d(_MaxPool):
    """The maximum of each window along one axis."""

    _pool = staticmethod(F.max_pool1d)
    _pool_with_positions = staticmethod(F.max_pool1d_with_positions)


class MaxPool2d(_MaxPool):
    """The maximum of each window along two axes."""

    _pool = staticmethod(F.max_pool2d)
    _pool_with_positions = staticmethod(F.max_pool2d_with_positions)


class MaxPool3d(_MaxPool):
    """The maximum of each window along three axes."""

    _pool = staticmethod(F.max_pool3d)
    _pool_with_positions = staticmethod(F.max_pool3d_with_positions)


class _AvgPool(_Windows):
    _pool: Any

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = self._pool(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override
        )
        return found


class AvgPool1d(_AvgPool):
    """The mean of each window along one axis."""

    _pool = staticmethod(F.avg_pool1d)


class AvgPool2d(_AvgPool):
    """The mean of each window along two axes."""

    _pool = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window along three axes."""

    _pool = staticmethod(F.avg_pool3d)


class _LPPool(_Windows):
    _pool: Any

    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__(kernel_size, stride, 0, ceil_mode)
        self.norm_type = norm_type

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = self._pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return found

    def extra_repr(self) -> str:
        return f"norm_type={self.norm_type}, {super().extra_repr()}"


class LPPool1d(_LPPool):
    """(sum of x^p)^(1/p) for each window along one axis."""

    _pool = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """(sum of x^p)^(1/p) for each window along two axes."""

    _pool = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """(sum of x^p)^(1/p) for each window along three axes."""

    _pool = staticmethod(F.lp_pool3d)


class _Adaptive(Module):
    """The base class of pooling by windows that cover the input evenly."""

    _axes: int
    _pool: Any

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        self.output_size = output_size

    def _sizes(self, input: Tensor) -> list[int]:
        """The number of windows along each axis."""
        asked = self.output_size
        wanted = list(asked) if isinstance(asked, (tuple, list)) else [asked] * self._axes
        if len(wanted) != self._axes:
            raise InvalidValueError(f"output_size: expected an int or {self._axes} of them, got {asked!r}")
        return [own if size is None else size for own, size in zip(input.shape[-self._axes :], wanted)]

    def forward(self, input: Tensor) -> Any:
        return self._pool(input, self._sizes(input))

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """The means of the given number of windows along one axis; None means the input's size."""

    _axes = 1
    _pool = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_Adaptive):
    """The means of the given number of windows along two axes; None means the input's size."""

    _axes = 2
    _pool = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_Adaptive):
    """The means of the given number of windows along three axes; None means the input's size."""

    _axes = 3
    _pool = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMax(_Adaptive):
    _pool_with_positions: Any

    def __init__(self, output_size: OutputSizes, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with return_indices their positions in the flattened spatial axes."""
        if self.return_indices:
            return tuple(self._pool_with_positions(input, self._sizes(input)))
        return super().forward(input)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The maxima of the given number of windows along one axis; None means the input's size."""

    _axes = 1
    _pool = staticmethod(F.adaptive_max_pool1d)
    _pool_with_positions = staticmethod(F.adaptive_max_pool1d_with_positions)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The maxima of the given number of windows along two axes; None means the input's size."""

    _axes = 2
    _pool = staticmethod(F.adaptive_max_pool2d)
    _pool_with_positions = staticmethod(F.adaptive_max_pool2d_with_positions)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The maxima of the given number of windows along three axes; None means the input's size."""

    _axes = 3
    _pool = staticmethod(F.adaptive_max_pool3d)
    _pool_with_positions = staticmethod(F.adaptive_max_pool3d_with_positions)


class _FractionalMaxPool(Module):
    _pool: Any
    _pool_with_positions: Any

    def __init__(
        self, kernel_size: Sizes, output_size: Sizes | None = None, output_ratio: float | tuple[float, ...] | None = None,
        return_indices: bool = False, samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            given = "none" if output_size is None else "both"
            raise InvalidArgumentError(f"{type(self).__name__}: expected either output_size or output_ratio, got {given}")
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,)
        if output_ratio is not None and not all(0 < float(r) < 1 for r in ratios if r is not None):
            raise InvalidValueError(f"{type(self).__name__}: output_ratio: expected numbers between 0 and 1, got {output_ratio!r}")
        self.kernel_size, self.output_size, self.output_ratio = kernel_size, output_size, output_ratio
        self.return_indices = return_indices
        self.register_buffer("_random_samples", samples)  # PyTorch's name and place, because the state has it

    def forward(self, input: Tensor) -> Any:
        """The maxima, and with return_indices their positions in the flattened spatial axes."""
        pool = self._pool_with_positions if self.return_indices else self._pool
        return pool(input, self.kernel_size, self.output_size, self.output_ratio, self._random_samples)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, output_size={self.output_size}, output_ratio={self.output_ratio}"


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maxima of windows at random distances along two axes, so that the output has any size."""

    _pool = staticmethod(F.fractional_max_pool2d)
    _pool_with_positions = staticmethod(F.fractional_max_pool2d_with_positions)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maxima of windows at random distances along three axes, so that the output has any size."""

    _pool = staticmethod(F.fractional_max_pool3d)
    _pool_with_positions = staticmethod(F.fractional_max_pool3d_with_positions)


class _MaxUnpool(_Windows):
    _unpool: Any

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__(kernel_size, stride, padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        found: Tensor = self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)
        return found


class MaxUnpool1d(_MaxUnpool):
    """Zeros with the maxima at the positions that MaxPool1d returned."""

    _unpool = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Zeros with the maxima at the positions that MaxPool2d returned."""

    _unpool = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Zeros with the maxima at the positions that MaxPool3d returned."""

    _unpool = staticmethod(F.max_unpool3d)
