# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers with parameters; defaults and initial values are PyTorch's."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._errors import as_int, as_list
from .._tensor import Tensor
from . import functional as F
from . import init
from ._table import _Table
from .module import Module
from .parameter import Parameter


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
        self.register_parameter("weight", Parameter(_ops.empty(shape, dtype=dtype)) if affine else None)
        self.register_parameter("bias", Parameter(_ops.empty(shape, dtype=dtype)) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Sets weight and bias to their first values."""
        for parameter, value in ((self.weight, 1.0), (self.bias, 0.0)):
            if parameter is not None:
                init.constant_(parameter, value)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.weight is not None}"


class Embedding(_Table):
    """Rows of a table, looked up by integers. A row that is looked up gets at most the norm `max_norm`."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, dtype: Any = None,
        max_norm: float | None = None, norm_type: float = 2.0,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, padding_idx, dtype, max_norm, norm_type)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self._limited(input), self.padding_idx)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        text += "" if self.max_norm is None else f", max_norm={self.max_norm}"
        return text + ("" if self.norm_type == 2 else f", norm_type={self.norm_type}")
