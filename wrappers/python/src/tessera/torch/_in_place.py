# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Methods that give a tensor another shape in place, or no history, and comparisons in place."""

from __future__ import annotations

import math
from typing import Any

from .. import _ops
from .._core import TensorBase, is_grad_enabled
from .._errors import AutogradError
from .._modes import enable_grad
from ..capi import lib
from ..func._batched import Batched
from ..func._levels import innermost_is_forward


def _become(input: Any, tensor: Any) -> None:
    """The object of a computed tensor becomes that of another one; a sample of vmap gets the other batch."""
    if isinstance(input, Batched):
        input._physical = tensor._physical
    else:
        input._rebind(tensor)


def reshaped(input: Any, view: Any) -> Any:
    """The tensor itself with the shape of a view of it: the methods that change a shape in place. The object of a tensor with
    a history becomes one of the view, so that the change is part of the history."""
    if input.is_leaf:
        if input.requires_grad and is_grad_enabled():
            raise AutogradError("a leaf that requires grad cannot change its shape in place")
        input.data = _ops.detach(view)
        return input
    if not is_grad_enabled():  # the shape belongs to the history all the same
        with enable_grad():
            view = _ops.as_strided(input, view.shape, TensorBase.stride(view), TensorBase.storage_offset(view))
    kept = input.retains_grad
    _become(input, view)
    if kept:
        input.retain_grad()
    return input


def resized(input: Any, size: tuple[int, ...]) -> Any:
    """resize_: the first elements stay, new ones are not initialised."""
    if input.requires_grad:
        raise AutogradError("resize_(): cannot resize a tensor that requires grad")
    if input.shape == tuple(size):
        return input
    count, kept = math.prod(size), TensorBase.numel(input)
    dense = input.detach().contiguous()
    if count == kept:
        return reshaped(input, _ops.reshape(dense, tuple(size)))
    flat = dense.reshape(-1)
    if count > kept:
        flat = _ops.concat([flat, input.new_empty(count - kept)])
    return reshaped(input, _ops.reshape(flat[:count], tuple(size)))


def constant(input: Any) -> Any:
    """detach: the same memory without history, and without the tangents of forward mode, which the library's detach keeps."""
    return TensorBase.detach(input) if lib.tsr_forward_level() < 0 else input.data


def detached(input: Any) -> Any:
    """detach_: the object of a computed tensor becomes one of the tensor without history and tangents."""
    if input._view:
        raise AutogradError("detach_(): a view cannot be detached in place; use detach()")
    if input.is_leaf and (input.requires_grad or lib.tsr_forward_level() < 0):
        return input.requires_grad_(False)
    _become(input, _bare(input))
    return input


def _bare(input: Any) -> Any:
    """The tensor without what the innermost transform of torch.func follows, or without all of it outside."""
    forward = innermost_is_forward()
    if forward is None:
        return constant(input)
    if not forward:
        return TensorBase.detach(input)
    from ..func._grad import primal  # which imports much that few programs need

    return primal(input)


def compared_here(compare: Any, input: Any, other: Any) -> Any:
    """eq_ and its kin: many truths are written into the tensor at once. For histories, tangents, samples and operands of more
    axes copy_ says what becomes of them."""
    if TensorBase.numel(input) >= 4096 and not input.requires_grad:
        shape = getattr(other, "shape", ())
        plain = not isinstance(input, Batched) and not isinstance(other, Batched)
        if plain and (not shape or shape == input.shape) and lib.tsr_forward_level() < 0:
            return compare(input, other, out=input)
    return TensorBase.copy_(input, compare(input, other))


__all__ = ["compared_here", "constant", "detached", "reshaped", "resized"]
