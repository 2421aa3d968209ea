# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolution along one, two and three axes, and its transpose; options, defaults and initial values are PyTorch's."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._errors import InvalidValueError, ShapeError, as_int, as_list
from .._tensor import Tensor
from . import functional as F
from . import init
from ._sizes import Sizes, sizes
from .module import Module
from .parameter import Parameter


def _per_group(channels: int, groups: int) -> int:
    """The number of channels per group."""
    count, parts = as_int(channels, "channels"), as_int(groups, "groups")
    if parts < 1 or count % parts:
        raise InvalidValueError(f"in_channels and out_channels must be divisible by groups={groups}")
    return count // parts


_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Conv(Module):
    """The base class of all convolutions; weight (*shape, kernel...)."""

    _axes: int
    _function: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes, padding: Sizes | str, dilation: Sizes,
        groups: int, bias: bool, shape: tuple[int, int], dtype: Any,
    ) -> None:
        super().__init__()
        _per_group(in_channels, groups), _per_group(out_channels, groups)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = self._sizes(kernel_size, "kernel_size"), self._sizes(stride, "stride")
        self.padding = padding if isinstance(padding, str) else self._sizes(padding, "padding")
        self.dilation = self._sizes(dilation, "dilation")
        self.weight = Parameter(_ops.empty((*shape, *self.kernel_size), dtype=dtype))
        self.register_parameter("bias", Parameter(_ops.empty((out_channels,), dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _sizes(self, value: Sizes, name: str) -> tuple[int, ...]:
        return sizes(value, self._axes, name)

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, math.sqrt(5))
        if self.bias is not None:
            fan_in = init.fan_in_and_fan_out(self.weight)[0]
            bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding}" if self.padding != (0,) * self._axes else ""
        text += f", dilation={self.dilation}" if self.dilation != (1,) * self._axes else ""
        extra = getattr(self, "output_padding", None)
        text += f", output_padding={extra}" if extra not in (None, (0,) * self._axes) else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        return text + ("" if self.bias is not None else ", bias=False")


class _PlainConv(_Conv):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes | str = 0,
        dilation: Sizes = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", dtype: Any = None,
    ) -> None:
        if padding_mode not in _PADDING_MODES:
            raise InvalidValueError(f"padding_mode: expected one of {_PADDING_MODES}, got {padding_mode!r}")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise InvalidValueError(f"padding: expected ints, 'same' or 'valid', got {padding!r}")
        if isinstance(padding, str) and padding == "same" and set(self._sizes(stride, "stride")) != {1}:
            raise InvalidValueError(f"padding='same' needs a stride of 1, got {stride}")
        shape = (out_channels, _per_group(in_channels, groups))
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, shape, dtype)
        self.padding_mode = padding_mode

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The convolution with another weight and bias, for classes that make them of their own."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._around(), self.padding_mode), 0
        found: Tensor = self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)
        return found

    def _around(self) -> list[int]:
        """The elements before and after each axis, the last axis first."""
        padding: Any = self.padding
        if isinstance(padding, str):
            total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
            sides = [(n // 2, n - n // 2) for n in total]
        else:
            sides = [(n, n) for n in padding]
        return [n for side in reversed(sides) for n in side]

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode}")


class Conv1d(_PlainConv):
    """Cross-correlation of sequences (N, C, L) with weight (out, in / groups, k). padding as for Conv2d."""

    _axes = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_PlainConv):
    """Cross-correlation of images (N, C, H, W) with weight (out, in / groups, kH, kW). padding may be "same", for outputs
    of the input's size, or "valid", for none; padding_mode says what stands there: "zeros", "reflect", "replicate" or
    "circular"."""

    _axes = 2
    _function = staticmethod(F.conv2d)


class Conv3d(_PlainConv):
    """Cross-correlation of volumes (N, C, D, H, W) with weight (out, in / groups, kD, kH, kW). padding as for Conv2d."""

    _axes = 3
    _function = staticmethod(F.conv3d)


class _ConvTranspose(_Conv):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1, padding: Sizes = 0,
        output_padding: Sizes = 0, groups: int = 1, bias: bool = True, dilation: Sizes = 1, dtype: Any = None,
    ) -> None:
        shape = (in_channels, _per_group(out_channels, groups))
        padding = self._sizes(padding, "padding")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, shape, dtype)
        self.output_padding = self._sizes(output_padding, "output_padding")

    def forward(self, input: Tensor, output_size: Sizes | None = None) -> Tensor:
        """`output_size`, the spatial sizes or the whole shape of the result, chooses among those that the stride leaves
        open; without it output_padding does."""
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        found: Tensor = self._function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
        return found

    def _extra(self, input: Tensor, output_size: Sizes) -> tuple[int, ...]:
        """The output padding that gives a result of these sizes."""
        given = [output_size] * self._axes if isinstance(output_size, int) else as_list(output_size, "output_size")
        if len(given) not in (self._axes, input.ndim):
            raise ShapeError(f"output_size: expected {self._axes} or {input.ndim} sizes, got {len(given)}")
        wanted = [as_int(n, "output_size") for n in given[len(given) - self._axes :]]
        padding: Any = self.padding
        settings = zip(input.shape[input.ndim - self._axes :], self.stride, padding, self.dilation, self.kernel_size)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in settings]
        most = [n + s - 1 for n, s in zip(least, self.stride)]
        if any(not low <= n <= high for low, n, high in zip(least, wanted, most)):
            raise ShapeError(f"output_size: expected sizes from {least} to {most}, got {wanted}")
        return tuple(n - low for n, low in zip(wanted, least))


class ConvTranspose1d(_ConvTranspose):
    """The gradient of Conv1d with respect to its input, as a layer; weight (in, out / groups, k)."""

    _axes = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """The gradient of Conv2d with respect to its input, as a layer; weight (in, out / groups, kH, kW)."""

    _axes = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """The gradient of Conv3d with respect to its input, as a layer; weight (in, out / groups, kD, kH, kW)."""

    _axes = 3
    _function = staticmethod(F.conv_transpose3d)
