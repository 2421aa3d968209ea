# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils."""

from __future__ import annotations

import functools
from typing import Any

import tessera.nn.utils as _utils

from ..._names import NAMES
from ..._namespace import lookup
from ..._tensor import retyped
from . import rnn  # noqa: F401 (torch.nn.utils.rnn)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    return retyped(_utils.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite))


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    _utils.clip_grad_value_(parameters, clip_value)


def _find(name: str) -> Any:
    """A function of the library that PyTorch has, too, with PyTorch's tensors as results."""
    found: Any = getattr(_utils, name, None) if name in NAMES["nn.utils"] else None
    return found if found is None else functools.wraps(found)(lambda *args, **kwargs: retyped(found(*args, **kwargs)))


__getattr__, __dir__ = lookup(__name__, {}, _find)
