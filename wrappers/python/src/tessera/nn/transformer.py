# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Transformers (Vaswani et al., "Attention is all you need", 2017); names, defaults and initial values are PyTorch's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Union

from .. import _ops
from .._errors import ArgumentTypeError, InvalidValueError, as_int
from .._tensor import Tensor
from . import functional as F
from . import init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropouts import Dropout
from .layers import LayerNorm, Linear
from .module import Module

Activation = Union[str, Callable[[Tensor], Tensor]]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if callable(activation):
        return activation
    functions: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}
    if activation not in functions:
        raise InvalidValueError(f"activation: expected relu, gelu or a function, got {activation!r}")
    return functions[activation]


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """(sz, sz): -inf where a key comes after the query, 0 elsewhere."""
    return _ops.triu(_ops.full((sz, sz), float("-inf"), dtype=dtype, device=device), 1)


class _Layer(Module):
    """What encoder and decoder layers share: attentions, two linear layers, a normalisation for each of these blocks and
    their sums, in PyTorch's order."""

    _attentions: tuple[str, ...]

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = "relu", layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, dtype: Any = None,
    ) -> None:
        super().__init__()
        for name in self._attentions:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, dtype=dtype)
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, dtype=dtype)
        blocks = range(1, len(self._attentions) + 2)
        for k in blocks:
            self.add_module(f"norm{k}", LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype))
        for k in blocks:
            self.add_module(f"dropout{k}", Dropout(dropout))
        self.norm_first, self.activation = norm_first, _activation(activation)

    def _sum_with(self, x: Tensor, block: Callable[[Tensor], Tensor], norm: Module) -> Tensor:
        total: Tensor = x + block(norm(x)) if self.norm_first else norm(x + block(x))
        return total

    def _feed_forward(self, x: Tensor, dropout: Module) -> Tensor:
        fed: Tensor = dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        return fed


class TransformerEncoderLayer(_Layer):
    """Self-attention and two linear layers, each added to its input and normalised."""

    _attentions = ("self_attn",)

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            found, _ = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)
            dropped: Tensor = self.dropout1(found)
            return dropped

        x = self._sum_with(src, attend, self.norm1)
        return self._sum_with(x, lambda y: self._feed_forward(y, self.dropout2), self.norm2)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's result and two linear layers, each added to its input and
    normalised."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            found, _ = self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)
            dropped: Tensor = self.dropout1(found)
            return dropped

        def look(x: Tensor) -> Tensor:
            found, _ = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal
            )
            dropped: Tensor = self.dropout2(found)
            return dropped

        x = self._sum_with(tgt, attend, self.norm1)
        x = self._sum_with(x, look, self.norm2)
        return self._sum_with(x, lambda y: self._feed_forward(y, self.dropout3), self.norm3)


def _copies(layer: Module, count: int) -> ModuleList:
    if not isinstance(layer, Module):
        raise ArgumentTypeError(f"expected a Module as the layer, got {type(layer).__name__}")
    if as_int(count, "num_layers") < 0:
        raise InvalidValueError(f"num_layers: expected a number that is not negative, got {count}")
    return ModuleList([copy.deepcopy(layer) for _ in range(as_int(count, "num_layers"))])


class TransformerEncoder(Module):
    """Layers one after the other, copies of the one given, and a last normalisation."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, bool(is_causal))
        last: Tensor = x if self.norm is None else self.norm(x)
        return last


class TransformerDecoder(Module):
    """Layers one after the other, copies of the one given, and a last normalisation."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:
        x = tgt
        for layer in self.layers:
            x = layer(
                x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, bool(tgt_is_causal),
                memory_is_causal,
            )
        last: Tensor = x if self.norm is None else self.norm(x)
        return last


class Transformer(Module):
    """An encoder and a decoder. Masks as in MultiheadAttention."""

    generate_square_subsequent_mask = staticmethod(generate_square_subsequent_mask)

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = "relu",
        custom_encoder: Module | None = None, custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, dtype: Any = None,
    ) -> None:
        super().__init__()
        options: tuple[Any, ...] = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, dtype,
        )
        self.encoder = custom_encoder if custom_encoder is not None else TransformerEncoder(
            TransformerEncoderLayer(*options), num_encoder_layers,
            LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype),
        )
        self.decoder = custom_decoder if custom_decoder is not None else TransformerDecoder(
            TransformerDecoderLayer(*options), num_decoder_layers,
            LayerNorm(d_model, layer_norm_eps, bias=bias, dtype=dtype),
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        result: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
            memory_is_causal,
        )
        return result
