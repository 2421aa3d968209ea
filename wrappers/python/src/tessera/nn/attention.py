# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Multi-head attention; names, defaults and initial values are PyTorch's."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._errors import InvalidValueError, as_int, as_number
from .._tensor import Tensor
from . import functional as F
from . import init
from .layers import Linear
from .module import Module
from .parameter import Parameter


class MultiheadAttention(Module):
    """Projects query, key and value, attends with every head, and projects the joined heads. Sequences are (length,
    batch, features), or (batch, length, features) with batch_first, or (length, features). Bool masks hide a key where
    they are true. A query for which no key takes part gets weights of 0."""

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = as_int(embed_dim, "embed_dim"), as_int(num_heads, "num_heads")
        if self.embed_dim <= 0 or self.num_heads <= 0 or self.embed_dim % self.num_heads:
            raise InvalidValueError(f"num_heads: expected a divisor of embed_dim={embed_dim}, got {num_heads}")
        if not 0.0 <= as_number(dropout, "dropout") <= 1.0:
            raise InvalidValueError(f"dropout: expected a probability between 0 and 1, got {dropout}")
        self.head_dim = self.embed_dim // self.num_heads
        self.kdim = self.embed_dim if kdim is None else as_int(kdim, "kdim")
        self.vdim = self.embed_dim if vdim is None else as_int(vdim, "vdim")
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn

        def parameter(name: str, *shape: int) -> None:
            self.register_parameter(name, Parameter(_ops.empty(shape, dtype=dtype)))

        wide = self.embed_dim
        joined = self.kdim == wide and self.vdim == wide
        apart = {"q_proj_weight": wide, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, width in apart.items():
            self.register_parameter(name, None) if joined else parameter(name, wide, width)
        parameter("in_proj_weight", 3 * wide, wide) if joined else self.register_parameter("in_proj_weight", None)
        parameter("in_proj_bias", 3 * wide) if bias else self.register_parameter("in_proj_bias", None)
        self.out_proj = Linear(wide, wide, bias=bias, dtype=dtype)
        for name in ("bias_k", "bias_v"):
            parameter(name, 1, 1, wide) if add_bias_kv else self.register_parameter(name, None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        output, weights = F.multi_head_attention(
            query, key, value, self.num_heads, self.out_proj.weight, self.out_proj.bias, self.in_proj_weight,
            self.in_proj_bias, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight, self.bias_k, self.bias_v,
            key_padding_mask, attn_mask, is_causal, self.add_zero_attn, self.dropout if self.training else 0.0,
            need_weights, average_attn_weights, self.batch_first,
        )
        return output, weights if need_weights else None

    def extra_repr(self) -> str:
        return f"{self.embed_dim}, num_heads={self.num_heads}, batch_first={self.batch_first}"
