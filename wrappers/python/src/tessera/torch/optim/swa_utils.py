# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.optim.swa_utils."""

from __future__ import annotations

from typing import Any

from tessera.optim import swa_utils as _plain
from tessera.optim.swa_utils import (
    SWALR,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)

from ..nn._module import Module


class AveragedModel(_plain.AveragedModel, Module):
    """A copy of a model whose parameters are averages of the model's."""

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None, use_buffers: bool = False
    ) -> None:
        _plain.AveragedModel.__init__(self, model, device, avg_fn, multi_avg_fn, use_buffers)


__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip
