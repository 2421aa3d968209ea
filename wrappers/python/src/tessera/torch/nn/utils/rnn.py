# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.utils.rnn."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ..._names import NAMES
from ..._namespace import lookup
from ..._tensor import retyped


def _find(name: str) -> Any:
    """The library's class, or its function with PyTorch's tensors as results."""
    try:
        found: Any = getattr(importlib.import_module("tessera.nn.utils.rnn"), name, None)
    except ModuleNotFoundError:
        return None
    if found is None or isinstance(found, type):
        return found
    return functools.wraps(found)(lambda *args, **kwargs: retyped(found(*args, **kwargs)))


__getattr__, __dir__ = lookup(__name__, {}, _find)
__all__ = list(NAMES["nn.utils.rnn"])
