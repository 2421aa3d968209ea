# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for training; rnn has those for sequences of several lengths."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _ops
from ..._errors import ArgumentTypeError, ShapeError, as_list
from ..._tensor import Tensor
from ..._modes import no_grad
from ..weight_norms import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm
from . import rnn

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scales the gradients of the parameters in place so that the norm of all of them is at most max_norm; returns the
    former norm. With error_if_nonfinite a NaN or infinite norm is an error, and nothing changes."""
    return _ops.clip_grad_norm(_listed(parameters), max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clips each element of the gradients of the parameters in place to [-clip_value, clip_value]."""
    _ops.clip_grad_value(_listed(parameters), clip_value)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters, one after the other; differentiable."""
    return _ops.concat([_ops.reshape(p, (-1,)) for p in _listed(parameters)], 0)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copies the elements of a vector into the parameters, one after the other."""
    listed = _listed(parameters)
    for tensor in (vec, *listed):
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"vector_to_parameters(): expected tensors, got {type(tensor).__name__}")
    size = sum(p.numel() for p in listed)
    if vec.shape != (size,):
        raise ShapeError(f"vector_to_parameters(): expected a vector of {size} elements, got shape {vec.shape}")
    with no_grad():
        begin = 0
        for p in listed:
            p.copy_(_ops.reshape(vec[begin : begin + p.numel()], p.shape))
            begin += p.numel()


def _listed(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else as_list(parameters, "parameters")
