# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.amp: the library's autocast and GradScaler, with PyTorch's defaults."""

from __future__ import annotations

import warnings
from typing import Any

from .. import amp as _amp
from .._dtypes import bfloat16, float16
from ..amp import custom_bwd as _custom_bwd
from ..amp import custom_fwd as _custom_fwd
from ..amp import is_autocast_available
from ._namespace import lookup

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]


_OTHERS = ("hpu", "ipu", "mps", "mtia", "xla", "xpu")  # PyTorch's kinds of devices that are not here: programs ask about each


class autocast(_amp.autocast):  # noqa: N801 (PyTorch's name)
    """torch.autocast: another dtype than float16 and bfloat16 switches it off, with a warning."""

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if enabled and dtype is not None and dtype not in (float16, bfloat16):
            warnings.warn(f"autocast: expected float16 or bfloat16, got {dtype}; autocast is off", stacklevel=2)
            dtype, enabled = None, False
        super().__init__(device_type, dtype, enabled, cache_enabled, own_lists=True)

    def _again(self) -> autocast:
        return type(self)(self.device_type, self.dtype, self.enabled, self.cache_enabled)


class GradScaler(_amp.GradScaler):
    """torch.amp.GradScaler."""

    def __init__(
        self,
        device: Any = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    return _custom_fwd(fwd, device_type=device_type, cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    return _custom_bwd(bwd, device_type=device_type)


# ---- the settings of torch itself ----


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    return device_type not in _OTHERS and _amp.is_autocast_enabled(device_type)


def is_autocast_cpu_enabled() -> bool:
    return _amp.is_autocast_enabled("cpu")


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """set_autocast_enabled(device_type, enabled), and PyTorch's older set_autocast_enabled(enabled) of CUDA."""
    _amp.set_autocast_enabled(*(("cuda", device_type) if enabled is None else (device_type, enabled)), own_lists=True)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    _amp.set_autocast_enabled("cpu", enabled, own_lists=True)


def get_autocast_dtype(device_type: str) -> Any:
    return _amp.get_autocast_dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    _amp.set_autocast_dtype(device_type, dtype)


def get_autocast_cpu_dtype() -> Any:
    return _amp.get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    _amp.set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> Any:
    return _amp.get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    _amp.set_autocast_dtype("cuda", dtype)


OF_TORCH = {
    name: globals()[name]
    for name in (
        "GradScaler", "autocast", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
        "is_autocast_cpu_enabled", "is_autocast_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
        "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
    )
}  # fmt: skip
OF_TORCH.update(
    clear_autocast_cache=_amp.clear_autocast_cache,
    is_autocast_cache_enabled=_amp.is_autocast_cache_enabled,
    set_autocast_cache_enabled=_amp.set_autocast_cache_enabled,
)

__getattr__, __dir__ = lookup(__name__, {name: globals()[name] for name in __all__}, files=("autocast_mode", "grad_scaler"))
