# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of embeddings and bilinear forms; names, defaults and initial values are PyTorch's."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._errors import InvalidValueError, as_int
from .._tensor import Tensor
from . import functional as F
from . import init
from ._table import _Table
from .module import Module
from .parameter import Parameter


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of a table that each bag names. A row that is looked up gets at most the norm
    `max_norm`."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, scale_grad_by_freq: bool = False, mode: str = "mean",
        include_last_offset: bool = False, padding_idx: int | None = None, dtype: Any = None,
        max_norm: float | None = None, norm_type: float = 2.0,
    ) -> None:
        if mode not in ("sum", "mean", "max"):
            raise InvalidValueError(f"mode: expected sum, mean or max, got {mode!r}")
        super().__init__(num_embeddings, embedding_dim, padding_idx, dtype, max_norm, norm_type)
        self.scale_grad_by_freq, self.mode, self.include_last_offset = scale_grad_by_freq, mode, include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input, self._limited(input), offsets, self.scale_grad_by_freq, self.mode, per_sample_weights,
            self.include_last_offset, self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += "" if self.max_norm is None else f", max_norm={self.max_norm}"
        text += "" if self.norm_type == 2 else f", norm_type={self.norm_type}"
        return f"{text}, mode={self.mode!r}" + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx}")


class Bilinear(Module):
    """x1ᵀ A x2 + b for every matrix A of the weight (out_features, in1_features, in2_features)."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        if as_int(in1_features, "in1_features") <= 0:
            raise InvalidValueError(f"in1_features: expected a number above 0, got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(_ops.empty((out_features, in1_features, in2_features), dtype=dtype))
        self.register_parameter("bias", Parameter(_ops.empty((out_features,), dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        text = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{text}, bias={self.bias is not None}"
