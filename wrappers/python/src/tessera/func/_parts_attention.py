# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""multi_head_attention of samples: with the same weights for all the batch joins that of the sequences, else the operator is
made of its products."""

from __future__ import annotations

from typing import Any

from .. import _ops
from .._dtypes import bool_
from .._results import RESULTS
from ._batched import make
from ._dispatch import Call, call, loop
from ._parts import part
from ._rules import joined, parted, rank_of, whole

INPUTS = ("query", "key", "value")
Result: Any = RESULTS["multi_head_attention"]


@part("multi_head_attention")
def multi_head_attention(made: Call) -> Any:
    given = made.given
    known = rank_of(given["query"]) in (2, 3) and all(rank_of(given[name]) == rank_of(given["query"]) for name in INPUTS)
    if not known or made.level.samples == 0:
        return loop(made)
    if made.only(*INPUTS, "key_padding_mask") and rank_of(given.get("attn_mask")) <= 2:
        return _with_one_weight(made)
    return _composed(given)


def _with_one_weight(made: Call) -> Any:
    level, size = made.level, made.level.samples
    single = rank_of(made.given["query"]) == 2
    behind = not single and not made.given.get("batch_first", False)  # (length, batch, features)
    changed: dict[str, Any] = {}
    for name in (*INPUTS, "key_padding_mask"):
        if made.given.get(name) is None:
            continue
        batch = whole(made.given[name], level)
        if behind and name in INPUTS:
            batch = _ops.moveaxis(batch, 0, 1)
            changed[name] = _ops.reshape(batch, (batch.shape[0], -1, batch.shape[3]))
        else:
            changed[name] = batch if single else joined(batch)
    output, weights = made.plain(**changed, **({"batch_first": True} if single else {}))
    if behind:
        output = _ops.moveaxis(_ops.reshape(output, (output.shape[0], size, -1, output.shape[2])), 1, 0)
    elif not single:
        output = parted(output, size)
    if weights.ndim == 1:
        weights = _ops.expand(weights, (size, *weights.shape))
    elif not single:
        weights = parted(weights, size)
    return Result(make(output, level), make(weights, level))


def _thirds(tensor: Any, width: int) -> list[Any]:
    return [None] * 3 if tensor is None else [_ops.narrow(tensor, 0, i * width, width) for i in range(3)]


def _composed(given: dict[str, Any]) -> Any:
    query = given["query"]
    single, heads, width = rank_of(query) == 2, int(given["num_heads"]), int(query.shape[-1])
    inputs = [_ops.expand_dims(given[n], (0,)) if single else given[n] for n in INPUTS]
    if not single and not given.get("batch_first", False):
        inputs = [_ops.transpose(x, 0, 1) for x in inputs]
    if given.get("in_proj_weight") is not None:
        weights = _thirds(given["in_proj_weight"], width)
    else:
        weights = [given[name] for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight")]
    biases = _thirds(given.get("in_proj_bias"), width)
    projected = [call_linear(x, w, b) for x, w, b in zip(inputs, weights, biases)]
    projected[1:] = [_with_own(x, given.get(own), given) for x, own in zip(projected[1:], ("bias_k", "bias_v"))]
    q, k, v = (_heads(x, heads) for x in projected)
    scores = _masked(_ops.matmul(_ops.multiply(q, (width // heads) ** -0.5), _ops.transpose(k, -2, -1)), given)
    nothing = _ops.all(_ops.equal(scores, float("-inf")), -1, keepdims=True)  # no key takes part
    chances = _ops.softmax(_ops.where(nothing, 0.0, scores), -1)
    chances = _ops.where(nothing, 0.0, chances)
    mixed = _ops.transpose(_ops.matmul(chances, v), 1, 2)
    output = call_linear(_ops.reshape(mixed, (*mixed.shape[:2], width)), given["out_proj_weight"], given.get("out_proj_bias"))
    if not given.get("need_weights", True):
        chances = _ops.zeros((0,), dtype=output.dtype, device=output.device)
    else:
        chances = _ops.mean(chances, 1) if given.get("average_attn_weights", True) else chances
        chances = _ops.squeeze(chances, (0,)) if single else chances
    if single:
        output = _ops.squeeze(output, (0,))
    elif not given.get("batch_first", False):
        output = _ops.transpose(output, 0, 1)
    return Result(output, chances)


def call_linear(x: Any, weight: Any, bias: Any) -> Any:
    return call("linear", {"input": x, "weight": weight, "bias": bias})


def _with_own(x: Any, own: Any, given: dict[str, Any]) -> Any:
    """Keys or values, and behind them the operator's own: a learned one, and zeros."""
    more = [] if own is None else [_ops.reshape(own, (1, 1, -1))]
    if given.get("add_zero_attn", False):
        more.append(_ops.zeros((1, 1, x.shape[2]), dtype=x.dtype, device=x.device))
    return _ops.concat([x, *(_ops.expand(m, (x.shape[0], 1, x.shape[2])) for m in more)], 1) if more else x


def _heads(x: Any, heads: int) -> Any:
    """(batch, length, features) as (batch, heads, length, features of a head)."""
    return _ops.transpose(_ops.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads)), 1, 2)


def _masked(scores: Any, given: dict[str, Any]) -> Any:
    mask, padding = given.get("attn_mask"), given.get("key_padding_mask")
    own = (given.get("bias_k") is not None) + bool(given.get("add_zero_attn", False))
    if mask is None and given.get("is_causal", False):
        count, keys = scores.shape[-2:]
        mask = _ops.logical_not(_ops.tril(_ops.ones((count, keys - own), dtype=bool_, device=scores.device)))
    if mask is not None and rank_of(mask) == 3:
        mask = _ops.reshape(mask, (*scores.shape[:2], *mask.shape[1:]))
    if padding is not None:
        padding = padding if rank_of(padding) == 2 else _ops.expand_dims(padding, (0,))
        padding = _ops.expand_dims(padding, (1, 2))
    for one in (mask, padding):
        if one is not None:
            hides = one.dtype is bool_
            one = _ops.pad(one, (0, own)) if own else one  # nothing hides the operator's own keys
            scores = _ops.where(one, float("-inf"), scores) if hides else _ops.add(scores, one)
    return scores
