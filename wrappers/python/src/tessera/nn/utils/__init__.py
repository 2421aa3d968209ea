# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for training; rnn has those for sequences of several lengths."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _ops
from ..._errors import as_list
from ..._tensor import Tensor
from . import rnn

__all__ = ["clip_grad_norm_", "clip_grad_value_", "rnn"]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scales the gradients of the parameters in place so that the norm of all of them is at most max_norm; returns the
    former norm. With error_if_nonfinite a NaN or infinite norm is an error, and nothing changes."""
    return _ops.clip_grad_norm(_listed(parameters), max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Clips each element of the gradients of the parameters in place to [-clip_value, clip_value]."""
    _ops.clip_grad_value(_listed(parameters), clip_value)


def _listed(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else as_list(parameters, "parameters")
