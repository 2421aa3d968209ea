# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.parallel."""

from __future__ import annotations

from tessera.nn import distributed as _distributed
from tessera.nn.parallel import gather, scatter

from ._module import Module

__all__ = ["DistributedDataParallel", "gather", "scatter"]


class DistributedDataParallel(_distributed.DistributedDataParallel, Module):
    __doc__ = _distributed.DistributedDataParallel.__doc__
