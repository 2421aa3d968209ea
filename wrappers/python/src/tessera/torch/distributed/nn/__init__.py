# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.distributed.nn: collectives with derivatives."""

from __future__ import annotations

from . import functional
from .functional import all_gather, all_reduce, all_to_all, all_to_all_single, broadcast, recv, reduce, reduce_scatter, send

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "functional", "recv", "reduce",
    "reduce_scatter", "send",
]  # fmt: skip
