# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The batching rules that the schema names: how an operator on one sample becomes the same operator on the batch.

Every rule gets tensors whose first axis is that of the level (`physical`) and gives results of that form.
"""

from __future__ import annotations

from typing import Any

from .. import _ops, _random
from .._core import is_tensor
from .._dtypes import complex64
from .._errors import NotSupportedError, OutOfRangeError
from . import _levels
from ._batched import Batched, make, of_level, physical
from ._dispatch import DRAWS, RULES, Call, call, loop, refuse_write, sample, stacked, wrapped
from ._levels import Level

LAST_TWO = ("fft2", "ifft2", "rfft2", "irfft2")  # None as their axes means the last two


# ---- arguments as whole batches ----


def rank_of(value: Any) -> int:
    """The number of axes of one sample."""
    return int(value.ndim) if is_tensor(value) else 0


def whole(value: Any, level: Level, expand: bool = True) -> Any:
    """The batch of an argument; one that does not vary with the samples is repeated, with stride 0."""
    if isinstance(value, (list, tuple)):
        return [whole(item, level, expand) for item in value]
    if of_level(value, level):
        return physical(value)
    if expand and is_tensor(value):
        return _ops.expand(value, (level.samples, *value.shape))
    return value


def padded(batch: Any, rank: int) -> Any:
    """A batch of samples with axes of size 1 in front, so that each has `rank` of them."""
    missing = rank + 1 - batch.ndim
    return batch if missing <= 0 else _ops.expand_dims(batch, tuple(range(1, 1 + missing)))


def aligned(made: Call, names: tuple[str, ...] | None = None, expand: bool = False) -> tuple[dict[str, Any], int]:
    """The tensors so that they broadcast as the samples do, and the number of axes of the broadcast sample."""
    names = made.tensors if names is None else names
    rank = max((rank_of(made.given.get(name)) for name in names), default=0)
    found = {}
    for name in names:
        value = made.given.get(name)
        if of_level(value, made.level) or expand and is_tensor(value):
            found[name] = padded(whole(value, made.level), rank)
    return found, rank


def expanded(made: Call, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    names = made.tensors if names is None else names
    return {name: whole(made.given[name], made.level) for name in names if made.given.get(name) is not None}


def shifted(name: str, axis: Any, rank: int) -> int:
    """An axis of a sample as one of the batch."""
    index = axis.__index__()
    limit = max(rank, 1)
    if not -limit <= index < limit:
        raise OutOfRangeError(f"{name}(): axis {index} is out of range for {rank} axes")
    return int(index % limit) + 1


def _has(made: Call, name: str, default: Any) -> Any:
    return made.given.get(name, default)


# ---- pointwise ----


def pointwise(made: Call) -> Any:
    if len(made.tensors) == 1:
        name = made.tensors[0]
        return made.batched(**{name: physical(made.given[name])})
    if len(made.tensors) == 2 and _of_two_dtypes(made):
        return _promoted(made)
    return made.batched(**aligned(made)[0])


def _of_two_dtypes(made: Call) -> bool:
    """Whether two tensors of a dialect are promoted, where one without axes is weak (Note [Weak operands] in native.h)."""
    pair: list[Any] = [made.given.get(name) for name in made.tensors]
    first, second = pair
    if not is_tensor(first) or not is_tensor(second) or first.dtype is second.dtype:
        return False
    return any(getattr(type(t), "_weak_without_axes", False) for t in (first, second))


def _kind(dtype: Any) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype.name == "bool" else 1


def _promoted(made: Call) -> Any:
    """Which operand is weak, the axes of the sample say, not those of the batch."""
    names = made.tensors
    given = [made.given[name] for name in names]
    bare = [rank_of(t) == 0 for t in given]
    weak = 1 if made.name.endswith("_") else bare.index(True) if True in bare else 0
    if bare[weak] and not bare[1 - weak]:
        own, strong = given[weak].dtype, given[1 - weak].dtype
        if _kind(own) <= _kind(strong):
            made = Call(made.name, {**made.given, names[weak]: _ops.astype(given[weak], strong)}, made.level)
        elif own.name == "complex128" and _kind(strong) == 2 and strong.itemsize < 8:
            made = Call(made.name, {**made.given, names[weak]: _ops.astype(given[weak], complex64)}, made.level)
    changed, _ = aligned(made)
    if all(bare):  # one that is the same for all samples stays as strong as the others
        changed.update({n: _ops.expand_dims(t, (0,)) for n, t in zip(names, given) if n not in changed})
    return made.batched(**changed)


# ---- along axes ----


def axes(made: Call) -> Any:
    changed, rank = aligned(made, expand=True)
    if rank == 0:
        return _of_numbers(made, changed)
    flat = False
    for name, default, many in made.axes:
        value = _has(made, name, default)
        if value is None and many:
            if made.name in LAST_TWO:
                continue
            count = rank if made.given.get("s") is None else len(made.given["s"])
            changed[name] = tuple(range(rank + 1 - count, rank + 1))
        elif value is None:
            flat = True
            changed[name] = 1
        elif isinstance(value, (tuple, list)):
            changed[name] = tuple(shifted(made.name, axis, rank) for axis in value)
        else:
            changed[name] = shifted(made.name, value, rank)
    if flat:
        return _flattened(made, changed, rank)
    return made.batched(**changed)


def _of_numbers(made: Call, changed: dict[str, Any], bare: bool = True) -> Any:
    """Samples of no axes: they get one, along which the operator runs."""
    changed = {name: _ops.expand_dims(batch, (1,)) if bare else batch for name, batch in changed.items()}
    for name, default, many in made.axes:
        value = _has(made, name, default)
        for axis in value if isinstance(value, (tuple, list)) else (value,):
            if axis is not None:
                shifted(made.name, axis, 0)
        changed[name] = (1,) if many else 1
    result = made.plain(**changed)
    # What is gathered has the axes of the index.
    index = made.given.get("indices", made.given.get("index"))
    kept = made.name in ("gather", "take_along_axis") and rank_of(index) > 0
    return wrapped(result if kept else _without_axis(result), made.level)


def _without_axis(result: Any) -> Any:
    if isinstance(result, tuple):
        items = [_without_axis(item) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    return _ops.squeeze(result, (1,)) if result.ndim > 1 and result.shape[1] == 1 else result


def _flattened(made: Call, changed: dict[str, Any], rank: int) -> Any:
    """No axis: along all elements of a sample."""
    keepdims = bool(made.given.get("keepdims", False))
    tensors = [name for name, batch in changed.items() if is_tensor(batch)]
    if len(tensors) > 1:
        changed.update(zip(tensors, _ops.broadcast_tensors([changed[name] for name in tensors])))
    for name, batch in changed.items():
        if is_tensor(batch):
            changed[name] = _ops.reshape(batch, (batch.shape[0], -1))
    result = made.plain(**changed)
    if keepdims:
        result = _ops.reshape(result, (made.level.samples, *(1,) * rank))
    return wrapped(result, made.level)


def new_axes(made: Call) -> Any:
    """Axes that count in the result, which has more of them than the sample."""
    batch = physical(made.given["input"])
    rank = batch.ndim - 1
    values = [_has(made, name, default) for name, default, _ in made.axes]
    count = sum(len(v) if isinstance(v, (tuple, list)) else 1 for v in values) if made.name != "diag_embed" else 1
    changed: dict[str, Any] = {"input": batch}
    for (name, _, _), value in zip(made.axes, values):
        if isinstance(value, (tuple, list)):
            changed[name] = tuple(shifted(made.name, axis, rank + count) for axis in value)
        else:
            changed[name] = shifted(made.name, value, rank + count)
    return made.batched(**changed)


def expand(made: Call) -> Any:
    """Tensors of one form for all samples: those that are the same for all are repeated."""
    changed = expanded(made)
    first = next(iter(made.given.values()))
    rank = rank_of(first[0] if isinstance(first, (list, tuple)) else first)
    if rank == 0 and made.axes and not any(isinstance(v, list) for v in changed.values()):
        bare = {n: _ops.expand_dims(t, (1,)) if is_tensor(t) and t.ndim == 1 else t for n, t in changed.items()}
        return _of_numbers(made, bare, False)
    for name, default, _ in made.axes:
        value = _has(made, name, default)
        if value is None:
            return loop(made)
        changed[name] = shifted(made.name, value, rank)
    return made.batched(**changed)


# ---- shapes ----


def view(made: Call) -> Any:
    batch = physical(made.given["input"])
    shape = made.given["shape"]
    shape = (shape,) if hasattr(shape, "__index__") and not isinstance(shape, (tuple, list)) else tuple(shape)
    if made.name in ("expand", "broadcast_to"):
        batch = padded(batch, len(shape))
    if made.name in ("reshape", "view") and -1 in shape and batch.shape[0] == 0:
        known = -int(_ops.empty(shape).numel()) if -1 not in shape else 1
        for size in shape:
            known *= max(int(size), 1)
        total = 1
        for size in batch.shape[1:]:
            total *= size
        shape = tuple(total // known if size == -1 else size for size in shape)
    return made.batched(input=batch, shape=(made.level.samples, *shape))


# ---- the axis of the batch joined with one of the operator ----


def joined(batch: Any) -> Any:
    return _ops.reshape(batch, (batch.shape[0] * batch.shape[1], *batch.shape[2:]))


def parted(result: Any, size: int) -> Any:
    if isinstance(result, tuple):
        items = [parted(item, size) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    return _ops.reshape(result, (size, result.shape[0] // max(size, 1), *result.shape[1:]))


def _fold(made: Call, **more: Any) -> tuple[Any, bool] | None:
    """The results, and whether samples have their own batch axis; None where the rule does not apply."""
    if not made.only(*made.folded) or made.level.samples == 0:
        return None
    rank = rank_of(made.given[made.folded[0]])
    changed = expanded(made, made.folded)
    if made.rank and rank == made.rank:
        return made.plain(**changed, **more), False
    if rank < 1 or (made.rank and rank != made.rank + 1):
        call(made.name, {k: sample(v, made.level, 0) for k, v in made.given.items()})  # says what is wrong
        return None
    changed = {name: joined(batch) for name, batch in changed.items()}
    return parted(made.plain(**changed, **more), made.level.samples), True


def fold(made: Call) -> Any:
    found = _fold(made)
    return loop(made) if found is None else wrapped(found[0], made.level)


# ---- losses ----


def reduced(losses: Any, reduction: str, level: Level) -> Any:
    """The mean or sum of the losses of each sample, or all of them."""
    made = make(losses, level)
    if reduction == "none" or rank_of(made) == 0:
        return made
    if reduction == "batchmean":
        return _ops.divide(_ops.sum(made), made.shape[0])
    return _ops.sum(made) if reduction == "sum" else _ops.mean(made)


def loss(made: Call) -> Any:
    rank = max(rank_of(made.given.get(name)) for name in made.tensors)
    found = expanded(made)
    found.update({name: padded(found[name], rank) for name in ("weight", "pos_weight") if name in found})
    return reduced(made.plain(**found, reduction="none"), made.given.get("reduction", "mean"), made.level)


def fold_loss(made: Call) -> Any:
    found = _fold(made, reduction="none")
    return loop(made) if found is None else reduced(found[0], made.given.get("reduction", "mean"), made.level)


# ---- random numbers ----

DRAWS.update(
    {
        **dict.fromkeys(
            ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "dropout_", "dropout1d_",
             "dropout2d_", "dropout3d_", "alpha_dropout_", "feature_alpha_dropout_"),
            lambda given: bool(given.get("training", True)) and 0 < float(given.get("p", 0.5)) < 1,
        ),
        **dict.fromkeys(
            ("scaled_dot_product_attention", "multi_head_attention"), lambda given: float(given.get("dropout_p", 0)) > 0
        ),
        **dict.fromkeys(
            ("lstm", "gru", "rnn_tanh", "rnn_relu"),
            lambda given: bool(given.get("train", False)) and float(given.get("dropout", 0)) > 0,
        ),
    }
)  # fmt: skip
# Draws that look at a whole tensor, not at each of its elements: one call for each sample.
SEPARATE = (
    "multi_head_attention", "lstm", "gru", "rnn_tanh", "rnn_relu", "sparse_", "orthogonal_", "multinomial",
    "feature_alpha_dropout", "feature_alpha_dropout_", "dropout1d", "dropout2d", "dropout3d", "dropout1d_", "dropout2d_",
    "dropout3d_", "randperm",
)  # fmt: skip


def random(made: Call) -> Any:
    level = _levels.visible()
    if level is None:
        return _unseen(made)
    if level.randomness == "error":
        raise NotSupportedError(
            f"vmap: {made.name}() draws random numbers; say randomness='different' (of their own for each sample) or "
            "'same' (the same ones for all) to vmap"
        )
    return _each(made, level) if level.randomness == "different" else _alike(made, level)


def _unseen(made: Call) -> Any:
    """With no vmap around, or only those that the caller has dealt with."""
    if any(isinstance(v, Batched) for v in made.given.values()):
        raise NotSupportedError(f"vmap: {made.name}() of a tensor of another level")
    with _levels.hidden():
        return call(made.name, made.given)


def _each(made: Call, level: Level) -> Any:
    """Numbers of their own for each sample: one call for the batch."""
    with _levels.outside():
        given = dict(made.given)
        inplace = made.name.endswith("_") and "input" in given
        if inplace and not of_level(given["input"], level):
            refuse_write(made.name)
        if made.name in SEPARATE:
            results = [call(made.name, {k: sample(v, level, i) for k, v in given.items()}) for i in range(level.samples)]
            return given["input"] if inplace else wrapped(stacked(made.name, results), level)
        if inplace:
            call(made.name, {**given, "input": physical(given["input"])})
            return given["input"]
        if made.tensors:
            changed = {n: whole(given[n], level) for n in made.tensors if is_tensor(given.get(n))}
            rank = max(rank_of(given[n]) for n in changed)
            changed = {n: padded(t, rank) for n, t in changed.items()}
            if made.name == "gumbel_softmax":
                changed["axis"] = shifted(made.name, given.get("axis", -1), rank)
            return make(call(made.name, {**given, **changed}), level)
        shape = given["shape"]
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return make(call(made.name, {**given, "shape": (level.samples, *shape)}), level)


def _alike(made: Call, level: Level) -> Any:
    """The same numbers for every sample: the generator begins each of them in the same state."""
    with _levels.outside():
        if not any(of_level(v, level) for v in made.given.values()):
            return call(made.name, made.given)
        generator = made.given.get("generator") or _random.default_generator
        start = generator.get_state()
        results = []
        for index in range(level.samples):
            generator.set_state(start)
            results.append(call(made.name, {k: sample(v, level, index) for k, v in made.given.items()}))
        return made.wrapped(stacked(made.name, results))


RULES.update(
    pointwise=pointwise, trailing=pointwise, reduce=axes, axes=axes, new_axes=new_axes, view=view, expand=expand, fold=fold,
    loss=loss, fold_loss=fold_loss, parts=loop, random=random, create=loop, loop=loop,
)  # fmt: skip
