# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Dropout of elements and of channels."""

from __future__ import annotations

from typing import Any

from .._errors import InvalidValueError, as_number
from .._tensor import Tensor
from . import functional as F
from .module import Module


class Dropout(Module):
    """Zeroes elements with probability p while training, and scales the others by 1 / (1 - p)."""

    _function: Any = staticmethod(F.dropout)

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0.0 <= as_number(p, "p") <= 1.0:
            raise InvalidValueError(f"p: expected a probability between 0 and 1, got {p}")
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        found: Tensor = self._function(input, self.p, self.training)
        return found

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Dropout1d(Dropout):
    """Zeroes whole channels of (N, C, L) or (C, L)."""

    _function = staticmethod(F.dropout1d)


class Dropout2d(Dropout):
    """Zeroes whole channels of (N, C, H, W) or (N, C, L)."""

    _function = staticmethod(F.dropout2d)


class Dropout3d(Dropout):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    _function = staticmethod(F.dropout3d)


class AlphaDropout(Dropout):
    """Dropout that keeps mean 0 and variance 1, for networks with SELU."""

    _function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(Dropout):
    """AlphaDropout of whole channels (axis 1)."""

    _function = staticmethod(F.feature_alpha_dropout)
