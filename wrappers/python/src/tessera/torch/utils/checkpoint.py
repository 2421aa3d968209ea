# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.utils.checkpoint."""

from __future__ import annotations

from typing import Any

from ...utils.checkpoint import checkpoint as _checkpoint
from .._tensor import retyped


def checkpoint(function: Any, *args: Any, use_reentrant: Any = None, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """Runs a part of a model without keeping what its backward needs; the backward runs it again."""
    return retyped(_checkpoint(lambda *given, **more: function(*retyped(given), **more), *args, **kwargs))
