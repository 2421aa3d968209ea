# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of images without parameters: other sizes, shuffles, windows as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._errors import as_number
from .._tensor import Tensor
from . import functional as F
from .module import Module

Numbers = int | Sequence[int]


class _Image(Module):
    """A function of an image with settings, which are attributes of their names."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._settings = tuple(settings)
        for name, value in settings.items():
            setattr(self, name, value)

    def settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._settings}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.settings().items())


class Upsample(_Image):
    """An image of another size; the arguments are those of F.interpolate."""

    def __init__(
        self,
        size: Numbers | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        if isinstance(scale_factor, (tuple, list)):
            scale_factor = tuple(as_number(factor, "Upsample: scale_factor") for factor in scale_factor)
        elif scale_factor is not None:
            scale_factor = as_number(scale_factor, "Upsample: scale_factor")
        super().__init__(
            size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners,
            recompute_scale_factor=recompute_scale_factor,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(input, **self.settings())

    def extra_repr(self) -> str:
        size = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    def __init__(self, size: Numbers | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Bilinear with the corners aligned, as in PyTorch."""

    def __init__(self, size: Numbers | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(_Image):
    def __init__(self, upscale_factor: int) -> None:
        super().__init__(upscale_factor=upscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(_Image):
    def __init__(self, downscale_factor: int) -> None:
        super().__init__(downscale_factor=downscale_factor)

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(_Image):
    def __init__(self, groups: int) -> None:
        super().__init__(groups=groups)

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)


class Unfold(_Image):
    """The windows of an image as columns."""

    def __init__(self, kernel_size: Numbers, dilation: Numbers = 1, padding: Numbers = 0, stride: Numbers = 1) -> None:
        super().__init__(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, **self.settings())


class Fold(_Image):
    """The sums of windows that are given as columns."""

    def __init__(
        self, output_size: Numbers, kernel_size: Numbers, dilation: Numbers = 1, padding: Numbers = 0, stride: Numbers = 1
    ) -> None:
        super().__init__(
            output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, **self.settings())
