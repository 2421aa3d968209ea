# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers for training."""

from __future__ import annotations

from collections.abc import Iterable

from .. import _ops
from .._tensor import Tensor


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scales the gradients in place so that their joint norm is at most max_norm; returns the norm before."""
    items = [parameters] if isinstance(parameters, Tensor) else parameters
    grads = [grad for p in items if (grad := p.grad) is not None]
    if not grads:
        return _ops.zeros(())
    return _ops.clip_grad_norm(grads, max_norm, norm_type)
