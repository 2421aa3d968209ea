# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cpu.amp: torch.amp for the CPU, with its older order of arguments."""

from __future__ import annotations

from typing import Any

from .._dtypes import bfloat16
from . import amp
from ._namespace import lookup

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):  # noqa: N801 (PyTorch's name)
    """torch.autocast("cpu")."""

    def __init__(self, enabled: bool = True, dtype: Any = bfloat16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype, enabled, cache_enabled)

    def _again(self) -> Any:
        return type(self)(self.enabled, self.dtype, bool(self.cache_enabled))


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cpu")."""

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


__getattr__, __dir__ = lookup(f"{__package__}.cpu.amp", {name: globals()[name] for name in __all__})
