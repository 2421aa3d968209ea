# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of PyTorch whose meaning follows from which arguments are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _ops
from ._core import is_tensor
from ._errors import InvalidValueError, as_int, as_list
from ._interop import asarray

if TYPE_CHECKING:
    from ._random import Generator
    from ._tensor import Tensor


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor from numbers, sequences, arrays and buffers; shares memory unless a copy is needed."""
    return asarray(data, dtype=dtype, device=device)


def empty_permuted(
    shape: Sequence[int], layout: Sequence[int], *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A tensor without values whose axes lie in memory in the order of `layout`, from the outermost to the innermost."""
    sizes, order = as_list(shape, "empty_permuted()"), [as_int(i, "empty_permuted()") for i in as_list(layout, "empty_permuted()")]
    if sorted(order) != list(range(len(sizes))):
        raise InvalidValueError(f"empty_permuted(): expected each axis of {tuple(sizes)} once, got {tuple(order)}")
    made = _ops.empty([sizes[i] for i in order], dtype=dtype, device=device)
    made = made.permute_dims([order.index(i) for i in range(len(order))])
    if requires_grad:
        made.requires_grad = True
    return made


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """take_along_axis; without an axis, of both tensors flattened."""
    if dim is None:
        return _ops.take_along_axis(input.reshape(-1), indices.reshape(-1), 0, out=out)
    return _ops.take_along_axis(input, indices, dim, out=out)


def repeat_interleave(
    input: Tensor, repeats: Tensor | int | None = None, dim: int | None = None, *, axis: int | None = None,
    output_size: int | None = None,
) -> Tensor:
    """repeat; of one tensor of counts, each position as often as its count says. `output_size` is what must come out."""
    place = axis if dim is None else dim
    if repeats is None:
        result = _ops.repeat(asarray(range(input.shape[0]) if input.ndim else [], device=input.device), input, axis=0)
    else:
        result = _ops.repeat(input, repeats, axis=place)
    size = result.shape[0 if place is None else place]
    if output_size is not None and size != as_int(output_size, "repeat_interleave()"):
        raise InvalidValueError(f"repeat_interleave(): expected output_size {size}, got {output_size}")
    return result


def bernoulli_(input: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Overwrites the tensor with 1 with probability p, which may differ from element to element, else 0."""
    if is_tensor(p):
        return input.copy_(_ops.bernoulli(p.expand(input.shape), generator=generator))  # type: ignore[union-attr]
    return _ops.bernoulli_(input, p, generator=generator)  # type: ignore[arg-type]
