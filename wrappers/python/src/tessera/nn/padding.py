# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Padding of the last one, two or three axes: constant, mirrored, of the edge, circular."""

from __future__ import annotations

from .._errors import as_number
from .._tensor import Tensor
from . import functional as F
from ._sizes import Sizes, sizes
from .module import Module


class _Pad(Module):
    """The numbers of elements before and after each axis, the last axis first; one number means all of them."""

    _axes: int
    _mode: str

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = sizes(padding, 2 * self._axes, "padding")

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"padding={self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = as_number(value, "value")

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """A number around the last axis."""

    _axes = 1


class ConstantPad2d(_ConstantPad):
    """A number around the last two axes."""

    _axes = 2


class ConstantPad3d(_ConstantPad):
    """A number around the last three axes."""

    _axes = 3


class ZeroPad1d(_Pad):
    """Zeros around the last axis."""

    _axes, _mode = 1, "constant"


class ZeroPad2d(_Pad):
    """Zeros around the last two axes."""

    _axes, _mode = 2, "constant"


class ZeroPad3d(_Pad):
    """Zeros around the last three axes."""

    _axes, _mode = 3, "constant"


class ReflectionPad1d(_Pad):
    """The last axis mirrored at its ends, without them."""

    _axes, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The last two axes mirrored at their ends, without them."""

    _axes, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """The last three axes mirrored at their ends, without them."""

    _axes, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The ends of the last axis repeated."""

    _axes, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The ends of the last two axes repeated."""

    _axes, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The ends of the last three axes repeated."""

    _axes, _mode = 3, "replicate"


class CircularPad1d(_Pad):
    """The last axis continued from its other end."""

    _axes, _mode = 1, "circular"


class CircularPad2d(_Pad):
    """The last two axes continued from their other ends."""

    _axes, _mode = 2, "circular"


class CircularPad3d(_Pad):
    """The last three axes continued from their other ends."""

    _axes, _mode = 3, "circular"
