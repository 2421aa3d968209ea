# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions of any number of tensors, and those that split by a number or by indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _ops
from ._core import is_tensor
from ._errors import ArgumentTypeError, InvalidValueError, ShapeError, as_int, as_list

if TYPE_CHECKING:
    from ._tensor import Tensor

# ---- any number of tensors: f(a, b), as the array API standard has it, or f([a, b]) ----


def _listed(tensors: tuple[Any, ...]) -> Sequence[Tensor]:
    """The tensors of a call, which may be one list of them."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of all tensors under the shape that they broadcast to."""
    return _ops.broadcast_tensors(_listed(tensors))


broadcast_arrays = broadcast_tensors


def meshgrid(*tensors: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid; with "xy" the first vector runs along axis 1, with "ij" along axis 0."""
    return _ops.meshgrid(_listed(tensors), indexing)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All choices of one element of each vector, as rows."""
    return _ops.cartesian_prod(_listed(tensors))


def block_diag(*tensors: Any) -> Tensor:
    """Matrices along the diagonal of one matrix."""
    return _ops.block_diag(_listed(tensors))


def _each(function: Any, tensors: tuple[Any, ...]) -> Any:
    """One result for one tensor, a tuple for several."""
    if len(tensors) == 1 and is_tensor(tensors[0]):
        return function(tensors[0])
    return tuple(function(tensor) for tensor in _listed(tensors))


def atleast_1d(*tensors: Any) -> Any:
    """The tensor, or each of several, with at least one axis."""
    return _each(_ops.atleast_1d, tensors)


def atleast_2d(*tensors: Any) -> Any:
    """The tensor, or each of several, with at least two axes."""
    return _each(_ops.atleast_2d, tensors)


def atleast_3d(*tensors: Any) -> Any:
    """The tensor, or each of several, with at least three axes."""
    return _each(_ops.atleast_3d, tensors)


# ---- splitting by a number of parts or by indices ----


def tensor_split(
    input: Tensor, indices_or_sections: Any, axis: int = 0, *, dim: int | None = None
) -> tuple[Tensor, ...]:
    """Parts along an axis: so many of nearly one size, or cut at indices."""
    place = axis if dim is None else dim
    given = indices_or_sections
    if is_tensor(given) and given.ndim == 1:
        given = given.tolist()
    if isinstance(given, (list, tuple)):
        return _ops.tensor_split_at(input, as_list(given, "tensor_split()"), place)
    return _ops.tensor_split_sections(input, as_int(given, "tensor_split()"), place)


def _split(name: str, input: Tensor, indices_or_sections: Any, axis: int, least: int) -> tuple[Tensor, ...]:
    """As tensor_split, but a number of parts must divide the axis."""
    if not is_tensor(input):
        raise ArgumentTypeError(f"{name}(): expected a tensor, got {type(input).__name__}")
    if input.ndim < least:
        raise ShapeError(f"{name}(): expected at least {least} axes, got shape {input.shape}")
    if not isinstance(indices_or_sections, (list, tuple)) and not is_tensor(indices_or_sections):
        sections = as_int(indices_or_sections, f"{name}()")
        if sections < 1 or input.shape[axis] % sections:
            raise InvalidValueError(
                f"{name}(): expected a number of equal parts of {input.shape[axis]}, got {sections}"
            )
    return tensor_split(input, indices_or_sections, axis)


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along axis 1, of a vector along its only axis."""
    return _split("hsplit", input, indices_or_sections, 0 if getattr(input, "ndim", 1) == 1 else 1, 1)


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along axis 0 of a tensor of at least two axes."""
    return _split("vsplit", input, indices_or_sections, 0, 2)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Parts along axis 2 of a tensor of at least three axes."""
    return _split("dsplit", input, indices_or_sections, 2, 3)


if TYPE_CHECKING:  # made in C: native/overloads.c

    @overload
    def where(condition: Any, /) -> tuple[Tensor, ...]: ...

    @overload
    def where(condition: Any, input: Any, other: Any, *, out: Tensor | None = None) -> Tensor: ...

    def where(*args: Any, **options: Any) -> Any: ...

else:
    where = _ops.where
