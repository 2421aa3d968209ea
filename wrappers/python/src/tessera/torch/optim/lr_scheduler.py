# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.optim.lr_scheduler."""

from __future__ import annotations

import importlib
from typing import Any

from .._names import NAMES
from .._namespace import lookup


def _find(name: str) -> Any:
    try:
        return getattr(importlib.import_module("tessera.optim.lr_scheduler"), name, None)
    except ModuleNotFoundError:
        return None


__getattr__, __dir__ = lookup(__name__, {}, _find)
__all__ = NAMES["optim.lr_scheduler"]
