# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""torch.mps, torch.xpu and torch.cpu: what programs ask on the way to a device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import _cpu_amp
from ._namespace import lookup


def _module(name: str, available: bool) -> ModuleType:
    def is_available() -> bool:
        return available

    def device_count() -> int:
        return int(available)

    def synchronize(device: Any = None) -> None:
        """Nothing: the CPU computes when it is asked."""

    def nothing(*_: Any, **__: Any) -> None:
        """Nothing."""

    table: dict[str, Any] = {"is_available": is_available, "device_count": device_count, "synchronize": synchronize}
    if not available:
        table.update(empty_cache=nothing, manual_seed=nothing, manual_seed_all=nothing)
    else:
        table.update(amp=_cpu_amp, current_device=lambda: "cpu", is_initialized=is_available, set_device=nothing)
    module = ModuleType(f"tessera.torch.{name}", f"torch.{name}.")
    module.__dict__.update(table)
    find, names = lookup(module.__name__, table)
    module.__dict__.update(__getattr__=find, __dir__=names, __all__=sorted(table))
    return module


MODULES = {"cpu": _module("cpu", True), "mps": _module("mps", False), "xpu": _module("xpu", False)}
