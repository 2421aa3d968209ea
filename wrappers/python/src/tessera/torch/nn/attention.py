# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.attention: the choice between implementations of attention, of which the library has one for each device."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any


class SDPBackend(enum.IntEnum):
    """PyTorch's implementations of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Changes nothing: the one implementation there is never keeps the matrix of scores."""
    for backend in [backends] if isinstance(backends, SDPBackend) else backends:
        SDPBackend(backend)
    yield {}


__all__ = ["SDPBackend", "sdpa_kernel"]
