# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils."""

from __future__ import annotations

from typing import Any

import tessera.nn.utils as _utils

from ..._namespace import lookup
from ..._tensor import retyped


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    return retyped(_utils.clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite))


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    _utils.clip_grad_value_(parameters, clip_value)


_NAMES = "parameters_to_vector vector_to_parameters weight_norm remove_weight_norm spectral_norm remove_spectral_norm"
__getattr__, __dir__ = lookup(__name__, {}, lambda name: getattr(_utils, name, None) if name in _NAMES.split() else None)
