# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of attention, bags of embeddings and bilinear forms; the references are written here in NumPy and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
from op_engine import FLOATS, Fixed, Make, Row, Sample, find, sample
from op_table_nn import PRODUCTS, STRIDED, by_torch

import tessera as ts

ONE = lambda *shape: ts.ones(shape)  # noqa: E731


def weights_of(scores: Any) -> Any:
    """softmax along the last axis, 0 where every score is -infinity."""
    most = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isneginf(most), 0, most))
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300)


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:
    if enable_gqa:
        key = np.repeat(key, query.shape[-3] // key.shape[-3], -3)
        value = np.repeat(value, query.shape[-3] // value.shape[-3], -3)
    scores = query @ np.swapaxes(key, -1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        attn_mask = np.tri(*scores.shape[-2:], dtype=bool)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    return weights_of(scores) @ value


def attention_samples(make: Make) -> list[Sample]:
    taken = np.array([[True, False, True], [False, False, False]])
    return [
        sample(make(2, 3), make(4, 3), make(4, 2)),
        sample(make(2, 2, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 3), scale=0.7),
        sample(make(2, 1, 3, 2), make(3, 4, 2), make(4, 3)),
        sample(make(3, 2), make(3, 2), make(3, 2), is_causal=True),
        sample(make(1, 4, 2), make(1, 2, 2), make(1, 2, 2), is_causal=True),
        sample(make(2, 2), make(3, 2), make(3, 2), Fixed(taken)),
        sample(make(2, 2, 2), make(2, 3, 2), make(2, 3, 2), make(3)),
        sample(make(2, 2, 2), make(2, 3, 2), make(2, 3, 2), make(2, 2, 1)),
        sample(make(4, 2, 3), make(2, 3, 3), make(2, 3, 2), enable_gqa=True),
        sample(make(4, 2, 3), make(2, 3, 3), make(2, 3, 2), make(4, 2, 3), enable_gqa=True),
        sample(make(2, 3), make(0, 3), make(0, 2)),
        sample(make(0, 3), make(2, 3), make(2, 2)),
        sample(make(0, 2, 3), make(0, 2, 3), make(0, 2, 2)),
        sample(make(130, 3), make(300, 3), make(300, 2), is_causal=True),
        sample(make(3, 40), make(5, 40), make(5, 70)),
    ]


def heads_samples(make: Make) -> list[Sample]:
    def of(length: int, width: int, *lead: int) -> Any:
        return make(*lead, length, width)

    padding = Fixed(np.array([[False, False, True], [False, True, True]]))
    hidden = Fixed(np.triu(np.ones((2, 3), bool), 1))
    out, whole = make(4, 4), make(12, 4)
    return [
        sample(of(2, 4), of(3, 4), of(3, 4), 2, out, make(4), whole, make(12)),
        sample(of(2, 4, 2), of(3, 4, 2), of(3, 4, 2), 2, out, None, whole, key_padding_mask=padding, batch_first=True),
        sample(of(2, 4, 2), of(3, 4, 2), of(3, 4, 2), 1, out, None, whole, attn_mask=hidden, average_attn_weights=False,
               batch_first=True, bias_k=make(1, 1, 4), bias_v=make(1, 1, 4), add_zero_attn=True),
        sample(of(2, 4), of(3, 3), of(3, 2), 2, out, None, None, None, make(4, 4), make(4, 3), make(4, 2),
               attn_mask=make(2, 3), key_padding_mask=Fixed(np.array([False, True, False]))),
    ]  # fmt: skip


def small_heads(make: Make) -> list[Sample]:
    padding = Fixed(np.array([False, True, False]))
    return [
        sample(make(2, 2), make(3, 2), make(3, 2), 2, make(2, 2), make(2), make(6, 2), make(6)),
        sample(make(2, 2), make(3, 2), make(3, 2), 1, make(2, 2), None, make(6, 2), bias_k=make(2), bias_v=make(2),
               attn_mask=make(2, 3), key_padding_mask=padding, need_weights=False),
    ]  # fmt: skip


def heads_reference(functional: Any, q: Any, k: Any, v: Any, heads: int, out: Any, out_bias: Any = None, weight: Any = None,
                    bias: Any = None, wq: Any = None, wk: Any = None, wv: Any = None, **options: Any) -> Any:  # fmt: skip
    """PyTorch's function, in which the batch is the second axis."""
    batch_first = options.pop("batch_first", False)
    if batch_first:
        q, k, v = (x.transpose(0, 1) for x in (q, k, v))
    names = {"bias_k": None, "bias_v": None, "add_zero_attn": False}
    first = [options.pop(name, default) for name, default in names.items()]
    found, weights = functional.multi_head_attention_forward(
        q, k, v, q.shape[-1], heads, weight, bias, *first, 0.0, out, out_bias,
        use_separate_proj_weight=weight is None, q_proj_weight=wq, k_proj_weight=wk, v_proj_weight=wv, **options,
    )
    return (found.transpose(0, 1) if batch_first else found).contiguous(), weights


def bag_samples(make: Make) -> list[Sample]:
    table = make.distinct(5, 3)
    square = make.index(3, 4, high=5)
    line, starts = make.index(7, high=5), Fixed(np.array([0, 3, 3]))
    padded: list[Any] = [{}, {"padding_idx": 1}, {"padding_idx": -1}]
    return [
        *(sample(square, table, mode=mode, **options) for mode in ("sum", "mean", "max") for options in padded),
        *(sample(line, table, starts, mode=mode, **options) for mode in ("sum", "mean", "max") for options in padded),
        sample(line, table, Fixed(np.array([0, 3, 7])), include_last_offset=True),
        sample(square, table, mode="sum", per_sample_weights=make(3, 4)),
        sample(line, table, starts, mode="sum", per_sample_weights=make(7), padding_idx=2),
        sample(Fixed(np.zeros((2, 0), np.int64)), table),
        sample(Fixed(np.zeros(0, np.int64)), table, Fixed(np.array([0, 0])), mode="max"),
    ]


def bag(functional: Any, x: Any, table: Any, *args: Any, **options: Any) -> Any:
    if x.numel() == 0 and x.ndim == 2:  # PyTorch refuses bags of length 0
        return table.new_zeros(x.shape[0], table.shape[1])
    return functional.embedding_bag(x, table, *args, **options)


BILINEAR = lambda make: [  # noqa: E731
    sample(make(2, 3), make(2, 4), make(5, 3, 4), make(5)),
    sample(make(3), make(1), make(2, 3, 1)),
    sample(make(2, 0, 3), make(2, 0, 2), make(2, 3, 2), make(2)),
]

# PyTorch has the sums of these in an order of its own; ours are rounded once.
NARROW: dict[str, Any] = {"dtypes": FLOATS, "layouts": STRIDED, "tolerance": PRODUCTS}

ROWS = [
    Row("scaled_dot_product_attention", attention, attention_samples, **NARROW,
        errors=[(ValueError, lambda: find("scaled_dot_product_attention")(ONE(2, 3), ONE(2, 4), ONE(2, 3))),
                (ValueError, lambda: find("scaled_dot_product_attention")(ONE(2, 3), ONE(2, 3), ONE(3, 3))),
                (ValueError, lambda: find("scaled_dot_product_attention")(ONE(2, 3), ONE(2, 3), ONE(2, 3), enable_gqa=True)),
                (ValueError, lambda: find("scaled_dot_product_attention")(ONE(3, 1, 1), ONE(2, 1, 1), ONE(2, 1, 1), enable_gqa=True)),
                (ValueError, lambda: find("scaled_dot_product_attention")(ONE(2, 3), ONE(2, 3), ONE(2, 3), ONE(3, 2, 2))),
                (TypeError, lambda: find("scaled_dot_product_attention")(ONE(2, 3), ONE(2, 3), ONE(2, 3), ONE(2, 2).astype(ts.float64)))]),
    Row("multi_head_attention", by_torch(heads_reference), heads_samples, grad_samples=small_heads, **NARROW,
        errors=[(ValueError, lambda: find("multi_head_attention")(ONE(1, 3), ONE(1, 3), ONE(1, 3), 2, ONE(3, 3), None, ONE(9, 3))),
                (ValueError, lambda: find("multi_head_attention")(ONE(1, 2), ONE(1, 2), ONE(1, 2), 2, ONE(2, 2), None, ONE(5, 2)))]),
    Row("embedding_bag", by_torch(bag), bag_samples, **NARROW,
        errors=[(IndexError, lambda: find("embedding_bag")(ts.asarray([[3]]), ONE(3, 2))),
                (IndexError, lambda: find("embedding_bag")(ts.asarray([0, 1]), ONE(3, 2), ts.asarray([1]), mode="sum"))]),
    Row("bilinear", by_torch("bilinear"), BILINEAR, **NARROW),
]  # fmt: skip
