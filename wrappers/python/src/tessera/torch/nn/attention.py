# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.attention: the choice between implementations of attention, of which the library has one for each device."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

from ..backends import cuda


class SDPBackend(enum.IntEnum):
    """PyTorch's implementations of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


# In the order of sdp_kernel().
_KINDS = (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION)


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Sets the switches of torch.backends.cuda for a block. They choose nothing: the one implementation there is never keeps
    the matrix of scores."""
    chosen = [SDPBackend(backend) for backend in ([backends] if isinstance(backends, SDPBackend) else backends)]
    with cuda.sdp_kernel(*[kind in chosen for kind in _KINDS]):
        yield {}


__all__ = ["SDPBackend", "sdpa_kernel"]
