# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""vmap: a function of one sample, run on a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import _ops, _random
from .._core import is_tensor
from .._errors import ArgumentTypeError, InvalidValueError, OutOfRangeError, ShapeError
from . import _levels, _tree
from ._batched import make, of_level, physical
from ._levels import Level

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function over a batch: every operation in it runs once, on all samples.

    `in_dims` says along which axis each argument has its samples, None where it is the same for all; it is one value, or
    nested like the arguments. Keyword arguments have theirs along axis 0. `out_dims` says the same of the results.
    `randomness` says what random functions do: raise ("error"), draw numbers for each sample ("different"), or the same
    for all ("same"). With `chunk_size`, at most so many samples run at a time.
    """
    if randomness not in RANDOMNESS:
        raise InvalidValueError(f"vmap(): randomness: expected one of {RANDOMNESS}, got {randomness!r}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise InvalidValueError(f"vmap(): chunk_size: expected None or an int above 0, got {chunk_size!r}")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = _tree.flatten((args, kwargs))
        axes = _in_axes(in_dims, args, kwargs, spec)
        size = _batch_size(leaves, axes)
        if chunk_size is not None and size > chunk_size:
            return _in_chunks(func, leaves, axes, spec, out_dims, randomness, chunk_size, size)
        return _run(func, leaves, axes, spec, out_dims, randomness, size)

    return wrapped


def _in_axes(in_dims: Any, args: tuple[Any, ...], kwargs: Any, spec: Any) -> list[Any]:
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    if not isinstance(in_dims, (int, tuple, type(None), dict)) or isinstance(in_dims, bool):
        raise ArgumentTypeError(f"vmap(): in_dims: expected an int, None or a tuple of them, got {type(in_dims).__name__}")
    if isinstance(in_dims, tuple) and len(in_dims) != len(args):
        raise InvalidValueError(f"vmap(): in_dims: expected {len(args)} entries, one for each argument, got {len(in_dims)}")
    first, second = spec.children
    found = _tree.spread(in_dims, first, "vmap(): in_dims", InvalidValueError) if args else []
    return found + [0] * second.leaves


def _batch_size(leaves: list[Any], axes: list[Any]) -> int:
    size: int | None = None
    for place, (leaf, axis) in enumerate(zip(leaves, axes)):
        if axis is None:
            continue
        if isinstance(axis, bool) or not isinstance(axis, int):
            raise ArgumentTypeError(f"vmap(): in_dims: expected ints and None, got {axis!r}")
        if not is_tensor(leaf):
            raise ArgumentTypeError(
                f"vmap(): in_dims is {axis} for an input of type {type(leaf).__name__}; only Tensors have samples along an "
                "axis, use in_dims=None for anything else"
            )
        rank = leaf.ndim
        if not -rank <= axis < rank:
            raise InvalidValueError(f"vmap(): in_dims: axis {axis} is out of range for an input of {rank} axes")
        found = int(leaf.shape[axis])
        if size is None:
            size = found
        elif size != found:
            raise ShapeError(
                f"vmap(): expected inputs of one batch size, got {size} and {found} (input {place} along axis {axis})"
            )
    if size is None:
        raise InvalidValueError("vmap(): no input has a batch: in_dims is None for all of them, or there are no Tensors")
    return size


def _run(
    func: Callable[..., Any], leaves: list[Any], axes: list[Any], spec: Any, out_dims: Any, randomness: str, size: int
) -> Any:
    with _levels.entered(size, randomness) as level:
        inputs = [leaf if axis is None else make(_front(leaf, axis), level) for leaf, axis in zip(leaves, axes)]
        args, kwargs = _tree.unflatten(inputs, spec)
        return _results(func(*args, **kwargs), out_dims, level)


def _front(tensor: Any, axis: int) -> Any:
    """The samples along the first axis."""
    return tensor if axis == 0 or axis == -tensor.ndim else _ops.moveaxis(tensor, axis, 0)


def _results(result: Any, out_dims: Any, level: Level) -> Any:
    leaves, spec = _tree.flatten(result)
    if isinstance(out_dims, list):
        out_dims = tuple(out_dims)
    axes = _tree.spread(out_dims, spec, "vmap(): out_dims", InvalidValueError)
    return _tree.unflatten([_result(leaf, axis, level) for leaf, axis in zip(leaves, axes)], spec)


def _result(leaf: Any, axis: Any, level: Level) -> Any:
    if not is_tensor(leaf):
        raise ArgumentTypeError(f"vmap(): expected the function to return Tensors, got {type(leaf).__name__}")
    if axis is None:
        if of_level(leaf, level):
            raise InvalidValueError("vmap(): out_dims is None for a result that varies with the samples")
        return leaf
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise ArgumentTypeError(f"vmap(): out_dims: expected ints and None, got {axis!r}")
    batch = physical(leaf) if of_level(leaf, level) else _ops.expand(leaf, (level.samples, *leaf.shape))
    if not -batch.ndim <= axis < batch.ndim:
        raise OutOfRangeError(f"vmap(): out_dims: axis {axis} is out of range for a result of {batch.ndim - 1} axes")
    return batch if axis in (0, -batch.ndim) else _ops.moveaxis(batch, 0, axis)


def _in_chunks(
    func: Callable[..., Any], leaves: list[Any], axes: list[Any], spec: Any, out_dims: Any, randomness: str, chunk: int,
    size: int,
) -> Any:
    parts: list[list[Any]] = []
    shape: Any = None
    generator = _random.default_generator
    state = generator.get_state() if randomness == "same" else None
    for start in range(0, size, chunk):
        if state is not None:
            generator.set_state(state)  # as if there were no chunks
        count = min(chunk, size - start)
        some = [leaf if axis is None else _ops.narrow(leaf, axis, start, count) for leaf, axis in zip(leaves, axes)]
        found, shape = _tree.flatten(_run(func, some, axes, spec, out_dims, randomness, count))
        parts.append(found)
    places = _tree.spread(tuple(out_dims) if isinstance(out_dims, list) else out_dims, shape, "vmap(): out_dims", InvalidValueError)
    joined = [
        items[0] if axis is None else _ops.concat(list(items), axis) for axis, items in zip(places, zip(*parts))
    ]
    return _tree.unflatten(joined, shape)
