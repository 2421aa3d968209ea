# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.amp: torch.amp for CUDA, with its older order of arguments."""

from __future__ import annotations

from typing import Any

from .._dtypes import float16
from . import amp
from ._namespace import lookup

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(amp.autocast):  # noqa: N801 (PyTorch's name)
    """torch.autocast("cuda")."""

    def __init__(self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)

    def _again(self) -> Any:
        return type(self)(self.enabled, self.dtype, bool(self.cache_enabled))


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda")."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    return amp.custom_bwd(bwd, device_type="cuda")


__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__}, files=("autocast_mode", "grad_scaler"))
