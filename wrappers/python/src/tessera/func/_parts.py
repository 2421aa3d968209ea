# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Operators whose batching rule is "parts": they are made of other operators on samples, or have a form for the batch of
their own. A function here has the name of the operator, with `_` in place of a name that Python takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _ops
from .._core import TensorBase
from .._errors import InvalidValueError, ShapeError
from ._batched import make, of_level, physical
from ._dispatch import PARTS, Call, call, loop, wrapped
from ._rules import expanded, joined, padded, parted, pointwise, random, rank_of, reduced, shifted, whole

Rule = Callable[[Call], Any]


def part(*names: str) -> Callable[[Rule], Rule]:
    def add(rule: Rule) -> Rule:
        PARTS.update(dict.fromkeys(names, rule))
        return rule

    return add


# ---- products ----


@part("matmul", "mm", "bmm", "mv")
def matmul(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    if made.name != "matmul":
        ranks = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1)}[made.name]
        if (rank_of(a), rank_of(b)) != ranks:
            raise ShapeError(f"{made.name}(): expected tensors of {ranks[0]} and {ranks[1]} axes, got {a.shape} and {b.shape}")
    level = made.level
    left, right = rank_of(a), rank_of(b)
    if not left or not right:
        raise ShapeError("matmul(): expected at least one axis, got a tensor without")
    if not of_level(b, level):
        if right <= max(left, 2):  # the axis of the batch is one of those in front, or of the rows
            return make(_ops.matmul(physical(a), b), level)
    elif not of_level(a, level) and right == 1 and left == 2:
        return make(_ops.matmul(physical(b), _ops.matrix_transpose(a)), level)
    x = physical(a) if of_level(a, level) else a
    y = physical(b) if of_level(b, level) else b
    x = _ops.expand_dims(x, (-2,)) if left == 1 else x
    y = _ops.expand_dims(y, (-1,)) if right == 1 else y
    rank = max(left, right, 2)
    x = padded(x, rank) if of_level(a, level) else x
    y = padded(y, rank) if of_level(b, level) else y
    result = _ops.matmul(x, y)
    result = _ops.squeeze(result, (-1,)) if right == 1 else result
    result = _ops.squeeze(result, (-1 if right == 1 else -2,)) if left == 1 else result
    return make(result, level)


@part("linear")
def linear(made: Call) -> Any:
    x, weight, bias = made.given["input"], made.given["weight"], made.given.get("bias")
    if made.only("input") and rank_of(weight) == 2:
        return made.batched(input=physical(x))
    result = _ops.matmul(x, _ops.matrix_transpose(weight) if rank_of(weight) > 1 else weight)
    return result if bias is None else _ops.add(result, bias)


def _added(made: Call, product: Any) -> Any:
    beta, alpha = made.given.get("beta", 1), made.given.get("alpha", 1)
    product = product if alpha == 1 else _ops.multiply(product, alpha)
    if made.name.endswith("_"):
        total = product if beta == 0 else _ops.add(_ops.multiply(made.given["input"], beta), product)
        return made.given["input"].copy_(total)
    return product if beta == 0 else _ops.add(_ops.multiply(made.given["input"], beta), product)


@part("addmm", "addmm_")
def addmm(made: Call) -> Any:
    return _added(made, _ops.matmul(made.given["mat1"], made.given["mat2"]))


@part("addmv", "addmv_")
def addmv(made: Call) -> Any:
    return _added(made, _ops.matmul(made.given["mat"], made.given["vec"]))


@part("addr", "addr_")
def addr(made: Call) -> Any:
    return _added(made, _ops.outer(made.given["vec1"], made.given["vec2"]))


@part("baddbmm", "baddbmm_")
def baddbmm(made: Call) -> Any:
    return _added(made, _ops.matmul(made.given["batch1"], made.given["batch2"]))


@part("addbmm", "addbmm_")
def addbmm(made: Call) -> Any:
    return _added(made, _ops.sum(_ops.matmul(made.given["batch1"], made.given["batch2"]), 0))


@part("dot", "vdot")
def dot(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    if rank_of(a) != 1 or rank_of(b) != 1:
        raise ShapeError(f"{made.name}(): expected two vectors, got {a.shape} and {b.shape}")
    return _ops.matmul(_ops.conj(a) if made.name == "vdot" else a, b)


@part("outer")
def outer(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    if rank_of(a) != 1 or rank_of(b) != 1:
        raise ShapeError(f"outer(): expected two vectors, got {a.shape} and {b.shape}")
    return _ops.multiply(_ops.expand_dims(a, (1,)), b)


@part("inner")
def inner(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    if rank_of(a) == 0 or rank_of(b) == 0:
        return _ops.multiply(a, b)
    return _ops.tensordot(a, b, (-1,), (-1,))


@part("tensordot")
def tensordot(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    first = [shifted("tensordot", i, rank_of(a)) - 1 for i in as_list(made.given["input_axes"])]
    second = [shifted("tensordot", i, rank_of(b)) - 1 for i in as_list(made.given["other_axes"])]
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    left = letters[: rank_of(a)]
    right = list(letters[rank_of(a) : rank_of(a) + rank_of(b)])
    for i, j in zip(first, second):
        right[j] = left[i]
    kept = [c for i, c in enumerate(left) if i not in first] + [c for j, c in enumerate(right) if j not in second]
    return _ops.einsum(f"{left},{''.join(right)}->{''.join(kept)}", [a, b])


@part("einsum")
def einsum(made: Call) -> Any:
    equation, operands = made.given["equation"].replace(" ", ""), list(made.given["operands"])
    terms, arrow, result = equation.partition("->")
    inputs = terms.split(",")
    if not arrow:
        used = [c for c in terms if c.isalpha()]
        result = ("..." if "..." in terms else "") + "".join(sorted(c for c in set(used) if used.count(c) == 1))
    free = next((c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in equation), None)
    if free is None or len(inputs) != len(operands):
        return loop(made)
    named = [free + text if of_level(item, made.level) else text for text, item in zip(inputs, operands)]
    items = [physical(item) if of_level(item, made.level) else item for item in operands]
    return made.batched(equation=f"{','.join(named)}->{free}{result}", operands=items)


@part("kron")
def kron(made: Call) -> Any:
    a, b = made.given["input"], made.given["other"]
    rank = max(rank_of(a), rank_of(b))
    left, right = (1,) * (rank - rank_of(a)) + tuple(a.shape), (1,) * (rank - rank_of(b)) + tuple(b.shape)
    a = _ops.reshape(a, tuple(size for n in left for size in (n, 1)))
    b = _ops.reshape(b, tuple(size for n in right for size in (1, n)))
    return _ops.reshape(_ops.multiply(a, b), tuple(m * n for m, n in zip(left, right)))


@part("multi_dot")
def multi_dot(made: Call) -> Any:
    tensors = made.given["tensors"]
    result = tensors[0]
    for item in tensors[1:]:
        result = _ops.matmul(result, item)
    return result


@part("solve", "solve_triangular")
def solve(made: Call) -> Any:
    if rank_of(made.given["other"]) != 1:
        return pointwise(made)
    axis = -1 if made.given.get("left", True) else -2
    other = _ops.expand_dims(made.given["other"], (axis,))
    return _ops.squeeze(call(made.name, {**made.given, "other": other}), (axis,))


@part("lu_solve")
def lu_solve(made: Call) -> Any:
    other = made.given["other"]
    if rank_of(other) == 1:
        axis = -1 if made.given.get("left", True) else -2
        return _ops.squeeze(call(made.name, {**made.given, "other": _ops.expand_dims(other, (axis,))}), (axis,))
    changed = expanded(made)
    rank = max(rank_of(made.given["input"]), rank_of(other))
    ranks = {"input": rank, "pivots": rank - 1, "other": rank}
    return made.batched(**{name: padded(batch, ranks[name]) for name, batch in changed.items()})


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


# ---- convolutions ----


@part("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv(made: Call) -> Any:
    """The batch joins that of the images where the weights are the same for all samples, else the channels, in groups."""
    level, size = made.level, made.level.samples
    x, weight = made.given["input"], made.given["weight"]
    core = int(made.name[-2]) + 1
    single = rank_of(x) == core
    if size == 0 or not single and rank_of(x) != core + 1 or rank_of(weight) != core + 1:
        return loop(made)
    if made.only("input"):
        batch = physical(x)
        result = made.plain(input=batch if single else joined(batch))
        return make(result if single else parted(result, size), level)
    bias = made.given.get("bias")
    groups = int(made.given.get("groups", 1))
    weights = joined(whole(weight, level))
    batch = whole(x, level)  # (size, N, C, ...) or (size, C, ...)
    batch = _ops.expand_dims(batch, (1,)) if single else batch
    batch = _ops.moveaxis(batch, 0, 1)
    batch = _ops.reshape(batch, (batch.shape[0], size * batch.shape[2], *batch.shape[3:]))
    result = made.plain(input=batch, weight=weights, bias=None, groups=groups * size)
    result = _ops.reshape(result, (result.shape[0], size, result.shape[1] // size, *result.shape[2:]))
    samples = make(_ops.moveaxis(result, 1, 0), level)
    samples = _ops.squeeze(samples, (0,)) if single else samples
    return samples if bias is None else _ops.add(samples, _ops.reshape(bias, (bias.shape[0], *(1,) * (core - 1))))


@part("pad")
def pad(made: Call) -> Any:
    batch = physical(made.given["input"])
    mode = made.given.get("mode", "constant")
    if mode == "constant":
        return made.batched(input=batch)
    spatial = len(as_list(made.given["padding"])) // 2
    if rank_of(made.given["input"]) == spatial + 1:
        return made.batched(input=batch)
    if rank_of(made.given["input"]) == spatial + 2:
        return make(parted(made.plain(input=joined(batch)), made.level.samples), made.level)
    return loop(made)


# ---- normalization ----


def _affine(result: Any, weight: Any, bias: Any, shape: tuple[int, ...] | None) -> Any:
    """result * weight + bias, of which the latter may vary with the samples."""
    for value, function in ((weight, _ops.multiply), (bias, _ops.add)):
        if value is not None:
            result = function(result, value if shape is None else _ops.reshape(value, shape))
    return result


@part("layer_norm", "rms_norm")
def layer_norm(made: Call) -> Any:
    if made.only("input"):
        return made.batched(input=physical(made.given["input"]))
    if not made.of("input"):
        plain = {k: v for k, v in made.given.items() if k not in ("weight", "bias")}
        result = call(made.name, plain)
    else:
        bare = {k: v for k, v in made.given.items() if k not in ("weight", "bias")}
        result = make(call(made.name, {**bare, "input": physical(made.given["input"])}), made.level)
    return _affine(result, made.given.get("weight"), made.given.get("bias"), None)


def _by_channel(made: Call) -> tuple[int, ...]:
    x = made.given["input"]
    return (int(x.shape[1]), *(1,) * (rank_of(x) - 2))


@part("group_norm")
def group_norm(made: Call) -> Any:
    bare = {k: v for k, v in made.given.items() if k not in ("weight", "bias")}
    x = made.given["input"]
    if rank_of(x) < 2 or made.level.samples == 0:
        return loop(made)
    if not made.of("input"):
        result = call(made.name, bare)
    else:
        result = make(parted(call(made.name, {**bare, "input": joined(physical(x))}), made.level.samples), made.level)
    return _affine(result, made.given.get("weight"), made.given.get("bias"), _by_channel(made))


@part("batch_norm", "instance_norm")
def batch_norm(made: Call) -> Any:
    """The batch joins the channels: the statistics are those of one channel of one sample."""
    x, size = made.given["input"], made.level.samples
    mean, var = made.given.get("running_mean"), made.given.get("running_var")
    if rank_of(x) < (2 if made.name == "batch_norm" else 3) or size == 0:
        return loop(made)
    updates = made.given.get("training", False) if made.name == "batch_norm" else made.given.get("use_input_stats", True)
    if updates and any(t is not None and not of_level(t, made.level) for t in (mean, var)):
        raise InvalidValueError(
            f"vmap: {made.name}() would change running_mean and running_var, which are the same for all samples; use stacked "
            "buffers (func.stack_module_state), eval(), or a layer without running statistics"
        )
    batch = _ops.moveaxis(whole(x, made.level), 0, 1)
    shape = batch.shape
    batch = _ops.reshape(batch, (shape[0], shape[1] * shape[2], *shape[3:]))
    changed: dict[str, Any] = {"input": batch, "weight": None, "bias": None}
    for name, value in (("running_mean", mean), ("running_var", var)):
        if value is not None:
            changed[name] = _ops.reshape(_ops.contiguous(whole(value, made.level)), (-1,))
    result = _ops.reshape(made.plain(**changed), shape)
    for name, value in (("running_mean", mean), ("running_var", var)):
        if updates and value is not None and not physical(value)._contiguous:
            _ops_copy(physical(value), _ops.reshape(changed[name], physical(value).shape))
    samples = make(_ops.moveaxis(result, 1, 0), made.level)
    return _affine(samples, made.given.get("weight"), made.given.get("bias"), _by_channel(made))


def _ops_copy(target: Any, value: Any) -> None:
    TensorBase.copy_(target, value)


@part("prelu")
def prelu(made: Call) -> Any:
    x, weight = made.given["input"], made.given["weight"]
    if rank_of(x) > 1 and weight.numel() > 1:
        weight = _ops.reshape(weight, (weight.shape[0], *(1,) * (rank_of(x) - 2)))
    elif rank_of(weight) == 1 and rank_of(x) == 0:
        weight = _ops.reshape(weight, ())
    return _ops.where(_ops.less(x, 0), _ops.multiply(x, weight), x)


# ---- losses over classes ----


@part("cross_entropy", "nll_loss")
def cross_entropy(made: Call) -> Any:
    x, target, weight = made.given["input"], made.given["target"], made.given.get("weight")
    reduction = made.given.get("reduction", "mean")
    if rank_of(x) == 0 or made.level.samples == 0:
        return loop(made)
    if made.of("weight"):
        return _with_own_weights(made)
    single = rank_of(x) == 1
    batch, targets = whole(x, made.level), whole(target, made.level)
    if not single:
        batch, targets = joined(batch), joined(targets)
    losses = made.plain(input=batch, target=targets, reduction="none")
    losses = losses if single else parted(losses, made.level.samples)
    if reduction != "mean":
        return reduced(losses, reduction, made.level)
    losses = make(losses, made.level)
    if target.dtype.is_floating_point:  # probabilities
        count = 1
        for size in (x.shape[0], *x.shape[2:]) if not single else ():
            count *= size
        return _ops.divide(_ops.sum(losses), count)
    valid = _ops.not_equal(target, made.given.get("ignore_index", -100))
    if weight is None:
        counts = _ops.astype(valid, losses.dtype)
    else:
        known = _ops.where(valid, target, _ops.zeros_like(target))
        counts = _ops.where(valid, weight[known], _ops.zeros((), dtype=weight.dtype))
    return _ops.divide(_ops.sum(losses), _ops.sum(counts))


def _with_own_weights(made: Call) -> Any:
    """The loss made of logarithms, where the weights of the classes vary with the samples."""
    given, single = made.given, rank_of(made.given["input"]) == 1
    target, smoothing = given["target"], float(given.get("label_smoothing", 0))
    x = _ops.expand_dims(given["input"], (0,)) if single else given["input"]
    target = _ops.expand_dims(target, (0,)) if single else target
    weight = _ops.reshape(given["weight"], (-1, *(1,) * (rank_of(x) - 2)))
    scores = _ops.negative(_ops.log_softmax(x, 1) if made.name == "cross_entropy" else x)
    count, classes = 1, int(x.shape[1])
    if target.dtype.is_floating_point:  # probabilities
        chances = target if not smoothing else _ops.add(_ops.multiply(target, 1 - smoothing), smoothing / classes)
        losses = _ops.sum(_ops.multiply(_ops.multiply(scores, chances), weight), 1)
        for size in losses.shape:
            count *= int(size)
        counted: Any = count
    else:
        valid = _ops.not_equal(target, given.get("ignore_index", -100))
        known = _ops.expand_dims(_ops.where(valid, target, _ops.zeros_like(target)), (1,))
        own = _ops.squeeze(_ops.take_along_axis(_ops.expand(weight, scores.shape), known, 1), (1,))
        own = _ops.where(valid, own, _ops.zeros_like(own))
        losses = _ops.multiply(_ops.squeeze(_ops.take_along_axis(scores, known, 1), (1,)), own)
        if smoothing:
            spread = _ops.where(valid, _ops.sum(_ops.multiply(scores, weight), 1), _ops.zeros_like(losses))
            losses = _ops.add(_ops.multiply(losses, 1 - smoothing), _ops.multiply(spread, smoothing / classes))
        counted = _ops.sum(own)
    reduction = given.get("reduction", "mean")
    if reduction == "none":
        return _ops.squeeze(losses, (0,)) if single else losses
    total = _ops.sum(losses)
    return total if reduction == "sum" else _ops.divide(total, counted)


# ---- attention, cells ----


@part("scaled_dot_product_attention")
def attention(made: Call) -> Any:
    if float(made.given.get("dropout_p", 0)) > 0:
        return random(made)
    names = ("query", "key", "value")
    rank = max(rank_of(made.given[name]) for name in names)
    changed = {name: padded(batch, rank) for name, batch in expanded(made, names).items()}
    if made.of("attn_mask"):
        changed["attn_mask"] = padded(physical(made.given["attn_mask"]), rank)
    return made.batched(**changed)


@part("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell(made: Call) -> Any:
    if not made.only("input", "hx") or made.level.samples == 0:
        return loop(made)
    single = rank_of(made.given["input"]) == 1
    x, state = whole(made.given["input"], made.level), whole(made.given["hx"], made.level)
    if single:
        return made.batched(input=x, hx=state)
    state = [joined(s) for s in state] if isinstance(state, list) else joined(state)
    return wrapped(parted(made.plain(input=joined(x), hx=state), made.level.samples), made.level)


@part("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(made: Call) -> Any:
    """The batch joins that of the sequences: of an input (time, batch, features), or (batch, time, features)."""
    level, size = made.level, made.level.samples
    if not made.only("input", "hx") or made.given.get("batch_sizes") is not None or size == 0:
        return loop(made)
    single = rank_of(made.given["input"]) == 2
    axis = 0 if made.given.get("batch_first", False) and not single else 1

    def together(value: Any, axis: int) -> Any:
        batch = whole(value, level)
        batch = _ops.expand_dims(batch, (axis + 1,)) if single else batch
        batch = _ops.moveaxis(batch, 0, axis)
        return _ops.reshape(batch, (*batch.shape[:axis], size * batch.shape[axis + 1], *batch.shape[axis + 2 :]))

    def apart(result: Any, axis: int) -> Any:
        shape = (size, result.shape[axis] // size)
        parts = _ops.moveaxis(_ops.reshape(result, (*result.shape[:axis], *shape, *result.shape[axis + 1 :])), axis, 0)
        return _ops.squeeze(parts, (axis + 1,)) if single else parts

    hx = made.given["hx"]
    states = [together(state, 1) for state in hx] if isinstance(hx, (list, tuple)) else together(hx, 1)
    results = made.plain(input=together(made.given["input"], axis), hx=states, **({"batch_first": False} if single else {}))
    items = [make(apart(result, axis if place == 0 else 1), level) for place, result in enumerate(results)]
    return type(results)(*items)


@part("bilinear")
def bilinear(made: Call) -> Any:
    if not made.only("input1", "input2"):
        return loop(made)
    return made.batched(**expanded(made, ("input1", "input2")))
