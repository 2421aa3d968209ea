# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.nn.functional over the library's collectives with derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ....distributed.nn import functional as _own
from ..._tensor import retyped

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "recv", "reduce", "reduce_scatter", "send",
]  # fmt: skip


def _retyping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return retyped(function(*args, **kwargs))

    return call


all_gather = _retyping(_own.all_gather)
all_reduce = _retyping(_own.all_reduce)
all_to_all = _retyping(_own.all_to_all)
all_to_all_single = _retyping(_own.all_to_all_single)
broadcast = _retyping(_own.broadcast)
recv = _retyping(_own.recv)
reduce = _retyping(_own.reduce)
reduce_scatter = _retyping(_own.reduce_scatter)
send = _retyping(_own.send)
