# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.parallel."""

from __future__ import annotations

from typing import Any

from tessera.nn import distributed as _distributed
from tessera.nn.parallel import gather, scatter

from ._module import Module

__all__ = ["DataParallel", "DistributedDataParallel", "gather", "scatter"]


class DistributedDataParallel(_distributed.DistributedDataParallel, Module):
    __doc__ = _distributed.DistributedDataParallel.__doc__


class DataParallel(Module):
    """The module itself under the name `module`: one device computes the whole batch."""

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids, self.output_device, self.dim = device_ids, output_device, dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
